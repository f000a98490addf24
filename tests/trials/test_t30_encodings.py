"""T30: files in any encoding under a C locale, and a folder by any spelling.

Out of reach: Windows itself. Of its paths, what every system reads alike is tried: a slash at the end, a detour, a
link, and names that hold a backslash.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests import servers
from tests.trials import drivers_b as drive

if TYPE_CHECKING:
    from pathlib import Path

world = drive.world
C_LOCALE = {"LC_ALL": "C", "LANG": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
FILES = {
    "utf8.md": "# U\n\ncrane1 Ёж и café\n".encode(),
    "cp1251.txt": "crane2 Договор продлён до мая\n".encode("cp1251"),
    "latin1.md": "# L\n\ncrane3 Müller pays José\n".encode("latin-1"),
    "utf16.txt": "crane4 wide text\n".encode("utf-16"),
    "mixed.md": b"# M\n\ncrane5 good \xff tail\n",
    "имя файла.md": "# И\n\ncrane6\n".encode(),
    "zend.md": b"# Z\n\ncrane7\n",
}
WORDS = {
    **{f"crane{no}": name for no, name in enumerate(FILES, 1)},
    "договоры": "cp1251.txt",
    "Müller": "latin1.md",
    "José": "latin1.md",
    "café": "utf8.md",
    "wide": "utf16.txt",
}
needs_bytes = pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="names are bytes on Linux only")


@pytest.fixture
def vault(world: drive.World) -> Path:
    for name, data in FILES.items():
        world.write(f"enc/{name}", data)
    return world.home / "enc"


def command(world: drive.World, *words: str, stdin: str = "") -> str:
    """What a command under the C locale says, which is UTF-8 all the same."""
    done = subprocess.run(
        [*drive.CLI, *words],
        input=stdin.encode(),
        capture_output=True,
        cwd=world.home,
        env=servers.environment(world.home, **C_LOCALE),
        timeout=drive.DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done
    assert "�" not in done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.promise("documents.encodings", "documents.isolated", "documents.untouched")
def test_every_encoding_is_read_under_a_c_locale_and_none_is_read_wrongly(world: drive.World, vault: Path) -> None:
    (came,) = json.loads(command(world, "source", "add", "--json", str(vault)))["sources"]
    assert (came["added"], came["skipped"], came["problem"]) == (len(FILES), [], None)
    assert [(note["path"], note["reason"]) for note in came["notes"]] == [
        ("mixed.md", "bytes that are not UTF-8, now U+FFFD: 1, the first on line 3")
    ]
    for word, name in WORDS.items():
        found = json.loads(command(world, "search", "--json", "--mode", "lexical", "--", word))["documents"]
        assert [place["path"] for place in found] == [name], word
    assert "договор продлён до мая" in command(world, "search", "--", "договор").lower()
    assert "enc/имя файла.md:1" in command(world, "search", "--", "crane6")
    assert drive.files_in(vault) == FILES


@pytest.mark.promise("documents.encodings")
def test_a_server_under_a_c_locale_gives_names_and_texts_as_they_are(world: drive.World, vault: Path) -> None:
    world.zap("source", "add", str(vault))
    server = world.server("--tools", "full", **C_LOCALE)
    assert drive.paths(server.good("semantic_search", query="crane6")) == ["имя файла.md"]
    assert server.good("repo_read", path="enc/имя файла.md")["text"] == "# И\n\ncrane6\n"
    listed = {entry["path"] for entry in server.good("repo_list", path="enc")["entries"]}
    assert listed == {f"enc/{name}" for name in FILES}
    assert drive.paths(server.good("semantic_search", query="Ёж")) == ["utf8.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.promise("documents.encodings")
def test_a_terminal_under_a_c_locale_shows_every_letter(world: drive.World, vault: Path) -> None:
    command(world, "source", "add", str(vault))
    ours, theirs = os.openpty()
    try:
        process = subprocess.Popen(
            [*drive.CLI, "search", "--", "имя"],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            cwd=world.home,
            env=servers.environment(world.home, **C_LOCALE),
        )
        assert process.wait(drive.DEADLINE) == 0
        shown = os.read(ours, 65_536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "имя файла.md" in shown


@pytest.mark.promise("write.verbatim")
def test_letters_and_emoji_are_stored_from_an_argument_and_a_pipe_under_a_c_locale(world: drive.World) -> None:
    command(world, "store", "--", "Ёжик с аргументом 🎄")
    command(world, "store", "-", stdin="Ёжик из трубы 🦔")
    assert set(world.contents()) == {"Ёжик с аргументом 🎄", "Ёжик из трубы 🦔"}
    assert "🦔" in command(world, "recall", "--", "ёжик из трубы")


@pytest.mark.promise("documents.fresh")
def test_every_spelling_of_a_folder_is_one_source(world: drive.World, vault: Path) -> None:
    (world.home / "link").symlink_to("enc")
    spellings = [str(vault), f"{vault}/", "enc", "./enc/.", "enc/../enc", "link", f"{world.home}//link///"]
    ids = {world.zap("source", "add", spelling)["source"]["id"] for spelling in spellings}
    assert len(ids) == 1
    (source,) = world.zap("source", "list")["sources"]
    assert source["root"] == vault.as_posix()
    for spelling in spellings:
        assert world.zap("search", "--source", spelling, "--", "crane1")["count"] == 1


@needs_bytes
@pytest.mark.promise("documents.isolated", "documents.encodings")
def test_a_name_with_a_backslash_or_bad_bytes_is_passed_over_by_name(world: drive.World, vault: Path) -> None:
    world.write("enc/..\\evil.md", "magpie\n")
    with open(os.fsencode(vault) + b"/bad\xff.md", "wb") as file:  # noqa: PTH123 - a Path is text
        file.write(b"magpie\n")
    (came,) = json.loads(command(world, "source", "add", "--json", str(vault)))["sources"]
    assert {one["path"]: one["reason"] for one in came["skipped"]} == {
        "..\\evil.md": "its name has a backslash",
        "bad\ufffd.md": "its name is not UTF-8",
    }
    assert came["added"] == len(FILES)
    assert world.places("magpie") == []
