"""Scenarios, the five surfaces that play them, and the one common form of their answers.

A scenario is a list of steps; each surface plays it on a store of its own, and every answer is brought to the
shapes of `docs/json.md` with ids and times replaced by their places in order of appearance. What surfaces rightly
answer differently is taken out in `Common` and nowhere else.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from tests.servers import DEADLINE, TOKEN

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.errors import EXIT_STATUS, ZapomniError
from zapomni.model import Kind, Memory
from zapomni.record import parse_scope, to_record
from zapomni.surfaces import shapes
from zapomni.surfaces.http.answers import in_route_words
from zapomni.surfaces.mcp.answers import in_tool_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tests.trials.conftest import Desk

    Names = str | Sequence[str]

REPOSITORY = "desk"
"""The folder in which every surface but HTTP works: a repository, whose project is their default scope."""
PLACE = "the scope of the place"
"""As the scope of a step: name none, so that the place decides."""
SEEDED_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


# --- scenarios --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Step:
    """One call. `then` is what the library's answer must hold at least (see `told`); `save` names its id or cursor.

    A word or option that reads `@name` stands for what was saved, `@name:4` for its first four characters, and
    `~/name` for a path in the surface's own home.
    """

    verb: str
    words: tuple[str, ...]
    save: str
    then: Mapping[str, Any]
    options: Mapping[str, Any]


def verb(name: str) -> Callable[..., Step]:
    def step(*words: str, save: str = "", then: Mapping[str, Any] | None = None, **options: Any) -> Step:
        return Step(name, words, save, then or {}, options)

    return step


store, recall, list_, show = verb("store"), verb("recall"), verb("list"), verb("show")
update, delete, history, undo, stats = verb("update"), verb("delete"), verb("history"), verb("undo"), verb("stats")
search, scan, attach, detach = verb("search"), verb("scan"), verb("attach"), verb("detach")
sources, status = verb("sources"), verb("status")
write = verb("write")
"""Puts a text into a file of the surface's own home, `~/NAME`; without a text the file is removed."""


def seed(*memories: Mapping[str, Any]) -> Step:
    """Bring in memories with ids and times of the scenario's own, by an import."""
    return Step("seed", (), "", {}, {"memories": memories})


