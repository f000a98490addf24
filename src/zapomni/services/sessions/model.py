"""What a language model finds in a session beside the rules: candidates with their place, like all others."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from zapomni.model import Kind
from zapomni.services.reading.facts import extract
from zapomni.services.sessions.plan import MOST, Judge, source_of
from zapomni.text.cues import Finding, Sort

if TYPE_CHECKING:
    from zapomni.llm.base import Llm
    from zapomni.services.context import Context
    from zapomni.services.reading.facts import Terms
    from zapomni.services.sessions.plan import Item, Plan


def read_by_model(context: Context, plan: Plan, llm: Llm, terms: Terms) -> Plan:
    """Return the plan with what a model finds too; one that fails or has spent its budget leaves it as it is.

    The model reads what was said, without secrets and without what was injected; `reason` then says what went wrong.
    """
    starts, text = [], ""
    for turn in plan.said:
        starts.append(len(text))
        text += f"{turn.role}: {turn.text.strip()}\n"
    if not starts:
        return plan
    source = source_of(plan.client, plan.session)
    found = extract(llm, text, source=source, at=context.clock(), terms=terms, purpose="session")
    judge = Judge(context, plan.held, [item.finding.text for item in plan.items])
    items: list[Item | None] = []
    for draft, place, _ in found.facts:
        turn = plan.said[bisect_right(starts, place.start) - 1]
        sort = Sort.OPEN if draft.kind is Kind.WORKING else Sort.FOUND
        items.append(judge.judged(Finding(sort, draft.content, place.start, place.end), turn))
    fresh = [item for item in items if item is not None]
    return plan._replace(items=(*plan.items, *fresh)[:MOST], reason=found.reason)
