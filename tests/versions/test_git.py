from __future__ import annotations

import shutil
import subprocess
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zapomni
from zapomni.errors import Refused, Unavailable
from zapomni.model import Filter, Trust
from zapomni.text.filenames import LONGEST, file_name
from zapomni.text.frontmatter import frontmatter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zapomni.app import Zapomni

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Zapomni]:
    with zapomni.open(tmp_path / "home", **{"embedder.provider": "none"}) as opened:
        yield opened


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.quotepath=false", "-c", "safe.directory=*", *arguments]
    env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(folder: Path) -> set[str]:
    return {str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file() and ".git" not in f.parts}


def everything(folder: Path) -> str:
    """Return the text of every object that git can find, reachable or not, and of every file beside them."""
    names = git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").splitlines()
    texts = [git(folder, "cat-file", "-p", name.split()[0]) for name in names]
    return "\n".join([*texts, *(f.read_bytes().decode("utf-8", "replace") for f in folder.rglob("*") if f.is_file())])


@needs_git
@pytest.mark.promise("git.whole")
def test_every_change_is_a_commit_of_its_actor_and_time(memory: Zapomni, tmp_path: Path) -> None:
    made = memory.remember("Пишет на Питоне", title="Язык", path="profile.skills.python", about="user").id
    memory.update(made, content="Пишет на Питоне и Rust")
    memory.update(made, path="profile.skills")
    memory.delete(made)
    memory.undo(made)
    out = tmp_path / "история"
    came = memory.export_git(out)
    assert (came.added, came.commits, came.files) == (5, 5, 1)
    log = git(out, "log", "--reverse", "--format=%an|%aI|%s").splitlines()
    assert [line.split("|")[2] for line in log] == [
        f"{verb}: Язык" for verb in ("create", "update", "update", "delete", "restore")
    ]
    at = memory.history(made)[1][0].at.isoformat(timespec="seconds")
    assert log[0].split("|")[:2] == ["library", at.replace("+00:00", "Z")] or log[0].split("|")[1] == at
    assert git(out, "show", "--stat", "--format=", "HEAD~4").split()[0] == "user/profile/skills/python/язык.md"
    assert git(out, "show", "-M", "--name-status", "--format=", "HEAD~2").startswith("R")
    assert git(out, "show", "--name-status", "--format=", "HEAD~1").startswith("D")
    assert git(out, "status", "--porcelain") == ""
    assert git(out, "fsck", "--strict", "--full") == ""
    note = (out / "user/profile/skills/язык.md").read_text(encoding="utf-8")
    header = frontmatter(note)
    assert header.values["name"] == "язык"
    assert header.values["zapomni"]["title"] == "Язык"
    assert header.values["metadata"]["type"] == "user"
    assert header.values["zapomni"]["id"] == made
    assert note[header.start :].strip() == "Пишет на Питоне и Rust"


@needs_git
@pytest.mark.promise("git.whole")
def test_a_run_is_one_commit(memory: Zapomni, tmp_path: Path) -> None:
    made = [memory.remember(f"memory {n}").id for n in range(3)]
    run = memory.delete_many(made).run
    came = memory.export_git(tmp_path / "out")
    assert (came.commits, came.files) == (4, 0)
    message = git(tmp_path / "out", "log", "-1", "--format=%B")
    assert message.startswith("delete: 3 changes")
    assert f"Zapomni-Run: {run}" in message


@needs_git
@pytest.mark.promise("git.grows")
def test_a_second_export_adds_what_came_since_and_rewrites_nothing(memory: Zapomni, tmp_path: Path) -> None:
    out = tmp_path / "out"
    memory.remember("один", title="Первая")
    memory.export_git(out)
    (first,) = git(out, "log", "--format=%H").split()
    assert memory.export_git(out).added == 0
    memory.remember("два", title="Вторая", scope="project:Дом/сад")
    assert memory.export_git(out).added == 1
    assert git(out, "log", "--format=%H").split()[1] == first
    assert files(out) == {"user/первая.md", "project/Дом-сад/вторая.md"}
    again = memory.export_git(tmp_path / "again")
    assert git(out, "rev-parse", "HEAD") == git(tmp_path / "again", "rev-parse", "HEAD")
    assert again.added == 2


