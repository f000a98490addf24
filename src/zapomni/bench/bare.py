"""The bare parts that a recall and an import are measured against: apsw, FTS5 and numpy with nothing around."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from zapomni.store.sqlite.plain import plain_connection
from zapomni.text.words import TOKENIZER, index_words, query_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


_SCHEMA: Final = f"""
CREATE TABLE memories (no INTEGER PRIMARY KEY, id TEXT UNIQUE, content TEXT, created_at TEXT);
CREATE VIRTUAL TABLE words USING fts5(
  title, body, exact, content='', contentless_delete=1, tokenize="{TOKENIZER}"
);
"""


class BareStore:
    """The same texts in a plain table with the same words in FTS5, and random vectors of the same width.

    `seconds` is what inserting rows and words took in one transaction, the words being ready before.
    """

    def __init__(self, path: Path, texts: Sequence[str], width: int) -> None:
        import numpy as np

        self._connection = plain_connection(str(path))
        self._connection.execute(_SCHEMA)
        indexed = [index_words(title="", body=text) for text in texts]
        start = time.perf_counter()
        with self._connection:
            self._connection.executemany(
                "INSERT INTO memories VALUES (?, ?, ?, ?)",
                ((no, f"m{no}", text, "2026-01-01T00:00:00.000000Z") for no, text in enumerate(texts, 1)),
            )
            self._connection.executemany(
                "INSERT INTO words(rowid, title, body, exact) VALUES (?, ?, ?, ?)",
                ((no, row.title, row.body, row.exact) for no, row in enumerate(indexed, 1)),
            )
        self.seconds = time.perf_counter() - start
        pick = np.random.default_rng(1)
        self._vectors = pick.standard_normal((len(texts), width), dtype=np.float32)
        self._question = pick.standard_normal(width, dtype=np.float32)

    def words(self, question: str) -> list[object]:
        """Ask the bare index: OR of the question's words, the best 10 by bm25."""
        phrase = " OR ".join(f'"{word.stem}"' for word in query_words(question))
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10"
        return list(self._connection.execute(sql, (phrase,)))

    def scan(self) -> object:
        """Compare the question with every vector and pick the best 10."""
        import numpy as np

        return np.argpartition(-(self._vectors @ self._question), 10)[:10]
