"""What would be kept of a session: the findings in what was said, each with what is to be done with it and how sure.

A finding that the memory holds already, in these or nearly these words, is an echo and is not kept again; one that says
anew what the same session said before takes the older one's place (features SE-1: update from .95, merge from .82).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from zapomni.model import Filter, Trust
from zapomni.model.session import Turn
from zapomni.readers.base import Unreadable
from zapomni.readers.transcripts.registry import read_transcript
from zapomni.services.find import everything_in
from zapomni.services.sessions.record import is_kept_away, is_record
from zapomni.text.clean import clean
from zapomni.text.cues import Finding, findings
from zapomni.text.echoes import own_words
from zapomni.text.secrets import redact
from zapomni.text.words import query_words, similar_words, similarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zapomni.model import Memory, Scope
    from zapomni.model.session import Event
    from zapomni.services.context import Context

TAIL: Final = 4 * 2**20
"""Bytes of a transcript's end that a hook reads: the turns since the last hook stand there."""
MOST: Final = 40
"""Findings of one session that are kept at once: the latest."""
SAME: Final = 0.95
NEAR: Final = 0.82
NEW: Final = 0.60
"""How sure: of the same statement, of nearly the same, of a new one (features SE-1)."""
_QUOTED: Final = 0.9
"""Share of a finding's words in a memory, or the other way round, from which one quotes the other."""
_ADDED: Final = 6
"""Words around a quotation that add nothing: "as the memory says, …"."""
_CANDIDATES: Final = 5
_TELLING: Final = frozenset(
    {"not", "never", "no", "without", "n't", "don't", "не", "нет", "никогд", "больш", "без", "нельз"}
)
"""Words whose presence alone makes two statements different, beside every number."""


class Action(StrEnum):
    """What becomes of a finding."""

    NEW = "new"
    UPDATE = "update"
    MERGE = "merge"
    KNOWN = "known"


class Item(NamedTuple):
    """A finding, the turn it stands in, what becomes of it, how sure, and the memory that says it already."""

    finding: Finding
    turn: Turn
    action: Action
    confidence: float
    memory: Memory | None = None


class Plan(NamedTuple):
    """What would be kept of one session.

    `topic` is what it was about, `said` all that was said in it, `reason` why nothing (more) could be read, `erased`
    what was kept of it once and is not to be again.
    """

    session: str
    client: str
    scope: Scope
    items: tuple[Item, ...] = ()
    held: tuple[Memory, ...] = ()
    topic: str = ""
    said: tuple[Turn, ...] = ()
    reason: str | None = None
    erased: tuple[str, ...] = ()


def source_of(client: str, session: str) -> str:
    """Return the source of the memories of a session."""
    return f"session:{client}:{session[:150]}"


def plan_session(context: Context, event: Event, *, tail: int | None = TAIL) -> Plan:
    """Return what would be kept of a session, writing nothing; of a long transcript only the last `tail` bytes."""
    scope = context.place.write
    turns, reason = turns_of(event, tail)
    source = source_of(event.client, event.session)
    held = tuple(context.store.sessions.of_source(source, everything_in((scope,), deleted=True)))
    judge = Judge(context, held)
    found, marks = list(_found(turns)), context.store.sessions.marks(source)
    erased = tuple(finding.text for _, finding in found if is_kept_away(finding.text, marks))
    items = [judge.judged(finding, turn) for turn, finding in found if finding.text not in erased]
    topic = next((turn.text for turn in turns if turn.role == "user" and turn.text.strip()), "")
    kept = [item for item in items if item is not None][-MOST:]
    return Plan(event.session, event.client, scope, tuple(kept), held, topic, tuple(turns), reason, erased)


def turns_of(event: Event, tail: int | None) -> tuple[list[Turn], str | None]:
    """Return what was said, without what others put in and without secrets, and why nothing could be read."""
    turns, reason = list(event.turns), None
    if event.transcript and not turns:
        try:
            turns = read_transcript(Path(event.transcript), tail)
        except (Unreadable, ValueError) as error:  # a path with a NUL in it is a ValueError
            reason = str(error)
    told = ("user", event.prompt), ("assistant", event.said)  # the file lags behind what the client tells
    spoken = {turn.text.strip() for turn in turns[-20:]}
    turns += [
        Turn(role=role, text=text, uuid=f"{role}-last") for role, text in told if text.strip() not in {"", *spoken}
    ]
    return [replace(turn, text=redact(own_words(clean(turn.text)[0]))[0]) for turn in turns], reason


def _found(turns: Sequence[Turn]) -> Iterator[tuple[Turn, Finding]]:
    for turn in turns:
        for finding in findings(turn.text, by_person=turn.role == "user"):
            if "[REDACTED:" not in finding.text:
                yield turn, finding


class Judge:
    """Says of each finding whether the memory, or an earlier finding (`taken`), says it already."""

    def __init__(self, context: Context, held: Sequence[Memory], taken: Iterable[str] = ()) -> None:
        self._context = context
        self._held = {memory.content: memory for memory in held}
        self._mine = {memory.id for memory in held}
        self._taken = [similar_words(text) for text in taken]

    def judged(self, finding: Finding, turn: Turn) -> Item | None:
        """Return the finding with what becomes of it, None when the same session said the same before."""
        words = similar_words(finding.text)
        if finding.text in self._held or any(is_echo(words, other) for other in self._taken):
            return None
        self._taken.append(words)
        for memory in self._near(finding.text):
            other = similar_words(memory.content)
            if not is_echo(words, other):
                continue
            share = similarity(words, other)
            if memory.id not in self._mine or memory.trust is not Trust.CANDIDATE:
                return Item(finding, turn, Action.KNOWN, max(share, NEAR), memory)
            return Item(finding, turn, Action.UPDATE if share >= SAME else Action.MERGE, max(share, NEAR), memory)
        return Item(finding, turn, Action.NEW, NEW)

    def _near(self, text: str) -> list[Memory]:
        where = Filter(scopes=self._context.place.read)
        found = self._context.store.lexical(query_words(text), where, _CANDIDATES)
        memories = self._context.store.fetch([hit.no for hit in found.hits]).values()
        return [memory for memory in memories if not is_record(memory)]  # it repeats what others say


def is_echo(words: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether one text repeats another: nearly the same words, or one quoted whole in the other.

    A number, or a word such as `not`, that only one of them has makes them two statements.
    """
    if any(word in _TELLING or any(map(str.isdigit, word)) for word in words ^ other):
        return words <= other and len(words) >= _ADDED
    if similarity(words, other) >= NEAR:
        return True
    common = len(words & other)
    quotes = len(words) >= _ADDED and common >= _QUOTED * len(words)
    quoted = len(other) >= _ADDED and common >= _QUOTED * len(other) and len(words - other) <= _ADDED
    return quotes or quoted
