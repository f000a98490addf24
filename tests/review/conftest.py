from __future__ import annotations

import pytest

from zapomni.app import Zapomni
from zapomni.config import load


@pytest.fixture
def opened(tmp_path):
    """Open the one store of a test, as any process would."""
    apps = []

    def make(*, folder=None, **options):
        settings = options.pop("settings", {})
        values = {"home": str(tmp_path / "home"), "embedder.provider": "none", **settings}
        apps.append(Zapomni(load(values, environ={}, cwd=tmp_path), folder=folder, **options))
        return apps[-1]

    yield make
    for app in apps:
        app.close()


@pytest.fixture
def app(opened):
    return opened()
