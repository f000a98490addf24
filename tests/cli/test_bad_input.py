from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from zapomni.errors import EXIT_STATUS, Unavailable
from zapomni.surfaces.cli.main import COMMANDS, cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Zap = Callable[..., Any]
    Stored = Callable[..., str]


ESCAPES = "red \x1b[31m\x1b]0;title\x07 \x9b2J back\x08 \r over \u202e end"
HARMFUL = {"\x1b", "\x07", "\x08", "\x9b", "\r", "\u202e"}
BAD = [
    ["nonsense"],
    ["--nonsense"],
    ["--json", "stats"],
    ["store", ""],
    ["store", "   \n\t"],
    ["store", "\u200b\u200b"],
    ["store", "\0"],
    ["store", "x" * 100_001],
    ["store", "x", "--kind", "nonsense"],
    ["store", "x", "--about", "none"],
    ["store", "x", "--importance", "much"],
    ["store", "x", "--importance", "1.5"],
    ["store", "x", "--importance", "nan"],
    ["store", "x", "--position", "-1"],
    ["store", "x", "--position", "1e3"],
    ["store", "x", "--meta", "novalue"],
    ["store", "x", "--meta", "=v"],
    ["store", "x", "--tag", ""],
    ["store", "x", "--tag", "t" * 201],
    ["store", "x", "--title", "t" * 201],
    ["store", "x", "--observed-at", "soon"],
    ["store", "x", "--observed-at", "2026-02-30"],
    ["store", "x", "--valid-from", "2026-02-02", "--valid-until", "2026-02-01"],
    ["store", "x", "--scope", "shop"],
    ["store", "x", "--scope", "all"],
    ["store", "x", "--scope", "project:"],
    ["recall", ""],
    ["recall", "  "],
    ["recall", "x" * 10_001],
    ["recall", "x", "--limit", "0"],
    ["recall", "x", "--limit", "-1"],
    ["recall", "x", "--limit", "101"],
    ["recall", "x", "--limit", "9" * 30],
    ["recall", "x", "--budget", "0"],
    ["recall", "x", "--mode", "magic"],
    ["recall", "x", "--mode", "semantic"],
    ["recall", "x", "--strict"],
    ["recall", "x", "--since", "2026-02-02", "--until", "2026-02-01"],
    ["recall", "x", "--on", "someday"],
    ["recall", "x", "--as-of", "then"],
    ["recall", "x", "--scope", "nobody"],
    ["recall", "x", "--scope", "team:nobody"],
    ["recall", "x", "--trust", "blind"],
    ["list", "--limit", "0"],
    ["list", "--limit", "-1"],
    ["list", "--limit", "5000"],
    ["list", "--cursor", "made-up"],
    ["list", "--cursor", "Ёж"],
    ["list", "extra"],
    ["show"],
    ["show", ""],
    ["show", "zzzz"],
    ["show", "%"],
    ["show", "_" * 16],
    ["show", "\udcff\udcfe"],
    ["update", "zzzz", "x"],
    ["update", "zzzz", "x", "--version", "one"],
    ["update", "zzzz"],
    ["delete"],
    ["delete", "zzzz"],
    ["delete", ""],
    ["delete", "--kind", "semantic"],
    ["delete", "zzzz", "--erase", "--never", "because", "--yes"],
    ["history"],
    ["history", "zzzz"],
    ["history", "zzzz", "--runs"],
    ["undo"],
    ["undo", "zzzz"],
    ["undo", "--run", "zzzz"],
    ["undo", "--run", ""],
    ["stats", "--scope", "project:nobody"],
    ["search"],
    ["search", "  "],
    ["search", "x", "--limit", "0"],
    ["search", "x", "--limit", "101"],
    ["search", "x", "--kind", "poem"],
    ["search", "x", "--source", "zzzz"],
    ["search", "x", "--mode", "semantic"],
    ["search", "x", "--strict"],
    ["search", "x", "--scope", "team:nobody"],
    ["source"],
    ["source", "nonsense"],
    ["source", "add"],
    ["source", "add", "/nonexistent"],
    ["source", "add", "/"],
    ["source", "add", ".", "--include", "#"],
    ["source", "add", ".", "--mode", "magic"],
    ["source", "add", ".", "--scope", "shop"],
    ["source", "remove", "zzzz"],
    ["source", "remove", " "],
    ["source", "scan", "zzzz"],
    ["source", "status", "zzzz"],
    ["source", "list", "--scope", "team:nobody"],
    ["export", "--json"],
    ["export", "/nonexistent/file"],
    ["export", "/"],
    ["export", "--format", "plain"],
    ["import"],
    ["import", "/nonexistent"],
    ["import", "/"],
    ["import", "-"],
    ["import", "-", "--mode", "overwrite"],
    ["backup"],
    ["backup", "/"],
    ["backup", "/nonexistent/file"],
    ["restore"],
    ["restore", "/nonexistent"],
    ["restore", "/"],
    ["serve", "--port", "1"],
    ["serve", "--tools", "many"],
    ["serve", "--folder", "/nonexistent"],
    ["serve", "--http", "--folder", "/"],
    ["serve", "--http", "--port", "99999"],
    ["serve", "--http", "--port", "many"],
    ["config"],
    ["config", "nonsense"],
    ["bench", "nonsense"],
]


