"""A damaged index of documents is told, and mended from the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.documents.conftest import Desk

HARM = {
    "a chunk lost": "DELETE FROM chunks WHERE no = 2",
    "words lost": "DELETE FROM chunk_words WHERE rowid = 1",
    "words of nobody": "INSERT INTO chunk_words (rowid, title, body, exact) VALUES (999, '', 'x', '')",
    "a vector lost": "DELETE FROM chunk_vectors WHERE no = 1",
    "pieces lost": "DELETE FROM chunk_pieces",
}


@pytest.mark.promise("doctor.repairs")
@pytest.mark.parametrize("harm", HARM)
def test_harm_to_the_index_of_documents_is_told_and_mended(desk: Desk, harm: str) -> None:
    for n in range(3):
        desk.write(f"n{n}.md", f"# Note {n}\n\npebble{n}\n")
    desk.scan()
    desk.embed()
    db = desk.app.store._db.mine()  # type: ignore[attr-defined]
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute(HARM[harm])
    db.execute("PRAGMA foreign_keys = ON")
    assert "documents" in {check.name for check in desk.app.store.check() if not check.ok}
    desk.app.store.rebuild()
    assert desk.scan().added == 3
    assert desk.embed() <= 1
    assert [check.name for check in desk.app.store.check() if not check.ok] == []
    assert [desk.found(f"pebble{n}") for n in range(3)] == [["n0.md"], ["n1.md"], ["n2.md"]]
