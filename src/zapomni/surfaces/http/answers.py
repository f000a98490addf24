"""Answers: a shape of `surfaces.shapes` with its status, and the one table from errors to statuses."""

from __future__ import annotations

import json
import re
import shlex
from math import ceil
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from msgspec import Struct, field

from zapomni import errors
from zapomni.surfaces.shapes import MESSAGE_LIMIT, error_shape
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Mapping

HTTP_STATUS: Final[Mapping[type[errors.ZapomniError], int]] = {
    errors.InvalidInput: 400,
    errors.NotFound: 404,
    errors.Ambiguous: 409,
    errors.Conflict: 409,
    errors.Refused: 422,
    errors.BudgetSpent: 429,
    errors.Unavailable: 503,
    errors.ConfigError: 503,
    errors.ZapomniError: 500,
}
"""What each error is over HTTP; a class without a line of its own has that of its nearest parent.

A bad setting is the server's matter and not the client's: the server cannot do it until somebody mends the setting.
"""
_JSON: Final = "application/json"


def _undo_route(found: re.Match[str]) -> str:
    scope = f"?{urlencode({'scope': ' '.join(shlex.split(found[2]))})}" if found[2] else ""
    return f"POST /memories/{found[1]}/undo{scope}" + (' with "to": NUMBER' if found[3] else "")


_ROUTE_WORDS: Final = (
    (re.compile(r"`list`"), "GET /memories"),
    (re.compile(r"`--strict`"), "strict"),
    (re.compile(r"`--mode semantic`"), "mode=semantic"),
    (re.compile(r"`zapomni undo ([0-9A-Za-z]+)(?: --scope ([^`]+?))?( --to NUMBER)?`"), _undo_route),
    (re.compile(r"`zapomni undo --run ([0-9A-Za-z]+)`"), r"POST /runs/\1/undo"),
    (re.compile(r"`zapomni history ([0-9A-Za-z]+)`"), r"GET /memories/\1/history"),
)
"""What remedies say in the words of the command, and the route that does it."""


class Answer(Struct, frozen=True, kw_only=True):
    """What a call comes to: the body, its type, and what goes beside it."""

    body: bytes
    status: int = 200
    media_type: str = _JSON
    headers: Mapping[str, str] = field(default_factory=dict)


def answered(shape: Mapping[str, Any], status: int = 200, **headers: str) -> Answer:
    """Return a shape as JSON; a header is named with `_` for its dashes.

    Half a surrogate pair that was given in JSON has no UTF-8: it is shown as a question mark.
    """
    text = json.dumps(shape, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body=text.encode("utf-8", "replace"), status=status, headers=named)


def failure(error: errors.ZapomniError, *, beside: Mapping[str, Any] | None = None) -> Answer:
    """Return an error with its status, with when to try again where that is known, and what there is `beside` it."""
    shape = {**(beside or {}), **error_shape(error)}
    if "remedy" in shape["error"]:
        shape["error"]["remedy"] = in_route_words(shape["error"]["remedy"])
    after = getattr(error, "retry_after", None)
    return answered(shape, status_of(error), **({"Retry_After": str(ceil(after))} if after is not None else {}))


def in_route_words(text: str) -> str:
    """Return a remedy in the words of the routes."""
    for words, route in _ROUTE_WORDS:
        text = words.sub(route, text)
    return text


def refusal(status: int, code: str, message: str, remedy: str = "", **headers: str) -> Answer:
    """Return what is said to a request that no verb was asked by: its own code, in the shape of every error."""
    told = {"code": code, "message": cut(message, MESSAGE_LIMIT)} | ({"remedy": remedy} if remedy else {})
    return answered({"error": told}, status, **headers)


def status_of(error: errors.ZapomniError) -> int:
    """Return the status of an error."""
    return next(HTTP_STATUS[kind] for kind in type(error).__mro__ if kind in HTTP_STATUS)
