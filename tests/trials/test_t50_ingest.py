"""T50, what it says of ingesting: facts that look alike and differ in one value stay apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.reading.notes import Desk

if TYPE_CHECKING:
    from pathlib import Path

LINES = (
    "The locker code for bay 3 is 4410.",
    "The locker code for bay 8 is 4471.",
    "Lena's favourite tea is sencha.",
    "Ivo's favourite tea is rooibos.",
    "Backups run at 02:10 on host alpha.",
    "Backups run at 02:40 on host beta.",
    "Код шкафчика в боксе 3 — 4410.",
    "Код шкафчика в боксе 8 — 4471.",
)
ASKED = {
    "locker code bay 3": "4410",
    "locker code bay 8": "4471",
    "Lena tea": "sencha",
    "Ivo tea": "rooibos",
    "backups alpha": "02:10",
    "backups beta": "02:40",
    "код шкафчика бокс 3": "4410",
    "код шкафчика бокс 8": "4471",
}


@pytest.mark.promise("ingest.facts")
@pytest.mark.parametrize("together", [True, False], ids=["in one text", "one by one"])
def test_each_value_is_found_and_tied_to_its_own_words(tmp_path: Path, together: bool) -> None:  # noqa: FBT001
    desk = Desk(tmp_path / "home", tmp_path)
    with desk.app:
        for text in ["\n".join(LINES)] if together else LINES:
            desk.app.reading.ingest(text)
        assert desk.texts() == set(LINES)
        for question, value in ASKED.items():
            best = desk.app.recall(question, mode="lexical").hits[0].memory
            assert value in best.content
            assert desk.said(best) == [best.content]
