"""Ready packages for those who install by other ways than setup: `python -m zapomni.surfaces.cli.packages [FOLDER]`.

A plugin of Claude Code with its marketplace, the manifest of an `.mcpb` bundle for Claude Desktop, the entry of the MCP
registry, and the skill. All of them start the command `zapomni`, which must be on the PATH, but for the bundle, which
brings it by `uv`. The files stand in the repository as they are written here; the bundle is built into `dist/`.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

from zapomni import __version__
from zapomni.agents import hooks, servers
from zapomni.agents.base import AGENT, Launch
from zapomni.agents.edits import NAME
from zapomni.agents.instructions import skill_text

REGISTRY_NAME: Final = "io.github.zapomni/zapomni"
"""Our name in the MCP registry; PyPI proves it by the line `mcp-name:` of the README."""
ABOUT: Final = "One durable memory for all AI agents: hybrid search in English and Russian, one SQLite file."
"""At most 100 characters, which the registry allows."""
LICENCE: Final = "Apache-2.0"
AUTHOR: Final = {"name": "The zapomni authors"}
PLUGIN: Final = "packages/claude-code"
BUNDLE: Final = "packages/mcpb"
_LAUNCH: Final = Launch(client="claude-code", command=NAME, environment={AGENT: "claude-code"})
_THEN: Final = (1980, 1, 1, 0, 0, 0)  # a zip's earliest time, so that the same files make the same bundle


def packages() -> dict[str, str]:
    """Return every file of every package by its path in the repository."""
    values = {
        ".claude-plugin/marketplace.json": _marketplace(),
        f"{PLUGIN}/.claude-plugin/plugin.json": _plugin(),
        f"{PLUGIN}/.mcp.json": {"mcpServers": {NAME: servers.claude(_LAUNCH)}},
        f"{PLUGIN}/hooks/hooks.json": _plugin_hooks(),
        f"{BUNDLE}/manifest.json": _manifest(),
        "server.json": _server(),
    }
    texts = {path: json.dumps(value, ensure_ascii=False, indent=2) + "\n" for path, value in values.items()}
    return {
        **texts,
        f"{PLUGIN}/skills/{NAME}/SKILL.md": skill_text(),
        f"{PLUGIN}/README.md": _README,
        f"{BUNDLE}/pyproject.toml": _PROJECT.format(name=NAME, version=__version__),
        f"{BUNDLE}/server.py": _SERVER,
    }


def bundle() -> bytes:
    """Return the `.mcpb` bundle: a zip of its folder, the same bytes for the same files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in packages().items():
            if path.startswith(f"{BUNDLE}/"):
                archive.writestr(zipfile.ZipInfo(path.removeprefix(f"{BUNDLE}/"), _THEN), text)
    return stream.getvalue()


def _marketplace() -> dict[str, Any]:
    plugin = {"name": NAME, "source": f"./{PLUGIN}", "description": ABOUT}
    return {"name": NAME, "owner": AUTHOR, "description": ABOUT, "plugins": [plugin]}


def _plugin() -> dict[str, Any]:
    return {"name": NAME, "version": __version__, "description": ABOUT, "author": AUTHOR, "license": LICENCE}


def _plugin_hooks() -> dict[str, Any]:
    groups = hooks.claude_groups(_LAUNCH)
    return {"description": ABOUT, "hooks": {event: [group] for event, group in groups.items()}}


def _manifest() -> dict[str, Any]:
    run = ["run", "--directory", "${__dirname}", NAME, "serve"]
    start = {"command": "uv", "args": run, "env": {AGENT: "claude-desktop"}}
    return {
        "manifest_version": "0.4",
        "name": NAME,
        "version": __version__,
        "description": ABOUT,
        "author": AUTHOR,
        "license": LICENCE,
        "server": {"type": "uv", "entry_point": "server.py", "mcp_config": start},
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {"platforms": ["darwin", "win32", "linux"], "runtimes": {"python": ">=3.11"}},
        "privacy_policies": [],
    }


def _server() -> dict[str, Any]:
    variable = {
        "name": "ZAPOMNI_HOME",
        "description": "The folder that holds the store; empty means the usual data folder.",
        "isRequired": False,
        "isSecret": False,
        "format": "filepath",
    }
    package = {
        "registryType": "pypi",
        "identifier": NAME,
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "serve"}],
        "environmentVariables": [variable],
    }
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": REGISTRY_NAME,
        "title": NAME,
        "description": ABOUT,
        "version": __version__,
        "packages": [package],
    }


_PROJECT: Final = """\
[project]
name = "{name}-bundle"
version = "{version}"
requires-python = ">=3.11"
dependencies = ["{name}=={version}"]
"""
_README: Final = """\
# zapomni for Claude Code
Durable memory for Claude Code, shared with every other agent on the machine: its MCP server, hooks that give each
session what is remembered and keep what was decided, and a skill for saving, recalling, consolidating and tidying.

It starts the command `zapomni`, which must be on the `PATH`. `zapomni setup claude-code` does the same without a
plugin; use one of the two, or every hook runs twice.
"""
_SERVER: Final = '''\
"""What the bundle starts: the server that `uv` has installed from the package."""

from zapomni.surfaces.cli.main import main

if __name__ == "__main__":
    main()
'''


def write(folder: Path) -> list[Path]:
    """Write every package under a folder, and the bundle into its `dist/`; return what was written."""
    files = {folder / path: text.encode() for path, text in packages().items()}
    files[folder / "dist" / f"{NAME}-{__version__}.mcpb"] = bundle()
    for file, data in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return list(files)


if __name__ == "__main__":
    for written in write(Path(sys.argv[1] if len(sys.argv) > 1 else ".")):
        sys.stdout.write(f"{written}\n")
