"""The command as a person meets it: what it shows, whom it asks, what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock
from tests.agents.test_golden import COMMAND, SERVERS, parsed, said
from tests.agents.trees import plant, tree

from zapomni.agents import disk, servers, wiring
from zapomni.agents.base import Launch, Part, Reach
from zapomni.agents.clients import CLIENTS
from zapomni.agents.machine import machine
from zapomni.errors import Unavailable
from zapomni.surfaces.dialects import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable

    Zap = Callable[..., Any]

FAKE = """#!{python}
import json, os, sys
with open(os.path.join(os.environ["HOME"], "asked"), "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
{body}
"""
ADDS = """
path, key = os.path.join(os.environ["HOME"], ".claude.json"), "mcpServers"
known = json.load(open(path)) if os.path.exists(path) else {}
known.setdefault(key, {})[sys.argv[-2]] = json.loads(sys.argv[-1])
json.dump(known, open(path, "w"))
"""


@pytest.fixture
def program(person: Path) -> Callable[[str, str], Path]:
    """Put a client's program on the PATH that writes down how it is called; return where it does."""

    def make(name: str, body: str = "") -> Path:
        file = person / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(FAKE.format(python=sys.executable, body=body))
        file.chmod(0o755)
        return person / "home" / "asked"

    return make


def asked(log: Path) -> list[list[str]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


# --- a client's own command -----------------------------------------------------------------------------
@pytest.mark.promise("setup.own")
def test_claude_code_adds_the_server_by_its_own_command(zap: Zap, person: Path, program: Any) -> None:
    before = plant("claude-code", person)
    log = program("claude", ADDS)
    result = zap("setup", "claude-code", "--json")
    step = result.json["steps"][0]
    assert step["outcome"] == "added"
    assert step["command"][1:6] == ["mcp", "add-json", "-s", "user", "zapomni"]
    entry = json.loads(asked(log)[0][-1])
    assert entry["alwaysLoad"] is True
    assert json.loads((person / "home" / ".claude.json").read_text())["mcpServers"]["zapomni"] == entry
    assert zap("setup", "claude-code").status == 0
    assert len(asked(log)) == 1, "what is there already is not added again"
    log.unlink()
    zap("setup", "claude-code", "--remove")
    assert tree(person) == before, "although the program wrote the whole file anew"


@pytest.mark.promise("setup.own")
def test_what_the_own_command_made_goes_when_the_client_has_written_since(zap: Zap, person: Path, program: Any) -> None:
    program("claude", ADDS)
    state = person / "home" / ".claude.json"
    state.write_text('{"numStartups": 1}')
    zap("setup", "claude-code")
    state.write_text(json.dumps({**json.loads(state.read_text()), "numStartups": 2}))
    zap("setup", "claude-code", "--remove")
    assert json.loads(state.read_text()) == {"numStartups": 2}


@pytest.mark.promise("setup.own")
def test_a_link_is_edited_by_us_for_a_clients_command_may_replace_it(zap: Zap, person: Path, program: Any) -> None:
    log = program("claude", ADDS)
    real, link = person / "home/dots.json", person / "home/.claude.json"
    real.write_text("{}")
    link.symlink_to("dots.json")
    assert zap("setup", "claude-code").status == 0
    assert not log.exists()
    assert link.is_symlink()
    assert "zapomni" in real.read_text()


@pytest.mark.promise("setup.own")
@pytest.mark.parametrize("body", ["sys.exit(1)", "", "os.remove(sys.argv[0]); raise SystemExit(9)"], ids=str)
def test_where_the_own_command_fails_the_file_is_edited(zap: Zap, person: Path, program: Any, body: str) -> None:
    program("claude", body)
    result = zap("setup", "claude-code", "--json")
    assert result.status == 0
    assert result.json["steps"][0]["command"] == []
    assert "zapomni" in json.loads((person / "home" / ".claude.json").read_text())["mcpServers"]


@pytest.mark.promise("setup.own")
@pytest.mark.parametrize(
    ("client", "name", "words"),
    [
        ("codex", "codex", ["mcp", "add", "zapomni", "--env", "HOME", "--env", "AGENT", "--", "zapomni", "serve"]),
        ("gemini", "gemini", ["mcp", "add", "-s", "user", "-e", "HOME", "-e", "AGENT", "zapomni", "zapomni", "serve"]),
        ("copilot", "copilot", ["mcp", "add", "zapomni", "--env", "HOME", "--env", "AGENT", "--", "zapomni", "serve"]),
        ("amp", "amp", ["mcp", "add", "zapomni", "--env", "HOME", "--env", "AGENT", "--", "zapomni", "serve"]),
        ("vscode", "code", ["--add-mcp"]),
    ],
)
def test_each_own_command_is_called_as_its_client_documents_it(
    zap: Zap, person: Path, program: Any, client: str, name: str, words: list[str]
) -> None:
    log = program(name)
    assert zap("setup", client).status == 0
    (called,) = asked(log)
    plain = ["HOME" if word.startswith("ZAPOMNI_HOME=") else word for word in called]
    plain = ["AGENT" if word == f"ZAPOMNI_AGENT={client}" else word for word in plain]
    plain = ["zapomni" if word.endswith("/zapomni") else word for word in plain]
    assert plain[: len(words)] == words
    if client == "vscode":
        told = json.loads(called[1])
        assert (told["name"], told["env"]["ZAPOMNI_AGENT"]) == ("zapomni", "copilot")


@pytest.mark.promise("setup.own")
def test_nothing_is_started_to_show_what_would_change(zap: Zap, person: Path, program: Any) -> None:
    log = program("claude", ADDS)
    before = plant("claude-code", person)
    result = zap("setup", "claude-code", "--dry-run")
    assert "would be added by `" in result.out
    assert not log.exists()
    assert tree(person) == before
    assert not (person / "store").exists()


# --- what it shows --------------------------------------------------------------------------------------
@pytest.mark.promise("setup.told")
def test_a_dry_run_shows_the_change_of_each_file_and_makes_none(zap: Zap, person: Path) -> None:
    before = plant("cursor", person)
    result = zap("setup", "cursor", "--dry-run")
    assert "would be added" in result.out
    assert '+\\t\\t"zapomni": {' in result.out.replace("\t", "\\t")
    assert tree(person) == before
    zap("setup", "cursor")
    after = tree(person)
    gone = zap("setup", "--remove", "--dry-run", "--json").json
    assert {change["change"] for change in gone["files"]} == {"changed", "deleted"}
    assert tree(person) == after


@pytest.mark.promise("setup.told")
def test_of_a_file_that_is_one_long_line_what_changes_is_shown_whole(zap: Zap, person: Path) -> None:
    file = person / "home" / ".cursor" / "mcp.json"
    file.parent.mkdir()
    known = {f"server-{no}": {"command": f"x{no}"} for no in range(30)}
    file.write_text(json.dumps({"mcpServers": known, "last": "z" * 300}))
    shown = zap("setup", "cursor", "--dry-run").out.split("changed ")[1].splitlines()
    gone, come = (next(line for line in shown if line.strip().startswith(sign)) for sign in "-+")
    assert len(gone) < 60
    assert come.strip().startswith("+…")
    assert come.endswith("…")
    assert '"zapomni":' in come
    assert '"serve"' in come
    assert "ZAPOMNI_AGENT" in come
    assert "server-1" not in come
    assert "zzzzzzzzzzzzzzzzzzzzzzzzz" not in come


@pytest.mark.promise("setup.told")
def test_a_key_beside_our_entry_is_not_shown(zap: Zap, person: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    file = person / "home" / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"x": {"command": "y", "env": {"T": key}}}}, indent=2))
    result = zap("setup", "cursor")
    assert key not in result.out + result.err
    assert key in file.read_text()


