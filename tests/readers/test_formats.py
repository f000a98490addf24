"""Every format: its text, title and tags, and what is refused."""

from __future__ import annotations

import sys
from contextlib import suppress
from io import BytesIO
from threading import Thread

import pytest
from tests.readers.samples import FILES, HTML, archive, docx, pdf

from zapomni.readers.base import Layout, Unreadable
from zapomni.readers.registry import reader_for

LONG = "9" * 5000


def read(name, data):
    data = data.encode() if isinstance(data, str) else data
    return reader_for(name, data[:64]).read(BytesIO(data), name)


def refusal(name, data):
    with pytest.raises(Unreadable) as caught:
        read(name, data)
    return caught.value.message


def body(extract):
    return extract.text[extract.start :]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("fence", ["---", "---  "])
def test_a_note_has_title_and_tags_of_its_header_and_a_body_without_it(mark, end, fence):
    text = f"{fence}\ntitle: Otter 2\ntags: [river]\n{fence}\nBody of otter.\n".replace("\n", end)
    note = read("2.md", mark + text.encode())
    assert (note.title, note.tags, body(note)) == ("Otter 2", ("river",), f"Body of otter.{end}")
    assert (note.text, note.layout, note.encoding, note.lined, note.notes) == (text, Layout.MARKDOWN, "utf-8", True, ())


@pytest.mark.parametrize(
    ("tags", "read_as"),
    [
        ("[a, '#b', a]", ("a", "b")),
        ("один, два  три", ("один", "два", "три")),
        ("'#one #two'", ("one", "two")),
        ("\n- 2024\n- 2024-03-01\n- [nested]\n- {k: v}\n- ''", ("2024", "2024-03-01")),
        ("{a: b}", ()),
        ("", ()),
        (LONG, ()),
    ],
)
def test_tags_are_a_list_or_words(tags, read_as):
    assert read("a.md", f"---\ntags: {tags}\n---\n").tags == read_as


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Первый заголовок ##\n\n# Второй", "Первый заголовок"),
        ("intro\n\nSetext *title*\n======\n", "Setext *title*"),
        ("```\n# not this\n```\n# This C#\n", "This C#"),
        ("~~~~ py\n~~~\n# not this\n~~~~\n# This\n", "This"),
        ("## only second\n====\n", "## only second"),
        ("para one\n\n# H\n", "H"),
        ("plain #tag\n#also a tag\n", "note"),
        ("===\n# H\n", "H"),
        ("# \n", "note"),
        ("---\ntitle: 7\n---\n# H", "7"),
        (f"---\ntitle: {LONG}\n---\n# H", "H"),
        ("---\ntitle: [a]\n---\n# H", "H"),
        ('---\ntitle: "two\\nlines \\0"\n---\n', "two lines \ufffd"),
        ("", "note"),
    ],
)
def test_a_note_is_called_by_its_header_else_its_first_heading_else_its_name(text, title):
    assert read("note.md", text).title == title


def test_a_title_without_end_is_cut():
    assert len(read("note.md", "# " + "слово " * 1000).title) <= 200


def test_a_header_that_cannot_be_read_is_searched_and_named():
    note = read("colon.md", "---\ntitle: Roadmap: second half\n---\nheron2\n")
    assert (note.start, note.title) == (0, "colon")
    assert note.notes == ("frontmatter cannot be read at line 2: mapping values are not allowed in this context",)


@pytest.mark.parametrize(
    ("name", "text", "layout", "title"),
    [
        ("code.py", "import os\n", Layout.LINES, "code.py"),
        ("Makefile", "all:\n\ttrue\n", Layout.LINES, "Makefile"),
        ("tool", "#!/bin/sh\necho\n", Layout.LINES, "tool"),
        ("LICENSE", "Apache License\n", Layout.PROSE, "LICENSE"),
        ("guide.rst", "=====\nТитул\n=====\n\ntext\n", Layout.PROSE, "Титул"),
        ("guide.txt", "Отчёт\r\n-----\r\ntext", Layout.PROSE, "Отчёт"),
        ("plain.txt", "no heading\n--\n", Layout.PROSE, "plain.txt"),
        ("data.JSON", "{}", Layout.LINES, "data.JSON"),
        ("x.unknown", "слова", Layout.PROSE, "x.unknown"),
        (".gitignore", "*.o", Layout.LINES, ".gitignore"),
    ],
)
def test_text_is_as_it_is_and_cut_by_what_it_is(name, text, layout, title):
    extract = read(name, text)
    assert (extract.text, extract.layout, extract.title, extract.start) == (text, layout, title, 0)
    assert extract.lined


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.json", "a", "a.html", "a.ipynb"])
def test_a_picture_under_another_name_is_named(name):
    assert refusal(name, b"\x89PNG\r\n\x1a\n\0\0") == "it is a PNG image, not text"


def test_a_pdf_has_the_text_of_its_pages_and_where_each_begins():
    report = read("r.pdf", pdf("Отчёт о насосе\nSecond line", "Page two", "Третья", title="Отчёт за май"))
    assert report.text == "Отчёт о насосе\nSecond line\n\nPage two\n\nТретья"
    assert [report.text[at:].split()[0] for at in report.pages] == ["Отчёт", "Page", "Третья"]
    assert (report.title, report.lined, report.format) == ("Отчёт за май", False, "pdf")
    assert read("r.pdf", pdf("Первая строка\nВторая")).title == "Первая строка"
    assert reader_for("no-ending", pdf("x")[:9]).name == "pdf"


