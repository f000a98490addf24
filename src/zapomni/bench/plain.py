"""The baseline: plain FTS5 as anyone would set it up, Porter stems, stop words dropped from the question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zapomni.store.sqlite.plain import plain_connection
from zapomni.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zapomni.bench.sets import Passage

_WORD = re.compile(r"\w+")


class PlainWords:
    """One FTS5 table a group, k1 = 1.2 and b = .75 as FTS5 has them, OR of the question's words."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._connection = plain_connection()
        self._tables: dict[str, str] = {}
        self._ids: dict[str, list[str]] = {}
        for passage in passages:
            self._add(passage)

    def _add(self, passage: Passage) -> None:
        if passage.group not in self._tables:
            table = self._tables[passage.group] = f"plain{len(self._tables)}"
            self._ids[passage.group] = []
            self._connection.execute(
                f"CREATE VIRTUAL TABLE {table} USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')"
            )
        ids = self._ids[passage.group]
        ids.append(passage.id)
        self._connection.execute(
            f"INSERT INTO {self._tables[passage.group]}(rowid, text) VALUES (?, ?)",  # noqa: S608 - our own name
            (len(ids), passage.text),
        )

    def ask(self, group: str, question: str, limit: int) -> list[str]:
        """Return the ids of the passages that hold some of the words, best first."""
        words = list(dict.fromkeys(word.lower() for word in _WORD.findall(question)))
        words = [word for word in words if word not in STOP_WORDS] or words
        if not words or group not in self._tables:
            return []
        table = self._tables[group]
        rows = self._connection.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY bm25({table}) LIMIT ?",  # noqa: S608
            (" OR ".join(f'"{word}"' for word in words), limit),
        )
        return [self._ids[group][int(row[0]) - 1] for row in rows]
