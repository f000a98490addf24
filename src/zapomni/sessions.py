"""The sessions of agents: what they are handed at their start and at each prompt, and what is kept of them."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from zapomni.errors import Unavailable
from zapomni.model import Actor, Filter, Kind, Origin, Scope, ScopeKind
from zapomni.model.session import Moment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from zapomni.clock import Clock
    from zapomni.llm.base import Llm
    from zapomni.model import Page
    from zapomni.model.session import Event
    from zapomni.services.context import Context
    from zapomni.services.reading.facts import Terms
    from zapomni.services.review.handover import Lesson
    from zapomni.services.sessions.briefing import Pack
    from zapomni.services.sessions.capture import Captured

BEGUN: Final = "begun"
"""The mark of a session that was handed its pack; compaction takes it away."""
_ONCE: Final = timedelta(seconds=5)
"""For how long a second event that says the same is taken for the first one, sent by another set of hooks."""
_KEPT: Final = timedelta(days=60)
"""How long a session is remembered that nobody came back to."""
_RENEWED: Final = frozenset({"compact", "clear"})


class Sessions:
    """What hooks do with one memory, as `Zapomni.sessions` gives it. Raises only `zapomni.errors.ZapomniError`."""

    def __init__(
        self, context: Context, *, actor: Actor, clock: Clock, model: Callable[[], tuple[Llm | None, Terms]]
    ) -> None:
        """`model` gives the language model that reads a session when it is closed, None where there is none."""
        self._context = context
        self._store = context.store.sessions
        self._actor = Actor(name=actor.name, origin=Origin.SESSION)  # whoever closes it: it was overheard
        self._clock = clock
        self._model = model
        self._held = False  # another process holds the store: it was waited for once, and nobody waits twice

    def start(self, event: Event) -> Pack:
        """Return the pack of a session that starts, resumes or goes on after a compaction."""
        from zapomni.services.sessions.briefing import Pack

        session = event.session
        if session and not self._first(session, event):
            return Pack("")
        if session and event.source in _RENEWED:
            self._store.unmark(session, keep=[_mark(event)])
        return self._begun(session, event)

    def prompt(self, event: Event, *, restarts: bool) -> Pack:
        """Return what is relevant to a prompt and was not shown in this session.

        A session that was not begun is handed its pack too, unless its client `restarts` by itself.
        """
        from zapomni.services.sessions.briefing import PACK_LIMIT, Pack, relevant_pack
        from zapomni.services.sessions.prompted import relevant

        session = event.session
        marks = self._store.marks(session) if session else {}
        if session and not self._first(session, event, marks):
            return Pack("")
        pack = Pack("")
        if session and BEGUN not in marks and not restarts:
            pack = self._begun(session, event)
        scopes = self._scopes(event)
        hits = relevant(self._context, event.prompt, Filter(scopes=scopes), {*marks, *pack.shown})
        found = relevant_pack(hits, scopes=scopes, limit=PACK_LIMIT - len(pack.text) - 1)
        self._shown(session, found.shown)
        return Pack("\n".join(filter(None, (pack.text, found.text))), (*pack.shown, *found.shown))

    def capture(self, event: Event, *, often: bool = False) -> Captured:
        """Keep what a session decided, tried, found and left open; `often` tells that its compactions are none."""
        from zapomni.services.sessions.capture import capture

        captured = capture(self._context, event, actor=self._actor)
        session = event.session
        if session and event.moment is Moment.COMPACT and not often:
            self._store.unmark(session)
        if event.moment is Moment.END:
            self._store.forget(self._clock() - _KEPT)
        return captured

    def close(self, transcript: str, *, client: str, name: str | None = None, dry_run: bool = True) -> Captured:
        """Keep what a whole transcript says, or with `dry_run` only tell what that would be by the rules alone.

        Without a `name` it is the session that the transcript names, or else the name of its file. Raises
        `InvalidInput` for a file that is no transcript.
        """
        from pathlib import Path

        from zapomni.errors import InvalidInput
        from zapomni.model.session import Event
        from zapomni.readers.transcripts.registry import session_of
        from zapomni.services.sessions.capture import Captured, apply
        from zapomni.services.sessions.plan import plan_session

        path = Path(transcript)
        event = Event(client, Moment.END, session=name or session_of(path) or path.stem, transcript=str(path))
        plan = plan_session(self._context, event, tail=None)
        if plan.reason is not None:
            raise InvalidInput(
                "transcript", f"{transcript} was not read: {plan.reason}", remedy="Name the client's own file"
            )
        if dry_run:
            return Captured(plan)
        llm, terms = self._model()
        if llm is not None:
            from zapomni.services.sessions.model import read_by_model

            plan = read_by_model(self._context, plan, llm, terms)
        return apply(self._context, plan, actor=self._actor)

    def records(self, limit: int, *, scopes: Sequence[str] = ()) -> Page:
        """Return the records of the sessions that left something behind, the latest first."""
        from zapomni.services.scopes import scopes_to_read
        from zapomni.services.sessions.record import RECORD

        where = Filter(scopes=scopes_to_read(self._context, scopes), kinds=(Kind.EPISODIC,), tags=(RECORD,))
        return self._context.store.page(where, limit)

    def _begun(self, session: str, event: Event) -> Pack:
        from zapomni.services.sessions.briefing import MOST, session_pack

        scopes = self._scopes(event)
        opening = self._store.opening(Filter(scopes=scopes), MOST)
        lessons = self._lessons(event, scopes) if opening.lessons else []
        pack = session_pack(opening, lessons, scopes=scopes)
        self._shown(session, (BEGUN, *pack.shown))
        self._acknowledge([lesson.id for lesson in lessons if lesson.id in pack.shown], event)
        return pack

    def _lessons(self, event: Event, scopes: Sequence[Scope]) -> list[Lesson]:
        from zapomni.services.review.handover import lessons_for

        return lessons_for(self._context, self._agent(event), scopes)

    def _acknowledge(self, ids: Sequence[str], event: Event) -> None:
        if ids and not self._held:
            from zapomni.services.review.handover import acknowledge

            with suppress(Unavailable):  # it is told once more
                acknowledge(self._context, ids, self._agent(event))

    def _shown(self, session: str, marks: Sequence[str]) -> None:
        """Remember what was shown; where that cannot be written it may be shown again."""
        if session and marks and not self._held:
            try:
                self._store.mark(session, marks, self._clock())
            except Unavailable:
                self._held = True

    def _first(self, session: str, event: Event, marks: Mapping[str, datetime] | None = None) -> bool:
        """Tell whether this is not the same event once more, from a second set of hooks."""
        mark, now = _mark(event), self._clock()
        known = (self._store.marks(session) if marks is None else marks).get(mark)
        if known is not None and known > now - _ONCE:
            return False
        self._shown(session, [mark])
        return True

    def _scopes(self, event: Event) -> tuple[Scope, ...]:
        return tuple(dict.fromkeys((*self._context.place.read, self._agent(event))))

    def _agent(self, event: Event) -> Scope:
        """Return whose session it is: the agent of the settings, or else the client."""
        return self._context.place.agent or Scope(kind=ScopeKind.AGENT, name=event.client)


def _mark(event: Event) -> str:
    from zapomni.digests import blake2b

    said = f"{event.moment.value}\0{event.source}\0{event.prompt}"
    return f"event:{blake2b(said.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
