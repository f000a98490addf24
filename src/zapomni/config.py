"""Where the value of every setting is looked for, and where it was found.

The only reader of environment variables and settings files. Later layers win: defaults, the user's file,
the project's file, the environment, explicit overrides (`--home`). A cloned repository is not trusted, so
a project's file may set only what its `Setting.project` allows and never a scope, a key, an address or a path.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from zapomni.errors import ConfigError
from zapomni.forms import PATH, SECRET, Place, default_folder
from zapomni.repository import common_dir
from zapomni.settings import SECTIONS, SETTINGS, Config, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zapomni.forms import Environ

AMBIENT_KEYS: Final = {
    "openai": ("OPENAI_API_KEY", "https://api.openai.com/"),
    "jina": ("JINA_API_KEY", "https://api.jina.ai/"),
    "anthropic": ("ANTHROPIC_API_KEY", "https://api.anthropic.com/"),
}
"""Variables that other tools set too: their key is used only for that provider at that host."""
KEYS: Final = {
    "embedder.api_key": ("embedder.provider", "embedder.base_url"),
    "llm.api_key": ("llm.model", "llm.base_url"),
}
"""Each provider's key with the settings that say whom it is for: the provider, before a colon, and the address."""

PROJECT_FILE: Final = ".zapomni.toml"
"""A project's own settings, which may be empty: outside a repository the folder that holds it is a project."""

_Found = tuple[str, Any, Place]  # a setting's name, its value as found, and the place


def load(
    overrides: Mapping[str, object] | None = None,
    environ: Environ | None = None,
    cwd: Path | None = None,
    *,
    folder: Path | None = None,
) -> Config:
    """Read all layers and return the settings with the origin of each value.

    `overrides` are by setting name; None is no override. An empty value stands for the default. `environ`
    and `cwd` default to the process's own; `folder` is the one whose project is meant, where that is not `cwd`.
    Folders that cannot be looked into are passed over and named in the answer. Raises `ConfigError` for a bad value,
    an unknown name, an unreadable file and for anything in a project's file that such a file may not set.
    """
    environ = os.environ if environ is None else environ  # noqa: TID251 - the one place that reads it
    here = _here(cwd)
    values: dict[str, object] = {name: row.default for name, row in SETTINGS.items()}
    origins = dict.fromkeys(SETTINGS, "default")
    meant_for: dict[str, object] = {}
    project, unread = _project_file(_here(folder) if folder else here)
    for layer in (
        _from_file(user_file(environ, here), environ),
        _from_file(project, environ, project=True),
        _from_environment(environ, here),
        [(name, v, Place("--" + re.sub("[._]", "-", name), here, environ)) for name, v in (overrides or {}).items()],
    ):
        for name, value, place in layer:
            if value is not None:
                values[name], origins[name] = _read(_row(name, place.origin), value, place), place.origin
        meant_for |= {name: _target(name, values, origins) for name, _, _ in layer if name in KEYS}
    for key in KEYS:
        _settle_key(key, values, origins, environ, meant_for.get(key))
    values["home"] = values["home"] or default_folder("data", environ)
    return _build(values, origins, unread)


def _here(cwd: Path | None) -> Path | None:
    try:
        return (cwd or Path()).absolute()
    except OSError:  # the working folder was deleted: everything but relative paths still works
        return None


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
    """Read one settings file and look at what it sets."""
    found = _stated(path, environ, project=project) if path is not None else []
    for row, place in [(_row(name, place.origin), place) for name, _, place in found]:
        if project and not row.project:
            problem = (
                f"{place.origin} belongs to a project and may not set {row.name}: a cloned repository is not trusted"
            )
            raise ConfigError(problem, remedy=f"Put it into your own settings file or into {row.env}")
    return found


def _stated(path: Path, environ: Environ, *, project: bool = False) -> list[_Found]:
    """Return what a settings file says; one that nobody named may be missing, but what stands there must be a file."""
    named = not project and environ.get("ZAPOMNI_CONFIG", "").strip()
    try:
        if not named and not is_settings_file(path):
            return []
        import tomllib

        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, error) from None
    place = Place(str(path), path.parent, environ)
    return [
        (f"{head}.{name}" if name else head, value, place)
        for head, inner in table.items()
        for name, value in (inner.items() if isinstance(inner, dict) else [("", inner)])
    ]


def is_settings_file(path: Path) -> bool:
    """Tell whether a settings file stands at a path.

    Raises `ConfigError` for what stands there and is no file, which may be a link that leads nowhere, and `OSError`
    where the system does not let one look.
    """
    if not stands(path):
        return False
    if path.is_file():  # what is no file may never end
        return True
    raise _unreadable(path, "it is no file")


def _unreadable(path: Path, why: object) -> ConfigError:
    """Return the error of a settings file that cannot be read, told alike whoever named it."""
    if os.path.isdir(path):  # noqa: PTH112 - never raises
        why = "it is a folder"
    elif os.path.islink(path) and not os.path.exists(path):  # noqa: PTH110, PTH114 - they never raise
        why = f"it is a link to {os.readlink(path)}, which is not there"  # noqa: PTH115 - as it is written
    elif isinstance(why, OSError):
        why = why.strerror or why
    return ConfigError(f"The settings file {path} cannot be read: {why}", remedy="Mend or remove it")


