"""What counts as a heading, a title and a fenced block in each layout."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.headings import TITLE_LIMIT, even, outline

ANY = st.text() | st.lists(
    st.sampled_from(["# Глава", "Раздел", "===", "---", "```", "~~~", "- a", "> b", "", "class A:", "👩‍💻", "\r"])
).map("\r\n".join)


def titles(text: str, layout: str = "markdown", start: int = 0) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in outline(text, layout=layout, start=start).headings]


def fences(text: str) -> list[str]:
    return [text[fence.start : fence.end] for fence in outline(text, layout="markdown").fences]


def test_headings_are_marked_or_underlined() -> None:
    assert titles("# Один\n\nДва\n===\n\nThree\n---\n\n#### Four ####\n#None\n") == [
        (1, "Один"),
        (1, "Два"),
        (2, "Three"),
        (4, "Four"),
    ]


@pytest.mark.parametrize(
    "text",
    ["```\n# no\n```\n", "~~~~ py\n```\n# no\n~~~\n# no\n~~~~\n", "```\n# no\n", "    # no\n", "- item\n\n  ```\n  # no\n  ```\n",
     "> # quoted\n", "- # listed\n", "<div>\n# no\n</div>\n", "<!--\n# no\n-->\n"],
)  # fmt: skip
def test_code_quotes_lists_and_html_hold_no_heading_of_the_page(text: str) -> None:
    assert titles(text) == []


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# **Bold** and `code_name`", "Bold and code_name"),
        ("# [Установка](docs/install.md) и ![logo](x.png)", "Установка и logo"),
        ("# Настройка {#setup}", "Настройка"),
        ('# <a name="x"></a>Якорь', "Якорь"),
        ("# 1\\. Введение", "1. Введение"),
        ("# snake_case stays, _emphasis_ goes", "snake_case stays, emphasis goes"),
        ("# List<int> `*`", "List<int>"),
        ("# ***", "***"),
        ("#", ""),
    ],
)
def test_a_title_is_bare_of_markup(line: str, title: str) -> None:
    assert titles(line) == [(1, title)]


def test_a_long_title_is_cut() -> None:
    [(_, title)] = titles("# " + "слово " * 100)
    assert len(title) <= TITLE_LIMIT
    assert title.endswith("…")


def test_a_fence_stands_with_its_marks_wherever_it_is() -> None:
    assert fences("a\n\n```py\nx\n```\n\n~~~\n```\n~~~\n") == ["```py\nx\n```", "~~~\n```\n~~~"]
    assert fences("1. шаг\n\n   ```\n   x\n   ```\n2. шаг\n") == ["```\n   x\n   ```"]
    assert fences("```\nunclosed\n\n") == ["```\nunclosed"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_sort_give_the_same_headings_at_their_places(end: str) -> None:
    text = end.join(["intro", "", "# Один", "", "```", "# no", "```", "Two", "===", ""])
    found = outline(text, layout="markdown")
    assert [text[heading.start : heading.end].split(end)[0] for heading in found.headings] == ["# Один", "Two"]
    assert [text[fence.start : fence.end] for fence in found.fences] == [end.join(["```", "# no", "```"])]


def test_what_stands_before_the_body_is_no_heading() -> None:
    header = "---\ntitle: x\n---\n"
    assert titles(header + "# Body\n", start=len(header)) == [(1, "Body")]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def find(self):", "find"),
        ("async def find(", "find"),
        ("class Найти(Base):", "Найти"),
        ("export default function render(props) {", "render"),
        ("func (s *Store) Find(id string) error {", "Find"),
        ("type Store struct {", "Store"),
        ("pub(crate) fn find<T>(at: T) -> T {", "find"),
        ("impl<T> Store for Vault<T> {", "Store"),
        ("public static class Store : Base", "Store"),
        ("interface Store extends Base {", "Store"),
        ("CREATE TABLE IF NOT EXISTS memories (", "memories"),
        ("module Zapomni", "Zapomni"),
        ("[tool.ruff]", "tool.ruff"),
        ("[[package]]", "package"),
    ],
)
def test_definitions_of_many_languages_are_headings_of_code(line: str, name: str) -> None:
    assert [title for _, title in titles(f"x = 1\n\n{line}\n  body\n", "lines")] == [name]


@pytest.mark.parametrize(
    "line",
    [
        "class of its own",
        "type the word (twice)",
        "defer x()",
        "classify(x)",
        '["a", "b"]',
        "[1]",
        "# def old():",
        "return type",
    ],
)
def test_sentences_and_calls_are_none(line: str) -> None:
    assert titles(line + "\n", "lines") == []


def test_a_definition_is_as_deep_as_its_indentation_and_begins_with_its_comments() -> None:
    text = (
        "x = 1\n# о хранилище\n@frozen\nclass Store:\n    @cached\n    def find(self):\n        pass\n\ndef after():\n"
    )
    found = outline(text, layout="lines").headings
    assert [(heading.level, heading.title) for heading in found] == [(0, "Store"), (4, "find"), (0, "after")]
    assert [text[heading.start :].split("\n", 1)[0].strip() for heading in found] == [
        "# о хранилище",
        "@cached",
        "def after():",
    ]


def test_prose_has_underlined_titles_in_the_order_of_their_lines() -> None:
    text = "=====\nКнига\n=====\n\nГлава\n=====\n\ntext\n\nРаздел\n------\n\nГлава 2\n=======\nПодряд\n------\n"
    assert titles(text, "prose") == [(0, "Книга"), (1, "Глава"), (2, "Раздел"), (1, "Глава 2"), (2, "Подряд")]


@pytest.mark.parametrize(
    "text",
    [
        "a paragraph\nof text\n-------\n",
        "-----\n-----\n",
        "\n-----\ntext\n",
        "Длинный заголовок\n---\n",
        "x" * 300 + "\n----\n",
    ],
)
def test_rules_and_paragraphs_are_no_titles_of_prose(text: str) -> None:
    assert titles(text, "prose") == []


@given(ANY, st.sampled_from(["markdown", "lines", "prose"]))
def test_headings_and_fences_stand_in_order_within_any_text(text: str, layout: str) -> None:
    found = outline(text, layout=layout)
    edges = [at for heading in found.headings for at in (heading.start, heading.end)]
    assert edges == sorted(edges)
    assert all(0 <= at <= len(text) for at in edges)
    edges = [at for fence in found.fences for at in (fence.start, fence.end)]
    assert edges == sorted(edges)
    assert all(0 <= at <= len(text) for at in edges)
    assert all(len(heading.title) <= TITLE_LIMIT for heading in found.headings)


@given(st.text(st.sampled_from("a\r\n ")))
def test_evening_line_ends_moves_no_character(text: str) -> None:
    flat = even(text)
    assert len(flat) == len(text)
    assert "\r" not in flat
    assert flat.count("\n") == len(text.replace("\r\n", "\n").replace("\r", "\n")) - len(
        text.replace("\r", "").replace("\n", "")
    )
