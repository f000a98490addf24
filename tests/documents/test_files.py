"""The files themselves, as agents may list, read and search them: those that are attached, and nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zapomni.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from tests.documents.conftest import Desk

SECRET = "TOP-SECRET-7F3A"


@pytest.fixture
def attached(desk: Desk) -> Desk:
    desk.write("guide.md", "# Guide\n\nПо пятницам релизы запрещены.\nNobody deploys on Friday.\n")
    desk.write("deep/нота.md", "Ёлка стоит в холле.\n")
    desk.write(".env", f"KEY={SECRET}\n")
    desk.write(".gitignore", "private/\n")
    desk.write("private/p.md", f"{SECRET}\n")
    desk.write("node_modules/m/readme.md", f"{SECRET}\n")
    desk.write("../outside.md", f"{SECRET}\n")
    (desk.root / "way-out.md").symlink_to("../outside.md")
    desk.app.documents.add(desk.root)
    return desk


def paths(desk: Desk, path: str = "") -> list[str]:
    return [place.shown for place in desk.app.documents.list_files(path).places]


@pytest.mark.promise("documents.rooted")
def test_a_listing_shows_what_is_attached_as_far_as_its_rules_keep_it(attached: Desk) -> None:
    shown = ["papers", "papers/.gitignore", "papers/deep", "papers/deep/нота.md", "papers/guide.md"]
    assert paths(attached) == shown
    assert paths(attached, "papers/deep") == ["papers/deep/нота.md"]


@pytest.mark.promise("documents.rooted")
@pytest.mark.parametrize(
    "path",
    [
        "papers/.env",
        "papers/private/p.md",
        "papers/node_modules/m/readme.md",
        "papers/way-out.md",
        "papers/../outside.md",
        "../outside.md",
        "outside.md",
        "/etc/passwd",
        "papers/nothing.md",
        "papers\0/guide.md",
        "нет.md",
    ],
)
def test_what_is_not_given_out_is_refused_in_the_same_words_whether_it_is_there_or_not(
    attached: Desk, path: str
) -> None:
    documents = attached.app.documents
    for act in (documents.read_file, documents.list_files, lambda path: documents.search_files("TOP", path=path)):
        with pytest.raises(Refused, match=r"^The path names nothing that may be read here\."):
            act(path)


@pytest.mark.promise("documents.rooted")
def test_a_search_looks_into_what_may_be_seen_alone(attached: Desk) -> None:
    assert attached.app.documents.search_files(SECRET).matches == ()
    (found,) = attached.app.documents.search_files("пятницам РЕЛИЗЫ").matches
    assert (found.path, found.line) == ("papers/guide.md", 3)
    assert attached.app.documents.search_files("елка").matches[0].path == "papers/deep/нота.md"
    assert attached.app.documents.search_files("елка", case=True).matches == ()
    assert len(attached.app.documents.search_files(r"on Fri\w+|стоит", regex=True).matches) == 2


@pytest.mark.promise("documents.rooted")
def test_what_was_let_go_of_or_belongs_to_another_scope_is_not_read(attached: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "theirs.md").write_text("theirs\n", encoding="utf-8")
    attached.app.documents.add(other, scope="team:others")
    with pytest.raises(Refused):
        attached.app.documents.read_file("other/theirs.md")
    assert attached.app.documents.read_file("other/theirs.md", scopes=["team:others"]).text == "theirs\n"
    attached.app.documents.remove(str(attached.root))
    assert paths(attached) == []
    with pytest.raises(Refused):
        attached.app.documents.read_file("papers/guide.md")


def test_a_file_is_read_by_each_name_that_it_is_shown_under(attached: Desk) -> None:
    attached.scan()
    (hit,) = attached.app.documents.search("ёлка в холле", mode="lexical").hits
    place, _, line = hit.citation.rpartition(":")
    for name in (place, "papers/deep/нота.md", "deep/нота.md"):
        assert attached.app.documents.read_file(name, line=int(line)).text == "Ёлка стоит в холле.\n"


def test_two_roots_of_one_name_are_told_apart_by_a_number(desk: Desk, tmp_path: Path) -> None:
    for folder in ("one/docs", "two/docs", "three/docs-2"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.md").write_text(folder, encoding="utf-8")
        desk.app.documents.add(tmp_path / folder)
    texts = {name: desk.app.documents.read_file(f"{name}/a.md").text for name in ("docs", "docs-2", "docs-2-2")}
    assert texts == {"docs": "one/docs", "docs-2": "two/docs", "docs-2-2": "three/docs-2"}


def test_a_root_that_two_scopes_share_is_shown_once(attached: Desk) -> None:
    attached.app.documents.add(attached.root, scope="team:web", exclude=["deep/"])
    shown = [place.shown for place in attached.app.documents.list_files(scopes=["all"]).places]
    assert shown == paths(attached)
    only = [place.shown for place in attached.app.documents.list_files(scopes=["team:web"]).places]
    assert only == ["papers", "papers/.gitignore", "papers/guide.md"]


def test_a_single_attached_file_is_a_root_of_its_own(desk: Desk) -> None:
    desk.app.documents.add(desk.write("alone.md", "One.\n"))
    desk.write("beside.md", "Two.\n")
    assert paths(desk) == ["alone.md"]
    assert desk.app.documents.read_file("alone.md").text == "One.\n"
    with pytest.raises(Refused):
        desk.app.documents.read_file("beside.md")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.text(alphabet="aёж🎄 \r\t", max_size=6), min_size=1, max_size=6),
    end=st.sampled_from(["", "\n"]),
    first=st.integers(1, 7),
    count=st.integers(1, 7),
)
def test_lines_are_read_as_the_file_has_them(desk: Desk, lines: list[str], end: str, first: int, count: int) -> None:
    text = "\n".join(lines) + end
    desk.write("a.md", text)
    if not desk.app.documents.sources():
        desk.app.documents.add(desk.root)
    rows = re.findall(r"[^\n]*\n|[^\n]+", text)
    wanted = "".join(rows[first - 1 : first - 1 + count])
    if not wanted and first > 1:
        with pytest.raises(InvalidInput, match=rf"^line: {first} is behind the end"):
            desk.app.documents.read_file("a.md", line=first, lines=count)
        return
    part = desk.app.documents.read_file("a.md", line=first, lines=count)
    assert part.text == wanted
    assert part.offset == len("".join(rows[: first - 1]).encode())
    reached = part.offset + len(wanted.encode())
    assert part.next == (reached if reached < len(text.encode()) else None)


def test_a_long_line_is_read_on_from_where_the_part_ended(attached: Desk) -> None:
    text = f"short\n{'ё' * 1_000}\nend\n"
    attached.write("long.md", text)
    part = attached.app.documents.read_file("long.md", line=2, lines=1, max_bytes=101)
    assert part.text == "ё" * 50
    rest = attached.app.documents.read_file("long.md", offset=part.next)
    assert part.text + rest.text == text.removeprefix("short\n")


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp866"])
def test_a_file_in_an_old_encoding_is_read_in_its_own_letters(attached: Desk, encoding: str) -> None:
    text = "Отчёт за октябрь\nПо пятницам релизы запрещены.\nДежурит один человек.\n" * 20
    attached.write("старое.txt", text.encode(encoding))
    part = attached.app.documents.read_file("старое.txt", line=2, lines=1)
    assert part.text == "По пятницам релизы запрещены.\n"
    rest = attached.app.documents.read_file("старое.txt", offset=part.next)
    assert part.text + rest.text == text.split("\n", 1)[1]


def test_bytes_that_are_no_text_are_shown_as_what_they_are(attached: Desk) -> None:
    attached.write("x.txt", b"\xff\xfe\x00\x01" * 100)
    attached.write("half.txt", "Ёлка ".encode() * 50 + b"\xff")
    assert "\ufffd" in attached.app.documents.read_file("x.txt").text
    assert attached.app.documents.read_file("half.txt").text == "Ёлка " * 50 + "\ufffd"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"line": 0}, "line"),
        ({"line": 3, "offset": 5}, "offset"),
        ({"lines": 0}, "lines"),
        ({"offset": -1}, "offset"),
        ({"max_bytes": 1}, "max_bytes"),
        ({"line": 5}, "line"),
    ],
)
def test_a_place_in_a_file_that_cannot_be_is_refused_by_name(
    attached: Desk, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        attached.app.documents.read_file("guide.md", **options)
    assert error.value.field == field
