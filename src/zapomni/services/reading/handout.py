"""Handing batches to an agent that concludes in the place of a model: no key and no tokens of ours.

A batch is a run from the moment it is handed out, and undone like one. It is no lock: what was handed out and not
worked off is handed out again, and a conclusion that is there already is a duplicate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from zapomni.errors import InvalidInput, NotFound, Refused
from zapomni.model import DESCRIPTION_LIMIT, Memory, Run
from zapomni.record import parse_scope
from zapomni.services.find import everything_in
from zapomni.services.reading.consolidate import waiting_batch
from zapomni.services.reading.insight import VERB, Batch, Insight, Saved, save_insights
from zapomni.text.clean import is_blank, preview
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Actor, Scope
    from zapomni.services.context import Context

HANDED: Final = 20
"""Memories of a batch that an agent is handed: they must fit one answer of the protocol."""
_RECENT: Final = 100
"""Runs among which a batch that is still open is looked for."""


class Handout(NamedTuple):
    """Memories of one scope to be looked at together, and how many wait there in all."""

    batch: str
    scope: Scope
    memories: tuple[Memory, ...]
    waiting: int


def next_batch(context: Context, scopes: Sequence[Scope], *, actor: Actor) -> Handout | None:
    """Return the next batch of the first scope in which two memories wait, None where nothing does.

    Asked again before anything was done, it is the same batch.
    """
    for scope in scopes:
        memories = waiting_batch(context, scope, HANDED)
        if memories:
            waiting = context.store.readings.unconsolidated_counts().get(scope, 0)
            return Handout(begun(context, VERB, scope, memories, actor), scope, tuple(memories), waiting)
    return None


def save_from(
    context: Context, batch_id: str, insight: Insight | None, *, scopes: Sequence[Scope], actor: Actor, reason: str = ""
) -> Saved:
    """Save one insight from a batch that was handed out; its members are done with.

    None with a `reason` ends the batch: what is left in it is done with too. Raises `NotFound` for no batch of these
    scopes, `Refused` for what the guard holds back, and `InvalidInput` for neither an insight nor a reason.
    """
    batch = _found(context, batch_id, scopes)
    if insight is None:
        told = checked_reason(reason, "there is neither a statement nor a reason")
        ended = replace(batch, detail={**batch.detail, "reason": told})
        return save_insights(context, ended, (), actor=actor)
    saved = save_insights(context, batch, (insight,), actor=actor, whole=False)
    for refusal in saved.refused:
        raise Refused(
            f"the insight was not saved: {refusal.reason}",
            remedy="Save it anew with what its memories say, or end the batch with a reason",
        )
    return saved


def begun(context: Context, verb: str, scope: Scope, memories: Sequence[Memory], actor: Actor, **terms: int) -> str:
    """Return the run of a batch: the one that this caller was handed before, else a new one; `terms` go with it."""
    detail = {"scope": str(scope), "versions": {one.id: one.version for one in memories}, **terms}
    for run in context.store.runs(_RECENT):
        if (run.verb, run.actor, run.finished_at, dict(run.detail)) == (verb, actor.name, None, detail):
            return run.id
    new = Run(id=context.new_id(), verb=verb, actor=actor.name, started_at=context.clock(), detail=detail)
    with context.store.write() as tx:
        tx.start_run(new)
    return new.id


def handed_out(context: Context, batch_id: str, verb: str, scopes: Sequence[Scope]) -> tuple[Run, Scope]:
    """Return the run of a batch that was handed out in one of these scopes; raises `NotFound`."""
    found = context.store.run(batch_id.strip())
    detail = found[0].detail if found is not None and found[0].verb == verb else {}
    scope = parse_scope(detail["scope"]) if "versions" in detail else None
    if found is None or scope is None or scope not in scopes:
        raise NotFound(f"no batch {batch_id!r} was handed out here", remedy="Ask next_batch for one")
    return found[0], scope


def checked_reason(reason: str, problem: str) -> str:
    """Return why nothing follows, fit to be kept; raises `InvalidInput` with the `problem` for a blank one."""
    if is_blank(reason):
        raise InvalidInput("reason", problem, remedy="Say why nothing follows from these memories")
    return redact(preview(reason, DESCRIPTION_LIMIT))[0]


def _found(context: Context, batch_id: str, scopes: Sequence[Scope]) -> Batch:
    """Return a batch that was handed out, without the memories that were changed since."""
    run, scope = handed_out(context, batch_id, VERB, scopes)
    versions = run.detail["versions"]
    memories = context.store.get(list(versions), everything_in([scope]))
    as_they_were = {one.id: one for one in memories if versions[one.id] == one.version}
    return Batch(run=run.id, scope=scope, memories=as_they_were, begun=True, detail=run.detail)
