"""Rules: which files and folders of a root are left out, and for what reason."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, Self

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pathspec import GitIgnoreSpec
    from pathspec.pattern import RegexPattern

GITIGNORE: Final = ".gitignore"
GITIGNORE_LIMIT: Final = 2**20
"""Most bytes of a `.gitignore` that are read."""
PATTERN_LIMIT: Final = 1_000
"""Most characters of a pattern, as of what is searched for; real ones have a few dozen."""
PATTERNS_LIMIT: Final = 2_000
"""How many patterns of one `.gitignore` count, the first ones: each is asked about every name below."""
SECRET: Final = "secret"  # noqa: S105 - it is a reason
"""The verdict on files that may hold secrets: nothing brings them back."""

FOLDERS: Final = frozenset(
    ".git .hg .svn .idea .vscode .next .terraform .agent-memory .obsidian .trash "  # noqa: SIM905 - it reads as a list
    "node_modules vendor bin dist build coverage logs artifacts test-results playwright-report __pycache__ .venv venv "
    ".tox .mypy_cache .ruff_cache .pytest_cache target".split()
)
"""Folders of tools: what they hold is made from something else or belongs to a program."""

_TEMPORARY: Final = re.compile(
    r".*\.swp|.*\.swo|.*~|\.#.*|#.*#|~\$.*|.*\.tmp|.*\.temp|.*\.part|.*\.crdownload|\.ds_store|thumbs\.db|\.syncthing\..*"
)
"""Names of editors, browsers and sync tools for files that are not finished, or about a folder."""

_SECRETS: Final = re.compile(
    r"\.env(\..*)?|.*\.env|\.envrc|.*\.pem|.*\.key|.*\.asc|id_(rsa|dsa|ecdsa|ed25519).*|.*\.kdbx|.*\.p12|.*\.pfx"
    r"|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|\.git-credentials|\.(bash|zsh|psql|python)_history"
    r"|credentials(\.json)?|secrets\.(ya?ml|json)|service-account.*\.json|.*\.tfstate(\.backup)?"
    r"|\.ssh|\.gnupg|\.aws|\.kube|\.docker"
)
"""Names of files that may hold keys, passwords or what was typed, and of the folders that programs keep them in."""

_BINARY: Final = frozenset(
    # images
    ".png .jpg .jpeg .gif .bmp .ico .icns .tif .tiff .webp .avif .heic .psd .ai .eps .xcf "  # noqa: SIM905 - a line each would fill a page
    # archives and disk images
    ".zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .lz4 .br .iso .dmg .img .whl .egg .deb .rpm .apk .ipa .cab "
    # sound, film and fonts
    ".mp3 .wav .flac .ogg .m4a .aac .opus .mp4 .m4v .mkv .avi .mov .webm .wmv .flv .ttf .otf .woff .woff2 .eot "
    # programs, and what compilers and databases write
    ".exe .dll .so .dylib .o .a .lib .obj .bin .msi .class .jar .war .pyc .pyo .pyd .wasm .mo .db .db-wal .db-shm "
    ".sqlite .sqlite3 .mdb .parquet .arrow .npy .npz .pkl .pt .onnx .gguf .safetensors .pack".split()
)
"""Endings of files that hold no text; a file without one of them may still turn out to be binary."""

_CROWDED: Final = re.compile(r"(?<![^/])((?:[^/*]*\*+){3})[^/*]*\*[^/]*")
"""A part of a pattern with more than three stars: four took a second against one name made for them, eight years."""

_DEEP: Final = re.compile(r"\A((?:.*?\*\*/){3}).*\*\*/.*")
"""A pattern with more than three `**/`, which grows as fast with the depth of a folder."""


class Rules(Struct, frozen=True, kw_only=True):
    """What of one root is left out: `verdict` judges one name, its folders having been judged before.

    In falling order: `exclude` wins over all; secrets are never kept; an `include` brings back what the defaults
    or a `.gitignore` leave out if it spells its name (`dist/*.md` opens `dist`; `*.md` opens nothing). Of the
    `.gitignore` files the innermost that has a say decides, as in git, in a repository or not.
    """

    includes: GitIgnoreSpec | None = None
    excludes: GitIgnoreSpec | None = None
    spelled: frozenset[str] = frozenset()
    endings: frozenset[str] = frozenset()
    ignores: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    @classmethod
    def of(cls, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> Self:
        """Return the rules of a source; patterns are those of `.gitignore`, relative to the root.

        Raises `InvalidInput` for what is no pattern.
        """
        included = [unicodedata.normalize("NFC", pattern) for pattern in include]
        parts = [part for pattern in included if not pattern.startswith("!") for part in pattern.split("/")]
        return cls(
            includes=_checked("include", included),
            excludes=_checked("exclude", exclude),
            spelled=frozenset(parts),
            endings=frozenset(_ending(part) for part in parts),
        )

    def within(self, folder: str, ignored: bytes) -> Rules:
        """Return the rules inside a folder whose `.gitignore` holds `ignored`."""
        spec = _compiled(ignored)
        return replace(self, ignores=((folder, spec), *self.ignores)) if spec.patterns else self

    def verdict(self, path: str, *, is_dir: bool) -> str | None:
        """Return None for what is kept, else the reason in a word or three."""
        path = unicodedata.normalize("NFC", path)
        name = path.rpartition("/")[2]
        asked = f"{path}/" if is_dir else path
        if self.excludes is not None and self.excludes.match_file(asked):
            return "exclude"
        if _SECRETS.fullmatch(name.lower()):
            return SECRET
        if _TEMPORARY.fullmatch(name.lower()):
            return "temporary"
        if name not in self.spelled:
            if is_dir and name in FOLDERS:
                return f"default exclude {name}"
            if self._is_ignored(asked):
                return GITIGNORE
        return None if is_dir else self._verdict_on_file(path, name)

    def _verdict_on_file(self, path: str, name: str) -> str | None:
        if self.includes is not None and not self.includes.match_file(path):
            return "not in include"
        ending = _ending(name)
        return "binary" if ending in _BINARY and ending not in self.endings else None

    def _is_ignored(self, asked: str) -> bool:
        for folder, spec in self.ignores:
            inner = asked[len(folder) + 1 :] if folder else asked
            for pattern in reversed(list(spec.patterns)):
                if _names(pattern, inner):
                    return bool(pattern.include)
        return False


def _names(pattern: RegexPattern, path: str) -> bool:
    """Tell whether a pattern names this very file or folder, not one above it, which has been judged.

    The pattern's one group is the `/` behind a folder. `PathSpec.match_file` lets it count for what is below
    too, and so forgets `!*/` after `*`.
    """
    if pattern.regex is None:
        return False
    is_dir = path.endswith("/")
    return any(
        (is_dir and found.end() == len(path)) == (found.lastgroup is not None) for found in pattern.regex.finditer(path)
    )


@lru_cache(maxsize=256)
def _compiled(ignored: bytes) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    text = unicodedata.normalize("NFC", ignored.decode("utf-8-sig", "replace"))
    lines = (line.rstrip("\r") for line in text.split("\n"))
    said = islice((line for line in lines if line and not line.startswith("#")), PATTERNS_LIMIT)
    bounded = (_bounded(line) for line in said if len(line) <= PATTERN_LIMIT)
    return GitIgnoreSpec.from_lines(line for line in bounded if _is_pattern(line))


def _bounded(line: str) -> str:
    """Return a line of a `.gitignore` that is quick to match: one made to be slow leaves out more than it says."""
    short = _DEEP.sub(r"\1*", _CROWDED.sub(r"\1", line))
    if short != line and line.startswith("!"):
        return ""
    return f"{short}*/" if short.endswith("/**/") else short  # what pathspec takes for the folder itself


def _checked(field: str, patterns: Iterable[str]) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec

    normal = [unicodedata.normalize("NFC", pattern) for pattern in patterns]
    for pattern in normal:
        if not _is_pattern(pattern) or not pattern.strip() or pattern.startswith("#"):
            remedy = "Write it as a line of .gitignore, for example *.md or docs/"
            raise InvalidInput(field, f"{pattern!r} is no pattern", remedy=remedy)
    return GitIgnoreSpec.from_lines(normal) if normal else None


def _is_pattern(line: str) -> bool:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    if len(line) > PATTERN_LIMIT:
        return False
    try:
        GitIgnoreSpecPattern(line)
    except (ValueError, re.error):
        return False
    return True


def _ending(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    return f".{ending.lower()}" if stem and dot else ""
