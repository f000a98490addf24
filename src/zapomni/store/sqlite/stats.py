"""Counts of what a filter lets through, and how the bytes of the file divide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.store.base import Stats
from zapomni.store.sqlite.condition import TIMELINE
from zapomni.store.sqlite.connection import rows_of, value_of

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from zapomni.store.sqlite.condition import Condition

_SIZES: Final = {
    "memories": "SELECT sum(octet_length(content) + octet_length(title) + octet_length(description)) FROM memories",
    "words": (
        "SELECT (SELECT sum(octet_length(block)) FROM words_data)"
        " + (SELECT total(octet_length(c0) + octet_length(c1) + octet_length(c2)) FROM words_content)"
    ),
    "vectors": "SELECT sum(octet_length(vector)) FROM vectors",
    "documents": (
        "SELECT (SELECT total(octet_length(text)) FROM chunks)"
        " + (SELECT total(octet_length(block)) FROM chunk_words_data)"
        " + (SELECT total(octet_length(c0) + octet_length(c1) + octet_length(c2)) FROM chunk_words_content)"
        " + (SELECT total(octet_length(vector)) FROM chunk_vectors)"
    ),
    "history": "SELECT coalesce(sum(octet_length(before)), 0) FROM revisions",
}


def stats(db: apsw.Connection, path: Path, alive: Condition, everything: Condition) -> Stats:
    """Count what `alive` lets through; `everything` is the same with the deleted ones."""
    return Stats(
        memories=_count(db, alive),
        deleted=_count(db, everything, " AND m.deleted_at IS NOT NULL"),
        kinds=_counts(db, "m.kind", alive),
        scopes=_counts(
            db, "iif(s.name = '', s.kind, s.kind || ':' || s.name)", alive, "JOIN scopes s ON s.no = m.scope_no"
        ),
        trusts=_counts(db, "m.trust", alive),
        tags=_counts(db, "min(t.label)", alive, "JOIN tags t ON t.memory_no = m.no", by="t.fold"),
        bytes=_sizes(db, path),
    )


def topics(db: apsw.Connection, condition: Condition) -> dict[str, int]:
    """Count what the condition lets through at each topic path, in the order of the paths."""
    sql = f"SELECT m.path, count(*) FROM {TIMELINE} WHERE m.path IS NOT NULL AND {condition.sql} GROUP BY 1 ORDER BY 1"
    return dict(rows_of(db, sql, condition.values))


def _count(db: apsw.Connection, condition: Condition, extra: str = "") -> int:
    sql = f"SELECT count(*) FROM {TIMELINE} WHERE {condition.sql}{extra}"
    return int(value_of(db, sql, condition.values))


def _counts(db: apsw.Connection, what: str, condition: Condition, join: str = "", by: str = "1") -> dict[str, int]:
    sql = f"SELECT {what}, count(*) FROM {TIMELINE} {join} WHERE {condition.sql} GROUP BY {by} ORDER BY 2 DESC, 1"
    return dict(rows_of(db, sql, condition.values))


def _sizes(db: apsw.Connection, path: Path) -> dict[str, int]:
    sizes = {name: int(value_of(db, sql) or 0) for name, sql in _SIZES.items()}
    log = path.with_name(path.name + "-wal")
    return {"file": path.stat().st_size, "log": log.stat().st_size if log.exists() else 0, **sizes}
