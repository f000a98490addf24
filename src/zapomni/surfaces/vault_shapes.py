"""The JSON shapes of memory folders; see `shapes` for what every shape keeps to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.surfaces.review_shapes import proposal_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zapomni.services.vault.budget import Budget, Size
    from zapomni.services.vault.compact import Compaction
    from zapomni.services.vault.plan import Plan, Written
    from zapomni.services.vault.report import Flaw, Report, Target
    from zapomni.text.growth import Growth
    from zapomni.text.index_page import Line


def reports_shape(reports: Sequence[Report]) -> dict[str, Any]:
    """Return the state of some folders."""
    return {"reports": [report_shape(report) for report in reports]}


def report_shape(report: Report) -> dict[str, Any]:
    """Return the state of one folder; days are local, `latest` is null when it may take more than a hundred years."""
    return {
        "root": report.root,
        "records": report.bodies.number,
        "index": _size("lines", report.index),
        "leaves": _size("lines", report.leaves),
        "bodies": _size("files", report.bodies),
        "ratio": round(report.ratio, 1),
        "bytes_a_line": round(report.line_bytes, 1),
        "budgets": [_budget(one) for one in report.budgets],
        "not_loaded": [_line(line) for line in report.cut],
        "counts": [{"day": count.day.isoformat(), "records": count.records} for count in report.counts],
        "growth": _growth(report.lately) if report.lately else None,
        "targets": [_target(one) for one in report.targets],
        "long_lines": [_line(line) for line in report.long_lines],
        "weak": _flaws(report.weak),
        "dead_links": _flaws(report.dead),
        "stale": _flaws(report.stale),
        "headers": _flaws(report.headers),
        "parents": [{"path": path, "links": links} for path, links in report.parents],
        "duplicates": [list(group) for group in report.duplicates],
        "not_in_index": list(report.unlisted),
        "no_file": _flaws(report.missing),
        "doubled": _flaws(report.doubled),
        "skipped": _flaws(report.skipped),
    }


def plans_shape(plans: Sequence[Plan]) -> dict[str, Any]:
    """Return what a cut would make of some indexes."""
    return {"plans": [_plan(plan) for plan in plans]}


def written_shape(written: Written) -> dict[str, Any]:
    """Return which pages of an index were written, and the run that holds what stood there before."""
    return {
        "root": written.root,
        "run": written.run,
        "written": list(written.pages),
        "removed": list(written.removed),
        "kept": list(written.kept),
    }


def compactions_shape(found: Sequence[Compaction]) -> dict[str, Any]:
    """Return what could be shortened and merged in each folder, and the proposals that were filed now."""
    return {"compactions": [_compaction(one) for one in found]}


def _compaction(found: Compaction) -> dict[str, Any]:
    return {
        "source": found.source.id,
        "root": found.source.root,
        "shorten": [
            {
                "id": one.memory.id,
                "path": one.path,
                "length": one.length,
                "description": one.description,
                "moved": list(one.moved),
            }
            for one in found.shorten
        ],
        "merge": [{"id": one.memory.id, "keep": one.keep, "drop": list(one.drop)} for one in found.merge],
        "spared": list(found.spared),
        "proposals": [proposal_shape(one) for one in found.proposals],
    }


def _size(what: str, size: Size) -> dict[str, int]:
    return {what: size.number, "bytes": size.bytes, "tokens": size.tokens}


def _budget(budget: Budget) -> dict[str, Any]:
    return {"what": budget.what, "used": budget.used, "most": budget.most, "share": round(budget.share, 3)}


def _line(line: Line) -> dict[str, Any]:
    text = line.words
    return {"line": line.number, "length": len(text), "text": text}


def _growth(lately: Growth) -> dict[str, Any]:
    return {
        "since": lately.since.day.isoformat(),
        "until": lately.until.day.isoformat(),
        "came": lately.came,
        "a_day": round(lately.a_day, 3),
        "spread": round(lately.spread, 2),
    }


def _target(target: Target) -> dict[str, Any]:
    coming = target.forecast
    return {
        "what": target.what,
        "number": target.number,
        "reached": target.is_reached,
        "day": coming.day.isoformat() if coming else None,
        "earliest": coming.earliest.isoformat() if coming else None,
        "latest": coming.latest.isoformat() if coming and coming.latest else None,
    }


def _flaws(flaws: Iterable[Flaw]) -> list[dict[str, Any]]:
    return [{"path": one.path, "line": one.line or None, "text": one.words, "why": one.why} for one in flaws]


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "root": plan.root,
        "before": _size("lines", plan.was),
        "after": _size("lines", plan.size),
        "saved_bytes": plan.saved,
        "core": plan.core,
        "leaves": [
            {"path": one.path, "title": one.title, "notes": one.notes, "bytes": one.bytes} for one in plan.leaves
        ],
        "writes": list(plan.changed),
    }
