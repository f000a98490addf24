from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from zapomni import errors
from zapomni.errors import EXIT_STATUS, ZapomniError
from zapomni.record import FIELDS
from zapomni.surfaces.cli.main import COMMANDS, Commands, Unexpected, Usage, cli
from zapomni.surfaces.cli.manual import page

if TYPE_CHECKING:
    from collections.abc import Callable

    Zap = Callable[..., Any]
    Stored = Callable[..., str]


DOCS = Path(__file__).parents[2] / "docs"
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```json\n(.*?)^```", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (\d+) \| (.*?) ?\| (.*?) \|$", re.MULTILINE)
TEXT = (DOCS / "json.md").read_text(encoding="utf-8")
EXAMPLES = {name: [json.loads(block) for block in EXAMPLE.findall(body)] for name, body in SECTION.findall(TEXT)}
MEMORY = {*FIELDS, "cut", "length"}


def undocumented(answer: Any, examples: list[Any], where: str = "") -> set[str]:
    """Return the fields of an answer that no example of the page shows; memory and error are shown once for all."""
    if isinstance(answer, list):
        inner = [item for example in examples if isinstance(example, list) for item in example]
        return {name for item in answer for name in undocumented(item, inner, where)}
    if not isinstance(answer, dict) or where in OPEN:
        return set()
    examples = [example for example in examples if isinstance(example, dict)]
    known = {name for example in examples for name in example}
    known |= MEMORY if {"id", "content"} <= answer.keys() else set()
    found = {f"{where}.{name}" for name in answer.keys() - known}
    for name, value in answer.items():
        shown = EXAMPLES["Errors"] if name == "error" else examples
        found |= undocumented(value, [example[name] for example in shown if name in example], name)
    return found


OPEN = {"metadata", "value", "kinds", "scopes", "trusts", "tags", "bytes", "detail", "excluded"}


@pytest.mark.promise("cli.json")
def test_every_answer_in_json_is_documented(zap: Zap, stored: Stored, home: Path) -> None:
    first = stored("We never deploy on Friday.", "--tag", "deploy", "--meta", "k=v")
    second = stored("Long. " * 1_000)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    papers = home / "papers"
    for folder in (papers, home / "nothing"):
        folder.mkdir()
    (papers / "a.md").write_text("# Deploy\n\n" + "We deploy on Monday. " * 90)
    (papers / "b.txt").write_bytes("Развёртывание по понедельникам.\n".encode("cp1251"))
    (papers / ".env").write_text("KEY=1")
    lesson = stored("Ada's lesson on ships.", "--scope", "agent:ada")
    filed = zap("promote", lesson, "--to", "user", "--json").json["id"]
    assert zap("inbox", "accept", filed).status == 0
    rule = zap("lessons", "--agent", "bob", "--json").json["lessons"][0]["id"]
    reviewed = "inbox show, accept, reject; promote"
    answers = [
        (reviewed, ["inbox", "show", filed]),
        (reviewed, ["promote", stored("Another lesson of hers.", "--scope", "agent:ada"), "--to", "team:web"]),
        ("Errors", ["inbox", "accept", filed]),
        ("lessons", ["lessons", "--agent", "bob"]),
        ("lessons", ["lessons", "--agent", "bob", "--ack", rule]),
        ("miss", ["miss", "when may I ship?", "--expected", first]),
        ("miss", ["miss", "when may I ship?", "--expected", first]),
        ("misses", ["misses"]),
        ("inbox, inbox list", ["inbox", "list"]),
        ("store, update", ["store", f"We never deploy on Fridays \0 {secret}."]),
        ("store, update", ["store", "We never deploy on Friday!"]),
        ("store, update", ["update", first, "--title", "Friday"]),
        ("recall", ["recall", "deploy", "--explain"]),
        ("recall", ["recall", "long deploy friday", "--budget", "5"]),
        ("recall", ["recall", "zeppelin", "--explain"]),
        ("list", ["list", "--limit", "1"]),
        ("show", ["show", first, "--full"]),
        ("delete", ["delete", second, "zzzz", "--dry-run"]),
        ("delete", ["delete", second, "zzzz"]),
        ("history", ["history", first]),
        ("export FILE", ["export", str(home / "e.jsonl")]),
        ("export FILE", ["export", "--git", str(home / "git")]),
        ("diff", ["diff", first]),
        ("blame", ["blame", first]),
        ("topics", ["topics"]),
        ("branch", ["branch", "create", "try"]),
        ("store, update", ["update", first, "We deploy on Fridays.", "--branch", "try"]),
        ("branch", ["branch", "list"]),
        ("branch", ["branch", "diff", "try"]),
        ("branch", ["branch", "merge", "try"]),
        ("branch", ["branch", "drop", "try"]),
        ("import", ["import", str(home / "bad.jsonl")]),
        ("history", ["history", "--runs"]),
        ("undo", ["undo", second]),
        ("stats", ["stats"]),
        ("backup, restore", ["backup", str(home / "b.db")]),
        ("backup, restore", ["restore", str(home / "b.db"), "--force"]),
        ("doctor", ["doctor"]),
        ("doctor", ["doctor", "--clients"]),
        ("session close", ["session", "close", "--transcript", str(home / "t.jsonl")]),
        ("session list", ["session", "list"]),
        ("reembed", ["reembed"]),
        ("config show, config path", ["config", "show"]),
        ("config show, config path", ["config", "path"]),
        ("source add, source scan", ["source", "add", str(papers)]),
        ("source add, source scan", ["source", "add", str(home / "nothing"), "--no-scan"]),
        ("source add, source scan", ["source", "scan"]),
        ("source list, source status", ["source", "list"]),
        ("source list, source status", ["source", "status"]),
        ("ingest", ["ingest", "We deploy on Monday, said Alice."]),
        ("ingest", ["ingest", "We deploy on Monday, said Alice.", "--dry-run"]),
        ("ask", ["ask", "deploy"]),
        ("ask", ["ask", "deploy", "--dry-run"]),
        ("consolidate", ["consolidate", "--dry-run"]),
        ("Errors", ["consolidate"]),
        ("insights", ["insights"]),
        ("search", ["search", "deploy", "--explain"]),
        ("recall", ["recall", "zeppelin", "--with-docs", "--explain"]),
        ("cost", ["cost"]),
        ("setup", ["setup", "cursor", "--dry-run"]),
        ("setup", ["setup", "--list"]),
        ("recall", ["recall", "deploy", "--with-docs", "--explain"]),
        ("source remove", ["source", "remove", str(papers)]),
        ("vault report", ["vault", "report", str(papers)]),
        ("index plan", ["index", "plan", str(papers)]),
        ("index apply, index restore", ["index", "apply", str(papers)]),
        ("index apply, index restore", ["index", "restore", str(papers)]),
        ("Errors", ["show", "zzzz"]),
        ("Errors", ["update", first, "x", "--version", "9"]),
        ("Errors", ["nonsense"]),
    ]
    (home / "bad.jsonl").write_text('{"content": "Imported."}\n{broken\n')
    said = {"role": "user", "content": "We decided to keep the orders in PostgreSQL."}
    (home / "t.jsonl").write_text(json.dumps({"type": "user", "uuid": "1", "message": said}))
    shown = set()
    for section, words in answers:
        result = zap(*words, "--json")
        assert not undocumented(result.json, EXAMPLES[section]), words
        shown.add(words[0])
    assert shown >= set(COMMANDS) - {"hook", "serve", "bench"}


