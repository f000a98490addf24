"""Bringing what a branch holds into the main line, in one run, so that no text is lost whatever both sides did."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import NotFound
from zapomni.model import CONTENT_LIMIT, Memory, Run, Verb
from zapomni.model.branch import Fork, Policy
from zapomni.model.proposal import ProposalKind
from zapomni.services.branching.fork import begun_from, check_there, open_branch
from zapomni.services.branching.three_way import join, policy_of, says_same
from zapomni.services.outdate import outdate
from zapomni.services.review.inbox import propose
from zapomni.text.fold import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Actor
    from zapomni.model.proposal import Proposal
    from zapomni.services.context import Context
    from zapomni.services.review.inbox import Decision
    from zapomni.store.base import Tx


class Done(StrEnum):
    """What a merge did with one memory of a branch."""

    ADDED = "added"
    UPDATED = "updated"
    DELETED = "deleted"
    KNOWN = "known"
    LEFT = "left"


class Step(Struct, frozen=True, kw_only=True):
    """What became of one memory of a branch: `id` on the main line, `branch_id` on the branch.

    They are one where the main line holds nothing that it stands for. `known` is what the main line says already.
    `clash` names fields that both sides changed, `policy` what settled them, and `reason` why it was `left`.
    """

    id: str
    branch_id: str
    title: str
    done: Done
    policy: Policy | None = None
    clash: tuple[str, ...] = ()
    reason: str = ""


class Merged(Struct, frozen=True, kw_only=True):
    """What a merge came to; `run` takes all of it back, None for a rehearsal and where nothing was brought over."""

    branch: str
    run: str | None
    steps: tuple[Step, ...]


class _Rehearsed(Exception):
    """Ends a rehearsal's transaction."""


def merge(context: Context, name: str, *, actor: Actor, policy: Policy | None = None, dry_run: bool = False) -> Merged:
    """Bring every change of a branch into the main line and leave the branch as if it began now.

    What only the branch changed is taken over. What both changed is settled by `policy`, or else by the memory's
    topic path; what is left to a person stays on the branch and is proposed in the inbox. Raises `NotFound` for a
    branch that is not there.
    """
    check_there(context, name)
    run = Run(id=context.new_id(), verb="merge", actor=actor.name, started_at=context.clock(), detail={"branch": name})
    steps: list[Step] = []
    with suppress(_Rehearsed), context.store.write() as tx:
        open_branch(tx, name)
        tx.start_run(run)
        steps += [_Merging(context, tx, actor, run.id).take(fork, policy) for fork in tx.branches.forks(name)]
        counts = {done.value: sum(step.done is done for step in steps) for done in Done}
        tx.finish_run(run.id, context.clock(), {"branch": name, **{k: v for k, v in counts.items() if v}})
        if dry_run or not steps:
            raise _Rehearsed
    written = not dry_run and any(step.done is not Done.LEFT for step in steps)
    return Merged(branch=name, run=run.id if written else None, steps=tuple(steps))


def settle(context: Context, proposal: Proposal, decision: Decision) -> None:
    """Merge the one memory of a branch that a proposal is about, as the person chose.

    Raises `NotFound` when it is not on the branch any more.
    """
    name, memory_id = proposal.detail["branch"], proposal.memories[-1]
    for fork in decision.tx.branches.forks(name):
        if fork.memory.id == memory_id:
            merging = _Merging(context, decision.tx, decision.actor, decision.run)
            if decision.choice == "main":
                merging.let_go(fork.memory)
                return
            policy = Policy.APPEND if decision.choice == "both" else Policy.REPLACE
            step = merging.take(fork, policy)
            if step.done is Done.LEFT:
                raise NotFound(f"memory {memory_id} cannot be merged: {step.reason}")
            return
    raise NotFound(f"memory {memory_id} is on branch {name!r} no more", remedy="Reject the proposal")


