"""Letting memories end that hold no more: what accepting a proposal of that kind does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model import Patch
from zapomni.record import read_stamp
from zapomni.services.prepare import prepare
from zapomni.services.review.inbox import living
from zapomni.services.revise import change

if TYPE_CHECKING:
    from zapomni.model.proposal import Proposal
    from zapomni.services.context import Context
    from zapomni.services.review.inbox import Decision


def expire(context: Context, proposal: Proposal, decision: Decision) -> None:
    """Have the memories of a proposal hold until `valid_until` of its detail (a `record.stamp`), or until now.

    Raises `NotFound` when one of them is gone.
    """
    told = proposal.detail.get("valid_until")
    prepared = prepare(Patch(valid_until=read_stamp(told) if told else context.clock()))
    for memory in living(decision.tx, proposal):
        change(context, decision.tx, memory, prepared, actor=decision.actor, run=decision.run)
