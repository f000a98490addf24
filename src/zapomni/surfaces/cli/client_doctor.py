"""`zapomni doctor --clients`: each client of this machine, wired or not, and the proof that its hooks work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.agents.base import Reach
from zapomni.agents.wiring import run_once
from zapomni.surfaces.cli.lines import many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.surfaces.cli.session import Session
    from zapomni.surfaces.client_health import Health


def report_clients(session: Session) -> bool:
    """Look at every client that is here or holds our hooks, answer, and return whether all is well."""
    from zapomni.services.sessions.spool import waiting
    from zapomni.surfaces.cli.setup import looks_here
    from zapomni.surfaces.client_health import health

    config = session.config()
    rows = [health(look, launch, machine) for look, launch, machine in looks_here(config)]
    shown = [row for row in rows if row.look.installed or row.wired]
    spooled = len(waiting(config.home))
    session.answer(_shape(shown, spooled), _lines(shown, spooled))
    return all(row.ok for row in shown)


def _shape(rows: Sequence[Health], spooled: int) -> dict[str, Any]:
    return {
        "ok": all(row.ok for row in rows),
        "spooled": spooled,
        "clients": [
            {
                "client": row.look.client.name,
                "installed": row.look.installed,
                "wired": row.wired,
                "plugin": row.look.plugin or None,
                "reachable": row.reachable,
                "trusted": row.trusted,
                "captured": row.proof.captured if row.proof else None,
                "recalled": row.proof.recalled if row.proof else None,
                "ms": round(row.proof.ms) if row.proof else None,
                "problem": row.proof.problem if row.proof else row.look.problem,
            }
            for row in rows
        ],
    }


def _lines(rows: Sequence[Health], spooled: int) -> list[str]:
    lines = [_line(row) for row in rows] or ["No client that zapomni knows is on this machine"]
    if spooled:
        waits, them = ("waits", "it") if spooled == 1 else ("wait", "them")
        lines.append(f"{many(spooled, 'event')} {waits} in the spool; the next hook or server takes {them}")
    return lines


def _line(row: Health) -> str:
    name = f"{row.look.client.name:<15}"
    if row.look.twice:
        plugin = f"the plugin {row.look.plugin} and what setup wrote"
        return f"{name}every hook runs twice, by {plugin}: {run_once(row.look.client, Reach.USER)}"
    if not row.wired and row.look.plugin:
        return f"{name}wired by the plugin {row.look.plugin}"
    if not row.wired and row.look.problem:
        return f"{name}not wired: {row.look.problem}. Mend the file, then run `zapomni setup {row.look.client.name}`"
    if not row.wired:
        return f"{name}not wired: `zapomni setup {row.look.client.name}` does it"
    served = {None: "", True: "server answers, ", False: "server does not answer, "}[row.reachable]
    if row.proof is None:
        return f"{name}{served}wired"
    if row.proof.problem:
        return f"{name}the hook failed: {row.proof.problem}"
    kept = "captures" if row.proof.captured else "captures nothing"
    told = {None: "cannot be told anything", True: "recalls", False: "recalls nothing"}[row.proof.recalled]
    return f"{name}{served}{kept}, {told} ({row.proof.ms:.0f} ms for two hooks){_trust(row)}"


def _trust(row: Health) -> str:
    if row.trusted is False:
        return "; not trusted yet: open /hooks in Codex"
    if row.trusted is None and row.look.client.name == "codex":
        return "; whether Codex trusts the hooks could not be asked: open /hooks there"
    return ""
