"""What rules leave out, and which of two rules wins."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.files.trees import put

from zapomni.errors import InvalidInput
from zapomni.files.names import real_path
from zapomni.files.rules import FOLDERS, PATTERN_LIMIT, PATTERNS_LIMIT, SECRET, Rules
from zapomni.files.sight import Sight
from zapomni.files.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path


def judge(rules: Rules, path: str) -> str | None:
    return rules.verdict(path.rstrip("/"), is_dir=path.endswith("/"))


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_folders_of_tools_are_left_out_at_any_depth_and_files_of_that_name_kept(folder: str) -> None:
    assert judge(Rules.of(), f"{folder}/") == judge(Rules.of(), f"a/b/{folder}/") == f"default exclude {folder}"
    assert judge(Rules.of(), f"{folder}s/") is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("заметки/план.md", None),
        ("README", None),
        ("bin.md", None),
        ("notes.bak", None),
        ("a.md~", "temporary"),
        (".#a.md", "temporary"),
        ("#a.md#", "temporary"),
        ("~$отчёт.docx", "temporary"),
        ("a.md.swp", "temporary"),
        ("a/.DS_Store", "temporary"),
        ("a/Thumbs.db", "temporary"),
        (".syncthing.a.md", "temporary"),
        ("фильм.crdownload", "temporary"),
        (".env", SECRET),
        (".ENV.local", SECRET),
        ("keys/ID_RSA", SECRET),
        ("id_ed25519.pub", SECRET),
        ("пароли.kdbx", SECRET),
        ("server.pem", SECRET),
        (".ssh/", SECRET),
        ("credentials", SECRET),
        ("credentials.md", None),
        ("сайт/.git-credentials", SECRET),
        (".pgpass", SECRET),
        (".htpasswd", SECRET),
        (".kube/", SECRET),
        (".docker/", SECRET),
        ("docker/", None),
        ("Credentials.json", SECRET),
        ("prod.env", SECRET),
        ("приложение.env", SECRET),
        (".envrc", SECRET),
        ("env.md", None),
        ("terraform.tfstate", SECRET),
        ("цех.tfstate.backup", SECRET),
        ("main.tf", None),
        ("service-account-prod.json", SECRET),
        ("service-account.md", None),
        ("secrets.yaml", SECRET),
        ("secrets.yml", SECRET),
        ("secrets.json", SECRET),
        ("secrets.md", None),
        ("секреты.yaml", None),
        ("ключ.asc", SECRET),
        (".bash_history", SECRET),
        (".zsh_history", SECRET),
        (".psql_history", SECRET),
        (".python_history", SECRET),
        ("history.md", None),
        (".environment", None),
        ("Снимок.PNG", "binary"),
        ("a.tar.gz", "binary"),
        ("data.sqlite", "binary"),
        ("mod.pyc", "binary"),
        (".png", None),
        ("paper.pdf", None),
    ],
)
def test_a_name_is_judged_by_what_it_says(path: str, reason: str | None) -> None:
    assert judge(Rules.of(), path) == reason


def test_with_an_include_only_what_matches_is_kept() -> None:
    rules = Rules.of(include=["*.md", "docs/", "!docs/старое/"])
    assert judge(rules, "a/b.md") is None
    assert judge(rules, "a/b.txt") == "not in include"
    assert judge(rules, "docs/b.txt") is None
    assert judge(rules, "docs/старое/b.txt") == "not in include"
    assert judge(rules, "a/") is None


def test_an_include_brings_back_what_it_spells_and_nothing_else() -> None:
    rules = Rules.of(include=["*.md", "dist/*.md", "scan.local", "*.png"]).within("", b"*.local\nprivate/\n")
    assert judge(rules, "dist/") is None
    assert judge(rules, "node_modules/") == "default exclude node_modules"
    assert judge(rules, "private/") == ".gitignore"
    assert judge(rules, "scan.local") is None
    assert judge(rules, "other.local") == ".gitignore"
    assert judge(rules, "a.png") is None


def test_no_include_brings_back_a_secret_or_what_is_excluded() -> None:
    rules = Rules.of(include=[".env", "dist/", "черновик.md"], exclude=["dist/", "черновик.md"])
    assert judge(rules, ".env") == SECRET
    assert judge(rules, "dist/") == judge(rules, "черновик.md") == "exclude"


@pytest.mark.parametrize("pattern", ["", "  ", "#", "!", "a\\", "[z-a]", "я" * (PATTERN_LIMIT + 1)])
@pytest.mark.parametrize("field", ["include", "exclude"])
def test_what_is_no_pattern_is_refused_by_name(field: str, pattern: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        Rules.of(**{field: [pattern]})


def test_a_gitignore_with_broken_lines_bytes_and_line_ends_still_counts() -> None:
    rules = Rules.of().within("", b"\xef\xbb\xbfdrafts/\r\n!\n[z-a]\n\xff\xfe\n*.log\r\n")
    assert judge(rules, "drafts/") == judge(rules, "a/x.log") == ".gitignore"
    assert judge(rules, "a/x.md") is None


@pytest.mark.parametrize(("rule", "name"), [("\u0439.md", "\u0438\u0306.md"), ("\u0438\u0306.md", "\u0439.md")])
def test_both_spellings_of_a_letter_are_one(rule: str, name: str) -> None:
    assert judge(Rules.of().within("", rule.encode()), name) == ".gitignore"
    assert judge(Rules.of(exclude=[rule]), name) == "exclude"


def test_the_innermost_gitignore_decides() -> None:
    rules = Rules.of().within("", b"*.txt\n/top.md\n").within("docs", b"!*.txt\ninner.md\n/top/\n")
    assert judge(rules, "a.txt") == ".gitignore"
    assert judge(rules, "docs/a.txt") is None
    assert judge(rules, "top.md") == judge(rules, "docs/x/inner.md") == judge(rules, "docs/top/") == ".gitignore"
    assert judge(rules, "docs/top.md") is judge(rules, "inner.md") is judge(rules, "docs/x/top/") is None


def test_a_pattern_made_to_be_slow_leaves_out_more_and_is_quick() -> None:
    rules = Rules.of().within("", ("*a" * 12 + "b\n" + "**/a*/" * 12 + "b\n" + "!" + "*z" * 12).encode())
    assert judge(rules, "a" * 255) == ".gitignore"
    assert judge(rules, "b/" * 60 + "b") is None


@pytest.mark.parametrize("made", ["a", "[", "*", "a*", "**/", "ж/", "[*a*b*c*]"])
def test_a_line_longer_than_a_pattern_may_be_is_passed_over_and_the_next_one_counts(made: str) -> None:
    rules = Rules.of().within("", f"{made * 40_000}\n*.log\n".encode())
    assert judge(rules, "a.log") == ".gitignore"
    assert judge(rules, "a" * 255) is judge(rules, "план.md") is None


@pytest.mark.parametrize("made", ["[", "[*a", "a**", "*]", "**/["])
def test_a_line_as_long_as_a_pattern_may_be_costs_the_next_one_nothing(made: str) -> None:
    line = (made * PATTERN_LIMIT)[:PATTERN_LIMIT]
    assert judge(Rules.of().within("", f"{line}\nчерновик.md\n".encode()), "черновик.md") == ".gitignore"


def test_of_a_gitignore_without_end_the_first_patterns_count_and_comments_do_not() -> None:
    lines = [f"# {no}\n\nчерновик{no}.md" for no in range(PATTERNS_LIMIT + 1)]
    rules = Rules.of().within("", "\n".join(lines).encode())
    assert judge(rules, f"черновик{PATTERNS_LIMIT - 1}.md") == ".gitignore"
    assert judge(rules, f"черновик{PATTERNS_LIMIT}.md") is None


def test_what_lies_in_a_folder_that_is_left_out_cannot_be_seen(tmp_path: Path) -> None:
    put(tmp_path / ".gitignore", "private/\n")
    put(tmp_path / "private/.gitignore", "!*\n")
    sight = Sight(Tree(real_path(str(tmp_path))), Rules.of())
    assert sight.verdict("private/deep/a.md", is_dir=False) == ".gitignore"
    assert sight.verdict("node_modules/a/b.md", is_dir=False) == "default exclude node_modules"
    assert sight.verdict("open/a.md", is_dir=False) is None
    put(tmp_path / ".gitignore", "open/\nprivate/\n")
    assert sight.verdict("open/a.md", is_dir=False) == ".gitignore"


def test_a_gitignore_that_is_a_link_or_a_folder_says_nothing(tmp_path: Path) -> None:
    put(tmp_path / "patterns", "*.md\n")
    (tmp_path / ".gitignore").symlink_to("patterns")
    (tmp_path / "sub/.gitignore").mkdir(parents=True)
    sight = Sight(Tree(real_path(str(tmp_path))), Rules.of())
    assert sight.verdict("a.md", is_dir=False) is sight.verdict("sub/a.md", is_dir=False) is None


LINES = ["*", "!*/", "!*.md", "a", "a/", "!a/", "/a", "a/*", "!a/b", "a/**", "!a/b/", "**/b", "*/", "**", "a/**/y.md"]
LINES += ["/a/b/*.md", "?.txt", "[!x]*", "a/**/", "!**/b/", "x*", "[ab]", "/*", "!/a", "заметки/", "!*.txt"]
TREE = ["a/x.txt", "a/x.md", "a/b/y.md", "a/b/y.txt", "b/a/q", "top.md", "заметки/план.md"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge here")
@settings(max_examples=40)
@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=4), inner=st.lists(st.sampled_from(LINES), max_size=2)
)
def test_every_path_is_ignored_as_git_ignores_it(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], inner: list[str]
) -> None:
    root = tmp_path_factory.mktemp("repo")
    git = ["git", "-c", "core.excludesFile=/dev/null", "-C", str(root)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for path in TREE:
        put(root / path)
    put(root / ".gitignore", "\n".join(lines))
    put(root / "a/.gitignore", "\n".join(inner))
    done = subprocess.run(
        [*git, "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(TREE).encode(),
        capture_output=True,
        check=False,
    )
    sight = Sight(Tree(real_path(str(root))), Rules.of())
    ours = {path for path in TREE if sight.verdict(path, is_dir=False) == ".gitignore"}
    assert ours == set(filter(None, done.stdout.decode().split("\0")))
