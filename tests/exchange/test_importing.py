from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from zapomni.errors import InvalidInput, NotFound, Refused, Unavailable
from zapomni.exchange.entries import Imported, Problem
from zapomni.store.sqlite.write import SqliteTx

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zapomni.app import Zapomni
    from zapomni.model import Memory

    Lines = Callable[..., Path]
    Opened = Callable[[str], Zapomni]
    Alive = Callable[[Zapomni], set[str]]
    Everything = Callable[[Zapomni], list[Memory]]

BIG = ['{"content": "import line %d"' % no + ("" if no == 350 else ', "tags": ["imp"]}') for no in range(1, 501)]  # noqa: UP031 - braces
PROGRAM = """
import sys
from zapomni.opening import open_memory
from zapomni.exchange import importing
importing.BATCH = 20
with open_memory(sys.argv[1], **{"embedder.provider": "none"}) as app:
    app.import_(sys.argv[2], progress=lambda done: print(done, flush=True))
"""


def _numbers(came: Imported) -> Imported:
    """What a dry run must tell like the real one."""
    return replace(came, run=None, dry_run=False)


@pytest.mark.promise("exchange.bad-lines")
def test_good_lines_are_kept_and_the_bad_one_is_named(app: Zapomni, lines: Lines, alive: Alive) -> None:
    came = app.import_(lines(*BIG))
    assert (came.imported, [problem.line for problem in came.bad]) == (499, [350])
    assert "not JSON" in came.bad[0].reason
    assert len(alive(app)) == 499


def test_what_is_wrong_with_a_line_is_told(app: Zapomni, lines: Lines) -> None:
    path = lines(
        {"content": "good"},
        "",
        "[1]",
        "5",
        {"text": "no content"},
        {"content": "x" * 100_001},
        {"content": "bad importance", "importance": 2},
        {"content": "bad date", "valid_until": "soon"},
        {"content": "bad scope", "scope": "here"},
        {"content": "bad kind", "kind": "rumour"},
        {"content": "  "},
        '{"content": "' + "[" * 3 + '", "metadata": ' + "[" * 100_000,
        {"content": "good too"},
    )
    came = app.import_(path)
    assert came.imported == 2
    told = {problem.line: problem.reason for problem in came.bad}
    words = {
        3: "array",
        4: "a number",
        5: "content",
        6: "100,000",
        7: "importance",
        8: "valid_until",
        9: "scope",
        10: "kind",
        11: "blank",
        12: "JSON",
    }
    assert told.keys() == words.keys()
    assert all(word in told[no] for no, word in words.items())


