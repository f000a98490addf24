"""The walk through a root: what it finds, and that it names all the rest."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from tests.files.trees import make_vault, put

from zapomni.errors import NotFound, Unavailable
from zapomni.files import tree
from zapomni.files.rules import Rules
from zapomni.files.walk import DEPTH_LIMIT, Walk, walk

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 10_000


def look(root: Path, rules: Rules | None = None) -> Walk:
    return walk(str(root), rules or Rules.of(), limit=lambda _path: LIMIT)


def paths(found: Walk) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: Walk) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in found.skipped}


def test_files_and_folders_come_sorted_with_what_tells_a_change(tmp_path: Path) -> None:
    put(tmp_path / "б/план.md", "текст")
    put(tmp_path / "a.md", "text")
    os.utime(tmp_path / "a.md", ns=(1, 1_700_000_000_123_456_700))
    found = look(tmp_path)
    assert paths(found) == ["a.md", "б/план.md"]
    assert found.folders == ("", "б")
    assert (found.files[0].size, found.files[0].modified_ns) == (4, 1_700_000_000_123_456_700)
    info = (tmp_path / "a.md").stat()
    assert found.files[0].identity == (info.st_dev, info.st_ino)
    assert not found.skipped
    assert not found.excluded


def test_six_hundred_folders_of_node_modules_count_once_and_are_not_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for no in range(600):
        (tmp_path / f"node_modules/m{no}").mkdir(parents=True)
    put(tmp_path / "src/a.md")
    entered = []
    real = tree.Tree.entries

    def entries(self: tree.Tree, path: str) -> list[tree.Entry]:
        entered.append(path)
        return real(self, path)

    monkeypatch.setattr(tree.Tree, "entries", entries)
    found = look(tmp_path)
    assert entered == ["", "src"]
    assert found.excluded == {"default exclude node_modules": 1}
    assert paths(found) == ["src/a.md"]


def test_what_rules_leave_out_is_counted_and_secrets_are_named(tmp_path: Path) -> None:
    for name in ["private/a.md", "a.png", "b.zip", "x.md~", "keep.md", ".env", "docs/server.pem", "docs/черновик.md"]:
        put(tmp_path / name)
    put(tmp_path / ".gitignore", "private/\n")
    found = look(tmp_path, Rules.of(exclude=["черновик*"]))
    assert paths(found) == [".gitignore", "keep.md"]
    assert found.excluded == {".gitignore": 1, "binary": 2, "temporary": 1, "exclude": 1}
    assert reasons(found) == {".env": "it may hold secrets", "docs/server.pem": "it may hold secrets"}


def test_no_link_is_followed_and_each_is_named_with_where_it_leads(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    found = look(vault)
    assert paths(found) == [
        ".gitignore",
        "docs/cafe\u0301.md",
        "docs/caf\u00e9s.md",
        "docs/deep/a.md",
        "docs/файл ё.md",
        "ok.md",
    ]
    outside = "a link that leads outside"
    assert reasons(found) == {
        ".env": "it may hold secrets",
        "id_rsa": "it may hold secrets",
        "absolute.md": outside,
        "around.md": "a link to ok.md, which is indexed itself",
        "dangling.md": "a link that leads nowhere",
        "dirlink": outside,
        "envlink.md": "a link to .env, which is left out",
        "evil": outside,
        "inner.md": "a link to ok.md, which is indexed itself",
        "innerdir": "a link to docs/deep, which is indexed itself",
        "link.md": outside,
        "loop": "a link to the root, which is indexed itself",
        "self.md": "a link that leads nowhere",
    }


@pytest.mark.skipif(os.name != "posix", reason="made with POSIX calls")
def test_pipes_and_sockets_are_named_and_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / ".gitignore")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        found = look(tmp_path)
    assert set(reasons(found).values()) == {"it is neither file nor folder"}
    assert set(reasons(found)) == {".gitignore", "pipe.md", "socket.md"}


def test_a_file_over_the_limit_of_its_path_is_named_with_its_size(tmp_path: Path) -> None:
    put(tmp_path / "big.md", "x" * (LIMIT + 1))
    put(tmp_path / "fits.md", "x" * LIMIT)
    found = look(tmp_path)
    assert paths(found) == ["fits.md"]
    assert reasons(found) == {"big.md": "it has 10,001 bytes, more than 10,000"}


@pytest.mark.skipif(os.name != "posix", reason="no such names elsewhere")
def test_names_that_are_no_text_or_deceive_are_named(tmp_path: Path) -> None:
    for name in [b"\xff.md", b"a\nb.md", b"c\\d.md"]:
        (tmp_path / os.fsdecode(name)).touch()
    assert reasons(look(tmp_path)) == {
        "\ufffd.md": "its name is not UTF-8",
        "a\nb.md": "its name has control characters",
        "c\\d.md": "its name has a backslash",
    }


def test_a_folder_that_cannot_be_read_is_named_and_the_rest_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "closed/a.md")
    put(tmp_path / "open/b.md")
    _close(monkeypatch, "closed")
    found = look(tmp_path)
    assert paths(found) == ["open/b.md"]
    assert found.folders == ("", "open")
    assert reasons(found) == {"closed": "it cannot be read (Permission denied)"}


def test_a_root_that_cannot_be_read_stops_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _close(monkeypatch, "")
    with pytest.raises(Unavailable, match="Permission denied"):
        look(tmp_path)


def _close(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    real = tree.Tree.entries

    def entries(self: tree.Tree, path: str) -> list[tree.Entry]:
        if path == folder:
            raise PermissionError(13, "Permission denied")
        return real(self, path)

    monkeypatch.setattr(tree.Tree, "entries", entries)


def test_a_very_deep_tree_ends_where_the_limit_is(tmp_path: Path) -> None:
    deep = "/".join(["d"] * (DEPTH_LIMIT + 3))
    put(tmp_path / deep / "a.md")
    found = look(tmp_path)
    assert not found.files
    assert reasons(found) == {"/".join(["d"] * DEPTH_LIMIT): f"it lies deeper than {DEPTH_LIMIT} folders"}


def test_a_root_that_is_a_file_gives_that_file(tmp_path: Path) -> None:
    found = look(put(tmp_path / "план.png", "text"))
    assert paths(found) == [""]
    assert found.folders == ()
    assert reasons(look(put(tmp_path / ".env"))) == {"": "it may hold secrets"}


def test_a_root_that_is_a_link_is_walked_where_it_leads(tmp_path: Path) -> None:
    put(tmp_path / "there/a.md")
    (tmp_path / "here").symlink_to("there")
    assert paths(look(tmp_path / "here")) == ["a.md"]


@pytest.mark.parametrize("root", ["нет-такого", "dangling", "pipe"])
def test_a_root_that_is_neither_file_nor_folder_is_not_found(tmp_path: Path, root: str) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotFound, match="Name a folder or file"):
        look(tmp_path / root)
