"""Rows of sources, documents and chunks as the nouns of the model and back, and the filter on documents as SQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize

from zapomni.model.document import Chunk, Document, DocumentKind, Source, SourceMode
from zapomni.record import read_stamp
from zapomni.store.sqlite.condition import Condition
from zapomni.store.sqlite.rows import dumps, scope_of, stamped
from zapomni.text.fold import name_key

if TYPE_CHECKING:
    from zapomni.model.document import DocumentFilter

Row = tuple[Any, ...]

SELECT_SOURCE: Final = (
    "SELECT s.id, s.root, s.mode, o.kind, o.name, s.include, s.exclude, s.created_at, s.scanned_at, s.problem"
    " FROM sources s JOIN scopes o ON o.no = s.scope_no"
)
SOURCE_COLUMNS: Final = 10
_DOCUMENT: Final = (
    *("path", "size", "modified_ns", "sha256", "preparation", "kind", "title", "tags", "format", "encoding"),
    *("chunks", "indexed_at", "problem", "notes"),
)
DOCUMENT_COLUMNS: Final = len(_DOCUMENT)
DOCUMENT: Final = ", ".join(f"d.{name}" for name in _DOCUMENT)
"""The columns that `document_of` reads."""
PUT_DOCUMENT: Final = (
    f"INSERT INTO documents (source_no, {', '.join(_DOCUMENT)}) VALUES ({', '.join('?' * (len(_DOCUMENT) + 1))})"
    f" ON CONFLICT (source_no, path) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _DOCUMENT)}"
    " RETURNING no"
)
CHUNK: Final = 'c.text, c.start, c."end", c.first_line, c.last_line, c.page, c.trail, c.weight'
"""The columns that `chunk_of` reads."""
ADD_CHUNK: Final = (
    'INSERT INTO chunks (text, start, "end", first_line, last_line, page, trail, weight, heading, document_no, ordinal)'
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def source_of(row: Row) -> Source:
    """Return the source of a row of `SELECT_SOURCE`."""
    source_id, root, mode, kind, name, include, exclude, created_at, scanned_at, problem = row
    return Source(
        id=source_id,
        root=root,
        mode=SourceMode(mode),
        scope=scope_of(kind, name),
        created_at=read_stamp(created_at),
        include=tuple(json.loads(include)),
        exclude=tuple(json.loads(exclude)),
        scanned_at=read_stamp(scanned_at) if scanned_at else None,
        problem=problem,
    )


def document_of(source_id: str, row: Row) -> Document:
    """Return the document of a row of the columns `DOCUMENT`."""
    values = dict(zip(_DOCUMENT, row, strict=True))
    return Document(
        **values
        | {
            "source_id": source_id,
            "kind": DocumentKind(values["kind"]),
            "tags": tuple(json.loads(values["tags"])),
            "notes": tuple(json.loads(values["notes"])),
            "indexed_at": read_stamp(values["indexed_at"]) if values["indexed_at"] else None,
        }
    )


def document_values(document: Document) -> Row:
    """Return what `PUT_DOCUMENT` writes behind the source's number."""
    values: dict[str, Any] = {name: getattr(document, name) for name in _DOCUMENT}
    values |= {
        "kind": document.kind.value,
        "tags": dumps(list(document.tags)),
        "notes": dumps(list(document.notes)),
        "indexed_at": stamped(document.indexed_at),
    }
    return tuple(values.values())


def chunk_of(row: Row) -> Chunk:
    """Return the chunk of a row of the columns `CHUNK`."""
    text, start, end, first_line, last_line, page, trail, weight = row
    return Chunk(
        text=text,
        start=start,
        end=end,
        first_line=first_line,
        last_line=last_line,
        page=page,
        trail=tuple(json.loads(trail)),
        weight=weight,
    )


def chunk_values(chunk: Chunk, heading: str, document_no: int, ordinal: int) -> Row:
    """Return what `ADD_CHUNK` writes."""
    return (
        *(chunk.text, chunk.start, chunk.end, chunk.first_line, chunk.last_line, chunk.page),
        *(dumps(list(chunk.trail)), chunk.weight, heading, document_no, ordinal),
    )


def document_condition(where: DocumentFilter) -> Condition:
    """Return what a filter lets through, as a condition on `documents d`."""
    terms: list[str] = []
    values: dict[str, Any] = {}

    def listed(name: str, items: list[Any]) -> str:
        values[name] = dumps(items)
        return f"(SELECT value FROM json_each(:{name}))"

    if where.scopes:
        scopes = listed("scopes", [str(scope) for scope in where.scopes])
        named = "CASE o.name WHEN '' THEN o.kind ELSE o.kind || ':' || o.name END"
        owned = f"SELECT s.no FROM sources s JOIN scopes o ON o.no = s.scope_no WHERE {named} IN {scopes}"
        terms.append(f"d.source_no IN ({owned})")
    if where.source_ids:
        ids = listed("ids", list(where.source_ids))
        terms.append(f"d.source_no IN (SELECT no FROM sources WHERE id IN {ids})")
    if where.kinds:
        terms.append(f"d.kind IN {listed('kinds', [kind.value for kind in where.kinds])}")
    if where.path is not None:
        spelled = listed("paths", sorted({where.path, *(normalize(form, where.path) for form in ("NFC", "NFD"))}))
        inside = "substr(d.path || '/', 1, length(p.value) + 1) = p.value || '/'"
        terms.append(f"EXISTS (SELECT 1 FROM {spelled} p WHERE {inside})")
    if where.tags:
        tags = listed("tags", [name_key(tag) for tag in where.tags])
        terms.append(f"EXISTS (SELECT 1 FROM document_tags t WHERE t.document_no = d.no AND t.fold IN {tags})")
    return Condition(" AND ".join(terms) or "TRUE", values)
