"""How documents are cut: what stays whole, what each piece knows, and what a change leaves alone."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.test_hostile import LENGTH, STEEPEST, repeated, steepness

from zapomni.model.document import Chunk
from zapomni.text.chunks import CHANGES_WEIGHT, CONTENTS_WEIGHT, SOURCES_WEIGHT, TRAIL_LIMIT, chunks
from zapomni.text.clusters import is_edge

SIZE, OVERLAP = 200, 60
LAYOUTS = ["markdown", "lines", "prose"]
WORDS = [
    "слово",
    "word",
    "a",
    "конец.",
    "End!",
    "漢字。",
    "👩‍💻",
    "👍🏽🇷🇺",
    "e\u0301",
    "x" * 70,
    "🇬🇧" * 120,
    "я" * 450,
    "т.",
    "`код`",
]
BREAKS = [" ", "  ", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\n\n\n \n", "\n    ", "\n- ", "\n> "]
LINES = [
    "# Глава\n",
    "\n## Part\n",
    "\n### Мелочь\n",
    "\nРаздел\n===\n",
    "\n```\n",
    "\n~~~ py\n",
    "\n````\n",
    "\ndef имя():\n",
    "\n  class A:\n",
    "\n| a | b |\n",
]
ANY = st.text(max_size=600) | st.lists(st.sampled_from(WORDS + BREAKS + LINES), max_size=150).map("".join)


def sentence(words: int, word: str = "слово") -> str:
    return " ".join([word] * (words - 1)) + " конец."


def page(count: int, words: int) -> str:
    return "\n\n".join(f"Абзац {no}. {sentence(words)}" for no in range(count))


def texts(text: str, layout: str = "markdown", size: int = SIZE, overlap: int = OVERLAP) -> list[str]:
    return [chunk.text for chunk in chunks(text, layout=layout, size=size, overlap=overlap)]


def trails(text: str, layout: str = "markdown", size: int = SIZE) -> list[tuple[str, ...]]:
    return [chunk.trail for chunk in chunks(text, layout=layout, size=size, overlap=OVERLAP)]


def evened(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def breaks_a_cluster(text: str, at: int) -> bool:
    beside_space = at in {0, len(text)} or text[at - 1].isspace() or text[at].isspace()
    return not (beside_space or is_edge(text, at)) and any(is_edge(text, edge) for edge in range(at - 63, at))


@given(ANY, st.sampled_from(LAYOUTS))
def test_every_character_that_shows_stands_in_a_piece(text: str, layout: str) -> None:
    seen = set[int]()
    for chunk in chunks(text, layout=layout, size=SIZE, overlap=OVERLAP):
        seen.update(range(chunk.start, chunk.end))
    assert all(char.isspace() for at, char in enumerate(text) if at not in seen)


@given(ANY, st.sampled_from(LAYOUTS))
def test_pieces_are_the_text_of_their_spans_in_order_and_within_the_size(text: str, layout: str) -> None:
    found = chunks(text, layout=layout, size=SIZE, overlap=OVERLAP)
    for chunk in found:
        assert chunk.text == evened(text[chunk.start : chunk.end])
        assert chunk.text.strip()
        assert chunk.end - chunk.start <= SIZE
        assert len(chunk.trail) <= TRAIL_LIMIT
    for before, after in pairwise(found):
        assert before.start < after.start
        assert before.end < after.end
        assert before.end - after.start <= OVERLAP


@given(ANY, st.sampled_from(LAYOUTS), st.integers(0, 100))
def test_lines_are_those_that_an_editor_counts(text: str, layout: str, start: int) -> None:
    for chunk in chunks(text, layout=layout, start=min(start, len(text)), size=SIZE, overlap=OVERLAP):
        assert chunk.start >= min(start, len(text))
        assert chunk.first_line == evened(text[: chunk.start]).count("\n") + 1
        assert chunk.last_line == chunk.first_line + chunk.text.count("\n")


@given(ANY, st.sampled_from(LAYOUTS))
def test_no_cluster_is_cut(text: str, layout: str) -> None:
    for chunk in chunks(text, layout=layout, size=SIZE, overlap=OVERLAP):
        assert not breaks_a_cluster(text, chunk.start)
        assert not breaks_a_cluster(text, chunk.end)


@given(
    st.lists(st.sampled_from([word for word in WORDS if word != "漢字。"] + BREAKS), max_size=150).map("".join),
    st.sampled_from(LAYOUTS),
)
def test_no_word_is_cut_that_fits(text: str, layout: str) -> None:
    found = chunks(text, layout=layout, size=SIZE, overlap=OVERLAP)
    edges = {edge for chunk in found for edge in (chunk.start, chunk.end)}
    for word in re.finditer(r"\S+", text):
        if len(word[0]) <= SIZE:
            assert not edges & set(range(word.start() + 1, word.end()))


@st.composite
def fenced(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A page, and its fences that fit."""
    parts, fences = [], []
    for mark in draw(st.lists(st.sampled_from(["```", "~~~", "````"]), min_size=1, max_size=6)):
        parts.append(sentence(draw(st.integers(1, 60))))
        other = "~~~" if mark == "```" else "```"
        inside = draw(
            st.lists(
                st.sampled_from(["x = 1", "", "# не заголовок", other, "    y", "Конец. Then", "👍🏽"]), max_size=30
            )
        )
        fences.append("\n".join([mark, *inside, mark]))
        parts.append(fences[-1])
    if draw(st.booleans()):
        fences.append("```\nunclosed\n\n# no heading")
        parts.append(fences[-1])
    return draw(st.sampled_from(["\n", "\n\n"])).join(parts), [fence for fence in fences if len(fence) <= SIZE]


