"""T47, what it says of ingesting: refusals, empty replies and a provider that is away, then one that behaves.

There is no MCP tool that ingests; the command stands for both.
"""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from tests import stub as providers
from tests.llm import conftest as llm_conftest
from tests.trials.conftest import Desk

if TYPE_CHECKING:
    from pathlib import Path

stub_process, stub, no_waiting = providers.stub_process, providers.stub, llm_conftest.no_waiting

NOTE = "The bakery on Arkona street opens at seven. Пекарня на улице Аркона открывается в семь."
GOOD = {"facts": [{"content": "The bakery on Arkona street opens at seven.", "quote": "opens at seven"}]}
REPLIES = (
    {"text": ""},
    {"text": None},
    {"text": "I'm sorry, I can't help with that."},
    {"text": "Извините, я не могу помочь с этим запросом."},
    {"text": "Please paste the conversation you want summarised."},
    {"status": 500},
    {"hang": 30},
    "away",
)


def desk(home: Path, url: str) -> Desk:
    settings = {"MODEL": "openai:stub-64", "BASE_URL": f"{url}/v1", "API_KEY": "sk-trial", "TIMEOUT_S": "1"}
    return Desk(
        home, ZAPOMNI_EMBEDDER_PROVIDER="none", **{f"ZAPOMNI_LLM_{name}": value for name, value in settings.items()}
    )


def contents(desk: Desk) -> list[str]:
    return [memory["content"] for memory in desk.run("list", "--json").json["memories"]]


@pytest.mark.promise("ingest.waits")
@pytest.mark.parametrize("reply", REPLIES, ids=repr)
def test_a_note_outlives_every_reply_and_is_read_when_the_model_is_back(
    tmp_path: Path, stub: providers.Stub, reply: Any
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        closed = f"http://127.0.0.1:{probe.getsockname()[1]}"
    stub.script(chat_default=reply if reply != "away" else "ok")
    failing = desk(tmp_path, closed if reply == "away" else stub.url)
    came = failing.run("ingest", NOTE, "--source", "notes", "--json")
    assert came.status == 7
    assert came.json["waiting"] == 1
    assert came.json["reason"]
    assert contents(failing) == [NOTE]
    for word in ("sorry", "не могу", "paste"):
        assert failing.run("recall", word, "--mode", "lexical", "--json").json["memories"] == []
    stub.script(chat_default={"text": json.dumps(GOOD)})
    mended = desk(tmp_path, stub.url)
    assert mended.run("ingest", "--enrich", "--json").json["waiting"] == 0
    assert contents(mended) == ["The bakery on Arkona street opens at seven."]
