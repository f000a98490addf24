from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from zapomni.model import About, Actor, Filter, Kind, Link, LinkKind, Memory, Origin, Rejection, Trust, Verb
from zapomni.opening import open_memory
from zapomni.record import parse_scope
from zapomni.text.fold import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from zapomni.app import Zapomni


ACTOR = Actor(name="test", origin=Origin.USER)
DAY = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], Zapomni]]:
    """Open stores by name; all of them are closed at the end."""
    apps: list[Zapomni] = []

    def make(name: str) -> Zapomni:
        app = open_memory(tmp_path / name, **{"embedder.provider": "none"})
        apps.append(app)
        return app

    yield make
    for app in apps:
        app.close()


@pytest.fixture
def app(opened: Callable[[str], Zapomni]) -> Zapomni:
    return opened("store")


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """Write objects (or raw texts) as the lines of a file."""

    def write(*objects: Any, name: str = "in.jsonl", start: bytes = b"") -> Path:
        texts = [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in objects]
        path = tmp_path / name
        path.write_bytes(start + "\n".join(texts).encode())
        return path

    return write


@pytest.fixture
def everything() -> Callable[[Zapomni], list[Memory]]:
    def read(app: Zapomni) -> list[Memory]:
        with app.store_file.snapshot() as snapshot:
            return list(snapshot.memories())

    return read


@pytest.fixture
def alive() -> Callable[[Zapomni], set[str]]:
    """The contents of every undeleted memory of every scope."""

    def read(app: Zapomni) -> set[str]:
        where = Filter(trusts=tuple(Trust), expired=True)
        page = app.store.page(where, 1_000)
        assert page.next is None
        return {memory.content for memory in page.memories}

    return read


@pytest.fixture
def full() -> Callable[..., None]:
    """Fill a store with memories that use every field, links, deleted and superseded ones and a rejection."""

    def fill(app: Zapomni, count: int = 1_250) -> None:
        memories = [_memory(no) for no in range(count)]
        links = [Link(source=f"id{no:05}", target=f"id{no - 1:05}", kind=_link_kind(no)) for no in range(1, count, 7)]
        _put(app, memories, links)
        with app.store.write() as tx:
            for name, identity in (("project:app", "git.example/team/app"), ("project:сайт", None)):
                tx.register_scope(parse_scope(name), identity)
            scope, mark = parse_scope("user"), digest("never say this").hex()
            tx.reject(Rejection(scope=scope, digest=mark, reason="wrong", at=DAY, actor="cli"))

    return fill


def _put(app: Zapomni, memories: Sequence[Memory], links: Sequence[Link]) -> None:
    with app.store.write() as tx:
        for memory in memories:
            tx.put(None, memory, verb=Verb.CREATE, actor=ACTOR, at=memory.created_at)
        tx.link(links)


def _link_kind(no: int) -> LinkKind:
    return list(LinkKind)[no % len(LinkKind)]


def _memory(no: int) -> Memory:
    at = DAY + timedelta(minutes=no // 3, microseconds=no % 3)
    long = "длинный текст 🦉 " * 6_000
    return Memory(
        id=f"id{no:05}",
        kind=list(Kind)[no % 4],
        scope=parse_scope(("project:app", "project:сайт", "user")[no % 3]),
        content=long[:100_000] if no == 17 else f'memory {no}: Привет 👋🏽, a, "b"\r\n\u2028 line\ttab',
        title=f"title {no}" if no % 2 else "",
        description="when asked about it" if no % 5 == 0 else "",
        about=[None, *About][no % 5],
        path="profile.skills.python" if no % 6 == 0 else None,
        tags=("срочно", "a,b", "C++") if no % 2 else (),
        entities=("Ada", "Киев") if no % 4 == 1 else (),
        importance=(0.0, 1.0, 0.5, 0.123456789)[no % 4],
        pinned=no % 9 == 0,
        trust=list(Trust)[no % 5],
        origin=list(Origin)[no % 6],
        source=f"notes/{no % 11}.md" if no % 3 == 0 else None,
        position=no if no % 3 == 0 else None,
        key=f"key {no}" if no % 8 == 0 else None,
        observed_at=at - timedelta(days=400) if no % 2 else None,
        valid_from=at if no % 10 == 0 else None,
        valid_until=at + timedelta(days=no) if no % 10 == 0 and no else None,
        metadata={"nested": {"list": [1, 2.5, None, True], "ключ": "значение"}} if no % 4 == 2 else {},
        created_at=at,
        updated_at=at + timedelta(hours=no % 4),
        accessed_at=at + timedelta(days=1) if no % 3 == 1 else None,
        access_count=no % 3,
        deleted_at=at + timedelta(days=2) if no % 13 == 12 else None,
        version=1 + no % 3,
    )
