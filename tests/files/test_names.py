"""Names are UTF-8 whatever the locale says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.trees import put
from tests.servers import environment

from zapomni.files.names import from_os, oddity, relative_to, shown, to_os

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import json, sys
from zapomni.files.guard import PathGuard, Root
from zapomni.files.reading import read_part
from zapomni.files.rules import Rules
from zapomni.files.walk import walk
root = sys.argv[1]
found = walk(root, Rules.of(exclude=["черновики/"]), limit=lambda path: 1000)
guard = PathGuard([Root("docs", root)], lambda root, path, is_dir: True)
print(json.dumps({
    "encoding": sys.getfilesystemencoding(),
    "files": [file.path for file in found.files],
    "excluded": found.excluded,
    "skipped": [[one.path, one.reason] for one in found.skipped],
    "text": read_part(guard, "docs/папка/имя файла.md").text,
}))
"""


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX alone")
def test_in_a_locale_of_ascii_russian_names_are_walked_and_opened(tmp_path: Path) -> None:
    root = tmp_path / "хранилище"
    put(root / "папка/имя файла.md", "текст\n")
    put(root / "черновики/x.md")
    (root / "link.md").symlink_to("папка/имя файла.md")
    (root / os.fsdecode(b"\xff\xfe.md")).touch()
    program = put(tmp_path / "program.py", PROGRAM)
    in_ascii = environment(tmp_path, LC_ALL="C", PYTHONUTF8="0")
    done = subprocess.run([sys.executable, program, root], env=in_ascii, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "encoding": "ascii",
        "files": ["папка/имя файла.md"],
        "excluded": {"exclude": 1},
        "skipped": [
            ["link.md", "a link to папка/имя файла.md, which is indexed itself"],
            ["\ufffd\ufffd.md", "its name is not UTF-8"],
        ],
        "text": "текст\n",
    }


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_a_name_comes_back_from_the_system_as_it_went(name: str) -> None:
    assert from_os(to_os(name)) == name


@given(st.binary())
def test_bytes_that_are_no_text_are_told_from_text_and_can_be_shown(raw: bytes) -> None:
    name = from_os(raw)
    assert to_os(name) == raw
    assert shown(name).encode("utf-8").decode() == shown(name)
    assert (shown(name) == name) or oddity(name) == "its name is not UTF-8"


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "nul\x00", "a\\b", "\x85"])
def test_names_that_deceive_are_odd(name: str) -> None:
    assert oddity(name)


@pytest.mark.parametrize("name", ["имя файла.md", "a:b", "~x", "…", "猫.md", "e\u0301"])
def test_unusual_names_are_not_odd(name: str) -> None:
    assert oddity(name) is None


def test_a_folder_with_a_longer_name_is_not_inside(tmp_path: Path) -> None:
    root = str(tmp_path / "vault")
    assert relative_to(root, root) == ""
    assert relative_to(root, str(tmp_path / "vault" / "a" / "b.md")) == "a/b.md"
    assert relative_to(root, str(tmp_path / "vault-evil" / "b.md")) is None
    assert relative_to("/", "/etc") == "etc"
