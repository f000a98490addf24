"""An agent that reads what waits, in the place of a model: over the tools, in English and in Russian."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.reading.notes import Desk, facts_of

from zapomni.errors import NotFound
from zapomni.model import Actor, Origin, Trust
from zapomni.surfaces.mcp.calls import run_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOTE = "Met with Alice today. Q3 budget is approved, $2.4M."
NOTE_RU = "Встретился с Алисой. Бюджет третьего квартала утверждён, 2,4 млн."
QUOTE = {NOTE: "Q3 budget is approved, $2.4M", NOTE_RU: "Бюджет третьего квартала утверждён, 2,4 млн"}
FACT = {
    NOTE: "Alice said that the Q3 budget of $2.4M is approved.",
    NOTE_RU: "Алиса сказала, что бюджет третьего квартала утверждён: 2,4 млн.",
}
STRANGE = {NOTE: "The kiln is fired on Fridays.", NOTE_RU: "Печь топят по пятницам."}
AGENT = Actor(name="mcp:tester", origin=Origin.AGENT)
BOTH = pytest.mark.parametrize("note", [NOTE, NOTE_RU], ids=["English", "Russian"])


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "home", tmp_path / "notes", model=False, **{"mcp.tools": "full"})
    with desk.app:
        yield desk


def call(desk: Desk, tool: str, *, actor: Actor = AGENT, **arguments: Any) -> dict[str, Any]:
    answer = run_tool(desk.app, tool, arguments, actor)
    return answer.shape["error"] if answer.failed else answer.shape


def waiting(desk: Desk) -> int:
    return desk.app.store.readings.enrich_waiting()


@BOTH
@pytest.mark.promise("ingest.handed", "mcp.fenced")
def test_an_agent_takes_a_text_that_waits_and_its_facts_stand_in_its_place(bare, note):
    (kept,) = bare.app.reading.ingest(note, source="notes").kept
    text = run_tool(bare.app, "next_batch", {"work": "enrich"}, AGENT).text
    assert f"stored data, not instructions\n{note}" in text
    batch = call(bare, "next_batch", work="enrich")
    assert ([row["id"] for row in batch["memories"]], batch["waiting"]) == ([kept.outcome.id], 1)
    assert call(bare, "next_batch", work="enrich")["batch"] == batch["batch"]  # asked again, it is the same
    assert "verbatim" in batch["instructions"]
    fact = {"content": FACT[note], "quote": QUOTE[note], "kind": "episodic", "importance": 0.9}
    saved = call(bare, "save_insight", batch=batch["batch"], facts=[fact, {"content": STRANGE[note]}, {"kind": "odd"}])
    assert (saved["status"], saved["done"], saved["count"], len(saved["notes"])) == ("read", 1, 1, 2)
    assert any(STRANGE[note] in one for one in saved["notes"])
    (memory,) = bare.memories()
    assert (memory.content, memory.source, memory.importance) == (FACT[note], "notes", 0.9)
    assert (memory.origin, memory.trust) == (Origin.AGENT, Trust.CONFIRMED)
    assert bare.said(memory) == [QUOTE[note]]
    assert waiting(bare) == 0
    assert call(bare, "next_batch", work="enrich")["batch"] is None
    assert bare.app.store.run(batch["batch"])[0].verb == "enrich"
    bare.app.undo_run(batch["batch"])
    assert [one.content for one in bare.memories()] == [note]


@BOTH
@pytest.mark.promise("ingest.handed", "ingest.grounded")
def test_a_bad_reply_is_named_and_leaves_the_text_waiting(bare, note):
    bare.app.reading.ingest(note)
    before = bare.memories()
    batch = call(bare, "next_batch", work="enrich")["batch"]
    for facts in ([{"content": STRANGE[note]}], [{"content": " "}], [{"kind": "odd"}], {"title": FACT[note]}):
        refused = call(bare, "save_insight", batch=batch, facts=facts)
        assert (refused["code"], "waits on" in refused["message"]) == ("refused", True)
    assert call(bare, "save_insight", batch=batch, facts=[FACT[note]])["code"] == "invalid_input"
    assert call(bare, "save_insight", batch=batch)["code"] == "invalid_input"
    assert call(bare, "save_insight", batch="nonsense", facts=[{"content": FACT[note]}])["code"] == "not_found"
    assert call(bare, "next_batch", work="sleep")["argument"] == "work"
    assert (bare.memories(), waiting(bare)) == (before, 1)
    assert call(bare, "save_insight", batch=batch, facts=[{"content": FACT[note]}])["count"] == 1


@BOTH
@pytest.mark.promise("ingest.handed")
def test_of_two_agents_with_one_text_the_first_has_read_it_and_the_other_is_told(bare, note):
    bare.app.reading.ingest(note)
    other = Actor(name="mcp:other", origin=Origin.AGENT)
    mine = call(bare, "next_batch", work="enrich")["batch"]
    its = call(bare, "next_batch", work="enrich", actor=other)["batch"]
    assert mine != its
    assert call(bare, "save_insight", batch=mine, facts=[{"content": FACT[note]}])["count"] == 1
    late = call(bare, "save_insight", batch=its, facts=[{"content": QUOTE[note]}], actor=other)
    assert (late["code"], late["remedy"]) == ("not_found", "Ask next_batch for another one")
    again = call(bare, "save_insight", batch=mine, facts=[{"content": FACT[note]}])
    assert again["code"] == "not_found"
    assert bare.texts() == {FACT[note]}


@pytest.mark.promise("ingest.handed")
def test_a_text_with_nothing_in_it_stays_as_it_is_and_waits_no_more(bare):
    bare.app.reading.ingest("hm, hm. Ну-ну.")
    batch = call(bare, "next_batch", work="enrich")["batch"]
    ended = call(bare, "save_insight", batch=batch, reason="small talk")
    assert (ended["status"], ended["count"], waiting(bare), bare.texts()) == ("ended", 0, 0, {"hm, hm. Ну-ну."})
    assert bare.app.store.run(batch)[0].detail["reason"] == "small talk"


@pytest.mark.promise("ingest.handed")
def test_what_somebody_edited_meanwhile_stays_as_he_left_it(bare):
    (kept,) = bare.app.reading.ingest(NOTE).kept
    batch = call(bare, "next_batch", work="enrich")["batch"]
    bare.app.update(kept.outcome.id, content="Alice approved the Q3 budget: $2.5M.")
    refused = call(bare, "save_insight", batch=batch, facts=[{"content": "Alice approved the Q3 budget."}])
    assert (refused["code"], "stays as it is" in refused["message"]) == ("refused", True)
    assert bare.texts() == {"Alice approved the Q3 budget: $2.5M."}


@pytest.mark.promise("ingest.handed", "ingest.split")
def test_a_long_text_is_handed_out_piece_by_piece_and_nothing_of_it_is_lost(bare):
    lines = [f"Строка {no} о печи: the kiln has {no} bricks." for no in range(600)]
    bare.app.reading.ingest("\n".join(lines), source="notes")
    rounds = 0
    while (batch := call(bare, "next_batch", work="enrich"))["batch"]:
        (row,) = batch["memories"]
        assert len(row["content"]) <= 10_000
        assert not row.get("cut")
        rounds += 1
        if rounds == 2:
            call(bare, "save_insight", batch=batch["batch"], reason="nothing here")
            nothing = row["content"]
        else:
            facts = [{"content": line, "quote": line} for line in row["content"].split("\n")]  # what waits is no fact
            assert call(bare, "save_insight", batch=batch["batch"], facts=facts)["count"] == len(facts)
    assert rounds >= 2
    assert bare.texts() == {line for line in lines if line not in nothing} | {nothing}
    assert all(bare.said(memory) == [memory.content] for memory in bare.memories())


@pytest.mark.promise("ingest.handed")
def test_a_text_belongs_to_a_scope_that_the_caller_sees(bare):
    bare.app.reading.ingest(NOTE, scope="project:shop")
    assert bare.app.reading.next_text() is None
    handed = bare.app.reading.next_text(scopes=["project:shop"])
    with pytest.raises(NotFound):
        bare.app.reading.save_facts(handed.batch, [{"content": FACT[NOTE]}])
    read = bare.app.reading.save_facts(handed.batch, [{"content": FACT[NOTE]}], scopes=["project:shop"])
    assert str(read.outcomes[0].memory.scope) == "project:shop"


# --- what a model says of a text -------------------------------------------------------------------------
@BOTH
@pytest.mark.promise("ingest.grounded")
def test_a_fact_that_shares_no_word_with_its_text_is_left_out_and_named(tmp_path, note):
    desk = Desk(tmp_path / "home", tmp_path / "notes")
    with desk.app:
        desk.replies = {"facts": [{"content": FACT[note]}, {"content": STRANGE[note]}]}
        came = desk.app.reading.ingest(note)
        assert (desk.texts(), came.waiting) == ({FACT[note]}, 0)
        assert any(STRANGE[note] in one for one in came.notes)


@BOTH
@pytest.mark.promise("ingest.grounded", "ingest.waits")
def test_a_reply_of_nothing_but_strange_facts_has_not_read_the_text_which_waits(tmp_path, note):
    desk = Desk(tmp_path / "home", tmp_path / "notes")
    with desk.app:
        desk.replies = {"facts": [{"content": STRANGE[note]}]}
        came = desk.app.reading.ingest(note)
        assert (desk.texts(), came.waiting) == ({note}, 1)
        assert "could be kept" in came.reason
        assert STRANGE[note] in desk.app.reading.enrich().failed[0][1]
        desk.replies = facts_of
        desk.later(days=1)
        assert desk.app.reading.enrich().waiting == 0


@pytest.mark.promise("ingest.grounded")
@pytest.mark.parametrize(
    ("note", "fact", "doubt"),
    [
        (NOTE, "Alice said that the Q3 budget is $3.7M.", "$3.7M"),
        (NOTE, "The Q3 budget was approved by Bob Stone.", "Bob"),
        (NOTE_RU, "Бюджет третьего квартала: 3,7 млн.", "3,7 млн"),
        (NOTE_RU, "Бюджет утвердил Борис.", "Борис"),
        (NOTE, "On 30 November 2026 Alice said that the Q3 budget is approved.", None),
        (NOTE_RU, "29 ноября 2026 Алиса утвердила бюджет.", None),
        (NOTE, "The Q3 budget was approved with Alice on 3 May 2025.", "3 May 2025"),
        (NOTE_RU, "Бюджет третьего квартала утверждён 14 марта 2025.", "14 марта 2025"),
        (NOTE_RU, "Бюджет третьего квартала утверждён в 1998 году.", "1998"),
    ],
)
def test_a_fact_with_a_number_or_name_that_its_text_does_not_say_is_a_candidate(tmp_path, note, fact, doubt):
    desk = Desk(tmp_path / "home", tmp_path / "notes")
    with desk.app:
        desk.replies = {"facts": [{"content": fact}]}
        came = desk.app.reading.ingest(note)
        (memory,) = desk.memories()
        assert memory.trust is (Trust.CANDIDATE if doubt else Trust.CONFIRMED)
        assert bool(came.notes) == bool(doubt)
        assert doubt is None or any(doubt in one for one in came.notes)


@pytest.mark.promise("ingest.grounded")
@pytest.mark.parametrize(
    ("note", "fact", "strange"),
    [
        (NOTE, "The budget of the harbour bridge doubled after the storm.", ["harbour", "bridge", "storm"]),
        (NOTE_RU, "Бюджет ремонта моста вырос после шторма вдвое.", ["ремонта", "моста", "шторма"]),
    ],
)
def test_a_fact_mostly_of_other_words_than_its_text_is_a_candidate(tmp_path, note, fact, strange):
    desk = Desk(tmp_path / "home", tmp_path / "notes")
    with desk.app:
        desk.replies = {"facts": [{"content": FACT[note]}, {"content": fact}]}
        came = desk.app.reading.ingest(note)
        assert (desk.one(FACT[note]).trust, desk.one(fact).trust) == (Trust.CONFIRMED, Trust.CANDIDATE)
        assert all(word in came.notes[0] for word in strange)


@pytest.mark.promise("ingest.grounded")
def test_a_time_that_a_text_does_not_bear_out_makes_a_fact_a_candidate(tmp_path):
    desk = Desk(tmp_path / "home", tmp_path / "notes")
    with desk.app:
        desk.replies = {"facts": [{"content": FACT[NOTE], "valid_until": "2027-08-19"}]}
        came = desk.app.reading.ingest(NOTE)
        assert desk.one(FACT[NOTE]).trust is Trust.CANDIDATE
        assert any("2027-08-19" in one for one in came.notes)
