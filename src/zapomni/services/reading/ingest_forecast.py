"""What reading a source into memories would take: its files are looked at, no model is asked and nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from zapomni.errors import ZapomniError
from zapomni.files.tree import Tree
from zapomni.model.document import Skipped
from zapomni.services.documents.scan import digest_of
from zapomni.services.reading.dating import Moment
from zapomni.services.reading.facts import forecast
from zapomni.services.reading.ingest_source import known_files, label_of, look_around
from zapomni.services.reading.material import material_of_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.files.walk import Found
    from zapomni.llm.base import Usage
    from zapomni.model.document import Source
    from zapomni.services.context import Context
    from zapomni.services.reading.facts import Terms
    from zapomni.services.reading.material import Material
    from zapomni.store.readings import Reading


class ScanForecast(Struct, frozen=True, kw_only=True):
    """About what a whole scan of one source would take.

    `read` files would be shown to the model in `calls` calls; `kept` are known as they are, or only moved, and cost
    nothing; `removed` are gone. `problem` says why nothing can be told: the root is away.
    """

    source: Source
    read: int = 0
    kept: int = 0
    removed: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    skipped: tuple[Skipped, ...] = ()
    problem: str | None = None


class _Known(NamedTuple):
    """What was read of the files before: of each path, and of each SHA-256."""

    paths: Mapping[str, Sequence[Reading]]
    marks: frozenset[str]


def foresee_scan(context: Context, source: Source, *, terms: Terms) -> ScanForecast:
    """Look at a source's files and tell what `scan_ingested` would ask a model, about."""
    try:
        found = look_around(source)
    except ZapomniError as error:
        return ScanForecast(source=source, problem=error.message)
    paths = known_files(context, source)
    known = _Known(paths, frozenset(one.sha256 for readings in paths.values() for one in readings if one.run))
    tree, skipped, kept, read = Tree(source.root), list(found.skipped), 0, 0
    calls: list[Usage] = []
    for file in found.files:
        try:
            material = _to_read(context, source, tree, file, known, terms)
        except OSError as error:
            skipped.append(Skipped(path=file.path, reason=f"it cannot be read ({error.strerror or error})"))
        except ZapomniError as error:
            skipped.append(Skipped(path=file.path, reason=error.message))
        else:
            kept += material is None
            read += material is not None
            calls += _usages(context, material, terms) if material is not None else []
    there = {file.path for file in found.files}
    return ScanForecast(
        source=source,
        read=read,
        kept=kept,
        removed=sum(path not in there and not found.hides(path) for path in known.paths),
        calls=len(calls),
        tokens_in=sum(one.tokens_in for one in calls),
        tokens_out=sum(one.tokens_out for one in calls),
        skipped=tuple(skipped),
    )


def _to_read(context: Context, source: Source, tree: Tree, file: Found, known: _Known, terms: Terms) -> Material | None:
    """Return what of a file a model would be shown, None where what is known of it stands."""
    with tree.open(file.path) as opened:
        mark = digest_of(opened)
        before = known.paths.get(file.path, ())
        if any(one.sha256 == mark and one.run for one in before) or (not before and mark in known.marks):
            return None
        name = (file.path or source.root).rpartition("/")[2]
        moment = Moment(context.clock(), terms.zone, file.modified_ns)
        return material_of_file(opened, name, moment, source=label_of(source), path=file.path, mark=mark)


def _usages(context: Context, material: Material, terms: Terms) -> list[Usage]:
    at = material.said_at or context.clock()
    return forecast(material.text, material.image, source=material.source, at=at, terms=terms)
