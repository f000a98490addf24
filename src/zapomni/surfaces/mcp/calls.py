"""The tools at work: read the arguments, call one method of the memory, shape what came back."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from zapomni.errors import InvalidInput, Refused, ZapomniError
from zapomni.model import By, Mode, Status
from zapomni.services.parse import parse_choice, parse_flag, parse_scopes, parse_whole
from zapomni.surfaces.mcp.answers import (
    REPLY_BYTES,
    Answer,
    compact,
    failure,
    fitted,
    in_tool_words,
    plain,
    quote,
    room_for,
    shortened,
    with_notes,
)
from zapomni.surfaces.mcp.arguments import Given, read_arguments
from zapomni.surfaces.mcp.batch_calls import BATCH_CALLS
from zapomni.surfaces.mcp.document_calls import DOCUMENT_CALLS
from zapomni.surfaces.mcp.review_calls import REVIEW_CALLS
from zapomni.surfaces.mcp.tools import BY_NAME, offered
from zapomni.surfaces.mcp.why import with_why
from zapomni.surfaces.reading_shapes import answer_shape, reading_line
from zapomni.surfaces.review_shapes import alarms_shape
from zapomni.surfaces.serving import unforeseen
from zapomni.surfaces.shapes import (
    outcome_shape,
    page_shape,
    recollection_shape,
    scope_names,
    shown_shape,
    state_shape,
    stats_shape,
)
from zapomni.text.clusters import edge_before

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zapomni.app import Zapomni
    from zapomni.model import Actor, Outcome
    from zapomni.surfaces.mcp.tool import Tool

LIST_DEFAULT: Final = 20
PART: Final = 20_000
"""Characters of a long memory in one answer: twice in it, and up to four bytes each."""
PART_BYTES: Final = 40_000
TOP_TAGS: Final = 50
"""Tags and scopes that the statistics name; a store may hold thousands."""
_SWITCH: Final = "The user switches it on by `zapomni serve --tools full` or by the setting mcp.tools = full"
_ANY: Final = 2**53
_LOG = logging.getLogger(__name__)


def run_tool(
    app: Zapomni,
    name: str,
    raw: Mapping[str, Any] | None,
    actor: Actor,
    *,
    tell: Callable[[str], None] | None = None,
) -> Answer:
    """Run one tool of `tools.BY_NAME`; whatever goes wrong becomes an answer that says so.

    `tell` takes a word on how a long call goes on.
    """
    given = Given()
    try:
        given = replace(read_arguments(_offered_tool(app, name), raw), tell=tell)
        answer = _CALLS[name](app, given, actor)
    except ZapomniError as error:
        answer = failure(error)
    except Exception as error:  # noqa: BLE001 - the boundary: nothing of ours may end a client's connection
        answer = failure(unforeseen(error, name, _LOG))
    return with_notes(answer, given.notes, given.ignored)


def _offered_tool(app: Zapomni, name: str) -> Tool:
    tool = BY_NAME[name]
    if tool not in offered(app.config.mcp.tools):
        raise Refused(f"{name} is not switched on", remedy=_SWITCH)
    return tool


def _store(app: Zapomni, given: Given, actor: Actor) -> Answer:
    scope = _one_scope("scope", given.take("scope"))
    content = given.take("content")
    outcome = app.remember(content, scope=scope, actor=actor, **given.values)
    return _outcome(app, outcome, [scope or str(app.context.place.write)])


def _recall(app: Zapomni, given: Given, _: Actor) -> Answer:
    take = given.take
    explain = parse_flag("explain", take("explain"))
    with_docs = parse_flag("with_docs", take("with_docs"))
    answer = app.recall(
        take("query"),
        scopes=parse_scopes(take("scope")),
        limit=parse_whole("limit", take("limit"), app.config.recall.limit),
        mode=parse_choice("mode", take("mode"), Mode, Mode.HYBRID),
        by=parse_choice("by", take("by"), By, By.TEXT),
        strict=parse_flag("strict", take("strict")),
        budget=parse_whole("budget", take("budget"), 0, low=1, high=_ANY) or None,
        with_docs=with_docs,
        explain=explain,
        **given.values,
    )
    found = fitted(lambda preview: recollection_shape(answer, explain=explain, preview=preview, with_docs=with_docs))
    return with_why(found if found.size <= REPLY_BYTES else shortened(found), answer, given.values)


def _ask(app: Zapomni, given: Given, _: Actor) -> Answer:
    take, tell = given.take, given.tell
    answer = app.reading.ask(
        take("question"),
        scopes=parse_scopes(take("scope")),
        select=parse_flag("select", take("select")),
        budget=parse_whole("budget", take("budget"), 0, low=1, high=_ANY) or None,
        tell=(lambda supply: tell(reading_line(supply))) if tell is not None else None,
        **given.values,
    )
    failed = failure(answer.problem).shape if answer.problem is not None else {}
    found = fitted(lambda preview: answer_shape(answer, preview=preview) | failed)
    return replace(found if found.size <= REPLY_BYTES else shortened(found), failed=bool(failed))


def _update(app: Zapomni, given: Given, actor: Actor) -> Answer:
    take = given.take
    scopes = parse_scopes(take("scope"))
    outcome = app.update(
        take("id"),
        scopes=scopes,
        move_to=_one_scope("move_to", take("move_to")),
        version=parse_whole("version", take("version"), 0, low=1, high=_ANY) or None,
        actor=actor,
        **given.values,
    )
    return _outcome(app, outcome, scopes)


def _delete(app: Zapomni, given: Given, actor: Actor) -> Answer:
    take = given.take
    scopes = parse_scopes(take("scope"))
    outcome = app.delete(
        take("id"),
        scopes=scopes,
        erase=parse_flag("erase", take("erase")),
        never=take("never"),
        actor=actor,
    )
    return _outcome(app, outcome, scopes)


def _list(app: Zapomni, given: Given, _: Actor) -> Answer:
    take = given.take
    memory_id = take("id")
    scopes = parse_scopes(take("scope"))
    offset = parse_whole("offset", take("offset"), 0, low=0, high=_ANY)
    if memory_id is not None:
        return show_part(app, str(memory_id), scopes, offset)
    if offset:
        raise InvalidInput("offset", "it needs an id", remedy="Use cursor to go on in a list")
    limit = parse_whole("limit", take("limit"), LIST_DEFAULT)
    page = partial(app.list, scopes=scopes, cursor=take("cursor"), **given.values)
    seen = app.scopes(scopes)

    def answer(size: int) -> Answer:
        found = page(limit=size)
        return fitted(lambda preview: page_shape(found, seen, preview=preview))

    whole = answer(limit)
    if whole.size <= REPLY_BYTES:
        return whole
    fits = room_for(whole)
    note = f"{limit} would be too long for one answer; go on with next"
    return with_notes(answer(fits), [note], []) if fits < limit else whole


def _stats(app: Zapomni, given: Given, _: Actor) -> Answer:
    scopes = parse_scopes(given.take("scope"))
    shape = stats_shape(app.stats(scopes=scopes, **given.values), app.scopes(scopes))
    for name in ("tags", "scopes"):
        counts = sorted(shape[name].items(), key=lambda item: (-item[1], item[0]))
        if len(counts) > TOP_TAGS:
            shape[name], shape[f"{name}_left_out"] = dict(counts[:TOP_TAGS]), len(counts) - TOP_TAGS
    shape |= state_shape(app) | alarms_shape(app.review.alarms(scopes=scopes))
    known = shape["known_scopes"]
    if len(known) > TOP_TAGS:
        shape["known_scopes"], shape["known_scopes_left_out"] = known[:TOP_TAGS], len(known) - TOP_TAGS
    return plain(shape)


def show_part(app: Zapomni, memory_id: str, scopes: tuple[str, ...], offset: int) -> Answer:
    """Return one memory whole; of a long one the part from `offset` and where the next one begins."""
    memory, links = app.show(memory_id, scopes=scopes)
    shape = shown_shape(memory, links)
    content, length = memory.content, len(memory.content)
    if offset >= length:
        raise InvalidInput("offset", f"{offset} is not below the {length:,} characters of this memory")
    end = _part_end(content, offset)
    if offset or end < length:
        shape |= {"content": content[offset:end], "offset": offset, "length": length}
        shape |= {"next_offset": end} if end < length else {}
    head = {name: value for name, value in shape.items() if name != "content" and value not in (None, "", [], {})}
    return Answer(shape, f"{compact(head)}\n{quote(shape)}")


def _part_end(content: str, offset: int) -> int:
    end = min(len(content), offset + PART)
    while len(compact(content[offset:end]).encode()) > PART_BYTES:
        end = offset + (end - offset) // 2
    return end if end == len(content) else max(edge_before(content, end), offset + 1)


def _outcome(app: Zapomni, outcome: Outcome, scopes: list[str] | tuple[str, ...]) -> Answer:
    """Return what a write came to; one that was refused is a failed call."""
    shape = outcome_shape(outcome)
    if "warnings" in shape:
        shape["warnings"] = [in_tool_words(warning) for warning in shape["warnings"]]
    if outcome.memory is None:
        shape["scopes"] = list(scopes) or scope_names(app.scopes())
    return plain(shape, failed=outcome.status is Status.REFUSED)


def _one_scope(name: str, value: Any) -> str | None:
    scopes = parse_scopes(value)
    if len(scopes) > 1:
        raise InvalidInput(name, "a memory belongs to one scope", remedy="Store it once for each scope")
    return scopes[0] if scopes else None


_CALLS: Final[Mapping[str, Callable[[Zapomni, Given, Actor], Answer]]] = {
    "store_memory": _store,
    "recall_memory": _recall,
    "ask_memory": _ask,
    "update_memory": _update,
    "delete_memory": _delete,
    "list_memories": _list,
    "memory_stats": _stats,
    **DOCUMENT_CALLS,
    **BATCH_CALLS,
    **REVIEW_CALLS,
}
