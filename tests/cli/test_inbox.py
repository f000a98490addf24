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


def test_both_sides_of_a_conflict_with_a_file_are_shown_and_its_digests_are_not(zap, home):
    (home / "work" / "notes").mkdir()
    note = home / "work" / "notes" / "отступы.md"
    note.write_text("Табуляция.\n", encoding="utf-8")
    scan = ("source", "scan", "--scope", "agent:ada")
    assert "added 1" in zap("source", "add", "notes", "--mode", "mirror", "--scope", "agent:ada").out
    (memory,) = zap("list", "--scope", "agent:ada", "--json").json["memories"]
    zap("update", memory["id"], "Пробелы.", "--scope", "agent:ada")
    note.write_text("Только табуляция.\n", encoding="utf-8")
    assert "waits in `zapomni inbox`" in zap(*scan).err
    (waiting,) = zap("inbox", "--json").json["proposals"]
    shown = zap("inbox", "show", waiting["id"]).out
    assert shown.endswith("Пробелы.\n\nотступы.md  the file  отступы\nТолько табуляция.\n")
    assert waiting["detail"]["sha256"] not in shown


def test_both_sides_of_a_conflict_with_a_branch_are_shown(zap, stored):
    made = stored("old")
    zap("branch", "create", "b")
    zap("update", made, "of the branch", "--branch", "b")
    zap("update", made, "of the main line")
    zap("branch", "merge", "b")
    (waiting,) = zap("inbox", "--json").json["proposals"]
    shown = zap("inbox", "show", waiting["id"]).out
    assert "of the main line" in shown
    assert "branch:b@user" in shown
    assert "of the branch" in shown
