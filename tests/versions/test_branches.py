from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

import zapomni
from zapomni.errors import InvalidInput, NotFound, Refused
from zapomni.model import Filter, Status, Trust
from zapomni.model.proposal import ProposalKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from zapomni.app import Zapomni

Open = "Callable[..., Zapomni]"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Zapomni]]:
    """Open the same memory, on a branch where one is named."""
    held: list[Zapomni] = []

    def open_(branch: str = "", **settings: Any) -> Zapomni:
        held.append(zapomni.open(tmp_path, **{"embedder.provider": "none", "branch": branch, **settings}))
        return held[-1]

    yield open_
    for one in held:
        one.close()


@pytest.fixture
def main(opened: Callable[..., Zapomni]) -> Zapomni:
    return opened()


def texts(memory: Zapomni, **where: Any) -> set[str]:
    return {one.content for one in memory.list(limit=1000, **where).memories}


@pytest.mark.promise("branch.apart")
def test_what_is_written_on_a_branch_is_seen_there_alone(main: Zapomni, opened: Callable[..., Zapomni]) -> None:
    kept = main.remember("кошка спит на диване").id
    changed = main.remember("собака лает ночью", tags=["звери"]).id
    gone = main.remember("рыба молчит").id
    main.versions.create_branch("опыт")
    work = opened("опыт")
    work.update(changed, content="собака лает утром")
    work.delete(gone)
    work.remember("попугай говорит")
    assert texts(main) == {"кошка спит на диване", "собака лает ночью", "рыба молчит"}
    assert texts(work) == {"кошка спит на диване", "собака лает утром", "попугай говорит"}
    assert [hit.memory.content for hit in work.recall("собака лает").hits] == ["собака лает утром"]
    assert [hit.memory.content for hit in main.recall("собака лает").hits] == ["собака лает ночью"]
    assert work.show(changed)[0].content == "собака лает утром"
    assert work.show(kept)[0].id == kept
    for nothing in (lambda: work.show(gone), lambda: work.delete(gone)):
        with pytest.raises(NotFound):
            nothing()
    assert work.stats().memories == 3
    assert work.recall("рыба молчит").hits == ()


@pytest.mark.promise("branch.apart")
def test_meaning_finds_on_a_branch_what_is_the_branchs_own(tmp_path: Path) -> None:
    settings = {"embedder.provider": "scripted"}
    with zapomni.open(tmp_path, **settings) as main:
        made = main.remember("alpha beta").id
        main.versions.create_branch("try")
        with zapomni.open(tmp_path, branch="try", **settings) as work:
            work.update(made, content="alpha gamma")
            work.embedding.drain()
            for _ in range(3):  # the first answer is a scan, later ones come from memory
                found = work.recall("alpha", mode="semantic").hits
                assert [hit.memory.content for hit in found] == ["alpha gamma"]
                assert [hit.memory.content for hit in main.recall("alpha", mode="semantic").hits] == ["alpha beta"]


@pytest.mark.promise("branch.apart")
def test_a_branch_that_is_not_there_is_an_error_that_names_the_nearest(
    main: Zapomni, opened: Callable[..., Zapomni]
) -> None:
    main.versions.create_branch("experiment")
    for act in (lambda app: app.recall("x"), lambda app: app.remember("x")):
        with pytest.raises(NotFound, match="experiment"):
            act(opened("experimint"))
    with pytest.raises(Refused, match="already"):
        main.versions.create_branch("experiment")
    for bad in ("", "a b", "a@b", "x" * 101, "a\nb"):
        with pytest.raises(InvalidInput):
            main.versions.create_branch(bad)
    with pytest.raises(InvalidInput, match="branch"):
        main.remember("x", scope="branch:experiment@user")


