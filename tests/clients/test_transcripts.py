"""What real clients wrote in the runs of `test_clients.py`, trimmed: read on every run, also where no client is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zapomni.model.session import Event, Moment
from zapomni.services.sessions.plan import turns_of
from zapomni.surfaces.dialects import read_event
from zapomni.text.cues import findings

HERE = Path(__file__).parent / "transcripts"
DECIDED = {
    "claude-code": "We decided to keep the session cookies of the shop for thirty days.",
    "codex": "We agreed to name the branches of the shop by their ticket.",
    "gemini": "We agreed to write the changelog of the shop by hand.",
    "opencode": "We agreed to paint the shop blue in the spring of this year.",
}


@pytest.mark.promise("capture.what")
@pytest.mark.parametrize("client", DECIDED)
def test_of_a_real_session_what_was_decided_is_found_and_nothing_else(client: str) -> None:
    event = Event(client, Moment.STOP, session="s", transcript=str(HERE / f"{client}.jsonl"))
    if client == "opencode":
        event = read_event(client, json.loads((HERE / "opencode.json").read_text(encoding="utf-8")))
    turns, reason = turns_of(event, None)
    assert reason is None
    found = [one.text for turn in turns for one in findings(turn.text, by_person=turn.role == "user")]
    assert found == [DECIDED[client]]
    assert not any("never deploy on Friday" in turn.text for turn in turns), "what was injected is nobody's own words"
