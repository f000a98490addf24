from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import zapomni
from zapomni.errors import NotFound, Refused
from zapomni.model import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zapomni.app import Zapomni


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Zapomni]:
    with zapomni.open(tmp_path, **{"embedder.provider": "none"}) as opened:
        yield opened


def text(memory: Zapomni, memory_id: str) -> str:
    return memory.show(memory_id)[0].content


@pytest.mark.promise("history.undo")
def test_each_undo_goes_one_change_further_back(memory: Zapomni) -> None:
    made = memory.remember("первая").id
    memory.update(made, content="вторая")
    memory.update(made, content="третья")
    memory.undo(made)
    assert text(memory, made) == "вторая"
    memory.undo(made)
    assert text(memory, made) == "первая"
    memory.undo(made)
    with pytest.raises(NotFound):
        memory.show(made)
    with pytest.raises(Refused):
        memory.undo(made)


@pytest.mark.promise("history.undo")
def test_a_change_after_an_undo_is_the_next_to_be_taken_back(memory: Zapomni) -> None:
    made = memory.remember("one").id
    memory.update(made, content="two")
    memory.undo(made)
    memory.update(made, content="three")
    memory.undo(made)
    assert text(memory, made) == "one"


@pytest.mark.promise("history.undo")
def test_any_state_of_the_history_can_be_gone_to(memory: Zapomni) -> None:
    made = memory.remember("one").id
    memory.update(made, content="two")
    memory.delete(made)
    seqs = [revision.seq for revision in memory.history(made)[1]]
    memory.undo(made, to=seqs[0])
    assert text(memory, made) == "one"
    memory.undo(made, to=seqs[1])
    assert text(memory, made) == "two"
    with pytest.raises(NotFound, match="revision"):
        memory.undo(made, to=10_000)


@pytest.mark.promise("history.undo")
def test_several_deletions_are_one_run_that_one_undo_takes_back(memory: Zapomni) -> None:
    ids = [memory.remember(f"note {number}").id for number in range(5)]
    done = memory.delete_many([*ids, "zzzz"])
    outcomes = [result for result in done.results if isinstance(result, Outcome)]
    assert [outcome.status for outcome in outcomes] == [Status.DELETED] * 5
    assert isinstance(done.results[-1], NotFound)
    assert memory.list().total == 0
    assert len(memory.undo_run(done.run).restored) == 5
    assert memory.list().total == 5


@pytest.mark.promise("write.rejection")
def test_a_refused_value_is_welcome_again_when_its_deletion_is_undone(memory: Zapomni) -> None:
    made = memory.remember("Табы, а не пробелы").id
    memory.delete(made, never="наоборот")
    assert memory.remember("табы, а не пробелы").status is Status.REFUSED
    memory.undo(made)
    assert memory.remember("табы, а не пробелы").status is Status.DUPLICATE


@pytest.mark.promise("history.erase")
def test_of_an_erased_memory_stays_who_erased_it_and_when(memory: Zapomni) -> None:
    made = memory.remember("secret plan").id
    memory.delete(made, erase=True)
    shown, revisions = memory.history(made)
    assert shown is None
    assert [(revision.before, revision.after) for revision in revisions] == [(None, None)] * 2
    assert revisions[-1].actor == "library"


@pytest.mark.promise("write.duplicate")
def test_what_a_duplicate_brings_that_is_not_taken_over_is_named(memory: Zapomni) -> None:
    memory.remember("Порт 8377", tags=["a"])
    again = memory.remember("порт 8377", tags=["b"], importance=0.9)
    assert again.status is Status.DUPLICATE
    assert "tags, importance" in again.warnings[0]
    assert not memory.remember("порт 8377").warnings


@pytest.mark.promise("write.key")
def test_a_repeated_key_changes_only_what_is_given(memory: Zapomni) -> None:
    memory.remember("version 1", key="release", tags=["a"], importance=0.9)
    again = memory.remember("version 2", key="release")
    assert again.status is Status.UPDATED
    assert again.memory is not None
    assert (again.memory.content, again.memory.tags, again.memory.importance) == ("version 2", ("a",), 0.9)


@pytest.mark.promise("history.erase")
def test_what_a_filter_takes_is_listed_for_both_ways_to_delete(memory: Zapomni) -> None:
    gone, stays = memory.remember("Ушло.", tags=["a"]).id, memory.remember("Осталось.", tags=["a"]).id
    past = memory.remember("Прошло.", tags=["a"], valid_until="2020-01-01").id
    memory.delete(gone)
    assert [one.id for one in memory.deletable(tags=["a"])] == [stays]
    assert {one.id for one in memory.deletable(tags=["a"], erase=True)} == {gone, stays, past}
    assert {one.id for one in memory.deletable(tags=["a"], erase=True, as_of="2021-06-01")} == {gone, stays}