@pytest.mark.promise("cli.statuses")
@pytest.mark.parametrize("words", BAD, ids=lambda words: " ".join(words)[:60].encode("ascii", "replace").decode())
def test_bad_input_ends_in_one_message_and_a_documented_status(zap: Zap, stored: Stored, words: list[str]) -> None:
    stored("Something to look at.")
    result = zap(*words, stdin="")
    assert result.status in set(EXIT_STATUS) - {0, 1}, result
    assert "Traceback" not in result.err
    assert "unforeseen" not in result.err
    assert (result.err if "--json" not in words else result.out).strip()
    assert not HARMFUL & set(result.err)
    if words[0] in COMMANDS and words[0] not in {"config", "bench", "source"}:
        again = zap(*words[:1], "--json", *words[1:], stdin="")
        assert again.status == result.status
        document = json.loads(again.out)
        assert "error" in document or words[0] == "delete"


@pytest.mark.promise("cli.statuses")
def test_an_error_nobody_foresaw_is_one_line_and_debug_shows_where(zap: Zap, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("x\n\x1b[31m")

    monkeypatch.setattr("zapomni.config.load", broken)
    result = zap("list")
    assert result.status == 1
    assert result.err.count("\n") == 1
    assert "KeyError" in result.err
    assert "--debug" in result.err
    assert not HARMFUL & set(result.err)
    assert zap("list", "--json").json["error"]["code"] == "unexpected"
    with pytest.raises(KeyError):
        zap("--debug", "list")


@pytest.mark.parametrize(
    ("slip", "meant"),
    [(["stor", "x"], "store"), (["recall", "x", "--limt", "3"], "--limit"), (["config", "pth"], "path")],
)
def test_a_slip_is_answered_with_what_was_meant(zap: Zap, slip: list[str], meant: str) -> None:
    result = zap(*slip)
    assert result.status == 2
    assert "Did you mean" in result.err
    assert meant in result.err


def test_an_option_on_the_wrong_side_of_the_command_is_told_where_it_goes(zap: Zap) -> None:
    assert "--home goes before the command" in zap("recall", "x", "--home", "/tmp").err
    assert zap("--json", "stats").json["error"]["remedy"] == "--json goes behind the command"


@pytest.mark.parametrize("group", ["branch", "config", "inbox", "index", "session", "source", "vault", "bench"])
def test_the_help_of_a_group_cuts_no_sentence(zap: Zap, group: str) -> None:
    assert "..." not in zap(group, "--help").out.partition("Commands:")[2]


def test_standard_input_that_is_no_text_is_refused(zap: Zap) -> None:
    result = zap("store", "-", stdin=b"caf\xe9")
    assert result.status == 2
    assert "UTF-8" in result.err


def test_a_missing_text_on_a_terminal_is_asked_for_not_waited_for(zap: Zap) -> None:
    assert zap("store").status == 2
    assert zap("recall").status == 2


def test_the_largest_text_passes(zap: Zap) -> None:
    text = "Ж" * 100_000
    result = zap("store", "--json", stdin=text)
    assert result.status == 0
    assert zap("show", result.json["id"], "--json").json["content"] == text


@pytest.mark.promise("cli.terminal")
def test_no_stored_text_controls_the_terminal(zap: Zap, stored: Stored) -> None:
    memory_id = stored(
        ESCAPES,
        *("--title", ESCAPES, "--description", ESCAPES, "--tag", ESCAPES, "--entity", ESCAPES),
        *("--source", ESCAPES, "--path", ESCAPES, "--meta", f"{ESCAPES}={ESCAPES}", "--key", ESCAPES),
        *("--scope", "team:red"),
    )
    everywhere = ["--scope", "all"]
    zap("update", memory_id, ESCAPES + "2", "--tag", ESCAPES + "2", *everywhere)
    for words in (
        ["recall", "red", "--explain", *everywhere],
        ["recall", "red", "--full", *everywhere],
        ["list", *everywhere],
        ["list", "--full", *everywhere],
        ["show", memory_id, "--full", *everywhere],
        ["history", memory_id, *everywhere],
        ["stats", *everywhere],
        ["delete", "--kind", "semantic", "--dry-run", *everywhere],
        ["store", ESCAPES + "2", "--scope", f"team:{ESCAPES.strip()}x"],
        ["update", memory_id, "x", "--version", "1", *everywhere],
        ["show", ESCAPES],
        ["list", "--scope", ESCAPES],
        [ESCAPES],
        ["store", "x", "--kind", ESCAPES],
        ["delete", memory_id, *everywhere],
    ):
        result = zap(*words)
        assert result.out + result.err
        assert not HARMFUL & set(result.out + result.err), words


@pytest.mark.promise("cli.terminal")
def test_colour_is_for_terminals_alone_and_can_be_refused(
    zap: Zap, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored("Colourful.")
    assert "\x1b[" in zap("list", tty=True).out
    assert "\x1b[" not in zap("list").out
    assert "\x1b[" not in zap("--no-color", "list", tty=True).out
    for value in ("1", "0", "anything"):
        monkeypatch.setenv("NO_COLOR", value)
        result = zap("list", tty=True)
        assert result.status == 0
        assert "\x1b[" not in result.out
    monkeypatch.setenv("NO_COLOR", "")
    assert "\x1b[" in zap("list", tty=True).out


def start(home: Path, *words: str, variables: tuple[str, ...] = (), **options: Any) -> subprocess.Popen[bytes]:
    command = ["env", *variables, sys.executable, "-m", "zapomni", "--home", str(home / "store"), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


PLAIN = ("LC_ALL=C", "PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0", "PYTHONIOENCODING=ascii")


def plainly(home: Path, *words: str) -> str:
    with start(home, *words, variables=PLAIN) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err.decode()
    return out.decode()


@pytest.fixture
def papers(home: Path) -> Path:
    folder = home / "work" / "бумаги"
    folder.mkdir()
    folder.joinpath("нота.md").write_text("# Нота\n\nжуравль прилетел\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("spelled", ["whole", "as it lies here"])
def test_a_folder_with_a_russian_name_is_attached_and_searched_in_a_locale_that_knows_no_russian(
    home: Path, papers: Path, spelled: str
) -> None:
    name = str(papers) if spelled == "whole" else papers.name
    assert "added 1" in plainly(home, "source", "add", name)
    assert "documents  1" in plainly(home, "source", "status", name)
    assert "бумаги/нота.md:1" in plainly(home, "search", "журавль", "--source", name)


@pytest.mark.parametrize("where", ["file", "environment"])
def test_a_folder_with_a_russian_name_in_the_settings_is_attached_once_in_such_a_locale(
    home: Path, papers: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "file":
        settings = home / "config.toml"
        monkeypatch.setenv("ZAPOMNI_CONFIG", str(settings))
        settings.write_text(f'[documents]\nfolders = ["{papers}", "{papers}-которых-нет"]\n', encoding="utf-8")
    else:
        monkeypatch.setenv("ZAPOMNI_DOCUMENTS_FOLDERS", str(papers))
    assert "added 1" in plainly(home, "source", "scan")
    plainly(home, "source", "add", papers.name, "--exclude", "черновик.md", "--no-scan")
    plainly(home, "source", "scan")
    (source,) = json.loads(plainly(home, "source", "list", "--json"))["sources"]
    assert (source["root"], source["exclude"]) == (str(papers), ["черновик.md"])


def test_russian_passes_through_a_locale_that_knows_no_russian(home: Path) -> None:
    text = "Ёлка в холле, «Северный Лес» 🎄"
    plainly(home, "store", text)
    assert text in plainly(home, "recall", "елка")


@pytest.mark.promise("cli.locale")
def test_every_command_takes_russian_paths_and_texts_in_such_a_locale(home: Path) -> None:
    def said(*words: str, stdin: bytes = b"") -> str:
        command = ["env", *PLAIN, sys.executable, "-m", "zapomni", "--home", "мой архив", *words]
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False, cwd=home / "work")
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    work = home / "work"
    (work / "список.jsonl").write_text('{"content": "Список: молоко"}\n', encoding="utf-8")
    said("store", "Ёлка в холле", "--tag", "праздник")
    said("import", "список.jsonl")
    assert "Ёлка в холле" in said("recall", "ёлка", "--tag", "праздник")
    said("backup", "копия.db")
    said("export", "выгрузка.jsonl")
    assert "Список: молоко" in (work / "выгрузка.jsonl").read_text(encoding="utf-8")
    said("restore", "копия.db", "--verify")
    assert sorted(file.name for file in (work / "мой архив").glob("*.db")) == ["memories.db"]
    assert sorted(file.name for file in work.iterdir()) == sorted(
        ["список.jsonl", "мой архив", "копия.db", "выгрузка.jsonl"]
    )


@pytest.mark.promise("cli.locale")
def test_bytes_that_are_no_utf8_are_named_as_such(home: Path) -> None:
    command: list[str | bytes] = ["env", *PLAIN, sys.executable, "-m", "zapomni", "backup", b"caf\xe9.db"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, cwd=home / "work")
    assert done.returncode == 2
    assert b"an argument holds bytes that are not UTF-8" in done.stderr


def test_a_reader_that_goes_away_is_no_error_to_talk_about(home: Path, stored: Stored) -> None:
    for number in range(5):
        stored(f"Note {number}: {'long ' * 15_000}")
    with start(home, "list", "--full", variables=("--unset=PYTHONUNBUFFERED",)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=60)
    assert err == b""


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["show", "zzzz", "--json"], ["export"]])
@pytest.mark.parametrize("buffered", ["--unset=PYTHONUNBUFFERED", "PYTHONUNBUFFERED=1"])
def test_output_that_cannot_be_written_is_one_message(
    home: Path, stored: Stored, words: list[str], buffered: str
) -> None:
    stored("Something.")
    command = ["env", buffered, sys.executable, "-m", "zapomni", *words]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == (3 if "zzzz" in words else 7)
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")


@pytest.mark.parametrize("words", [["store"], ["store", "-"], ["recall"], ["import", "-"]])
def test_a_closed_standard_input_is_nothing_to_wait_for(home: Path, words: list[str]) -> None:
    command = ["bash", "-c", '"$@" <&-', "-", sys.executable, "-m", "zapomni", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "it is missing" in done.stderr


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A process started in the background ignores the signal, and so would its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_with_130_and_without_a_traceback(home: Path) -> None:
    with start(home, "store", "-", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"waiting")
        process.stdin.flush()
        wait_until_reading(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err


def wait_until_reading(pid: int) -> None:
    """Wait until the process sits in a read of its standard input."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if Path(f"/proc/{pid}/syscall").read_text().split()[:2] == ["0", "0x0"]:
            return
    raise AssertionError("it never read its input")


@pytest.mark.parametrize("words", [["papers"], ["papers", "a.txt"], ["бумаги"]])
def test_a_folder_is_no_text_to_ingest_but_a_sentence_may_name_one(home: Path, zap: Zap, words: list[str]) -> None:
    for folder in ("papers", "бумаги"):
        (Path.cwd() / folder).mkdir(exist_ok=True)
    (Path.cwd() / "a.txt").write_text("x")
    result = zap("ingest", *words)
    assert (result.status, "source add FOLDER --mode ingest" in result.err) == (2, True)
    assert zap("ingest", "We", "moved", "papers", "to", "the", "attic").status == Unavailable.exit_status
    assert zap("list", "--json").json["total"] == 1


def every_value() -> Iterator[tuple[str, ...]]:
    """Every option and every single argument that takes a value, each in a command line that lacks nothing else."""

    def commands(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield from commands(below, *path, name)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield path, command

    def given(param: click.Parameter, value: str) -> tuple[str, ...]:
        return (value,) if isinstance(param, click.Argument) else (param.opts[-1], value)

    for path, command in commands(cli):
        takes = [one for one in command.params if not getattr(one, "is_flag", False) and one.nargs == 1]
        for param in takes if path[0] not in {"bench", "hook"} else ():
            if param.opts[-1] != "--branch":  # empty is the main line, as its help says
                needed = [word for one in takes if one.required and one is not param for word in given(one, "x")]
                yield (*path, *needed, *given(param, "{blank}"))


@pytest.mark.promise("cli.statuses")
def test_no_blank_value_is_passed_over(home: Path, zap: Zap) -> None:
    passed = [
        (words, blank, result)
        for words in every_value()
        for blank in ("", " \u200b")
        for result in [zap(*(word.format(blank=blank) for word in words))]
        if result.status != 2 or not ("it is blank" in result.err or "not a" in result.err or "not one" in result.err)
    ]
    assert passed == []
    assert zap("--home", "", "list").status == 2
    assert not (home / "store").exists()


LONG_ACTS = ("source add", "source remove", "show", "search x --source", "list --scope", "list --json --scope")


@pytest.mark.parametrize("act", LONG_ACTS)
def test_an_error_quotes_no_more_than_a_screen_of_what_was_given(home: Path, zap: Zap, act: str) -> None:
    result = zap(*act.split(), "слон" * 9_000)
    assert result.status
    assert len(result.out) + len(result.err) < 2_500


@pytest.mark.parametrize("blank", ["", "  "])
@pytest.mark.parametrize(
    "act", ["export --git", "backup", "restore", "source add", "vault report . --picture", "vault report . --history"]
)
def test_a_blank_place_is_no_place_and_nothing_is_written_there(home: Path, zap: Zap, act: str, blank: str) -> None:
    before = sorted(path.name for path in Path.cwd().iterdir())
    result = zap(*act.split(), blank)
    assert (result.status, "it is blank" in result.err) == (2, True)
    assert sorted(path.name for path in Path.cwd().iterdir()) == before
