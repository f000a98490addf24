"""PDF documents that ask for too much: they are refused, and nothing else is the worse for it."""

from __future__ import annotations

import sys
import zlib
from io import BytesIO

import pytest
from tests.readers.samples import pdf, stream

from zapomni.readers import pdf as reader
from zapomni.readers.base import Unreadable
from zapomni.readers.decode import MEGABYTE

TOO_MUCH = "it takes more memory or time than a document may"
PLAIN = pdf("Отчёт о насосе\nSecond line", "Page two", title="Отчёт")


def bomb(megabytes):
    page = stream("BT /F1 12 Tf 50 700 Td <21> Tj ET\n")
    packer = zlib.compressobj()
    packed = b"".join(packer.compress(b" " * MEGABYTE) for _ in range(megabytes)) + packer.flush()
    swollen = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream"
    made = pdf("x").replace(page, swollen)
    assert swollen in made
    return made


def refusal(data):
    with pytest.raises(Unreadable) as raised:
        reader.PDF.read(BytesIO(data), "план.pdf")
    return raised.value.message


def text(data):
    return reader.PDF.read(BytesIO(data), "план.pdf").text


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system bounds no memory")
def test_a_page_that_unpacks_to_more_memory_than_there_is_is_refused_and_the_next_file_read(monkeypatch):
    monkeypatch.setattr(reader, "MEMORY_LIMIT", 192 * MEGABYTE)
    assert len(data := bomb(128)) < MEGABYTE
    assert refusal(data) == TOO_MUCH
    assert text(PLAIN) == "Отчёт о насосе\nSecond line\n\nPage two"


def test_a_document_that_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(reader, "SECONDS", 0)
    assert refusal(PLAIN) == TOO_MUCH


@pytest.mark.parametrize(
    ("name", "limit", "reason"),
    [("PAGE_LIMIT", 1, "it has more than 1 pages"), ("TEXT_LIMIT", 20, "it has more than 20 characters")],
)
def test_a_document_with_too_many_pages_or_characters_is_refused(monkeypatch, name, limit, reason):
    monkeypatch.setattr(reader, name, limit)
    assert refusal(PLAIN) == reason


def test_modules_that_lie_where_a_person_works_are_not_taken_for_those_of_the_reader(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    assert text(PLAIN).startswith("Отчёт")


def test_a_reader_that_cannot_be_started_says_so(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "cannot be started" in refusal(PLAIN)