@pytest.mark.promise("setup.told")
@pytest.mark.parametrize("client", CLIENTS)
def test_it_says_what_each_client_will_and_will_not_do(zap: Zap, person: Path, client: str) -> None:
    plant(client, person)
    told = zap("setup", client).err
    assert CLIENTS[client].does in told
    assert CLIENTS[client].limits(Reach.USER) in told


@pytest.mark.promise("setup.told")
@pytest.mark.parametrize("client", ["cursor", "vscode"])
def test_what_only_the_users_files_lack_is_not_told_of_a_project(zap: Zap, person: Path, client: str) -> None:
    plant(client, person)
    assert "--scope project" in zap("setup", client).err
    assert "--scope project" in zap("setup", client, "--json").json["clients"][0]["does_not"]
    done = zap("setup", client, "--scope", "project")
    assert CLIENTS[client].does_not in done.err
    assert "--scope project" not in done.out + done.err
    assert "rules   added" in done.out
    (row,) = zap("setup", client, "--scope", "project", "--list", "--json").json["clients"]
    assert row["does_not"] == CLIENTS[client].does_not


@pytest.mark.promise("setup.told")
def test_the_list_says_who_is_here_and_what_is_wired(zap: Zap, person: Path) -> None:
    plant("codex", person)
    rows = {row["client"]: row for row in zap("setup", "--list", "--json").json["clients"]}
    assert [name for name, row in rows.items() if row["installed"]] == ["codex"]
    assert rows["codex"]["parts"] == {"server": "absent", "hooks": "absent", "rules": "absent", "skill": "absent"}
    assert rows["claude-desktop"]["parts"]["hooks"] is None
    zap("setup", "codex")
    rows = {row["client"]: row for row in zap("setup", "--list", "--json").json["clients"]}
    assert set(rows["codex"]["parts"].values()) == {"wired"}
    (person / "home" / ".codex" / "hooks.json").write_text("{broken")
    shown = zap("setup", "--list")
    assert "hooks.json: it is no JSON that can be read" in shown.out
    assert shown.out.splitlines()[0].split() == ["client", "here", "server", "hooks", "rules", "skill"]