class _Merging:
    """One merge under way, in its transaction and run."""

    def __init__(self, context: Context, tx: Tx, actor: Actor, run: str) -> None:
        self._context, self._tx, self._actor, self._run = context, tx, actor, run

    def take(self, fork: Fork, asked: Policy | None) -> Step:
        """Bring one memory of a branch into the main line, or say why it stays."""
        own = fork.memory
        policy = asked or policy_of(own.path)
        base = self._tx.get(fork.base_id) if fork.base_id else None
        if fork.deletes:
            return self._delete(fork, base, policy)
        if base is None:
            return self._add(own, policy)
        return self._update(fork, base, policy)

    def let_go(self, own: Memory) -> None:
        """Take a memory off its branch; undoing the run puts it back."""
        now = self._context.clock()
        gone = own.gone(now)
        self._put(own, gone, Verb.DELETE)

    def _add(self, own: Memory, policy: Policy) -> Step:
        target = own.scope.base
        if refused := self._refusal(own):
            return self._left(own, None, refused)
        holder = self._tx.find_key(target, own.key) if own.key else None
        if holder is not None:
            return self._update(Fork(memory=own), holder, policy)
        twin = self._tx.find_digest(target, digest(own.content))
        if twin is not None:
            self.let_go(own)
            return self._step(own, twin, Done.KNOWN)
        moved = replace(own, scope=target, updated_at=self._context.clock(), version=own.version + 1)
        self._put(own, moved, Verb.UPDATE)
        return self._step(own, moved, Done.ADDED)

    def _update(self, fork: Fork, base: Memory, policy: Policy) -> Step:
        own, old = fork.memory, begun_from(self._context, fork)
        if base.deleted_at is not None and fork.base_id and policy not in {Policy.REPLACE, Policy.APPEND}:
            if old is not None and says_same(old, own):
                self.let_go(own)
                return self._step(own, base, Done.KNOWN)
            return self._left(own, base, "the main line deleted it", policy=policy, clash=("deleted_at",))
        gone = base.deleted_at is not None
        joined = join(None if gone else old, base, own, Policy.REPLACE if gone else policy)
        if joined.memory is None:
            reason = f"both sides changed its {', '.join(joined.clash)}"
            return self._left(own, base, reason, policy=policy, clash=joined.clash)
        after = replace(joined.memory, deleted_at=None)
        if refused := self._refusal(after, base):
            return self._left(own, base, refused, policy=policy, clash=joined.clash)
        self.let_go(own)
        if after == base:
            return self._step(own, base, Done.KNOWN, policy=policy, clash=joined.clash)
        after = replace(after, updated_at=self._context.clock(), version=base.version + 1)
        self._put(base, after, Verb.UPDATE)
        return self._step(own, after, Done.UPDATED, policy=policy if joined.clash else None, clash=joined.clash)

    def _delete(self, fork: Fork, base: Memory | None, policy: Policy) -> Step:
        own, old = fork.memory, begun_from(self._context, fork)
        if base is None or base.deleted_at is not None:
            self.let_go(own)
            return self._step(own, base or own, Done.KNOWN)
        changed = old is None or not says_same(old, base)
        if changed and policy is Policy.APPEND:
            self.let_go(own)
            return self._step(own, base, Done.KNOWN, policy=policy, clash=("deleted_at",))
        if changed and policy is not Policy.REPLACE:
            reason = "the branch deleted it, the main line changed it"
            return self._left(own, base, reason, policy=policy, clash=("deleted_at",))
        self.let_go(own)
        now = self._context.clock()
        gone = base.gone(now)
        self._put(base, gone, Verb.DELETE)
        return self._step(own, base, Done.DELETED, policy=policy if changed else None)

    # --- what each of them needs ----------------------------------------------------------------------------
    def _refusal(self, memory: Memory, base: Memory | None = None) -> str:
        """Say why a text may not stand on the main line; empty when it may, or stands there already."""
        if base is not None and base.deleted_at is None and base.content == memory.content:
            return ""
        if len(memory.content) > CONTENT_LIMIT:
            return f"both texts together have more than {CONTENT_LIMIT:,} characters"
        rejection = self._tx.rejection(memory.scope.base, digest(memory.content))
        return f"its content was refused by {rejection.actor}: {rejection.reason}" if rejection else ""

    def _put(self, before: Memory, after: Memory, verb: Verb) -> None:
        outdate(self._context, self._tx, before, after, actor=self._actor, at=after.updated_at, run=self._run)
        self._tx.put(before, after, verb=verb, actor=self._actor, at=after.updated_at, run=self._run)

    def _left(
        self,
        own: Memory,
        base: Memory | None,
        reason: str,
        *,
        policy: Policy | None = None,
        clash: Sequence[str] = (),
    ) -> Step:
        if base is not None and clash and policy is not Policy.REJECT:
            self._propose(own, base, reason)
        return self._step(own, base or own, Done.LEFT, policy=policy, clash=clash, reason=reason)

    def _propose(self, own: Memory, base: Memory, reason: str) -> None:
        choices = ["branch", "main"] if "@" not in own.scope.name else ["branch", "main", "both"]
        name = own.scope.branch
        detail: dict[str, Any] = {"branch": name, "versions": [base.version, own.version], "choices": choices}
        propose(
            self._context,
            self._tx,
            ProposalKind.CONFLICT,
            scope=base.scope,
            memories=(base.id, own.id),
            reason=f"branch {name}: {reason}; `zapomni branch diff {name}` shows both",
            detail=detail,
            actor=self._actor,
        )

    def _step(
        self,
        own: Memory,
        memory: Memory,
        done: Done,
        *,
        policy: Policy | None = None,
        clash: Sequence[str] = (),
        reason: str = "",
    ) -> Step:
        title = memory.title or memory.content.partition("\n")[0]
        return Step(
            id=memory.id,
            branch_id=own.id,
            title=title,
            done=done,
            policy=policy,
            clash=tuple(clash),
            reason=reason,
        )
