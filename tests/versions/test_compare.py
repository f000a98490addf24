from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zapomni
from zapomni.errors import InvalidInput, NotFound
from zapomni.text.changes import steps, unified

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zapomni.app import Zapomni

LINES = st.lists(st.sampled_from(["", "a", "b", "строка", "раз-два", "+", "- x"]), max_size=12)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Zapomni]:
    with zapomni.open(tmp_path, **{"embedder.provider": "none"}) as opened:
        yield opened


@given(LINES, LINES)
def test_the_steps_lead_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    built: list[str] = []
    at = (0, 0)
    for step in steps(before, after):
        assert (step.a, step.b) == at
        at = (step.a_end, step.b_end)
        built += before[step.a : step.a_end] if step.equal else after[step.b : step.b_end]
    assert at == (len(before), len(after))
    assert built == after


@pytest.mark.promise("history.diff")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("один\nдва\nтри", "один\nдва с половиной\nтри"),
        ("\n".join(map(str, range(40))), "\n".join(str(n * (n not in {3, 20, 24, 39})) for n in range(40))),
        ("a\nb", "a\nb\nc\n"),
    ],
)
def test_a_diff_is_one_that_patch_understands(before: str, after: str, tmp_path: Path) -> None:
    (tmp_path / "note").write_text(before + "\n", encoding="utf-8")
    patch = "\n".join(["--- note", "+++ note", *unified(before, after), ""])
    done = subprocess.run(["patch", "-p0"], cwd=tmp_path, input=patch, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr + patch
    assert (tmp_path / "note").read_text(encoding="utf-8") == after + "\n"


def test_two_large_texts_are_compared_without_end_in_sight_of_a_second() -> None:
    before, after = ["a", "b"] * 20_000, ["b", "c", "a"] * 20_000
    assert [step.equal for step in steps(before, after)] == [False]


@pytest.mark.promise("history.diff")
def test_a_diff_shows_the_last_change_or_that_between_two_revisions(memory: Zapomni) -> None:
    made = memory.remember("первая\nвторая", title="Заметка").id
    memory.update(made, content="первая\nиная", tags=["дом"])
    memory.delete(made)
    seqs = [revision.seq for revision in memory.history(made)[1]]
    gone = memory.versions.diff(made)
    assert (gone.start, gone.end, gone.lines, [one.name for one in gone.fields]) == (
        seqs[1],
        seqs[2],
        (),
        ["deleted_at"],
    )
    change = memory.versions.diff(made, end=seqs[1])
    assert change.lines == ("@@ -1,2 +1,2 @@", " первая", "-вторая", "+иная")
    assert [(one.name, one.before, one.after) for one in change.fields] == [("tags", [], ["дом"])]
    back = memory.versions.diff(made, start=seqs[1], end=seqs[0])
    assert back.lines == ("@@ -1,2 +1,2 @@", " первая", "-иная", "+вторая")
    born = memory.versions.diff(made, end=seqs[0])
    assert (born.start, born.lines) == (None, ("@@ -0,0 +1,2 @@", "+первая", "+вторая"))


@pytest.mark.promise("history.diff")
def test_a_diff_names_the_revisions_that_there_are(memory: Zapomni) -> None:
    made = memory.remember("one").id
    (only,) = memory.history(made)[1]
    with pytest.raises(NotFound, match=str(only.seq)):
        memory.versions.diff(made, start=999)
    with pytest.raises(InvalidInput, match="newest"):
        memory.versions.diff(made, start=only.seq)
    memory.delete(made, erase=True)
    assert memory.versions.diff(made).erased


@pytest.mark.promise("history.diff")
def test_a_diff_of_a_run_shows_every_memory_that_it_changed(memory: Zapomni) -> None:
    made = [memory.remember(text).id for text in ("one", "два")]
    run = memory.delete_many(made).run
    named, changes = memory.versions.diff_run(run)
    assert (named.verb, {one.id for one in changes}) == ("delete", set(made))
    with pytest.raises(NotFound):
        memory.versions.diff_run("none")


@pytest.mark.promise("history.blame")
def test_blame_names_the_revision_of_each_line_and_field(memory: Zapomni) -> None:
    made = memory.remember("первая\nвторая\nтретья", title="Заметка").id
    memory.update(made, content="первая\nиная\nтретья")
    memory.update(made, tags=["дом"])
    memory.delete(made)
    seqs = [revision.seq for revision in memory.history(made)[1]]
    found = memory.versions.blame(made)
    assert [(line.no, line.text, line.revision.seq) for line in found.lines] == [
        (1, "первая", seqs[0]),
        (2, "иная", seqs[1]),
        (3, "третья", seqs[0]),
    ]
    assert {one.name: one.revision.seq for one in found.fields}["tags"] == seqs[2]
    assert found.lines[0].revision.actor == "library"
    memory.delete(made, erase=True)
    with pytest.raises(NotFound, match="erased"):
        memory.versions.blame(made)


@pytest.mark.promise("history.topics")
def test_topics_are_counted_and_a_path_lists_what_is_below_it(memory: Zapomni) -> None:
    for path, text in [("profile.skills.python", "one"), ("profile.skills", "two"), ("профиль", "три"), (None, "four")]:
        memory.remember(text, path=path)
    assert memory.versions.topics(memory.filter((), {})) == {
        "profile.skills": 1,
        "profile.skills.python": 1,
        "профиль": 1,
    }
    assert {found.content for found in memory.list(path="profile").memories} == {"one", "two"}