def test_without_a_name_it_asks_for_one_and_says_who_is_here(zap: Zap, person: Path) -> None:
    plant("codex", person)
    result = zap("setup")
    assert result.status == 2
    assert "codex" in result.err
    assert zap("setup", "--all", "--json").json["clients"][0]["client"] == "codex"
    slip = zap("setup", "curser")
    assert (slip.status, "cursor" in slip.err) == (2, True)


def told(files: dict[str, bytes]) -> dict[str, Any]:
    """What files say; an empty one says nothing."""
    return {path: said(path, data) for path, data in files.items() if data}


# --- whose agent it is ----------------------------------------------------------------------------------
@pytest.mark.promise("setup.agent")
@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_serves_the_agent_of_its_clients_hooks(zap: Zap, person: Path, client: str) -> None:
    starter = wiring.Starter(command="/z/zapomni", environment={})
    for reach in Reach:
        launch = starter.launch(CLIENTS[client], machine({"HOME": "/h"}, Path("/p")), reach)
        server = next(aim for aim in CLIENTS[client].aims if aim.part is Part.SERVER).edit(launch)
        named = CLIENTS[client].agent or client
        shared = reach is Reach.PROJECT and client == "claude-code"
        told = re.findall(r"ZAPOMNI_AGENT\W+([\w-]+)", server.put("").text)
        assert told == ([] if shared else [named])
        for hook in (aim.edit(launch) for aim in CLIENTS[client].aims if aim.part is Part.HOOKS):
            assert set(re.findall(r'--client(?: |", ")([\w-]+)', hook.put("").text)) == {named}
            assert named in DIALECTS


@pytest.mark.promise("setup.agent")
def test_where_the_settings_name_an_agent_no_client_is_told_another(zap: Zap, person: Path) -> None:
    zap("setup", "cursor")
    file = person / "home/.cursor/mcp.json"
    assert json.loads(file.read_text())["mcpServers"]["zapomni"]["env"]["ZAPOMNI_AGENT"] == "cursor"
    mine = person / "home/.config/zapomni/config.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text('agent = "рецензент"\n')
    assert zap("setup", "cursor", "--json").json["steps"][0]["outcome"] == "updated"
    assert "ZAPOMNI_AGENT" not in json.loads(file.read_text())["mcpServers"]["zapomni"]["env"]


OLDER = {
    "cursor": """{"mcpServers": {"zapomni": {"command": "uvx", "args": ["zapomni", "serve", "--tools", "full"],
 "env": {"LANG": "ru"}, "disabled": true}}}
""",
    "codex": """[mcp_servers.zapomni]
command = "zapomni"
args = ["serve", "--tools", "full"]
startup_timeout_sec = 20

[mcp_servers.zapomni.env]
LANG = "ru"

[mcp_servers.zapomni.tools."с точкой.x"]
approval_mode = "approve"
""",
    "goose": """extensions:
  zapomni:
    cmd: zapomni
    args: [serve, --tools, full]
    envs: {LANG: ru}
    enabled: false
""",
    "opencode": """{"mcp": {"zapomni": {"type": "local", "command": ["zapomni", "serve", "--tools", "full"],
 "environment": {"LANG": "ru"}, "enabled": false}}}
""",
}


