"""Notes as files: what is not changed stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from zapomni.errors import InvalidInput
from zapomni.model import About
from zapomni.text.notes import edited_note, links_of, new_note, parse_note, plain_body, slug

LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=12)
BODIES = st.lists(LINES, max_size=5).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)
TITLES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=30).map(
    lambda text: " ".join(text.split())
)
HEADERS = (
    "---\nname: a\n---\n",
    "\ufeff---\r\nname: 'a' # why\r\nmetadata: {type: user, pinned: true}\r\nother: [1, 2]\r\n---\r\n",
    '---  \ntitle: "a"\ndescription: >-\n  folded\n  text\nx: y\n---  \n',
    "---\n# a comment\nname: a\ntags:\n- b\n- c\nmetadata:\n    pinned: false\n    z: 1\n---",
)


@given(st.sampled_from(HEADERS), BODIES)
def test_an_edit_that_changes_nothing_changes_no_byte(header, body):
    text = header + ("" if header.endswith("-") else body)
    note = parse_note(text)
    assert edited_note(text, body=note.body) == text
    assert edited_note(text) == text


@pytest.mark.promise("mirror.untouched")
@settings(max_examples=60)
@given(st.sampled_from(HEADERS), TITLES.filter(bool), TITLES, st.sampled_from([*About, None]), st.booleans())
def test_changed_values_are_read_back_and_every_other_line_stays(header, title, description, about, pinned):
    text = f"{header}\nbody\n" if not header.endswith("---") else header
    wanted = {"title": title, "description": description, "about": about, "pinned": pinned}
    after = edited_note(text, **wanted)
    note = parse_note(after)
    assert (note.name, note.description, note.about, note.pinned) == (title, description, about, pinned)
    assert note.problem is None
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert after.count("\r\n") >= text.count("\r\n") - 1
    assert (after.count("\n") == after.count("\r\n")) == (text.count("\n") == text.count("\r\n"))
    for line in ("# a comment\n", "other: [1, 2]\r\n", "x: y\n", "tags:\n- b\n- c\n", "z: 1\n", " # why\r\n"):
        assert (line in after) == (line in text)
    assert after.endswith("body\n") == text.endswith("body\n")


@given(
    TITLES, TITLES, BODIES, st.sampled_from([*About, None]), st.booleans(), st.lists(TITLES.filter(bool), max_size=3)
)
@example("Memory", "", "the name of the index page", None, False, [])
@example("LPT1", "", "", None, False, [])
def test_a_note_of_our_own_reads_back_as_what_was_written(title, description, body, about, pinned, tags):
    name = slug(title, "m234")
    tags = tuple(dict.fromkeys(tags))
    text = new_note(
        name=name,
        title=title,
        description=description,
        about=about,
        pinned=pinned,
        body=body,
        memory_id="m234",
        tags=tags,
    )
    note = parse_note(text)
    assert ("" if note.untitled else note.name) == title
    assert (note.description, note.about, note.pinned, note.memory_id) == (description, about, pinned, "m234")
    assert (note.body, note.tags or (), note.problem) == (plain_body(body), tags, None)


@given(BODIES, BODIES)
def test_a_new_body_keeps_the_line_ends_and_what_stands_around_it(old, new):
    for frame in ("---\nname: a\n---\n\n{}\n\n", "\ufeff---\r\nname: a\r\n---\r\n{}\r\n", "{}\n"):
        text = frame.format(old)
        try:
            after = edited_note(text, body=new)
        except InvalidInput:
            continue
        assert parse_note(after).body == plain_body(new)
        assert after.startswith(frame.partition("{")[0])


@pytest.mark.promise("mirror.refused")
@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: a: b\n---\nx\n",
        "---\nmeta:\n\tkey: v\n---\nx\n",
        "---\ntitle: *draft*\n---\nx\n",
        "---\nlinks:\n  - [[Alpha]]beta\n---\nx\n",
        "---\npermalink: x\n---\n\n---\ntitle: R\n---\nx\n",
        "---\n{name: a}\n---\nx\n",
        "no header\n",
    ],
)
def test_a_header_that_cannot_be_changed_safely_is_refused(text):
    with pytest.raises(InvalidInput):
        edited_note(text, description="new")
    with pytest.raises(InvalidInput):
        edited_note(text, tags=("new",))


def test_a_broken_header_is_body_and_its_line_is_named():
    note = parse_note("---\nname: fine\ntitle: a: b\n---\nтело\n")
    assert note.body == "---\nname: fine\ntitle: a: b\n---\nтело"
    assert (note.problem or "").startswith("line 3: ")


def test_links_are_read_outside_of_code():
    body = "[[a]] [[Ёж в лесу|ёж]] [[b#part]] `[[c]]`\n```\n[[d]]\n```\n\\[[e]] [[a]]"
    assert links_of(body) == ("a", "Ёж в лесу", "b")


def test_names_of_files_are_words_in_any_script_and_never_a_device():
    assert slug("Выпуски: когда, как?", "id") == "выпуски-когда-как"
    assert slug("***", "id") == "id"
    assert slug("CON", "id") == "con-id"
    assert slug("Memory", "id") == "memory-id"
    assert len(slug("слово " * 40, "id")) <= 60
