"""The routes of documents at work: what is attached, bringing it up to date, and asking it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model import Mode
from zapomni.services.parse import parse_choice
from zapomni.surfaces.http.answers import Answer, answered
from zapomni.surfaces.shapes import PREVIEW, findings_shape, scans_shape, sources_shape, statuses_shape

if TYPE_CHECKING:
    from zapomni.app import Zapomni
    from zapomni.surfaces.http.asked import Asked


def list_sources(app: Zapomni, asked: Asked) -> Answer:
    """Return what is attached."""
    return answered(sources_shape(app.documents.sources(scopes=asked.scopes())))


def status(app: Zapomni, asked: Asked) -> Answer:
    """Say of one source, or of each, what stands of it in the index."""
    return answered(statuses_shape(app.documents.status(asked.text("source") or None, scopes=asked.scopes())))


def scan(app: Zapomni, asked: Asked) -> Answer:
    """Bring what is known of sources of every mode to what the files say now."""
    named, scopes = asked.text("source") or None, asked.scopes()
    accept_removals = asked.flag("accept_removals")
    scanned = app.documents.scan(named, scopes=scopes, accept_removals=accept_removals)
    scanned += app.vaults.scan(named, scopes=scopes, accept_removals=accept_removals)
    scanned += app.reading.scan(named, scopes=scopes, accept_removals=accept_removals)
    app.wake()
    return answered(scans_shape(scanned, app.documents.embedding.backlog().waiting))


def search(app: Zapomni, asked: Asked) -> Answer:
    """Return the places in documents that answer a question."""
    take = asked.take
    explain = asked.flag("explain")
    preview = None if asked.flag("full") else PREVIEW
    found = app.documents.search(
        take("q"),
        scopes=asked.scopes(),
        limit=take("limit"),
        mode=parse_choice("mode", take("mode"), Mode, Mode.HYBRID),
        strict=asked.flag("strict"),
        explain=explain,
        **asked.values,
    )
    return answered(findings_shape(found, explain=explain, preview=preview))