@given(fenced(), st.sampled_from(["\n", "\r\n"]))
def test_no_fence_is_cut_that_fits_nor_begun_in_its_middle(made: tuple[str, list[str]], end: str) -> None:
    text, fences = made[0].replace("\n", end), [fence.replace("\n", end) for fence in made[1]]
    found = chunks(text, layout="markdown", size=SIZE, overlap=OVERLAP)
    at = 0
    for fence in [fence for fence in fences if len(fence) <= SIZE]:
        at = text.index(fence, at)
        inside = range(at + 1, at + len(fence))
        assert not any(chunk.start in inside or chunk.end in inside for chunk in found)
        assert any(chunk.start <= at and at + len(fence) <= chunk.end for chunk in found)
        at += len(fence)


SECTIONS = st.lists(st.integers(12, 120), min_size=2, max_size=12)


@given(SECTIONS, st.data())
def test_a_change_of_one_section_leaves_the_pieces_of_the_others(words: list[int], data: st.DataObject) -> None:
    changed = data.draw(st.integers(0, len(words) - 1))
    bodies = [f"Глава {no}\n===\n\n{sentence(count, f'слово{no}')}\n\n" for no, count in enumerate(words)]
    before = texts("".join(bodies))
    own = set(texts(bodies[changed]))
    bodies[changed] = f"Глава {changed}\n===\n\n{sentence(data.draw(st.integers(12, 200)), 'иначе')}\n\n"
    after = texts("".join(bodies))
    new = set(texts(bodies[changed]))
    assert [text for text in before if text not in own] == [text for text in after if text not in new]


def test_a_change_among_many_small_sections_is_not_felt_far() -> None:
    sections = [f"## Термин {no}\n\nОбъяснение {no}.\n\n" for no in range(300)]
    before = set(texts("".join(sections), size=2000))
    sections[150] = "## Термин 150\n\nСовсем другое и куда более длинное объяснение.\n\n"
    sections.insert(20, "## Новый\n\nТермин.\n\n")
    after = set(texts("".join(sections), size=2000))
    assert len(after) < 80
    assert len(after - before) < 12


@settings(max_examples=30)
@given(ANY, st.sampled_from(LAYOUTS))
def test_the_same_text_is_cut_the_same_way(text: str, layout: str) -> None:
    assert chunks(text, layout=layout) == chunks(text, layout=layout)


def test_white_space_is_no_piece() -> None:
    assert [texts(" \r\n\t\n", layout) for layout in LAYOUTS] == [[], [], []]


