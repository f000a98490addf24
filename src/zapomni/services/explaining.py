"""Saying why an answer is empty: how it was looked for, what fell under the floor, what the filter keeps away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from msgspec.structs import replace

from zapomni.model import Trust
from zapomni.model.explanation import Explanation
from zapomni.text.words import passed_over

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from zapomni.model import Filter, Hit, Scope
    from zapomni.model.document import DocumentFilter, DocumentHit
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


def explain_memories(
    looked: Looked[Hit], text: str, where: Filter, every: Sequence[Scope], found: Callable[[Filter], int]
) -> Explanation:
    """Explain why no memory was found; `every` is every scope there is, `found` counts the answers under a filter."""
    parts = {
        "scope": {"scopes": tuple(every)} if set(every) != set(where.scopes) else {},
        "time": _TIME,
        "trust": {"trusts": tuple(Trust)},
        "other": _OTHER,
    }
    without = _without(where, parts, found)
    return _explanation(MEMORIES, looked, text, without)


def explain_documents(
    looked: Looked[DocumentHit], text: str, where: DocumentFilter, found: Callable[[DocumentFilter], int]
) -> Explanation:
    """Explain why nothing was found in documents; `found` counts the answers under a filter."""
    parts = {"scope": {"scopes": ()}, "other": _OTHER_DOCUMENTS}
    without = _without(where, parts, found)
    return _explanation(DOCUMENTS, looked, text, without)


def _without(where: W, parts: Mapping[str, Mapping[str, Any]], found: Callable[[W], int]) -> dict[str, int]:
    """Return how many answers there are without each part of a filter that keeps some away.

    Where no part does so alone, `every` tells of all of them together.
    """
    held = {
        name: values
        for name, values in parts.items()
        if any(getattr(where, field) != value for field, value in values.items())
    }
    counts = {name: found(replace(where, **values)) for name, values in held.items()}
    if len(held) > 1 and not any(counts.values()):
        lifted = {field: value for values in held.values() for field, value in values.items()}
        counts["every"] = found(replace(where, **lifted))
    return {name: count for name, count in counts.items() if count}


def _explanation(
    of: str, looked: Looked[Hit] | Looked[DocumentHit], text: str, without: Mapping[str, int]
) -> Explanation:
    held = {one for hit in looked.lexical.hits for one in f"{hit.words} {hit.exact}".split(" ")}
    return Explanation(
        of=of,
        words=tuple(word.stem for word in looked.words),
        passed_over=passed_over(text) if looked.words else (),
        near={stem: near for stem, near in looked.lexical.near.items() if near in held},  # not of other scopes
        seen=looked.visible,
        by_words=len(looked.lexical.hits),
        by_meaning=looked.compared,
        judged=looked.judged,
        nearest=looked.nearest,
        without=without,
    )
