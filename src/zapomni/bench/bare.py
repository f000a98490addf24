"""The bare parts that a recall and an import are measured against: apsw, FTS5 and numpy with nothing around."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from zapomni.store.sqlite.plain import plain_connection
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from pathlib import Path


class BareStore:
    """The very rows and words of a store in a plain file, and random vectors of the same width.

    `seconds` is what inserting rows and words took in one transaction by `executemany`, both being ready before;
    the tables are the store's own, without its history, its other indexes and everything else around.
    """

    def __init__(self, store: Path, target: Path, width: int) -> None:
        import numpy as np

        source = plain_connection(str(store))
        self._connection = plain_connection(str(target))
        for name in ("memories", "words"):
            sql: str = source.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).get
            self._connection.execute(sql.replace("REFERENCES scopes (no)", ""))
        rows = source.execute("SELECT * FROM memories").fetchall()
        words = source.execute("SELECT id, c0, c1, c2 FROM words_content").fetchall()
        source.close()
        places = ", ".join("?" * len(rows[0]))
        start = time.perf_counter()
        with self._connection:
            self._connection.executemany(f"INSERT INTO memories VALUES ({places})", rows)  # noqa: S608 - marks alone
            self._connection.executemany("INSERT INTO words(rowid, title, body, exact) VALUES (?, ?, ?, ?)", words)
        self.seconds = time.perf_counter() - start
        pick = np.random.default_rng(1)
        self._vectors = pick.standard_normal((len(rows), width), dtype=np.float32)
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
