"""Every setting: what it may be, where its value is looked for, and where it was found.

The only reader of environment variables and settings files. Later layers win: defaults, the user's file,
the project's file, the environment, explicit overrides (`--home`). A cloned repository is not trusted, so
a project's file may set only what its `Setting.project` allows and never a scope, a key, an address or a path.
"""

# ruff: noqa: RUF009 - `_setting` is `dataclasses.field` with our columns
from __future__ import annotations

import os
import re
import sys
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from zapomni.errors import ConfigError, ZapomniError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Environ = Mapping[str, str]

AMBIENT_KEYS: Final = {
    "openai": ("OPENAI_API_KEY", "https://api.openai.com/"),
    "jina": ("JINA_API_KEY", "https://api.jina.ai/"),
}
"""Variables that other tools set too: their key is used only for that provider at that host."""


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A key or token that shows itself only through `reveal()`."""

    _text: str

    def __repr__(self) -> str:
        return "set (hidden)"

    def reveal(self) -> str:
        """Return the secret itself."""
        return self._text


class Place(NamedTuple):
    """Where a value stands: its name for people, the folder its relative paths start from, and the variables."""

    origin: str
    folder: Path | None
    environ: Environ


class Form(NamedTuple):
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
    return Path(os.path.abspath(os.path.join(place.folder or "", text)))  # noqa: PTH100, PTH118 - no symlink is followed


def _expand(text: str, environ: Environ) -> str:
    """Replace a leading `~` and every `$NAME` or `${NAME}`; no shell does it in a client's configuration."""
    if text == "~" or text.startswith(("~/", "~\\")):
        text = str(_user_home(environ)) + text[1:]
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


def _between(low: float, high: float) -> Form:
    kind = type(high)

    def read(value: Any, _: Place) -> float:
        if isinstance(value, bool) or not isinstance(value, (str, int, kind)) or not low <= kind(value) <= high:
            raise ValueError
        return kind(value)

    return Form(f"a {'whole ' if kind is int else ''}number from {low:g} to {high:g}", read)


TEXT: Final = Form("text", _read_text)
SCOPE: Final = Form("empty, user, project:NAME, agent:NAME or team:NAME", _read_scope)
NAMES: Final = Form("a list of names (in a variable: separated by commas)", _read_names)
URL: Final = Form("an address that starts with http:// or https:// and holds no user name or password", _read_url)
SECRET: Final = Form("visible ASCII characters without spaces", _read_secret)
PATH: Final = Form("a path; ~ and $NAME are expanded", _read_path)


