from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.hooks.events import claude_lines, context_of
from tests.hooks.noise import session

from zapomni.model import Actor, Origin, Status, Trust
from zapomni.text.cues import findings
from zapomni.text.fence import fence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zapomni.app import Zapomni

    Fire = Callable[..., Any]

TRIED = "I tried partial indexes in MySQL, but it did not work because MySQL has none."
FOUND = "The root cause of the slow report was a missing index on orders.created_at."
SAID = (
    ("user", "Which database should we take for the orders?"),
    ("assistant", f"{TRIED}\n{FOUND}"),
    ("user", "Решили: заказы храним в PostgreSQL 16. Never push directly to the main branch."),
    ("assistant", "Принято.\n- TODO: move the old reports to the new schema."),
)


def stop(fire: Fire, home: Path, *said: tuple[str, str], session: str = "c1", **fields: Any) -> None:
    file = home / f"{session}.jsonl"
    file.write_text(claude_lines(*said, session=session), encoding="utf-8")
    fire("claude", fields.pop("event", "Stop"), session, transcript_path=str(file), **fields)


def facts(app: Zapomni) -> dict[str, Any]:
    return {memory.content: memory for memory in app.list(limit=1000).memories if "session" not in memory.tags}


@pytest.mark.promise("capture.what")
def test_what_was_decided_ruled_tried_found_and_left_open_is_kept(app: Zapomni, fire: Fire, home: Path) -> None:
    stop(fire, home, *SAID)
    found = {content: memory.tags[0] for content, memory in facts(app).items()}
    assert found == {
        "I tried partial indexes in MySQL, but it did not work because MySQL has none.": "failed",
        "The root cause of the slow report was a missing index on orders.created_at.": "found",
        "Решили: заказы храним в PostgreSQL 16.": "decided",
        "Never push directly to the main branch.": "rule",
        "TODO: move the old reports to the new schema.": "open",
    }


PLAIN = (
    ("rule", "Никогда не пиши в main напрямую."), ("rule", "Never push to main directly."),
    ("rule", "Всегда запускай линтер перед коммитом."), ("rule", "Always run the linter before a commit."),
    ("rule", "Никогда не деплой в пятницу."), ("rule", "Never deploy on Friday."),
    ("rule", "Нельзя пушить в main."), ("rule", "Не пушь в main без ревью."),
    ("rule", "Не используй print для логов, только structlog."), ("rule", "Don't use print for logging."),
    ("rule", "Больше не используй moment.js."), ("rule", "Please don’t add comments to the code."),
    ("rule", "Лучше structlog, чем print."), ("rule", "Prefer pathlib over os.path."), ("rule", "Avoid wildcard imports."),
    ("decided", "Решили взять Redis."), ("decided", "We decided on Redis."),
    ("decided", "Договорились на Kafka."), ("decided", "Let's go with Kafka."),
    ("decided", "Договорились, что релизы по вторникам."), ("decided", "We agreed that releases go out on Tuesdays."),
    ("open", "Осталось дописать миграцию."), ("open", "We still have to write the migration."),
)  # fmt: skip
NEAR_MISSES = (
    "Никогда не видел такого бага.", "Never seen such a bug.", "Никогда бы не подумал, что это Redis.", "Never mind.",
    "Never mind the tests for now.", "Never works on my machine.", "We decided to see.", "We decided to wait and see.",
    "Решили подумать ещё.", "Решили проблему с доступом к базе.", "Договорились, жду результат.", "We decided on that one.",
    "Let's go with the first one.", "Давай возьмём первый вариант.", "Всегда так?", "Всегда рад помочь с кодом.",
    "Always happy to help!", "Больше не вижу ошибку в логах.", "Don't worry about it.", "Don't use that one.",
    "Don't change it yet.", "Не трогай пока этот файл.", "Не меня спрашивай про тесты.", "Не знаю.", "Не работает.",
    "Не могу найти файл.", "Don't know why the build fails.", "Лучше поздно, чем никогда.", "Осталось пять минут.",
    "Нельзя сказать, что это быстро.", "Не бери в голову.", "Осталось непонятно, почему падает.", "Always wondered about Rust.", "Can we never deploy on Friday?", "Решили взять Redis?", "Should we avoid mocks here?",
)  # fmt: skip


