"""The table of settings: what each may be, what it means and what stands for it when nobody said anything.

Where a value comes from is a matter of `config`; most modules know only the section that they are given.
"""

# The annotations are the table, so that they are read as they are written.
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import NODEFAULT, Struct, field
from msgspec.structs import replace

from zapomni.forms import FLAG, MODEL, NAMES, PATH, PATHS, SCOPE, SECRET, TEXT, URL, Form, Secret, between, one_of

TOOL_PROFILES: Final = ("core", "full")
"""What an agent may be shown: the tools that every session needs, or every tool."""
MERGE_POLICIES: Final = ("append", "replace", "confidence_gated", "llm_merge", "reject")
"""The words of `model.branch.Policy`, which settings are read without."""


class Setting(Struct, frozen=True):
    """One row of the table of settings; `project` tells whether a project's file may set it.

    Its name and its default are those of the field that it stands at.
    """

    form: Form
    doc: str
    project: bool = False
    name: str = ""
    default: object = None

    @property
    def env(self) -> str:
        """The environment variable that sets it."""
        return "ZAPOMNI_" + self.name.upper().replace(".", "_")


class EmbedderSettings(Struct, frozen=True, kw_only=True):
    """Who turns text into vectors, and how it is reached; `None` leaves the choice to the provider."""

    provider: Annotated[str, Setting(TEXT, "Who makes vectors: bundled, openai, jina, ollama, none or a plug-in.")] = (
        "bundled"
    )
    model: Annotated[str | None, Setting(TEXT, "The provider's model; empty means the provider's usual one.")] = None
    base_url: Annotated[str | None, Setting(URL, "The provider's address, for example http://127.0.0.1:11434.")] = None
    api_key: Annotated[Secret | None, Setting(SECRET, "The provider's key; it is sent to base_url's host alone.")] = (
        None
    )
    dimension: Annotated[
        int | None, Setting(between(1, 8192), "The width of a vector, where the model lets one choose.")
    ] = None
    batch: Annotated[int | None, Setting(between(1, 2048), "How many texts are sent in one request.")] = None
    timeout_s: Annotated[float, Setting(between(0.1, 600.0), "How many seconds one request may take.")] = 30.0
    query_timeout_s: Annotated[
        float, Setting(between(0.1, 60.0), "How many seconds a recall waits for its vector.")
    ] = 3.0
    weights: Annotated[Path | None, Setting(PATH, "Own copy of e5-small-q4.bin, where no package carries it.")] = None


class LlmSettings(Struct, frozen=True, kw_only=True):
    """Which language model reads the memory, how it is reached, and what it may use in a day."""

    model: Annotated[str | None, Setting(MODEL, "The language model that reads the memory; empty means none.")] = None
    base_url: Annotated[str | None, Setting(URL, "The model's address, for example http://127.0.0.1:8000/v1.")] = None
    api_key: Annotated[Secret | None, Setting(SECRET, "The model's key; it is sent to base_url's host alone.")] = None
    timeout_s: Annotated[float, Setting(between(1.0, 3_600.0), "How many seconds one reply may take.")] = 120.0
    max_output: Annotated[int, Setting(between(64, 1_000_000), "How many tokens one reply has at most.")] = 8_000
    daily_tokens: Annotated[int, Setting(between(0, 10**9), "How many tokens may be used in a day, in and out.")] = (
        500_000
    )
    daily_usd: Annotated[float | None, Setting(between(0.0, 1e6), "How many US dollars may be spent in a day.")] = None
    price_in: Annotated[
        float | None, Setting(between(0.0, 1e4), "US dollars for a million tokens that the model reads.")
    ] = None
    price_out: Annotated[
        float | None, Setting(between(0.0, 1e4), "US dollars for a million tokens that the model writes.")
    ] = None

    @property
    def provider(self) -> str:
        """What stands before the first colon of `model`."""
        return (self.model or "").partition(":")[0]

    @property
    def name(self) -> str:
        """What stands behind it: the model as its provider calls it."""
        return (self.model or "").partition(":")[2]


class StoreSettings(Struct, frozen=True, kw_only=True):
    """How the store behaves."""

    busy_timeout_ms: Annotated[int, Setting(between(0, 600_000), "How long a write waits for other processes.")] = (
        10_000
    )


class HttpSettings(Struct, frozen=True, kw_only=True):
    """Where the HTTP server listens and who may ask it."""

    host: Annotated[str, Setting(TEXT, "The address the HTTP server listens on.")] = "127.0.0.1"
    port: Annotated[int, Setting(between(0, 65535), "The port of the HTTP server; 0 takes a free one.")] = 8377
    token: Annotated[Secret | None, Setting(SECRET, "The token of HTTP clients; empty means one made in home.")] = None


class RecallSettings(Struct, frozen=True, kw_only=True):
    """What a recall answers when it is not told otherwise."""

    limit: Annotated[int, Setting(between(1, 100), "How many memories one recall returns.", project=True)] = 10
    budget: Annotated[int | None, Setting(between(1, 10**6), "How many tokens one recall may fill.", project=True)] = (
        None
    )


