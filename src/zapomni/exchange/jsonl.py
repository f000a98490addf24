"""Our own lossless JSON Lines: a header, then one object a line, each with its `type`.

`docs/exchange.md` describes the lines. The order is that in which the memories were stored, so that the
export of an imported export is the same file but for `exported_at`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from zapomni.errors import InvalidInput, Refused
from zapomni.exchange.entries import Dropped, Exported, Format, Item, KnownScope, Line, Problem, Refusal, Tie
from zapomni.exchange.plain import UNREADABLE, storable, text_of, why
from zapomni.model import Draft, LinkKind, Memory, Rejection
from zapomni.record import FIELDS, from_record, parse_scope, read_stamp, stamp, to_record
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zapomni.exchange.entries import Entry, Lines, Reading
    from zapomni.exchange.exporting import Snapshot, Write
    from zapomni.model import Link, Revision, Run

VERSION: Final = 1
_DRAFT: Final = Draft.__struct_fields__
_CARRIED: Final = tuple(name for name in FIELDS if name not in _DRAFT)
_MEMORY: Final = {*FIELDS, "type"}
_COUNTED: Final = ("scope", "memory", "link", "run", "revision", "rejection")
_LIFE: Final = ("created_at", "updated_at", "accessed_at", "deleted_at")
_ID_LIMIT: Final = 64
_MOST: Final = 2**53
_LINE_ENDS: Final = "\x85\u2028\u2029"
"""What JSON leaves as it is and some readers take for the end of a line."""


def write(snapshot: Snapshot, out: Write, *, exported_at: str, history: bool) -> Exported:
    """Write one state of the store line by line; memory use does not grow with it."""
    counts = snapshot.counts(history=history)
    header = {"format": Format.ZAPOMNI.value, "version": VERSION, "exported_at": exported_at, "counts": counts}
    out(_line(header))
    for scope, identity in sorted(snapshot.scopes().items()):
        out(_line({"type": "scope", "scope": str(scope), "identity": identity}))
    deleted = 0
    for memory in snapshot.memories():
        deleted += memory.deleted_at is not None
        out(_line({"type": "memory", **to_record(memory)}))
    for link in snapshot.links():
        out(_line(_link_shape(link)))
    if history:
        for run in snapshot.runs():
            out(_line(_run_shape(run)))
        for revision in snapshot.revisions():
            out(_line(_revision_shape(revision)))
    for rejection in snapshot.rejections():
        out(_line(_rejection_shape(rejection)))
    return Exported(
        format=Format.ZAPOMNI,
        memories=counts["memory"] - deleted,
        deleted=deleted,
        links=counts["link"],
        scopes=counts["scope"],
        rejections=counts["rejection"],
        runs=counts["run"],
        revisions=counts["revision"],
    )


def read(lines: Lines, reading: Reading) -> Iterator[Entry]:  # noqa: ARG001 - one call for all formats
    """Read an export of ours.

    Raises `Refused` for a version that this release does not know, before anything else is read. A file that
    holds fewer lines of a type than its header promises was cut, which is a problem of its end.
    """
    seen = dict.fromkeys(_COUNTED, 0)
    promised: Mapping[str, Any] = {}
    no = 0
    for line in lines:
        if isinstance(line, Problem):
            no = line.line
            yield line
            continue
        if not no:
            promised = _check_header(line.value)
        no = line.no
        sort = line.value.get("type")
        if isinstance(sort, str) and sort in seen:
            seen[sort] += 1
        try:
            entries = list(_entries(line))
        except UNREADABLE as error:
            yield Problem(line=line.no, reason=why(error))
            continue
        yield from entries
    for name, count in seen.items():
        wanted = promised.get(name, count)
        if isinstance(wanted, int) and count < wanted:
            yield Problem(line=no, reason=f"the file ends early: {count:,} of {wanted:,} {name} lines are here")


def _check_header(header: Mapping[str, Any]) -> Mapping[str, Any]:
    version = header.get("version")
    if version != VERSION or isinstance(version, bool):
        raise Refused(
            f"the export has version {version!r} of the format, this release reads version {VERSION}",
            remedy="Nothing was changed; import it with the release that wrote it, or a newer one",
        )
    counts = header.get("counts")
    return counts if isinstance(counts, dict) else {}


def _entries(line: Line) -> Iterator[Entry]:
    values = line.value
    match values.get("type"):
        case "memory":
            yield _item(line.no, values)
            for name in values.keys() - _MEMORY:
                yield Dropped(name=name)
        case "link":
            source, target = storable("source", values.get("source")), storable("target", values.get("target"))
            yield Tie(line=line.no, source=source, target=target, kind=_link_kind(values.get("kind")))
        case "scope":
            identity = values.get("identity")
            scope = parse_scope(text_of("scope", values.get("scope")))
            yield KnownScope(scope=scope, identity=storable("identity", identity) if identity is not None else None)
        case "rejection":
            yield Refusal(rejection=_rejection(values))
        case "run" | "revision":
            yield Dropped(name="history")
        case other if values.get("format") != Format.ZAPOMNI.value:
            raise InvalidInput("type", f"{other!r} is none of {', '.join(_COUNTED)}")


def _item(no: int, values: Mapping[str, Any]) -> Item:
    missing = [name for name in FIELDS if name not in values]
    if missing:
        unknown = sorted(values.keys() - _MEMORY)
        hint = f"It holds {', '.join(unknown)} instead" if unknown else ""
        raise InvalidInput(missing[0], "the memory has no such field", remedy=hint)
    memory = _memory(values)
    draft = Draft(**{name: getattr(memory, name) for name in _DRAFT})
    carried = {name: getattr(memory, name) for name in _CARRIED}
    return Item(line=no, draft=draft, ref=memory.id, carried=carried, exact=True)


def _memory(values: Mapping[str, Any]) -> Memory:
    """Read a record that anybody may have edited; the fields of a draft are looked at later, by the gateway."""
    _check_types(values)
    try:
        memory = from_record(values)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidInput("memory", f"a field cannot be read: {error}") from None
    times: dict[str, datetime] = {}
    for name in _LIFE:
        at = getattr(memory, name)
        if at is not None:
            times[name] = _instant(name, at)
        elif name in _LIFE[:2]:
            raise InvalidInput(name, "it is missing")
    return replace(memory, **times)


def _instant(name: str, at: datetime) -> datetime:
    if at.tzinfo is None:
        raise InvalidInput(name, f"{at.isoformat()} has no time zone")
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(name, f"{at.isoformat()} lies outside the years 1 to 9999 in UTC") from None


def _check_types(values: Mapping[str, Any]) -> None:
    """Look at what `from_record` takes on trust."""
    for name in ("id", "content", "title", "description"):
        text_of(name, values[name])
    for name, low in (("version", 1), ("access_count", 0)):
        if type(values[name]) is not int or not low <= values[name] < _MOST:
            raise InvalidInput(name, f"{values[name]!r} is not a whole number from {low} up")
    if not values["id"].isprintable() or " " in values["id"] or not 1 <= len(values["id"]) <= _ID_LIMIT:
        raise InvalidInput("id", f"it is empty, longer than {_ID_LIMIT} characters or holds spaces")
    for name in ("tags", "entities"):
        if not isinstance(values[name], list):
            raise InvalidInput(name, "it must be a list of texts")
    if not isinstance(values["pinned"], bool):
        raise InvalidInput("pinned", f"{values['pinned']!r} is not true or false")


def _rejection(values: Mapping[str, Any]) -> Rejection:
    texts = {name: storable(name, values.get(name)) for name in ("scope", "digest", "reason", "at", "actor")}
    try:
        at, mark = read_stamp(texts["at"]), bytes.fromhex(texts["digest"])
    except ValueError:
        raise InvalidInput("rejection", "its time or its digest cannot be read") from None
    scope, reason = parse_scope(texts["scope"]), redact(texts["reason"])[0]
    return Rejection(scope=scope, digest=mark.hex(), reason=reason, at=_instant("at", at), actor=texts["actor"])


def _link_kind(value: object) -> LinkKind:
    try:
        return LinkKind(text_of("kind", value))
    except ValueError:
        raise InvalidInput("kind", f"{value!r} is not one of {', '.join(LinkKind)}") from None


def _line(shape: Mapping[str, Any]) -> bytes:
    text = json.dumps(shape, ensure_ascii=False)
    for char in _LINE_ENDS:
        if char in text:
            text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _link_shape(link: Link) -> dict[str, Any]:
    return {"type": "link", "source": link.source, "target": link.target, "kind": link.kind.value}


def _rejection_shape(rejection: Rejection) -> dict[str, Any]:
    return {
        "type": "rejection",
        "scope": str(rejection.scope),
        "digest": rejection.digest,
        "reason": rejection.reason,
        "at": stamp(rejection.at),
        "actor": rejection.actor,
    }


def _run_shape(run: Run) -> dict[str, Any]:
    return {
        "type": "run",
        "id": run.id,
        "verb": run.verb,
        "actor": run.actor,
        "started_at": stamp(run.started_at),
        "finished_at": stamp(run.finished_at) if run.finished_at else None,
        "detail": dict(run.detail),
    }


def _revision_shape(revision: Revision) -> dict[str, Any]:
    return {
        "type": "revision",
        "seq": revision.seq,
        "id": revision.memory_id,
        "verb": revision.verb.value,
        "at": stamp(revision.at),
        "actor": revision.actor,
        "run": revision.run,
        "undoes": revision.undoes,
        "before": revision.before,
        "after": revision.after,
    }