def _setting(form: Form, doc: str, default: Any = MISSING, *, project: bool = False) -> Any:
    return field(default=default, metadata={"form": form, "doc": doc, "project": project})


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderSettings:
    """Who turns text into vectors, and how it is reached; `None` leaves the choice to the provider."""

    provider: str = _setting(TEXT, "Who makes vectors: bundled, openai, jina, ollama, none or a plug-in.", "bundled")
    model: str | None = _setting(TEXT, "The provider's model; empty means the provider's usual one.", None)
    base_url: str | None = _setting(URL, "The provider's address, for example http://127.0.0.1:11434.", None)
    api_key: Secret | None = _setting(SECRET, "The provider's key; it is sent to base_url's host alone.", None)
    dimension: int | None = _setting(_between(1, 8192), "The width of a vector, where the model lets one choose.", None)
    batch: int | None = _setting(_between(1, 2048), "How many texts are sent in one request.", None)
    timeout_s: float = _setting(_between(0.1, 600.0), "How many seconds one request may take.", 30.0)
    query_timeout_s: float = _setting(_between(0.1, 60.0), "How many seconds a recall waits for its vector.", 3.0)
    weights: Path | None = _setting(PATH, "Own copy of e5-small-q4.bin, where no package carries it.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """How the store behaves."""

    busy_timeout_ms: int = _setting(_between(0, 600_000), "How long a write waits for other processes.", 10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Where the HTTP server listens and who may ask it."""

    host: str = _setting(TEXT, "The address the HTTP server listens on.", "127.0.0.1")
    port: int = _setting(_between(0, 65535), "The port of the HTTP server; 0 takes a free one.", 8377)
    token: Secret | None = _setting(SECRET, "The token that HTTP clients must send.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    """What a recall answers when it is not told otherwise."""

    limit: int = _setting(_between(1, 100), "How many memories one recall returns.", 10, project=True)
    budget: int | None = _setting(_between(1, 10**6), "How many tokens one recall may fill.", None, project=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every setting as it stands for this process; `origins` says for each name where its value was found."""

    home: Path = _setting(PATH, "The folder that holds the store; it is made when missing.")
    scope: str = _setting(SCOPE, "The scope of memories that name none; empty means that of the caller's place.", "")
    teams: tuple[str, ...] = _setting(NAMES, "The teams whose memories every read sees beside its own.", ())
    embedder: EmbedderSettings = EmbedderSettings()
    store: StoreSettings = StoreSettings()
    http: HttpSettings = HttpSettings()
    recall: RecallSettings = RecallSettings()
    origins: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def store_path(self) -> Path:
        """The store's file."""
        return self.home / "memories.db"

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, value and origin of each setting for people to read; secrets stay hidden."""
        for name in SETTINGS:
            value = attrgetter(name)(self)
            yield (
                name,
                "not set" if value in {None, "", ()} else ", ".join(value) if isinstance(value, tuple) else str(value),
                self.origins.get(name, "default"),
            )


class Setting(NamedTuple):
    """One row of the table of settings; `project` tells whether a project's file may set it."""

    name: str
    form: Form
    doc: str
    default: object = None
    project: bool = False

    @property
    def env(self) -> str:
        """The environment variable that sets it."""
        return "ZAPOMNI_" + self.name.upper().replace(".", "_")


_SECTIONS: Final[Any] = {"": Config} | {f.name: type(f.default) for f in fields(Config) if is_dataclass(f.default)}
SETTINGS: Final[Mapping[str, Setting]] = {
    name: Setting(name, default=None if f.default is MISSING else f.default, **f.metadata)
    for section, kind in _SECTIONS.items()
    for f in fields(kind)
    if f.metadata
    for name in [f"{section}.{f.name}".lstrip(".")]
}
"""The table of settings by name: feeds reading, `zapomni config show` and the documentation."""

_Found = tuple[str, Any, Place]  # a setting's name, its value as found, and the place


def load(
    overrides: Mapping[str, object] | None = None, environ: Environ | None = None, cwd: Path | None = None
) -> Config:
    """Read all layers and return the settings with the origin of each value.

    `overrides` are by setting name; None is no override. An empty value stands for the default. `environ`
    and `cwd` default to the process's own. Raises `ConfigError` for a bad value, an unknown name, an
    unreadable file and for anything in a project's file that such a file may not set.
    """
    environ = os.environ if environ is None else environ  # noqa: TID251 - the one place that reads it
    try:
        here = (cwd or Path()).absolute()
    except OSError:  # the working folder was deleted: everything but relative paths still works
        here = None
    values: dict[str, object] = {name: row.default for name, row in SETTINGS.items()}
    origins = dict.fromkeys(SETTINGS, "default")
    meant_for: object = None
    for layer in (
        _from_file(user_file(environ, here), environ),
        _from_file(_project_file(here), environ, project=True),
        _from_environment(environ, here),
        [(name, v, Place("--" + re.sub("[._]", "-", name), here, environ)) for name, v in (overrides or {}).items()],
    ):
        for name, value, place in layer:
            if value is not None:
                values[name], origins[name] = _read(_row(name, place.origin), value, place), place.origin
        if any(name == "embedder.api_key" for name, _, _ in layer):
            meant_for = _target(values, origins)
    _settle_key(values, origins, environ, meant_for)
    values["home"] = values["home"] or default_folder("data", environ)
    return _build(values, origins)


def _row(name: str, origin: str) -> Setting:
    if name not in SETTINGS:
        from difflib import get_close_matches

        near = get_close_matches(name, SETTINGS, 1, 0.5)
        hint = f"Did you mean {near[0]}?" if near else f"The settings are: {', '.join(SETTINGS)}"
        raise ConfigError(f"There is no setting {name!r} (found in {origin})", remedy=hint)
    return SETTINGS[name]


def _read(row: Setting, value: Any, place: Place) -> object:
    if isinstance(value, str) and not value.strip():
        return row.default
    try:
        return row.form.read(value, place)
    except (ValueError, OverflowError) as error:
        hide = row.form is SECRET or "@" in str(value)  # an address may hold a password
        shown = "the value (hidden)" if hide else repr(value)
        why = f": {error}" if str(error) and row.form is PATH else ""
        problem = f"{row.name}: {shown} in {place.origin} cannot be used{why}"
        raise ConfigError(problem, remedy=f"Allowed is {row.form.allowed}") from None


def _from_file(path: Path | None, environ: Environ, *, project: bool = False) -> list[_Found]:
    """Read one settings file; one that nobody named may be missing."""
    if path is None or not (path.is_file() or (environ.get("ZAPOMNI_CONFIG", "").strip() and not project)):
        return []
    import tomllib

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"The settings file {path} cannot be read: {error}", remedy="Mend or remove it") from None
    place = Place(str(path), path.parent, environ)
    found = [
        (f"{head}.{name}" if name else head, value, place)
        for head, inner in table.items()
        for name, value in (inner.items() if isinstance(inner, dict) else [("", inner)])
    ]
    for row in [_row(name, place.origin) for name, _, _ in found]:
        if project and not row.project:
            problem = f"{path} belongs to a project and may not set {row.name}: a cloned repository is not trusted"
            raise ConfigError(problem, remedy=f"Put it into your own settings file or into {row.env}")
    return found


def _from_environment(environ: Environ, here: Path | None) -> list[_Found]:
    """Read the variables of the table; a name of ours that is nearly one of them is taken for a slip."""
    known = {row.env: row.name for row in SETTINGS.values()}
    for name in (n for n in environ if n.startswith("ZAPOMNI_") and n not in {*known, "ZAPOMNI_CONFIG"}):
        from difflib import get_close_matches

        if near := get_close_matches(name, known, 1, 0.9):
            raise ConfigError(f"There is no setting for the variable {name}", remedy=f"Did you mean {near[0]}?")
    given = [name for name in known if environ.get(name, "").strip()]
    return [(known[name], environ[name], Place(f"environment {name}", here, environ)) for name in given]


def _target(values: Mapping[str, object], origins: Mapping[str, str]) -> object:
    """Return whom a key that stands here is meant for; None while nothing says it."""
    names = ("embedder.provider", "embedder.base_url")
    return {n: values[n] for n in names if origins[n] != "default"} or None


def _settle_key(values: dict[str, object], origins: dict[str, str], environ: Environ, meant_for: object) -> None:
    """Drop a key whose provider or address a later layer changed, and take an ambient one where none is set.

    Features SX-4: a key never reaches another host than the one it was given for.
    """
    name = "embedder.api_key"
    if values[name] and meant_for and meant_for != _target(values, origins):
        values[name], origins[name] = None, f"default (the key in {origins[name]} is for another provider or address)"
    variable, root = AMBIENT_KEYS.get(str(values["embedder.provider"]), ("", ""))
    at_home = f"{values['embedder.base_url'] or root}/".startswith(root)
    if at_home and values[name] is None and origins[name] == "default" and environ.get(variable, "").strip():
        place = Place(f"environment {variable}", None, environ)
        values[name], origins[name] = _read(SETTINGS[name], environ[variable], place), place.origin


def _build(values: Mapping[str, Any], origins: Mapping[str, str]) -> Config:
    parts: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
    for name, value in values.items():
        section, _, last = name.rpartition(".")
        parts[section][last] = value
    own = parts.pop("")
    own |= {section: _SECTIONS[section](**given) for section, given in parts.items()}
    return Config(**own, origins=MappingProxyType(dict(origins)))


def _project_file(here: Path | None) -> Path | None:
    """Find the nearest project file from here up to the repository's root; outside one, only here counts."""
    nearest: Path | None = None
    for folder in (here, *here.parents) if here else ():
        if nearest is None and (folder / ".zapomni.toml").is_file():
            nearest = folder / ".zapomni.toml"
        if (folder / ".git").exists():
            return nearest
    return nearest if nearest and nearest.parent == here else None


def user_file(environ: Environ, here: Path | None) -> Path:
    """Return where the user's own settings file is looked for; it need not exist."""
    if named := environ.get("ZAPOMNI_CONFIG", "").strip():
        return cast("Path", _read(Setting("ZAPOMNI_CONFIG", PATH, ""), named, Place("the environment", here, environ)))
    return default_folder("config", environ) / "config.toml"


def default_folder(kind: Literal["config", "data"], environ: Environ) -> Path:
    """Return the user's folder for settings or data, as platformdirs gives it.

    On Linux its rule is followed here without it: importing it costs 10 ms at each start.
    """
    if sys.platform == "linux":
        variable, usual = {"config": ("XDG_CONFIG_HOME", ".config"), "data": ("XDG_DATA_HOME", ".local/share")}[kind]
        return Path(environ.get(variable, "").strip() or _user_home(environ) / usual, "zapomni")
    import platformdirs

    return Path(getattr(platformdirs, f"user_{kind}_dir")("zapomni", appauthor=False))


def _user_home(environ: Environ) -> Path:
    return Path(environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - never raises
