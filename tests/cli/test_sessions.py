"""`session` and `doctor --clients`: what is told of sessions, and of clients that are wired in part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.hooks.events import claude_lines

from zapomni.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]

SAID = ("user", "Мы решили хранить заказы магазина в PostgreSQL.")


def test_a_client_that_is_not_known_is_named_and_a_short_name_is_understood(zap: Zap, home: Path) -> None:
    file = home / "t.jsonl"
    file.write_text(claude_lines(SAID), encoding="utf-8")
    wrong = zap("session", "close", "--transcript", str(file), "--client", "claud-code")
    assert (wrong.status, "Did you mean claude-code?" in wrong.err) == (2, True)
    shown = zap("session", "close", "--transcript", str(file), "--client", "claude", "--json").json
    assert (shown["client"], shown["turns"]) == ("claude-code", 1)
    assert ": 1 turn of session c1; --apply keeps it in user" in zap("session", "close", "--transcript", str(file)).out


def test_sessions_are_counted_like_every_other_list(zap: Zap, home: Path) -> None:
    none = zap("session", "list")
    assert (none.out, "No session" in none.err) == ("", True)
    (home / "t.jsonl").write_text(claude_lines(SAID), encoding="utf-8")
    zap("session", "close", "--transcript", str(home / "t.jsonl"), "--apply")
    found = zap("session", "list", "--json").json
    assert (found["count"], found["total"], len(found["sessions"])) == (1, 1, 1)


def test_what_is_known_already_is_said_to_be_and_the_name_of_the_file_names_no_session(zap: Zap, home: Path) -> None:
    file = home / "t.jsonl"
    file.write_text(claude_lines(SAID, session="4f1c"), encoding="utf-8")
    assert zap("session", "close", "--transcript", str(file), "--apply", "--json").json["session"] == "4f1c"
    told = zap("session", "close", "--transcript", str(file), "--session", "другая").out
    assert "Nothing new: 1 turn of session другая, and user knows all of it already" in told
    file.write_text('{"role": "user", "content": "Решили: храним в SQLite."}\n', encoding="utf-8")
    assert zap("session", "close", "--transcript", str(file), "--json").json["session"] == "t"


def test_a_session_that_was_captured_before_is_said_to_be_with_what_stands_of_it(zap: Zap, home: Path) -> None:
    file = home / "t.jsonl"
    file.write_text(claude_lines(SAID, ("user", "Never push to main.")), encoding="utf-8")
    zap("session", "close", "--transcript", str(file), "--apply")
    shown, applied = (zap("session", "close", "--transcript", str(file), how).out for how in ("--dry-run", "--apply"))
    for told in (shown, applied):
        assert "Nothing new: 2 turns of session c1, captured before: 2 memories stand in user\n" in told
        assert f"  decided  {SAID[1]}" in told
        assert "Nothing to keep" not in told
    decided = next(line.split()[0] for line in applied.splitlines() if "decided" in line)
    zap("delete", decided)
    told = zap("session", "close", "--transcript", str(file)).out
    assert "captured before: 1 memory stands in user; 1 memory of it deleted since" in told
    assert SAID[1] not in told


def test_a_session_that_says_nothing_worth_keeping_is_none_that_was_captured(zap: Zap, home: Path) -> None:
    (home / "t.jsonl").write_text(claude_lines(("user", "Спасибо!")), encoding="utf-8")
    told = zap("session", "close", "--transcript", str(home / "t.jsonl")).out
    assert "Nothing to keep: 1 turn of session c1" in told


def test_storing_what_was_captured_is_told_as_confirmed_and_not_as_a_warning(zap: Zap, home: Path) -> None:
    (home / "t.jsonl").write_text(claude_lines(SAID), encoding="utf-8")
    zap("session", "close", "--transcript", str(home / "t.jsonl"), "--apply")
    told = zap("store", SAID[1])
    assert told.err.splitlines() == ["it was captured and not reviewed; it is confirmed now"]
    assert told.out.startswith("updated ")


def test_sessions_are_listed_with_their_scope_and_of_a_scope_alone(zap: Zap, home: Path) -> None:
    (home / "t.jsonl").write_text(claude_lines(SAID), encoding="utf-8")
    zap("session", "close", "--transcript", str(home / "t.jsonl"), "--apply")
    zap("store", "x", "--scope", "team:ops")
    assert "  user  Сессия: " in zap("session", "list", "--scope", "all").out
    assert zap("session", "list", "--scope", "team:ops", "--json").json["total"] == 0
    assert zap("session", "list", "--scope", "team:opps").status == NotFound.exit_status


def test_the_doctor_names_a_file_that_cannot_be_read(zap: Zap, home: Path) -> None:
    (home / ".cursor").mkdir()
    (home / ".cursor" / "hooks.json").write_text('{"hooks": ', encoding="utf-8")
    told = zap("doctor", "--clients").out
    assert "not wired: " in told
    assert "hooks.json: it is no JSON that can be read" in told
    assert "hooks.json" in zap("doctor", "--clients", "--json").json["clients"][0]["problem"]


def test_where_no_client_is_there_is_nothing_to_wire(zap: Zap) -> None:
    assert "No client that zapomni knows is on this machine" in zap("setup", "--all").out
