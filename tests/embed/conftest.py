"""The stub provider, retries that do not wait, and how near two vectors are."""

from __future__ import annotations

import pytest
import stamina
from tests.stub import stub, stub_process

__all__ = ["stub", "stub_process"]  # fixtures that pytest finds by their names here


@pytest.fixture(autouse=True)
def no_waiting():
    with stamina.set_testing(True, attempts=10, cap=True):
        yield


def near(one, other):
    """The cosine of two vectors of length 1."""
    return sum(a * b for a, b in zip(one, other, strict=True))
