"""Attaching folders and files: which there are, and letting go of them."""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zapomni.errors import Ambiguous, InvalidInput, NotFound, Refused, Unavailable
from zapomni.files.names import real_path, to_os
from zapomni.files.rules import Rules
from zapomni.model.document import GLOB_LIMIT, Source, SourceMode
from zapomni.text.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Scope
    from zapomni.services.context import Context


_OWN_FILES: Final = ("memories.db*", "config.toml", "http.token")
"""What the memory keeps in its folder: settings may hold keys, and the store grows with what is indexed of it."""


def add_source(
    context: Context,
    root: Path,
    *,
    scope: Scope,
    home: Path,
    mode: SourceMode = SourceMode.INDEX,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> Source:
    """Attach a folder or file in one mode; attached in it before, it takes the new patterns.

    `home` is where the memory itself lies: within the root its own files are left out. Raises `NotFound` for a
    root that is not there, `Refused` for the root of the file system, for a device, and for a mirrored folder that
    another one stands in the way of, `InvalidInput` for patterns that are none.
    """
    place = _attachable(root)
    if mode is SourceMode.MIRROR:
        _check_mirror(context, place, scope)
    _check_number(include=include, exclude=exclude)
    own = real_root(home)
    if place == own or place in own.parents:
        inside = _spelled(own.relative_to(place))
        exclude = (*exclude, *(f"/{inside}/{name}".replace("/./", "/") for name in _OWN_FILES))
    Rules.of(include, exclude)
    source = Source(
        id=context.new_id(),
        root=place.as_posix(),
        mode=mode,
        scope=scope,
        created_at=context.clock(),
        include=tuple(include),
        exclude=tuple(exclude),
    )
    return context.store.documents.add_source(source)


def _attachable(root: Path) -> Path:
    """Return where a root really lies, once it is seen to be something that can be attached."""
    place = real_root(root)
    name = to_os(str(place))  # a Path would ask in the locale's encoding
    if place.parent == place:
        raise Refused(f"{place} is the whole file system", remedy="Attach the folders that hold your documents")
    if not os.path.exists(name):  # noqa: PTH110 - as above
        raise NotFound(f"there is no {place}", remedy="Name a folder or file that is there")
    if not (os.path.isdir(name) or os.path.isfile(name)):  # noqa: PTH112, PTH113 - as above
        raise Refused(f"{place} is neither a folder nor a file", remedy="Attach what can be read from its beginning")
    return place


def _check_number(**patterns: Sequence[str]) -> None:
    for field, given in patterns.items():
        if len(given) > GLOB_LIMIT:
            raise InvalidInput(field, f"{len(given)} patterns, at most {GLOB_LIMIT} are allowed")


def make_root(root: Path) -> None:
    """Make a folder that is to be attached, where it is not there. Raises `Unavailable` when it cannot be made."""
    try:
        os.makedirs(to_os(str(real_root(root))), mode=0o700, exist_ok=True)  # noqa: PTH103 - as above
    except OSError as error:
        raise Unavailable(f"{root} cannot be made ({error.strerror})", remedy="Name another place") from error


def _check_mirror(context: Context, place: Path, scope: Scope) -> None:
    """Refuse what could not be kept in step: a file, a second folder of a scope, a folder within another."""
    if not os.path.isdir(to_os(str(place))):  # noqa: PTH112 - as above
        raise InvalidInput("path", f"{place} is a file", remedy="A mirror is a folder of notes: name its folder")
    for other in context.store.documents.sources():
        if other.mode is not SourceMode.MIRROR or (other.root, other.scope) == (place.as_posix(), scope):
            continue
        root = Path(other.root)
        if other.scope == scope:
            problem = f"{scope} is mirrored by {root} already, and a memory has one file"
            raise Refused(problem, remedy="Give the folder a scope of its own, such as --scope agent:NAME or team:NAME")
        if root == place:
            problem = f"{place} is mirrored for {other.scope} already"
            raise Refused(problem, remedy="Let go of it first: `zapomni source remove`")
        if root in place.parents or place in root.parents:
            problem = f"{place} and {root}, which is mirrored for {other.scope}, lie within each other"
            raise Refused(problem, remedy="Mirror folders that lie beside each other")


def real_root(root: Path) -> Path:
    """Return where a root really lies, so that every spelling of it is one source."""
    return Path(real_path(str(root)))


def _spelled(path: Path) -> str:
    """Return a path as a pattern that means nothing but itself."""
    return re.sub(r"([\\*?\[\]])", r"\\\1", path.as_posix())


def list_sources(context: Context, scopes: Sequence[Scope]) -> list[Source]:
    """Return the sources of these scopes, oldest first."""
    return [source for source in context.store.documents.sources() if source.scope in scopes]


def wanted_sources(context: Context, name: str | None, scopes: Sequence[Scope]) -> list[Source]:
    """Return the source of this name, or without one all of these scopes. Raises what `find_source` raises."""
    return list_sources(context, scopes) if name is None else [find_source(context, name, scopes)]


def find_source(context: Context, name: str, scopes: Sequence[Scope]) -> Source:
    """Return the source of this path, or whose id begins so.

    Raises `NotFound` with the scope that it is attached in or with what may have been meant, `Ambiguous` for a
    beginning of several ids.
    """
    wanted = name.strip()
    if not wanted:
        raise InvalidInput("source", "it is blank", remedy="Give a path or an id as `zapomni source list` shows it")
    known = list_sources(context, scopes)
    fits = _called(wanted, known)
    if len(fits) > 1:
        raise Ambiguous(wanted, tuple(source.id for source in fits), "sources")
    if not fits:
        raise _unknown(wanted, known, _called(wanted, context.store.documents.sources()))
    return fits[0]


def _called(wanted: str, known: Sequence[Source]) -> list[Source]:
    place = real_root(Path(wanted)).as_posix() if "\0" not in wanted else ""  # no path holds it
    return [source for source in known if place == source.root] or [s for s in known if s.id.startswith(wanted)]


def _unknown(wanted: str, known: Sequence[Source], elsewhere: Sequence[Source]) -> NotFound:
    if elsewhere:
        scopes = list(dict.fromkeys(str(source.scope) for source in elsewhere))
        problem = f"source {wanted!r} is attached in {', '.join(scopes)}, which is not looked at here"
        return NotFound(problem, remedy=f"Say --scope {' or --scope '.join(scopes)}")
    near = nearest(wanted, [source.root for source in known])
    remedy = (
        f"Did you mean {' or '.join(near)}?" if near else "`zapomni source list --scope all` shows what is attached"
    )
    return NotFound(f"no source {wanted!r} is attached", remedy=remedy)