@pytest.mark.promise("cli.json")
def test_a_memory_is_documented_field_by_field() -> None:
    assert EXAMPLES["A memory"][0].keys() == MEMORY


@pytest.mark.promise("cli.statuses")
def test_every_status_and_code_is_documented() -> None:
    rows = {int(status): (codes, meaning) for status, codes, meaning in ROW.findall(TEXT)}
    assert {status: rows[status][1] for status in EXIT_STATUS} == EXIT_STATUS
    kinds: list[type[ZapomniError]] = [ZapomniError, Usage, Unexpected]
    kinds += [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ZapomniError)]
    for kind in kinds:
        assert f"`{kind.code}`" in rows[kind.exit_status][0], kind


def test_the_page_of_the_command_is_what_the_command_says() -> None:
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == page(), "run `python -m zapomni.surfaces.cli.manual`"


def test_the_help_of_the_group_says_what_each_command_says_of_itself() -> None:
    assert isinstance(cli, Commands)
    for name, row in COMMANDS.items():
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.name == name
        assert (command.help or "").split("\n", 1)[0] == row.help or name == "bench"
        for option in command.params:
            assert getattr(option, "help", "") != "", (name, option.name)


@pytest.mark.parametrize("words", [["--help"], ["-h"], [], ["--version"], ["store", "-h"], ["config", "show", "-h"]])
def test_help_needs_neither_store_nor_settings(
    zap: Zap, home: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("ZAPOMNI_RECALL_LIMIT", "bad")
    result = zap(*words)
    assert result.status == (0 if words else 2)
    assert not (home / "store").exists()


@pytest.mark.parametrize("act", ["--version", "--help", "store --help", "config show", "list", "recall nothing"])
def test_no_command_loads_a_library_that_it_does_not_need(home: Path, act: str) -> None:
    heavy = "{'numpy', 'pydantic', 'mcp', 'starlette', 'uvicorn', 'httpx2', 'asyncio', 'importlib.metadata'}"
    heavy += " | {'zapomni.documents', 'zapomni.text.chunks'}"
    code = (
        "import sys; from zapomni.surfaces.cli.main import run; "
        f"run({act.split()!r}); print('LOADED', sorted(({heavy}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "LOADED []" in done.stdout, done.stdout + done.stderr


def test_the_group_imports_only_the_command_that_runs(home: Path) -> None:
    code = (
        "import sys; from zapomni.surfaces.cli.main import run; run(['config', 'path']); "
        "print(sorted(m.rpartition('.')[2] for m in sys.modules if m.startswith('zapomni.surfaces.cli.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "['config', 'lines', 'main', 'render', 'session']"
