"""`zapomni session`: which sessions of agents left something behind, and what one would leave when it is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.surfaces.cli.options import at_most, read_scopes
from zapomni.surfaces.cli.session import Group, answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.services.sessions.capture import Captured
    from zapomni.surfaces.cli.session import Session


@click.group("session", cls=Group)
def session_() -> None:
    """Show and close the sessions of agents."""


@session_.command("close")
@click.option("--transcript", required=True, metavar="FILE", help="The file that the client keeps of the session.")
@click.option("--client", default="claude-code", show_default=True, metavar="NAME", help="Whose session it was.")
@click.option("--session", "name", metavar="ID", help="The session's id; as the file names it if not given.")
@click.option("--dry-run/--apply", default=True, help="Only show what would be kept, which is the default, or keep it.")
@answers
def close(session: Session, *, transcript: str, client: str, name: str | None, dry_run: bool) -> None:
    """Show what is kept of a session: decisions, rules, failures, findings, open ends.

    Each stands with what becomes of it and how sure that is. `known` is said already and not kept again; `update` and
    `merge` bring what the same session said before to its newer wording; `new` becomes a candidate. With
    --apply and a language model (llm.model) it reads the session too, within its budget.
    """
    with session.memory() as app:
        captured = app.sessions.close(transcript, client=_known(client), name=name, dry_run=dry_run)
    session.answer(_shape(captured, dry_run=dry_run), _lines(captured, dry_run=dry_run))


@session_.command("list")
@at_most(20)
@read_scopes
@answers
def list_(session: Session, scopes: Sequence[str], *, limit: int) -> None:
    """List the sessions that left something behind, the latest first."""
    from zapomni.surfaces import shapes
    from zapomni.surfaces.cli.lines import INDENT, moment, one_line

    with session.memory() as app:
        page = app.sessions.records(limit, scopes=scopes)
    rows = [shapes.memory_shape(memory) for memory in page.memories]
    lines = [
        INDENT.join([memory.id, moment(memory.updated_at), one_line(memory.scope), one_line(memory.title)])
        for memory in page.memories
    ]
    session.answer({"count": len(rows), "total": page.total, "sessions": rows}, lines)
    session.note([] if lines else ["No session has left anything behind yet"])


def _known(client: str) -> str:
    """Return the name of a client as its hooks have it; raises `InvalidInput` for one that has none."""
    from zapomni.errors import InvalidInput
    from zapomni.surfaces.dialects import DIALECTS, SHORT
    from zapomni.text.nearest import nearest

    name = SHORT.get(client, client)
    if name not in DIALECTS:
        near = nearest(client, DIALECTS)
        remedy = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(DIALECTS)}"
        raise InvalidInput("client", f"{client!r} is not known", remedy=remedy)
    return name


def _shape(captured: Captured, *, dry_run: bool) -> dict[str, Any]:
    plan = captured.plan
    return {
        "session": plan.session,
        "client": plan.client,
        "scope": str(plan.scope),
        "turns": len(plan.said),
        "reason": plan.reason,
        "dry_run": dry_run,
        "run": captured.run,
        "record": captured.record,
        "findings": [
            {
                "sort": item.finding.sort.value,
                "text": item.finding.text,
                "action": item.action.value,
                "confidence": round(item.confidence, 2),
                "memory": item.memory.id if item.memory else None,
                "said_by": item.turn.role,
                "line": item.turn.line,
            }
            for item in plan.items
        ],
    }


def _lines(captured: Captured, *, dry_run: bool) -> list[str]:
    from zapomni.services.sessions.plan import Action
    from zapomni.surfaces.cli.lines import many, one_line
    from zapomni.text.clean import preview, printable

    plan = captured.plan
    lines = [
        f"{item.action:<6} {item.confidence:.2f}  {item.finding.sort:<7}  {printable(preview(item.finding.text, 200))}"
        for item in plan.items
    ]
    said, scope = f"{many(len(plan.said), 'turn')} of session {one_line(plan.session)}", one_line(plan.scope)
    if not lines:
        return _captured_before(captured, said) if plan.held else [f"Nothing to keep: {said}"]
    if all(item.action is Action.KNOWN for item in plan.items):
        return [*lines, f"Nothing new: {said}, and {scope} knows all of it already"]
    if dry_run:
        return [*lines, f"Nothing was written: {said}; --apply keeps it in {scope}"]
    said += f", kept in {scope}"
    return [*lines, f"{said}; `zapomni undo --run {captured.run}` takes it back" if captured.run else said]


def _captured_before(captured: Captured, said: str) -> list[str]:
    """Show what stands of a session that was captured before and brings nothing new."""
    from zapomni.services.sessions.record import is_record
    from zapomni.surfaces.cli.lines import INDENT, many, one_line

    kept = [memory for memory in captured.plan.held if not is_record(memory)]
    standing = [memory for memory in kept if memory.deleted_at is None]
    lines = [
        INDENT.join([memory.id, "; ".join(map(one_line, memory.tags)), one_line(memory.content, 200)])
        for memory in standing
    ]
    gone = len(kept) - len(standing)
    deleted = f"; {many(gone, 'memory', 'memories')} of it deleted since" if gone else ""
    stands = many(len(standing), "memory stands", "memories stand")
    return [*lines, f"Nothing new: {said}, captured before: {stands} in {one_line(captured.plan.scope)}{deleted}"]
