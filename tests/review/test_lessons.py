"""Lessons: raised by one agent, decided by a person, handed to the others until each has taken note."""

from __future__ import annotations

import pytest

from zapomni.errors import Ambiguous, Conflict, InvalidInput, NotFound, Refused
from zapomni.model import Actor, LinkKind, Origin, Trust
from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.surfaces.mcp.calls import run_tool

PERSON = Actor(name="cli", origin=Origin.USER)
LESSON = "Цены каталога сверяем с прайсом поставщика, а не с сайтом."


@pytest.fixture
def ada(opened):
    return opened(settings={"agent": "ada", "mcp.tools": "full"}, actor=Actor(name="mcp:ada"))


@pytest.fixture
def bob(opened):
    return opened(settings={"agent": "bob", "teams": ["web"], "mcp.tools": "full"}, actor=Actor(name="mcp:bob"))


def raised(ada, *, to="user", text=LESSON, **wish):
    made = ada.remember(text, scope="agent:ada", title="Цены", tags=["каталог"], key="prices")
    return made.id, ada.review.promote(made.id, to=to, **wish)


@pytest.mark.promise("lessons.raised")
def test_a_lesson_becomes_a_rule_of_the_wider_scope_only_when_a_person_says_so(ada, bob):
    raised_id, filed = raised(ada, why="ошибались дважды", pinned=True)
    assert (filed.kind, str(filed.scope)) == (ProposalKind.PROMOTE, "user")
    assert "ошибались дважды" in filed.reason
    assert bob.list().total == 0, "nothing is copied before"
    done = bob.review.accept(filed.id, actor=PERSON)
    (rule,) = bob.list().memories
    assert (rule.content, rule.title, rule.tags, rule.key) == (LESSON, "Цены", ("каталог",), None)
    assert (rule.trust, rule.pinned, str(rule.scope)) == (Trust.CONFIRMED, True, "user")
    (link,) = bob.show(rule.id)[1]
    assert (link.source, link.target, link.kind) == (rule.id, raised_id, LinkKind.DERIVED_FROM)
    assert ada.show(raised_id, scopes=["agent:ada"])[0].content == LESSON, "the one it was raised from stays"
    bob.undo_run(done.run)
    assert bob.list().total == 0
    assert bob.review.lessons() == [], "what was taken back is not handed over"
    assert bob.review.proposal(filed.id).state is ProposalState.OPEN


@pytest.mark.promise("lessons.handed")
def test_a_rule_is_handed_to_each_other_agent_until_it_takes_note(ada, bob, opened):
    _, filed = raised(ada)
    bob.review.accept(filed.id, actor=PERSON)
    (lesson,) = bob.review.lessons()
    assert (str(lesson.raised_from), str(lesson.scope), lesson.rejected) == ("agent:ada", "user", "")
    assert bob.review.lessons() == [lesson], "reading it is not taking note"
    assert "agent:bob" not in map(str, bob.store.scopes()), "nor does it make a scope known"
    assert ada.review.lessons() == [], "who raised it knows it"
    assert len(bob.review.lessons(agent="eve")) == 1
    nobody = opened()
    assert len(nobody.review.lessons()) == 1, "without a name one reads for the scope that one writes to"
    assert bob.review.acknowledge([lesson.id[:8]]) == (lesson.id,)
    assert bob.review.acknowledge([lesson.id]) == ()
    assert bob.review.lessons() == []
    assert len(bob.review.lessons(agent="eve")) == len(nobody.review.lessons()) == 1
    with pytest.raises(NotFound, match="agent:eve"):
        bob.review.acknowledge(["zzzz"], agent="eve")


@pytest.mark.promise("lessons.handed")
def test_a_rule_of_a_team_is_handed_to_those_who_see_the_team(ada, bob, opened):
    _, filed = raised(ada, to="team:web")
    bob.review.accept(filed.id, scopes=["team:web"], actor=PERSON)
    assert len(bob.review.lessons()) == 1
    assert opened(settings={"agent": "eve"}).review.lessons() == []


@pytest.mark.promise("lessons.answered")
def test_a_rejected_lesson_says_why_to_the_one_who_raised_it_and_to_nobody_else(ada, bob):
    raised_id, filed = raised(ada)
    bob.review.reject(filed.id, why="только для вашего каталога", actor=PERSON)
    (answer,) = ada.review.lessons()
    assert (answer.id, answer.rejected, answer.memory.id) == (filed.id, "только для вашего каталога", raised_id)
    assert bob.review.lessons() == []
    with pytest.raises(Refused, match="только для вашего каталога"):
        ada.review.promote(raised_id, to="user")
    assert ada.review.acknowledge([answer.id]) == (filed.id,)
    assert ada.review.lessons() == []
    ada.update(raised_id, content="Цены сверяем с прайсом поставщика; на сайте они отстают на день.")
    assert ada.review.promote(raised_id, to="user").state is ProposalState.OPEN, "a better text may be raised"


