"""Where am I: the project of a folder, told by its repository so that worktrees share one memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from zapomni.model import NAME_LIMIT, USER_SCOPE, Scope, ScopeKind
from zapomni.services.context import Place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from zapomni.store.base import Store

_ORIGIN: Final = re.compile(r'^\s*\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S[^\r\n]*)', re.MULTILINE)
_PORT: Final = re.compile(r"(?<=[^/]):\d+(?=/|$)")
_SUFFIX: Final = 6
"""Letters of the identity's hash that tell two repositories of one name apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A repository: the name of its folder, and the remote (or common directory) that tells it from others."""

    name: str
    identity: str


def find_project(folder: Path) -> Project | None:
    """Return the repository that `folder` lies in, or None.

    Reads `.git` by hand, for a `git` process costs more than a whole recall.
    """
    for root in (folder, *folder.parents):
        common = _common_dir(root / ".git")
        if common is not None:
            remote = _remote(common)
            base = common.parent if common.name.startswith(".") else common  # .git, or a bare one called .bare
            name = base.name.removesuffix(".git") or root.name
            return Project(name=name[:NAME_LIMIT].strip() or "repository", identity=remote or str(common))
    return None


def _common_dir(git: Path) -> Path | None:
    try:
        common = git.resolve() if git.is_dir() else _pointed(git)
        return common if common is not None and (common / "HEAD").exists() else None
    except (OSError, UnicodeDecodeError):
        return None


def _pointed(git: Path) -> Path | None:
    """Return the directory that the `.git` file of a worktree or submodule leads to."""
    pointer = git.read_text(encoding="utf-8").strip()
    if not pointer.startswith("gitdir:"):
        return None
    own = (git.parent / pointer.removeprefix("gitdir:").strip()).resolve()
    shared = own / "commondir"
    return (own / shared.read_text(encoding="utf-8").strip()).resolve() if shared.exists() else own


def _remote(common: Path) -> str | None:
    try:
        settings = (common / "config").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = _ORIGIN.search(settings)
    return normal_remote(found[1]) if found else None


def normal_remote(url: str) -> str:
    """Return one spelling for the ways to write a remote: no scheme, user, port or `.git`, host in lower case."""
    text = url.strip().removesuffix("/").removesuffix(".git")
    scheme, mark, rest = text.partition("://")
    text = rest if mark else scheme
    text = text.rpartition("@")[2] if "@" in text.partition("/")[0] else text
    text = _PORT.sub("", text) if mark else text
    host, slash, path = text.replace(":", "/", 1).partition("/")
    return f"{host.casefold()}{slash}{path}"


def scope_of(project: Project, store: Store) -> tuple[Scope, str]:
    """Return the scope of a repository and its identity; two repositories of one name get two scopes."""
    known = store.scope_identities()
    for scope, identity in known.items():
        if identity == project.identity:
            return scope, project.identity
    plain = Scope(kind=ScopeKind.PROJECT, name=project.name)
    if known.get(plain) is None:
        return plain, project.identity
    from hashlib import blake2b

    mark = blake2b(project.identity.encode("utf-8", "replace")).hexdigest()[:_SUFFIX]
    return Scope(kind=ScopeKind.PROJECT, name=f"{project.name}-{mark}"), project.identity


def place_of(scope: Scope, teams: Sequence[Scope]) -> Place:
    """Return the place of a caller whose writes go to `scope`: its reads see it, the teams and the user."""
    seen = dict.fromkeys((scope, *teams, USER_SCOPE))
    return Place(write=scope, read=tuple(seen))
