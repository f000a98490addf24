"""Any writing on both sides of a branch: what a merge may do is held against a plain model."""

from __future__ import annotations

import contextlib
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zapomni
from zapomni.errors import NotFound, ZapomniError
from zapomni.model import Filter, Trust

if TYPE_CHECKING:
    from zapomni.app import Zapomni

SLOTS = st.sampled_from([0, 0, 0, 1, 2, 3])
PATHS = st.sampled_from([None, "experience", "knowledge.x", "context.current", "workflow"])
ACTS = st.one_of(
    st.tuples(st.just("new"), PATHS),
    st.tuples(st.just("text"), SLOTS),
    st.tuples(st.just("tags"), SLOTS),
    st.tuples(st.just("delete"), SLOTS),
    st.tuples(st.just("undo"), SLOTS),
)
WRITES = st.lists(ACTS, max_size=8)
BOTH = st.lists(st.tuples(st.booleans(), ACTS), min_size=2, max_size=10)
RUNS = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
ALL = Filter(expired=True, deleted=True, trusts=tuple(Trust))


class Desk:
    """One store with a main line of four memories, a branch, and every text that anybody wrote."""

    def __init__(self, folder: str) -> None:
        plain: dict[str, Any] = {"embedder.provider": "none", "store.busy_timeout_ms": 100}
        self.main = zapomni.open(folder, **plain)
        self.ids = [
            self.main.remember(f"начало {no}", path=path).id
            for no, path in enumerate(("experience", None, "workflow", "context.current"))
        ]
        self.written = {f"начало {no}" for no in range(4)}
        self.main.versions.create_branch("b")
        self.work = zapomni.open(folder, branch="b", **plain)

    def close(self) -> None:
        self.work.close()
        self.main.close()

    def do(self, app: Zapomni, act: tuple[str, Any], no: int) -> None:
        verb, value = act
        with contextlib.suppress(ZapomniError):  # what is deleted cannot be changed, on either side
            if verb == "new":
                app.remember(f"новое {no}", path=value)
                self.written.add(f"новое {no}")
            elif verb == "text":
                app.update(self.ids[value], content=f"текст {no}")
                self.written.add(f"текст {no}")
            elif verb == "tags":
                app.update(self.ids[value], tags=[f"t{no}"])
            elif verb == "delete":
                app.delete(self.ids[value])
            else:
                app.undo(self.ids[value])

    def told(self) -> set[str]:
        """Return every text that the store still holds, now or in its history."""
        memories = self.main.store.page(ALL, 1_000).memories
        records = [
            record
            for memory in memories
            for revision in self.main.store.history(memory.id)
            for record in (revision.before, revision.after)
            if record is not None
        ]
        return {record["content"] for record in records}


def state(app: Zapomni) -> set[tuple[Any, ...]]:
    return {(one.content, one.tags, one.path, str(one.scope.base)) for one in app.list(limit=1_000).memories}


@pytest.mark.promise("branch.merged")
@given(WRITES)
@RUNS
def test_a_merge_into_a_main_line_that_did_not_move_is_as_if_it_had_been_written_there(
    acts: list[tuple[str, Any]],
) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        branched, direct = Desk(one), Desk(two)
        with contextlib.closing(branched), contextlib.closing(direct):
            before = state(branched.main)
            for no, act in enumerate(acts):
                if act[0] == "undo":
                    continue  # undo goes back no further than the branch on one side, and to the very beginning on the other
                branched.do(branched.work, act, no)
                direct.do(direct.main, act, no)
                assert state(branched.main) == before
                assert state(branched.work) == state(direct.main)
            came = branched.main.versions.merge_branch("b")
            assert [step for step in came.steps if step.done.value == "left"] == []
            assert state(branched.main) == state(branched.work) == state(direct.main)
            if came.run is not None:
                branched.main.undo_run(came.run)
                assert state(branched.main) == before


@pytest.mark.promise("branch.policies")
@given(BOTH, st.sampled_from([None, "append", "append", "replace", "confidence_gated", "reject"]))
@RUNS
def test_whatever_both_sides_write_no_text_is_lost_and_nothing_left_is_changed(
    acts: list[tuple[bool, tuple[str, Any]]], policy: str | None
) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Desk(folder)) as desk:
        for no, (on_branch, act) in enumerate(acts):
            desk.do(desk.work if on_branch else desk.main, act, no)
        seen, before = state(desk.work), state(desk.main)
        came = desk.main.versions.merge_branch("b", policy=policy)
        assert desk.written <= desk.told()
        if policy in {"append", "replace"}:
            assert [step for step in came.steps if step.done.value == "left"] == []
            assert state(desk.main) == state(desk.work)
        left = {step.branch_id for step in came.steps if step.done.value == "left"}
        assert {fork.memory.id for fork in desk.main.store.branches.forks("b")} == left
        if came.run is not None:
            desk.main.undo_run(came.run)
            assert (state(desk.work), state(desk.main)) == (seen, before)


@pytest.mark.promise("branch.policies")
@given(st.lists(st.booleans(), min_size=2, max_size=6), SLOTS)
@RUNS
def test_appending_keeps_the_last_text_of_either_side_in_the_memory(sides: list[bool], slot: int) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Desk(folder)) as desk:
        last = dict[bool, str]()
        for no, on_branch in enumerate(sides):
            desk.do(desk.work if on_branch else desk.main, ("text", slot), no)
            last[on_branch] = f"текст {no}"
        desk.main.versions.merge_branch("b", policy="append")
        content = desk.main.show(desk.ids[slot])[0].content
        begun_before = True not in sides or False not in sides[sides.index(True) :]
        kept = [last[True]] if True in sides and begun_before else list(last.values())
        assert all(text in content for text in kept)


@pytest.mark.promise("branch.dropped")
@given(BOTH)
@RUNS
def test_dropping_a_branch_leaves_the_main_line_as_it_is(acts: list[tuple[bool, tuple[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Desk(folder)) as desk:
        for no, (on_branch, act) in enumerate(acts):
            desk.do(desk.work if on_branch else desk.main, act, no)
        seen, before = state(desk.work), state(desk.main)
        came = desk.main.versions.drop_branch("b")
        assert state(desk.main) == before
        assert desk.written <= desk.told()
        with pytest.raises(NotFound):
            desk.work.remember("поздно")
        desk.main.undo_run(came.run)
        assert (state(desk.work), state(desk.main)) == (seen, before)
