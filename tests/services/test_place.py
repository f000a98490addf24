"""The default scope: the repository of the working folder, however it is laid out, else the user."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.errors import ConfigError, NotFound
from zapomni.opening import open_memory
from zapomni.record import parse_scope
from zapomni.services.place import find_project, normal_remote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.promise("scope.place")


def git(*words: object) -> None:
    ambient = os.environ  # noqa: TID251 - git starts from the environment of its test
    apart = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always")
    subprocess.run(
        ["git", *who, *map(str, words)],
        check=True,
        capture_output=True,
        env={**{name: value for name, value in ambient.items() if not name.startswith("GIT_")}, **apart},
    )


def repository(folder: Path, remote: str | None = None) -> Path:
    git("init", "-q", folder)
    if remote is not None:
        git("-C", folder, "remote", "add", "origin", remote)
    git("-C", folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Callable[..., Zapomni]]:
    """Open the one store of the test from a folder."""
    apps: list[Zapomni] = []

    def open_at(folder: Path | None, **settings: object) -> Zapomni:
        given = {"home": tmp_path / "home", "embedder.provider": "none", **settings}
        apps.append(Zapomni(load(given, environ={}, cwd=tmp_path), folder=folder))
        return apps[-1]

    yield open_at
    for app in apps:
        app.close()


@pytest.fixture
def scope(at: Callable[..., Zapomni]) -> Callable[[Path | None], str]:
    """The scope that a write from a folder goes to."""
    return lambda folder: str(at(folder).context.place.write)


if TYPE_CHECKING:
    Scope = Callable[[Path | None], str]


def test_a_folder_in_no_repository_means_the_user(scope: Scope, tmp_path: Path) -> None:
    (tmp_path / "plain" / "deep").mkdir(parents=True)
    assert scope(tmp_path / "plain" / "deep") == "user"
    assert scope(tmp_path / "not there") == "user"
    assert scope(None) == "user"


def test_outside_a_repository_a_folder_with_settings_of_its_own_is_a_project(scope: Scope, tmp_path: Path) -> None:
    below = tmp_path / "заметки" / "2026"
    below.mkdir(parents=True)
    (tmp_path / "заметки" / ".zapomni.toml").touch()
    assert scope(below) == "project:заметки"


def test_what_stands_in_the_place_of_settings_leaves_no_project_to_the_user(scope: Scope, tmp_path: Path) -> None:
    below = tmp_path / "заметки" / "2026"
    below.mkdir(parents=True)
    (tmp_path / "заметки" / ".zapomni.toml").symlink_to("nowhere.toml")
    with pytest.raises(ConfigError, match=r"it is a link to nowhere\.toml, which is not there"):
        scope(below)


def test_the_folder_that_a_program_names_brings_its_settings(tmp_path: Path) -> None:
    (tmp_path / "заметки" / "2026").mkdir(parents=True)
    (tmp_path / "заметки" / ".zapomni.toml").write_text("recall.limit = 3")
    with open_memory(tmp_path / "data", folder=tmp_path / "заметки" / "2026") as app:
        assert app.config.recall.limit == 3


def test_a_repository_names_the_project_from_every_folder_below(scope: Scope, tmp_path: Path) -> None:
    shop = repository(tmp_path / "Мой shop")
    (shop / "src" / "deep").mkdir(parents=True)
    assert scope(shop) == scope(shop / "src" / "deep") == "project:Мой shop"


def test_worktrees_share_the_memory_of_their_repository(at: Callable[..., Zapomni], tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git("-C", shop, "worktree", "add", "-q", tmp_path / "elsewhere" / "feature")
    stored = at(shop).remember("Релизы по пятницам запрещены.")
    tree = at(tmp_path / "elsewhere" / "feature")
    assert [str(scope) for scope in tree.context.place.read] == ["project:shop", "user"]
    assert tree.show(stored.id)[0].content == "Релизы по пятницам запрещены."


def test_a_submodule_is_a_project_of_its_own_the_same_as_its_clone(scope: Scope, tmp_path: Path) -> None:
    library = repository(tmp_path / "origin" / "library")
    shop = repository(tmp_path / "shop")
    git("-C", shop, "submodule", "add", "-q", library, "vendor/lib")
    git("clone", "-q", library, tmp_path / "clone")
    assert scope(shop) == "project:shop"
    inside = scope(shop / "vendor" / "lib")
    assert inside == "project:lib"
    assert scope(tmp_path / "clone") == inside


def test_worktrees_of_a_bare_repository_share_its_name(scope: Scope, tmp_path: Path) -> None:
    source = repository(tmp_path / "source")
    git("clone", "-q", "--bare", source, tmp_path / "shop.git")
    git("-C", tmp_path / "shop.git", "worktree", "add", "-q", tmp_path / "one")
    git("-C", tmp_path / "shop.git", "worktree", "add", "-q", tmp_path / "two")
    assert scope(tmp_path / "one") == scope(tmp_path / "two") == "project:shop"
    assert scope(tmp_path / "shop.git") == "user", "nobody works inside a bare repository"


def test_a_bare_repository_hidden_beside_its_worktrees_is_named_by_their_folder(scope: Scope, tmp_path: Path) -> None:
    source = repository(tmp_path / "source")
    shop = tmp_path / "shop"
    git("clone", "-q", "--bare", source, shop / ".bare")
    (shop / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    git("-C", shop, "worktree", "add", "-q", "main2")
    assert scope(shop) == scope(shop / "main2") == "project:shop"


def test_two_repositories_of_one_name_are_two_projects(at: Callable[..., Zapomni], tmp_path: Path) -> None:
    one = repository(tmp_path / "a" / "app", "git@example.com:one/app.git")
    two = repository(tmp_path / "b" / "app", "git@example.com:two/app.git")
    three = repository(tmp_path / "c" / "app")
    scopes = [str(at(folder).context.place.write) for folder in (one, two, three)]
    assert scopes[0] == "project:app"
    assert len(set(scopes)) == 3
    assert all(name.startswith("project:app-") for name in scopes[1:])
    assert [str(at(folder).context.place.write) for folder in (three, two, one)] == scopes[::-1]
    at(one).remember("Только для первого.")
    assert at(two).list().total == 0


def test_a_reading_makes_no_scope_known_and_the_first_write_does(at: Callable[..., Zapomni], tmp_path: Path) -> None:
    one, two = repository(tmp_path / "a" / "app"), repository(tmp_path / "b" / "app")
    (tmp_path / "заметки").mkdir()
    (tmp_path / "заметки" / ".zapomni.toml").touch()
    reader = at(one)
    for folder in (one, two, tmp_path / "заметки"):
        at(folder).stats()
        at(folder).recall("что угодно")
    assert reader.store.scopes() == []
    with pytest.raises(NotFound, match="no memory was ever stored in scope project:заметки"):
        reader.recall("что угодно", scopes=["project:заметки"])
    reader.remember("Только для первого.")
    assert [str(scope) for scope in reader.store.scopes()] == ["project:app"]
    assert str(at(two).context.place.write).startswith("project:app-")
    assert str(at(one).context.place.write) == "project:app"
    assert at(tmp_path / "заметки").recall("что угодно", scopes=["project:app"]).hits == ()


def test_clones_of_one_remote_are_one_project_whatever_their_folders(scope: Scope, tmp_path: Path) -> None:
    first = repository(tmp_path / "shop", "git@example.com:team/shop.git")
    again = repository(tmp_path / "laptop" / "my-shop", "https://user:token@Example.com/team/shop")
    assert scope(first) == scope(again) == "project:shop"


def test_a_repository_with_a_remote_may_be_moved(scope: Scope, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", "https://example.com/team/shop.git")
    before = scope(shop)
    shop.rename(tmp_path / "renamed")
    assert scope(tmp_path / "renamed") == before == "project:shop"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/team/app",
        "https://example.com/team/app.git",
        "https://example.com/team/app.git/",
        "http://example.com/team/app/",
        "https://EXAMPLE.com/team/app.git",
        "https://somebody@example.com/team/app.git",
        "https://somebody:token@example.com/team/app.git",
        "git@example.com:team/app.git",
        "example.com:team/app",
        "ssh://git@example.com/team/app.git",
        "git://example.com/team/app",
        "  https://example.com/team/app  ",
    ],
)
def test_the_ways_to_write_a_remote_are_one(url: str) -> None:
    assert normal_remote(url) == "example.com/team/app"


def test_letter_case_of_a_path_tells_remotes_apart() -> None:
    assert normal_remote("https://example.com/Team/app") != normal_remote("https://example.com/team/app")
    assert normal_remote("/srv/git/app.git") == normal_remote("file:///srv/git/app") == "/srv/git/app"


def test_only_the_remote_called_origin_counts(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", "https://example.com/team/shop")
    git("-C", shop, "remote", "add", "upstream", "https://example.com/other/shop")
    git("-C", shop, "remote", "remove", "origin")
    project = find_project(shop)
    assert project is not None
    assert project.identities == (str((shop / ".git").resolve()),)


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: /gone", b"\xff\xfe\x00", b"nonsense"])
def test_a_git_file_that_says_nothing_is_passed_over(scope: Scope, tmp_path: Path, content: bytes) -> None:
    shop = repository(tmp_path / "shop")
    (shop / "sub").mkdir()
    (shop / "sub" / ".git").write_bytes(content)
    assert scope(shop / "sub") == "project:shop"


def test_a_scope_of_the_settings_wins_and_teams_are_read_too(at: Callable[..., Zapomni], tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    place = at(shop, scope="agent:critic", teams="web,ops").context.place
    assert str(place.write) == "agent:critic"
    assert [str(scope) for scope in place.read] == ["agent:critic", "team:web", "team:ops", "user"]
    place = at(shop, teams="web").context.place
    assert [str(scope) for scope in place.read] == ["project:shop", "team:web", "user"]


@pytest.mark.promise("scope.place")
def test_a_repository_stays_the_one_it_was_when_its_remote_changes(scope: Scope, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    first = scope(shop)
    git("-C", shop, "remote", "add", "origin", "https://example.com/team/shop")
    assert scope(shop) == first
    git("-C", shop, "remote", "set-url", "origin", "https://example.com/new/shop")
    assert scope(shop) == first
    moved = shop.rename(tmp_path / "moved")
    assert scope(moved) == first


@pytest.mark.promise("scope.place")
@pytest.mark.parametrize("name", ["no\u200bwidth", "x" * 200, "Проект А"])
def test_any_folder_gives_a_scope_that_can_be_named(scope: Scope, tmp_path: Path, name: str) -> None:
    one, other = (repository(tmp_path / place / name) for place in ("a", "b"))
    assert parse_scope(scope(one)) != parse_scope(scope(other))
