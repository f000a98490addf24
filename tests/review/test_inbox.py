"""The review inbox: nothing changes before a person says so, and what one has said stands."""

from __future__ import annotations

import json

import pytest

from zapomni.errors import Ambiguous, Conflict, InvalidInput, NotFound
from zapomni.model import Actor, Origin, Scope, ScopeKind
from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.record import parse_scope
from zapomni.services.review.inbox import propose

PERSON = Actor(name="cli", origin=Origin.USER)
AGENT = Actor(name="mcp:tester", origin=Origin.AGENT)
RUSSIAN = "До конца ноября выкатываем только по средам."
USER = parse_scope("user")


def proposed(app, memory_id, *, kind=ProposalKind.EXPIRE, scope=USER, reason="it ended in November", detail=None):
    with app.store.write() as tx:
        return propose(
            app.context, tx, kind, scope=scope, memories=[memory_id], reason=reason, detail=detail or {}, actor=AGENT
        )


@pytest.mark.promise("inbox.decided")
def test_a_proposal_changes_nothing_before_it_is_accepted_and_then_as_one_run(app):
    made = app.remember(RUSSIAN)
    filed = proposed(app, made.id)
    assert app.recall("выкатываем по средам").hits
    accepted = app.review.accept(filed.id[:6], actor=PERSON)
    assert (accepted.state, accepted.decided_by) == (ProposalState.ACCEPTED, "cli")
    assert not app.recall("выкатываем по средам").hits
    assert app.review.proposals() == []
    assert app.undo_run(accepted.run).restored == (made.id,)
    assert [one.id for one in app.review.proposals()] == [filed.id], "what was taken back waits again"
    assert app.recall("выкатываем по средам").hits


@pytest.mark.promise("inbox.decided")
def test_what_was_rejected_is_not_proposed_again_and_what_was_accepted_may_be(app):
    made = app.remember("The build is red.")
    filed = proposed(app, made.id)
    assert proposed(app, made.id) is None, "it is open already"
    refused = app.review.reject(filed.id, why="сборка ещё красная", actor=PERSON)
    assert (refused.state, refused.answer) == (ProposalState.REJECTED, "сборка ещё красная")
    assert proposed(app, made.id) is None
    other = proposed(app, made.id, detail={"valid_until": "2027-01-01T00:00:00.000000Z"})
    app.review.accept(other.id)
    assert proposed(app, made.id, detail=dict(other.detail)) is not None


@pytest.mark.promise("inbox.open")
def test_one_that_fails_stays_open_and_says_why(app):
    kept, gone = app.remember("One stays."), app.remember("Другая исчезнет.")
    with app.store.write() as tx:
        filed = propose(
            app.context,
            tx,
            ProposalKind.EXPIRE,
            scope=USER,
            memories=[kept.id, gone.id],
            reason="both ended",
            detail={},
            actor=AGENT,
        )
    app.delete(gone.id)
    with pytest.raises(NotFound, match=gone.id):
        app.review.accept(filed.id)
    assert app.review.proposal(filed.id).state is ProposalState.OPEN
    assert app.show(kept.id)[0].valid_until is None
    app.undo(gone.id)
    assert app.review.accept(filed.id).state is ProposalState.ACCEPTED


@pytest.mark.promise("inbox.open")
def test_nobody_decides_twice_and_a_choice_must_be_one_that_is_offered(app):
    made = app.remember("The port is 8377.")
    filed = proposed(app, made.id, detail={"choices": ["store", "file"]})
    for choice in (None, "both"):
        with pytest.raises(InvalidInput, match="store, file"):
            app.review.accept(filed.id, choice=choice)
    assert app.review.accept(filed.id, choice="store").answer == "store"
    with pytest.raises(Conflict, match="undo --run"):
        app.review.accept(filed.id, choice="store")
    with pytest.raises(Conflict):
        app.review.reject(filed.id, why="late")


def test_a_proposal_is_found_by_the_beginning_of_its_id_inside_the_scopes_that_are_seen(app):
    made = app.remember("A lesson of one agent.", scope="agent:ada")
    filed = proposed(app, made.id, scope=Scope(kind=ScopeKind.AGENT, name="ada"))
    proposed(app, made.id, scope=Scope(kind=ScopeKind.AGENT, name="ada"), kind=ProposalKind.MERGE)
    assert app.review.proposals() == []
    assert len(app.review.proposals(scopes=["agent:ada"])) == 2
    with pytest.raises(NotFound):
        app.review.proposal(filed.id)
    with pytest.raises(InvalidInput):
        app.review.proposal(" ", scopes=["agent:ada"])
    assert app.review.proposal(filed.id[:12], scopes=["agent:ada"]) == filed


def test_ids_that_begin_alike_are_told_apart(tmp_path, opened):
    numbers = iter(f"{n:016}" for n in range(100, 200))
    with opened(new_id=lambda: next(numbers)) as app:
        ids = [app.remember(text).id for text in ("one", "two")]
        for memory_id in ids:
            proposed(app, memory_id)
        with pytest.raises(Ambiguous, match="fits several proposals"):
            app.review.proposal("0")


@pytest.mark.promise("inbox.erased")
def test_an_erased_memory_leaves_no_proposal_with_its_text(app, tmp_path):
    made = app.remember("Тайна: кот спит на сервере.")
    filed = proposed(app, made.id, reason="кот спит на сервере", detail={"text": "кот спит на сервере"})
    app.delete(made.id, erase=True)
    with pytest.raises(NotFound):
        app.review.proposal(filed.id)
    app.close()
    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            assert "кот спит на сервере".encode() not in file.read_bytes(), file


@pytest.mark.promise("inbox.decided")
def test_a_backup_holds_the_inbox(app, opened, tmp_path):
    filed = proposed(app, app.remember("Kept with the rest.").id)
    app.backup(tmp_path / "copy.db")
    app.review.reject(filed.id, why="no")
    app.restore(tmp_path / "copy.db", force=True)
    assert [one.id for one in app.review.proposals()] == [filed.id]


def test_the_reason_is_one_line_without_secrets(app):
    filed = proposed(app, app.remember("x marks").id, reason="first\nsecond AKIAIOSFODNN7EXAMPLE")
    assert filed.reason.startswith("first second ")
    assert "AKIA" not in json.dumps(app.review.proposal(filed.id).reason)


@pytest.mark.promise("inbox.decided")
def test_a_proposal_of_which_a_part_still_holds_stays_accepted(app):
    first, second = app.remember("First."), app.remember("Второе.")
    with app.store.write() as tx:
        ids = [first.id, second.id]
        kind = ProposalKind.EXPIRE
        filed = propose(app.context, tx, kind, scope=USER, memories=ids, reason="both", detail={}, actor=AGENT)
    run = app.review.accept(filed.id).run
    app.update(first.id, title="changed since")
    undone = app.undo_run(run)
    assert (undone.restored, [one for one, _ in undone.skipped]) == ((second.id,), [first.id])
    assert app.review.proposal(filed.id).state is ProposalState.ACCEPTED