@pytest.mark.promise("branch.apart")
def test_keys_duplicates_and_refusals_hold_on_a_branch(main: Zapomni, opened: Callable[..., Zapomni]) -> None:
    keyed = main.remember("старое", key="k").id
    main.remember("известное")
    refused = main.remember("нельзя").id
    main.delete(refused, never="причина")
    main.versions.create_branch("b")
    work = opened("b")
    assert work.remember("известное").status is Status.DUPLICATE
    assert work.remember("нельзя").status is Status.REFUSED
    assert work.remember("новое", key="k").status is Status.UPDATED
    assert (main.show(keyed)[0].content, work.show(keyed)[0].content) == ("старое", "новое")
    main.versions.merge_branch("b")
    assert main.show(keyed)[0].content == "новое"


@pytest.mark.promise("branch.apart")
def test_undo_on_a_branch_goes_back_to_what_the_main_line_says(main: Zapomni, opened: Callable[..., Zapomni]) -> None:
    made = main.remember("one").id
    main.versions.create_branch("b")
    work = opened("b")
    with pytest.raises(Refused):
        work.undo(made)
    work.update(made, content="two")
    work.delete(made)
    work.undo(made)
    assert work.show(made)[0].content == "two"
    work.undo(made)
    main.update(made, content="three")
    assert work.show(made)[0].content == "three"
    work.delete(made)
    work.undo(made)
    assert work.show(made)[0].content == "three"
    assert main.versions.merge_branch("b").steps == ()


@pytest.mark.promise("branch.apart")
def test_what_knows_no_branches_is_refused_on_one(
    main: Zapomni, opened: Callable[..., Zapomni], tmp_path: Path
) -> None:
    made = main.remember("one").id
    main.versions.create_branch("b")
    work = opened("b")
    for act in (
        lambda: work.import_(tmp_path / "x.jsonl"),
        lambda: work.delete(made, erase=True),
        lambda: work.delete(made, never="why"),
        lambda: work.reading.ingest("text"),
        work.reading.consolidate,
    ):
        with pytest.raises(Refused, match="main line"):
            act()


@pytest.mark.promise("branch.merged")
def test_a_merge_is_one_run_that_undo_takes_back(main: Zapomni, opened: Callable[..., Zapomni]) -> None:
    changed, gone = main.remember("one").id, main.remember("two").id
    main.versions.create_branch("b")
    work = opened("b")
    work.update(changed, content="ein", tags=["de"])
    work.delete(gone)
    new = work.remember("три", title="новая").id
    kinds = {change.verb.value: change.moved_on for change in main.versions.diff_branch("b")}
    assert kinds == {"update": False, "delete": False, "create": False}
    rehearsed = main.versions.merge_branch("b", dry_run=True)
    assert (rehearsed.run, texts(main)) == (None, {"one", "two"})
    came = main.versions.merge_branch("b")
    assert [(step.done, step.id) for step in came.steps] == [(s.done, s.id) for s in rehearsed.steps]
    assert {step.done.value for step in came.steps} == {"updated", "deleted", "added"}
    assert texts(main) == texts(work) == {"ein", "три"}
    assert (main.show(changed)[0].tags, main.show(new)[0].title) == (("de",), "новая")
    assert main.versions.merge_branch("b").run is None
    assert came.run is not None
    assert main.undo_run(came.run).skipped == ()
    assert texts(main) == {"one", "two"}
    assert texts(work) == {"ein", "три"}


CASES = [
    ("experience.x", None, "main\n\n[update]\n\nbranch"),
    ("metrics.code", None, "main\n\n[update]\n\nbranch"),
    ("context.current.task", None, "branch"),
    ("metrics.turn", None, "branch"),
    ("knowledge.x", None, None),
    ("workflow.x", None, None),
    (None, None, None),
    (None, "replace", "branch"),
    ("context.current", "append", "main\n\n[update]\n\nbranch"),
    ("experience", "reject", None),
]