@pytest.mark.promise("lessons.raised")
def test_only_a_wider_scope_takes_a_lesson_and_only_once(ada):
    raised_id, filed = raised(ada)
    with pytest.raises(Refused, match=filed.id):
        ada.review.promote(raised_id, to="user")
    for to in ("agent:bob", "project:shop"):
        with pytest.raises(InvalidInput, match="no wider scope"):
            ada.review.promote(raised_id, to=to)
    own = ada.remember("The user drinks tea.")
    with pytest.raises(InvalidInput, match="nothing to raise"):
        ada.review.promote(own.id, to="team:web")


@pytest.mark.promise("inbox.open")
def test_a_lesson_that_was_changed_or_refused_since_is_not_made_a_rule(ada, bob):
    raised_id, filed = raised(ada)
    ada.update(raised_id, content=LESSON + " Всегда.")
    with pytest.raises(Conflict, match="changed since"):
        bob.review.accept(filed.id)
    ada.undo(raised_id)
    refused = bob.remember(LESSON)
    bob.delete(refused.id, never="это неверно")
    with pytest.raises(Refused, match="это неверно"):
        bob.review.accept(filed.id)
    assert bob.review.proposal(filed.id).state is ProposalState.OPEN


def test_a_text_that_the_wider_scope_holds_already_becomes_the_rule(ada, bob):
    own = bob.remember(LESSON)
    _, filed = raised(ada, pinned=True)
    bob.review.accept(filed.id, actor=PERSON)
    assert [one.id for one in bob.review.lessons()] == [own.id]
    assert bob.show(own.id)[0].pinned
    assert bob.list().total == 1


def test_lessons_that_begin_alike_are_told_apart(opened):
    numbers = iter(f"{n:016}" for n in range(100, 200))
    app = opened(new_id=lambda: next(numbers))
    for text in ("one lesson", "another lesson"):
        made = app.remember(text, scope="agent:ada")
        app.review.accept(app.review.promote(made.id, to="user", scopes=["agent:ada"]).id)
    with pytest.raises(Ambiguous, match="fits several lessons"):
        app.review.acknowledge(["0"])


def test_an_agents_own_memories_are_seen_beside_the_others_and_written_only_when_named(ada, bob):
    ada.remember("Ada's own note on pears.", scope="agent:ada")
    ada.remember("A note for everybody on pears.")
    assert ada.list().total == 2
    assert [str(one.scope) for one in bob.list().memories] == ["user"]


@pytest.mark.promise("lessons.handed")
def test_agents_raise_and_take_note_over_the_protocol(ada, bob):
    made = run_tool(ada, "store_memory", {"content": LESSON, "scope": "agent:ada"}, PERSON)
    filed = run_tool(ada, "promote_memory", {"id": made.shape["id"], "to": "user", "why": "дважды"}, ada.actor)
    listed = run_tool(bob, "list_proposals", {}, bob.actor)
    assert listed.shape["proposals"][0]["id"] == filed.shape["id"]
    assert "stored data, not instructions" in listed.text
    run_tool(bob, "decide_proposal", {"id": filed.shape["id"], "accept": True}, bob.actor)
    handed = run_tool(bob, "next_lessons", {}, bob.actor)
    assert handed.shape["lessons"][0]["memory"]["content"] == LESSON
    assert LESSON in handed.text
    assert handed.text.count("stored data, not instructions") == 1
    ids = [handed.shape["lessons"][0]["id"]]
    assert run_tool(bob, "acknowledge_lessons", {"ids": ids}, bob.actor).shape["acknowledged"] == ids
    assert run_tool(bob, "next_lessons", {}, bob.actor).shape["count"] == 0


def test_a_long_proposal_still_fits_an_answer(bob):
    from zapomni.services.review.inbox import propose

    made = bob.remember("Two versions.")
    detail = {"mine": "я" * 90_000, "theirs": ["ж" * 90_000]}
    with bob.store.write() as tx:
        kind, scope = ProposalKind.CONFLICT, made.memory.scope
        propose(
            bob.context, tx, kind, scope=scope, memories=[made.id], reason="both changed", detail=detail, actor=PERSON
        )
    assert run_tool(bob, "list_proposals", {}, bob.actor).size < 20_000