@pytest.mark.promise("setup.agent")
@pytest.mark.parametrize("client", OLDER)
def test_an_older_entry_is_brought_up_to_date_and_keeps_what_was_added_to_it(
    zap: Zap, person: Path, client: str
) -> None:
    file, text = person / "home" / SERVERS[client][0], OLDER[client]
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert zap("setup", client, "--json").json["steps"][0]["outcome"] == "updated"
    ((_, entries),) = parsed(file).items()
    now = entries["zapomni"]
    home = str(person / "store")
    assert servers.variables(now) == {"LANG": "ru", "ZAPOMNI_HOME": home, "ZAPOMNI_AGENT": client}
    assert servers.words(now) == (COMMAND, "serve", "--tools", "full")
    assert now.get("enabled", now.get("disabled")) is {"cursor": True, "codex": None}.get(client, False)
    if client == "codex":
        assert (now["startup_timeout_sec"], now["tools"]) == (20, {"с точкой.x": {"approval_mode": "approve"}})
    zap("setup", client, "--remove")
    assert file.read_text() == text


# --- what it leaves alone -------------------------------------------------------------------------------
@pytest.mark.promise("setup.foreign")
def test_what_others_change_after_setup_outlives_its_removal(zap: Zap, person: Path) -> None:
    plant("codex", person)
    zap("setup", "codex")
    config, agents = person / "home/.codex/config.toml", person / "home/.codex/AGENTS.md"
    before = config.read_text()
    config.write_text(before + '\n[mcp_servers.later]\ncommand = "later"\n')
    agents.write_text("Сверху\n\n" + agents.read_text() + "\nСнизу\n")
    zap("setup", "codex", "--remove")
    planted = (Path(__file__).parent / "golden/codex/before/home/.codex/config.toml").read_text()
    assert config.read_text() == planted + '\n[mcp_servers.later]\ncommand = "later"\n'
    assert agents.read_text() == "Сверху\n\nСнизу\n"


@pytest.mark.promise("setup.foreign")
def test_an_entry_that_a_person_had_made_stays_when_setup_goes(zap: Zap, person: Path) -> None:
    file = person / "home" / ".cursor" / "mcp.json"
    file.parent.mkdir()
    command = str(Path(sys.executable).with_name("zapomni"))
    given = {"ZAPOMNI_HOME": str(person / "store"), "ZAPOMNI_AGENT": "cursor"}
    file.write_text(json.dumps({"mcpServers": {"zapomni": {"command": command, "args": ["serve"], "env": given}}}))
    before = tree(person)
    steps = zap("setup", "cursor", "--json").json["steps"]
    assert steps[0]["outcome"] == "present"
    file.write_text(file.read_text() + "\n")
    zap("setup", "cursor", "--remove")
    assert tree(person) == {**before, "home/.cursor/mcp.json": before["home/.cursor/mcp.json"] + b"\n"}


@pytest.mark.promise("setup.identity")
@pytest.mark.parametrize("damage", ["", "{half", "[]", '{"files": {"/x": 1}, "folders": []}', "\0" * 20])
def test_setup_after_its_record_was_lost_or_damaged_can_still_be_taken_out(zap: Zap, person: Path, damage: str) -> None:
    """What only setup makes is never taken for a person's; a server's entry may be one, so it goes when asked twice."""
    for client in ("claude-code", "cursor", "gemini"):
        plant(client, person)
    before = tree(person)
    zap("setup", "claude-code", "cursor", "gemini")
    (person / "store/setup/clients.json").write_text(damage)
    assert zap("setup", "claude-code", "cursor", "gemini").status == 0
    gone = zap("setup", "--remove", "--json").json
    kept = [step for step in gone["steps"] if step["outcome"] == "kept"]
    assert {step["part"] for step in kept} == {"server"}
    assert all("before setup" in step["why"] for step in kept)
    left = {path: data for path, data in tree(person).items() if b"zapomni" in data}
    assert all(b"hook --client" not in data for data in left.values())
    zap("setup", "--remove")
    after = tree(person)
    assert [path for path, data in after.items() if b"zapomni" in data] == []
    assert told(after) == told(before)


