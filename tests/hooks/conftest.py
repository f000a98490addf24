from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.model import Actor, Origin
from zapomni.surfaces.hook import Call, answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ZAPOMNI_CONFIG", "ZAPOMNI_SCOPE", "ZAPOMNI_HOOK", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ZAPOMNI_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "none")
    (tmp_path / "work").mkdir()
    return tmp_path


@pytest.fixture
def app(home: Path) -> Any:
    """The memory of a person who works outside any repository."""
    with Zapomni(load(), folder=home / "work", actor=Actor(name="cli", origin=Origin.USER)) as memory:
        yield memory


@pytest.fixture
def fire(home: Path) -> Callable[..., Any]:
    """Fire one event of a client in this process and return its answer, read from JSON where it is that."""

    def call(client: str, event: str, session: str = "s1", **fields: Any) -> Any:
        payload = {"hook_event_name": event, "session_id": session, "cwd": str(home / "work"), **fields}
        text = answer(Call(client), json.dumps(payload).encode())
        return text if client in {"kiro", "windsurf"} else json.loads(text)

    return call
