"""Cut, changed and random files: a reader gives an extract that holds together, or refuses."""

from __future__ import annotations

import random
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.readers.samples import FILES

from zapomni.readers.base import Extract, Unreadable
from zapomni.readers.registry import by_ending, reader_for

ROUNDS = 150
SLOW = {"report.pdf": 30}
"""Fewer rounds: each file of these is read by a process of its own."""


def check(reader, name, data):
    try:
        extract = reader.read(BytesIO(data), name)
    except Unreadable:
        return
    assert isinstance(extract, Extract)
    assert 0 <= extract.start <= len(extract.text)
    assert list(extract.pages) == sorted(extract.pages)
    assert all(0 <= at <= len(extract.text) for at in extract.pages)
    assert "\0" not in extract.text + extract.title
    (extract.text + extract.title + "".join(extract.tags + extract.notes)).encode("utf-8")


def changed(data, chance):
    made = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(made))
        match chance.randrange(4):
            case 0:
                made[at] = chance.randrange(256)
            case 1:
                del made[at : at + chance.randint(1, 20)]
            case 2:
                made[at:at] = chance.randbytes(chance.randint(1, 8))
            case _:
                made[at:at] = made[at : at + chance.randint(1, 200)]
        made = made or bytearray(b"x")
    return bytes(made)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_anywhere_is_read_or_refused(name):
    reader, data, rounds = reader_for(name, b""), FILES[name], SLOW.get(name, ROUNDS)
    for end in range(0, len(data), max(1, len(data) // rounds)):
        check(reader, name, data[:end])


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_changed_anywhere_is_read_or_refused(name):
    chance = random.Random(name)
    reader = reader_for(name, b"")
    for _ in range(SLOW.get(name, ROUNDS)):
        check(reader, name, changed(FILES[name], chance))


@settings(max_examples=60)
@given(st.binary(max_size=400), st.sampled_from(sorted(by_ending())))
def test_random_bytes_are_read_or_refused_by_every_reader(data, ending):
    check(by_ending()[ending], f"name{ending}", data)


@settings(max_examples=100)
@given(st.text(alphabet="<>/!-[]?a='\" &;pulitder\n", max_size=200), st.sampled_from(["a.html", "a.md", "a.ipynb"]))
def test_any_markup_is_read_or_refused(text, name):
    check(reader_for(name, b""), name, text.encode())
