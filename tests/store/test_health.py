from __future__ import annotations

import stat

import apsw
import pytest

from zapomni.errors import Unavailable
from zapomni.model import Filter
from zapomni.store.sqlite import backup, open_sqlite


def test_a_whole_store_passes_every_check(bench, vectors):
    bench.add(*(bench.memory(f"m{at}", tags=("t",)) for at in range(20)), bench.memory("d", deleted_at=bench.now))
    vectors.embed(vectors.space())
    checks = bench.store.check()
    assert [check.name for check in checks] == [
        "file",
        "permissions",
        "integrity",
        "references",
        "words",
        "tags",
        "vectors",
        "jobs",
        "documents",
    ]
    assert all(check.ok for check in checks)


@pytest.mark.promise("store.private")
def test_a_store_that_others_may_read_is_told(bench):
    bench.path.chmod(0o644)
    (permissions,) = [check for check in bench.store.check() if check.name == "permissions"]
    assert (permissions.ok, "chmod 600" in permissions.remedy) == (False, True)


HARM = {
    "words": "DELETE FROM words WHERE rowid = 3",
    "words of nobody": "INSERT INTO words (rowid, title, body, exact) VALUES (999, 'x', 'pebble', '')",
    "tags": "DELETE FROM tags",
    "vectors": "DELETE FROM pieces WHERE memory_no = 2",
    "vectors lost": "DELETE FROM vectors WHERE no = 1",
    "jobs": "DELETE FROM embed_jobs",
    "jobs of the deleted": "INSERT INTO embed_jobs (space_no, memory_no) VALUES (1, 11)",
    "pieces of nobody": "UPDATE pieces SET memory_no = 777 WHERE seq = 2",
}


@pytest.mark.promise("doctor.repairs")
@pytest.mark.parametrize("harm", HARM)
def test_harm_to_what_is_derived_is_told_and_mended(bench, vectors, harm):
    bench.add(
        *(bench.memory(f"m{at}", "pebble", tags=("t",)) for at in range(10)), bench.memory("d", deleted_at=bench.now)
    )
    vectors.embed(vectors.space())
    bench.add(bench.memory("waits", "pebble", tags=("t",)))
    db = bench.store._db.mine()
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute(HARM[harm])
    db.execute("PRAGMA foreign_keys = ON")
    assert bench.unwell() != []
    before = [bench.get(name) for name in ("m1", "d", "waits")]
    bench.store.rebuild()
    assert bench.unwell() == []
    assert [bench.get(name) for name in ("m1", "d", "waits")] == before
    assert len(bench.found("pebble")) == 11
    assert len(bench.ids(Filter(tags=("T",)))) == 11
    vectors.embed(bench.store.spaces()[0])
    assert len(bench.store.nearest(bench.store.spaces()[0], vectors.one(), Filter(), 50)) == 11


@pytest.mark.promise("backup.whole")
def test_a_backup_holds_everything_committed_and_opens_as_a_store(bench, tmp_path):
    bench.add(*(bench.memory(f"m{at}", "pebble") for at in range(50)))
    target = tmp_path / "copy.db"
    bench.store.backup(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    copied = open_sqlite(target)
    assert copied.page(Filter(), 100).memories == bench.store.page(Filter(), 100).memories
    assert [check.name for check in copied.check() if not check.ok] == []
    copied.close()
    assert [path.name for path in tmp_path.glob(".copy*")] == []


@pytest.mark.promise("backup.whole")
def test_a_backup_replaces_an_older_one_only_when_whole(bench, tmp_path, monkeypatch):
    target = tmp_path / "copy.db"
    target.write_bytes(b"older")
    monkeypatch.setattr(backup, "value_of", lambda *_: "damaged")
    with pytest.raises(Unavailable, match="not whole"):
        bench.store.backup(target)
    monkeypatch.undo()

    def fail(*_):
        raise apsw.FullError("no room")

    monkeypatch.setattr(backup, "_fill", fail)
    with pytest.raises(Unavailable, match="no room left"):
        bench.store.backup(target)
    monkeypatch.undo()
    with pytest.raises(Unavailable, match="cannot be written"):
        bench.store.backup(tmp_path / "absent" / "copy.db")
    assert target.read_bytes() == b"older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "home"]
    bench.store.backup(target)
    assert target.read_bytes() != b"older"
