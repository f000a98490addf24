"""Two edits of one note: both sides stay, and a person says which of them, or that both shall be kept."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zapomni.errors import Conflict, NotFound
from zapomni.files.tree import Tree
from zapomni.model import Patch, Status
from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.services.mirror.says import said
from zapomni.services.prepare import prepare
from zapomni.services.remember import admit, entry_of
from zapomni.services.review.inbox import living, propose
from zapomni.services.revise import change
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zapomni.model import Memory
    from zapomni.model.document import Source
    from zapomni.model.mirror import Agreed
    from zapomni.model.proposal import Proposal
    from zapomni.services.context import Context
    from zapomni.services.mirror.plan import Seen
    from zapomni.services.mirror.says import Said
    from zapomni.services.mirror.state import Reconcile
    from zapomni.services.review.inbox import Decision
    from zapomni.store.base import Tx

MEMORY: Final = "memory"
FILE: Final = "file"
BOTH: Final = "both"
CHOICES: Final = (MEMORY, FILE, BOTH)
"""What a person chooses among: the memory's side, the file's, or a memory each."""
_LISTED: Final = 1_000
_OUTDATED: Final = "one of the two sides has changed since"


def name_clash(state: Reconcile, path: str, memory: Memory) -> None:
    """Count and name two sides that wait for a person."""
    state.counts["conflicts"] += 1
    state.skip(path, f"it and memory {memory.id} were both edited; `zapomni inbox` asks which to keep")


def sides(file: Seen, memory: Memory) -> str:
    """Return what tells one state of two sides from another."""
    return f"{file.sha256}:{memory.version}"


def clash(state: Reconcile, tx: Tx, row: Agreed, file: Seen, one: Said, memory: Memory) -> None:
    """File a proposal about two sides; what was proposed about an earlier state of them is withdrawn.

    What the file says stands in the proposal, so that nothing is lost whatever is chosen.
    """
    name_clash(state, file.path, memory)
    withdraw(state, tx, memory.id)
    propose(
        state.context,
        tx,
        ProposalKind.CONFLICT,
        scope=state.source.scope,
        memories=[memory.id],
        reason=f"{file.path} and its memory were both edited",
        detail={
            "choices": list(CHOICES),
            "source": state.source.id,
            "path": file.path,
            "sha256": file.sha256,
            "version": memory.version,
            "file": _told(one),
            "at": state.context.clock().isoformat(),
        },
        actor=state.actor,
    )
    state.agree(tx, replace(row, path=file.path, clash=sides(file, memory)), None)


def reopen(state: Reconcile) -> None:
    """Set two sides against each other again whose settlement was undone.

    Where no file says any more what it said then there is nothing left to decide, and the proposal is withdrawn.
    """
    held = {row.memory_id for row in state.rows.values() if row.clash is not None}
    undone = [one for one in _waiting(state) if one.memories[0] not in held]
    if not undone:
        return
    seen = {file.sha256 for file in state.looked.seen.values()}
    with state.writing() as tx:
        for proposal in undone:
            mark, (memory_id, *_) = proposal.detail["sha256"], proposal.memories
            row = next((one for one in state.rows.values() if one.tied and one.sha256 == mark), None)
            if row is None or mark not in seen:
                withdraw(state, tx, memory_id)
                continue
            state.forget(tx, [row.path])  # with the text, for what both once agreed on is not known any more
            both = f"{mark}:{proposal.detail['version']}"
            state.agree(tx, replace(row, sha256="", version=0, memory_id=memory_id, links=(), clash=both), None)


def withdraw(state: Reconcile, tx: Tx, memory_id: str) -> None:
    """Take back what is still proposed about the two sides of a memory."""
    for proposal in _waiting(state):
        if proposal.memories[0] == memory_id:
            now, by = state.context.clock(), state.actor.name
            tx.proposals.decide(proposal.id, ProposalState.REJECTED, at=now, by=by, answer=_OUTDATED)


def _waiting(state: Reconcile) -> list[Proposal]:
    """Return what is proposed about two sides in this folder."""
    found = state.context.store.proposals.listed(
        (state.source.scope,), states=(ProposalState.OPEN,), kinds=(ProposalKind.CONFLICT,), limit=_LISTED
    )
    return [one for one in found if one.detail.get("source") == state.source.id]


def settle(context: Context, proposal: Proposal, decision: Decision) -> None:
    """Carry out what a person chose; the next scan writes into the file what has to be written there.

    Raises `Conflict` when one of the sides has changed since, and `NotFound` when one of them is gone.
    """
    (memory,) = living(decision.tx, proposal)
    source, row, text = _as_proposed(context, proposal, memory)
    one = said(text, row.path)
    mark = str(proposal.detail["sha256"])
    settled = replace(row, sha256=mark, size=0, modified_ns=0, links=one.note.links, held=one.held, clash=None)
    if decision.choice == FILE:
        settled = replace(settled, version=_take_over(context, memory, one, decision).version)
    elif decision.choice == MEMORY:
        settled = replace(settled, version=0)  # the file is as agreed, and the memory has changed since
    else:
        own = _own_memory(context, source, one, decision)
        settled = replace(settled, memory_id=own.id, version=own.version)
    decision.tx.mirrors.agree(source.id, settled, redact(text)[0] if one.held else text)


def _as_proposed(context: Context, proposal: Proposal, memory: Memory) -> tuple[Source, Agreed, str]:
    """Return the folder, the row and the text of a file whose two sides still are what was proposed about."""
    source = next((one for one in context.store.documents.sources() if one.id == proposal.detail["source"]), None)
    if source is None:
        raise NotFound("the folder is no longer mirrored", remedy="Reject the proposal")
    path = str(proposal.detail["path"])
    row = context.store.mirrors.agreed(source.id).get(path)
    data = _bytes_of(source, path)
    unchanged = (sha256(data).hexdigest(), memory.version) == (proposal.detail["sha256"], proposal.detail["version"])
    if row is None or row.memory_id != memory.id or not unchanged:
        raise Conflict(f"{path}: {_OUTDATED}", remedy="Run `zapomni source scan`, it asks anew")
    return source, row, data.decode()


def _take_over(context: Context, memory: Memory, one: Said, decision: Decision) -> Memory:
    """Give the memory what the file says."""
    patch = prepare(Patch(**one.differs(memory)))
    changed = change(context, decision.tx, memory, patch, actor=decision.actor, run=decision.run)
    return changed.memory or memory


def _own_memory(context: Context, source: Source, one: Said, decision: Decision) -> Memory:
    """Make a memory of what the file says; the other one gets a file of its own by the next scan."""
    entry = entry_of(context, replace(one.draft, scope=source.scope), actor=decision.actor, run=decision.run)
    outcome = admit(context, decision.tx, entry)
    if outcome.status is Status.DUPLICATE:
        raise Conflict(f"it says the same as memory {outcome.id}", remedy="Choose memory or file")
    if outcome.memory is None:
        raise Conflict(f"it cannot be a memory: {'; '.join(outcome.warnings)}", remedy="Choose memory or file")
    return outcome.memory


def _bytes_of(source: Source, path: str) -> bytes:
    try:
        with Tree(source.root).open(path) as file:
            return file.read()
    except OSError as error:
        why = error.strerror or error
        raise NotFound(f"{path} cannot be read ({why})", remedy="Run `zapomni source scan`") from None


def _told(one: Said) -> Mapping[str, object]:
    """Return what a file says, as JSON values and without secrets."""
    told: dict[str, object] = {}
    for name in ("title", "description", "about", "pinned", "content", *one.carried):
        value = getattr(one.draft, name)
        told[name] = list(value) if isinstance(value, tuple) else value
    return told
