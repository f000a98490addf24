"""The tools of documents at work: asking the index, bringing it up to date, and reading the files themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import Refused
from zapomni.model import Mode
from zapomni.services.parse import parse_choice, parse_flag, parse_scopes, parse_whole
from zapomni.surfaces.mcp.answers import REPLY_BYTES, Answer, compact, fitted, plain, shortened, with_notes
from zapomni.surfaces.mcp.why import with_why
from zapomni.surfaces.shapes import findings_shape, scans_shape
from zapomni.text.fence import fence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zapomni.app import Zapomni
    from zapomni.files.reading import FilePart
    from zapomni.model import Actor
    from zapomni.surfaces.mcp.arguments import Given

SOURCES: Final = 50
NAMED: Final = 20
"""Sources, and files passed over in each, that an answer names."""
LIST_DEFAULT: Final = 200
LINES_DEFAULT: Final = 50
PART_DEFAULT: Final = 16_384
"""Bytes of a file in one answer: some four thousand tokens of English."""
_NOTHING: Final = "Nothing is attached here: the user attaches a folder by `zapomni source add PATH`"
_ELSEWHERE: Final = "Nothing is attached in these scopes, but in others something is: name a scope, or all"
_NOT_SEARCHED: Final = "is a source of memories and no document: the user has it read again by `zapomni source scan`"
_FILES: Final = ("skipped", "notes")
_CITATION: Final = re.compile(r"(?P<path>.+):(?P<line>[1-9]\d{0,8})")


def _search(app: Zapomni, given: Given, _: Actor) -> Answer:
    take = given.take
    explain = parse_flag("explain", take("explain"))
    scopes = parse_scopes(take("scope"))
    answer = app.documents.search(
        take("query"),
        scopes=scopes,
        limit=take("limit"),
        mode=parse_choice("mode", take("mode"), Mode, Mode.HYBRID),
        strict=parse_flag("strict", take("strict")),
        explain=explain,
        **given.values,
    )
    found = fitted(lambda preview: findings_shape(answer, explain=explain, preview=preview))
    told = with_why(found if found.size <= REPLY_BYTES else shortened(found), answer, given.values)
    return _hinted(app, scopes, told)


def _index(app: Zapomni, given: Given, _: Actor) -> Answer:
    scopes = parse_scopes(given.take("scope"))
    named = _text(given.take("source")) or None
    scanned = app.documents.scan(named, scopes=scopes)
    app.wake()
    shape = scans_shape(scanned, app.documents.embedding.backlog().waiting)
    shape["sources"] = [_cut_short(row) for row in shape["sources"][:SOURCES]]
    if len(scanned) > SOURCES:
        shape["sources_left_out"] = len(scanned) - SOURCES
    answer = plain(shape)
    if answer.size > REPLY_BYTES:
        bare = [{name: value for name, value in row.items() if name not in _FILES} for row in shape["sources"]]
        answer = plain({**shape, "sources": bare})
    if named and not scanned:
        return with_notes(answer, [f"{named} {_NOT_SEARCHED}"], [])
    return _hinted(app, scopes, answer)


def _cut_short(row: dict[str, Any]) -> dict[str, Any]:
    long = {name: row[name] for name in _FILES if len(row[name]) > NAMED}
    counts = {f"{name}_left_out": len(files) - NAMED for name, files in long.items()}
    return row | {name: files[:NAMED] for name, files in long.items()} | counts


# --- files ----------------------------------------------------------------------------------------------
def _list(app: Zapomni, given: Given, _: Actor) -> Answer:
    take = given.take
    scopes = parse_scopes(take("scope"))
    path, cursor = _text(take("path")), _text(take("cursor"))
    size = parse_whole("limit", take("limit"), LIST_DEFAULT)
    depth = take("max_depth")
    while True:
        page = app.documents.list_files(path, scopes=scopes, max_depth=depth, limit=size, cursor=cursor)
        rows = [
            {"path": p.shown, "folder": True} if p.is_dir else {"path": p.shown, "size": p.size} for p in page.places
        ]
        lines = [f"{p.shown}/" if p.is_dir else f"{p.shown}  {p.size:,}" for p in page.places]
        head = {"path": path, "count": len(rows), "next": page.next}
        answer = _fenced({**head, "entries": rows}, head, "\n".join(lines), f"files under {path or 'every root'}")
        if answer.size <= REPLY_BYTES or size == 1:
            return _hinted(app, scopes, answer)
        size //= 2


def _read(app: Zapomni, given: Given, _: Actor) -> Answer:
    take = given.take
    scopes, path = parse_scopes(take("scope")), str(take("path"))
    size = parse_whole("max_bytes", take("max_bytes"), PART_DEFAULT)
    while True:
        part, line = _part(app, path, size, scopes, given.values)
        head = {"path": part.path, "offset": part.offset, "total": part.total}
        head |= {"line": line} if line else {}
        head |= {"next_offset": part.next} if part.next is not None else {}
        answer = _fenced(
            {**head, "text": part.text}, head, part.text, f"file={part.path}" + (f":{line}" if line else "")
        )
        if answer.size <= REPLY_BYTES:
            return answer
        size = min(size, len(part.text.encode())) // 2


def _part(
    app: Zapomni, path: str, size: int, scopes: tuple[str, ...], where: Mapping[str, Any]
) -> tuple[FilePart, int | None]:
    """Read a part; a path that ends as a citation does, and names no file as it stands, is read from its line on."""
    read = app.documents.read_file
    try:
        part = read(path, scopes=scopes, max_bytes=size, **where)
    except Refused:
        cited = _CITATION.fullmatch(path)
        if cited is None or "line" in where or "offset" in where:
            raise
        line = int(cited["line"])
        return read(cited["path"], scopes=scopes, max_bytes=size, **{**where, "line": line}), line
    return part, parse_whole("line", where.get("line"), 1) if "line" in where or "lines" in where else None


def _grep(app: Zapomni, given: Given, _: Actor) -> Answer:
    take = given.take
    scopes = parse_scopes(take("scope"))
    found = app.documents.search_files(
        take("query"),
        scopes=scopes,
        path=_text(take("path")),
        regex=parse_flag("regex", take("regex")),
        case=parse_flag("case", take("case")),
        max_results=parse_whole("max_results", take("max_results"), LINES_DEFAULT),
    )
    rows = [{"path": match.path, "line": match.line, "text": match.text} for match in found.matches]
    stopped = found.stopped
    while True:
        head: dict[str, Any] = {"count": len(rows), "files": found.files, "passed_over": found.passed_over}
        head |= {"stopped": stopped} if stopped else {}
        text = "\n".join(f"{row['path']}:{row['line']}: {row['text']}" for row in rows)
        answer = _fenced({**head, "matches": rows}, head, text, "lines found")
        if answer.size <= REPLY_BYTES:
            return _hinted(app, scopes, answer)
        rows = rows[: len(rows) // 2]
        stopped = "the answer is full; narrow it by a path"


def _fenced(shape: dict[str, Any], head: dict[str, Any], text: str, label: str) -> Answer:
    return Answer(shape, f"{compact(head)}\n{fence(text, label)}" if text else compact(shape))


def _hinted(app: Zapomni, scopes: tuple[str, ...], answer: Answer) -> Answer:
    """Return the answer; where nothing is attached, it says who can attach something."""
    if app.documents.sources(scopes=scopes):
        return answer
    return with_notes(answer, [_ELSEWHERE if app.documents.is_elsewhere() else _NOTHING], [])


def _text(value: Any) -> str:
    return "" if value is None else str(value)


DOCUMENT_CALLS: Final[Mapping[str, Callable[[Zapomni, Given, Actor], Answer]]] = {
    "semantic_search": _search,
    "index_documents": _index,
    "repo_list": _list,
    "repo_read": _read,
    "repo_search": _grep,
}
