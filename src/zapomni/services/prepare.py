"""The first half of the write gateway: what a draft or patch must satisfy before it may touch the store.

Values are cleaned of what no store can hold, measured against the limits of `model`, and stripped of
secrets; whatever was changed is named.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import InvalidInput
from zapomni.model import (
    CONTENT_LIMIT,
    DESCRIPTION_LIMIT,
    LIST_LIMIT,
    METADATA_LIMIT,
    NAME_LIMIT,
    TITLE_LIMIT,
    UNSET,
    Draft,
    Patch,
    Redaction,
)
from zapomni.text.clean import clean, is_blank
from zapomni.text.fold import name_key
from zapomni.text.indexed import found_by
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from zapomni.text.indexed import Indexed

T = TypeVar("T", Draft, Patch)

_LINE_FIELDS: Final = {
    "title": TITLE_LIMIT,
    "description": DESCRIPTION_LIMIT,
    "path": NAME_LIMIT,
    "source": 4 * NAME_LIMIT,
    "key": NAME_LIMIT,
}
_FIELDS: Final = {
    type(usual): tuple((name, getattr(usual, name)) for name in usual.__struct_fields__)
    for usual in (Draft(content=UNSET), Patch())
}
"""Their fields with what stands there when nobody said anything, which needs no look: `UNSET` in a patch."""
_REDACTED: Final = ("content", "title", "description", "path", "source", "key", "tags", "entities", "metadata")
_DEPTH: Final = 32
"""Levels of metadata: clients of the protocol refuse deeper answers."""
_FARTHEST: Final = 2**53
"""The last position that every JSON reader keeps exact."""


class Prepared(Struct, frozen=True, kw_only=True, dict=True):
    """A draft or patch fit to be stored, with what was cut out of it and what was changed in it."""

    values: Any
    redactions: tuple[Redaction, ...]
    warnings: tuple[str, ...]

    @cached_property
    def indexed(self) -> Indexed:
        """What a draft is found by; worked out when it is first asked for, and kept."""
        return found_by(self.values)


def prepare(given: T) -> Prepared:
    """Clean, check and redact every field that is set.

    Raises `InvalidInput` naming the field, what is wrong and what is allowed.
    """
    warnings: list[str] = []
    redactions: list[Redaction] = []
    values = {}
    for name, default in _FIELDS[type(given)]:
        value = getattr(given, name)
        if value is not default:
            values[name] = _checked(name, value, warnings)
    for name in _REDACTED:
        if values.get(name):
            values[name] = _redacted(name, values[name], redactions)
    _check_interval(values)
    changed = {name: value for name, value in values.items() if value is not getattr(given, name)}
    return Prepared(
        values=replace(given, **changed) if changed else given, redactions=tuple(redactions), warnings=tuple(warnings)
    )


def _checked(name: str, value: Any, warnings: list[str]) -> Any:
    match name:
        case "content":
            return _content(value, warnings)
        case "tags" | "entities":
            return _names(name, value, warnings) if value != () else value
        case "importance":
            return _share(name, value)
        case "observed_at" | "valid_from" | "valid_until":
            return _instant(name, value)
        case "metadata":
            return _metadata(value, warnings) if value != {} else value
        case "position" if value is not None and (type(value) is not int or not 0 <= value <= _FARTHEST):
            raise InvalidInput("position", f"{value!r} is not a whole number from 0 to {_FARTHEST:,}")
    return _line(name, value, _LINE_FIELDS[name], warnings) if name in _LINE_FIELDS else value


def _content(value: str, warnings: list[str]) -> str:
    text = _text("content", value, warnings)
    if is_blank(text):
        raise InvalidInput("content", "it is blank", remedy="Give the text that should be remembered")
    if len(text) > CONTENT_LIMIT:
        raise InvalidInput(
            "content",
            f"{len(text):,} characters, at most {CONTENT_LIMIT:,} are kept in one memory",
            remedy="Split it into several memories",
        )
    return text


def _line(name: str, value: str | None, limit: int, warnings: list[str]) -> str | None:
    if value is None:
        return None
    text = " ".join(_text(name, value, warnings).split())
    if len(text) > limit:
        raise InvalidInput(name, f"{len(text):,} characters, at most {limit} are allowed")
    if name in {"path", "source", "key"} and is_blank(text):
        return None
    return value if text == value else text


def _text(name: str, value: str, warnings: list[str]) -> str:
    if not isinstance(value, str):
        raise InvalidInput(name, f"it must be text, not {type(value).__name__}")
    text, notes = clean(value)
    warnings += [f"{name}: {note}" for note in notes]
    return text


def _names(name: str, value: Sequence[str], warnings: list[str]) -> Sequence[str]:
    if isinstance(value, str):
        raise InvalidInput(name, "it must be a list of texts")
    kept: dict[str, str] = {}
    for item in value:
        label = _line(name, item, NAME_LIMIT, warnings) or ""
        if is_blank(label):
            raise InvalidInput(name, "it holds a blank entry")
        kept.setdefault(name_key(label), label)
    if len(kept) > LIST_LIMIT:
        raise InvalidInput(name, f"{len(kept)} entries, at most {LIST_LIMIT} are allowed")
    names = tuple(kept.values())
    return value if value == names else names


def _share(name: str, value: float) -> float:
    if type(value) not in {int, float} or not 0 <= value <= 1:
        raise InvalidInput(name, f"{value!r} is not a number from 0 to 1")
    return float(value)


def _instant(name: str, value: datetime | None) -> datetime | None:
    if value is None:
        return None
    if value.tzinfo is None:
        raise InvalidInput(name, f"{value.isoformat()} has no time zone")
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(name, f"{value.isoformat()} lies outside the years 1 to 9999 in UTC") from error


def _metadata(value: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput("metadata", "it must be an object of names and values")
    try:
        flat = json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("metadata", "it holds a value that JSON cannot carry") from error
    if len(flat) > METADATA_LIMIT:
        raise InvalidInput("metadata", f"{len(flat):,} characters as JSON, at most {METADATA_LIMIT:,} are allowed")
    if any(not isinstance(key, str) for key in value):
        raise InvalidInput("metadata", "its names must be texts")
    cleaned = _clean_tree(dict(value), warnings, 1)
    assert isinstance(cleaned, dict)
    return cleaned


def _clean_tree(value: Any, warnings: list[str], depth: int) -> Any:
    if depth > _DEPTH:
        raise InvalidInput("metadata", f"it is nested deeper than {_DEPTH} levels")
    if isinstance(value, str):
        return _text("metadata", value, warnings)
    if isinstance(value, dict):
        named = ((_text("metadata", str(key), warnings), item) for key, item in value.items())
        return {key: _clean_tree(item, warnings, depth + 1) for key, item in named}
    if isinstance(value, list | tuple):
        return [_clean_tree(item, warnings, depth + 1) for item in value]
    return value


def _redacted(name: str, value: Any, redactions: list[Redaction], called: str = "") -> Any:
    """Return a value without its secrets; inside metadata a text is judged by the name that it is `called`, too."""
    if isinstance(value, str):
        given = f"{called}={value}" if called else value
        text, rules = redact(given)
        redactions += [Redaction(rule=rule, field=name) for rule in rules]
        if not rules:
            return value
        return text.removeprefix(f"{called}=") if called else text
    if isinstance(value, dict):
        return {redact(key)[0]: _redacted(name, item, redactions, key) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_redacted(name, item, redactions, called) for item in value)
    return value


def prepare_reason(reason: str) -> str:
    """Return the reason of a refusal, fit to be kept: one line without secrets.

    Raises `InvalidInput` when it is blank or longer than a description.
    """
    text = _line("never", reason, DESCRIPTION_LIMIT, [])
    if text is None or is_blank(text):
        raise InvalidInput("never", "it is blank", remedy="Say why this must not be stored again")
    return redact(text)[0]


def _check_interval(values: Mapping[str, Any]) -> None:
    start, end = values.get("valid_from"), values.get("valid_until")
    if start is not None and end is not None and end <= start:
        raise InvalidInput("valid_until", f"{end.isoformat()} is not after valid_from {start.isoformat()}")