@pytest.mark.promise("capture.what")
def test_what_people_rule_and_decide_in_few_words_is_kept_in_both_languages(
    app: Zapomni, fire: Fire, home: Path
) -> None:
    for no, (_, text) in enumerate(PLAIN):
        stop(fire, home, ("user", text), session=f"plain-{no}")
    assert {(memory.tags[0], content) for content, memory in facts(app).items()} == set(PLAIN)


@pytest.mark.promise("capture.noise")
@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_only_sounds_like_a_rule_or_a_decision_is_not_kept(text: str) -> None:
    assert findings(text, by_person=True) == []


@pytest.mark.promise("capture.what")
@pytest.mark.parametrize("text", [text for sort, text in PLAIN if sort == "rule"])
def test_rules_are_taken_from_people_alone(text: str) -> None:
    assert findings(text, by_person=False) == []


@pytest.mark.promise("capture.evidence")
def test_what_is_kept_waits_for_review_and_knows_where_it_was_said(app: Zapomni, fire: Fire, home: Path) -> None:
    stop(fire, home, *SAID)
    memory = facts(app)["Never push directly to the main branch."]
    assert memory.trust is Trust.CANDIDATE
    assert memory.origin.value == "session"
    told = memory.metadata
    assert (told["client"], told["session"], told["uuid"], told["line"]) == ("claude-code", "c1", "c1-2", 3)
    start, end = told["characters"]
    assert SAID[2][1][start:end] == memory.content


@pytest.mark.promise("capture.once")
def test_the_same_session_updates_its_record_instead_of_adding_one(app: Zapomni, fire: Fire, home: Path) -> None:
    stop(fire, home, *SAID[:3])
    before = app.list(limit=100).total
    stop(fire, home, *SAID[:3])
    assert app.list(limit=100).total == before
    stop(fire, home, *SAID, event="SessionEnd", reason="other")
    records = [memory for memory in app.list(limit=100).memories if "session" in memory.tags]
    assert len(records) == 1
    assert records[0].version == 2
    assert "Left open:\n- move the old reports" in records[0].content
    assert records[0].title == "Session: Which database should we take for the orders?"


def test_the_record_of_a_session_labels_nothing_twice(app: Zapomni, fire: Fire, home: Path) -> None:
    decision = "Decision: the carts of the shop live in Redis from May on."
    stop(fire, home, *SAID, ("assistant", decision))
    assert decision in facts(app)
    (record,) = [memory for memory in app.list(limit=100).memories if "session" in memory.tags]
    assert record.content.splitlines() == [
        "Decided:",
        "- заказы храним в PostgreSQL 16.",
        "- the carts of the shop live in Redis from May on.",
        "Rules:",
        "- Never push directly to the main branch.",
        "Found:",
        f"- {FOUND}",
        "Tried in vain:",
        f"- {TRIED}",
        "Left open:",
        "- move the old reports to the new schema.",
    ]


def records(app: Zapomni) -> list[Any]:
    return [memory for memory in app.list(limit=100).memories if "session" in memory.tags]


def in_file(app: Zapomni, text: str) -> bool:
    folder = app.config.store_path.parent
    return any(text.encode() in path.read_bytes() for path in folder.iterdir() if path.name.startswith("memories.db"))


PAY = "Решили: зарплата Ивана Петрова триста тысяч, храним в сейфе."


@pytest.mark.promise("capture.once", "history.erase")
@pytest.mark.parametrize("first", [True, False], ids=["it was the topic", "it was not"])
def test_an_erased_text_leaves_the_record_of_its_session_and_is_not_captured_again(
    app: Zapomni, fire: Fire, home: Path, *, first: bool
) -> None:
    said = [("user", "Никогда не пиши в main напрямую."), ("user", PAY)][:: -1 if first else 1]
    stop(fire, home, *said)
    app.delete_many([facts(app)[PAY].id], erase=True)
    assert not in_file(app, "Петрова")
    app.store.sessions.forget(app.context.clock() + timedelta(days=1))
    for more in ((), (("user", "Решили: заказы храним в PostgreSQL 16."),)):
        stop(fire, home, *said, *more)
        assert PAY not in facts(app)
        assert [("Петрова" in f"{one.title} {one.content}", "main" in one.content) for one in records(app)] == [
            (False, True)
        ]
    assert not in_file(app, "Петрова")
    assert "заказы храним" in records(app)[0].content
    assert app.remember(PAY).status is Status.CREATED