def test_a_pdf_with_a_broken_title_is_called_by_its_first_line():
    broken = pdf("Первая строка", title="zz").replace(b"<feff007a007a>", b"<feffd800007a>")
    assert read("r.pdf", broken).title == "Первая строка"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf("x", locked=True), "locked with a password"),
        (pdf("x" * 40)[:300], "cut, damaged or something else"),
        (b"just text", "cut, damaged or something else"),
        (b"", "cut, damaged or something else"),
        (pdf(""), "it has no text, only images"),
    ],
)
def test_a_pdf_without_words_to_read_is_refused_with_its_reason(data, reason):
    assert reason in refusal("r.pdf", data)


def test_pdfs_are_read_by_many_threads():
    made = pdf("Отчёт о насосе", "Page two")
    texts = []
    threads = [Thread(target=lambda: texts.append(read("r.pdf", made).text)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["Отчёт о насосе\n\nPage two"] * 8


def test_a_word_document_becomes_markdown():
    letter = read("p.docx", docx("# Письмо", "Договор продлён snake_case до мая"))
    assert letter.text == "# Письмо\n\nДоговор продлён snake_case до мая"
    assert (letter.title, letter.layout, letter.lined) == ("Письмо", Layout.MARKDOWN, False)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (docx("x")[:200], "cut, damaged or something else"),
        (b"text", "cut, damaged or something else"),
        (archive({"a.txt": "x"}), "no DOCX document that can be read"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "locked with a password, or an old .doc"),
        (docx("x", extra="<w:p>" + "0" * 25_000_000 + "</w:p>"), "unpacked it is larger than 20 MB"),
        (docx("x", extra="<w:ins>" * 3_000 + "</w:ins>" * 3_000), "nested too deep"),
        (docx("x").replace(b"PK\x01\x02", b"PK\x01\x03"), "cut, damaged or something else"),
    ],
)
def test_a_word_document_that_is_broken_or_a_bomb_is_refused(data, reason):
    assert reason in refusal("p.docx", data)


def test_a_page_becomes_markdown_without_scripts_styles_and_navigation():
    page = read("p.html", HTML)
    assert page.title == "Журнал смены"
    assert page.text.startswith("# Журнал\n\nНасос **снят** с линии.\n")
    for kept in ("first_item", "второй", "| 2024 | третий |", "a < b"):
        assert kept in page.text
    for dropped in ("hidden", "color", "Menu", "example.org", "Журнал смены"):
        assert dropped not in page.text
    assert (page.layout, page.lined) == (Layout.MARKDOWN, False)


@pytest.mark.parametrize("charset", ["windows-1251", "koi8-r", "utf-8", "no-such"])
def test_a_page_is_read_in_the_encoding_that_it_names_or_is_in(charset):
    real = "cp1251" if charset == "no-such" else charset
    data = f'<meta http-equiv="Content-Type" content="text/html; charset={charset}"><p>Ёж живёт в лесу'.encode(real)
    assert read("p.html", data).text == "Ёж живёт в лесу"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("page.html", "page.html"),
        ("<?xml version='1.0'?><html><p>x</html>", "x"),
        ("<head><title>T</title><body>words stay", "words stay"),
        ("<p>one<p>two" * 500, None),
        ("1 < 2 <!-- hidden", "1 < 2"),
        ("<script>if (a < b) alert('<!--')</script>after", "after"),
        ("<![if IE]>x<![endif]>", "x"),
    ],
)
def test_a_page_that_keeps_no_rules_is_read_as_browsers_do(html, text):
    extract = read("p.html", html)
    assert text is None or extract.text == text


@pytest.mark.parametrize("piece", ["<a ", "<!--", "<a href='", "<![CDATA[", "<? ", "</", "<a b='>\"", "<div>"])
def test_no_broken_page_takes_long(piece):
    with suppress(Unreadable):
        read("p.html", piece * 40_000)


def test_a_page_with_too_many_tags_is_refused():
    assert refusal("p.html", "<b>x</b>" * 150_000) == "it has more than 200,000 tags"
    assert "1,000,000 entities" in refusal("p.html", "<" * 1_000_001)


@pytest.mark.parametrize(("name", "library"), [("p.docx", "mammoth"), ("p.docx", "markdownify"), ("p.html", "bs4")])
def test_without_the_extra_its_formats_say_what_to_install(monkeypatch, name, library):
    monkeypatch.setitem(sys.modules, library, None)
    data = docx("x") if name == "p.docx" else b"<p>x"
    assert "needs `pip install zapomni[docs]`" in refusal(name, data)


def test_a_notebook_is_the_sources_of_its_cells():
    trial = read("t.ipynb", FILES["trial.ipynb"])
    assert trial.text == "# Опыт 7\n\nПояснение\n\n```\nprint('heron')\n```"
    assert (trial.title, trial.lined) == ("Опыт 7", False)
    assert "no notebook" in refusal("t.ipynb", "[" * 100_000)
    assert "no cells" in refusal("t.ipynb", '{"worksheets": []}')
    assert read("t.ipynb", '{"cells": [1, {"source": 5}, {"source": "\\u0000\\ud800"}]}').text == "\ufffd\ufffd"


@pytest.mark.parametrize("name", FILES)
def test_a_file_above_the_limit_is_refused(monkeypatch, name):
    reader = reader_for(name, FILES[name][:64])
    monkeypatch.setattr(type(reader), "limit", len(FILES[name]) - 1)
    assert "it is larger than" in refusal(name, FILES[name])


def test_a_file_that_cannot_be_read_says_so():
    class Broken(BytesIO):
        def read(self, _size=-1, /):
            raise OSError("Input/output error")

    with pytest.raises(Unreadable, match="it cannot be read: Input/output error"):
        reader_for("a.md", b"").read(Broken(), "a.md")