@pytest.mark.promise("setup.identity")
def test_setup_for_another_memory_takes_the_place_of_the_first_and_goes_whole(zap: Zap, person: Path) -> None:
    plant("cursor", person)
    before = tree(person)
    zap("setup", "cursor")
    zap("--home", str(person / "вторая"), "setup", "cursor")
    assert str(person / "вторая").encode() in b"".join(tree(person).values())
    assert str(person / "store").encode() not in b"".join(tree(person).values())
    for _ in range(2):
        zap("--home", str(person / "вторая"), "setup", "--remove")
    zap("setup", "--remove")
    after = tree(person)
    assert told(after) == told(before)


@pytest.mark.promise("setup.foreign")
def test_a_file_that_clients_share_stays_until_the_last_goes(zap: Zap, person: Path) -> None:
    skill = person / "home/.agents/skills/zapomni/SKILL.md"
    zap("setup", "codex", "cursor")
    zap("setup", "codex", "--remove")
    assert skill.is_file()
    zap("setup", "cursor", "--remove")
    assert not skill.exists()
    assert not (person / "home" / ".agents").exists()


@pytest.mark.promise("setup.foreign")
def test_one_file_that_cannot_be_edited_costs_no_other(zap: Zap, person: Path) -> None:
    plant("cursor", person)
    file = person / "home" / ".cursor" / "mcp.json"
    file.write_bytes('{"mcpServers": {}} // кто'.encode("cp1251"))
    result = zap("setup", "cursor", "--json")
    assert result.status == 6
    outcomes = {step["part"]: step for step in result.json["steps"]}
    assert outcomes["server"]["outcome"] == "skipped"
    assert "not UTF-8" in outcomes["server"]["why"]
    assert outcomes["hooks"]["outcome"] == "added"
    assert file.read_bytes() == '{"mcpServers": {}} // кто'.encode("cp1251")


