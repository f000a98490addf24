"""What holds for every test: it reaches no machine but this one, and none fails for being slow."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from zapomni.hosts import is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("zapomni", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("zapomni")  # how long an example takes says how busy the machine is

_connect = socket.socket.connect


def _connect_here(self: socket.socket, address: Any) -> None:
    if self.family in {socket.AF_INET, socket.AF_INET6} and not is_loopback(address[0]):
        raise AssertionError(f"a test asked {address}: no provider and no other machine may be reached")
    _connect(self, address)


@pytest.fixture(scope="session", autouse=True)
def on_this_machine() -> Iterator[None]:
    """Keep every test, and what runs in its process, on this machine, and none behind those that come after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _connect_here)
        patch.setattr(os, "nice", lambda _: 0, raising=False)  # work behind a server would hold back its whole process
        yield
