"""What an answer says in which nothing was found: which options let nothing through, and which keep answers away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.test_documents import write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]
    Stored = Callable[..., str]

pytestmark = pytest.mark.promise("recall.nothing")


def hidden(zap: Zap, *words: str) -> str:
    lines = zap("recall", *words, "--explain").out.splitlines()
    return next((line.split(maxsplit=1)[1] for line in lines if line.split()[:1] == ["hidden"]), "")


# --- nothing passes the filter ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--kind", "procedural"), "none of 2 memories passes --kind procedural"),
        (("--kind", "procedural", "--kind", "working"), "passes --kind procedural --kind working"),
        (("--tag", "домм"), "passes --tag домм"),
        (("--tag", "мой дом", "--tag", "дача"), "passes --tag 'мой дом' --tag дача"),
        (("--since", "2999-01-01"), "passes --since 2999-01-01"),
        (("--on", "2020-01"), "passes --on 2020-01"),
        (("--min-importance", "0.9"), "passes --min-importance 0.9"),
        (("--pinned",), "passes --pinned"),
        (("--trust", "disputed"), "passes --trust disputed"),
        (("--kind", "semantic", "--tag", "домм"), "none of 2 memories passes --tag домм"),
        (("--kind", "procedural", "--entity", "Иван"), "passes --kind procedural or --entity Иван"),
        (("--kind", "episodic", "--tag", "дом"), "passes --kind episodic with --tag дом"),
    ],
)
def test_a_filter_that_lets_nothing_through_is_named(
    zap: Zap, stored: Stored, options: tuple[str, ...], told: str
) -> None:
    stored("Парковка во дворе.", "--tag", "дом")
    stored("Вчера чинили шлагбаум.", "--kind", "episodic")
    err = zap("recall", "парковка", *options).err
    assert told in err
    assert "no memory" not in err
    assert "vector" not in err
    assert told in zap("recall", "парковка", *options, "--with-docs").err
    assert told in zap("recall", "парковка", *options, "--explain").err


def test_the_only_memory_is_no_none_of_one(zap: Zap, stored: Stored) -> None:
    stored("Парковка во дворе.")
    assert "the only memory does not pass --unpinned" not in zap("recall", "парковка", "--unpinned").err
    assert "the only memory does not pass --pinned" in zap("recall", "парковка", "--pinned").err
    barred = zap("recall", "парковка", "--kind", "working", "--json").json["barred"]
    assert barred == {"by": ["kind"], "together": False, "of": 1}


def test_a_filter_that_lets_no_document_through_is_named(zap: Zap, home: Path) -> None:
    write(home, "g/a.md", "# Бриг\n\nБриг ушёл на юг.\n")
    zap("source", "add", str(home / "g"))
    assert "the only place in documents does not pass --kind adr" in zap("search", "бриг", "--kind", "adr").err
    assert "does not pass --path нет" in zap("search", "бриг", "--path", "нет").err


# --- what the filter keeps away ---------------------------------------------------------------------------
def test_the_options_that_keep_answers_away_are_named(zap: Zap, stored: Stored) -> None:
    stored("Принтер на третьем этаже.", "--scope", "user")
    stored("Сканер на втором этаже.", "--scope", "team:web")
    assert hidden(zap, "принтер", "--kind", "procedural") == "1 answer without `--kind procedural`"
    assert hidden(zap, "принтер", "--since", "2999-01-01") == "1 answer without `--since 2999-01-01`, valid now or not"
    assert hidden(zap, "сканер") == "1 answer in team:web (`--scope team:web`)"
    both = hidden(zap, "сканер", "--kind", "procedural")
    assert both.startswith("1 answer in team:web (`--scope team:web`) without `--kind procedural`")


def test_a_count_that_the_limit_stopped_is_no_number(zap: Zap, stored: Stored) -> None:
    for floor in ("первом", "втором", "третьем"):
        stored(f"Принтер на {floor} этаже.")
    assert hidden(zap, "принтер", "--kind", "working", "--limit", "2") == "2 or more answers without `--kind working`"
    assert hidden(zap, "принтер", "--kind", "working") == "3 answers without `--kind working`"
    why = zap("recall", "принтер", "--kind", "working", "--limit", "1", "--explain", "--json").json["explanations"][0]
    assert why["hidden"] == [{"part": "other", "count": 1, "more": True, "by": ["kind"], "scopes": []}]
    assert why["without"] == {"other": 1}


# --- questions that say nothing ---------------------------------------------------------------------------
@pytest.mark.parametrize("question", ["???", "— …", "«»"])
def test_a_question_of_marks_alone_finds_nothing_by_meaning_either(
    zap: Zap, stored: Stored, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "scripted")
    stored("По пятницам релизы запрещены.")
    zap("reembed")
    for options in ((), ("--with-docs",), ("--mode", "semantic"), ("--explain",)):
        result = zap("recall", *options, "--", question)
        assert (result.status, result.out) == (0, "")
        assert "no letter or digit in the question says what to look for" in result.err
        assert "--explain" not in result.err


def test_a_question_of_stop_words_is_told_one_thing(zap: Zap, stored: Stored) -> None:
    stored("Redis holds the sessions.")
    told = zap("recall", "и в на", "--explain")
    assert "looked for  и, в, на (words that nearly every text has)" in told.out
    assert "the question holds only a time or words that nearly every text has" in told.err


# --- what to do next --------------------------------------------------------------------------------------
def test_an_empty_answer_points_to_its_explanation(zap: Zap, stored: Stored, home: Path) -> None:
    stored("Redis holds the sessions.")
    write(home, "g/a.md", "# Бриг\n\nБриг ушёл на юг.\n")
    zap("source", "add", str(home / "g"))
    for asked in (("recall", "хромодинамика"), ("recall", "хромодинамика", "--with-docs"), ("search", "хромодинамика")):
        assert "; `--explain` tells why" in zap(*asked).err
        assert "tells why" not in zap(*asked, "--explain").err


def test_what_stands_in_the_way_without_vectors_is_the_option_that_was_given(zap: Zap, stored: Stored) -> None:
    stored("Redis holds the sessions.")
    by_mode = zap("recall", "redis", "--mode", "semantic").err
    assert "Leave out `--mode semantic`" in by_mode
    assert "strict" not in by_mode
    assert "Leave out `--strict`" in zap("recall", "redis", "--strict").err


def test_where_there_is_nothing_to_search_no_word_is_said_of_vectors(zap: Zap) -> None:
    for options in ((), ("--with-docs",)):
        assert "Not the whole answer" not in zap("recall", "redis", *options).err


def test_the_nearest_place_shows_its_heading_once(zap: Zap, home: Path) -> None:
    write(home, "g/a.md", "# Бриг\n\n## Порт\n\nБриг ушёл на юг.\n")
    zap("source", "add", str(home / "g"))
    fruit = "яблоко груша слива вишня черешня абрикос персик айва хурма инжир гранат лимон апельсин"
    out = zap("search", f"юг {fruit}", "--explain").out
    text = next(line for line in out.splitlines() if "Бриг ушёл" in line)
    assert text.count("Порт") == 1
    assert text.count("Бриг") == 2