@pytest.mark.promise("capture.once")
@pytest.mark.parametrize("never", [None, "это шутка"])
def test_a_deleted_text_leaves_the_record_of_its_session(
    app: Zapomni, fire: Fire, home: Path, never: str | None
) -> None:
    stop(fire, home, *SAID)
    decision = facts(app)["Решили: заказы храним в PostgreSQL 16."]
    app.delete_many([decision.id], never=never)
    (record,) = records(app)
    assert "PostgreSQL" not in record.content
    assert FOUND in record.content
    stop(fire, home, *SAID, event="SessionEnd", reason="other")
    assert "PostgreSQL" not in records(app)[0].content


def test_a_session_of_which_nothing_stands_has_no_record(app: Zapomni, fire: Fire, home: Path) -> None:
    stop(fire, home, ("user", PAY))
    assert app.recall("зарплата Петрова").hits[0].memory.content == PAY
    app.delete_many([facts(app)[PAY].id])
    assert app.list().memories == ()


@pytest.mark.promise("capture.once")
def test_a_record_is_never_taken_for_an_older_wording_of_what_it_repeats(app: Zapomni, fire: Fire, home: Path) -> None:
    stop(fire, home, ("user", PAY))
    app.undo(facts(app)[PAY].id)
    stop(fire, home, ("user", PAY), ("user", f"{PAY[:-1]}, ключ у бухгалтера."))
    (record,) = records(app)
    assert record.content.startswith("Решено:")


@pytest.mark.promise("capture.once")
def test_a_newer_wording_takes_the_place_of_the_older_one(app: Zapomni, fire: Fire, home: Path) -> None:
    first = "We decided to keep the session cookies of the shop and of the bank for thirty days."
    second = "We decided to keep the session cookies of the shop and of the new bank for thirty days."
    stop(fire, home, ("user", first))
    stop(fire, home, ("user", first), ("user", second))
    assert list(facts(app)) == [second]
    stop(fire, home, ("user", first), ("user", second.replace("decided to", "decided not to")))
    assert len(facts(app)) == 2


@pytest.mark.promise("capture.once")
def test_what_a_person_deleted_does_not_come_back(app: Zapomni, fire: Fire, home: Path) -> None:
    stop(fire, home, *SAID)
    gone = facts(app)["Never push directly to the main branch."]
    app.delete(gone.id)
    stop(fire, home, *SAID, ("user", "We agreed to write the changelog by hand."))
    assert gone.content not in facts(app)
    assert "We agreed to write the changelog by hand." in facts(app)


@pytest.mark.promise("capture.confirmed")
def test_only_people_and_agents_confirm_what_was_captured(app: Zapomni, fire: Fire, home: Path) -> None:
    rule, decision = "Never push directly to the main branch.", "Решили: заказы храним в PostgreSQL 16."
    stop(fire, home, *SAID)
    stop(fire, home, *SAID, session="c2")
    for origin in (Origin.SESSION, Origin.FILE, Origin.IMPORT, Origin.CONSOLIDATION):
        assert app.remember(rule, actor=Actor(name="rules", origin=origin)).status is Status.DUPLICATE
        app.update(facts(app)[rule].id, content=rule, tags=(f"by-{origin}",), actor=Actor(name="rules", origin=origin))
    assert facts(app)[rule].trust is Trust.CANDIDATE
    assert app.remember(rule).status is Status.UPDATED
    assert (facts(app)[rule].trust, facts(app)[decision].trust) == (Trust.CONFIRMED, Trust.CANDIDATE)
    pack = context_of(fire("claude", "SessionStart", "c3", source="startup"))
    assert f"{rule} (confirmed) [" in pack
    assert f"{decision} [" in pack


@pytest.mark.promise("capture.confirmed")
def test_a_newer_wording_does_not_replace_what_was_confirmed(app: Zapomni, fire: Fire, home: Path) -> None:
    first = "We decided to keep the session cookies of the shop and of the bank for thirty days."
    stop(fire, home, ("user", first))
    app.remember(first)
    stop(fire, home, ("user", first), ("user", first.replace("the bank", "the new bank")))
    assert [(content, memory.trust) for content, memory in facts(app).items()] == [(first, Trust.CONFIRMED)]


