"""Every route: what it is, what it takes and gives, and who does it. Server, OpenAPI and page are built from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from zapomni.services.parse import PATCH_FIELDS
from zapomni.surfaces.http import document_calls, memory_calls, reading_calls, server_calls
from zapomni.surfaces.http.fields import ASKED, DOCUMENTS, FILTER, MEMORY, OTHERS, PAGED, READING, SCOPE, SCOPES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zapomni.app import Zapomni
    from zapomni.surfaces.http.answers import Answer
    from zapomni.surfaces.http.asked import Asked
    from zapomni.surfaces.http.fields import Schema

BYTES: Final = "application/octet-stream"
JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One route.

    `gives` names a schema of `schemas.SCHEMAS`, `statuses` are those of an answer that is no error. `takes` and
    `media_type` are the types of the two bodies; a `body` of None means that none is taken. `thinks` marks what a
    language model does. `is_open` needs no token. `tells` is the event that comes before the answer where a client
    wants events, a schema too.
    """

    method: str
    path: str
    name: str
    title: str
    act: Callable[[Zapomni, Asked], Answer]
    gives: str
    says: str = ""
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Mapping[str, Schema] | None = None
    required: tuple[str, ...] = ()
    statuses: tuple[int, ...] = (200,)
    takes: str = JSON
    media_type: str = JSON
    writes: bool = False
    thinks: bool = False
    is_open: bool = False
    tells: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


def _of(fields: Mapping[str, Schema], *names: str) -> dict[str, Schema]:
    return {name: fields[name] for name in names}


_SEEN: Final = {"scope": SCOPES}
_SOURCE: Final = {"type": "string", "description": "One source, by id or path"}
_LIVING: Final = {name: schema for name, schema in FILTER.items() if name != "deleted"}

_READING: Final = (
    Call(
        method="POST",
        path="/ingest",
        name="ingest",
        title="Ingest a text",
        says="A language model reads it and stores what is worth remembering, one memory a fact. 202: what no model "
        "has read is stored as it came and waits for one.",
        statuses=(200, 202),
        thinks=True,
        body={**_of(READING, "text", "source", "said_at", "dry_run"), "scope": SCOPE},
        required=("text",),
        gives="Ingested",
        writes=True,
        act=reading_calls.ingest,
    ),
    Call(
        method="POST",
        path="/ingest/file",
        name="ingest_file",
        title="Ingest a file",
        says="The body is the file itself; its name says how it is read. Statuses are those of a text.",
        statuses=(200, 202),
        thinks=True,
        query={**_of(READING, "name", "source", "said_at", "dry_run"), "scope": SCOPE},
        body={},
        required=("name",),
        takes=BYTES,
        gives="Ingested",
        writes=True,
        act=reading_calls.ingest_file,
    ),
    Call(
        method="GET",
        path="/query",
        name="query",
        title="Ask a question",
        says="A language model answers from memories and insights alone, and cites them. Where none answers, 503 "
        "holds beside the error what a search finds. With Accept: text/event-stream first an event `reading` says "
        "what will be read, then `answer` or `error` holds what is the body otherwise.",
        query={
            **_of(ASKED, "q", "limit"),
            **_SEEN,
            **_of(OTHERS, "budget", "full"),
            **_of(READING, "select", "dry_run"),
            **_LIVING,
        },
        thinks=True,
        required=("q",),
        gives="Told",
        tells="Reading",
        act=reading_calls.ask,
    ),
    Call(
        method="POST",
        path="/consolidate",
        name="consolidate",
        title="Consolidate",
        says="A language model reads memories that it has not looked at yet and writes what they mean together. No "
        "memory is changed; each batch is a run, which can be undone.",
        body={**_SEEN, **_of(READING, "all", "dry_run")},
        thinks=True,
        gives="Consolidated",
        writes=True,
        act=reading_calls.consolidate,
    ),
    Call(
        method="GET",
        path="/insights",
        name="list_insights",
        title="List insights",
        says="What memories were found to mean together, newest first.",
        query={**_SEEN, **_of(PAGED, "limit"), **_of(OTHERS, "full")},
        gives="Insights",
        act=reading_calls.insights,
    ),
    Call(
        method="GET",
        path="/cost",
        name="cost",
        title="What language models used",
        query=_of(OTHERS, "days"),
        gives="Costs",
        act=server_calls.cost,
    ),
)

