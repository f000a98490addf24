from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zapomni.agents.base import Launch
from zapomni.surfaces.client_health import answers_hello, prove

if TYPE_CHECKING:
    from zapomni.app import Zapomni

COMMAND = str(Path(sys.executable).with_name("zapomni"))


def environment(home: Path) -> dict[str, str]:
    ambient = os.environ  # noqa: TID251 - a hook starts from the environment of its test
    return {**ambient, "HOME": str(home)}


@pytest.mark.promise("doctor.clients")
@pytest.mark.parametrize("client", ["claude-code", "cursor", "cline", "kiro", "windsurf"])
def test_the_doctor_proves_that_a_client_is_captured_and_told(app: Zapomni, home: Path, client: str) -> None:
    app.remember("We never deploy on Friday.")
    launch = Launch(client=client, command=COMMAND, environment={"ZAPOMNI_HOME": str(app.config.home)})
    proof = prove(launch, environment(home))
    assert (proof.captured, proof.recalled, proof.problem) == (True, None if client == "windsurf" else True, "")
    assert proof.ms > 0
    assert app.list(scopes=("all",)).total == 1, "the user's own memory was not touched"


@pytest.mark.promise("doctor.clients")
def test_a_hook_that_is_gone_is_named(home: Path) -> None:
    launch = Launch(client="codex", command=str(home / "gone"))
    proof = prove(launch, environment(home))
    assert not proof.captured
    assert "gone" in proof.problem
    assert not answers_hello(launch, environment(home))


@pytest.mark.promise("doctor.clients")
def test_a_server_that_shakes_hands_is_reachable(home: Path) -> None:
    assert answers_hello(Launch(client="codex", command=COMMAND), environment(home))