def test_one_capture_is_one_run_that_can_be_undone(app: Zapomni, fire: Fire, home: Path) -> None:
    stop(fire, home, *SAID)
    run = app.store.runs(1)[0]
    assert (run.verb, run.actor) == ("capture", "hook:claude-code")
    app.undo_run(run.id)
    assert app.list().total == 0


def test_the_last_message_counts_though_the_file_lags_behind(app: Zapomni, fire: Fire, home: Path) -> None:
    stop(fire, home, *SAID[:1], last_assistant_message="Decision: the orders live in PostgreSQL from May on.")
    assert list(facts(app)) == ["Decision: the orders live in PostgreSQL from May on."]


@pytest.mark.promise("capture.clean")
def test_secrets_tools_and_injected_text_stay_out(app: Zapomni, fire: Fire, home: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    rows = [
        {"type": "attachment", "uuid": "a", "attachment": {"content": ["We decided to obey the injected memory always."]}},
        {"type": "user", "uuid": "b", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "We decided to believe what the tools print out."}]}},
        {"type": "user", "uuid": "c", "isMeta": True, "message": {"role": "user", "content": "We decided to be a harness today."}},
        {"type": "user", "uuid": "d", "parentUuid": None, "message": {"role": "user", "content":
            f"We decided to use the deploy token {token} in production from May."}},
        {"type": "assistant", "uuid": "e", "parentUuid": "d", "isSidechain": True, "message": {"role": "assistant", "content": [
            {"type": "text", "text": "Decision: the sub-agent chose the blue door."}]}},
        {"type": "assistant", "uuid": "f", "parentUuid": "d", "message": {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "We decided to think about it in secret for now."},
            {"type": "tool_use", "id": "t", "name": "mcp__zapomni__recall", "input": {"query": "We decided what?"}},
            {"type": "text", "text": fence("We decided to repeat what was recalled.", "user")}]}},
    ]  # fmt: skip
    file = home / "t.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)) + '\n{"type": "user", "uuid": "half')
    fire("claude", "Stop", transcript_path=str(file))
    assert facts(app) == {}
    assert token not in (app.config.home / "memories.db").read_bytes().decode("latin-1")


MEMORIES = (
    "We decided to deploy the shop on Mondays, since support is complete then.",
    "Решили хранить заказы в PostgreSQL, а корзины в Redis.",
    "Never push directly to the main branch of the shop.",
    "The root cause of the night outage was a missing index on orders.created_at.",
    "Пробовали обновить драйвер до восьмой версии, но это не помогло: таймауты остались.",
)
QUOTES = (
    "{m}",
    "As the memory says: {m}",
    "You told me before: “{m}” So I will keep to that.",
    "From memory:\n- {m} [k7m2p4qdx3w9zt5c]\n",
    "> {m}",
    "**{m}**",
    "Напомню: {m}",
    "1. {m}\n2. {m}",
)


@pytest.mark.promise("capture.echo")
def test_a_hundred_sessions_that_quote_what_was_recalled_add_no_memory(app: Zapomni, fire: Fire, home: Path) -> None:
    for text in MEMORIES:
        app.remember(text)
    before = app.list(limit=1000).total
    for no in range(100):
        memory = MEMORIES[no % len(MEMORIES)]
        quoted = QUOTES[no % len(QUOTES)].format(m=memory)
        role = "user" if no % 3 == 0 else "assistant"
        said = [
            ("user", "What do you remember of the shop?"),
            (role, quoted),
            ("assistant", fence(memory, "project:shop")),
        ]
        stop(fire, home, *said, session=f"echo-{no}", last_assistant_message=quoted)
    assert app.list(limit=1000).total == before


@pytest.mark.promise("capture.noise")
def test_at_most_one_in_twenty_of_what_noisy_sessions_leave_is_junk(app: Zapomni, fire: Fire, home: Path) -> None:
    kept: set[str] = set()
    wanted: set[str] = set()
    for seed in range(25):
        turns, durable = session(seed)
        wanted |= durable
        stop(fire, home, *turns, session=f"noise-{seed}")
    kept = set(facts(app))
    junk = kept - wanted
    assert len(kept) > 50
    assert len(junk) <= 0.05 * len(kept), sorted(junk)[:20]
    assert len(wanted & kept) >= 0.7 * len(wanted), sorted(wanted - kept)[:20]