@needs_git
@pytest.mark.promise("git.erased")
def test_what_was_erased_is_nowhere_in_the_repository(memory: Zapomni, tmp_path: Path) -> None:
    out = tmp_path / "out"
    memory.remember("остаётся")
    gone = memory.remember("тайное слово", title="Тайна").id
    memory.export_git(out)
    memory.delete(gone, erase=True)
    memory.remember("new since")
    with pytest.raises(Refused, match="erased"):
        memory.export_git(out)
    assert "тайное" in everything(out)
    came = memory.export_git(out, force=True)
    assert (came.rebuilt, came.commits, came.files) == (True, 2, 2)
    assert "тайн" not in everything(out).casefold()
    assert git(out, "fsck", "--strict", "--full") == ""
    assert memory.export_git(out).added == 0


@needs_git
@pytest.mark.promise("git.grows")
def test_an_export_never_overwrites_what_others_did(memory: Zapomni, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = memory.remember("one", title="note").id
    memory.export_git(out)
    (out / "user" / "note.md").write_text("mine", encoding="utf-8")
    memory.update(made, content="two")
    head = git(out, "rev-parse", "HEAD")
    with pytest.raises(Refused, match="edited"):
        memory.export_git(out)
    assert git(out, "rev-parse", "HEAD") == head
    assert (out / "user" / "note.md").read_text(encoding="utf-8") == "mine"
    git(out, "checkout", "--", ".")
    git(out, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-m", "by hand")
    with pytest.raises(Refused, match="committed"):
        memory.export_git(out)


@pytest.mark.promise("git.grows")
def test_an_export_into_a_folder_of_something_else_is_refused(memory: Zapomni, tmp_path: Path) -> None:
    memory.remember("one")
    full, file, other = tmp_path / "full", tmp_path / "file", tmp_path / "other"
    full.mkdir()
    (full / "mine.txt").write_text("mine", encoding="utf-8")
    file.write_text("mine", encoding="utf-8")
    (other / ".git").mkdir(parents=True)
    (other / "mine.txt").write_text("mine", encoding="utf-8")
    for target in (full, file, other):
        with pytest.raises(Refused):
            memory.export_git(target, force=True)
    assert [path.name for path in full.iterdir()] == ["mine.txt"]


@needs_git
@pytest.mark.promise("git.grows")
def test_an_export_keeps_to_main_and_is_its_owners_alone(memory: Zapomni, tmp_path: Path) -> None:
    out, begun = tmp_path / "deep" / "out", tmp_path / "begun"
    memory.remember("one", title="note")
    memory.export_git(out)
    assert out.stat().st_mode & 0o077 == 0
    git(out, "checkout", "-b", "mine")
    memory.remember("two")
    with pytest.raises(Refused, match="main"):
        memory.export_git(out, force=True)
    begun.mkdir()
    git(begun, "init", "-b", "trunk")
    memory.export_git(begun)
    assert git(begun, "log", "--format=%s").splitlines() == ["create: two", "create: note"]
    (begun / ".git" / "index").unlink()
    (begun / "user" / "two.md").unlink()  # as if an export had been killed in between
    memory.export_git(begun)
    assert git(begun, "status", "--porcelain") == ""


@needs_git
@pytest.mark.promise("git.whole")
@pytest.mark.parametrize("left", [".git.new/.git/config.lock", ".git.new/.git/HEAD", ".git.new/half"])
def test_an_export_that_was_killed_while_it_made_the_repository_is_done_anew(
    memory: Zapomni, tmp_path: Path, left: str
) -> None:
    memory.remember("Тело", title="Заметка")
    half = tmp_path / "out" / left
    half.parent.mkdir(parents=True)
    half.write_text("")
    memory.export_git(tmp_path / "out")
    assert files(tmp_path / "out") == {"user/заметка.md"}
    assert not (tmp_path / "out" / ".git.new").exists()


@needs_git
@pytest.mark.promise("git.whole")
def test_a_file_that_a_kill_left_half_written_is_written_whole(memory: Zapomni, tmp_path: Path) -> None:
    made = memory.remember("Тело", title="Заметка").id
    memory.export_git(tmp_path / "out")
    file = tmp_path / "out" / "user" / "заметка.md"
    memory.update(made, content="Другое тело")
    index = (tmp_path / "out" / ".git" / "index").read_bytes()
    memory.export_git(tmp_path / "out")
    whole = file.read_bytes()
    file.write_bytes(whole[:20])
    (tmp_path / "out" / ".git" / "index").write_bytes(index)
    memory.export_git(tmp_path / "out")
    assert file.read_bytes() == whole
    assert git(tmp_path / "out", "status", "--porcelain") == ""


@pytest.mark.promise("git.grows")
def test_a_repository_that_another_program_writes_to_is_named_with_its_lock(memory: Zapomni, tmp_path: Path) -> None:
    memory.remember("One")
    memory.export_git(tmp_path / "out")
    memory.remember("Two")
    lock = tmp_path / "out" / ".git" / "index.lock"
    lock.write_text("")
    with pytest.raises(Unavailable, match=r"index\.lock is there") as caught:
        memory.export_git(tmp_path / "out")
    assert "delete that file" in (caught.value.remedy or "")
    lock.unlink()
    assert memory.export_git(tmp_path / "out").files == 2


@pytest.mark.promise("git.whole")
def test_without_dulwich_the_extra_is_named(memory: Zapomni, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "dulwich", None)
    monkeypatch.setitem(__import__("sys").modules, "dulwich.file", None)
    with pytest.raises(Unavailable, match=r"zapomni\[git\]"):
        memory.export_git(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@needs_git
@pytest.mark.promise("git.names")
def test_names_that_some_system_takes_for_one_are_told_apart(memory: Zapomni, tmp_path: Path) -> None:
    for no, title in enumerate(
        ("Note", "note", "NOTE", "aux", "a:b?", "..", ".git", "ё", unicodedata.normalize("NFD", "ё"))
    ):
        memory.remember(f"text {no}", title=title, path="Top.Sub" if no % 2 else "top.sub")
    for scope in ("project:Shop", "project:shop"):
        memory.remember("one", title="x", scope=scope)
    out = tmp_path / "out"
    memory.export_git(out)
    names = files(out)
    assert len({name.casefold() for name in names}) == len(names) == 11
    assert len({name.split("/")[1].casefold() for name in names if name.startswith("project/")}) == 2
    assert len({name.rpartition("/")[0] for name in names if name.startswith("user/")}) == 1
    assert git(out, "fsck", "--strict", "--full") == ""
    assert git(out, "status", "--porcelain") == ""


@pytest.mark.promise("git.names")
@given(st.text())
def test_a_name_can_be_kept_by_every_system(text: str) -> None:
    name = file_name(text)
    assert 0 < len(name.encode()) <= LONGEST + 1
    assert not set(name) & set('<>:"/\\|?*~\0')
    assert name == name.strip(" .-")
    assert name == unicodedata.normalize("NFC", name)
    assert name.partition(".")[0].casefold() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@pytest.mark.promise("git.whole")
def test_the_files_are_the_memories_that_there_are_after_any_history(memory: Zapomni, tmp_path: Path) -> None:
    import random

    dice, ids = random.Random(5), list[str]()
    for no in range(60):
        act = dice.choice(["new", "new", "title", "move", "delete", "undo"])
        if act == "new" or not ids:
            ids.append(
                memory.remember(
                    f"text {no}", title=dice.choice(["один", "Два", ""]), path=dice.choice([None, "a.b", "a"])
                ).id
            )
            continue
        one = dice.choice(ids)
        try:
            if act == "title":
                memory.update(one, title=dice.choice(["один", "Два", "три"]))
            elif act == "move":
                memory.update(one, move_to=dice.choice(["user", "project:x"]), scopes=["all"])
            elif act == "delete":
                memory.delete(one, scopes=["all"])
            else:
                memory.undo(one, scopes=["all"])
        except zapomni.errors.ZapomniError:
            continue
        if no % 20 == 0:
            memory.export_git(tmp_path / "out")
    memory.export_git(tmp_path / "out")
    alive = memory.store.page(Filter(trusts=tuple(Trust)), 1_000).memories
    held = [(tmp_path / "out" / name).read_text(encoding="utf-8") for name in files(tmp_path / "out")]
    assert sorted(frontmatter(text).values["zapomni"]["id"] for text in held) == sorted(one.id for one in alive)
