"""A transaction that only keeps in mind what it was told to write: a dry run gives the numbers of the real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.text.fold import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from zapomni.model import Actor, Link, Memory, Rejection, Run, Scope, Verb
    from zapomni.store.base import Tx
    from zapomni.store.branches import BranchWrites
    from zapomni.store.lessons import LessonWrites
    from zapomni.store.mirrors import MirrorWrites
    from zapomni.store.misses import MissWrites
    from zapomni.store.proposals import ProposalWrites
    from zapomni.store.readings import ReadingWrites
    from zapomni.text.indexed import Indexed


class Minded:
    """What a whole dry run would have written by now."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}
        self.digests: dict[tuple[Scope, bytes], str] = {}
        self.keys: dict[tuple[Scope, str], str] = {}
        self.rejections: dict[tuple[Scope, bytes], Rejection] = {}
        self.scopes: set[Scope] = set()


class Rehearsal:
    """One transaction of a dry run: asks the real one, beneath what the dry run has in mind."""

    def __init__(self, tx: Tx, minded: Minded) -> None:
        self._tx = tx
        self._minded = minded

    def put(
        self,
        before: Memory | None,  # noqa: ARG002 - the signature is the contract's
        after: Memory | None,
        *,
        verb: Verb,  # noqa: ARG002
        actor: Actor,  # noqa: ARG002
        at: datetime,  # noqa: ARG002
        run: str | None = None,  # noqa: ARG002
        undoes: int | None = None,  # noqa: ARG002
        indexed: Indexed | None = None,  # noqa: ARG002
    ) -> int:
        """Keep the memory in mind."""
        if after is not None:
            self._minded.memories[after.id] = after
            if after.deleted_at is None:
                self._minded.digests.setdefault((after.scope, digest(after.content)), after.id)
            if after.key:
                self._minded.keys[after.scope, after.key] = after.id
        return 0

    @property
    def readings(self) -> ReadingWrites:
        """An import brings no readings, so that there is nothing to rehearse."""
        raise NotImplementedError

    @property
    def proposals(self) -> ProposalWrites:
        """Nor does it bring proposals."""
        raise NotImplementedError

    @property
    def lessons(self) -> LessonWrites:
        """Nor does it bring lessons."""
        raise NotImplementedError

    @property
    def misses(self) -> MissWrites:
        """Nor does it bring misses."""
        raise NotImplementedError

    @property
    def branches(self) -> BranchWrites:
        """Nor does it know branches."""
        raise NotImplementedError

    @property
    def mirrors(self) -> MirrorWrites:
        """Nor what was agreed of files."""
        raise NotImplementedError

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory as it would be by now."""
        return self._minded.memories.get(memory_id) or self._tx.get(memory_id)

    def find_digest(self, scope: Scope, digest: bytes) -> Memory | None:
        """Return the memory that would have this content by now."""
        found = self._tx.find_digest(scope, digest)
        if found is not None and found.id not in self._minded.memories:
            return found
        known = self._minded.digests.get((scope, digest))
        return self._minded.memories[known] if known is not None else None

    def find_key(self, scope: Scope, key: str) -> Memory | None:
        """Return the memory that would have this key by now."""
        known = self._minded.keys.get((scope, key))
        return self._minded.memories[known] if known is not None else self._tx.find_key(scope, key)

    def rejection(self, scope: Scope, digest: bytes) -> Rejection | None:
        """Return the refusal that would stand by now."""
        return self._minded.rejections.get((scope, digest)) or self._tx.rejection(scope, digest)

    def rejected_by(self, rejection: Rejection) -> str | None:
        """Return the id of the memory whose deletion refused this content."""
        return self._tx.rejected_by(rejection)

    def reject(self, rejection: Rejection) -> None:
        """Keep the refusal in mind."""
        self._minded.rejections.setdefault((rejection.scope, bytes.fromhex(rejection.digest)), rejection)

    def lift_rejection(self, scope: Scope, digest: bytes) -> None:
        """Do nothing: an import takes no refusal back."""

    def meanwhile(self, work: Callable[[], None]) -> None:
        """Do nothing: there is no commit."""

    def link(self, links: Iterable[Link]) -> None:
        """Do nothing: nobody asks for links by a transaction."""

    def unlink(self, links: Iterable[Link]) -> None:
        """Do nothing."""

    def start_run(self, run: Run) -> None:
        """Do nothing."""

    def finish_run(self, run_id: str, at: datetime, detail: Mapping[str, object]) -> None:
        """Do nothing."""

    def register_scope(self, scope: Scope, identity: str | None) -> None:  # noqa: ARG002
        """Keep the scope in mind."""
        self._minded.scopes.add(scope)

    def reserve_scope(self, scope: Scope, identity: str) -> None:
        """Do nothing."""