def _from_environment(environ: Environ, here: Path | None) -> list[_Found]:
    """Read the variables of the table; a name of ours that is nearly one of them is taken for a slip."""
    known = {row.env: row.name for row in SETTINGS.values()}
    for name in (
        n for n in environ if n.startswith("ZAPOMNI_") and n not in {*known, "ZAPOMNI_CONFIG", "ZAPOMNI_HOOK"}
    ):
        from difflib import get_close_matches

        if near := get_close_matches(name, known, 1, 0.9):
            raise ConfigError(f"There is no setting for the variable {name}", remedy=f"Did you mean {near[0]}?")
    given = [name for name in known if environ.get(name, "").strip()]
    return [(known[name], environ[name], Place(f"environment {name}", here, environ)) for name in given]


def _target(key: str, values: Mapping[str, object], origins: Mapping[str, str]) -> object:
    """Return whom a key that stands here is meant for; None while nothing says it."""
    who, where = KEYS[key]
    told = {who: _provider(values[who]), where: values[where]}
    return {name: value for name, value in told.items() if origins[name] != "default"} or None


def _provider(value: object) -> str:
    return str(value).partition(":")[0]


def _settle_key(
    key: str, values: dict[str, object], origins: dict[str, str], environ: Environ, meant_for: object
) -> None:
    """Drop a key whose provider or address a later layer changed, and take an ambient one where none is set.

    Features SX-4: a key never reaches another host than the one it was given for.
    """
    who, where = KEYS[key]
    if values[key] and meant_for and meant_for != _target(key, values, origins):
        values[key], origins[key] = None, f"default (the key in {origins[key]} is for another provider or address)"
    variable, root = AMBIENT_KEYS.get(_provider(values[who]), ("", ""))
    at_home = f"{values[where] or root}/".startswith(root)
    if at_home and values[key] is None and origins[key] == "default" and environ.get(variable, "").strip():
        place = Place(f"environment {variable}", None, environ)
        values[key], origins[key] = _read(SETTINGS[key], environ[variable], place), place.origin


def _build(values: Mapping[str, Any], origins: Mapping[str, str], unread: tuple[str, ...]) -> Config:
    parts: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for name, value in values.items():
        section, _, last = name.rpartition(".")
        parts[section][last] = value
    own = parts.pop("")
    own |= {section: SECTIONS[section](**given) for section, given in parts.items()}
    return Config(**own, origins=MappingProxyType(dict(origins)), unread=unread)


def _project_file(here: Path | None) -> tuple[Path | None, tuple[str, ...]]:
    """Find the nearest project file from here up: to the repository's root, or where there is none as far as it goes.

    Outside a repository it is the file that names the project (`services.place`). Returned with it are the folders
    that cannot be looked into, each with why: nothing is known of what they hold.
    """
    nearest: Path | None = None
    unread: list[str] = []
    for folder in (here, *here.parents) if here else ():
        try:
            if nearest is None and stands(folder / PROJECT_FILE):
                nearest = folder / PROJECT_FILE
            if stands(folder / ".git") and common_dir(folder / ".git"):
                break
        except OSError as error:
            unread.append(f"{folder} ({error.strerror or error})")
    return nearest, tuple(unread)


def stands(path: Path) -> bool:
    """Tell whether anything stands at a path, also a link that leads nowhere.

    Raises `OSError` where the system does not let one look.
    """
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def user_file(environ: Environ, here: Path | None) -> Path:
    """Return where the user's own settings file is looked for; it need not exist."""
    if named := environ.get("ZAPOMNI_CONFIG", "").strip():
        return cast(
            "Path", _read(Setting(PATH, "", name="ZAPOMNI_CONFIG"), named, Place("the environment", here, environ))
        )
    return default_folder("config", environ) / "config.toml"


def bare(home: Path) -> Config:
    """Return settings for a look at one store alone, where `load` refuses: defaults, and no model that is asked."""
    values: dict[str, object] = {name: row.default for name, row in SETTINGS.items()}
    return _build(values | {"home": home, "embedder.provider": "none"}, dict.fromkeys(SETTINGS, "default"), ())


def data_folder(home: str | None = None, environ: Environ | None = None, cwd: Path | None = None) -> Path:
    """Return the folder for what must be kept although `load` refuses: the data folder, told by what can be read.

    That is `home`, the variable, the user's own file, or else the default; never a project's file. Raises nothing.
    """
    environ = os.environ if environ is None else environ  # noqa: TID251 - as in `load`
    folder, here = default_folder("data", environ), _here(cwd)
    with suppress(ConfigError):
        told = _stated(user_file(environ, here), environ)
        folder = next((_as_path(value, place) for name, value, place in told if name == "home" and value), folder)
    for value, origin in ((environ.get("ZAPOMNI_HOME", "").strip(), "environment ZAPOMNI_HOME"), (home, "--home")):
        if value:
            with suppress(ConfigError):
                folder = _as_path(value, Place(origin, here, environ))
    return folder


def _as_path(value: Any, place: Place) -> Path:
    return cast("Path", _read(SETTINGS["home"], value, place))