def told(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer with short names for what steps look at: `contents`, `verbs`, `alike`, and an error's fields."""
    flat = dict(answer)
    if "documents" in answer and isinstance(answer["documents"], list):
        flat["places"] = [place["citation"] for place in answer["documents"]]
    if isinstance(answer.get("sources"), list) and answer["sources"]:
        flat |= answer["sources"][0]
    if "memories" in answer and isinstance(answer["memories"], list):
        flat["contents"] = [memory["content"] for memory in answer["memories"]]
    for why in answer.get("explanations", ()):
        flat |= why
    if "revisions" in answer:
        flat["verbs"] = [revision["verb"] for revision in answer["revisions"]]
    if "similar" in answer:
        flat["alike"] = [memory["id"] for memory in answer["similar"]]
    if "current" in answer.get("error", {}):
        flat["contents"] = [answer["error"]["current"]["content"]]
    return {**flat, **answer.get("error", {})}


# --- the common form --------------------------------------------------------------------------------------
_ID = re.compile(r"\b[23456789bcdfghjkmnpqrstvwxyz]{16}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_READINGS = {"accessed_at", "access_count"}
_RUN = {"run"}
"""Written down when a process has the time for it, so that they are behind by more or less."""
_OPENED = {"read"}
"""A file that was just written is opened once more, for its time may be as coarse."""
_OF_MCP_ALONE = {"argument", "notes", "ignored", "omitted", "known_scopes_left_out"}
"""What a model is told about the arguments of its call, and what was left out of the known scopes."""
_NOT_OF_MCP = {"known_scopes"}
"""Cut in `memory_stats`, for a store may know thousands."""
_LEFT_OUT_OF_MANY = {"position"}
_TOLD_BY_CITATION = {"root", "first_line", "page", "start", "end"}
_USUAL = {"trust": "confirmed", "pinned": False}


class Common:
    """The answers of one surface in one scenario, brought to the common form.

    Rightly different, and therefore taken out:
    * who wrote: a person through the command, an agent elsewhere (`origin`, `actor`, and "refused before by");
    * the default scope: over HTTP the user's, for its clients work in different folders; elsewhere the project of
      the working folder, with which reads see the user's too;
    * in answers of many memories MCP leaves out what is empty, usual or bookkeeping;
    * remedies name the tools over MCP, the routes over HTTP, the commands elsewhere;
    * an argument of MCP that holds nothing but white space counts as left out (the scenarios use none);
    * `delete` of the command takes many ids, as one run, and answers with a list of results;
    * where home and store lie, how many bytes it takes, and the names above.
    """

    def __init__(self, default: str, home: Path) -> None:
        self._default = default
        self._home = home.resolve().as_posix()
        self._places: dict[str, str] = {}

    def __call__(self, asked: str, shape: Mapping[str, Any]) -> dict[str, Any]:
        if asked == "delete" and "results" in shape:
            (shape,) = shape["results"]
            shape = {"error": shape["error"]} if "error" in shape else shape
        plain: dict[str, Any] = self._value(shape)
        if asked != "recall" and plain.get("status") in {"refused", "erased"}:
            plain.pop("scopes", None)  # MCP names those that were looked into
        if "memories" in plain and isinstance(plain["memories"], list):
            plain["memories"] = [_lean(memory) for memory in plain["memories"]]
        if "documents" in plain and isinstance(plain["documents"], list):
            plain["documents"] = [_lean_place(place) for place in plain["documents"]]
        if "bytes" in plain:
            plain |= {"bytes": sorted(plain["bytes"]), "store": "<file>"}
        return plain

    def _value(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            left_out = _READINGS | _OF_MCP_ALONE | _NOT_OF_MCP | _RUN | _OPENED
            kept = {key: self._value(value[key], key) for key in sorted(value) if key not in left_out}
            return {self._scope(key): count for key, count in kept.items()} if name == "scopes" else kept
        if isinstance(value, list):
            if name in {"scopes", "scopes_seen"}:
                return self._scopes([self._scope(item) for item in value])
            return [self._value(item, "remedy" if name == "warnings" else "") for item in value]
        if name == "remedy":
            return self._text(_in_one_wording(value))
        if name in {"origin", "actor"}:
            return f"<{name}>"
        if name in {"scope", "writes_to"}:
            return self._scope(value)
        if name == "next" and value is not None:
            return "<cursor>"
        return self._text(value) if isinstance(value, str) else value

    def _scopes(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name != "user" or "<default>" not in names]

    def _scope(self, text: str) -> str:
        return "<default>" if text == self._default else text

    def _text(self, text: str) -> str:
        text = text.replace(self._home, "~")
        text = re.sub(r"(refused before by) \S+:", r"\1 <actor>:", text)
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "<minute>", text)
        for sort, pattern in (("id", _ID), ("time", _TIME)):
            text = pattern.sub(lambda found, sort=sort: self._place(sort, found[0]), text)  # type: ignore[misc]
        return text

    def _place(self, sort: str, text: str) -> str:
        known = sum(place.startswith(f"<{sort} ") for place in self._places.values())
        return self._places.setdefault(text, f"<{sort} {known + 1}>")


def _in_one_wording(remedy: str) -> str:
    routed = in_route_words(in_tool_words(remedy)).replace("by the user's ", "by ")
    return re.sub(r"GET /memories(?![/\w])", "list_memories", routed)


def _lean(memory: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in memory.items()
        if value not in (None, "", [], {}) and name not in _LEFT_OUT_OF_MANY and _USUAL.get(name) != value
    }


def _lean_place(place: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in place.items() if value and name not in _TOLD_BY_CITATION}


# --- surfaces ---------------------------------------------------------------------------------------------
class Surface(Protocol):
    """One way to reach a store."""

    name: str
    default: str
    missing: frozenset[str]
    """Verbs that it does not offer; the library does them behind its back, and the answer is not compared."""

    def ask(self, verb: str, words: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
        """The object of the answer, an error included."""


class Library:
    """The library's methods with `surfaces.shapes`."""

    missing: frozenset[str] = frozenset()

    def __init__(self, home: Path, name: str = "library") -> None:
        self.name = name
        self.home = home
        self.default = f"project:{REPOSITORY}"
        config = load({"home": home / "data", "embedder.provider": "none"}, environ={}, cwd=home)
        self.app = Zapomni(config, folder=home)

    def ask(self, verb: str, words: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
        act: Callable[..., dict[str, Any]] = getattr(self, f"_{verb}")
        try:
            return act(*words, **options)
        except ZapomniError as error:
            return shapes.error_shape(error)

    def seed(self, memories: Sequence[Mapping[str, Any]]) -> None:
        lines: list[dict[str, Any]] = [{"format": "zapomni", "version": 1}]
        for given in memories:
            usual = {"kind": Kind.SEMANTIC, "created_at": SEEDED_AT, "updated_at": SEEDED_AT}
            memory = Memory(**{**usual, **given, "scope": parse_scope(given["scope"])})
            lines.append({"type": "memory", **to_record(memory)})
        done = self.app.import_(io.BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
        assert done.imported == len(memories), done

    def write(self, name: str, text: str | None = None) -> None:
        file = self.home / name
        if text is None:
            file.unlink()
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def _search(self, query: str, *, scope: Names = (), explain: bool = False, **options: Any) -> dict[str, Any]:
        answer = self.app.documents.search(query, scopes=as_list(scope), explain=explain, **options)
        return shapes.findings_shape(answer, explain=explain)

    def _attach(self, path: str, *, scope: str | None = None, **options: Any) -> dict[str, Any]:
        added = self.app.documents.add(path, scope=scope, **options)
        scanned = self.app.documents.scan(added.id, scopes=[str(added.scope)])
        return shapes.scans_shape(scanned, 0) | {"source": shapes.source_shape(scanned[0].source)}

    def _scan(self, *source: str, scope: Names = (), accept_removals: bool = False) -> dict[str, Any]:
        scanned = self.app.documents.scan(*source, scopes=as_list(scope), accept_removals=accept_removals)
        return shapes.scans_shape(scanned, 0)

    def _sources(self, *, scope: Names = ()) -> dict[str, Any]:
        return shapes.sources_shape(self.app.documents.sources(scopes=as_list(scope)))

    def _status(self, *source: str, scope: Names = ()) -> dict[str, Any]:
        return shapes.statuses_shape(self.app.documents.status(*source, scopes=as_list(scope)))

    def _detach(self, source: str, *, scope: Names = ()) -> dict[str, Any]:
        (held,) = self.app.documents.status(source, scopes=as_list(scope))
        self.app.documents.remove(source, scopes=as_list(scope))
        return {"source": shapes.source_shape(held.source), "documents": held.documents, "chunks": held.chunks}

    def _store(self, content: str, *, scope: str | None = None, **fields: Any) -> dict[str, Any]:
        return shapes.outcome_shape(self.app.remember(content, scope=scope, **fields))

    def _recall(self, query: str, *, scope: Names = (), explain: bool = False, **options: Any) -> dict[str, Any]:
        answer = self.app.recall(query, scopes=as_list(scope), explain=explain, **options)
        return shapes.recollection_shape(answer, explain=explain, with_docs=bool(options.get("with_docs")))

    def _list(self, *, scope: Names = (), **options: Any) -> dict[str, Any]:
        scopes = as_list(scope)
        return shapes.page_shape(self.app.list(scopes=scopes, **options), self.app.scopes(scopes))

    def _show(self, memory_id: str, *, scope: Names = ()) -> dict[str, Any]:
        return shapes.shown_shape(*self.app.show(memory_id, scopes=as_list(scope)))

    def _update(self, memory_id: str, *content: str, scope: Names = (), **options: Any) -> dict[str, Any]:
        fields: dict[str, Any] = dict(zip(("content",), content, strict=False))
        return shapes.outcome_shape(self.app.update(memory_id, scopes=as_list(scope), **fields, **options))

    def _delete(self, memory_id: str, *, scope: Names = (), **options: Any) -> dict[str, Any]:
        return shapes.outcome_shape(self.app.delete(memory_id, scopes=as_list(scope), **options))

    def _history(self, memory_id: str, *, scope: Names = ()) -> dict[str, Any]:
        memory, revisions = self.app.history(memory_id, scopes=as_list(scope))
        rows = [shapes.revision_shape(revision) for revision in revisions]
        assert memory is not None
        return {"id": memory.id, "count": len(rows), "revisions": rows}

    def _undo(self, memory_id: str, *, scope: Names = ()) -> dict[str, Any]:
        return shapes.undone_shape(self.app.undo(memory_id, scopes=as_list(scope)))

    def _stats(self, *, scope: Names = (), **options: Any) -> dict[str, Any]:
        scopes = as_list(scope)
        counts = shapes.stats_shape(self.app.stats(scopes=scopes, **options), self.app.scopes(scopes))
        return counts | shapes.state_shape(self.app)


class Command:
    """The command line with `--json`, in this process."""

    name = "command"
    default = f"project:{REPOSITORY}"
    missing: frozenset[str] = frozenset()
    _STATUS: ClassVar = {
        "ambiguous": 4,
        "conflict": 5,
        "invalid_input": 2,
        "not_found": 3,
        "refused": 6,
        "unavailable": 7,
    }
    _OPTIONS: ClassVar = {
        "tags": "tag",
        "all_tags": "all-tag",
        "entities": "entity",
        "importance_from": "min-importance",
    }
    _GROUPED: ClassVar = {
        "attach": ("source", "add"),
        "detach": ("source", "remove"),
        "scan": ("source", "scan"),
        "sources": ("source", "list"),
        "status": ("source", "status"),
    }

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def ask(self, verb: str, words: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
        given = [part for name, value in options.items() for part in self._option(name, value)]
        given += ["--yes"] if options.get("erase") else []
        result = self._desk.run(*self._GROUPED.get(verb, (verb,)), "--json", *given, "--", *words)
        shape: dict[str, Any] = result.json
        (one,) = shape.get("results", [shape])
        stopped = 7 if verb in {"attach", "scan"} and "reason" in one else 0
        otherwise = 6 if one.get("status") == "refused" else stopped
        assert result.status == (self._STATUS[one["error"]["code"]] if "error" in one else otherwise), result
        assert result.status in EXIT_STATUS
        return shape

    def _option(self, name: str, value: Any) -> list[str]:
        if name == "pinned":
            return ["--pinned" if value else "--unpinned"]
        if name == "metadata":
            return [part for key, text in value.items() for part in ("--meta", f"{key}={text}")]
        option = f"--{self._OPTIONS.get(name, name.replace('_', '-'))}"
        if isinstance(value, bool):
            return [option] if value else []
        return [part for one in as_list(value) for part in (option, str(one))]


class Agent:
    """MCP: the tools of a real server, over its pipes or over HTTP."""

    missing = frozenset({"history", "undo", "attach", "detach", "sources", "status"})
    _TOOLS: ClassVar = {
        "store": ("store_memory", "content"),
        "recall": ("recall_memory", "query"),
        "list": ("list_memories",),
        "show": ("list_memories", "id"),
        "update": ("update_memory", "id", "content"),
        "delete": ("delete_memory", "id"),
        "stats": ("memory_stats",),
        "search": ("semantic_search", "query"),
        "scan": ("index_documents", "source"),
    }

    def __init__(self, desk: Desk, via: str) -> None:
        self.name = f"MCP over {'stdio' if via == 'mcp' else 'HTTP'}"
        self.default = "user" if via == "http" else f"project:{REPOSITORY}"
        self._desk, self._via = desk, via

    def ask(self, verb: str, words: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
        tool, *names = self._TOOLS[verb]
        result = self._desk.tool(self._via, tool, **dict(zip(names, words, strict=False)), **options)
        shape: dict[str, Any] = result["structuredContent"]
        assert result["isError"] == ("error" in shape or shape.get("status") == "refused"), result
        assert "ignored" not in shape, shape
        return shape


class Program:
    """The HTTP API of a real server."""

    name = "HTTP"
    default = "user"
    missing = frozenset({"attach", "detach"})
    _ROUTES: ClassVar = {
        "store": ("POST", "/memories", "content"),
        "recall": ("GET", "/memories/search", "q"),
        "list": ("GET", "/memories"),
        "show": ("GET", "/memories/{}"),
        "update": ("PATCH", "/memories/{}", "content"),
        "delete": ("DELETE", "/memories/{}"),
        "history": ("GET", "/memories/{}/history"),
        "undo": ("POST", "/memories/{}/undo"),
        "stats": ("GET", "/status"),
        "search": ("GET", "/search", "q"),
        "scan": ("POST", "/sources/scan", "source"),
        "sources": ("GET", "/sources"),
        "status": ("GET", "/sources/status", "source"),
    }

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def ask(self, verb: str, words: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
        method, path, *names = self._ROUTES[verb]
        rest = list(words)
        if "{}" in path:
            path = path.format(quote(rest.pop(0), safe=""))
        values = {**options, **dict(zip(names, rest, strict=False))}
        query: dict[str, Any] = {}
        body: dict[str, Any] | None = values
        if verb == "update":
            query = {"scope": values.pop("scope", [])}
        elif verb not in {"store", "scan"}:
            query, body = values, {} if method == "POST" else None
        status, shape = self._send(method, path, query, body)
        assert status == self._expected(shape), (status, shape)
        return shape

    def _send(self, method: str, path: str, query: Mapping[str, Any], body: Any) -> tuple[int, dict[str, Any]]:
        asked = {name: [str(one).lower() if isinstance(one, bool) else one for one in as_list(value)]
                 for name, value in query.items()}  # fmt: skip
        url = f"{self._desk.web.removesuffix('/mcp')}{path}?{urlencode(asked, doseq=True)}"
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(url, data, headers, method=method), timeout=DEADLINE) as answer:
                return answer.status, json.loads(answer.read())
        except HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    @staticmethod
    def _expected(shape: Mapping[str, Any]) -> int:
        if "error" in shape:
            return {"invalid_input": 400, "not_found": 404, "refused": 422, "unavailable": 503}.get(
                shape["error"]["code"], 409
            )
        return {"created": 201, "refused": 422}.get(str(shape.get("status")), 200)


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


# --- playing ----------------------------------------------------------------------------------------------
def play(surface: Surface, library: Library, steps: Sequence[Step], scope: str) -> list[dict[str, Any] | None]:
    """The answers of a surface to every step in the common form, None where it does not offer the verb.

    `library` is open on the same store; it does what the surface does not offer.
    """
    saved = {"~": library.home.as_posix()}
    common = Common(surface.default, library.home)
    answers: list[dict[str, Any] | None] = []
    for step in steps:
        options = {"scope": scope, **step.options}
        if options["scope"] == PLACE:
            del options["scope"]
        if step.verb == "seed":
            library.seed([{"scope": scope, **memory} for memory in options["memories"]])
            answers.append(None)
            continue
        if step.verb == "write":
            library.write(*step.words)
            answers.append(None)
            continue
        able: Surface = library if step.verb in surface.missing else surface
        words = [_meant(word, saved) for word in step.words]
        shape = able.ask(step.verb, words, {name: _meant(value, saved) for name, value in options.items()})
        if step.save:
            saved[step.save] = str(shape.get("id") or shape.get("next"))
        plain = common(step.verb, shape)
        answers.append(plain if able is surface else None)
    return answers


def _meant(value: Any, saved: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_meant(item, saved) for item in value]
    if isinstance(value, str) and value.startswith("~/"):
        return f"{saved['~']}{value[1:]}"
    if not isinstance(value, str) or not value.startswith("@"):
        return value
    name, _, length = value[1:].partition(":")
    return saved[name][: int(length)] if length else saved[name]


def pages(count: int, limit: int) -> list[Step]:
    """List everything page by page, `count` pages in all."""
    names = [f"page {no}" for no in range(count)]
    first = list_(limit=limit, save=names[0])
    return [first, *(list_(limit=limit, cursor=f"@{before}", save=name) for before, name in pairwise(names))]
