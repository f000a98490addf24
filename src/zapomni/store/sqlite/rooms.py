"""What one SQLite file holds beside the memories themselves, each room by its name and loaded when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zapomni.clock import Clock
    from zapomni.store.sqlite.branches import SqliteBranches
    from zapomni.store.sqlite.calls import SqliteCalls
    from zapomni.store.sqlite.connection import Connections
    from zapomni.store.sqlite.descriptions import SqliteDescriptions
    from zapomni.store.sqlite.documents import SqliteDocuments
    from zapomni.store.sqlite.lessons import SqliteLessons
    from zapomni.store.sqlite.mirrors import SqliteMirrors
    from zapomni.store.sqlite.misses import SqliteMisses
    from zapomni.store.sqlite.proposals import SqliteProposals
    from zapomni.store.sqlite.readings import SqliteReadings
    from zapomni.store.sqlite.sessions import SqliteSessions


class Rooms:
    """The parts of a store that `base.Store` names; `store` adds the memories."""

    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._db = connections
        self._clock = clock
        self._documents: SqliteDocuments | None = None

    @property
    def readings(self) -> SqliteReadings:
        """What the store holds for the reading memory."""
        from zapomni.store.sqlite.readings import SqliteReadings

        return SqliteReadings(self._db)

    @property
    def branches(self) -> SqliteBranches:
        """What the store holds of branches of the memory."""
        from zapomni.store.sqlite.branches import SqliteBranches

        return SqliteBranches(self._db)

    @property
    def documents(self) -> SqliteDocuments:
        """What the store holds of documents, beside the memories."""
        from zapomni.store.sqlite.documents import SqliteDocuments

        if self._documents is None:
            self._documents = SqliteDocuments(self._db)
        return self._documents

    @property
    def proposals(self) -> SqliteProposals:
        """What waits for a person in the review inbox, and what one has decided."""
        from zapomni.store.sqlite.proposals import SqliteProposals

        return SqliteProposals(self._db)

    @property
    def lessons(self) -> SqliteLessons:
        """Which memories are rules that were raised, and who has acknowledged what."""
        from zapomni.store.sqlite.lessons import SqliteLessons

        return SqliteLessons(self._db)

    @property
    def misses(self) -> SqliteMisses:
        """Questions that did not find their memory, and how many questions there were."""
        from zapomni.store.sqlite.misses import SqliteMisses

        return SqliteMisses(self._db)

    @property
    def descriptions(self) -> SqliteDescriptions:
        """The vectors of descriptions alone."""
        from zapomni.store.sqlite.descriptions import SqliteDescriptions

        return SqliteDescriptions(self._db)

    @property
    def mirrors(self) -> SqliteMirrors:
        """What the store holds of mirrored folders."""
        from zapomni.store.sqlite.mirrors import SqliteMirrors

        return SqliteMirrors(self._db, self._clock)

    @property
    def calls(self) -> SqliteCalls:
        """The calls of language models, with what they cost."""
        from zapomni.store.sqlite.calls import SqliteCalls

        return SqliteCalls(self._db)

    @property
    def sessions(self) -> SqliteSessions:
        """What the store holds for the sessions of agents."""
        from zapomni.store.sqlite.sessions import SqliteSessions

        return SqliteSessions(self._db, self._clock)
