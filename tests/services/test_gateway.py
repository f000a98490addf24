from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import zapomni
from zapomni.errors import InvalidInput, Refused
from zapomni.model import USER_SCOPE, About, Draft, Kind, Status
from zapomni.services import remember as gateway

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zapomni.app import Zapomni

TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Zapomni]:
    with zapomni.open(tmp_path, **{"embedder.provider": "none"}) as opened:
        yield opened


@pytest.mark.promise("write.redaction")
@pytest.mark.parametrize(
    "fields",
    [
        {"tags": [TOKEN]},
        {"entities": [TOKEN]},
        {"source": f"https://bob:{TOKEN}@git.example/x.git"},
        {"path": TOKEN},
        {"key": TOKEN},
        {"metadata": {"deep": [{"note": TOKEN}]}},
        {"metadata": {"password": "hunter22x"}},
        {"metadata": {TOKEN: "name"}},
    ],
)
def test_a_secret_is_cut_out_of_every_field(memory: Zapomni, fields: dict[str, Any]) -> None:
    outcome = memory.remember("Заметка о доступах", **fields)
    assert outcome.redactions or "metadata" in fields
    kept = repr(memory.show(outcome.id)[0])
    assert TOKEN not in kept
    assert "hunter22x" not in kept


@pytest.mark.promise("write.redaction")
def test_the_reason_of_a_refusal_is_kept_without_secrets(memory: Zapomni) -> None:
    made = memory.remember("wrong fact").id
    memory.delete(made, never=f"it leaked {TOKEN}")
    assert TOKEN not in memory.remember("wrong fact").warnings[0]


@pytest.mark.parametrize("reason", ["", "  ", "x" * 100_000])
def test_a_refusal_needs_a_short_reason(memory: Zapomni, reason: str) -> None:
    made = memory.remember("wrong fact").id
    with pytest.raises(InvalidInput, match="never"):
        memory.delete(made, never=reason)
    assert memory.list().total == 1


@pytest.mark.promise("write.rejection")
def test_refused_content_comes_back_by_no_other_undo(memory: Zapomni) -> None:
    other = memory.remember("beta one").id
    memory.update(other, content="beta two")
    memory.delete(memory.remember("beta one").id, never="outdated")
    with pytest.raises(Refused):
        memory.undo(other)
    with pytest.raises(Refused):
        memory.update(other, content="Beta one")
    assert memory.show(other)[0].content == "beta two"


@pytest.mark.promise("write.rejection")
def test_a_memory_can_be_edited_after_its_refusal_was_taken_back(memory: Zapomni) -> None:
    made = memory.remember("bad fact").id
    memory.delete(made, never="wrong")
    memory.undo(made)
    assert memory.update(made, title="x").status is Status.UPDATED


@pytest.mark.promise("write.key")
def test_a_key_given_to_known_content_names_it_from_then_on(memory: Zapomni) -> None:
    first = memory.remember("port is 8080").id
    assert memory.remember("port is 8080", key="port").id == first
    assert memory.remember("port is 9090", key="port").id == first
    assert [found.content for found in memory.list().memories] == ["port is 9090"]


@pytest.mark.promise("write.limits")
@pytest.mark.parametrize("depth", [33, 500, 2_000])
def test_metadata_nested_too_deep_is_refused(memory: Zapomni, depth: int) -> None:
    nested: Any = "x"
    for _ in range(depth):
        nested = {"a": nested}
    with pytest.raises(InvalidInput, match="metadata"):
        memory.remember("x", metadata={"a": nested})


@pytest.mark.promise("time.days")
@pytest.mark.parametrize("date", ["0001-01-01", "9999-12-31"])
def test_the_ends_of_the_calendar_are_dates_like_others(memory: Zapomni, date: str) -> None:
    made = memory.remember("давно", observed_at=date).id
    assert memory.list(since=date).total == 1
    assert memory.show(made)[0].observed_at is not None


@pytest.mark.promise("write.verbatim")
def test_a_memory_takes_over_everything_that_its_draft_says(memory: Zapomni) -> None:
    day = datetime(2026, 11, 30, tzinfo=UTC)
    draft = Draft(
        content="Ветку выпуска режут в четверг",
        kind=Kind.EPISODIC,
        scope=USER_SCOPE,
        title="Выпуск",
        description="when it is cut",
        about=About.PROJECT,
        path="release.cut",
        tags=("Выпуск",),
        entities=("Ирина",),
        importance=0.25,
        pinned=True,
        source="chat",
        position=3,
        key="k",
        observed_at=day,
        valid_from=day,
        valid_until=day.replace(year=2027),
        metadata={"a": [1]},
    )
    assert all(getattr(draft, name) != getattr(Draft(content=""), name) for name in Draft.__struct_fields__)
    (outcome,) = gateway.remember_many(memory.context, [draft], actor=memory.actor)
    (stored, *_) = memory.show(outcome.id)
    assert all(getattr(stored, name) == getattr(draft, name) for name in Draft.__struct_fields__)


def test_a_draft_that_cannot_be_stored_costs_nothing_before_its_batch(
    memory: Zapomni, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "BATCH", 2)
    drafts = [Draft(content=text) for text in ("один", "two", "три", "один", "five", " ", "seven")]
    outcomes = gateway.remember_many(memory.context, drafts, actor=memory.actor)
    came = [next(outcomes).status for _ in range(4)]
    assert came == [Status.CREATED, Status.CREATED, Status.CREATED, Status.DUPLICATE]
    with pytest.raises(InvalidInput, match="blank"):
        next(outcomes)
    assert sorted(one.content for one in memory.list().memories) == ["two", "один", "три"]
    assert [hit.memory.content for hit in memory.recall("три").hits] == ["три"]
