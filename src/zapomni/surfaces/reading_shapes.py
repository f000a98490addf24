"""The JSON shapes of the reading memory; see `shapes` for what every shape keeps to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.record import stamp
from zapomni.surfaces.shapes import (
    PREVIEW,
    error_shape,
    memory_shape,
    outcome_shape,
    recollection_shape,
    redactions_shape,
    skipped_shape,
)
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model.document import Skipped
    from zapomni.services.reading.ask import Answer, Supply
    from zapomni.services.reading.consolidate import Consolidated, Planned
    from zapomni.services.reading.enrich import Enriched
    from zapomni.services.reading.handout import Handout
    from zapomni.services.reading.handout_text import TextRead
    from zapomni.services.reading.ingest import Forecast, Ingested, Kept
    from zapomni.services.reading.ingest_forecast import ScanForecast
    from zapomni.services.reading.insight import Held, Saved


QUOTED: Final = 200
"""Characters of a member that stand beside its insight."""


# --- ask --------------------------------------------------------------------------------------------------
def answer_shape(answer: Answer, *, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return an answer with the memories that it cites; where no model gave one, the error and what recall finds."""
    if answer.problem is not None:
        found = recollection_shape(answer.instead, preview=preview) if answer.instead else {}
        return {**error_shape(answer.problem), "answer": "", "found": False, **found}
    shape: dict[str, Any] = {
        "answer": answer.text,
        "found": answer.found,
        "model": answer.model,
        "count": len(answer.cited),
        "memories": [memory_shape(memory, preview=preview) for memory in answer.cited],
        "read": answer.read,
        "not_read": answer.supply.total - answer.read,
        "tokens_in": answer.usage.tokens_in,
        "tokens_out": answer.usage.tokens_out,
        "narrowed": _narrowed(answer.supply),
    }
    told = {"unknown": list(answer.unknown), "unsupported": answer.unsupported}
    return shape | {name: value for name, value in told.items() if value}


def supply_shape(supply: Supply, model: str | None, usd: float | None) -> dict[str, Any]:
    """Return what would be read for a question; tokens and `usd` are estimates."""
    return {
        "dry_run": True,
        "model": model,
        "count": len(supply.memories),
        "memories": [memory_shape(memory, preview=PREVIEW) for memory in supply.memories],
        "not_read": supply.left_out,
        "tokens_in": supply.usage.tokens_in,
        "tokens_out": supply.usage.tokens_out,
        "usd": usd,
        "narrowed": _narrowed(supply),
    }


def reading_shape(supply: Supply) -> dict[str, Any]:
    """Return what is about to be read for a question, as it is told before the answer; tokens are an estimate."""
    return {
        "count": len(supply.memories),
        "ids": [memory.id for memory in supply.memories],
        "not_read": supply.left_out,
        "tokens_in": supply.usage.tokens_in,
        "narrowed": _narrowed(supply),
    }


def reading_line(supply: Supply) -> str:
    """Return the same as one line."""
    read, total = len(supply.memories), supply.total
    return f"reading {read:,} of {total:,} memories, about {supply.usage.tokens_in:,} tokens"


def _narrowed(supply: Supply) -> dict[str, Any] | None:
    """Return the dates and names by which a question was narrowed, None where it was not."""
    where = supply.narrowed
    if where is None:
        return None
    since, until = (stamp(at) if at else None for at in (where.since, where.until))
    return {"since": since, "until": until, "entities": list(where.entities)}


# --- ingest -----------------------------------------------------------------------------------------------
def ingested_shape(came: Ingested) -> dict[str, Any]:
    """Return what ingesting one text or image came to: each memory with where it stands in the reading."""
    return {
        "run": came.run,
        "reading": came.reading.id if came.run else None,
        "source": came.reading.source,
        "path": came.reading.path,
        "scope": str(came.scope),
        "count": len(came.kept),
        "memories": [_kept_shape(kept) for kept in came.kept],
        "waiting": came.waiting,
        "retired": list(came.retired),
        "conflicts": list(came.conflicts),
        "redactions": redactions_shape(came.redactions),
        "skipped": skipped_shape(came.skipped),
        "notes": list(came.notes),
        "reason": came.reason,
    }


def ingests_shape(came: Sequence[Ingested], skipped: Sequence[Skipped] = ()) -> dict[str, Any]:
    """Return what ingesting several texts or files came to; `skipped` are files that could not be read at all.

    `reason` is the first reason why something waits.
    """
    shape: dict[str, Any] = {
        "count": len(came),
        "ingested": [ingested_shape(one) for one in came],
        "waiting": sum(one.waiting for one in came),
        "skipped": skipped_shape(skipped),
    }
    reasons = [one.reason for one in came if one.reason]
    return shape | {"reason": reasons[0]} if reasons else shape


def forecast_shape(forecast: Forecast, model: str | None, skipped: Sequence[Skipped] = ()) -> dict[str, Any]:
    """Return what ingesting would use, by estimate; `usd` is null where no price is set."""
    return {
        "dry_run": True,
        "model": model,
        **forecast._asdict(),
        "skipped": skipped_shape(skipped),
    }


