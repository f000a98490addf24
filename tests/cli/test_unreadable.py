"""Settings files and folders that the system does not let one read: named, and no more than that is lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]

pytestmark = pytest.mark.promise("settings.unreadable")


@pytest.fixture
def shut(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Let nothing in a folder be looked at, as the system does to others than root."""

    def call(folder: Path) -> None:
        real = os.stat

        def stat(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
            if not isinstance(path, int) and os.fspath(path).startswith(f"{folder}/"):
                raise PermissionError(13, "Permission denied", os.fspath(path))
            return real(path, *args, **kwargs)

        monkeypatch.setattr(os, "stat", stat)
        monkeypatch.setattr(os, "lstat", lambda path, **kwargs: stat(path, follow_symlinks=False, **kwargs))

    return call


@pytest.fixture
def deep(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder inside of another one."""
    inner = home / "закрыто" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    return inner


def test_a_folder_that_cannot_be_looked_into_stops_no_command_and_is_named(
    zap: Zap, deep: Path, shut: Callable[[Path], None]
) -> None:
    shut(deep.parent)
    assert zap("store", "Релизы по средам.").status == 0
    assert "средам" in zap("recall", "когда релизы").out
    shown = zap("config", "show")
    assert (shown.status, f"{deep} (Permission denied)" in shown.err) == (0, True)
    assert f"{deep} (Permission denied)" in zap("config", "show", "--json").json["unread"]
    checked = zap("doctor")
    assert (checked.status, f"{deep} (Permission denied)" in checked.out) == (0, True)


def test_settings_above_a_folder_that_cannot_be_looked_into_still_count(
    zap: Zap, home: Path, deep: Path, shut: Callable[[Path], None]
) -> None:
    (home / ".git").mkdir()
    (home / ".git" / "HEAD").touch()
    (home / ".zapomni.toml").write_text("recall.limit = 3")
    shut(deep.parent)
    rows = {row["name"]: row["value"] for row in zap("config", "show", "--json").json["settings"]}
    assert rows["recall.limit"] == "3"


def _folder(path: Path) -> None:
    path.mkdir()


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere.toml")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("where", [".config/zapomni/config.toml", "work/.zapomni.toml"])
@pytest.mark.parametrize("put", [_folder, _dangling, _loop, _pipe])
def test_what_stands_for_settings_and_is_no_file_is_named_with_what_to_do(
    zap: Zap, home: Path, put: Callable[[Path], None], where: str
) -> None:
    path = home / where
    path.parent.mkdir(parents=True, exist_ok=True)
    put(path)
    for words in (["list"], ["recall", "что"], ["config", "show"]):
        refused = zap(*words)
        assert (refused.status, refused.out) == (2, ""), refused
        assert f"The settings file {path} cannot be read" in refused.err
        assert "Mend or remove it" in refused.err
    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert zap("list").status == 0


@pytest.mark.parametrize("repository", [False, True])
@pytest.mark.parametrize("put", [_folder, _dangling, _loop, _pipe])
def test_what_stands_above_for_the_settings_of_a_project_stops_what_is_below(
    zap: Zap, home: Path, deep: Path, put: Callable[[Path], None], *, repository: bool
) -> None:
    path = deep.parent / ".zapomni.toml"
    put(path)
    if repository:
        (deep.parent / ".git").mkdir()
        (deep.parent / ".git" / "HEAD").touch()
    refused = zap("store", "Секрет этого проекта.")
    assert (refused.status, f"The settings file {path} cannot be read" in refused.err) == (2, True), refused
    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert zap("list", "--scope", "all", "--json").json["memories"] == []


def test_the_file_that_names_the_project_sets_too(zap: Zap, deep: Path) -> None:
    (deep.parent / ".zapomni.toml").write_text("[recall]\nlimit = 3\n")
    rows = {row["name"]: row["value"] for row in zap("config", "show", "--json").json["settings"]}
    assert rows["recall.limit"] == "3"
    assert zap("store", "Kept.", "--json").json["scope"] == "project:закрыто"


NAMED: dict[Callable[[Path], None], str] = {
    _folder: "it is a folder",
    _dangling: "it is a link to nowhere.toml, which is not there",
    lambda _: None: "No such file or directory",
}


@pytest.mark.parametrize("put", NAMED)
def test_a_named_settings_file_that_cannot_be_read_is_told_as_any_other(
    zap: Zap, home: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Path], None]
) -> None:
    path = home / "моё.toml"
    put(path)
    monkeypatch.setenv("ZAPOMNI_CONFIG", str(path))
    refused = zap("list")
    assert (refused.status, refused.out) == (2, "")
    assert f"The settings file {path} cannot be read: {NAMED[put]}. Mend or remove it" in refused.err.replace("\n", " ")


@pytest.mark.parametrize("where", [".config/zapomni/config.toml", "work/.zapomni.toml"])
@pytest.mark.parametrize("there", [True, False])
def test_the_doctor_names_settings_that_cannot_be_read_and_looks_at_the_store(
    zap: Zap, home: Path, where: str, *, there: bool
) -> None:
    if there:
        zap("store", "Релизы по средам.")
    path = home / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir()
    checked = zap("doctor", "--json")
    assert checked.status == 8
    first, *others = checked.json["checks"]
    assert first["name"] == "settings"
    assert f"{path} cannot be read: it is a folder" in first["detail"]
    assert all(check["ok"] for check in others)
    assert ("integrity" in [check["name"] for check in others]) == there
    assert (home / "store" / "memories.db").exists() == there


def test_a_settings_file_without_the_right_to_read_it_is_named(
    zap: Zap, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "work" / ".zapomni.toml"
    path.write_text("recall.limit = 3")
    real = type(path).read_text

    def read_text(self: Path, *args: Any, **kwargs: Any) -> str:
        if self == path:
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, *args, **kwargs)

    monkeypatch.setattr(type(path), "read_text", read_text)
    refused = zap("recall", "что")
    assert (refused.status, "cannot be read" in refused.err, str(path) in refused.err) == (2, True, True)


def test_asking_where_settings_lie_says_when_that_cannot_be_looked_at(
    zap: Zap, home: Path, shut: Callable[[Path], None]
) -> None:
    shut(home / ".config")
    refused = zap("config", "path")
    assert (refused.status, "cannot be looked at" in refused.err) == (2, True)
    assert "config.toml cannot be read" in zap("list").err


def test_an_attached_folder_that_cannot_be_looked_at_is_a_finding_of_the_doctor(
    zap: Zap, home: Path, shut: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "shut" / "docs").mkdir(parents=True)
    monkeypatch.setenv("ZAPOMNI_DOCUMENTS_FOLDERS", str(home / "shut/docs"))
    shut(home / "shut")
    checked = zap("doctor")
    assert checked.status == 8
    assert f"{home / 'shut/docs'} cannot be looked at (Permission denied)" in checked.out


@pytest.mark.parametrize("target", ["gitdir: loop", "gitdir: a\0b"])
def test_a_repository_that_leads_nowhere_is_none(zap: Zap, home: Path, target: str) -> None:
    (home / "work" / "loop").symlink_to("loop")
    (home / "work" / ".git").write_text(target)
    assert zap("store", "Kept.", "--json").json["scope"] == "user"
