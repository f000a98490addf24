"""The day's cap as one walk: it stops ingesting and consolidating in the middle, and the next days go on from there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.reading.notes import Desk, facts_of

from zapomni.errors import BudgetSpent
from zapomni.llm.base import Usage
from zapomni.llm.checked import Raw

if TYPE_CHECKING:
    from pathlib import Path

    from zapomni.llm.base import Task

PIECE = 1_000
CALL = 100
A_DAY = 3
"""Calls of a day, before the next is refused."""


def lines(name: str, count: int) -> list[str]:
    """A text of as many pieces, each a line that fills one."""
    return [f"{name} {no} говорит: " + f"слово{no} " * 118 for no in range(count)]


@pytest.mark.promise("model.caps", "ingest.waits", "consolidate.safe")
def test_what_the_cap_stopped_in_the_middle_is_gone_on_with_on_the_next_days_and_nothing_is_done_twice(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    def answer(task: Task) -> Raw:
        seen.append(task.parts[-1].text if task.purpose != "consolidate" else "")  # type: ignore[union-attr]
        value: Any = {"insights": []} if task.purpose == "consolidate" else _trimmed(facts_of(task))
        return Raw(text=json.dumps(value), usage=Usage(tokens_in=CALL))

    (tmp_path / "notes").mkdir()
    caps: dict[str, Any] = {"llm.daily_tokens": A_DAY * CALL, "ingest.piece": PIECE, "consolidate.batch": 2}
    desk = Desk(tmp_path / "home", tmp_path / "notes", **caps)
    desk.replies = answer
    with desk.app as app:
        # Day 1: a text of five pieces and a folder of two files; three pieces are read.
        came = app.reading.ingest("\n\n".join(lines("Книга", 5)), source="book")
        assert (desk.calls, came.waiting, len(came.kept)) == (3, 2, 5)
        assert "tokens" in (came.reason or "")
        for no in range(2):
            desk.write(f"файл{no}.md", f"Файл {no} открыт.\n")
        scanned = desk.scan()
        assert (scanned.added, desk.calls) == (2, 3)
        assert {"Файл 0 открыт.", "Файл 1 открыт."} <= desk.texts()  # kept as they came, and waiting
        with pytest.raises(BudgetSpent) as caught:
            app.reading.consolidate()
        assert caught.value.retry_after is not None
        first = {kept.outcome.id for kept in came.kept if not kept.waits}
        assert (app.store.readings.enrich_waiting(), len(desk.memories())) == (4, 7)

        # Day 2: it goes on by itself, stops in the middle again, and what was done stays.
        desk.later(days=1)
        assert "tokens" in (app.reading.enrich().reason or "")
        assert (desk.calls, app.store.readings.enrich_waiting()) == (6, 1)

        # Day 3: the last piece, then two batches of seven memories.
        desk.later(days=1)
        app.reading.enrich()
        assert (desk.calls, app.store.readings.enrich_waiting()) == (7, 0)
        rounds = app.reading.consolidate(every=True)
        assert [one.done for one in rounds] == [2, 2, 0]
        assert "tokens" in (rounds[-1].reason or "")
        assert sum(app.store.readings.unconsolidated_counts().values()) == 3

        # Day 4: the next batch; one by itself is left alone.
        desk.later(days=1)
        assert [one.done for one in app.reading.consolidate(every=True)] == [2]
        assert sum(app.store.readings.unconsolidated_counts().values()) == 1
        texts = [text for text in seen if text]
        assert len(texts) == len(set(texts)) == 7  # each piece and file was read by the model once
        assert {one.content for one in desk.memories()} >= {f"Книга {no} говорит" for no in range(5)}
        assert len(first & {one.id for one in desk.memories()}) == 3  # what was done on the first day is there
        assert [day.sum.tokens for day in app.reading.ledger.costs(4).days] == [300, 300, 300, 100]


def _trimmed(value: dict[str, Any]) -> dict[str, Any]:
    return {"facts": [{**fact, "content": fact["content"].partition(":")[0]} for fact in value["facts"]]}
