"""Reading what people and agents write into drafts, patches and filters: one reading for every surface.

Values may come as JSON or as text from a command line. Null, an empty text and an empty list mean that a
field was left out, for models fill what they do not use with them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar

from zapomni.errors import InvalidInput
from zapomni.model import About, Draft, Filter, Kind, Patch, Trust
from zapomni.text.dates import is_day_word, parse_bound, parse_instant
from zapomni.text.nearest import nearest

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from pathlib import Path

    from zapomni.model import Scope

E = TypeVar("E", bound=StrEnum)
D = TypeVar("D")

DRAFT_FIELDS: Final = tuple(name for name in Draft.__struct_fields__ if name != "scope")
PATCH_FIELDS: Final = tuple(name for name in Patch.__struct_fields__ if name != "scope")
FILTER_FIELDS: Final = (
    *("kind", "about", "tags", "all_tags", "entities", "path", "source", "importance_from", "pinned", "trust"),
    *("since", "until", "on", "as_of", "expired", "deleted"),
)
_TIMES: Final = ("observed_at", "valid_from", "valid_until")
_LISTS: Final = ("tags", "entities")
_MOST: Final = 2**53
_TRUE: Final = {"true", "yes", "1", "on", "да"}
_FALSE: Final = {"false", "no", "0", "off", "нет"}


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that were really given: no null, no empty text, list or object."""
    return {name: value for name, value in values.items() if not _is_left_out(value)}


def with_days(values: Mapping[str, Any], *, now: datetime, zone: tzinfo) -> dict[str, Any]:
    """Return fields of a draft or patch with `today`, `yesterday` and their like as the days that they are now."""
    words = {name: values[name] for name in _TIMES if isinstance(values.get(name), str) and is_day_word(values[name])}
    return {**values, **{name: parse_instant(word, zone, now=now).isoformat() for name, word in words.items()}}


def parse_draft(values: Mapping[str, Any], *, zone: tzinfo, scope: Scope | None = None) -> Draft:
    """Read the fields of a draft; raises `InvalidInput` naming the first field that cannot be read."""
    _only(values, DRAFT_FIELDS)
    content = values.get("content")
    if not isinstance(content, str):
        raise InvalidInput("content", "it is missing", remedy="Give the text that should be remembered")
    fields = {name: _field(name, value, zone) for name, value in given(values).items()}
    return Draft(**{**fields, "content": content, "scope": scope})


def parse_patch(values: Mapping[str, Any], *, zone: tzinfo, scope: Scope | None = None) -> Patch:
    """Read the fields of a patch: what is left out stays as it is.

    The word `none` clears a field that may be empty; a blank content is an error, never a clearing.
    """
    _only(values, PATCH_FIELDS)
    fields: dict[str, Any] = {}
    for name, value in values.items():
        if value is None:
            continue
        if _clears(name, value):
            fields[name] = () if name in _LISTS else None if name not in {"title", "description"} else ""
        elif not _is_left_out(value) or name == "content":
            fields[name] = _field(name, value, zone)
    if scope is not None:
        fields["scope"] = scope
    return Patch(**fields)


def parse_filter(values: Mapping[str, Any], *, scopes: Sequence[Scope], now: datetime, zone: tzinfo) -> Filter:
    """Read the fields of a filter.

    They are `FILTER_FIELDS`; `on` is one whole day, month or year.
    """
    _only(values, FILTER_FIELDS)
    found = given(values)
    since, until = _interval(found, now, zone)
    return Filter(
        scopes=tuple(scopes),
        kinds=tuple(_choice("kind", item, Kind) for item in _texts("kind", found.get("kind", ()))),
        about=_choice("about", found["about"], About) if "about" in found else None,
        tags=_texts("tags", found.get("tags", ())),
        all_tags=_texts("all_tags", found.get("all_tags", ())),
        entities=_texts("entities", found.get("entities", ())),
        path=_text("path", found["path"]) if "path" in found else None,
        source=_text("source", found["source"]) if "source" in found else None,
        importance_from=_number("importance_from", found["importance_from"]) if "importance_from" in found else None,
        pinned=_flag("pinned", found["pinned"]) if "pinned" in found else None,
        trusts=tuple(_choice("trust", item, Trust) for item in _texts("trust", found.get("trust", ()))),
        since=since,
        until=until,
        as_of=parse_instant(_text("as_of", found["as_of"]), zone, now=now, field="as_of") if "as_of" in found else None,
        expired=_flag("expired", found.get("expired", False)),
        deleted=_flag("deleted", found.get("deleted", False)),
    )


