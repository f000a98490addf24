from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]
    Stored = Callable[..., str]


def test_an_export_imported_elsewhere_is_the_same(zap: Zap, stored: Stored, home: Path) -> None:
    stored("По пятницам релизы запрещены.", "--tag", "a,b", "--meta", "k=v", "--scope", "team:web")
    gone = stored("Gone.")
    zap("delete", gone)
    first = home / "first.jsonl"
    result = zap("export", str(first), "--json")
    assert result.status == 0
    assert result.json["file"] == str(first)
    assert result.json["memories"] >= 1
    other = ["--home", str(home / "other")]
    result = zap(*other, "import", str(first), "--json")
    assert result.status == 0
    assert result.json["bad"] == []
    second = home / "second.jsonl"
    zap(*other, "export", str(second))
    assert second.read_text().splitlines()[1:] == first.read_text().splitlines()[1:]


def test_an_export_goes_through_pipes(zap: Zap, stored: Stored, home: Path) -> None:
    memory_id = stored("Через трубу.")
    result = zap("export")
    assert result.status == 0
    assert all(json.loads(line) for line in result.out.splitlines())
    assert "Через трубу." in result.out
    assert "written as zapomni" in result.err
    assert zap("--home", str(home / "other"), "import", "-", stdin=result.out).status == 0
    assert zap("--home", str(home / "other"), "show", memory_id).status == 0


def test_bad_lines_are_named_and_good_ones_kept(zap: Zap) -> None:
    lines = ['{"content": "Good one."}', '{"content": ""}', "{broken", '{"content": "Good two."}']
    result = zap("import", "-", stdin="\n".join(lines))
    assert result.status == 2
    assert "line 2" in result.err
    assert "line 3" in result.err
    assert zap("list", "--json").json["total"] == 2


def test_a_dry_run_says_the_same_and_changes_nothing(zap: Zap) -> None:
    lines = '{"content": "One."}\n{"content": "One."}\n{"content": "Two."}\n'
    dry = zap("import", "-", "--dry-run", "--json", stdin=lines).json
    assert zap("list", "--json").json["total"] == 0
    real = zap("import", "-", "--json", stdin=lines).json
    for document in (dry, real):
        document.pop("run")
        document.pop("dry_run")
    assert dry == real


def test_an_import_can_be_taken_back_as_a_whole(zap: Zap) -> None:
    run = zap("import", "-", "--json", stdin='{"content": "One."}\n{"content": "Two."}\n').json["run"]
    assert run in zap("history", "--runs").out
    undone = zap("undo", "--run", run, "--json").json
    assert len(undone["restored"]) == 2
    assert zap("list", "--json").json["total"] == 0


def test_a_backup_is_restored_into_an_empty_store(zap: Zap, stored: Stored, home: Path) -> None:
    memory_id = stored("Acknowledged.")
    file = home / "copy.db"
    result = zap("backup", str(file), "--json")
    assert (result.status, result.json["memories"]) == (0, 1)
    assert zap("backup", str(file)).status == 6
    assert zap("backup", str(file), "--force").status == 0
    other = ["--home", str(home / "other")]
    assert zap(*other, "restore", str(file), "--verify", "--json").json["restored"] is False
    assert zap(*other, "list", "--json").json["total"] == 0
    assert zap(*other, "restore", str(file)).status == 0
    assert zap(*other, "show", memory_id).status == 0


def test_a_store_in_use_is_replaced_only_by_force_and_kept(zap: Zap, stored: Stored, home: Path) -> None:
    stored("Old.")
    zap("backup", str(home / "copy.db"))
    newer = stored("Newer.")
    assert zap("restore", str(home / "copy.db")).status == 6
    assert zap("show", newer).status == 0
    result = zap("restore", str(home / "copy.db"), "--force", "--json")
    assert result.status == 0
    assert result.json["before"]
    assert zap("show", newer).status == 3


def test_what_is_no_backup_is_refused(zap: Zap, stored: Stored, home: Path) -> None:
    memory_id = stored("Stays.")
    (home / "not.db").write_text("not a store")
    result = zap("restore", str(home / "not.db"), "--force")
    assert result.status == 2
    assert "is not a backup" in result.err
    assert "damaged" not in result.err
    assert zap("show", memory_id).status == 0


def test_a_healthy_store_passes_its_check(zap: Zap, stored: Stored) -> None:
    stored("Healthy.")
    result = zap("doctor", "--json")
    assert result.status == 0
    assert result.json["ok"] is True
    assert all(check["ok"] for check in result.json["checks"])
    assert zap("doctor", "--repair").status == 0


def test_a_store_that_is_no_store_is_named_and_left_alone(zap: Zap, home: Path) -> None:
    (home / "store").mkdir()
    (home / "store" / "memories.db").write_text("not a store at all, but long enough to be looked at" * 100)
    result = zap("list")
    assert result.status == 8
    assert "memories.db" in result.err
    assert zap("doctor").status == 8


@pytest.mark.parametrize("mode", ["merge", "skip"])
def test_the_same_file_again_adds_nothing(zap: Zap, stored: Stored, mode: str) -> None:
    stored("One.")
    text = zap("export").out
    again = zap("import", "-", "--mode", mode, "--json", stdin=text).json
    assert (again["imported"], again["updated"]) == (0, 0)
    assert zap("list", "--json").json["total"] == 1
