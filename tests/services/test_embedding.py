from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.servers import environment

import zapomni
from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.embed.scripted import ScriptedEmbedder
from zapomni.errors import EmbedderError
from zapomni.services.embedding import BATCH, ELSEWHERE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from zapomni.embed.base import Task
    from zapomni.model import Vector


class Choosy(ScriptedEmbedder):
    """Refuses every text that holds POISON, or everything while it is away."""

    away = False

    def embed(self, texts: Sequence[str], task: Task) -> list[Vector | EmbedderError]:
        if self.away:
            raise EmbedderError("the provider is away")
        answers = super().embed(texts, task)
        return [
            EmbedderError("refused") if "POISON" in text else answer
            for text, answer in zip(texts, answers, strict=True)
        ]


@pytest.fixture
def choosy() -> Choosy:
    return Choosy()


@pytest.fixture
def app(tmp_path: Path, choosy: Choosy) -> Iterator[Zapomni]:
    with Zapomni(load({"home": tmp_path / "data"}), embedder=choosy) as app:
        yield app


@pytest.mark.promise("embed.guarded")
def test_a_batch_full_of_refused_texts_keeps_no_other_memory_from_being_tried(app: Zapomni) -> None:
    for no in range(BATCH + 2):
        app.remember(f"POISON {no}")
    good = app.remember("The kiln fires at 1040").id
    came = app.embedding.drain()
    assert (came.done, len(came.failures), came.left) == (1, BATCH + 2, BATCH + 2)
    assert good not in {failure.id for failure in came.failures}
    later = app.remember("The kiln door sticks").id
    again = app.embedding.drain(retry=True)
    assert (again.done, len(again.failures), again.left) == (1, BATCH + 2, BATCH + 2)
    assert later in {hit.memory.id for hit in app.recall("kiln door", mode="semantic").hits}


@pytest.mark.promise("embed.heals")
def test_a_round_that_gets_nowhere_tells_what_is_left_and_why(app: Zapomni, choosy: Choosy) -> None:
    app.remember("The kiln fires at 1040")
    choosy.away = True
    came = app.embedding.drain()  # before the first vector of all
    assert (came.done, came.left, came.reason) == (0, 1, "the provider is away")
    choosy.away = False
    app.embedding.drain()
    app.remember("The kiln door sticks")
    with app.store.worker_lock("embed") as mine:
        assert mine
        came = app.embedding.drain()
    assert (came.done, came.left, came.reason) == (0, 1, ELSEWHERE)


def test_the_work_done_for_a_server_ends_with_the_pipe_that_the_server_holds(tmp_path: Path) -> None:
    home = tmp_path / "data"
    with zapomni.open(home, **{"embedder.provider": "none"}) as memory:
        memory.remember("The kiln fires at 1040")
    command = [sys.executable, "-m", "zapomni", "reembed", "--for-parent", "--json"]
    env = environment(
        tmp_path,
        ZAPOMNI_EMBEDDER_PROVIDER="openai",
        ZAPOMNI_EMBEDDER_BASE_URL="http://192.0.2.1",  # nobody is there
        ZAPOMNI_EMBEDDER_TIMEOUT_S="600",
    )
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
