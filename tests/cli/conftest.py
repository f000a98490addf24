from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from zapomni.surfaces.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Stream(io.TextIOWrapper):
    """A standard stream in memory; `tty` makes it a terminal."""

    def __init__(self, data: bytes = b"", *, tty: bool = False) -> None:
        super().__init__(io.BytesIO(data), encoding="ascii", errors="strict")
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty

    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with nothing set up, in a folder that is no repository."""
    for name in (
        "ZAPOMNI_CONFIG",
        "ZAPOMNI_SCOPE",
        "NO_COLOR",
        "CLAUDE_PROJECT_DIR",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ZAPOMNI_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "none")
    monkeypatch.setenv("COLUMNS", "80")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path


@pytest.fixture
def zap(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run one command line as a process would: bytes in, UTF-8 out, the status."""

    def call(*words: str, stdin: str | bytes | None = None, tty: bool = False) -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin or b""
        out, err = Stream(tty=tty), Stream(tty=tty)
        monkeypatch.setattr(sys, "stdin", Stream(data, tty=stdin is None))
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        try:
            status = run(words)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        return Result(status, out.text(), err.text())

    return call


@pytest.fixture
def stored(zap: Callable[..., Result]) -> Callable[..., str]:
    """Store a text and return its id."""

    def call(text: str, *options: str) -> str:
        result = zap("store", "--json", *options, "--", text)
        assert result.status == 0, result
        return str(result.json["id"])

    return call