def test_a_section_that_fits_is_one_piece_with_its_heading_and_where_it_stands() -> None:
    header, body = "---\r\ntitle: x\r\n---\r\n", "# Установка\r\n\r\n" + sentence(100) + "\r\n"
    [chunk] = chunks(header + body, layout="markdown", start=len(header))
    assert chunk == Chunk(
        text=evened(body).rstrip(),
        start=len(header),
        end=len(header + body) - 2,
        first_line=4,
        last_line=6,
        trail=("Установка",),
    )


def test_pieces_know_every_heading_above_them() -> None:
    text = f"# Книга\n\n{page(1, 30)}\n\n## Часть\n\n{page(1, 30)}\n\n### Глава\n\n{page(2, 30)}\n\n## Another\n\n{page(1, 30)}\n"
    assert list(dict.fromkeys(trails(text))) == [
        ("Книга",),
        ("Книга", "Часть"),
        ("Книга", "Часть", "Глава"),
        ("Книга", "Another"),
    ]


def test_a_heading_with_nothing_below_it_opens_the_section_below() -> None:
    [first, second] = chunks(
        f"# Книга\n\n## Часть\n\n{sentence(30)}\n\n## Two\n\n{sentence(30)}",
        layout="markdown",
        size=SIZE,
        overlap=OVERLAP,
    )
    assert first.text.startswith("# Книга\n\n## Часть\n\nслово")
    assert first.trail == ("Книга", "Часть")
    assert second.text.startswith("## Two")


def test_small_neighbours_are_one_piece_below_what_they_share() -> None:
    text = f"# Словарь\n\n{sentence(40)}\n\n" + "".join(
        f"## {term}\n\n{term} — это.\n\n" for term in ("Яблоко", "Груша", "Слива")
    )
    assert trails(text, size=400) == [("Словарь",), ("Словарь",)]
    assert texts(text, size=400)[1].startswith("## Яблоко")


def test_small_sections_of_two_chapters_are_not_joined() -> None:
    text = "# Один\n\n" + sentence(90) + "\n\n## Конец\n\nМало.\n\n# Два\n\nМало.\n"
    assert trails(text, size=800) == [("Один",), ("Один", "Конец"), ("Два",)]


def test_paragraphs_come_before_items_before_sentences_before_words() -> None:
    assert texts(sentence(20) + "\n\n" + sentence(20), overlap=0) == [sentence(20)] * 2
    items = "\n".join(f"- {sentence(16)} Ещё." for _ in range(2))
    assert texts(items, overlap=0) == items.split("\n")
    assert texts(f"{sentence(20)} Новое {sentence(20)}", overlap=0) == [sentence(20), "Новое " + sentence(20)]
    assert texts(f"{sentence(20)} и т. д. " + sentence(20), overlap=0)[0].endswith(" слово")


def test_a_table_is_cut_between_its_rows() -> None:
    rows = [f"| {no} | значение. Второе |" for no in range(30)]
    assert all(row in rows for text in texts("\n".join(rows)) for row in text.split("\n"))


def test_each_piece_of_a_section_repeats_the_end_of_the_one_before() -> None:
    found = chunks(page(1, 30) + " " + page(4, 20), layout="prose", size=SIZE, overlap=OVERLAP)
    joints = [before.end - after.start for before, after in pairwise(found)]
    assert len(found) > 3
    assert max(joints) > 0
    assert all(not chunk.text[0].isspace() for chunk in found)


def test_code_is_cut_at_blank_lines_and_keeps_its_indentation() -> None:
    code = "def first():\n" + "    x = 1\n" * 12 + "\n" + "    y = 2\n" * 12
    assert texts(code, "lines", overlap=0) == ["def first():\n" + ("    x = 1\n" * 12)[:-1], ("    y = 2\n" * 12)[:-1]]


def test_functions_are_pieces_of_code_with_their_class_above() -> None:
    body = "        return 'слово'\n" * 4
    code = f'import os\n\n\n@frozen\nclass Store:\n    """Хранилище."""\n\n    def one(self):\n{body}\n    # второй\n    def two(self):\n{body}'
    assert trails(code, "lines", size=130) == [(), ("Store",), ("Store", "one"), ("Store", "two")]
    assert texts(code, "lines", size=130)[-1].startswith("    # второй\n    def two")


