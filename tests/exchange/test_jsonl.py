from __future__ import annotations

import io
import json
import stat
import tempfile
import tracemalloc
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zapomni.errors import InvalidInput, Refused, Unavailable
from zapomni.exchange.admission import Ready, ready_of
from zapomni.exchange.entries import Item
from zapomni.model import Actor, Draft, Kind, Memory, Origin, Trust, Verb
from zapomni.opening import open_memory
from zapomni.record import parse_scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from zapomni.app import Zapomni

    Opened = Callable[[str], Zapomni]
    Fill = Callable[..., None]

SCOPES = ("user", "project:app", "project:проект", "agent:a b", "team:core")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _same(one: Path, other: Path) -> bool:
    """Compare two exports byte for byte but for the time of the export."""
    first, second = one.read_bytes().split(b"\n"), other.read_bytes().split(b"\n")
    heads = [json.loads(head) | {"exported_at": None} for head in (first[0], second[0])]
    return heads[0] == heads[1] and first[1:] == second[1:]


@pytest.mark.promise("exchange.lossless")
def test_an_imported_export_exports_as_the_same_file(opened: Opened, full: Fill, tmp_path: Path) -> None:
    one, other = opened("one"), opened("other")
    full(one)
    first = one.export(tmp_path / "e1")
    came = other.import_(tmp_path / "e1")
    second = other.export(tmp_path / "e2")
    assert _same(tmp_path / "e1", tmp_path / "e2")
    assert first == second
    assert came.imported == 1_250 == first.memories + first.deleted
    assert (came.bad, came.not_carried, came.notes, came.links) == ((), (), (), first.links)


@pytest.mark.promise("exchange.lossless")
def test_an_export_holds_every_memory_of_every_scope(app: Zapomni, full: Fill, tmp_path: Path) -> None:
    full(app)
    app.export(tmp_path / "e1")
    written = Counter(line["scope"] for line in _lines(tmp_path / "e1") if line.get("type") == "memory")
    alive = Counter(
        line["scope"] for line in _lines(tmp_path / "e1") if line.get("type") == "memory" and not line["deleted_at"]
    )
    counted = app.stats(scopes=["all"], expired=True, trust=[trust.value for trust in Trust]).scopes
    assert sum(written.values()) == 1_250
    assert alive == counted


def test_the_second_import_adds_nothing(opened: Opened, full: Fill, tmp_path: Path) -> None:
    one, other = opened("one"), opened("other")
    full(one, 200)
    one.export(tmp_path / "e1")
    other.import_(tmp_path / "e1")
    again = other.import_(tmp_path / "e1")
    assert (again.imported, again.updated, again.links, again.run) == (0, 0, 0, None)
    assert again.skipped == 200


def test_an_import_leaves_other_memories_alone(
    opened: Opened, full: Fill, tmp_path: Path, alive: Callable[[Zapomni], set[str]]
) -> None:
    one, other = opened("one"), opened("other")
    full(one, 100)
    one.export(tmp_path / "e1")
    own = {other.remember(f"own memory {no}").memory.content for no in range(5)}  # type: ignore[union-attr]
    other.import_(tmp_path / "e1")
    assert alive(other) == own | alive(one)


def test_a_value_refused_where_the_export_comes_from_is_refused_after_the_import(
    opened: Opened, full: Fill, tmp_path: Path
) -> None:
    one, other = opened("one"), opened("other")
    full(one, 10)
    one.export(tmp_path / "e1")
    other.import_(tmp_path / "e1")
    assert other.remember("never say this").status.value == "refused"


def test_an_unknown_version_is_refused_before_any_change(
    app: Zapomni, lines: Callable[..., Path], alive: Callable[[Zapomni], set[str]]
) -> None:
    path = lines({"format": "zapomni", "version": 2, "counts": {}}, {"content": "from the future"})
    with pytest.raises(Refused, match="version 2"):
        app.import_(path)
    assert alive(app) == set()


def test_a_renamed_field_is_named_with_its_line(opened: Opened, full: Fill, tmp_path: Path) -> None:
    one, other = opened("one"), opened("other")
    full(one, 3)
    one.export(tmp_path / "e1")
    text = (tmp_path / "e1").read_text(encoding="utf-8").replace('"importance"', '"weight"', 1)
    (tmp_path / "e1").write_text(text, encoding="utf-8")
    came = other.import_(tmp_path / "e1")
    assert came.imported == 2
    assert [problem.line for problem in came.bad] == [5]
    assert "importance" in came.bad[0].reason
    assert "weight" in came.bad[0].reason


