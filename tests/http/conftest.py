"""A memory of the test's own behind the whole HTTP server, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.http.web import Web

from zapomni.app import Zapomni
from zapomni.config import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Zapomni]:
    """A memory without a place, as a server over HTTP opens it; without vectors and without a language model."""
    with Zapomni(load({"home": tmp_path / "data", "embedder.provider": "none"}, environ={}, cwd=tmp_path)) as app:
        yield app


@pytest.fixture
def web(app: Zapomni) -> Web:
    """The server over it."""
    return Web(app)
