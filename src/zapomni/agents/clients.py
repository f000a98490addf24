"""The table of clients: where each keeps what, in which shape, and what it will and will not do.

Places, shapes, events and limits are those of the integrations' study (`integrations.md`, sections 2 to 5), which ran
Claude Code, Codex, Gemini CLI, OpenCode, Copilot CLI and Cline CLI; the others are written by their documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zapomni.agents import hooks, instructions, own, servers
from zapomni.agents.base import Aim, Client, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zapomni.agents.base import Launch
    from zapomni.agents.edits import Edit

    Make = Callable[[Launch], Edit]


def _server(user: str, project: str, edit: Make, *, where: str = "") -> Aim:
    return Aim(part=Part.SERVER, user=_places(user), project=_places(project), edit=edit, where=where)


def _hooks(user: str, project: str, edit: Make, *, executable: bool = False) -> Aim:
    return Aim(part=Part.HOOKS, user=_places(user), project=_places(project), edit=edit, executable=executable)


def _rules(user: str, project: str, edit: Make = instructions.block) -> Aim:
    return Aim(part=Part.RULES, user=_places(user), project=_places(project), edit=edit)


def _skill(user: str, project: str) -> Aim:
    return Aim(part=Part.SKILL, user=_places(user), project=_places(project), edit=instructions.skill)


def _places(place: str) -> tuple[str, ...]:
    return tuple(place.split(" | ")) if place else ()


def _as_copilot(launch: Launch) -> Edit:
    """VS Code runs the hooks of Copilot CLI: one file serves both, so it must say the same."""
    return hooks.copilot(replace(launch, client="copilot"))


_SHARED_SKILL: Final = Aim(
    part=Part.SKILL,
    user=instructions.SKILL_PLACES[0],
    project=instructions.SKILL_PLACES[1],
    edit=instructions.skill,
)
_AGENTS: Final = "{project}/AGENTS.md"
_CLAUDE_PROJECT: Final = f"{{project}}/CLAUDE.md | {{project}}/.claude/CLAUDE.md | {_AGENTS}"
"""Either CLAUDE.md is read; a project that has none is read by its AGENTS.md, which a new CLAUDE.md would hide."""
_MCP_SERVERS: Final = servers.member("mcpServers", servers.plain)
_CLINE_EXTENSION: Final = "{app}/Code/User/globalStorage/saoudrizwan.claude-dev"
_CLINE_FOLDERS: Final = (_CLINE_EXTENSION, _CLINE_EXTENSION), ("{home}/.cline/data", "{home}/.cline")
"""Where the settings of Cline's extension and of its command lie, and what tells that each is there."""
_CLINE_EVENTS: Final = ("TaskStart", "UserPromptSubmit", "PreCompact", "TaskComplete", "SessionShutdown")

