"""Parts of files and listings, as agents get them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.trees import guard_of, make_vault, put

from zapomni.errors import InvalidInput, Refused
from zapomni.files.guard import PathGuard, Root
from zapomni.files.reading import list_files, read_part

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return tmp_path / "docs"


@pytest.fixture
def guard(docs: Path) -> PathGuard:
    docs.mkdir()
    return guard_of(Root("docs", str(docs)))


def test_a_file_read_part_by_part_is_the_whole_file(guard: PathGuard, docs: Path) -> None:
    text = "Ёлка 🎄 and café\r\n" * 50
    put(docs / "a.md", "").write_bytes(text.encode())
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part = read_part(guard, "a.md", offset=offset, max_bytes=7)
        assert (part.path, part.offset, part.total) == ("docs/a.md", offset, len(text.encode()))
        parts.append(part.text)
        offset = part.next
    assert "".join(parts) == text
    assert "\ufffd" not in "".join(parts)


@given(raw=st.binary(max_size=40), size=st.integers(4, 12), offset=st.integers(0, 50))
def test_any_bytes_are_read_to_their_end(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, size: int, offset: int | None
) -> None:
    root = tmp_path_factory.mktemp("docs")
    (root / "a.md").write_bytes(raw)
    guard = guard_of(Root("docs", str(root)))
    text, asked = "", offset
    while offset is not None:
        part = read_part(guard, "a.md", offset=offset, max_bytes=size)
        assert part.next is None or part.next > offset
        text, offset = text + part.text, part.next
    assert text == raw[asked:].decode("utf-8", "replace")


@pytest.mark.parametrize(("offset", "max_bytes"), [(-1, 100), (0, 3), (0, 2**20 + 1), (2**70, 100)])
def test_numbers_out_of_range_are_named(guard: PathGuard, docs: Path, offset: int, max_bytes: int) -> None:
    put(docs / "a.md")
    with pytest.raises(InvalidInput, match="offset" if max_bytes == 100 else "max_bytes"):
        read_part(guard, "a.md", offset=offset, max_bytes=max_bytes)


def test_a_folder_has_no_parts(guard: PathGuard) -> None:
    with pytest.raises(Refused):
        read_part(guard, "docs")


def test_a_listing_goes_three_folders_deep_by_itself(guard: PathGuard, docs: Path) -> None:
    put(docs / "a/b/c/d.md")
    put(docs / "a.md", "1234")
    shown = [(place.shown, place.is_dir, place.size) for place in list_files(guard, "docs").places]
    assert shown == [("docs/a", True, 0), ("docs/a/b", True, 0), ("docs/a/b/c", True, 0), ("docs/a.md", False, 4)]


def test_without_a_path_the_roots_are_listed_first(tmp_path: Path) -> None:
    put(tmp_path / "b/x.md")
    put(tmp_path / "a/y.md")
    guard = guard_of(Root("б", str(tmp_path / "b")), Root("а", str(tmp_path / "a")))
    assert [place.shown for place in list_files(guard).places] == ["а", "а/y.md", "б", "б/x.md"]
    assert [place.shown for place in list_files(guard, ".", max_depth=1).places] == ["а", "б"]


def test_pages_together_are_the_listing_even_when_the_last_file_shown_is_gone(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    guard = guard_of(Root("vault", str(vault)))
    whole = [place.shown for place in list_files(guard, max_depth=9).places]
    seen, after = [], None
    while True:
        page = list_files(guard, max_depth=9, limit=2, after=after)
        seen += [place.shown for place in page.places]
        if page.next is None:
            break
        after = page.next
    assert seen == whole
    (vault / "docs/cafe\u0301.md").unlink()
    rest = list_files(guard, max_depth=9, after="vault/docs/cafe\u0301.md")
    assert [place.shown for place in rest.places] == whole[whole.index("vault/docs/cafe\u0301.md") + 1 :]


def test_a_file_lists_as_itself(guard: PathGuard, docs: Path) -> None:
    put(docs / "a.md")
    assert [place.shown for place in list_files(guard, "a.md").places] == ["docs/a.md"]


def test_a_listing_of_what_is_not_there_is_refused(guard: PathGuard) -> None:
    for path in ["nothing", "..", "/", "docs/.."]:
        with pytest.raises(Refused):
            list_files(guard, path)