def scan_forecasts_shape(found: Sequence[ScanForecast], model: str | None, usd: float | None) -> dict[str, Any]:
    """Return what scanning ingested sources would use, source by source and in all; `usd` is null without prices."""
    return {
        "dry_run": True,
        "model": model,
        "count": len(found),
        "sources": [_scan_forecast(one) for one in found],
        **{name: sum(getattr(one, name) for one in found) for name in ("calls", "tokens_in", "tokens_out")},
        "usd": usd,
    }


def _scan_forecast(one: ScanForecast) -> dict[str, Any]:
    counts = ("read", "kept", "removed", "calls", "tokens_in", "tokens_out")
    return {
        "id": one.source.id,
        "root": one.source.root,
        "scope": str(one.source.scope),
        **{name: getattr(one, name) for name in counts},
        "skipped": skipped_shape(one.skipped),
        "problem": one.problem,
    }


def enriched_shape(done: Enriched) -> dict[str, Any]:
    """Return what became of texts that waited for a model; `reason` says why it was not gone on with."""
    shape: dict[str, Any] = {
        "count": len(done.read),
        "enriched": [
            {"id": one.memory_id, "run": one.run, "memories": [outcome_shape(outcome) for outcome in one.outcomes]}
            for one in done.read
        ],
        "kept": list(done.kept),
        "failed": [{"id": memory_id, "reason": reason} for memory_id, reason in done.failed],
        "waiting": done.waiting,
    }
    return shape | {"reason": done.reason} if done.reason else shape


def _kept_shape(kept: Kept) -> dict[str, Any]:
    memory = kept.outcome.memory
    shape = memory_shape(memory, preview=PREVIEW) if memory is not None else {"id": ""}
    return {
        "status": kept.outcome.status.value,
        "start": kept.place.start,
        "end": kept.place.end,
        "waits": kept.waits,
        **shape,
    }


# --- consolidate ------------------------------------------------------------------------------------------
def consolidations_shape(rounds: Sequence[Consolidated]) -> dict[str, Any]:
    """Return what consolidating came to, batch by batch; `reason` is the first why a model gave nothing."""
    shape = {
        "count": sum(len(one.insights) for one in rounds),
        "batches": [consolidated_shape(one) for one in rounds],
    }
    reasons = [one.reason for one in rounds if one.reason]
    return shape | {"reason": reasons[0]} if reasons else shape


def consolidated_shape(one: Consolidated) -> dict[str, Any]:
    """Return what one batch came to: its run, what is new, what was refused and why."""
    return {
        "run": one.run or None,
        "scope": str(one.scope),
        "looked_at": one.looked_at,
        "done": one.done,
        "insights": [memory_shape(memory) for memory in one.insights],
        "refused": [refusal._asdict() for refusal in one.refused],
        "reason": one.reason,
    }


def planned_shape(plans: Sequence[Planned], model: str | None, usd: float | None) -> dict[str, Any]:
    """Return what consolidating would use: estimates, of the replies the most that they may take."""
    return {
        "dry_run": True,
        "model": model,
        "count": sum(one.batches for one in plans),
        "scopes": [
            {
                "scope": str(one.scope),
                "batches": one.batches,
                "memories": one.memories,
                "tokens_in": one.tokens_in,
                "tokens_out": one.tokens_out,
            }
            for one in plans
        ],
        "tokens_in": sum(one.tokens_in for one in plans),
        "tokens_out": sum(one.tokens_out for one in plans),
        "usd": usd,
    }


def insights_shape(found: Sequence[Held], *, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return insights, newest first, each with the memories that it was drawn from."""
    return {"count": len(found), "insights": [insight_shape(one, preview=preview) for one in found]}


def insight_shape(held: Held, *, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return an insight as a memory, with its members."""
    members = [{"id": one.id, "content": cut(one.content, QUOTED)} for one in held.members]
    return {**memory_shape(held.memory, preview=preview), "members": members}


def handout_shape(handed: Handout | None, *, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return a batch for an agent; `batch` is null where nothing waits."""
    if handed is None:
        return {"batch": None, "count": 0, "memories": []}
    return {
        "batch": handed.batch,
        "scope": str(handed.scope),
        "count": len(handed.memories),
        "waiting": handed.waiting,
        "memories": [memory_shape(memory, preview=preview) for memory in handed.memories],
    }


def saved_shape(saved: Saved) -> dict[str, Any]:
    """Return what saving came to: the outcome of the insight, if there was one, and how many memories are done with."""
    return {**(outcome_shape(saved.outcomes[0]) if saved.outcomes else {"status": "ended"}), "done": saved.done}


def text_read_shape(read: TextRead) -> dict[str, Any]:
    """Return what reading a text came to: a memory for each fact, or that the text stays as it is."""
    return {
        "status": "read" if read.outcomes else "ended",
        "done": 1,
        "count": len(read.outcomes),
        "memories": [outcome_shape(one) for one in read.outcomes],
        "notes": list(read.notes),
    }
