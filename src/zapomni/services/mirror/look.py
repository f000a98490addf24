"""Looking at a mirrored folder: which notes lie in it, and what those say that were not agreed on as they are."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from zapomni.errors import InvalidInput
from zapomni.files.rules import Rules
from zapomni.files.tree import Tree
from zapomni.files.walk import walk
from zapomni.model.document import Skipped
from zapomni.services.mirror.plan import Seen
from zapomni.services.mirror.says import said
from zapomni.text.index_cut import is_leaf
from zapomni.text.notes import OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zapomni.clock import Clock
    from zapomni.files.walk import Found, Walk
    from zapomni.model.document import Source
    from zapomni.model.mirror import Agreed
    from zapomni.services.mirror.says import Said

    Progress = Callable[[int, int], None]

ENDING: Final = ".md"
INDEX: Final = "memory.md"
"""The index page, in any letter case: it names memories and is none."""
LEAF: Final = "it is a leaf of the index, and no note"
"""Why a leaf is no memory; that is as it should be, and nobody is told."""
SIZE_LIMIT: Final = 1 << 20
"""Most bytes of a note: the longest content of a memory has 400,000 in UTF-8, and a header some more."""
_OURS: Final = OURS.encode()
_FRESH_NS: Final = 50_000_000
"""A file changed less than this before it was read is read again by the next scan: its time may be as coarse."""
_FARTHEST_NS: Final = 1 << 63
"""A time that no store holds."""


class Look(Struct, kw_only=True):
    """What a look at a folder found; `read` counts the files that were opened.

    `unread` holds the bytes of files that are not as they were agreed, until `read_said` makes `said` and `texts` of
    them; `broken` says why one of them is no memory.
    `waiting` are paths of files that may not be finished, or that cannot be looked at now.
    """

    tree: Tree
    walk: Walk
    seen: dict[str, Seen] = field(default_factory=dict)
    unread: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    said: dict[str, Said] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    read: int = 0

    def hides(self, path: str) -> bool:
        """Tell whether a path is there although it was not seen, or nobody can say."""
        if path in self.seen:
            return False
        return path in self.waiting or self.walk.hides(path) or self.tree.holds_file(path)


def look(
    source: Source,
    rows: Mapping[str, Agreed],
    *,
    clock: Clock,
    rest_s: float = 0.0,
    progress: Progress | None = None,
) -> Look:
    """Look at every note of a folder; those of the size and time at which they were agreed are not opened.

    A file that changed within `rest_s`, or while it is read, waits for the next look. Raises what `walk` raises.
    """
    found = walked(source)
    looked = Look(tree=Tree(source.root), walk=found)
    looked.waiting |= {one.path: one.reason for one in found.skipped if is_note(one.path)}
    notes = [file for file in found.files if is_note(file.path)]
    known = {row.sha256 for row in rows.values()}
    now = clock().timestamp()
    for done, file in enumerate(notes, 1):
        row = rows.get(file.path)
        if row is not None and (row.size, row.modified_ns) == (file.size, file.modified_ns):
            looked.seen[file.path] = _seen(file, row.sha256)
        elif 0 <= now - file.modified_ns / 1e9 < rest_s:
            looked.waiting[file.path] = "it was changed just now and waits for the next scan"
        else:
            _open(looked, file, known, clock)
        if progress is not None:
            progress(done, len(notes))
    return looked


def walked(source: Source) -> Walk:
    """Return what lies in the folder of a source; raises what `walk` raises."""
    return walk(source.root, Rules.of(source.include, source.exclude), limit=lambda _: SIZE_LIMIT)


def is_note(path: str) -> bool:
    """Tell whether a file of this path is a note: Markdown, and not the index page of a folder."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(ENDING) and name != INDEX


def read_said(looked: Look, path: str) -> None:
    """Read what a file says of which only the bytes were known, or their hash alone."""
    if path in looked.unread:
        _take_in(looked, path, looked.unread.pop(path))
    elif path not in looked.texts and path not in looked.broken:
        with looked.tree.open(path) as file:
            _take_in(looked, path, file.read())


def drop_said(looked: Look, path: str) -> None:
    """Let go of what a file says: a big folder need not be held as a whole."""
    looked.said.pop(path, None)
    looked.texts.pop(path, None)


def skipped(looked: Look) -> list[Skipped]:
    """Name what was passed over, and why."""
    waits = [Skipped(path=path, reason=reason) for path, reason in looked.waiting.items()]
    named = {one.path for one in waits}
    return waits + [one for one in looked.walk.skipped if one.path not in named]


def _open(looked: Look, file: Found, known: set[str], clock: Clock) -> None:
    try:
        data, before, after = looked.tree.read(file.path, SIZE_LIMIT)
    except OSError as error:
        looked.waiting[file.path] = f"it cannot be read ({error.strerror or error})"
        return
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(data) != after.st_size:
        looked.waiting[file.path] = "it is being written and waits for the next scan"
        return
    looked.read += 1
    mark = sha256(data).hexdigest()
    looked.seen[file.path] = Seen(
        path=file.path, sha256=mark, size=after.st_size, modified_ns=_settled(after.st_mtime_ns, clock)
    )
    if mark in known:
        return
    if _OURS in data:  # it may name its memory, or be a leaf
        _take_in(looked, file.path, data)
    else:
        looked.unread[file.path] = data


def _take_in(looked: Look, path: str, data: bytes) -> None:
    """Read the bytes of a file as a note."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        looked.broken[path] = f"it is not UTF-8 (byte {error.start + 1})"
        return
    looked.texts[path] = text
    ours = OURS in text
    if ours and is_leaf(text):
        looked.broken[path] = LEAF
        return
    try:
        one = looked.said[path] = said(text, path)
    except InvalidInput as error:
        looked.broken[path] = error.message
        return
    claim = one.note.memory_id if ours else None
    if claim is not None:
        file = looked.seen[path]
        looked.seen[path] = Seen(
            path=path, sha256=file.sha256, size=file.size, modified_ns=file.modified_ns, claims=claim
        )


def _seen(file: Found, mark: str) -> Seen:
    return Seen(path=file.path, sha256=mark, size=file.size, modified_ns=file.modified_ns)


def _settled(modified_ns: int, clock: Clock) -> int:
    """Return a file's time; 0 when it may change within the same tick."""
    now_ns = int(clock().timestamp() * 1_000_000_000)
    return modified_ns if abs(now_ns - modified_ns) > _FRESH_NS and abs(modified_ns) < _FARTHEST_NS else 0