def test_a_field_of_a_later_release_is_named_as_not_carried(opened: Opened, full: Fill, tmp_path: Path) -> None:
    one, other = opened("one"), opened("other")
    full(one, 3)
    one.export(tmp_path / "e1")
    text = (tmp_path / "e1").read_text(encoding="utf-8").replace('"importance"', '"mood": 1, "importance"')
    (tmp_path / "e1").write_text(text, encoding="utf-8")
    came = other.import_(tmp_path / "e1")
    assert (came.imported, came.not_carried) == (3, ("mood",))


def test_a_cut_file_is_told_by_its_header(opened: Opened, full: Fill, tmp_path: Path) -> None:
    one, other = opened("one"), opened("other")
    full(one, 50)
    one.export(tmp_path / "e1")
    whole = (tmp_path / "e1").read_bytes().split(b"\n")
    (tmp_path / "e1").write_bytes(b"\n".join(whole[:40]))
    came = other.import_(tmp_path / "e1")
    assert any("ends early" in problem.reason and "of 50 memory lines" in problem.reason for problem in came.bad)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("version", 0),
        ("version", "1"),
        ("version", 2**70),
        ("access_count", -1),
        ("created_at", "2026-03-29T00:00:00"),
        ("created_at", None),
        ("updated_at", 5),
        ("trust", "sure"),
        ("kind", None),
        ("scope", "nowhere"),
        ("scope", 7),
        ("tags", "a"),
        ("tags", [1]),
        ("importance", 1.5),
        ("importance", "high"),
        ("pinned", "yes"),
        ("metadata", [1]),
        ("id", ""),
        ("id", "two words"),
        ("id", 7),
        ("content", None),
        ("content", "  "),
        ("content", "x" * 100_001),
        ("position", -1),
        ("valid_until", "2001-01-01T00:00:00Z"),
    ],
)
def test_a_bad_value_is_named_and_costs_no_other_line(
    opened: Opened, full: Fill, tmp_path: Path, name: str, value: object
) -> None:
    one, other = opened("one"), opened("other")
    full(one, 11)
    one.export(tmp_path / "e1")
    head, *rest = _lines(tmp_path / "e1")
    broken = next(no for no, line in enumerate(rest) if line.get("id") == "id00010")
    rest[broken][name] = value
    (tmp_path / "e1").write_text("\n".join(map(json.dumps, [head, *rest])), encoding="utf-8")
    came = other.import_(tmp_path / "e1")
    assert came.imported == 10
    assert [problem.line for problem in came.bad] == [broken + 2]


def test_an_export_shows_one_state_while_others_write(app: Zapomni, full: Fill) -> None:
    full(app, 300)

    class Disturbed(io.BytesIO):
        count = 0

        def write(self, data: Any) -> int:
            self.count += 1
            app.remember(f"written during line {self.count}") if self.count in {1, 5, 250} else None
            return super().write(data)

    target = Disturbed()
    app.export(target)
    head, *rest = map(json.loads, target.getvalue().splitlines())
    assert len([line for line in rest if line["type"] == "memory"]) == 300 == head["counts"]["memory"]
    assert b"written during" not in target.getvalue()


def test_an_export_takes_memory_that_does_not_grow_with_the_store(app: Zapomni) -> None:
    for no in range(60):
        app.remember(f"{no} " + "слово " * 16_000)

    class Nowhere(io.RawIOBase):
        def write(self, data: Any) -> int:
            return len(data)

    tracemalloc.start()
    app.export(Nowhere())  # type: ignore[arg-type] # all it needs is write and flush
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000  # the store holds 10 MB of text


def test_an_export_file_is_its_owner_s_alone_and_replaces_an_older_export(app: Zapomni, tmp_path: Path) -> None:
    target = tmp_path / "e1"
    app.export(target)
    app.remember("later")
    assert app.export(target).memories == 1
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name != "store"] == ["e1"]


def test_an_export_replaces_no_other_file(app: Zapomni, tmp_path: Path) -> None:
    app.remember("kept")
    diary = tmp_path / "diary.txt"
    diary.write_text("dear diary", encoding="utf-8")
    for target in (diary, tmp_path, app.config.store_path):
        with pytest.raises(Refused):
            app.export(target)
    assert diary.read_text(encoding="utf-8") == "dear diary"
    assert app.stats().memories == 1


