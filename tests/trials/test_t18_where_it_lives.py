"""T18: the store lies in one place, whatever folder the command or server starts in and however the path is written.

The path of a setting is a folder, which holds `memories.db`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import servers
from tests.trials import drivers_b as drive

world = drive.world
BLUE = "The blue folder is on shelf 3."
PACKAGE = servers.ROOT / "src" / "zapomni"


@pytest.fixture
def plain(world: drive.World) -> dict[str, str]:
    """The environment of a person who has set nothing."""
    env = servers.environment(world.home)
    for name in ("ZAPOMNI_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        env.pop(name, None)
    return env


def run(env: dict[str, str], folder: Path | str, *words: str, gone: bool = False) -> str:
    start = 'cd "$0" && { [ "$1" = gone ] && rmdir "$0"; shift; exec "$@"; }'
    mark = "gone" if gone else "there"
    command = ["sh", "-c", start, str(folder), mark, *drive.CLI, *words]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def served(home: Path, folder: Path, **more: str) -> tuple[str, list[str]]:
    """What a client's own server, started there, knows: where the store lies and what it recalls."""
    server = servers.Server(folder, **({"HOME": str(home)} | more))
    try:
        server.handshake()
        found = server.good("recall_memory", query="where is the blue folder", mode="lexical")
        return server.good("memory_stats")["store"], drive.texts(found)
    finally:
        server.stop()


@pytest.mark.promise("config.home")
def test_with_nothing_set_every_folder_leads_to_the_same_store_and_gets_no_file(
    world: drive.World, plain: dict[str, str]
) -> None:
    before = drive.files_of(PACKAGE)
    folders = [world.home / name for name in ("A", "B", "gone")]
    for folder in folders:
        folder.mkdir()
    run(plain, folders[0], "store", BLUE)
    for folder in (folders[0], folders[1], Path("/"), folders[2]):
        assert BLUE in run(plain, folder, "recall", "blue folder", gone=folder == folders[2])
    assert not folders[2].exists()
    assert drive.files_of(folders[0]) == drive.files_of(folders[1]) == set()
    assert drive.files_of(PACKAGE) == before
    (store,) = world.home.rglob("memories.db")
    assert str(store) in run(plain, "/", "stats")


@pytest.mark.promise("config.home")
def test_another_copy_of_the_package_finds_the_same_store(world: drive.World, plain: dict[str, str]) -> None:
    run(plain, "/", "store", BLUE)
    upgraded = world.home / "site"
    shutil.copytree(PACKAGE, upgraded / "zapomni", ignore=shutil.ignore_patterns("__pycache__"))
    code = "import zapomni; print(zapomni.__file__)"
    env = plain | {"PYTHONPATH": str(upgraded), "PYTHONDONTWRITEBYTECODE": "1"}
    where = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert where.startswith(str(upgraded))
    before = drive.files_of(upgraded)
    assert BLUE in run(env, "/", "recall", "blue folder")
    assert drive.files_of(upgraded) == before


@pytest.mark.promise("config.home")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("~/mem test", "mem test"),
        ("$HOME/x/y/z", "x/y/z"),
        ("${HOME}/Память и файлы", "Память и файлы"),
        ("./rel", "A/rel"),
        ("../up", "up"),
    ],
)
def test_a_path_of_a_client_s_configuration_is_expanded_made_and_named_whole(
    world: drive.World, plain: dict[str, str], written: str, meant: str
) -> None:
    folder = world.home / "A"
    folder.mkdir()
    run(plain | {"ZAPOMNI_HOME": written}, folder, "store", BLUE)
    store = world.home / meant / "memories.db"
    assert store.is_file()
    assert served(world.home, folder, ZAPOMNI_HOME=written) == (str(store), [BLUE])
    if meant == "A/rel":  # documented: in a variable it starts from the working folder
        other = world.home / "B"
        other.mkdir()
        assert served(world.home, other, ZAPOMNI_HOME=written) == (str(other / "rel" / "memories.db"), [])


@pytest.mark.promise("config.origin")
def test_a_path_that_cannot_be_expanded_stops_the_start_by_name(world: drive.World, plain: dict[str, str]) -> None:
    command: list[Any] = [*drive.CLI, "recall", "x"]
    for written in ("$NO_SUCH_VARIABLE/store", "~nobody-of-this-name/store"):
        env = plain | {"ZAPOMNI_HOME": written}
        done = subprocess.run(command, env=env, cwd=world.home, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "home" in done.stderr
        assert written.split("/", maxsplit=1)[0].strip("$") in done.stderr
    assert not list(world.home.rglob("memories.db"))
