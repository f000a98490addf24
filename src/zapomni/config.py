"""Every setting: what it may be, where its value is looked for, and where it was found.

The only reader of environment variables and settings files. Later layers win: defaults, the user's file,
the project's file, the environment, explicit overrides (`--home`). A cloned repository is not trusted, so
a project's file may set only what its `Setting.project` allows and never a scope, a key, an address or a path.
"""

# ruff: noqa: RUF009 - `_setting` is `dataclasses.field` with our columns; what is not compared starts faster
from __future__ import annotations

import os
import re
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from zapomni.errors import ConfigError
from zapomni.forms import (
    FLAG,
    MODEL,
    NAMES,
    PATH,
    PATHS,
    SCOPE,
    SECRET,
    TEXT,
    URL,
    Form,
    Place,
    Secret,
    between,
    default_folder,
    one_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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

TOOL_PROFILES: Final = ("core", "full")
"""What an agent may be shown: the tools that every session needs, or every tool."""
MERGE_POLICIES: Final = ("append", "replace", "confidence_gated", "llm_merge", "reject")
"""The words of `model.branch.Policy`, which settings are read without."""


def _setting(form: Form, doc: str, default: Any = MISSING, *, project: bool = False) -> Any:
    return field(default=default, metadata={"form": form, "doc": doc, "project": project})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class EmbedderSettings:
    """Who turns text into vectors, and how it is reached; `None` leaves the choice to the provider."""

    provider: str = _setting(TEXT, "Who makes vectors: bundled, openai, jina, ollama, none or a plug-in.", "bundled")
    model: str | None = _setting(TEXT, "The provider's model; empty means the provider's usual one.", None)
    base_url: str | None = _setting(URL, "The provider's address, for example http://127.0.0.1:11434.", None)
    api_key: Secret | None = _setting(SECRET, "The provider's key; it is sent to base_url's host alone.", None)
    dimension: int | None = _setting(between(1, 8192), "The width of a vector, where the model lets one choose.", None)
    batch: int | None = _setting(between(1, 2048), "How many texts are sent in one request.", None)
    timeout_s: float = _setting(between(0.1, 600.0), "How many seconds one request may take.", 30.0)
    query_timeout_s: float = _setting(between(0.1, 60.0), "How many seconds a recall waits for its vector.", 3.0)
    weights: Path | None = _setting(PATH, "Own copy of e5-small-q4.bin, where no package carries it.", None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class LlmSettings:
    """Which language model reads the memory, how it is reached, and what it may use in a day."""

    model: str | None = _setting(MODEL, "The language model that reads the memory; empty means none.", None)
    base_url: str | None = _setting(URL, "The model's address, for example http://127.0.0.1:8000/v1.", None)
    api_key: Secret | None = _setting(SECRET, "The model's key; it is sent to base_url's host alone.", None)
    timeout_s: float = _setting(between(1.0, 3_600.0), "How many seconds one reply may take.", 120.0)
    max_output: int = _setting(between(64, 1_000_000), "How many tokens one reply has at most.", 8_000)
    daily_tokens: int = _setting(between(0, 10**9), "How many tokens may be used in a day, in and out.", 500_000)
    daily_usd: float | None = _setting(between(0.0, 1e6), "How many US dollars may be spent in a day.", None)
    price_in: float | None = _setting(between(0.0, 1e4), "US dollars for a million tokens that the model reads.", None)
    price_out: float | None = _setting(
        between(0.0, 1e4), "US dollars for a million tokens that the model writes.", None
    )

    @property
    def provider(self) -> str:
        """What stands before the first colon of `model`."""
        return (self.model or "").partition(":")[0]

    @property
    def name(self) -> str:
        """What stands behind it: the model as its provider calls it."""
        return (self.model or "").partition(":")[2]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class StoreSettings:
    """How the store behaves."""

    busy_timeout_ms: int = _setting(between(0, 600_000), "How long a write waits for other processes.", 10_000)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class HttpSettings:
    """Where the HTTP server listens and who may ask it."""

    host: str = _setting(TEXT, "The address the HTTP server listens on.", "127.0.0.1")
    port: int = _setting(between(0, 65535), "The port of the HTTP server; 0 takes a free one.", 8377)
    token: Secret | None = _setting(SECRET, "The token of HTTP clients; empty means one made in home.", None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class RecallSettings:
    """What a recall answers when it is not told otherwise."""

    limit: int = _setting(between(1, 100), "How many memories one recall returns.", 10, project=True)
    budget: int | None = _setting(between(1, 10**6), "How many tokens one recall may fill.", None, project=True)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class AskSettings:
    """How much a model reads when it answers a question."""

    budget: int = _setting(between(100, 10**7), "How many tokens of memories are read for one answer.", 12_000)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class DocumentSettings:
    """How attached folders are read and kept up to date."""

    folders: tuple[Path, ...] = _setting(PATHS, "Folders to index beside those attached by `zapomni source add`.", ())
    chunk_size: int = _setting(between(200, 8_000), "How many characters one piece of a document has at most.", 2_000)
    chunk_overlap: int = _setting(between(0, 1_000), "How many of them it repeats of the piece before.", 200)
    watch: bool = _setting(FLAG, "Whether a server keeps the index up to date while it runs.", True)
    debounce_s: float = _setting(between(0.1, 600.0), "How many seconds files must rest before they are read.", 30.0)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class IngestSettings:
    """How texts are read into memories, and how often the files of ingested sources are looked at."""

    piece: int = _setting(between(1_000, 100_000), "How many characters the model reads in one call.", 10_000)
    scan_s: float = _setting(between(1.0, 86_400.0), "Seconds between two looks for new and gone files.", 60.0)
    full_scan_s: float = _setting(between(1.0, 1e6), "Seconds between two comparisons of every file.", 1_800.0)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class ConsolidateSettings:
    """When a server has the model look for insights; never without `llm.model`."""

    on_start: bool = _setting(FLAG, "Whether a server that starts consolidates what waits.", True)
    at_least: int = _setting(between(0, 10**6), "How many waiting memories start a consolidation; 0: no number.", 5)
    check_s: float = _setting(between(1.0, 86_400.0), "How many seconds between two looks at what waits.", 300.0)
    every_s: float = _setting(between(0.0, 1e8), "How many seconds anything waits at most; 0: for ever.", 86_400.0)
    batch: int = _setting(between(2, 50), "How many memories the model reads at once.", 50)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class IndexSettings:
    """How much of the index of a memory folder a harness loads; what is behind is never seen by it."""

    lines: int = _setting(between(1, 10**6), "How many lines of its index a harness loads.", 200)
    bytes: int = _setting(between(1, 10**9), "How many bytes of its index a harness loads.", 25_000)
    tokens: int | None = _setting(between(1, 10**9), "How many tokens the index should take at most.", None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class McpSettings:
    """What the MCP server offers."""

    tools: str = _setting(one_of(*TOOL_PROFILES), "Which tools agents see: core, or full with those for files.", "core")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, match_args=False)
class Config:
    """Every setting as it stands for this process; `origins` says for each name where its value was found."""

    home: Path = _setting(PATH, "The folder that holds the store; it is made when missing.")
    scope: str = _setting(SCOPE, "The scope of memories that name none; empty means that of the caller's place.", "")
    branch: str = _setting(TEXT, "The branch of the memory that is worked on; empty means the main line.", "")
    merge_policy: str = _setting(
        one_of(*MERGE_POLICIES), "What settles what a branch and the main line both changed; empty: its topic path.", ""
    )
    teams: tuple[str, ...] = _setting(NAMES, "The teams whose memories every read sees beside its own.", ())
    agent: str = _setting(TEXT, "The name of the agent that asks; its scope agent:NAME is seen beside the others.", "")
    embedder: EmbedderSettings = EmbedderSettings()
    llm: LlmSettings = LlmSettings()
    store: StoreSettings = StoreSettings()
    http: HttpSettings = HttpSettings()
    recall: RecallSettings = RecallSettings()
    ask: AskSettings = AskSettings()
    documents: DocumentSettings = DocumentSettings()
    ingest: IngestSettings = IngestSettings()
    consolidate: ConsolidateSettings = ConsolidateSettings()
    index: IndexSettings = IndexSettings()
    mcp: McpSettings = McpSettings()
    origins: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def store_path(self) -> Path:
        """The store's file."""
        return self.home / "memories.db"

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, value and origin of each setting for people to read; secrets stay hidden."""
        for name in SETTINGS:
            value = attrgetter(name)(self)
            told = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            told = told.lower() if isinstance(value, bool) else told
            yield name, "not set" if value in {None, "", ()} else told, self.origins.get(name, "default")


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
    meant_for: dict[str, object] = {}
    for layer in (
        _from_file(user_file(environ, here), environ),
        _from_file(_project_file(here), environ, project=True),
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