@pytest.mark.promise("branch.policies")
@pytest.mark.parametrize(("path", "policy", "result"), CASES)
def test_what_both_sides_changed_is_settled_by_the_flag_or_the_path(
    main: Zapomni, opened: Callable[..., Zapomni], path: str | None, policy: str | None, result: str | None
) -> None:
    made = main.remember("old", path=path).id
    main.versions.create_branch("b")
    work = opened("b")
    work.update(made, content="branch", tags=["b"])
    main.update(made, content="main", tags=["m"])
    assert [change.moved_on for change in main.versions.diff_branch("b")] == [True]
    (step,) = main.versions.merge_branch("b", policy=policy).steps
    if result is None:
        assert (step.done.value, step.clash) == ("left", ("content",))
        assert (main.show(made)[0].content, work.show(made)[0].content) == ("main", "branch")
        waiting = main.review.proposals(kinds=[ProposalKind.CONFLICT])
        assert len(waiting) == (policy != "reject")
    else:
        assert main.show(made)[0].content == work.show(made)[0].content == result
        assert set(main.show(made)[0].tags) == {"b", "m"}


@pytest.mark.promise("branch.policies")
def test_the_setting_stands_between_the_flag_and_the_path(opened: Callable[..., Zapomni]) -> None:
    main = opened(merge_policy="replace")
    made = main.remember("old", path="knowledge").id
    main.versions.create_branch("b")
    opened("b").update(made, content="branch")
    main.update(made, content="main")
    (left,) = main.versions.merge_branch("b", policy="reject").steps
    (brought,) = main.versions.merge_branch("b").steps
    assert (left.done.value, brought.done.value) == ("left", "updated")
    assert left.id == brought.id == made, "both speak of the memory as the main line calls it"
    assert left.branch_id == brought.branch_id != made
    assert main.show(made)[0].content == "branch"


@pytest.mark.promise("branch.policies")
@pytest.mark.parametrize(("importance", "winner"), [(0.9, "branch"), (0.1, "main")])
def test_of_two_texts_the_more_important_one_wins(
    main: Zapomni, opened: Callable[..., Zapomni], importance: float, winner: str
) -> None:
    made = main.remember("old", path="profile").id
    main.versions.create_branch("b")
    opened("b").update(made, content="branch", importance=importance)
    main.update(made, content="main")
    main.versions.merge_branch("b")
    assert main.show(made)[0].content == winner


@pytest.mark.promise("branch.policies")
@pytest.mark.parametrize(("choice", "content"), [("branch", "b"), ("main", "m"), ("both", "m\n\n[update]\n\nb")])
def test_a_person_settles_in_the_inbox_what_no_policy_can(
    main: Zapomni, opened: Callable[..., Zapomni], choice: str, content: str
) -> None:
    made = main.remember("old").id
    main.versions.create_branch("b")
    work = opened("b")
    work.update(made, content="b")
    main.update(made, content="m")
    main.versions.merge_branch("b")
    main.versions.merge_branch("b")
    (waiting,) = main.review.proposals()
    assert "branch b" in waiting.reason
    decided = main.review.accept(waiting.id, choice=choice)
    assert main.show(made)[0].content == work.show(made)[0].content == content
    assert main.versions.merge_branch("b").steps == ()
    assert decided.run is not None
    main.undo_run(decided.run)
    assert (main.show(made)[0].content, work.show(made)[0].content) == ("m", "b")


@pytest.mark.promise("branch.policies")
@pytest.mark.parametrize(
    ("policy", "branch", "line", "left", "result"),
    [
        (None, "delete", "change", True, {"main"}),
        ("replace", "delete", "change", False, set()),
        ("append", "delete", "change", False, {"main"}),
        (None, "change", "delete", True, set()),
        ("append", "change", "delete", False, {"branch"}),
        ("replace", "change", "delete", False, {"branch"}),
        (None, "delete", "delete", False, set()),
    ],
)
def test_a_deletion_against_a_change_is_settled_like_two_changes(
    main: Zapomni,
    opened: Callable[..., Zapomni],
    policy: str | None,
    branch: str,
    line: str,
    left: bool,  # noqa: FBT001 - a case
    result: set[str],
) -> None:
    made = main.remember("old").id
    main.versions.create_branch("b")
    for side, app, act in (("branch", opened("b"), branch), ("main", main, line)):
        _ = app.delete(made) if act == "delete" else app.update(made, content=side)
    (step,) = main.versions.merge_branch("b", policy=policy).steps
    assert (step.done.value == "left") is left
    assert texts(main) == result


