"""The guard: whatever a path says, only what agents may see is opened, and every refusal is the same."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.files.trees import SECRET, guard_of, make_vault, put

from zapomni.errors import InvalidInput, Refused
from zapomni.files import tree
from zapomni.files.guard import PathGuard, Place, Root, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSAL = str(refusal())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("trial")
    make_vault(home)
    os.mkfifo(home / "vault/pipe.md")
    put(home / "other/b.md", "the other root\n")
    return home


@pytest.fixture(scope="module")
def guard(home: Path) -> PathGuard:
    return guard_of(Root("vault", str(home / "vault")), Root("другой", str(home / "other")))


def is_refused(guard: PathGuard, path: str) -> bool:
    try:
        guard.resolve(path)
    except Refused as error:
        told = (str(error), error.__cause__)
    else:
        return False
    assert told == (REFUSAL, None)
    return True


def content(guard: PathGuard, place: Place) -> str:
    with guard.open(place) as file:
        return file.read().decode()


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("vault", ""),
        ("vault/", ""),
        ("vault/ok.md", "ok.md"),
        ("ok.md", "ok.md"),
        ("./docs//deep/./a.md", "docs/deep/a.md"),
        ("docs/файл ё.md", "docs/файл ё.md"),
        ("docs/фаи\u0306л е\u0308.md", "docs/файл ё.md"),
        ("docs/caf\u00e9.md", "docs/cafe\u0301.md"),
        ("docs/cafe\u0301s.md", "docs/caf\u00e9s.md"),
        ("inner.md", "ok.md"),
        ("around.md", "ok.md"),
        ("innerdir/a.md", "docs/deep/a.md"),
        ("loop/loop/vault/loop/ok.md", None),
        ("loop/loop/loop/ok.md", "ok.md"),
    ],
)
def test_a_path_inside_opens_the_file_it_means(guard: PathGuard, home: Path, path: str, leads_to: str | None) -> None:
    if leads_to is None:
        assert is_refused(guard, path)
        return
    place = guard.resolve(path)
    assert (place.root.name, place.relative) == ("vault", leads_to)
    assert place.real == os.path.realpath(home / "vault" / leads_to)
    assert guard.resolve(place.shown) == place
    if not place.is_dir:
        assert content(guard, place) == f"open text of {leads_to}\n"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "nothing.md",
        "../outside/secret.txt",
        "vault/../outside/secret.txt",
        "vault/docs/../ok.md",
        "..",
        "vault/..",
        "link.md",
        "dirlink",
        "dirlink/secret.txt",
        "evil/ok.md",
        "absolute.md",
        "dangling.md",
        "self.md",
        "envlink.md",
        ".env",
        ".git/config",
        ".git",
        "private",
        "private/p.md",
        "private/nothing.md",
        "node_modules/m/readme.md",
        "id_rsa",
        "pipe.md",
        "vault-evil/ok.md",
        "/etc/passwd",
        "/",
        "/dev/zero",
        "//server/share/a.md",
        "\\\\server\\share",
        "docs\\deep\\a.md",
        "C:/ok.md",
        "c:ok.md",
        "~",
        "~/ok.md",
        "~root/ok.md",
        "docs%2fdeep%2fa.md",
        "%2e%2e/outside/secret.txt",
        "．．/outside/secret.txt",
        "docs／deep／a.md",
        "OK.md",
        "ok.md.",
        "ok.md ",
        "ok.md::$DATA",
        "ok.md:stream",
        "CON",
        "ok.md/x",
        "ok.md\x00",
        "ok.md\n",
        "\ud800.md",
        "a" * 300,
        "a/" * 3000,
        "ё" * 3000,
    ],
)
def test_everything_else_is_refused_with_one_message(guard: PathGuard, path: str) -> None:
    assert is_refused(guard, path)


def test_an_absolute_path_is_taken_inside_a_root_only(guard: PathGuard, home: Path) -> None:
    assert guard.resolve(f"{home}/vault/docs/deep/a.md").relative == "docs/deep/a.md"
    assert guard.resolve(f"{home}/vault").relative == ""
    for outside in ["vault-evil/ok.md", "outside/secret.txt", "vault/../vault/ok.md", "VAULT/ok.md", ""]:
        assert is_refused(guard, f"{home}/{outside}")


def test_a_root_known_by_a_link_takes_both_spellings(tmp_path: Path) -> None:
    put(tmp_path / "there/a.md")
    (tmp_path / "here").symlink_to("there")
    guard = guard_of(Root("docs", str(tmp_path / "here")))
    assert guard.resolve(f"{tmp_path}/here/a.md") == guard.resolve(f"{tmp_path}/there/a.md") == guard.resolve("a.md")


def test_a_path_without_a_root_must_be_in_one_root_alone(tmp_path: Path) -> None:
    for name in ["one/same.md", "one/only.md", "two/same.md", "two/one/deep.md"]:
        put(tmp_path / name)
    guard = guard_of(Root("one", str(tmp_path / "one")), Root("two", str(tmp_path / "two")))
    assert guard.resolve("only.md").shown == "one/only.md"
    assert guard.resolve("two/same.md").shown == "two/same.md"
    assert guard.resolve("one/deep.md").shown == "two/one/deep.md"
    assert is_refused(guard, "same.md")
    assert is_refused(guard, "")


def test_a_root_that_is_a_file_is_that_file(tmp_path: Path) -> None:
    put(tmp_path / "beside.md", SECRET)
    guard = guard_of(Root("план", str(put(tmp_path / "план.md", "текст"))))
    assert content(guard, guard.resolve("план")) == "текст"
    assert guard.resolve(f"{tmp_path}/план.md").shown == "план"
    assert is_refused(guard, "план/x")
    assert is_refused(guard, "beside.md")


def test_a_root_that_is_gone_refuses_and_is_not_listed(tmp_path: Path) -> None:
    guard = guard_of(Root("docs", str(tmp_path / "gone")))
    assert is_refused(guard, "docs")
    assert is_refused(guard, "docs/a.md")
    assert guard.tops() == []


@pytest.mark.parametrize("names", [["a", "a"], ["\u0439", "\u0438\u0306"], [""], [".."], ["a/b"], ["a\n"], ["a\\b"]])
def test_roots_have_names_that_tell_them_apart(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(InvalidInput, match="root"):
        guard_of(*(Root(name, str(tmp_path)) for name in names))


def test_of_two_roots_one_in_the_other_the_inner_one_answers_for_its_files(tmp_path: Path) -> None:
    put(tmp_path / "docs/inner/a.md")
    guard = guard_of(Root("docs", str(tmp_path / "docs")), Root("inner", str(tmp_path / "docs/inner")))
    assert guard.resolve(f"{tmp_path}/docs/inner/a.md").shown == "inner/a.md"


def test_a_listing_shows_what_may_be_seen_by_path(guard: PathGuard) -> None:
    listed = [place.shown for place in guard.listing(guard.resolve("vault"), 9)]
    assert listed == [
        "vault/.gitignore",
        "vault/docs",
        "vault/docs/cafe\u0301.md",
        "vault/docs/caf\u00e9s.md",
        "vault/docs/deep",
        "vault/docs/deep/a.md",
        "vault/docs/файл ё.md",
        "vault/ok.md",
    ]
    assert listed == [guard.resolve(path).shown for path in listed]
    top = [place.shown for place in guard.listing(guard.resolve("vault"), 1)]
    assert top == ["vault/.gitignore", "vault/docs", "vault/ok.md"]


NAMES = """
vault vault-evil другой outside secret.txt ok.md docs deep a.md b.md link.md dirlink evil loop self.md dangling.md
inner.md innerdir envlink.md around.md absolute.md .env .git config private p.md node_modules m readme.md id_rsa pipe.md
.. . ~ %2e%2e %2e ．． ． ‥ ․․ C: c: CON NUL //server ?? * etc passwd proc self root dev zero cafe\u0301.md caf\u00e9.md
""".split()  # noqa: SIM905 - it reads as a list
NAMES += ["", "файл ё.md", "docs/файл ё.md", "innerdir/a.md", "\\\\server", "\x00", "\n", "\ud800", "\udcff", "x" * 256]
CHANGES: list[Callable[[str], str]] = [
    str,
    str.upper,
    str.title,
    str.swapcase,
    lambda name: unicodedata.normalize("NFD", name),
    lambda name: unicodedata.normalize("NFKC", name),
    lambda name: f"{name}.",
    lambda name: f"{name} ",
    lambda name: f"{name}:stream",
    lambda name: f"{name}\x00.md",
    lambda name: name.replace(".", "%2e"),
    lambda name: name.replace(".", "．"),
]
SEPARATORS = ["//", "/./", "/../", "\\", "%2f", "／", "\x00", ""]
INSIDE = ["", "vault/", "HOME/vault/", "docs/", "vault/docs/deep/", "loop/", "loop/docs/", "innerdir/", "другой/"]
STARTS = ["HOME/", "HOME/outside/", "/", "//", "../", "~/", "C:/", "file:///"]


def fuzzed(seed: int) -> str:
    # Drawn by a generator of its own: ten thousand paths drawn piece by piece take Hypothesis minutes.
    chance = Random(seed)
    path = chance.choice(STARTS if chance.random() < 0.2 else INSIDE)
    for _ in range(chance.randint(1, 4)):
        name = chance.choice(NAMES)
        path += chance.choice(CHANGES)(name) if chance.random() < 0.2 else name
        path += chance.choice(SEPARATORS) if chance.random() < 0.1 else "/"
        if chance.random() < 0.03:
            path += "".join(map(chr, chance.choices(range(0x110000), k=3)))
    return path.removesuffix("/")


def test_the_fuzzed_names_hold_those_of_the_tree(home: Path) -> None:
    assert {path.name for path in (home / "vault").iterdir()} - {".gitignore"} <= set(NAMES)


@settings(max_examples=10_000, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**64))
def test_no_path_leads_outside_or_to_a_secret(guard: PathGuard, home: Path, seed: int) -> None:
    path = fuzzed(seed).replace("HOME", str(home))
    if is_refused(guard, path):
        return
    place = guard.resolve(path)
    root = os.path.realpath(place.root.path)
    assert os.path.realpath(place.real) == place.real
    assert place.real == root or place.real.startswith(root + os.sep)
    assert ".." not in path.split("/")
    if place.is_dir:
        assert not any(Path(child.real).is_symlink() for child in guard.listing(place, 1))
        return
    with guard.open(place) as file:
        assert SECRET.encode() not in file.read()


@pytest.fixture(params=[True, False], ids=["by handle", "by path"])
def swapped(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tree, "_BY_HANDLE", request.param)
    put(tmp_path / "outside/a.md", SECRET)
    put(tmp_path / "vault/docs/sub/a.md", "open")
    return tmp_path


def test_a_folder_that_becomes_a_link_before_the_file_is_opened_is_refused(swapped: Path) -> None:
    guard = guard_of(Root("vault", str(swapped / "vault")))
    place, folder = guard.resolve("docs/sub/a.md"), guard.resolve("docs/sub")
    assert content(guard, place) == "open"
    (swapped / "vault/docs/sub").rename(swapped / "vault/docs/was")
    (swapped / "vault/docs/sub").symlink_to(swapped / "outside")
    with pytest.raises(Refused) as refused:
        guard.open(place)
    assert str(refused.value) == REFUSAL
    assert list(guard.listing(folder, 3)) == []


@pytest.mark.parametrize("becomes", ["link", "inner link", "pipe", "folder", "nothing"])
def test_a_file_that_becomes_something_else_before_it_is_opened_is_refused(swapped: Path, becomes: str) -> None:
    guard = guard_of(Root("vault", str(swapped / "vault")))
    place, path = guard.resolve("docs/sub/a.md"), swapped / "vault/docs/sub/a.md"
    path.rename(swapped / "vault/docs/sub/was.md")
    if becomes == "link":
        path.symlink_to(swapped / "outside/a.md")
    elif becomes == "inner link":
        path.symlink_to("was.md")
    elif becomes == "pipe":
        os.mkfifo(path)
    elif becomes == "folder":
        path.mkdir()
    with pytest.raises(Refused) as refused:
        guard.open(place)
    assert str(refused.value) == REFUSAL


def test_a_file_swapped_after_its_kind_was_asked_is_refused(swapped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guard_of(Root("vault", str(swapped / "vault")))
    place, path = guard.resolve("docs/sub/a.md"), swapped / "vault/docs/sub/a.md"
    real = tree.Folder.open

    def open_late(self: tree.Folder, name: str, flags: int) -> int:
        path.unlink()
        path.symlink_to(swapped / "outside/a.md")
        return real(self, name, flags & ~os.O_NOFOLLOW if self.handle is None else flags)

    monkeypatch.setattr(tree.Folder, "open", open_late)
    with pytest.raises(Refused):
        guard.open(place)


def test_the_walk_by_path_finds_what_the_walk_by_handle_finds(swapped: Path) -> None:
    guard = guard_of(Root("vault", str(swapped / "vault")))
    assert [place.shown for place in guard.listing(guard.resolve("vault"), 9)] == [
        "vault/docs",
        "vault/docs/sub",
        "vault/docs/sub/a.md",
    ]


def test_where_letter_case_alone_differs_the_file_system_decides(
    guard: PathGuard, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.lstat

    def lstat(path: bytes | str) -> os.stat_result:
        return real(path.replace(b"VAULT", b"vault") if isinstance(path, bytes) else path)

    monkeypatch.setattr(os, "lstat", lstat)
    assert guard.resolve(f"{home}/VAULT/ok.md").relative == "ok.md"
    assert is_refused(guard, f"{home}/VAULT/OK.md")
