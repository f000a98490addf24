"""Where am I: the project of a folder, told by its repository so that worktrees share one memory."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zapomni.config import PROJECT_FILE, is_settings_file
from zapomni.errors import Unavailable
from zapomni.model import NAME_LIMIT, USER_SCOPE, Scope, ScopeKind
from zapomni.repository import common_dir
from zapomni.services.context import Place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from zapomni.store.base import Store

_ORIGIN: Final = re.compile(r'^\s*\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S[^\r\n]*)', re.MULTILINE)
_PORT: Final = re.compile(r"(?<=[^/]):\d+(?=/|$)")
_SUFFIX: Final = 6
"""Letters of the identity's hash that tell two repositories of one name apart."""


class Project(Struct, frozen=True, kw_only=True):
    """A repository: the name of its folder, and what tells it from others: its remote, its common directory."""

    name: str
    identities: tuple[str, ...]


def find_project(folder: Path) -> Project | None:
    """Return the repository that `folder` lies in, else the nearest folder above it with `PROJECT_FILE`, or None.

    Raises `ConfigError` where something else stands in the place of that file: what belongs to a project must not
    end in the scope that every project sees.
    """
    for root in (folder, *folder.parents):
        common = common_dir(root / ".git")
        if common is not None:
            remote = _remote(common)
            base = common.parent if common.name.startswith(".") else common  # .git, or a bare one called .bare
            name = _speakable(base.name.removesuffix(".git") or root.name)
            return Project(name=name, identities=tuple(filter(None, (remote, _text(common)))))
    marked = next((root for root in (folder, *folder.parents) if _is_marked(root)), None)
    return Project(name=_speakable(marked.name), identities=(_text(marked),)) if marked is not None else None


def _is_marked(folder: Path) -> bool:
    try:
        return is_settings_file(folder / PROJECT_FILE)
    except OSError:  # a folder that cannot be looked into marks nothing; the settings name it
        return False


def _text(path: Path | str) -> str:
    """Return a path as text that any store can keep, also where its bytes are none."""
    return os.fsencode(path).decode("utf-8", "replace")


def _speakable(name: str) -> str:
    """Return a folder's name as one that can be a scope's, with room for the mark that tells namesakes apart."""
    kept = "".join(letter for letter in _text(name) if letter.isprintable())
    return kept[: NAME_LIMIT - _SUFFIX - 1].strip() or "repository"


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


def scope_of(project: Project, store: Store) -> Scope:
    """Return the scope of a repository, its name kept for it when it is new; the first write makes it known.

    A repository stays the one it was when its remote changes or its folder moves, as long as one of the two is
    known; two repositories of one name get two scopes, also when both are opened at the same time.
    """
    scope, identities = _settled(project, store)
    if set(project.identities) <= identities:
        return scope
    try:
        with store.write() as tx:
            scope, identities = _settled(project, store)
            tx.reserve_scope(scope, "\n".join(sorted(identities.union(project.identities))))
    except Unavailable:  # a store that can only be read has nothing to be told
        pass
    return scope


def _settled(project: Project, store: Store) -> tuple[Scope, set[str]]:
    """Return the scope that the repository has or would get, and the identities by which it is known."""
    known = {scope: set((identity or "").splitlines()) for scope, identity in store.scope_identities().items()}
    for identity in project.identities:
        for scope, identities in known.items():
            if identity in identities:
                return scope, identities
    plain = Scope(kind=ScopeKind.PROJECT, name=project.name)
    if not known.get(plain):
        return plain, set()
    from zapomni.digests import blake2b

    mark = blake2b(project.identities[-1].encode()).hexdigest()[:_SUFFIX]
    return Scope(kind=ScopeKind.PROJECT, name=f"{project.name}-{mark}"), set()


def on_branch(place: Place, branch: str) -> Place:
    """Return a place on a branch of the memory: writes go to what is the branch's own, reads see it and all behind."""
    own = (scope.on(branch) for scope in place.read)
    read = tuple(dict.fromkeys((*place.read, *own)))
    return replace(place, write=place.write.on(branch), read=read, branch=branch)


def place_of(scope: Scope, teams: Sequence[Scope], agent: Scope | None = None) -> Place:
    """Return the place of a caller whose writes go to `scope`: its reads see it, the agent, the teams and the user."""
    own = (scope, agent) if agent is not None else (scope,)
    seen = dict.fromkeys((*own, *teams, USER_SCOPE))
    return Place(write=scope, read=tuple(seen), agent=agent)