_MEMORIES: Final = (
    Call(
        method="GET",
        path="/memories",
        name="list_memories",
        title="List memories",
        says="One page, newest first; ask on with its `next` as the cursor.",
        query={**_SEEN, **PAGED, **FILTER, **_of(OTHERS, "full")},
        gives="Page",
        act=memory_calls.list_,
    ),
    Call(
        method="POST",
        path="/memories",
        name="create_memory",
        title="Store a memory",
        says="201 for a new one; 200 where the text or key was there already; 422 where a person refused it before.",
        body={**MEMORY, "scope": SCOPE},
        required=("content",),
        gives="Outcome",
        statuses=(201, 200),
        writes=True,
        act=memory_calls.create,
    ),
    Call(
        method="GET",
        path="/memories/search",
        name="search_memories",
        title="Search memories",
        says="Those that answer a question, best first.",
        query={**ASKED, **_SEEN, **_of(OTHERS, "budget", "with_docs", "full"), **_LIVING},
        required=("q",),
        gives="Recollection",
        act=memory_calls.search,
    ),
    Call(
        method="GET",
        path="/memories/{id}",
        name="get_memory",
        title="Read a memory",
        says="Whole, with its links; a unique beginning of its id is enough, here and below.",
        query=_SEEN,
        gives="Shown",
        act=memory_calls.show,
    ),
    Call(
        method="PATCH",
        path="/memories/{id}",
        name="update_memory",
        title="Change a memory",
        says="What is left out stays as it is; the word none empties a field.",
        query=_SEEN,
        body={**_of(MEMORY, *PATCH_FIELDS), **_of(OTHERS, "move_to", "version")},
        gives="Outcome",
        writes=True,
        act=memory_calls.update,
    ),
    Call(
        method="DELETE",
        path="/memories/{id}",
        name="delete_memory",
        title="Delete a memory",
        says="It can be brought back by undo, unless it is erased.",
        query={**_SEEN, **_of(OTHERS, "erase", "never")},
        gives="Outcome",
        writes=True,
        act=memory_calls.delete,
    ),
    Call(
        method="GET",
        path="/memories/{id}/history",
        name="memory_history",
        title="The history of a memory",
        says="Every revision, oldest first, of a deleted one too.",
        query=_SEEN,
        gives="History",
        act=memory_calls.history,
    ),
    Call(
        method="POST",
        path="/memories/{id}/undo",
        name="undo_memory",
        title="Undo a change",
        says="Each call goes one change further back.",
        query=_SEEN,
        body=_of(OTHERS, "to"),
        gives="Undone",
        writes=True,
        act=memory_calls.undo,
    ),
    Call(
        method="POST",
        path="/runs/{run}/undo",
        name="undo_run",
        title="Undo a run",
        says="Takes back an import, an ingestion or a consolidation as one; what has changed since is left alone.",
        body={},
        gives="Undone",
        writes=True,
        act=memory_calls.undo_run,
    ),
)

_DOCUMENTS: Final = (
    Call(
        method="GET",
        path="/search",
        name="search_documents",
        title="Search documents",
        says="The places in attached documents that answer a question, best first.",
        query={**ASKED, **_SEEN, **DOCUMENTS, **_of(OTHERS, "full")},
        required=("q",),
        gives="Findings",
        act=document_calls.search,
    ),
    Call(
        method="GET",
        path="/sources",
        name="list_sources",
        title="List sources",
        says="What is attached, oldest first. Attaching and letting go is done by the command, on the machine itself.",
        query=_SEEN,
        gives="Sources",
        act=document_calls.list_sources,
    ),
    Call(
        method="GET",
        path="/sources/status",
        name="source_status",
        title="The state of sources",
        says="How many documents and chunks one source has, or each, what waits and what was passed over.",
        query={"source": _SOURCE, **_SEEN},
        gives="Sources",
        act=document_calls.status,
    ),
    Call(
        method="POST",
        path="/sources/scan",
        name="scan_sources",
        title="Scan sources",
        says="Brings the index of one source, or of each, to what its files say now.",
        body={"source": _SOURCE, **_SEEN, **_of(OTHERS, "accept_removals")},
        gives="Scans",
        writes=True,
        act=document_calls.scan,
    ),
)

_SERVER: Final = (
    Call(
        method="GET",
        path="/status",
        name="status",
        title="The state of the memory",
        says="Counts of what the filter lets through, where it lies, and how search by meaning stands.",
        query={**_SEEN, **_LIVING},
        gives="Status",
        act=server_calls.status,
    ),
    Call(
        method="GET",
        path="/health",
        name="health",
        title="Whether the server works",
        says="Needs no token and tells nothing that a stranger may not know. 503 where the store cannot be opened.",
        gives="Health",
        statuses=(200, 503),
        is_open=True,
        act=server_calls.health,
    ),
    Call(
        method="GET",
        path="/openapi.json",
        name="openapi",
        title="This description, for programs",
        gives="Anything",
        act=server_calls.openapi,
    ),
    Call(
        method="GET",
        path="/docs",
        name="docs",
        title="This description, for people",
        gives="",
        media_type="text/html",
        act=server_calls.docs,
    ),
)

CALLS: Final = (*_READING, *_MEMORIES, *_DOCUMENTS, *_SERVER)
"""Every route, as OpenAPI and page show them. Of two that fit one path, the one without a name in it is taken."""