@pytest.mark.promise("branch.dropped")
def test_a_dropped_branch_leaves_the_main_line_untouched_and_comes_back(
    main: Zapomni, opened: Callable[..., Zapomni]
) -> None:
    made = main.remember("one").id
    main.versions.create_branch("b")
    work = opened("b")
    work.update(made, content="two")
    work.remember("new")
    before = main.store.history(made)
    came = main.versions.drop_branch("b")
    assert (came.dropped, texts(main), main.store.history(made)) == (2, {"one"}, before)
    assert main.versions.branches() == []
    with pytest.raises(NotFound):
        work.remember("after the drop")
    with pytest.raises(NotFound):
        main.versions.drop_branch("b")
    main.undo_run(came.run)
    assert [one.changes for one in main.versions.branches()] == [2]
    assert texts(work) == {"two", "new"}
    main.versions.drop_branch("b")
    main.versions.create_branch("b")
    assert texts(work) == {"one"}


@pytest.mark.promise("branch.erased")
def test_erasing_a_memory_takes_what_branches_repeat_of_it_along(main: Zapomni, opened: Callable[..., Zapomni]) -> None:
    made = main.remember("secret one").id
    main.versions.create_branch("b")
    opened("b").update(made, content="secret two")
    main.delete(made, erase=True)
    where = Filter(expired=True, deleted=True, trusts=tuple(Trust))
    assert main.store.page(where, 10).total == 0
    assert all(
        revision.after is None and revision.before is None
        for no in range(1, 9)
        if (revision := main.store.revision(no)) is not None
    )


@pytest.mark.promise("branch.apart")
def test_a_move_to_another_scope_on_a_branch_is_merged(main: Zapomni, opened: Callable[..., Zapomni]) -> None:
    made = main.remember("one").id
    main.versions.create_branch("b")
    work = opened("b")
    work.update(made, move_to="project:Дом")
    assert texts(work) == set()
    assert texts(work, scopes=["project:Дом"]) == {"one"}
    assert texts(main, scopes=["all"]) == {"one"}
    main.versions.merge_branch("b")
    assert str(main.show(made, scopes=["all"])[0].scope) == "project:Дом"
    assert replace(main.show(made, scopes=["all"])[0], title="x").title == "x"


@pytest.mark.promise("branch.apart")
def test_what_lies_on_branches_is_named_by_an_export_and_folders_are_scanned_from_a_branch(
    main: Zapomni, opened: Callable[..., Zapomni], tmp_path: Path
) -> None:
    main.remember("На главной линии.")
    assert main.export(tmp_path / "out.jsonl").not_carried == ()
    main.versions.create_branch("опыт")
    work = opened("опыт")
    work.remember("На ветке.")
    assert main.export(tmp_path / "out.jsonl").not_carried == ("1 on branches, until they are merged",)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Заметка.\n", encoding="utf-8")
    main.documents.add(tmp_path / "notes", mode="mirror", scope="agent:lion")
    (scanned,) = work.vaults.scan(scopes=["agent:lion"])
    assert (scanned.added, work.reading.scan(scopes=["agent:lion"])) == (1, [])
    assert [memory.content for memory in main.list(scopes=["agent:lion"]).memories] == ["Заметка."]


@pytest.mark.parametrize("verb", ["diff_branch", "merge_branch", "drop_branch"])
def test_who_asks_for_a_branch_that_is_not_there_is_shown_those_that_are_and_told_to_make_none(
    main: Zapomni, opened: Callable[..., Zapomni], verb: str
) -> None:
    main.versions.create_branch("опыт")
    with pytest.raises(NotFound) as far:
        getattr(main.versions, verb)("nope")
    assert far.value.remedy == "`zapomni branch list` shows those that are there"
    with pytest.raises(NotFound) as near:
        getattr(main.versions, verb)("опыты")
    assert near.value.remedy == "Did you mean опыт?"
    with pytest.raises(NotFound, match="there is no branch 'nope'") as worked_on:
        opened("nope").remember("x")
    assert worked_on.value.remedy == "`zapomni branch create nope` makes it"