_CLIENTS: Final = (
    Client(
        name="claude-code",
        title="Claude Code",
        marks=("{claude}", "{claude_state}/.claude.json"),
        programs=("claude",),
        own=own.CLAUDE,
        open_servers=True,  # Copilot CLI and VS Code read .mcp.json too
        aims=(
            _server("{claude_state}/.claude.json", "{project}/.mcp.json", servers.member("mcpServers", servers.claude)),
            _hooks("{claude}/settings.json", "{project}/.claude/settings.json", hooks.claude),
            _rules("{claude}/CLAUDE.md", _CLAUDE_PROJECT),
            _skill("{claude}/skills/zapomni/SKILL.md", "{project}/.claude/skills/zapomni/SKILL.md"),
        ),
        does="gets its memory at each start and after compaction, what fits at each prompt; is captured when it stops, "
        "compacts and ends; sees every tool at once (alwaysLoad)",
        does_not="hooks are off where disableAllHooks or a managed policy says so; a project's servers wait for your "
        "approval and name no agent, since others read the same file; a project's AGENTS.md counts where it has no "
        "CLAUDE.md, from version 2.1.277 on, and not through Bedrock, Vertex or Foundry",
    ),
    Client(
        name="codex",
        title="Codex",
        marks=("{codex}",),
        programs=("codex",),
        own=own.CODEX,
        aims=(
            _server("{codex}/config.toml", "{project}/.codex/config.toml", servers.table("mcp_servers", servers.plain)),
            _hooks("{codex}/hooks.json", "{project}/.codex/hooks.json", hooks.codex),
            _rules("{codex}/AGENTS.md", _AGENTS),
            _SHARED_SKILL,
        ),
        does="gets its memory at each start and after compaction, what fits at each prompt; is captured when it stops, "
        "compacts and ends",
        does_not="skips the hooks until you open /hooks in Codex and trust them; a project's files count in trusted "
        "projects alone",
    ),
    Client(
        name="cursor",
        title="Cursor",
        marks=("{home}/.cursor",),
        programs=("cursor", "cursor-agent"),
        aims=(
            _server("{home}/.cursor/mcp.json", "{project}/.cursor/mcp.json", _MCP_SERVERS),
            _hooks("{home}/.cursor/hooks.json", "{project}/.cursor/hooks.json", hooks.cursor),
            _rules("", "{project}/.cursor/rules/zapomni.mdc", instructions.cursor),
            _SHARED_SKILL,
        ),
        does="gets its memory at each start and what fits at each prompt; is captured when it stops, compacts and ends",
        does_not="context at a prompt is not documented by Cursor; with third-party hooks on it runs those of Claude "
        "Code too",
        lacks="has no file of rules for the user (use --scope project)",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        marks=("{home}/.gemini/settings.json",),
        programs=("gemini",),
        own=own.GEMINI,
        aims=(
            _server("{home}/.gemini/settings.json", "{project}/.gemini/settings.json", _MCP_SERVERS),
            _hooks("{home}/.gemini/settings.json", "{project}/.gemini/settings.json", hooks.gemini),
            _rules("{home}/.gemini/GEMINI.md", "{project}/GEMINI.md"),
            _SHARED_SKILL,
        ),
        does="gets its memory at each start and what fits at each prompt; is captured after each answer and at the end",
        does_not="gives nothing after compaction; servers and a project's files are off in folders that you do not "
        "trust",
    ),
    Client(
        name="vscode",
        title="VS Code",
        marks=("{app}/Code",),
        programs=("code",),
        own=own.VSCODE,
        agent="copilot",  # it runs the hooks of Copilot CLI, and both must see the same
        aims=(
            _server("{app}/Code/User/mcp.json", "{project}/.vscode/mcp.json", servers.member("servers", servers.typed)),
            _hooks("{copilot}/hooks/zapomni.json", "{project}/.github/hooks/zapomni.json", _as_copilot),
            _rules("", "{project}/.github/instructions/zapomni.instructions.md", instructions.vscode),
            _SHARED_SKILL,
        ),
        does="gets its memory at each start and is captured where its harness is Copilot's, by the same hooks as "
        "Copilot CLI",
        does_not="the local harness gives nothing at a prompt",
        lacks="rules for the user stand in its own settings (use --scope project)",
    ),
    Client(
        name="copilot",
        title="Copilot CLI",
        marks=("{copilot}/config.json", "{copilot}/mcp-config.json", "{copilot}/session-state"),
        programs=("copilot",),
        own=own.COPILOT,
        aims=(
            _server(
                "{copilot}/mcp-config.json",
                "{project}/.github/mcp.json",
                servers.member("mcpServers", servers.copilot),
            ),
            _hooks("{copilot}/hooks/zapomni.json", "{project}/.github/hooks/zapomni.json", hooks.copilot),
            _rules("", _AGENTS),
            _SHARED_SKILL,
        ),
        does="gets its memory at each start and what fits at each prompt; is captured when it stops, compacts and ends",
        does_not="hides the server's instructions unless started with --allow-all-mcp-server-instructions",
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        marks=("{app}/Claude",),
        aims=(_server("{app}/Claude/claude_desktop_config.json", "", _MCP_SERVERS),),
        does="has the tools; start it again to see them",
        does_not="has no hooks, rules or skills folder: it remembers only when the model calls a tool",
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        marks=("{home}/.codeium/windsurf",),
        programs=("windsurf",),
        aims=(
            _server("{home}/.codeium/windsurf/mcp_config.json", "", _MCP_SERVERS),
            _hooks("{home}/.codeium/windsurf/hooks.json", "{project}/.windsurf/hooks.json", hooks.windsurf),
            _rules("", _AGENTS),
        ),
        does="has the tools and is captured after each answer",
        does_not="no hook of it can give context: it recalls only when the model calls a tool",
    ),
    Client(
        name="zed",
        title="Zed",
        marks=("{zed}",),
        programs=("zed", "zeditor"),
        aims=(
            _server(
                "{zed}/settings.json",
                "{project}/.zed/settings.json",
                servers.member("context_servers", servers.plain),
            ),
            _rules("", _AGENTS),
            _SHARED_SKILL,
        ),
        does="has the tools and the skill",
        does_not="has no hooks: it remembers only when the model calls a tool",
    ),
    Client(
        name="cline",
        title="Cline",
        marks=tuple(where for _, where in _CLINE_FOLDERS),
        programs=("cline",),
        aims=(
            *(
                _server(
                    f"{folder}/settings/cline_mcp_settings.json",
                    "",
                    servers.member("mcpServers", servers.cline),
                    where=where,
                )
                for folder, where in _CLINE_FOLDERS
            ),
            *(
                _hooks(
                    f"{{home}}/Documents/Cline/Hooks/{event}",
                    f"{{project}}/.clinerules/hooks/{event}",
                    hooks.cline,
                    executable=True,
                )
                for event in _CLINE_EVENTS
            ),
            _rules("{home}/Documents/Cline/Rules/zapomni.md", "{project}/.clinerules/zapomni.md", instructions.plain),
            _SHARED_SKILL,
        ),
        does="gets its memory when a task starts and what fits at each prompt; is captured when a task is complete",
        does_not="runs one program an event: one of yours with that name is left alone, and ours is not added",
    ),
    Client(
        name="kiro",
        title="Kiro",
        marks=("{home}/.kiro",),
        programs=("kiro", "kiro-cli"),
        aims=(
            _server("{home}/.kiro/settings/mcp.json", "{project}/.kiro/settings/mcp.json", _MCP_SERVERS),
            _hooks("{home}/.kiro/hooks/zapomni.json", "{project}/.kiro/hooks/zapomni.json", hooks.kiro),
            _rules("", "{project}/.kiro/steering/zapomni.md", instructions.kiro),
            _skill("{home}/.kiro/skills/zapomni/SKILL.md", "{project}/.kiro/skills/zapomni/SKILL.md"),
        ),
        does="gets its memory at each start and what fits at each prompt; is captured when it stops",
        does_not="gives nothing after compaction; hooks of an older agent file run beside ours",
    ),
    Client(
        name="opencode",
        title="OpenCode",
        marks=("{config}/opencode",),
        programs=("opencode",),
        aims=(
            _server(
                "{config}/opencode/opencode.json | {config}/opencode/opencode.jsonc",
                "{project}/opencode.json | {project}/opencode.jsonc",
                servers.member("mcp", servers.opencode),
            ),
            _hooks(
                "{config}/opencode/plugins/zapomni.js",
                "{project}/.opencode/plugins/zapomni.js",
                hooks.script("opencode.js"),
            ),
            _rules("", _AGENTS),
            _SHARED_SKILL,
        ),
        does="gets its memory at each start and after compaction, what fits at each prompt; is captured when "
        "it is idle",
        does_not="takes a plug-in of JavaScript in the place of hooks, on events that OpenCode calls experimental",
    ),
    Client(
        name="goose",
        title="Goose",
        marks=("{goose}",),
        programs=("goose",),
        aims=(
            _server("{goose}/config.yaml", "", servers.entry("extensions", servers.goose)),
            _hooks(
                "{home}/.agents/plugins/zapomni/hooks/hooks.json",
                "{project}/.agents/plugins/zapomni/hooks/hooks.json",
                hooks.goose,
            ),
            _rules("", _AGENTS),
        ),
        does="gets its memory at each start and what fits at each prompt; is captured when it stops and ends",
        does_not="its servers are the user's alone, so a project gets hooks and rules",
    ),
    Client(
        name="continue",
        title="Continue",
        marks=("{home}/.continue",),
        programs=("cn",),
        aims=(
            _server(
                "{home}/.continue/mcpServers/zapomni.json",
                "{project}/.continue/mcpServers/zapomni.json",
                _MCP_SERVERS,
            ),
        ),
        does="has the tools",
        does_not="is no longer developed (since June 2026) and gets no hooks: it remembers only when the model calls a "
        "tool",
    ),
    Client(
        name="junie",
        title="Junie",
        marks=("{home}/.junie",),
        programs=("junie",),
        aims=(
            _server("{home}/.junie/mcp/mcp.json", "{project}/.junie/mcp/mcp.json", _MCP_SERVERS),
            _rules("", f"{{project}}/.junie/AGENTS.md | {_AGENTS}"),
        ),
        does="has the tools",
        does_not="has no hooks: it remembers only when the model calls a tool",
    ),
    Client(
        name="amp",
        title="Amp",
        marks=("{config}/amp",),
        programs=("amp",),
        own=own.AMP,
        aims=(
            _server(
                "{config}/amp/settings.json",
                "{project}/.amp/settings.json",
                servers.member("amp.mcpServers", servers.plain),
            ),
            _hooks("{config}/amp/plugins/zapomni.ts", "{project}/.amp/plugins/zapomni.ts", hooks.script("amp.ts")),
            _rules("", _AGENTS),
            _SHARED_SKILL,
        ),
        does="has the tools and is captured when a turn ends",
        does_not="no known way to give it context by a plug-in; a project's servers wait for your approval",
    ),
)

CLIENTS: Final[Mapping[str, Client]] = {client.name: client for client in _CLIENTS}
"""The clients by the names under which people and hooks call them."""