@pytest.mark.promise("setup.foreign")
@pytest.mark.parametrize("name", ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"])
def test_rules_for_claude_code_stand_where_it_reads_them_and_hide_no_instructions(
    zap: Zap, person: Path, name: str
) -> None:
    """Claude Code reads AGENTS.md only where there is neither CLAUDE.md."""
    project = person / "project"
    (project / ".claude").mkdir()
    (project / "AGENTS.md").write_text("Пиши кратко.\n")
    (project / name).write_text("Пиши кратко.\n")
    before = tree(person)
    zap("setup", "claude-code", "--scope", "project")
    assert (project / name).read_text().startswith("Пиши кратко.\n\n<!-- zapomni:begin -->")
    places = [file for file in ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md") if (project / file).exists()]
    assert [file for file in places if "zapomni" in (project / file).read_text()] == [name]
    assert set(places) == {name, "AGENTS.md"}
    zap("setup", "claude-code", "--remove", "--scope", "project")
    assert tree(person) == before


@pytest.mark.promise("setup.foreign")
def test_a_project_without_instructions_gets_those_that_every_client_reads(zap: Zap, person: Path) -> None:
    zap("setup", "claude-code", "codex", "--scope", "project")
    assert (person / "project" / "AGENTS.md").read_text().count("zapomni:begin") == 1
    assert not (person / "project" / "CLAUDE.md").exists()
    assert zap("setup", "claude-code", "--list", "--scope", "project", "--json").json["clients"][0]["parts"]["rules"]


@pytest.mark.promise("setup.shared")
def test_what_a_project_shares_stays_when_a_person_takes_theirs_out(zap: Zap, person: Path) -> None:
    plant("junie", person)
    before = tree(person)
    zap("setup", "junie", "codex", "--scope", "project")
    shared = tree(person)
    zap("setup", "junie", "codex")
    for words in (["--remove", "--dry-run"], ["--remove"], ["--remove", "codex"]):
        gone = zap("setup", *words)
        assert gone.status == 0
        assert f"{person / 'project'}: stays in files of the project" in gone.err
        assert "`zapomni setup --remove --scope project` there takes it out" in gone.err
    assert tree(person) == shared
    assert zap("setup", "--remove", "--json").json["stays"] == [str(person / "project")]
    assert zap("setup", "--remove", "cursor", "--json").json["stays"] == []
    done = zap("setup", "--remove", "--scope", "project", "--json").json
    assert (tree(person), done["stays"]) == (before, [])
    assert zap("setup", "--remove", "--json").json["stays"] == []


@pytest.mark.promise("setup.shared")
def test_what_others_wired_in_a_repository_is_named_and_stays(zap: Zap, person: Path) -> None:
    """Somebody else's setup is in no record of this machine."""
    zap("setup", "claude-code", "--scope", "project")
    for file in sorted((person / "store" / "setup").rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    shared = tree(person)
    assert zap("setup", "--remove", "--json").json["stays"] == [str(person / "project")]
    assert tree(person) == shared
    zap("setup", "--remove", "--scope", "project")
    assert not [path for path, data in tree(person).items() if b"zapomni" in data]


@pytest.mark.promise("setup.identity")
@pytest.mark.parametrize("again", [False, True], ids=["at once", "after setup of one's own"])
@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_what_a_colleague_wired_goes_without_a_husk(zap: Zap, person: Path, client: str, *, again: bool) -> None:
    zap("setup", client, "--scope", "project")
    if not (person / "store" / "setup").exists():
        return  # it has nothing in a project
    shutil.rmtree(person / "store" / "setup")
    if again:
        zap("setup", client, "--scope", "project")
        zap("setup", "--remove", "--scope", "project")  # the server's entry stays the first time
    done = zap("setup", "--remove", "--scope", "project", "--json")
    assert done.status == 0
    assert tree(person) == {}
    assert [path.name for path in (person / "project").iterdir()] == [".git"]


@pytest.mark.promise("setup.identity", "setup.foreign")
def test_what_others_have_beside_a_colleagues_wiring_stays(zap: Zap, person: Path) -> None:
    project = person / "project"
    (project / ".claude" / "skills" / "mine").mkdir(parents=True)
    (project / "AGENTS.md").write_text("Пиши кратко.\n")
    (project / ".mcp.json").write_text('{"mcpServers": {"figma": {"url": "x"}}}\n')
    (project / ".claude" / "settings.json").write_text('{"model": "opus"}\n')
    before = tree(person)
    zap("setup", "claude-code", "codex", "--scope", "project")
    shutil.rmtree(person / "store" / "setup")
    done = zap("setup", "--remove", "--scope", "project", "--json").json
    assert {step["client"] for step in done["steps"]} == {"claude-code", "codex"}
    assert tree(person) == before
    assert (project / ".claude" / "skills" / "mine").is_dir()
    assert not (project / ".claude" / "skills" / "zapomni").exists()


@pytest.mark.promise("setup.shared")
def test_other_projects_are_named_and_those_that_are_no_more_are_forgotten(
    zap: Zap, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (person / "elsewhere").mkdir()
    zap("setup", "codex", "--scope", "project")
    monkeypatch.chdir(person / "elsewhere")
    assert zap("setup", "--remove", "--json").json["stays"] == [str(person / "project")]
    shutil.rmtree(person / "project")
    assert zap("setup", "--remove", "--dry-run", "--json").json["stays"] == []
    assert (person / "store" / "setup").exists()
    assert zap("setup", "--remove", "--json").json["stays"] == []
    assert not (person / "store" / "setup").exists()


@pytest.mark.promise("setup.identity")
def test_a_file_that_was_deleted_meanwhile_is_written_anew_and_goes_again(zap: Zap, person: Path) -> None:
    plant("cursor", person)
    zap("setup", "cursor")
    (person / "home/.cursor/mcp.json").unlink()
    zap("setup", "cursor")
    zap("setup", "cursor", "--remove")
    assert not (person / "home/.cursor/mcp.json").exists()
    zap("setup", "cursor")
    (person / "home/.cursor/mcp.json").unlink()
    assert zap("setup", "--remove").status == 0
    assert not (person / "home/.cursor/mcp.json").exists()


def test_two_runs_of_setup_wait_for_each_other(zap: Zap, person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "LOCK_S", 0.05)
    (person / "store").mkdir()
    with FileLock(person / "store" / "setup.lock"):
        result = zap("setup", "cursor")
    assert result.status == 7
    assert "another run of setup" in result.err
    assert zap("setup", "cursor").status == 0


@pytest.mark.promise("setup.told")
def test_with_a_folder_of_its_own_the_memory_is_told_to_server_and_hooks(zap: Zap, person: Path) -> None:
    zap("--home", str(person / "своя"), "setup", "cursor")
    cursor = person / "home" / ".cursor"
    server = json.loads((cursor / "mcp.json").read_text())["mcpServers"]["zapomni"]
    assert server["env"] == {"ZAPOMNI_HOME": str(person / "своя"), "ZAPOMNI_AGENT": "cursor"}
    hook = json.loads((cursor / "hooks.json").read_text())["hooks"]["sessionStart"][0]["command"]
    assert shlex.split(hook)[1:] == ["hook", "--client", "cursor", "--home", str(person / "своя")]


@pytest.mark.promise("setup.identity")
def test_a_byte_order_mark_a_mode_and_a_link_stay(zap: Zap, person: Path) -> None:
    real, link = person / "home" / "dotfiles.json", person / "home" / ".cursor" / "mcp.json"
    link.parent.mkdir()
    real.write_bytes(b'\xef\xbb\xbf{"mcpServers": {}}\r\n')
    real.chmod(0o600)
    link.symlink_to(real)
    zap("setup", "cursor")
    data = real.read_bytes()
    assert data.startswith(b'\xef\xbb\xbf{"mcpServers": {"zapomni"')
    assert data.endswith(b"}\r\n")
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    zap("setup", "cursor", "--remove")
    assert real.read_bytes() == b'\xef\xbb\xbf{"mcpServers": {}}\r\n'


def test_the_backup_is_whole_and_for_nobody_elses_eyes(zap: Zap, person: Path) -> None:
    before = plant("cursor", person)
    zap("setup", "cursor")
    backups = list((person / "store" / "setup" / "backups").iterdir())
    assert {file.read_bytes() for file in backups} == set(before.values())
    assert {stat.S_IMODE(file.stat().st_mode) for file in backups} == {0o600}


def test_a_file_that_changes_between_reading_and_writing_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"theirs")
    with pytest.raises(Unavailable, match="another program"):
        disk.write(file, b"ours", seen=b"what we read")
    assert file.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.promise("setup.golden")
def test_a_hook_of_cline_is_a_program(zap: Zap, person: Path) -> None:
    zap("setup", "cline")
    hook = person / "home/Documents/Cline/Hooks/TaskStart"
    assert os.access(hook, os.X_OK)


# --- where things lie -----------------------------------------------------------------------------------
PLACES = [
    ("linux", {}, "claude-code", "/h/.claude.json"),
    ("linux", {"CLAUDE_CONFIG_DIR": "/c"}, "claude-code", "/c/.claude.json"),
    ("linux", {"CODEX_HOME": "/x"}, "codex", "/x/config.toml"),
    ("linux", {"COPILOT_HOME": "/y"}, "copilot", "/y/mcp-config.json"),
    ("linux", {"XDG_CONFIG_HOME": "/k"}, "vscode", "/k/Code/User/mcp.json"),
    ("linux", {"XDG_CONFIG_HOME": "/k"}, "opencode", "/k/opencode/opencode.jsonc"),
    ("darwin", {}, "vscode", "/h/Library/Application Support/Code/User/mcp.json"),
    ("darwin", {}, "claude-desktop", "/h/Library/Application Support/Claude/claude_desktop_config.json"),
    ("darwin", {}, "zed", "/h/.config/zed/settings.json"),
    ("darwin", {}, "goose", "/h/.config/goose/config.yaml"),
    ("win32", {"APPDATA": "/r"}, "vscode", "/r/Code/User/mcp.json"),
    ("win32", {"APPDATA": "/r"}, "claude-desktop", "/r/Claude/claude_desktop_config.json"),
    ("win32", {"APPDATA": "/r"}, "zed", "/r/Zed/settings.json"),
    ("win32", {"APPDATA": "/r"}, "goose", "/r/Block/goose/config/config.yaml"),
    ("win32", {}, "claude-desktop", "/h/AppData/Roaming/Claude/claude_desktop_config.json"),
]


@pytest.mark.promise("setup.golden")
@pytest.mark.parametrize(("platform", "variables", "client", "wanted"), PLACES, ids=str)
def test_a_clients_file_lies_where_its_platform_and_variables_say(
    platform: str, variables: dict[str, str], client: str, wanted: str
) -> None:
    here = machine({"HOME": "/h", **variables}, None, platform=platform)
    server = next(aim for aim in CLIENTS[client].aims if aim.part is Part.SERVER)
    assert here.file(server, Reach.USER) == Path(wanted)
    assert here.file(server, Reach.PROJECT) is None, "no folder, no project"


def test_a_hook_of_cline_is_a_script_of_powershell_on_windows() -> None:
    here = machine({"HOME": "/h"}, None, platform="win32")
    hook = next(aim for aim in CLIENTS["cline"].aims if aim.part is Part.HOOKS)
    assert here.file(hook, Reach.USER) == Path("/h/Documents/Cline/Hooks/TaskStart.ps1")
    launch = Launch(client="cline", command=r"C:\a b\zapomni.exe", windows=True)
    assert hook.edit(launch).put("").text == '$input | & "C:\\a b\\zapomni.exe" hook --client cline\r\n'


def test_a_command_with_spaces_is_quoted_for_its_platform() -> None:
    assert Launch(client="x", command="/a b/zapomni").hook == "'/a b/zapomni' hook --client x"
    windows = Launch(client="x", command=r"C:\a b\zapomni.exe", windows=True)
    assert windows.hook == r'"C:\a b\zapomni.exe" hook --client x'


def test_a_projects_files_hold_no_path_of_this_machine(zap: Zap, person: Path) -> None:
    for client in CLIENTS:
        zap("setup", client, "--scope", "project")
    files = {path: data for path, data in tree(person).items() if path.startswith("project")}
    assert files
    assert [path for path, data in files.items() if str(person).encode() in data] == []
    assert [path for path, data in files.items() if sys.prefix.encode() in data] == []


def test_every_client_has_what_the_table_promises() -> None:
    for client in CLIENTS.values():
        parts = {aim.part for aim in client.aims}
        assert Part.SERVER in parts
        assert all(aim.user or aim.project for aim in client.aims)
        assert not client.does.endswith(".")


def plugged(home: Path, settings: str = '{"enabledPlugins": {"other@x": true, "zapomni@zapomni": true}}') -> Path:
    """Have the plugin of Claude Code on, as it writes it."""
    file = home / "home" / ".claude" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(settings)
    return file


@pytest.mark.promise("setup.plugin")
@pytest.mark.parametrize("scope", ["user", "project"])
def test_hooks_are_left_to_a_plugin_that_is_on(zap: Zap, person: Path, scope: str) -> None:
    settings = plugged(person)
    before = settings.read_text()
    for words in (["--dry-run"], []):
        came = zap("setup", "claude-code", "--scope", scope, "--json", *words)
        assert came.status == 0, came
        outcomes = {step["part"]: step["outcome"] for step in came.json["steps"]}
        assert outcomes == {"server": "added", "hooks": "left", "rules": "added", "skill": "added"}
        assert "zapomni@zapomni" in next(step["why"] for step in came.json["steps"] if step["part"] == "hooks")
    assert settings.read_text() == before
    assert not (person / "project" / ".claude" / "settings.json").exists()
    assert "wired by the plugin zapomni@zapomni" in zap("doctor", "--clients").out
    assert zap("setup", "claude-code", "--scope", scope, "--remove").status == 0
    assert settings.read_text() == before


@pytest.mark.promise("setup.plugin")
@pytest.mark.parametrize(
    "settings", ['{"enabledPlugins": {"zapomni@zapomni": false}}', '{"enabledPlugins": {"zapomni-x@y": true}}', "{}"]
)
def test_a_plugin_that_is_off_or_another_brings_no_hooks(zap: Zap, person: Path, settings: str) -> None:
    plugged(person, settings)
    came = zap("setup", "claude-code", "--json").json["steps"]
    assert {step["part"]: step["outcome"] for step in came}["hooks"] == "added"


@pytest.mark.promise("setup.plugin", "doctor.clients")
def test_hooks_that_run_twice_are_named_and_what_is_told_mends_it(zap: Zap, person: Path) -> None:
    zap("setup", "claude-code")
    settings = person / "home" / ".claude" / "settings.json"
    settings.write_text(json.dumps({"enabledPlugins": {"zapomni@zapomni": True}, **json.loads(settings.read_text())}))
    remedy = "`zapomni setup claude-code --remove`, then `zapomni setup claude-code`"
    told = zap("doctor", "--clients")
    assert told.status != 0
    assert "every hook runs twice" in told.out
    assert remedy in told.out
    assert remedy in zap("setup", "claude-code").out
    zap("setup", "claude-code", "--remove")
    assert zap("setup", "claude-code").status == 0
    assert json.loads(settings.read_text()) == {"enabledPlugins": {"zapomni@zapomni": True}}
    assert "wired by the plugin" in zap("doctor", "--clients").out
