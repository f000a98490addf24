"""Dates and names in questions, in Russian and English, and citations in answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.asked import Asked, read_asked
from zapomni.text.citations import check_citations

NOW = datetime(2026, 3, 30, 10, tzinfo=UTC)  # a Monday
NAMES = ["Alice", "Алиса", "Анна Петрова", "Olga Smith", "Илья", "Пётр", "C++", "Игорь", "The Will"]


def asked(question: str, names: list[str] = NAMES) -> Asked:
    return read_asked(question, names, NOW, UTC)


@pytest.mark.promise("ask.narrowed")
@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("What happened on 1 February?", "2026-02-01", "2026-02-02"),
        ("What happened on the 1st of February 2025", "2025-02-01", "2025-02-02"),
        ("on February 1st, 2026", "2026-02-01", "2026-02-02"),
        ("on the twenty-third of December", "2025-12-23", "2025-12-24"),
        ("Что было первого февраля?", "2026-02-01", "2026-02-02"),
        ("Что случилось двадцать третьего декабря", "2025-12-23", "2025-12-24"),
        ("что было 5-го марта 2026 года", "2026-03-05", "2026-03-06"),
        ("2026-02-01", "2026-02-01", "2026-02-02"),
        ("отчёт за 01.02.2026", "2026-02-01", "2026-02-02"),
        ("what did I do yesterday", "2026-03-29", "2026-03-30"),
        ("Вчера обсуждали что?", "2026-03-29", "2026-03-30"),
        ("позавчера", "2026-03-28", "2026-03-29"),
        ("the day before yesterday", "2026-03-28", "2026-03-29"),
        ("на прошлой неделе", "2026-03-23", "2026-03-30"),
        ("last week", "2026-03-23", "2026-03-30"),
        ("на этой неделе", "2026-03-30", "2026-04-06"),
        ("this month", "2026-03-01", "2026-04-01"),
        ("в прошлом месяце", "2026-02-01", "2026-03-01"),
        ("в этом году", "2026-01-01", "2027-01-01"),
        ("in March 2026", "2026-03-01", "2026-04-01"),
        ("notes of december 2025", "2025-12-01", "2026-01-01"),
        ("в мае", "2025-05-01", "2025-06-01"),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("в 2025 году", "2025-01-01", "2026-01-01"),
        ("3 days ago", "2026-03-27", "2026-03-28"),
        ("a couple of weeks ago", "2026-03-16", "2026-03-23"),
        ("неделю назад", "2026-03-23", "2026-03-30"),
        ("два месяца назад", "2026-01-01", "2026-02-01"),
        ("the last two weeks", "2026-03-16", "2026-03-31"),
        ("за последние 3 дня", "2026-03-27", "2026-03-31"),
        ("last Friday", "2026-03-27", "2026-03-28"),
        ("в прошлый понедельник", "2026-03-23", "2026-03-24"),
        ("on Monday", "2026-03-30", "2026-03-31"),
        ("в среду", "2026-03-25", "2026-03-26"),
        ("between 1 and 5 February", "2026-02-01", "2026-02-06"),
        ("с 1 по 5 марта", "2026-03-01", "2026-03-06"),
        ("с десятого по двадцатое января", "2026-01-10", "2026-01-21"),
        ("from 1 February to 10 March", "2026-02-01", "2026-03-11"),
        ("с 1 февраля по 10 марта", "2026-02-01", "2026-03-11"),
        ("1 February or maybe 3 March", "2026-02-01", "2026-03-04"),
        ("since 1 February", "2026-02-01", None),
        ("notes from 1 February", "2026-02-01", "2026-02-02"),
        ("anything from two weeks ago", "2026-03-16", "2026-03-23"),
        ("с 1 марта", "2026-03-01", None),
        ("после 10 марта", "2026-03-11", None),
        ("before February 2026", None, "2026-02-01"),
        ("до 1 февраля", None, "2026-02-01"),
        ("since 1 February but before 10 March", "2026-02-01", "2026-03-10"),
    ],
)
def test_a_question_names_the_time_that_it_is_about(question: str, since: str | None, until: str | None) -> None:
    found = asked(question)
    told = [at and at.date().isoformat() for at in (found.since, found.until)]
    assert told == [since, until]


@pytest.mark.parametrize(
    "question",
    [
        "May I deploy?", "when do we march on?", "the Q3 budget", "SQL Server 2019", "31 February", "version 1.2.2026.4",
        "порт 8080", "ticket 20260201", "Можно ли выкладывать?", "", "\0", "в начале",
    ],
)  # fmt: skip
def test_a_question_without_a_time_names_none(question: str) -> None:
    found = asked(question)
    assert (found.since, found.until) == (None, None)


def test_a_day_is_the_day_of_the_zone() -> None:
    found = read_asked("вчера", [], NOW, ZoneInfo("Europe/Berlin"))
    assert found.since == datetime(2026, 3, 28, 23, tzinfo=UTC)
    assert found.until == datetime(2026, 3, 29, 22, tzinfo=UTC)


@pytest.mark.promise("ask.narrowed")
@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("last meeting with Alice", ["Alice"]),
        ("LAST MEETING WITH ALICE'S TEAM", ["Alice"]),
        ("последняя встреча с Алисой", ["Алиса"]),
        ("что сказала анна петрова", ["Анна Петрова"]),
        ("договорились с Анной Петровой и Ильёй", ["Анна Петрова", "Илья"]),
        ("видел ли кто Петра", ["Пётр"]),
        ("письмо Игорю", ["Игорь"]),
        ("what did Olga want", ["Olga Smith"]),
        ("what is a smith", []),
        ("Smith is who?", []),
        ("malice and dalice", []),
        ("the will of the people", []),
        ("who knows", []),
    ],
)
def test_a_known_name_is_found_in_any_of_its_cases(question: str, names: list[str]) -> None:
    assert list(asked(question).entities) == names


@pytest.mark.parametrize(
    ("question", "newest"),
    [
        ("last meeting with Alice", True),
        ("последняя встреча", True),
        ("what is the most recent decision", True),
        ("недавние решения", True),
        ("last week", False),
        ("за последние 3 дня", False),
        ("what lasts", False),
    ],
)
def test_the_latest_is_asked_for_only_where_no_time_is_meant(question: str, *, newest: bool) -> None:
    assert asked(question).newest is newest


PIECES = ["last", "3", "days", "31", "февраля", "с", "по", "99", "february", "2026", "-", "назад", "1", "week", "ago"]


@given(
    st.text(max_size=80)
    | st.lists(
        st.sampled_from(PIECES),
        max_size=9,
    ).map(" ".join)
)
def test_any_text_is_read(text: str) -> None:
    found = read_asked(text, [text[:5]], NOW, UTC)
    assert all(at is None or at.utcoffset() == timedelta(0) for at in (found.since, found.until))


# --- citations --------------------------------------------------------------------------------------------
SUPPLIED = {"aaaa": "memory", "bbbb": "insight"}


@pytest.mark.promise("ask.cited")
@pytest.mark.parametrize(
    ("text", "kept", "cited", "unknown"),
    [
        ("In May [memory:aaaa].", "In May [memory:aaaa].", ["aaaa"], []),
        ("В мае [insight:bbbb].", "В мае [insight:bbbb].", ["bbbb"], []),
        ("Both [memory:aaaa, insight:bbbb].", "Both [memory:aaaa][insight:bbbb].", ["aaaa", "bbbb"], []),
        ("Both [memory: aaaa; bbbb]", "Both [memory:aaaa][insight:bbbb]", ["aaaa", "bbbb"], []),
        ("Wrong kind [insight:aaaa]", "Wrong kind [memory:aaaa]", ["aaaa"], []),
        ("Round (Memory:aaaa) 【memory:bbbb】", "Round [memory:aaaa] [insight:bbbb]", ["aaaa", "bbbb"], []),
        ("Made up [memory:00000000-dead-beef].", "Made up.", [], ["00000000-dead-beef"]),
        ("Half [memory:aaaa, memory:cccc]", "Half [memory:aaaa]", ["aaaa"], ["cccc"]),
        ("Beginning [memory:aaa]", "Beginning", [], ["aaa"]),
        ("None", "None", [], []),
        ("[memory:]", "[memory:]", [], []),
    ],
)
def test_a_citation_stays_only_where_it_names_what_was_read(
    text: str, kept: str, cited: list[str], unknown: list[str]
) -> None:
    checked = check_citations(text, SUPPLIED)
    assert (checked.text, list(checked.cited), list(checked.unknown)) == (kept, cited, unknown)


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["[memory:", "aaaa", "]", ",", " ", "(insight:", "zz"]), max_size=20).map("".join)
)
def test_no_text_cites_what_was_not_read(text: str) -> None:
    checked = check_citations(text, SUPPLIED)
    assert set(checked.cited) <= set(SUPPLIED)
    assert not set(checked.unknown) & set(SUPPLIED)
    again = check_citations(checked.text, SUPPLIED)
    assert set(again.cited) <= set(checked.cited) | set(SUPPLIED)
