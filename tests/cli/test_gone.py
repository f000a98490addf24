"""What was deleted, erased or taken back is named as such, with the way back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Zap = Callable[..., Any]
    Stored = Callable[..., str]

MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d"


@pytest.mark.parametrize("words", [["show"], ["update"], ["delete"]])
def test_a_deleted_memory_is_named_with_the_way_back(zap: Zap, stored: Stored, words: list[str]) -> None:
    made = stored("Ключи лежат у вахтёра.")
    zap("delete", made)
    result = zap(*words, made[:8], *(["новый текст"] if words == ["update"] else []))
    assert result.status == 3
    told = rf"memory {made} is deleted since {MOMENT} UTC. It is brought back by `zapomni undo {made}`"
    assert re.search(told, result.err)
    zap("undo", made)
    assert zap("show", made).status == 0


@pytest.mark.parametrize("verb", ["show", "delete", "undo", "blame"])
def test_an_erased_memory_is_named_as_such_by_its_whole_id(zap: Zap, stored: Stored, verb: str) -> None:
    made = stored("Стереть навсегда.")
    zap("delete", made, "--erase", "--yes")
    result = zap(verb, made)
    assert result.status == 3
    assert re.search(rf"memory {made} was erased on {MOMENT} UTC", result.err)
    assert f"`zapomni history {made}`" in result.err
    assert "erase  by cli" in zap("history", made).out
    assert f"no memory '{made[:8]}'" in zap(verb, made[:8]).err


def test_an_id_that_fits_nothing_is_no_deleted_one(zap: Zap, stored: Stored) -> None:
    zap("delete", stored("Одна."))
    assert "no memory 'zzzz' in user. Look it up with `list`" in zap("show", "zzzz").err


def test_what_was_deleted_in_a_scope_out_of_sight_is_not_told(zap: Zap, stored: Stored) -> None:
    made = stored("Чужая тайна.", "--scope", "team:web")
    zap("delete", made, "--scope", "team:web")
    assert "no memory" in zap("show", made, "--scope", "user").err
