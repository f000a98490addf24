"""Small valid files of every format, made by hand."""

from __future__ import annotations

import json
import zlib
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pdf(*pages: str, title: str = "", locked: bool = False) -> bytes:
    letters = sorted(set("".join(pages)) - {"\n"})
    codes = {letter: number for number, letter in enumerate(letters, 33)}
    cmap = "\n".join(f"<{code:02x}> <{ord(letter):04x}>" for letter, code in codes.items())
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{cmap}\nendbfchar endcmap end end"
    )
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(len(pages)))
    objects: list[str | bytes] = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 4 0 R >>",
        stream(cmap),
        f"<< /Title <feff{title.encode('utf-16-be').hex()}> >>",
    ]
    for number, page in enumerate(pages):
        lines = "".join(
            f"BT /F1 12 Tf 50 {700 - 20 * row} Td <{''.join(f'{codes[letter]:02x}' for letter in line)}> Tj ET\n"
            for row, line in enumerate(page.split("\n"))
        )
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {resources} /Contents {7 + 2 * number} 0 R >>",
            stream(lines),
        ]
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n".encode() + (body if isinstance(body, bytes) else body.encode()) + b"\nendobj\n"
    lock = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >> /ID [<00> <00>] "
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        made
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
            f"trailer << /Root 1 0 R /Info 5 0 R {lock if locked else ''}/Size {len(objects) + 1} >>\n"
            f"startxref\n{len(made)}\n%%EOF\n"
        ).encode()
    )


def stream(body: str) -> bytes:
    packed = zlib.compress(body.encode("ascii"))
    return f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream"


def docx(*paragraphs: str, extra: str = "") -> bytes:
    styled = [
        f"<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>{text.removeprefix('# ')}</w:t></w:r></w:p>"
        if text.startswith("# ")
        else f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
        for text in paragraphs
    ]
    parts = {
        "[Content_Types].xml": f"<Types xmlns='{PACKAGE}/content-types'><Default Extension='xml' ContentType="
        "'application/xml'/><Override PartName='/word/document.xml' ContentType="
        "'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/></Types>",
        "_rels/.rels": f"<Relationships xmlns='{PACKAGE}/relationships'><Relationship Id='r1' "
        f"Type='{OFFICE}/officeDocument' Target='word/document.xml'/></Relationships>",
        "word/styles.xml": f"<w:styles xmlns:w='{WORD}'><w:style w:type='paragraph' w:styleId='Heading1'>"
        "<w:name w:val='heading 1'/></w:style></w:styles>",
        "word/document.xml": f"<w:document xmlns:w='{WORD}'><w:body>{''.join(styled)}{extra}</w:body></w:document>",
        "word/_rels/document.xml.rels": f"<Relationships xmlns='{PACKAGE}/relationships'><Relationship Id='r1' "
        f"Type='{OFFICE}/styles' Target='styles.xml'/></Relationships>",
    }
    return archive(parts)


def archive(parts: dict[str, str]) -> bytes:
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as packed:
        for name, body in parts.items():
            packed.writestr(name, body)
    return made.getvalue()


HTML = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>Журнал смены</title><style>p {color: red}</style>
<script>var hidden = "<p>";</script></head><body><nav><a href="/">Menu</a></nav><h1>Журнал</h1>
<p>Насос <b>снят</b> с <a href="https://example.org/x">линии</a>.</p><ul><li>first_item</li><li>второй</li></ul>
<table><tr><th>Год</th><th>Цех</th></tr><tr><td>2024</td><td>третий</td></tr></table>
<pre>a &lt; b</pre></body></html>"""

NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "cells": [
            {"cell_type": "markdown", "source": ["# Опыт 7\n", "\n", "Пояснение"]},
            {"cell_type": "code", "source": "print('heron')", "outputs": [{"text": ["SECRET-OUTPUT"]}]},
            {"cell_type": "raw", "source": []},
        ],
    }
)

FILES: dict[str, bytes] = {
    "note.md": "---\ntitle: Заметка\ntags: [один, два]\n---\n# Heading\n\nТело\n".encode(),
    "code.py": b"#!/usr/bin/env python\nprint('x')\n",
    "data.json": '{"ключ": [1, 2, {"a": null}]}\n'.encode("utf-16"),
    "page.html": HTML.encode(),
    "report.pdf": pdf("Отчёт о насосе\nSecond line", "Page two", title="Отчёт"),
    "letter.docx": docx("# Письмо", "Договор продлён"),
    "trial.ipynb": NOTEBOOK.encode(),
}
