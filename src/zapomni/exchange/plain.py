"""Plain lines: one JSON object a memory with `content` and any field of a draft; read only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import InvalidInput
from zapomni.exchange.entries import Dropped, Item, Problem
from zapomni.record import parse_scope
from zapomni.services.parse import DRAFT_FIELDS, given, parse_draft
from zapomni.text.clean import clean
from zapomni.text.dates import parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zapomni.exchange.entries import Entry, Lines, Reading

TIMES: Final = ("created_at", "updated_at")
"""The times that a line may carry beside those of a draft."""
_KNOWN: Final = {*DRAFT_FIELDS, *TIMES, "scope", "type"}
UNREADABLE: Final = (InvalidInput, RecursionError)
"""What reading a line may raise; the second where a value is nested too deep to be looked at."""
_OURS: Final = {"scope", "memory", "link", "rejection", "run", "revision"}


def read(lines: Lines, reading: Reading) -> Iterator[Entry]:
    """Read each object as a draft; `type` is taken for `kind`, and `created_at` and `updated_at` are kept."""
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        values = given(line.value)
        try:
            yield _item(line.no, values, reading)
        except UNREADABLE as error:
            yield Problem(line=line.no, reason=why(error))
            continue
        for name in values.keys() - _KNOWN:
            yield Dropped(name=name)


def _item(no: int, values: dict[str, Any], reading: Reading) -> Item:
    sort = values.get("type")
    if isinstance(sort, str) and sort in _OURS and "content" not in values:
        raise InvalidInput("type", f"this is a {sort} of a zapomni export whose header is missing")
    if "kind" not in values and "type" in values:
        values["kind"] = values["type"]
    scope = parse_scope(text_of("scope", values["scope"])) if "scope" in values else reading.scope
    return Item(
        line=no,
        draft=parse_draft({n: v for n, v in values.items() if n in DRAFT_FIELDS}, zone=reading.zone, scope=scope),
        carried=times_of(values, TIMES, reading),
    )


def times_of(values: Mapping[str, Any], names: tuple[str, ...], reading: Reading) -> dict[str, Any]:
    """Read the times of these names that are given; one without a zone is local, as everywhere."""
    return {
        name: parse_instant(text_of(name, values[name]), reading.zone, field=name) for name in names if name in values
    }


def why(error: Exception) -> str:
    """Say what is wrong with a line."""
    return str(error) if isinstance(error, InvalidInput) else "it is nested too deep"


def storable(name: str, value: object) -> str:
    """Return a value that must be text and can be stored as it is; raises `InvalidInput`."""
    text = text_of(name, value)
    if clean(text)[1]:
        raise InvalidInput(name, "it holds NUL or half a surrogate pair, which no store can keep")
    return text


def text_of(name: str, value: object) -> str:
    """Return a value that must be text; raises `InvalidInput`."""
    if not isinstance(value, str):
        raise InvalidInput(name, f"it must be text, not {type(value).__name__}")
    return value
