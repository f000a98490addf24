"""The doctor: looks at every part of a memory, says what is wrong with it and mends what is derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from zapomni.embed.base import Checkable
from zapomni.errors import EmbedderError, StoreDamaged, ZapomniError
from zapomni.model import SpaceState
from zapomni.store.base import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from zapomni.model import Memory
    from zapomni.services.embedding import Embedding
    from zapomni.settings import Config
    from zapomni.store.base import Store


def doctor(
    config: Config, store: Callable[[], Store], embedding: Callable[[], Embedding[Memory]], *, repair: bool = False
) -> list[Check]:
    """Look at settings, store and vectors; never raises for what it finds wrong.

    `repair` builds every derived index anew from the memories. What is only the memories' own, it never
    touches: a store whose memories are damaged needs a backup.
    """
    checks = [_settings(config)]
    try:
        opened = store()
        found = _repaired(opened) if repair else opened.check()
        checks += [_with_copies(check, config.store_path) for check in found]
    except StoreDamaged as error:
        checks.append(replace(_failed("store", error), remedy=_restoring(config.store_path)))
        return checks
    except ZapomniError as error:
        checks.append(_failed("store", error))
        return checks
    looks: dict[str, Callable[[], Iterator[Check]]] = {
        "sources": lambda: _documents(config, opened),
        "vectors": lambda: _vectors(embedding()),
    }
    for name, look in looks.items():
        try:
            checks += look()
        except ZapomniError as error:
            checks.append(_failed(name, error))
    return checks


def _documents(config: Config, store: Store) -> Iterator[Check]:
    """Look at what is attached; with nothing attached there is nothing to be said."""
    for folder in config.documents.folders:
        remedy = "Mend the setting documents.folders, or bring the folder back"
        try:
            problem = "" if folder.exists() else f"there is no {folder}"
        except OSError as error:
            problem = f"{folder} cannot be looked at ({error.strerror or error})"
        if problem:
            yield Check(name="documents.folders", ok=False, detail=problem, remedy=remedy)
    documents = store.documents
    sources = documents.sources()
    for source in sources:
        if source.problem:
            remedy = f"Look at it, then run `zapomni source scan {source.id}`"
            yield Check(name="source", ok=False, detail=f"{source.root}: {source.problem}", remedy=remedy)
    if sources:
        waiting = sum(documents.status(source).waiting for source in sources)
        detail = f"attached: {len(sources):,}; chunks: {documents.size():,}, without a vector: {waiting:,}"
        yield Check(name="sources", ok=True, detail=detail)


def _with_copies(check: Check, path: Path) -> Check:
    """Return a check with what brings lost memories back, where it found some of them lost."""
    if check.ok or check.name != "integrity":
        return check
    return replace(check, remedy=f"{check.remedy}. {_restoring(path)}")


def _restoring(path: Path) -> str:
    """Say how a backup takes the place of a damaged store, and name the copies that lie beside it."""
    copies = sorted(copy for copy in path.parent.glob(f"{path.name}.before-*") if not copy.name.endswith("-wal"))
    beside = f"copies beside it: {', '.join(map(str, copies))}" if copies else "no copy lies beside it"
    if path.exists() and not path.stat().st_size:
        return f"`zapomni restore FILE` puts a backup in its place, or remove the file to begin anew; {beside}"
    return f"`zapomni restore FILE --force` puts a backup in its place and keeps what is there; {beside}"


def _settings(config: Config) -> Check:
    set_here = [f"{name} = {value} ({origin})" for name, value, origin in config.rows() if origin != "default"]
    found = [
        "; ".join(set_here) or "every setting has its default",
        *(f"not looked into for a project's settings: {folder}" for folder in config.unread),
    ]
    return Check(name="settings", ok=True, detail=f"the store lies in {config.home}; {'; '.join(found)}")


def _repaired(store: Store) -> Iterator[Check]:
    """Rebuild what is derived and look again; a fault that was mended is told as such."""
    before = {check.name for check in store.check() if not check.ok}
    try:
        store.rebuild()
    except ZapomniError as error:
        yield _failed("repair", error)
        yield from store.check()
        return
    after = store.check()
    mended = sorted(before - {check.name for check in after if not check.ok})
    detail = "words, names and counts were built anew from the memories"
    yield Check(name="repair", ok=True, detail=f"{detail}; mended: {', '.join(mended) or 'nothing was broken'}")
    yield from after


def _vectors(embedding: Embedding[Memory]) -> Iterator[Check]:
    if embedding.wanted is None:
        yield Check(name="embedder", ok=True, detail="semantic search is switched off (embedder.provider = none)")
        return
    yield _embedder(embedding)
    yield from _space(embedding)
    yield _backlog(embedding)


def _embedder(embedding: Embedding[Memory]) -> Check:
    """Have the model look at its own files, where it brings some, and make one vector."""
    embedder = embedding.wanted
    assert embedder is not None
    label = f"{embedder.provider}:{embedder.model}"
    try:
        if isinstance(embedder, Checkable):
            embedder.check()
        (vector,) = embedder.embed(["zapomni"], "query")
    except EmbedderError as error:
        return _failed("embedder", error, label)
    if isinstance(vector, EmbedderError):
        return _failed("embedder", vector, label)
    return Check(name="embedder", ok=True, detail=f"{label} answered with {len(vector)} numbers")


def _space(embedding: Embedding[Memory]) -> Iterator[Check]:
    active, target = embedding.active(), embedding.target()
    if active is None:
        yield Check(name="space", ok=True, detail="nothing has a vector yet")
    elif target is None:
        yield Check(
            name="space",
            ok=False,
            detail=f"the vectors are of {active.label}, another model than the settings name",
            remedy="Run `zapomni reembed`",
        )
    elif target.state is SpaceState.BUILDING:
        detail = f"{active.label} answers while {target.label} is being built"
        yield Check(name="space", ok=True, detail=detail)
    else:
        yield Check(name="space", ok=True, detail=f"{active.label} is in use")


def _backlog(embedding: Embedding[Memory]) -> Check:
    waiting = embedding.backlog()
    one = waiting.waiting == 1
    detail = f"{waiting.waiting:,} {'memory waits for its' if one else 'memories wait for their'} vector"
    if not waiting.failed:
        return Check(name="backlog", ok=True, detail=detail)
    return Check(
        name="backlog",
        ok=False,
        detail=f"{detail}, {waiting.failed:,} of them failed before: {waiting.error}",
        remedy="Run `zapomni reembed`, which tries them again at once",
    )


def _failed(name: str, error: ZapomniError, what: str = "") -> Check:
    return Check(name=name, ok=False, detail=f"{what}: {error.message}" if what else error.message, remedy=error.remedy)
