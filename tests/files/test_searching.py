"""Searching in files: what is found, how it is shown, and where it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.files.trees import SECRET, guard_of, make_vault, put

from zapomni.errors import InvalidInput, Refused
from zapomni.files import matching, searching
from zapomni.files.guard import PathGuard, Root
from zapomni.files.searching import search_text

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    put(docs / "план.md", "Заголовок\r\nЕщё ОДИН перенос\r\n")
    put(docs / "sub/notes.md", "one\ntwo ERR-42 (a+b)\nthree\n")
    return docs


@pytest.fixture
def guard(docs: Path) -> PathGuard:
    return guard_of(Root("docs", str(docs)))


def found(guard: PathGuard, query: str, **how) -> list[tuple[str, int, str]]:
    return [(match.path, match.line, match.text) for match in search_text(guard, query, **how).matches]


@pytest.mark.parametrize("query", ["еще один", "ЕЩЁ", "еще\u0308 один", "Один  перенос".replace("  ", " ")])
def test_letter_case_yo_and_the_form_of_accents_make_no_difference(guard: PathGuard, query: str) -> None:
    assert found(guard, query) == [("docs/план.md", 2, "Ещё ОДИН перенос")]


def test_a_query_is_taken_as_it_is_written_unless_it_is_a_pattern(guard: PathGuard) -> None:
    line = ("docs/sub/notes.md", 2, "two ERR-42 (a+b)")
    assert found(guard, "(a+b)") == [line]
    assert found(guard, r"err-\d+", regex=True) == [line]
    assert found(guard, r"err-\d+", regex=True, ignore_case=False) == []
    assert found(guard, r"^ещё\s+один", regex=True) == [("docs/план.md", 2, "Ещё ОДИН перенос")]
    assert found(guard, "err", ignore_case=False) == []
    assert found(guard, "ERR", ignore_case=False) == [line]


def test_a_search_stays_below_its_path(guard: PathGuard) -> None:
    assert [path for path, _, _ in found(guard, "е", path="docs/план.md")] == ["docs/план.md"] * 1
    assert found(guard, "заголовок", path="docs/sub") == []
    with pytest.raises(Refused):
        search_text(guard, "x", path="../outside")


def test_a_search_never_shows_what_may_not_be_seen(tmp_path: Path) -> None:
    guard = guard_of(Root("vault", str(make_vault(tmp_path))))
    assert found(guard, SECRET) == found(guard, SECRET, regex=True) == []
    assert len(found(guard, "open text")) == 5


def test_a_long_line_is_shown_around_the_match(guard: PathGuard, docs: Path) -> None:
    put(docs / "long.md", "а" * 1_000 + "игла" + "б" * 1_000)
    for regex in (True, False):
        [(_, _, text)] = found(guard, "игла", path="docs/long.md", regex=regex)
        assert len(text) == 300
        assert "игла" in text


def test_a_pattern_sees_two_thousand_characters_of_a_line(guard: PathGuard, docs: Path) -> None:
    put(docs / "long.md", "a" * 1_999 + "xy")
    assert found(guard, "x", path="docs/long.md", regex=True)
    assert not found(guard, "y", path="docs/long.md", regex=True)
    assert found(guard, "y", path="docs/long.md")


def test_binary_and_large_files_are_passed_over_and_counted(
    guard: PathGuard, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "FILE_LIMIT", 1_000)
    put(docs / "zero", "needle\0")
    put(docs / "large.md", "needle" * 200)
    put(docs / "broken.md").write_bytes(b"\xff needle")
    result = search_text(guard, "needle")
    assert [match.text for match in result.matches] == ["\ufffd needle"]
    assert (result.files, result.passed_over, result.stopped) == (3, 2, None)


def test_a_byte_order_mark_is_no_part_of_the_first_line(guard: PathGuard, docs: Path) -> None:
    put(docs / "bom.md", "\ufeffначало")
    assert found(guard, "^начало", regex=True) == [("docs/bom.md", 1, "начало")]


def test_a_search_says_why_it_ended_early(guard: PathGuard, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(docs / "many.md", "строка\n" * 300)
    result = search_text(guard, "строка")
    assert (len(result.matches), result.stopped) == (200, "there are more than 200 lines")
    assert search_text(guard, "one", limit=1).stopped is None
    monkeypatch.setattr(searching, "FILES", 2)
    assert search_text(guard, "nothing").stopped == "it looked through 2 files"
    monkeypatch.setattr(searching, "BYTES", 10**6)
    put(docs / "a.md", "x" * 10**6)
    assert search_text(guard, "nothing").stopped == "it read 1 million bytes"


def test_a_pattern_that_would_take_years_ends_the_search_and_keeps_what_was_found(
    guard: PathGuard, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "PATTERN_SECONDS", 1.0)
    put(docs / "a.md", "aaa\n")
    put(docs / "b.md", "a" * 500 + "b\n")
    result = search_text(guard, "^(a|a)+$", regex=True)
    assert [match.path for match in result.matches] == ["docs/a.md"]
    assert result.stopped == "the pattern took too long; a simpler one may not"


@pytest.mark.parametrize("query", ["(", "*a", "[z-a]", "(?P<a", "a{3,1}", "(" * 500])
def test_what_is_no_pattern_is_refused(guard: PathGuard, query: str) -> None:
    with pytest.raises(InvalidInput, match="query: it is no pattern"):
        search_text(guard, query, regex=True)


@pytest.mark.parametrize(
    ("query", "problem"), [("", "empty"), ("\u200b", "empty"), ("a\nb", "lines"), ("x" * 1_001, "1,000")]
)
def test_a_query_that_cannot_be_found_is_refused(guard: PathGuard, query: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        search_text(guard, query)


def test_the_limit_is_checked(guard: PathGuard) -> None:
    for limit in (0, 201):
        with pytest.raises(InvalidInput, match="limit"):
            search_text(guard, "x", limit=limit)