def parse_whole(name: str, value: Any, default: int, *, low: int = -_MOST, high: int = _MOST) -> int:
    """Read a whole number from `low` to `high`; what was left out is the default."""
    if _is_left_out(value):
        return default
    try:
        number = int(value) if not isinstance(value, bool | float) else int(value) if value == int(value) else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, bool) or not low <= number <= high:
        span = "" if low == -_MOST else f" from {low} to {high:,}"
        raise InvalidInput(name, f"{value!r} is not a whole number{span}")
    return number


def parse_path(name: str, value: str | Path) -> Path:
    """Read the path of a file or folder; raises `InvalidInput` for a blank one, which would mean the working folder."""
    from pathlib import Path

    if isinstance(value, str) and not value.strip():
        raise InvalidInput(name, "it is blank", remedy="Name a file or folder, `.` for this folder")
    return Path(value)


def parse_flag(name: str, value: Any) -> bool:
    """Read a yes or no, also as a word in English or Russian; what was left out is a no."""
    return not _is_left_out(value) and _flag(name, value)


def parse_choice(name: str, value: Any, choices: type[E], default: D) -> E | D:
    """Read one word of a closed list; what was left out is the default."""
    return default if _is_left_out(value) else _choice(name, value, choices)


def parse_texts(name: str, value: Any) -> tuple[str, ...]:
    """Read a list of texts, a single text, or a JSON list inside a text."""
    return () if _is_left_out(value) else _texts(name, value)


def _is_left_out(value: Any) -> bool:
    return value is None or value in ("", [], {}, ())


def _only(values: Mapping[str, Any], fields: Sequence[str]) -> None:
    """Refuse a name that is no field: what it was meant to do would silently not be done."""
    for name in values:
        if name not in fields:
            close = nearest(name, fields)
            hint = f"Did you mean {' or '.join(close)}?" if close else f"The fields are {', '.join(fields)}"
            raise InvalidInput(name, "there is no such field", remedy=hint)


def _interval(found: Mapping[str, Any], now: datetime, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    since = until = None
    if "on" in found:
        since, until = parse_bound(_text("on", found["on"]), now, zone, field="on")
    if "since" in found:
        since = parse_bound(_text("since", found["since"]), now, zone, field="since")[0]
    if "until" in found:
        until = parse_bound(_text("until", found["until"]), now, zone, field="until")[0]
    if since is not None and until is not None and until <= since:
        raise InvalidInput("until", f"{found.get('until', found.get('on'))} is not after since")
    return since, until


def _clears(name: str, value: Any) -> bool:
    may_be_empty = name not in {"content", "kind", "importance", "pinned", "metadata"}
    word = value[0] if isinstance(value, list) and len(value) == 1 else value
    return may_be_empty and isinstance(word, str) and word.strip().lower() == "none"


def _field(name: str, value: Any, zone: tzinfo) -> Any:
    match name:
        case "kind":
            return _choice(name, value, Kind)
        case "about":
            return _choice(name, value, About)
        case "tags" | "entities":
            return _texts(name, value)
        case "importance":
            return _number(name, value)
        case "pinned":
            return _flag(name, value)
        case "position":
            return parse_whole(name, value, 0, low=0)
        case "metadata":
            return _object(name, value)
        case "observed_at" | "valid_from" | "valid_until":
            return parse_instant(_text(name, value), zone, field=name)
        case _:
            return _text(name, value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(name, f"it must be text, not {type(value).__name__}")
    return value


def _choice(name: str, value: Any, choices: type[E]) -> E:
    word = _text(name, value).strip().lower()
    try:
        return choices(word)
    except ValueError:
        allowed = ", ".join(choice.value for choice in choices)
        raise InvalidInput(name, f"{value!r} is not one of {allowed}") from None


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = _decoded(value, list) or [value]
    if not isinstance(value, Sequence) or not all(isinstance(item, str) for item in value):
        raise InvalidInput(name, "it must be a list of texts")
    return tuple(value)


def _number(name: str, value: Any) -> float:
    try:
        return float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(name, f"{value!r} is not a number from 0 to 1") from None


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise InvalidInput(name, f"{value!r} is not true or false")


def _object(name: str, value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        value = _decoded(value, dict)
    if not isinstance(value, Mapping):
        raise InvalidInput(name, "it must be an object of names and values")
    return value


def _decoded(text: str, kind: type) -> Any:
    """Return the JSON value of this type inside a text (models send lists as text), or None."""
    if text.lstrip()[:1] not in {"[", "{"}:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, kind) else None


def parse_scopes(values: Any) -> tuple[str, ...]:
    """Read the scopes asked for as texts; `services.scopes` tells which of them exist."""
    return tuple(text for text in parse_texts("scope", values) if text.strip())