class AskSettings(Struct, frozen=True, kw_only=True):
    """How much a model reads when it answers a question."""

    budget: Annotated[int, Setting(between(100, 10**7), "How many tokens of memories are read for one answer.")] = (
        12_000
    )


class DocumentSettings(Struct, frozen=True, kw_only=True):
    """How attached folders are read and kept up to date."""

    folders: Annotated[
        tuple[Path, ...], Setting(PATHS, "Folders to index beside those attached by `zapomni source add`.")
    ] = ()
    chunk_size: Annotated[
        int, Setting(between(200, 8_000), "How many characters one piece of a document has at most.")
    ] = 2_000
    chunk_overlap: Annotated[int, Setting(between(0, 1_000), "How many of them it repeats of the piece before.")] = 200
    watch: Annotated[bool, Setting(FLAG, "Whether a server keeps the index up to date while it runs.")] = True
    debounce_s: Annotated[
        float, Setting(between(0.1, 600.0), "How many seconds files must rest before they are read.")
    ] = 30.0


class IngestSettings(Struct, frozen=True, kw_only=True):
    """How texts are read into memories, and how often the files of ingested sources are looked at."""

    piece: Annotated[int, Setting(between(1_000, 100_000), "How many characters the model reads in one call.")] = 10_000
    scan_s: Annotated[float, Setting(between(1.0, 86_400.0), "Seconds between two looks for new and gone files.")] = (
        60.0
    )
    full_scan_s: Annotated[float, Setting(between(1.0, 1e6), "Seconds between two comparisons of every file.")] = (
        1_800.0
    )


class ConsolidateSettings(Struct, frozen=True, kw_only=True):
    """When a server has the model look for insights; never without `llm.model`."""

    on_start: Annotated[bool, Setting(FLAG, "Whether a server that starts consolidates what waits.")] = True
    at_least: Annotated[
        int, Setting(between(0, 10**6), "How many waiting memories start a consolidation; 0: no number.")
    ] = 5
    check_s: Annotated[float, Setting(between(1.0, 86_400.0), "How many seconds between two looks at what waits.")] = (
        300.0
    )
    every_s: Annotated[float, Setting(between(0.0, 1e8), "How many seconds anything waits at most; 0: for ever.")] = (
        86_400.0
    )
    batch: Annotated[int, Setting(between(2, 50), "How many memories the model reads at once.")] = 50


class IndexSettings(Struct, frozen=True, kw_only=True):
    """How much of the index of a memory folder a harness loads; what is behind is never seen by it."""

    lines: Annotated[int, Setting(between(1, 10**6), "How many lines of its index a harness loads.")] = 200
    bytes: Annotated[int, Setting(between(1, 10**9), "How many bytes of its index a harness loads.")] = 25_000
    tokens: Annotated[int | None, Setting(between(1, 10**9), "How many tokens the index should take at most.")] = None


class McpSettings(Struct, frozen=True, kw_only=True):
    """What the MCP server offers."""

    tools: Annotated[
        str, Setting(one_of(*TOOL_PROFILES), "Which tools agents see: core, or full with those for files.")
    ] = "core"


class Config(Struct, frozen=True, kw_only=True):
    """Every setting as it stands for this process; `origins` says for each name where its value was found.

    `unread` names the folders that could not be looked into for a project's file, each with why.
    """

    home: Annotated[Path, Setting(PATH, "The folder that holds the store; it is made when missing.")]
    scope: Annotated[
        str, Setting(SCOPE, "The scope of memories that name none; empty means that of the caller's place.")
    ] = ""
    branch: Annotated[str, Setting(TEXT, "The branch of the memory that is worked on; empty means the main line.")] = ""
    merge_policy: Annotated[
        str,
        Setting(
            one_of(*MERGE_POLICIES), "What settles what a branch and the main line both changed; empty: its topic path."
        ),
    ] = ""
    teams: Annotated[tuple[str, ...], Setting(NAMES, "The teams whose memories every read sees beside its own.")] = ()
    agent: Annotated[
        str, Setting(TEXT, "The name of the agent that asks; its scope agent:NAME is seen beside the others.")
    ] = ""
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
    origins: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

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


def _rows(section: str, kind: type[Struct]) -> Iterator[Setting]:
    """Yield the settings of a section, each with its full name."""
    names = kind.__struct_fields__
    defaults = dict(zip(reversed(names), reversed(kind.__struct_defaults__), strict=False))
    for name, told in kind.__annotations__.items():
        for row in getattr(told, "__metadata__", ()):
            default = defaults.get(name)
            yield replace(row, name=f"{section}.{name}".lstrip("."), default=None if default is NODEFAULT else default)


SECTIONS: Final[Any] = {"": Config} | {
    name: kind for name, kind in Config.__annotations__.items() if isinstance(kind, type(Struct))
}
SETTINGS: Final[Mapping[str, Setting]] = {
    row.name: row for section, kind in SECTIONS.items() for row in _rows(section, kind)
}
"""The table of settings by name: feeds reading, `zapomni config show` and the documentation."""
