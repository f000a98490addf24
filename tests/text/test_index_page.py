"""The index page of a memory folder: its lines are ours, everything else is whoever's wrote it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zapomni.text.index_page import (
    LINE_LIMIT,
    Entry,
    entry_of,
    line_of,
    loaded,
    parse_index,
    target_key,
    with_entries,
)

TABS = "- [Tabs not spaces](tabs-not-spaces.md) — indentation rule for this repo\n"
OWNER = "- [Кто подписывает](кто-подписывает.md) — кто выпускает релизы\n"
NAMES = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"), exclude_characters="\\/"), min_size=1
).map(lambda name: f"{name}.md")
ENTRIES = st.lists(
    st.builds(entry_of, st.text(max_size=80), NAMES, st.text(max_size=300)),
    max_size=6,
    unique_by=lambda entry: target_key(entry.target),
)
FOREIGN = st.sampled_from(
    [
        "# Память\n",
        "\n",
        "Rules first. See [the guide](../docs/guide.md).\n",
        "- a point of its own\r\n",
        "- [Site](https://example.com/) — not a file\n",
        "```\n- [In code](code.md) — nobody's\n```\n",
        "| a | b |\n",
        "- [One](one.md) and [two](two.md)\n",
        "```\n",
        "text without an end",
    ]
)
PAGES = st.lists(st.one_of(FOREIGN, ENTRIES.map(lambda found: "".join(line_of(one) + "\n" for one in found)))).map(
    "".join
)


def entries_of(text):
    return [line.entry for line in parse_index(text).entries]


def test_a_line_is_a_title_a_file_and_a_hook():
    assert entries_of(TABS + OWNER) == [
        Entry(title="Tabs not spaces", target="tabs-not-spaces.md", hook="indentation rule for this repo"),
        Entry(title="Кто подписывает", target="кто-подписывает.md", hook="кто выпускает релизы"),
    ]


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("* [A](a.md): why\r\n", "a.md"),
        ("  - [A](./sub/a.md)\n", "./sub/a.md"),
        ("- [A (old)](<a b (1).md>) - why", "a b (1).md"),
        ("- [A](a%20b.md#part) – why", "a b.md"),
        ("- [[tabs-not-spaces]] — why\n", "tabs-not-spaces.md"),
        ("- [[tabs|Tabs]]\n", "tabs.md"),
        ("\ufeff- [A](a.md) — first line of a page with a mark\n", "a.md"),
    ],
)
def test_lines_that_people_write_otherwise_are_known_too(line, target):
    (entry,) = entries_of(line)
    assert entry.target == target


@pytest.mark.parametrize(
    "line",
    [
        "- [A](https://a.md) — x\n",
        "- [A](mailto:a@b.md)\n",
        "[A](a.md) — x\n",
        "- [A](a.md) x\n",
        "- [A]\n",
        "# [A](a.md)\n",
    ],
)
def test_other_lines_are_nobody_s_entry(line):
    assert entries_of(line) == []


@pytest.mark.promise("index.line")
@given(st.text(max_size=400), NAMES, st.text(max_size=2_000))
@example("tabs-not-spaces", "tabs-not-spaces.md", "Indent with tabs in this repo")
@example("Почему мы не берём вектор-БД " * 7, "вектор.md", "порог пересмотра " * 40)
@example("see [[other]] and [x](y.md)", "a.md", "as in [[other|that]] and [x](y.md)")
def test_a_line_of_a_memory_has_at_most_150_characters_and_is_read_as_it_was_meant(title, target, description):
    entry = entry_of(title, target, description)
    line = line_of(entry)
    assert len(line) <= max(LINE_LIMIT, len(line_of(Entry(title="", target=target))))
    assert "\n" not in line
    (read,) = parse_index(line + "\n").entries
    assert read.links == (target_key(target),)


def test_a_russian_line_has_as_many_letters_as_an_english_one():
    line = line_of(
        entry_of("Правило", "rule.md", "почему мы не берём вектор-БД для памяти агента, порог пересмотра " * 3)
    )
    assert 140 < len(line) <= LINE_LIMIT < len(line.encode())
    assert line.endswith("…")
    assert line_of(entry_of("tabs-not-spaces", "t.md", "Indent")) == "- [Tabs not spaces](t.md) — Indent"


@pytest.mark.promise("index.kept")
@given(PAGES, ENTRIES)
def test_writing_entries_twice_changes_nothing_more_and_loses_no_line(text, wanted):
    once = with_entries(text, wanted)
    assert with_entries(once, wanted) == once
    kept = iter(once.splitlines())
    assert all(line in kept for line in text.splitlines())  # in their order
    linked = [link for line in parse_index(once).lines for link in line.links]
    assert {target_key(one.target) for one in wanted} <= set(linked)
    before = [link for line in parse_index(text).lines for link in line.links]
    for one in wanted:
        key = target_key(one.target)
        assert linked.count(key) == max(1, before.count(key))


@pytest.mark.promise("index.kept")
@given(PAGES, ENTRIES, ENTRIES)
def test_only_a_line_that_the_program_wrote_is_written_anew(text, old, new):
    written = with_entries(text, old)
    former = {line_of(entry) for entry in old}
    again = with_entries(written, new, former=former)
    touched = {target_key(entry.target) for entry in new}
    others = [line.text.rstrip("\r\n") for line in parse_index(written).lines if not touched & set(line.links)]
    kept = iter(again.split("\n"))
    assert all(line in (one.rstrip("\r") for one in kept) for line in others)
    assert with_entries(again, new, former=former) == again


@pytest.mark.promise("index.kept")
def test_a_hook_that_a_person_wrote_stays_when_the_memory_s_description_changes():
    ours = line_of(entry_of("Owner", "owner.md", "who signs"))
    text = f"{TABS}{ours}\n"
    wanted = [
        entry_of("Tabs", "tabs-not-spaces.md", "other words"),
        entry_of("Owner", "owner.md", "who signs releases"),
    ]
    assert with_entries(text, wanted, former={ours}) == f"{TABS}- [Owner](owner.md) — who signs releases\n"


def test_a_renamed_file_keeps_its_line_and_its_place_and_a_deleted_one_loses_it():
    text = f"# Index\r\n\r\n{TABS}{OWNER}- [[old-name|Old]] — mine\r\nThe end"
    became = {"tabs-not-spaces.md": "tabs (2).md", "кто-подписывает.md": None, "old-name.md": "new-name.md"}
    assert with_entries(text, [], became=became) == (
        "# Index\r\n\r\n- [Tabs not spaces](<tabs (2).md>) — indentation rule for this repo\n"
        "- [[new-name|Old]] — mine\r\nThe end"
    )


def test_new_lines_come_behind_the_last_entry_and_end_as_the_page_s_lines_do():
    wanted = [Entry(title="New", target="new.md", hook="why")]
    assert (
        with_entries("# I\r\n- [A](a.md)\r\n\r\nEnd", wanted)
        == "# I\r\n- [A](a.md)\r\n- [New](new.md) — why\r\n\r\nEnd"
    )
    assert with_entries("", wanted) == "- [New](new.md) — why\n"
    assert with_entries("# I", wanted) == "# I\n- [New](new.md) — why"
    assert with_entries("\ufeff# I\n", wanted) == "\ufeff# I\n- [New](new.md) — why\n"


@pytest.mark.promise("index.budget")
@given(st.text(max_size=2_000), st.integers(0, 12), st.integers(0, 900))
def test_what_is_loaded_and_what_is_cut_are_the_whole_page(text, lines, size):
    came = loaded(text, lines=lines, bytes=size)
    every = [line.text for line in parse_index(text).lines]
    head = "".join(every[: came.lines])
    assert came.lines <= lines
    assert came.bytes == len(head.encode()) <= size
    assert came.cut == tuple(range(came.lines + 1, len(every) + 1))
    assert "".join(every) == text


@pytest.mark.promise("index.budget")
def test_a_harness_loads_200_lines_or_25_000_bytes_whichever_comes_first():
    assert loaded("- [A](a.md)\n" * 203).cut == (201, 202, 203)
    assert loaded("- [A](a.md)\n" * 200).cut == ()
    russian = "- [Правило](rule.md) — " + "ж" * 90 + "\n"
    assert (len(russian), len(russian.encode())) == (114, 213)
    assert loaded(russian * 130).cut == tuple(range(118, 131))
    assert loaded(russian * 130).bytes == 117 * 213