def test_a_line_longer_than_any_memory_is_named_and_passed_over(
    app: Zapomni, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zapomni.exchange.source.LINE_LIMIT", 1_000)
    came = app.import_(lines({"content": "one"}, {"content": "x" * 5_000}, {"content": "two"}))
    assert (came.imported, came.bad) == (2, (Problem(line=2, reason="it is longer than 1,000 bytes"),))


def test_bytes_that_are_no_text_are_named(app: Zapomni, tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b'{"content": "one"}\n{"content": "\xff\xfe"}\n\x00\x01\x02\n{"content": "two"}')
    came = app.import_(path)
    assert (came.imported, [problem.line for problem in came.bad]) == (2, [2, 3])


def test_a_mark_at_the_start_is_passed_over(app: Zapomni, lines: Lines, alive: Alive) -> None:
    app.import_(lines({"content": "первая"}, start=b"\xef\xbb\xbf"))
    assert alive(app) == {"первая"}


@pytest.mark.parametrize(
    ("data", "error"),
    [(b"", InvalidInput), (b"\xef\xbb\xbf\n \n", InvalidInput), ("{}".encode("utf-16"), InvalidInput)],
)
def test_a_file_that_holds_nothing_is_an_error(app: Zapomni, tmp_path: Path, data: bytes, error: type) -> None:
    (tmp_path / "in").write_bytes(data)
    with pytest.raises(error):
        app.import_(tmp_path / "in")


def test_a_file_without_memories_is_named_by_its_whole_path(app: Zapomni) -> None:
    with pytest.raises(InvalidInput, match=r"/dev/null is empty\. Name a file that holds memories"):
        app.import_("/dev/null")


def test_a_backup_is_not_imported_line_by_line(app: Zapomni, tmp_path: Path) -> None:
    app.backup(tmp_path / "copy")
    with pytest.raises(InvalidInput, match="zapomni restore"):
        app.import_(tmp_path / "copy")


@pytest.mark.parametrize("name", ["missing", ""])
def test_a_path_that_is_no_file_is_an_error(app: Zapomni, tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound):
        app.import_(tmp_path / name)


def test_an_unknown_mode_or_format_is_named(app: Zapomni, lines: Lines) -> None:
    with pytest.raises(InvalidInput, match="merge, skip, replace"):
        app.import_(lines(*BIG), mode="overwrite")
    with pytest.raises(InvalidInput, match="server-memory"):
        app.import_(lines(*BIG), form="csv")


def test_a_stream_is_imported_like_a_file(app: Zapomni, alive: Alive) -> None:
    came = app.import_(io.BytesIO(b'{"content": "through a pipe"}\n'))
    assert (came.imported, alive(app)) == (1, {"through a pipe"})


def test_plain_lines_carry_every_field_of_a_draft(app: Zapomni, lines: Lines, everything: Everything) -> None:
    line = {
        "content": "the port is 8088",
        "type": "procedural",
        "scope": "project:app",
        "title": "Port",
        "description": "which port",
        "about": "project",
        "path": "ops.ports",
        "tags": ["Сеть", "a,b"],
        "entities": ["app"],
        "importance": 1,
        "pinned": True,
        "source": "notes.md",
        "position": 3,
        "key": "port",
        "observed_at": "2026-03-29T03:30:00+02:00",
        "valid_from": "2026-03-29T00:00:00Z",
        "valid_until": "2030-01-01T00:00:00Z",
        "metadata": {"a": {"b": [1]}},
        "created_at": "2026-03-28T22:30:00Z",
        "mood": "good",
    }
    came = app.import_(lines(line))
    (memory,) = everything(app)
    record = {name: getattr(memory, name) for name in line if name not in {"type", "mood"}}
    assert came.not_carried == ("mood",)
    assert memory.kind.value == "procedural"
    assert str(record.pop("scope")) == "project:app"
    assert {name: value.isoformat() for name, value in record.items() if name.endswith(("_at", "_from", "_until"))} == {
        "observed_at": "2026-03-29T01:30:00+00:00",
        "valid_from": "2026-03-29T00:00:00+00:00",
        "valid_until": "2030-01-01T00:00:00+00:00",
        "created_at": "2026-03-28T22:30:00+00:00",
    }
    assert (memory.tags, memory.metadata, memory.importance, memory.origin.value) == (
        ("Сеть", "a,b"),
        {"a": {"b": [1]}},
        1.0,
        "import",
    )


@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC", "Asia/Tokyo"])
def test_an_explicit_zone_gives_the_same_instant_wherever_it_is_read(
    opened: Opened, lines: Lines, everything: Everything, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    import time

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        app = opened(zone.replace("/", "-"))
        app.import_(
            lines(
                {"content": "r2", "created_at": "2026-03-29T00:30:00+01:00"},
                {"content": "r6", "created_at": "2026-03-29T12:00:00"},
                {"content": "r7", "created_at": "2026-03-29"},
            )
        )
        at = {memory.content: memory.created_at.isoformat() for memory in everything(app)}
    finally:
        monkeypatch.undo()
        time.tzset()
    local = {
        "Europe/Berlin": ("2026-03-29T10:00:00+00:00", "2026-03-28T23:00:00+00:00"),
        "UTC": ("2026-03-29T12:00:00+00:00", "2026-03-29T00:00:00+00:00"),
        "Asia/Tokyo": ("2026-03-29T03:00:00+00:00", "2026-03-28T15:00:00+00:00"),
    }
    assert at == dict(zip(("r2", "r6", "r7"), ("2026-03-28T23:30:00+00:00", *local[zone]), strict=True))


def test_importing_again_adds_nothing(app: Zapomni, lines: Lines) -> None:
    app.import_(lines(*BIG))
    again = app.import_(lines(*BIG))
    assert (again.imported, again.duplicates, again.run) == (0, 499, None)


@pytest.mark.parametrize("mode", ["merge", "skip"])
def test_a_dry_run_changes_nothing_and_gives_the_numbers_of_the_real_one(
    app: Zapomni, lines: Lines, everything: Everything, mode: str
) -> None:
    app.remember("here already")
    app.remember("keyed", key="k", scope="project:app")
    app.delete(app.remember("never again").id, never="wrong")
    path = lines(
        {"content": "here already"},
        {"content": "twice"},
        {"content": "TWICE "},
        {"content": "keyed anew", "key": "k", "scope": "project:app"},
        {"content": "keyed twice", "key": "k2"},
        {"content": "keyed twice, changed", "key": "k2"},
        {"content": "never again"},
        {"content": "the token is ghp_0123456789abcdefABCDEF0123456789abcd"},
        "broken",
    )
    before = everything(app)
    rehearsed = app.import_(path, dry_run=True, mode=mode)
    assert everything(app) == before
    assert app.store.runs() == []
    assert _numbers(app.import_(path, mode=mode)) == _numbers(rehearsed)


def test_a_rehearsed_replacement_gives_the_numbers_of_the_real_one(
    app: Zapomni, lines: Lines, everything: Everything
) -> None:
    for no in range(5):
        app.remember(f"old {no}")
    before = everything(app)
    path = lines({"content": "old 1"}, {"content": "new"})
    rehearsed = app.import_(path, dry_run=True, mode="replace")
    assert everything(app) == before
    assert _numbers(app.import_(path, mode="replace")) == _numbers(rehearsed)
    assert (rehearsed.imported, rehearsed.duplicates, rehearsed.deleted) == (1, 1, 4)


def test_a_refused_value_is_refused_and_named(app: Zapomni, lines: Lines, alive: Alive) -> None:
    app.delete(app.remember("the sky is green").id, never="it is blue")
    came = app.import_(lines({"content": "The sky  is GREEN"}, {"content": "fine"}))
    assert alive(app) == {"fine"}
    assert [problem.line for problem in came.refused] == [1]
    assert "it is blue" in came.refused[0].reason


def test_secrets_are_cut_out_of_what_is_imported(opened: Opened, lines: Lines, tmp_path: Path, alive: Alive) -> None:
    secret = "ghp_0123456789abcdefABCDEF0123456789abcd"
    one, other = opened("one"), opened("other")
    came = one.import_(lines({"content": f"deploy with {secret}"}))
    assert came.redactions == 1
    one.export(tmp_path / "e1")
    text = (tmp_path / "e1").read_text(encoding="utf-8")
    (tmp_path / "e1").write_text(text.replace("[REDACTED:", f"{secret} [REDACTED:"), encoding="utf-8")
    assert other.import_(tmp_path / "e1").redactions == 1
    assert secret not in "".join(alive(one) | alive(other))


def test_undoing_the_run_takes_the_import_back(app: Zapomni, lines: Lines, alive: Alive) -> None:
    app.remember("own")
    came = app.import_(lines(*BIG))
    assert came.run is not None
    app.undo_run(came.run)
    assert alive(app) == {"own"}


def test_merge_keeps_what_is_newer_here_and_takes_what_is_newer_there(
    opened: Opened, tmp_path: Path, alive: Alive
) -> None:
    one, other = opened("one"), opened("other")
    first, second = one.remember("first"), one.remember("second")
    one.export(tmp_path / "old")
    other.import_(tmp_path / "old")
    one.update(first.id, content="first, newer there")
    one.export(tmp_path / "new")
    other.update(second.id, content="second, newer here")
    came = other.import_(tmp_path / "new")
    assert (came.updated, came.skipped) == (1, 1)
    assert alive(other) == {"first, newer there", "second, newer here"}
    back = other.import_(tmp_path / "old")
    assert (back.updated, back.skipped) == (0, 2)
    other.undo_run(came.run or "")
    assert alive(other) == {"first", "second, newer here"}


def test_merge_does_not_bring_back_what_was_deleted_here(opened: Opened, tmp_path: Path, alive: Alive) -> None:
    one, other = opened("one"), opened("other")
    kept = one.remember("deleted elsewhere")
    one.export(tmp_path / "e1")
    other.import_(tmp_path / "e1")
    other.delete(kept.id)
    assert other.import_(tmp_path / "e1").skipped == 1
    assert alive(other) == set()


def test_skip_touches_nothing_that_is_here(opened: Opened, tmp_path: Path, alive: Alive) -> None:
    one, other = opened("one"), opened("other")
    first = one.remember("first")
    one.export(tmp_path / "e1")
    other.import_(tmp_path / "e1")
    one.update(first.id, content="newer")
    one.remember("added")
    one.export(tmp_path / "e1")
    came = other.import_(tmp_path / "e1", mode="skip")
    assert (came.imported, came.updated, came.skipped) == (1, 0, 1)
    assert alive(other) == {"first", "added"}


def test_replace_makes_the_file_the_whole_content_of_its_scopes(opened: Opened, tmp_path: Path, alive: Alive) -> None:
    one, other = opened("one"), opened("other")
    first = one.remember("first", scope="project:app")
    one.remember("second", scope="project:app")
    one.export(tmp_path / "e1")
    other.import_(tmp_path / "e1")
    other.update(first.id, content="first, changed here", scopes=["project:app"])
    other.remember("third", scope="project:app")
    other.remember("of another scope")
    came = other.import_(tmp_path / "e1", mode="replace")
    assert (came.updated, came.deleted, came.skipped) == (1, 1, 1)
    assert alive(other) == {"first", "second", "of another scope"}
    other.undo_run(came.run or "")
    assert alive(other) == {"first, changed here", "second", "third", "of another scope"}


@pytest.mark.promise("exchange.bad-lines")
def test_replace_with_a_broken_file_changes_nothing(app: Zapomni, lines: Lines, everything: Everything) -> None:
    for no in range(5):
        app.remember(f"own {no}")
    before = everything(app)
    with pytest.raises(Refused, match="line 350"):
        app.import_(lines(*BIG), mode="replace")
    assert everything(app) == before
    assert app.store.runs() == []


@pytest.mark.parametrize("mode", ["replace", "merge"])
def test_a_disk_that_fills_up_leaves_what_was_there(
    app: Zapomni, lines: Lines, alive: Alive, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    own = {app.remember(f"own {no}").memory.content for no in range(5)}  # type: ignore[union-attr]
    monkeypatch.setattr("zapomni.exchange.importing.BATCH", 100)
    put, count = SqliteTx.put, Counter[str]()

    def full_disk(self: SqliteTx, *args: Any, **options: Any) -> int:
        count["puts"] += 1
        if count["puts"] == 250:
            raise Unavailable("there is no room left")
        return put(self, *args, **options)

    monkeypatch.setattr(SqliteTx, "put", full_disk)
    path = lines(*(line for line in BIG if line.endswith("}")))
    with pytest.raises(Unavailable, match="no room") as failed:
        app.import_(path, mode=mode)
    assert ("stored by then: 200" in failed.value.message) is (mode == "merge")
    assert own <= alive(app)
    assert len(alive(app)) == 5 + (200 if mode == "merge" else 0)
    again = app.import_(path, mode="merge")
    assert len(alive(app)) == 504
    assert again.resumed is (mode == "merge")


@pytest.mark.slow
@pytest.mark.promise("exchange.resumes")
def test_what_a_failing_disk_gave_is_kept_and_the_next_import_goes_on(
    app: Zapomni, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lines(*({"content": f"line {no}"} for no in range(1, 2_501)))
    with path.open("rb") as file:
        stop = sum(len(file.readline()) for _ in range(1_700))

    class Failing(io.BufferedReader):
        def readline(self, size: int | None = -1) -> bytes:
            if self.tell() == stop:
                raise OSError(5, "Input/output error")
            return super().readline(size)

    app.stats()  # the store is there
    monkeypatch.setattr("pathlib.Path.open", lambda path, _: Failing(io.FileIO(path)))
    with pytest.raises(
        Unavailable, match=r"after line 1,700 .Input/output error.; memories of the file stored by then: 1,000"
    ):
        app.import_(path)
    assert app.stats().memories == 1_000
    monkeypatch.undo()
    assert app.import_(path).resumed
    assert app.stats().memories == 2_500


def test_a_file_of_which_nothing_can_be_read_is_named(
    app: Zapomni, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    path = lines({"content": "one"})
    app.stats()  # the store is there
    monkeypatch.setattr("pathlib.Path.open", lambda *_: Failing())
    with pytest.raises(Unavailable, match=f"{path.name} cannot be read .Input/output error"):
        app.import_(path)


def test_an_import_killed_again_and_again_finishes_with_everything_once_in_one_run(
    app: Zapomni, lines: Lines, everything: Everything, tmp_path: Path
) -> None:
    own = app.remember("own").id
    path = lines(*BIG)
    home = str(app.config.home)
    environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.defpath, "HOME": str(tmp_path)}
    for rounds in (1, 3, 2, 4):
        command = [sys.executable, "-c", PROGRAM, home, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as process:
            assert process.stdout is not None
            for _ in range(rounds):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
        partial = Counter(memory.content for memory in everything(app))
        assert max(partial.values()) == 1
        assert len(partial) > 20
    came = app.import_(path)
    assert came.resumed
    assert came.imported + came.duplicates == 499
    assert Counter(memory.content for memory in everything(app)).most_common(1)[0][1] == 1
    assert len(everything(app)) == 500
    (run,) = app.store.runs()
    assert run.id == came.run
    assert run.finished_at is not None
    app.undo_run(run.id)
    assert [memory.id for memory in everything(app) if memory.deleted_at is None] == [own]


def test_a_writer_gets_its_turn_between_two_batches(
    app: Zapomni, opened: Opened, lines: Lines, alive: Alive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zapomni.exchange.importing.BATCH", 100)
    other = opened("store")
    seen: list[int] = []

    def look(done: int) -> None:
        seen.append(len(alive(other)))
        other.remember(f"written after {done}")

    app.import_(lines(*BIG), progress=look)
    assert seen == [100, 201, 302, 403, 503]


def test_a_dry_run_needs_no_room_and_no_run_of_its_own(app: Zapomni, lines: Lines) -> None:
    generation = app.store.generation()
    came = app.import_(lines(*BIG), dry_run=True)
    assert (came.imported, came.run, came.dry_run) == (499, None, True)
    assert app.stats().memories == 0
    assert app.store.generation() == generation


def test_each_line_of_a_file_is_counted_once(app: Zapomni, lines: Lines) -> None:
    came = app.import_(lines(*BIG, *BIG[:10], {"content": "x" * 200_000}))
    counted = came.imported + came.updated + came.skipped + came.duplicates + len(came.refused) + len(came.bad)
    assert counted == 511


def test_the_run_tells_what_was_imported(app: Zapomni, lines: Lines) -> None:
    came = app.import_(lines({"content": "one"}))
    found = app.store.run(came.run or "")
    assert found is not None
    detail = json.loads(json.dumps(dict(found[0].detail)))
    assert (detail["file"], detail["format"], detail["mode"], detail["imported"]) == ("in.jsonl", "plain", "merge", 1)
