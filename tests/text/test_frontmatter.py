"""The header of a note: read, left to the body with its problem named, or not there."""

from __future__ import annotations

from datetime import date

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from zapomni.text.frontmatter import DEPTH, LIMIT, Header, frontmatter

OTTER = "---\ntitle: Otter\ntags: [river]\n---\nBody\n"


@pytest.mark.parametrize(
    "text",
    [
        OTTER,
        OTTER.replace("\n", "\r\n"),
        OTTER.replace("---\n", "---  \t\n"),
        OTTER.replace("---\nBody", "...\nBody"),
        OTTER.replace("---\nBody\n", "---"),
        OTTER.replace("---\nBody\n", "---\r"),
    ],
)
def test_a_header_is_read_however_it_was_saved(text):
    header = frontmatter(text)
    assert header.values == {"title": "Otter", "tags": ["river"]}
    assert text[header.start :].strip() in {"Body", ""}
    assert header.problem is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "Body",
        "---\n\nA page that begins with a rule. heron4\n",
        " ---\na: b\n---\n",
        "----\na: b\n----\n",
    ],
)
def test_a_page_without_a_closed_header_is_all_body(text):
    assert frontmatter(text) == Header()


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("title: Roadmap: second half (Track: Sea)\ntags: [a]", 2),
        ("title: Win\npath: `C:\\jobs\\nightly`", 3),
        ("title: *draft*", 2),
        ("title: W\nlinks:\n  - [[Alpha]]beta", 4),
        ("title: T\nmeta:\n\tkey: v", 4),
        ("- a\n- b", 2),
        ("просто слова", 2),
        ("a: &x [1]\nb: *x", 3),
        ("a: 2024-13-45", 2),
        ("a: !!int ''", 2),
        ("a: !!python/object:os.system x", 2),
        ("? [a]\n: b", 2),
        ("a: \x01", 2),
        ("9" * 5000 + ": b", 2),
        ("a: " + "[" * 5000, 2),
        ("a: b\n" * LIMIT, 2),
    ],
)
def test_a_header_that_cannot_be_read_is_left_to_the_body_and_its_line_named(block, line):
    header = frontmatter(f"---\n{block}\n---\nheron\n")
    assert (header.start, header.values) == (0, {})
    assert header.problem is not None
    assert header.problem.startswith(f"line {line}: ")
    assert "\n" not in header.problem


def test_two_headers_one_behind_the_other_are_merged_and_the_first_value_wins():
    text = "---\npermalink: x/two\na: 1\n---\n\n---\ntitle: Настоящий\na: 2\n---\nheron8\n"
    header = frontmatter(text)
    assert header.values == {"permalink": "x/two", "a": 1, "title": "Настоящий"}
    assert text[header.start :] == "heron8\n"


def test_a_rule_behind_the_header_belongs_to_the_body():
    text = "---\ntitle: T\n---\n\n---\nProse between rules\n---\nmore\n"
    header = frontmatter(text)
    assert text[header.start :].startswith("\n---\nProse")
    assert header.problem is None


def test_a_second_header_that_cannot_be_read_leaves_the_first_and_is_named():
    text = "---\na: 1\n---\n---\ntitle: *x*\n---\nbody"
    header = frontmatter(text)
    assert header.values == {"a": 1}
    assert text[header.start :].startswith("---\ntitle")
    assert str(header.problem).startswith("line 5: ")


def test_an_empty_header_is_a_header():
    assert frontmatter("---\n---\nbody") == Header(start=8)


def test_values_are_what_yaml_makes_of_them_and_keys_are_texts():
    header = frontmatter("---\ndate: 2024-03-01\n7: one\nyes: no\nключ: значение\n---\n")
    assert header.values == {"date": date(2024, 3, 1), "7": "one", "True": False, "ключ": "значение"}


_WORDS = st.sampled_from(
    ["name", "type", "note-1", "ключ", "Yes", "no", "Null", "on", "y", "1e3", "é", "²", "ª", "-", "~"]
)
_VALUES = st.one_of(_WORDS, st.text(alphabet="aя1 .,:;!?/()+\"'`«—–-#&*%@|>[{=\t\r\x85\u2028\u0301\ufeff", max_size=8))
_LINES = st.tuples(st.sampled_from(["", "", "  ", " ", "    "]), _WORDS, st.sampled_from([":", ": ", ":  "]), _VALUES)


@given(st.lists(_LINES, max_size=4).map(lambda lines: "".join("".join((*line, "\n")) for line in lines)))
@example("name: note-1\nmetadata:\n  type: user\n  node: b\nключ: значение - «и» (т.д.)  \n")
@example("a:\n  b: c\na:\n  d: e\na: f\n")
@example("a: b\n  c: d\n")
def test_plain_headers_say_what_yaml_makes_of_them(block):
    header = frontmatter(f"---\n{block}---\n")
    try:
        expected = yaml.load(block, yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError):
        expected = "no YAML"
    said = {} if expected is None else expected
    assert (header.problem is None) == isinstance(said, dict)
    assert header.values == ({str(key): value for key, value in said.items()} if isinstance(said, dict) else {})


def test_deep_but_bounded_nesting_is_read():
    assert frontmatter("---\na: " + "[" * (DEPTH - 1) + "]" * (DEPTH - 1) + "\n---\n").start > 0
    nested = "".join(" " * depth + "a:\n" for depth in range(DEPTH + 5))
    assert "nested more than" in str(frontmatter(f"---\n{nested}---\n").problem)


@given(st.text(alphabet="-.ab:*&[]{}'\"!?|>#%@`\\\t\r\n ё1\x00\ud800", max_size=60))
def test_no_text_makes_it_raise_and_the_body_lies_within_the_text(text):
    for whole in (text, f"---\n{text}\n---\n", f"---\na: b\n---\n{text}"):
        header = frontmatter(whole)
        assert 0 <= header.start <= len(whole)
        assert header.start == 0 or whole.startswith("---")
