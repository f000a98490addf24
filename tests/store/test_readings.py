from __future__ import annotations

from datetime import timedelta

import pytest

from zapomni.model import Origin, Trust, Verb
from zapomni.store.readings import Reading, Span


def reading(bench, text: str, **more) -> Reading:
    values = {"id": "r1", "scope": bench.user, "source": "notes", "sha256": "f", "at": bench.now}
    return Reading(text=text, **{**values, **more})


def test_a_text_is_kept_with_the_places_of_its_memories(bench):
    bench.add(bench.memory("a"), bench.memory("b"))
    with bench.store.write() as tx:
        tx.readings.keep(reading(bench, "Алиса: бюджет утверждён. The kiln is hot.", path="day.md"))
        tx.readings.tie("a", Span("r1", 0, 23))
        tx.readings.tie("b", Span("r1", 24, 41))
    store = bench.store.readings
    assert store.spans("b") == [Span("r1", 24, 41)]
    assert store.memories_of("r1") == ["a", "b"]
    assert [one.id for one in store.readings_of(bench.user, "notes")] == ["r1"]
    assert store.readings_of(bench.user, "others") == []
    with bench.store.write() as tx:
        tx.readings.drop("r1")
    assert (store.reading("r1"), store.spans("a")) == (None, [])
    assert bench.get("a")


@pytest.mark.promise("history.erase")
def test_an_erased_memory_is_erased_from_the_text_it_was_read_from(bench):
    bench.add(bench.memory("a"), bench.memory("b"))
    with bench.store.write() as tx:
        tx.readings.keep(reading(bench, "Секрет: heron. The kiln is hot."))
        tx.readings.tie("a", Span("r1", 0, 14))
        tx.readings.tie("b", Span("r1", 15, 31))
    bench.put(bench.get("a"), None, Verb.ERASE)
    text = bench.store.readings.reading("r1").text
    assert "heron" not in text
    assert text[15:31] == "The kiln is hot."


def test_what_waits_for_a_model_is_handed_out_when_it_is_due(bench):
    bench.add(bench.memory("a"), bench.memory("b"))
    with bench.store.write() as tx:
        for name in ("a", "b", "a"):
            tx.readings.await_enrichment(name)
        tx.readings.postpone("a", "away", bench.now + timedelta(hours=1))
    store = bench.store.readings
    assert [job.memory.id for job in store.enrich_jobs(10, bench.now)] == ["b"]
    assert [(job.attempts, job.error) for job in store.enrich_jobs(1, bench.now + timedelta(hours=2))] == [(1, "away")]
    with bench.store.write() as tx:
        tx.readings.enriched("a")
    assert store.enrich_waiting() == 1


def test_memories_wait_for_a_consolidation_oldest_first_and_insights_do_not(bench):
    later = bench.now + timedelta(hours=1)
    bench.add(
        bench.memory("new", created_at=later),
        bench.memory("old"),
        bench.memory("insight", origin=Origin.CONSOLIDATION),
        bench.memory("gone", deleted_at=bench.now),
        bench.memory("refused", trust=Trust.REJECTED),
        bench.memory("elsewhere", scope=bench.other),
    )
    store = bench.store.readings
    assert [memory.id for memory in store.unconsolidated(bench.user, 10)] == ["old", "new"]
    assert store.unconsolidated_counts() == {bench.user: 2, bench.other: 1}
    with bench.store.write() as tx:
        tx.readings.mark_consolidated(["old", "new"], "run", bench.now)
    assert store.unconsolidated(bench.user, 10) == []
    with bench.store.write() as tx:
        tx.readings.unmark_consolidated(run="run")
    assert len(store.unconsolidated(bench.user, 10)) == 2
