"""The inbox at the command line."""

from __future__ import annotations

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.model import Actor
from zapomni.model.proposal import ProposalKind
from zapomni.record import parse_scope
from zapomni.services.review.inbox import propose


def proposed(memory_id, scope="user"):
    with Zapomni(load()) as app, app.store.write() as tx:
        made = propose(
            app.context,
            tx,
            ProposalKind.EXPIRE,
            scope=parse_scope(scope),
            memories=[memory_id],
            reason="истекло в ноябре",
            detail={"note": "см. календарь"},
            actor=Actor(name="mcp:tester"),
        )
        assert made is not None
        return made.id


def test_the_inbox_lists_shows_accepts_and_rejects(zap, stored):
    assert "Nothing waits" in zap("inbox").err
    first, second = stored("Выкатка по средам."), stored("The freeze ends in May.", "--scope", "agent:ada")
    one, two = proposed(first), proposed(second, "agent:ada")
    assert one in zap("inbox").out
    assert "истекло в ноябре" in zap("inbox").out
    assert zap("inbox", "--json").json["count"] == 2, "an inbox shows every scope"
    assert zap("inbox", "list", "--scope", "agent:ada", "--json").json["proposals"][0]["id"] == two
    shown = zap("inbox", "show", one[:8]).out
    assert "см. календарь" in shown
    assert "Выкатка по средам." in shown
    done = zap("inbox", "accept", one[:8])
    assert (done.status, f"{one}  accepted" in done.out, "undo --run" in done.err) == (0, True, True)
    again = zap("inbox", "accept", one, "--json")
    assert (again.status, again.json["error"]["code"]) == (5, "conflict")
    refused = zap("inbox", "reject", two, "--why", "it still holds", "--json").json
    assert (refused["state"], refused["answer"]) == ("rejected", "it still holds")
    assert zap("inbox", "list", "--state", "rejected", "--kind", "expire", "--json").json["count"] == 1
    assert zap("inbox", "accept", "zzzz").status == 3
    assert zap("inbox", "reject", two, "--why", " ").status == 2