def test_a_fence_that_does_not_fit_is_cut_between_its_lines() -> None:
    lines = [f"call({no}). Then(x)" for no in range(40)]
    for text in texts("\n".join(["```", *lines, "```"])):
        assert all(line in {*lines, "```"} for line in text.split("\n"))


def test_a_file_of_one_line_is_cut_to_the_size() -> None:
    assert max(map(len, texts("var_a=1;" * 5000, "lines"))) == SIZE
    assert all(not text.startswith("ord") for text in texts("word " * 5000, "lines"))


def test_no_piece_stands_on_two_pages() -> None:
    pages = ["Первая страница.\n\n", "\n\n", page(3, 20) + "\n\n", "Last one."]
    text = "".join(pages)
    starts = [sum(map(len, pages[:no])) for no in range(len(pages))]
    found = chunks(text, layout="prose", size=SIZE, overlap=OVERLAP, pages=starts, lined=False)
    assert [chunk.page for chunk in found] == [1, 3, 3, 3, 4]
    assert all(starts[chunk.page - 1] <= chunk.start < chunk.end <= [*starts, len(text)][chunk.page] for chunk in found)
    assert all(chunk.first_line == chunk.last_line == 0 for chunk in found)


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("# 1. Содержание\n\n- Введение\n- Установка\n", CONTENTS_WEIGHT),
        ("Оглавление\n==========\n\nВведение\n", CONTENTS_WEIGHT),
        ("Введение .......... 3\nУстановка ........ 12\nGlossary . . . . . 40\n", CONTENTS_WEIGHT),
        ("## 📚 References\n\n1. Smith J. A paper on memory.\n", SOURCES_WEIGHT),
        ("# Список литературы\n\nИванов И. И. Память.\n", SOURCES_WEIGHT),
        ("- [Install](docs/install.md)\n- [Настройка](docs/setup.md)\n- https://example.org/docs\n", SOURCES_WEIGHT),
        ("zapomni==1.0 \\\n    --hash=sha256:" + "0a" * 32 + "\n    --hash=sha256:" + "1b" * 32, SOURCES_WEIGHT),
        ("# Changelog\n\n## 1.2.0\n\nIt is faster.\n", CHANGES_WEIGHT),
        ("# История изменений\n\nСтало быстрее.\n", CHANGES_WEIGHT),
        ("# Содержание серы в нефти\n\nДо 3 %.\n", 1.0),
        ("# Ссылки в C++\n\nУказатели.\n", 1.0),
        (
            "См. [раздел](a.md), [второй](b.md) и [третий](c.md): там сказано, как перенести хранилище на другую машину.",
            1.0,
        ),
        ("漢字" * 100, 1.0),
    ],
)
def test_contents_sources_and_what_machines_wrote_weigh_less(text: str, weight: float) -> None:
    layout = "prose" if "===" in text else "markdown"
    assert [chunk.weight for chunk in chunks(text, layout=layout)] == [weight]


def test_a_function_may_have_any_name() -> None:
    assert [chunk.weight for chunk in chunks("def references(self):\n    return self.links\n", layout="lines")] == [1.0]


def test_contents_are_not_joined_with_what_says_something() -> None:
    found = chunks("# Содержание\n\n- Введение\n\n# Введение\n\nЗдравствуйте.\n", layout="markdown")
    assert [chunk.weight for chunk in found] == [CONTENTS_WEIGHT, 1.0]


BLOCKS = ["# a\n", "a\n===\n", "```\n", "~~~\n", "> ", "- ", "  - a\n", "1. a\n   - b\n", "a\n\n", "[a]: b\n", "<div>\n", "<!--", "| a ", "def a():\n",
          "# a\ndef ", "export ", "[a](b) ", "[", "- [a](b)\n", "a .... 1\n", "```\nx\n```\n"]  # fmt: skip


@pytest.mark.parametrize("unit", BLOCKS, ids=ascii)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_block_makes_the_cut_slow(unit: str, layout: str) -> None:
    make = repeated(unit)
    slopes: list[float] = []
    while len(slopes) < 6 and (not slopes or slopes[-1] >= STEEPEST):
        slopes.append(steepness(lambda text: chunks(text, layout=layout), make(LENGTH // 4), make(LENGTH)))
    assert min(slopes) < STEEPEST
