"""T43: vectors that are NaN, zero, too few, of another width or out of order, and answers that hold none.

An import and `reembed` stand for INDEX. Out of reach now: indexed notes.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from tests.cli import conftest as cli
from tests.embed import conftest as embed_conftest
from tests.trials import drivers_b as drive

import zapomni

stub_process, stub = drive.stub_process, drive.stub
home, zap, no_waiting = cli.home, cli.zap, embed_conftest.no_waiting
SUBJECTS = ("otters", "glaciers", "harbours", "lanterns", "turnips", "beehives", "violins", "falcons")
POISONED = 4
NOTES = [f"All about {word}: {word * 2}{' POISON' if no == POISONED else ''}" for no, word in enumerate(SUBJECTS)]
STATUS_500 = {"status": 500, "body": {"error": {"message": "cannot encode NaN"}}}
STATUS_404 = {"status": 404, "body": {"error": {"message": "model is not pulled"}}}
STILL_LOADING = {"status": 200, "body": {"embeddings": [], "data": []}}
REJECTS = {"reject_if": "POISON"}
SCRIPTS = ["nan", "zero", "short", "wrongdim", "shuffled", STATUS_500, STATUS_404, STILL_LOADING, REJECTS]
EVERY = set(range(len(NOTES)))
GOOD = {
    "shuffled": {"openai": EVERY},  # the index field puts it right; Ollama names no places and is not shuffled
    "short": {"openai": EVERY - {7}, "ollama": EVERY},  # no places: each half is asked for again until all is clear
    "REJECTS": {"openai": EVERY - {POISONED}, "ollama": EVERY - {POISONED}},
}


def no_constant(name: str) -> float:
    raise AssertionError(f"{name} is not JSON")


def strict_json(text: str) -> Any:
    return json.loads(text, parse_constant=no_constant)


@pytest.fixture
def ask(zap: Any) -> Any:
    def call(*words: str) -> tuple[int, Any]:
        result = zap(*words[:1], "--json", *words[1:])
        return result.status, strict_json(result.out)

    return call


def found_by_meaning() -> set[int]:
    """The notes that come first for their own text, in vectors alone; every score is a number."""
    first = set()
    with zapomni.open() as memory:
        for no, note in enumerate(NOTES):
            hits = memory.recall(note, mode="semantic").hits
            assert all(math.isfinite(hit.score) for hit in hits)
            first |= {no} if [hit.memory.content for hit in hits[:1]] == [note] else set()
    return first


@pytest.mark.promise("embed.guarded", "embed.heals")
@pytest.mark.parametrize("kind", ["openai", "ollama"])
@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_no_bad_vector_counts_and_the_next_ordinary_run_makes_up_for_it(
    ask: Any, stub: Any, home: Any, monkeypatch: pytest.MonkeyPatch, script: Any, kind: str
) -> None:
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", kind)
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_BASE_URL", stub.url)
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_MODEL", "stub-a-64")
    ask("store", "A first memory, whose vector tells the width")
    assert ask("reembed")[1]["done"] == 1
    path = home / "notes.jsonl"
    path.write_text("".join(json.dumps({"content": text}) + "\n" for text in NOTES), encoding="utf-8")
    assert ask("import", str(path))[1]["imported"] == len(NOTES)

    # An answer that lacks one text cannot be made of a single text, so that one comes once.
    stub.script(**({"embed": [script]} if script == "short" else {"embed_default": script}))
    status, came = ask("reembed")
    stub.script()
    assert came["done"] + came["left"] == len(NOTES)
    assert (status == 0) == (came["left"] == 0)
    waiting = ask("stats")[1]["meaning"]["waiting"]
    assert waiting == came["left"]
    if waiting:
        assert came.get("reason") or came["failures"]
    name = "REJECTS" if script == REJECTS else str(script)
    good = found_by_meaning()
    assert good == GOOD.get(name, {}).get(kind, set() if waiting else EVERY)
    assert len(good) == came["done"]
    for mode in ("lexical", "hybrid"):
        status, answer = ask("recall", "--mode", mode, NOTES[POISONED])
        assert (status, answer["mode"]) == (0, mode)
        assert answer["memories"][0]["content"] == NOTES[POISONED]

    status, came = ask("reembed", "--retry")
    assert (status, came["left"], came["done"]) == (0, 0, waiting)
    assert found_by_meaning() == EVERY