def test_a_failed_export_leaves_what_was_there(app: Zapomni, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app.remember("one")
    app.export(tmp_path / "e1")
    before = (tmp_path / "e1").read_bytes()
    app.remember("two")

    def full_disk(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(Unavailable, match="No space left"):
        app.export(tmp_path / "e1")
    assert (tmp_path / "e1").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"store", "e1"}


def test_an_export_of_some_scopes_holds_nothing_of_the_others(app: Zapomni, full: Fill, tmp_path: Path) -> None:
    full(app, 60)
    written = app.export(tmp_path / "e1", scopes=["project:сайт"], history=True)
    records = _lines(tmp_path / "e1")[1:]
    ids = {line["id"] for line in records if line["type"] == "memory"}
    assert len(ids) == 20 == written.memories + written.deleted
    assert {line["scope"] for line in records if "scope" in line} == {"project:сайт"}
    assert all({line["source"], line["target"]} <= ids for line in records if line["type"] == "link")
    assert all(line["id"] in ids for line in records if line["type"] == "revision")


def test_history_is_written_when_asked_for_and_named_as_not_carried_on_the_way_in(
    opened: Opened, tmp_path: Path
) -> None:
    one, other = opened("one"), opened("other")
    first = one.remember("first text")
    one.update(first.id, content="second text")
    written = one.export(tmp_path / "e1", history=True)
    revisions = [line for line in _lines(tmp_path / "e1") if line.get("type") == "revision"]
    assert written.revisions == 2
    assert [line["verb"] for line in revisions] == ["create", "update"]
    came = other.import_(tmp_path / "e1")
    assert (came.imported, came.bad, came.not_carried) == (1, (), ("history",))


def test_a_format_that_can_only_be_read_is_refused_by_name(app: Zapomni, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="server-memory can only be read"):
        app.export(tmp_path / "e1", form="server-memory")


_TEXT = st.text(max_size=60)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_TIME = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive
_DRAFTS = st.builds(
    Draft,
    content=st.text(min_size=1, max_size=200),
    kind=st.sampled_from(Kind),
    scope=st.sampled_from(SCOPES).map(parse_scope),
    title=_TEXT,
    description=_TEXT,
    path=st.none() | _TEXT,
    tags=st.lists(st.text(min_size=1, max_size=20), max_size=4).map(tuple),
    entities=st.lists(st.text(min_size=1, max_size=20), max_size=4).map(tuple),
    importance=st.floats(0, 1),
    pinned=st.booleans(),
    source=st.none() | _TEXT,
    position=st.none() | st.integers(0, 2**40),
    observed_at=st.none() | _TIME,
    valid_from=st.none() | _TIME,
    metadata=st.dictionaries(_TEXT, _JSON, max_size=3),
)
_LIFE = st.fixed_dictionaries(
    {
        "trust": st.sampled_from(Trust),
        "origin": st.sampled_from(Origin),
        "created_at": _TIME,
        "updated_at": _TIME,
        "accessed_at": st.none() | _TIME,
        "access_count": st.integers(0, 2**40),
        "deleted_at": st.none() | _TIME,
        "version": st.integers(1, 2**40),
    }
)


@pytest.mark.promise("exchange.lossless")
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(_DRAFTS, _LIFE), min_size=1, max_size=5))
def test_whatever_can_be_stored_comes_back_from_an_export(pairs: list[tuple[Draft, dict[str, Any]]]) -> None:
    memories = []
    for no, (draft, life) in enumerate(pairs):
        ready = ready_of(Item(line=1, draft=draft))
        if isinstance(ready, Ready):
            values = {name: getattr(ready.values, name) for name in Draft.__struct_fields__}
            memories.append(Memory(id=f"m{no}", **values, **life))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        quiet = {"embedder.provider": "none"}
        with open_memory(home / "one", **quiet) as one, open_memory(home / "other", **quiet) as other:
            with one.store.write() as tx:
                for memory in memories:
                    tx.put(None, memory, verb=Verb.CREATE, actor=Actor(name="test"), at=memory.created_at)
            one.export(home / "e1")
            assert other.import_(home / "e1").bad == ()
            other.export(home / "e2")
            with other.store_file.snapshot() as snapshot:
                assert list(snapshot.memories()) == memories
        assert _same(home / "e1", home / "e2")
