"""Saying why an answer is empty: how it was looked for, what fell under the floor, what the filter keeps away."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec.structs import replace

from zapomni.model import Trust
from zapomni.model.explanation import Barred, Explanation, Hidden
from zapomni.text.stopwords import STOP_WORDS
from zapomni.text.words import passed_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from zapomni.model import Filter, Hit, Query, Scope
    from zapomni.model.document import DocumentFilter, DocumentHit, DocumentQuery
    from zapomni.search.looked import Looked

W = TypeVar("W", bound="Filter | DocumentFilter")

MEMORIES: Final = "memories"
DOCUMENTS: Final = "documents"

_TIME: Final[Mapping[str, Any]] = {"since": None, "until": None, "as_of": None, "expired": True}
_OTHER: Final[Mapping[str, Any]] = {
    "kinds": (),
    "about": None,
    "tags": (),
    "all_tags": (),
    "entities": (),
    "path": None,
    "source": None,
    "importance_from": None,
    "pinned": None,
}
_OTHER_DOCUMENTS: Final[Mapping[str, Any]] = {"kinds": (), "source_ids": (), "path": None, "tags": ()}
_NOT_GIVEN: Final = {"scopes", "expired", "deleted"}
"""Fields of a filter that no option narrows it by, but for scopes, which are always there."""
_AS_ONE: Final = {"until": "since"}
"""Fields that bar together: a span is given as one (`on`)."""


def explain_memories(
    looked: Looked[Hit], query: Query, every: Sequence[Scope], found: Callable[[Filter], list[Scope]]
) -> Explanation:
    """Explain why no memory was found; `every` is every scope there is.

    `found` gives the scope of each answer under a filter, at most as many as were asked for.
    """
    where = query.where
    parts = {
        "scope": {"scopes": tuple(every)} if set(every) != set(where.scopes) else {},
        "time": _TIME,
        "trust": {"trusts": tuple(Trust)},
        "other": _OTHER,
    }
    return _explanation(MEMORIES, looked, query.text, _without(where, parts, found, query.limit))


def explain_documents(
    looked: Looked[DocumentHit], query: DocumentQuery, found: Callable[[DocumentFilter], list[Scope]]
) -> Explanation:
    """Explain why nothing was found in documents; `found` gives the scope of each answer under a filter."""
    parts = {"scope": {"scopes": ()}, "other": _OTHER_DOCUMENTS}
    return _explanation(DOCUMENTS, looked, query.text, _without(query.where, parts, found, query.limit))


def barring(where: W, visible: Callable[[W], int]) -> Barred | None:
    """Return which fields of a filter let nothing through, None where something passes or nothing is there at all.

    `visible` counts what passes a filter.
    """
    bare = type(where)(scopes=where.scopes)
    fields: dict[str, list[str]] = {}
    for field in _narrowed(where, where.__struct_fields__):
        fields.setdefault(_AS_ONE.get(field, field), []).append(field)
    stored = visible(bare) if fields and not visible(where) else 0
    if not stored:
        return None
    alone = [names for names in fields.values() if not visible(replace(bare, **_values(where, names)))]
    return Barred(fields=tuple(chain.from_iterable(alone or fields.values())), stored=stored, together=not alone)


def _narrowed(where: Filter | DocumentFilter, fields: Iterable[str]) -> list[str]:
    """Return those of the fields that were given."""
    bare = type(where)()
    return [name for name in fields if name not in _NOT_GIVEN and getattr(where, name) != getattr(bare, name)]


def _values(where: Filter | DocumentFilter, fields: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(where, name) for name in fields}


def _without(
    where: W, parts: Mapping[str, Mapping[str, Any]], found: Callable[[W], list[Scope]], limit: int
) -> dict[str, Hidden]:
    """Tell of the answers that there are without each part of a filter that keeps some away.

    Where no part does so alone, `every` tells of all of them together.
    """

    def hidden(values: Mapping[str, Any]) -> Hidden:
        scopes = found(replace(where, **values))
        return Hidden(
            count=len(scopes),
            more=len(scopes) >= limit,
            fields=tuple(_narrowed(where, values)),
            scopes=tuple(scope for scope in dict.fromkeys(scopes) if where.scopes and scope not in where.scopes),
        )

    held = {
        name: values
        for name, values in parts.items()
        if any(getattr(where, field) != value for field, value in values.items())
    }
    told = {name: hidden(values) for name, values in held.items()}
    if len(held) > 1 and not any(one.count for one in told.values()):
        told["every"] = hidden({field: value for values in held.values() for field, value in values.items()})
    return {name: one for name, one in told.items() if one.count}


def _explanation(
    of: str, looked: Looked[Hit] | Looked[DocumentHit], text: str, without: Mapping[str, Hidden]
) -> Explanation:
    held = {one for hit in looked.lexical.hits for one in f"{hit.words} {hit.exact}".split(" ")}
    return Explanation(
        of=of,
        words=tuple(word.stem for word in looked.words),
        common=bool(looked.words) and all((word.exact or word.stem) in STOP_WORDS for word in looked.words),
        passed_over=passed_over(text) if looked.words else (),
        near={stem: near for stem, near in looked.lexical.near.items() if near in held},  # not of other scopes
        seen=looked.visible,
        by_words=len(looked.lexical.hits),
        by_meaning=looked.compared,
        judged=looked.judged,
        nearest=looked.nearest,
        without=without,
    )
