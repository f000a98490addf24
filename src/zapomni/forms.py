"""Forms: what the value of a setting may be, in words, how it is read, and the folders that are meant without one."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from zapomni.errors import ZapomniError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Environ = Mapping[str, str]


class Secret:
    """A key or token that shows itself only through `reveal()`: no Struct, for all encoders write what one holds."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return "set (hidden)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("", repr(self))]

    def reveal(self) -> str:
        """Return the secret itself."""
        return self._text


class Place(Struct, frozen=True):
    """Where a value stands: its name for people, the folder its relative paths start from, and the variables."""

    origin: str
    folder: Path | None
    environ: Environ


class Form(Struct, frozen=True):
    """What a value may be, in words, and the function that reads it or raises `ValueError`."""

    allowed: str
    read: Callable[[Any, Place], object]


def _read_text(value: Any, _: Place) -> str:
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004 - every reader fails in the same way
    return value.strip()


def _read_scope(value: Any, place: Place) -> str:
    from zapomni.record import parse_scope

    try:
        return str(parse_scope(_read_text(value, place)))
    except ZapomniError as error:
        raise ValueError from error


def _read_names(value: Any, place: Place) -> tuple[str, ...]:
    items = _read_text(value, place).split(",") if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ValueError
    return tuple(dict.fromkeys(item.strip() for item in items if item.strip()))


def _read_url(value: Any, place: Place) -> str:
    from urllib.parse import urlsplit

    text = _read_text(value, place)
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc or parts.port == 0:
        raise ValueError
    return text.rstrip("/")


def _read_secret(value: Any, place: Place) -> Secret:
    if not re.fullmatch("[!-~]+", text := _read_text(value, place)):
        raise ValueError
    return Secret(text)


def _read_path(value: Any, place: Place) -> Path:
    text = os.fspath(value) if isinstance(value, os.PathLike) else _expand(_read_text(value, place), place.environ)
    if "\0" in text:
        raise ValueError
    if place.folder is None and not Path(text).is_absolute():
        raise ValueError("the working folder that it is relative to no longer exists")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ValueError(f"the locale knows {error.encoding} alone; set PYTHONUTF8=1, or a locale with UTF-8") from None
    return Path(os.path.abspath(os.path.join(place.folder or "", text)))  # noqa: PTH100, PTH118 - no symlink is followed


def _read_paths(value: Any, place: Place) -> tuple[Path, ...]:
    return tuple(_read_path(item, place) for item in _read_names(value, place))


def _read_flag(value: Any, _: Place) -> bool:
    if isinstance(value, bool):
        return value
    try:
        return {"true": True, "false": False}[str(value).strip().lower()]
    except KeyError:
        raise ValueError from None


def _expand(text: str, environ: Environ) -> str:
    """Replace a leading `~` and every `$NAME` or `${NAME}`; no shell does it in a client's configuration."""
    if text == "~" or text.startswith(("~/", "~\\")):
        text = str(user_home(environ)) + text[1:]
    if "$" in text:
        from string import Template

        try:
            text = Template(text).substitute(environ)
        except KeyError as missing:
            raise ValueError(f"the variable {missing.args[0]} is not set") from None
    text = os.path.expanduser(text)  # noqa: PTH111 - for `~name`
    if text.startswith("~"):
        raise ValueError("there is no such user")
    return text


def between(low: float, high: float) -> Form:
    """Return the form of a number in a range; it is whole when `high` is."""
    kind = type(high)

    def read(value: Any, _: Place) -> float:
        if isinstance(value, bool) or not isinstance(value, (str, int, kind)) or not low <= kind(value) <= high:
            raise ValueError
        return kind(value)

    return Form(f"a {'whole ' if kind is int else ''}number from {_figure(low)} to {_figure(high)}", read)


def _figure(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def one_of(*words: str) -> Form:
    """Return the form of one word of a closed list, in any letter case."""

    def read(value: Any, _: Place) -> str:
        word = str(value).strip().lower()
        if word not in words:
            raise ValueError
        return word

    return Form(f"{', '.join(words[:-1])} or {words[-1]}", read)


def _read_model(value: Any, _: Place) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z][\w-]*:\S.*", value.strip()):
        raise ValueError
    return value.strip()


TEXT: Final = Form("text", _read_text)
SCOPE: Final = Form("empty, user, project:NAME, agent:NAME or team:NAME", _read_scope)
NAMES: Final = Form("a list of names (in a variable: separated by commas)", _read_names)
URL: Final = Form("an address that starts with http:// or https:// and holds no user name or password", _read_url)
SECRET: Final = Form("visible ASCII characters without spaces", _read_secret)
PATH: Final = Form("a path; ~ and $NAME are expanded", _read_path)
PATHS: Final = Form("a list of paths (in a variable: separated by commas)", _read_paths)
FLAG: Final = Form("true or false", _read_flag)
MODEL: Final = Form("PROVIDER:MODEL, for example openai:gpt-5-mini or ollama:qwen3:4b", _read_model)


def user_home(environ: Environ) -> Path:
    """Return the user's home folder."""
    return Path(environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - never raises


def default_folder(kind: Literal["config", "data"], environ: Environ) -> Path:
    """Return the user's folder for settings or data, as platformdirs gives it.

    On Linux its rule is followed here without it: importing it costs 10 ms at each start.
    """
    if sys.platform == "linux":
        variable, usual = {"config": ("XDG_CONFIG_HOME", ".config"), "data": ("XDG_DATA_HOME", ".local/share")}[kind]
        return Path(environ.get(variable, "").strip() or user_home(environ) / usual, "zapomni")
    import platformdirs

    return Path(getattr(platformdirs, f"user_{kind}_dir")("zapomni", appauthor=False))
