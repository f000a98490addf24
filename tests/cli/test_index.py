"""The index of a mirrored folder: kept line by line, never beyond what a harness loads without a word, cut and mended."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.folders import INDEX, LOADED, held, note, write
from tests.shared import INTEGRATIONS

from zapomni.errors import StoreBusy
from zapomni.store.sqlite.mirrors import SqliteMirrorWrites

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Result

    Zap = Callable[..., Result]

FIXTURE = INTEGRATIONS / "fixtures" / "claude_memory_dir"
LINE = re.compile(r"- \[[^\[\]]+\]\([^()]+\.md\) — .+")
"""`- [Title](file.md) — hook` (integrations 2.4)."""


@pytest.fixture
def folder(home: Path, zap: Zap) -> Path:
    made = write(home / "memory", LOADED)
    assert zap("source", "add", str(made), "--mode", "mirror", "--scope", "agent:coder").status == 0
    return made


def scan(zap: Zap) -> Result:
    done = zap("source", "scan", "--scope", "all")
    assert done.status == 0, done
    return done


def keep(zap: Zap, text: str, *options: str) -> str:
    done = zap("store", "--json", "--scope", "agent:coder", *options, "--", text)
    assert done.status == 0, done
    return str(done.json["id"])


def index_of(folder: Path) -> str:
    return (folder / "MEMORY.md").read_bytes().decode()


@pytest.mark.promise("index.kept")
def test_attaching_a_folder_changes_no_byte_of_it(folder: Path, zap: Zap) -> None:
    scan(zap)
    assert held(folder) == {name: text.encode() for name, text in LOADED.items()}


@pytest.mark.promise("index.kept")
def test_the_line_of_a_memory_comes_changes_and_goes_with_it(folder: Path, zap: Zap) -> None:
    one = keep(zap, "Прод в двух регионах.", "--title", "Регионы прода", "--description", "где лежит прод")
    scan(zap)
    assert index_of(folder) == INDEX + "- [Регионы прода](регионы-прода.md) — где лежит прод\n"
    zap("update", one, "--scope", "agent:coder", "--description", "где лежит прод и сколько у него регионов")
    scan(zap)
    assert (
        index_of(folder) == INDEX + "- [Регионы прода](регионы-прода.md) — где лежит прод и сколько у него регионов\n"
    )
    zap("delete", one, "--scope", "agent:coder", "--yes")
    scan(zap)
    assert index_of(folder) == INDEX


@pytest.mark.promise("index.kept")
def test_a_hook_that_a_person_wrote_stays_when_the_memory_changes(folder: Path, zap: Zap) -> None:
    found = zap("list", "--json", "--scope", "agent:coder").json["memories"]
    tabs = next(one["id"] for one in found if one["title"] == "tabs-not-spaces")
    zap("update", tabs, "--scope", "agent:coder", "--description", "How are files of this repo indented?")
    scan(zap)
    assert "How are files" in (folder / "tabs-not-spaces.md").read_text()
    assert index_of(folder) == INDEX


@pytest.mark.promise("index.kept")
def test_a_line_that_a_person_took_out_stays_out(folder: Path, zap: Zap) -> None:
    one = keep(zap, "Prod has two regions.", "--title", "Regions", "--description", "where is prod")
    scan(zap)
    (folder / "MEMORY.md").write_text(INDEX)
    zap("update", one, "--scope", "agent:coder", "--description", "where does prod lie")
    scan(zap)
    assert "where does prod lie" in (folder / "regions.md").read_text()
    assert index_of(folder) == INDEX


@pytest.mark.promise("index.kept")
def test_a_line_leads_to_where_its_file_was_moved(folder: Path, zap: Zap) -> None:
    one = keep(zap, "Prod has two regions.", "--title", "Regions", "--description", "where is prod")
    scan(zap)
    zap("update", one, "--scope", "agent:coder", "--path", "infra")
    scan(zap)
    assert (folder / "infra/regions.md").exists()
    assert index_of(folder) == INDEX + "- [Regions](infra/regions.md) — where is prod\n"


@pytest.mark.promise("index.kept")
def test_an_index_that_is_no_text_is_left_alone_and_named(folder: Path, zap: Zap) -> None:
    (folder / "MEMORY.md").write_bytes(b"- [A](a.md) \xff\n")
    keep(zap, "Prod has two regions.", "--title", "Regions")
    assert "MEMORY.md is not UTF-8" in scan(zap).err
    assert (folder / "MEMORY.md").read_bytes() == b"- [A](a.md) \xff\n"
    assert (folder / "regions.md").exists()


@pytest.mark.promise("index.layout")
def test_a_folder_started_from_the_store_is_laid_out_as_claude_code_lays_it_out(home: Path, zap: Zap) -> None:
    keep(
        zap,
        "Indent with tabs.",
        "--title",
        "tabs-not-spaces",
        "--description",
        "Indent with tabs",
        "--about",
        "feedback",
    )
    keep(zap, "Ирина подписывает релизы.", "--title", "Кто подписывает", "--description", "кто подписывает релизы")
    folder = write(home / "new", {})
    folder.mkdir()
    assert zap("source", "add", str(folder), "--mode", "mirror", "--scope", "agent:coder").status == 0
    lines = index_of(folder).splitlines()
    assert lines == [
        "- [Tabs not spaces](tabs-not-spaces.md) — Indent with tabs",
        "- [Кто подписывает](кто-подписывает.md) — кто подписывает релизы",
    ]
    text = (folder / "tabs-not-spaces.md").read_text()
    assert text.startswith("---\nname: tabs-not-spaces\ndescription: Indent with tabs\nmetadata:\n  type: feedback\n")
    assert text.endswith("---\n\nIndent with tabs.\n")
    report = zap("vault", "report", str(folder), "--json").json["reports"][0]
    assert report["not_loaded"] == []
    assert {one["what"]: one["most"] for one in report["budgets"]} == {"lines": 200, "bytes": 25_000}


@pytest.mark.promise("index.layout")
@pytest.mark.skipif(
    not FIXTURE.exists(), reason="the folder that Claude Code wrote is a paper of the project, not shipped"
)
def test_the_lines_are_those_of_a_folder_that_claude_code_wrote(home: Path, zap: Zap) -> None:
    real = {file.name: file.read_text() for file in FIXTURE.iterdir()}
    assert real == LOADED
    assert all(LINE.fullmatch(line) for line in real["MEMORY.md"].splitlines())
    folder = write(home / "real", {name: text for name, text in real.items() if name != "MEMORY.md"})
    zap("source", "add", str(folder), "--mode", "mirror", "--scope", "agent:coder")
    keep(zap, "A new fact.", "--title", "New fact", "--description", "what is new")
    scan(zap)
    assert sorted(index_of(folder).splitlines()) == [
        "- [New fact](new-fact.md) — what is new",
        "- [Release owner](release-owner.md) — Who signs releases",
        "- [Tabs not spaces](tabs-not-spaces.md) — Indent with tabs in this repo",
    ]


@pytest.mark.promise("index.budget")
def test_a_write_that_a_harness_would_not_load_is_told_with_its_lines(
    folder: Path, zap: Zap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAPOMNI_INDEX_LINES", "2")
    done = zap("store", "--json", "--scope", "agent:coder", "--title", "Порт", "--", "Стенд на 8090")
    lines, share = done.json["warnings"]
    assert "does not load line 3: - [Порт](порт.md) — Стенд на 8090" in lines
    assert "MEMORY.md: it has 3 of 2 lines (150%)" in share
    assert "does not load line 3" in scan(zap).err
    report = zap("vault", "report", str(folder), "--json").json["reports"][0]
    assert [one["line"] for one in report["not_loaded"]] == [3]
    assert zap("store", "--json", "--scope", "user", "--", "Other").json.get("warnings", []) == []


@pytest.mark.promise("index.budget")
def test_an_index_that_is_nearly_full_is_told_before_anything_is_lost(
    folder: Path, zap: Zap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAPOMNI_INDEX_BYTES", str(len(INDEX.encode()) + 20))
    assert "134 of 154 bytes (87%)" in scan(zap).err


@pytest.fixture
def mixed(home: Path) -> Path:
    """A folder of rules and facts whose index begins with words of a person."""
    files = {
        f"deploy/ship-{no}.md": note(f"Step {no}.", name=f"ship-{no}", description=f"how to ship, {no}")
        for no in range(4)
    }
    files |= {
        "rule.md": note(
            "Никогда не деплоить в пятницу.", name="rule", description="когда нельзя деплоить", about="feedback"
        ),
        "pinned.md": note("Prod is read-only.", name="pinned", description="may I write to prod?", pinned=True),
        "fact.md": note("One fact.", name="fact", description="what the fact says", about="reference"),
    }
    index = (
        "# Память агента\r\n\r\n"
        + "".join(f"- [{name}](<{name}>) — by hand: {name}\r\n" for name in files)
        + "\r\nThe end"
    )
    return write(home / "mixed", {**files, "MEMORY.md": index})


@pytest.mark.promise("index.cut")
def test_a_plan_shows_what_a_cut_saves_and_writes_nothing(mixed: Path, zap: Zap) -> None:
    before = held(mixed)
    (plan,) = zap("index", "plan", str(mixed), "--json").json["plans"]
    assert held(mixed) == before
    assert plan["core"] == 2
    assert plan["saved_bytes"] == plan["before"]["bytes"] - plan["after"]["bytes"] > 0
    assert {one["title"]: one["notes"] for one in plan["leaves"]} == {"Deploy": 4, "References": 1}
    shown = zap("index", "plan", str(mixed))
    assert f"{plan['saved_bytes']:,} bytes at every start" in shown.out


@pytest.mark.promise("index.cut")
def test_a_cut_keeps_rules_in_sight_moves_lines_as_they_are_and_is_taken_back_to_the_byte(
    mixed: Path, zap: Zap
) -> None:
    before = held(mixed)
    assert zap("index", "apply", str(mixed)).status == 0
    index = index_of(mixed)
    assert index.startswith("# Память агента\r\n\r\n")
    assert index.endswith("\r\nThe end")
    assert "by hand: rule.md" in index
    assert "by hand: pinned.md" in index
    assert "- [Deploy](index-deploy.md) — 4 notes: " in index
    assert (
        "- [deploy/ship-1.md](<deploy/ship-1.md>) — by hand: deploy/ship-1.md"
        in (mixed / "index-deploy.md").read_text()
    )
    notes = {name: data for name, data in held(mixed).items() if name in before and name != "MEMORY.md"}
    assert notes == {name: data for name, data in before.items() if name != "MEMORY.md"}
    assert zap("index", "apply", str(mixed)).status == 6
    assert zap("index", "restore", str(mixed)).status == 0
    assert held(mixed) == before
    assert zap("index", "restore", str(mixed)).status == 3


@pytest.mark.promise("index.cut")
def test_a_restored_index_keeps_what_came_since_and_a_leaf_that_somebody_wrote_into(mixed: Path, zap: Zap) -> None:
    before = index_of(mixed)
    zap("index", "apply", str(mixed))
    leaf = mixed / "index-deploy.md"
    leaf.write_text(leaf.read_text() + "- [New](new.md) — since then\n\nMy own words.\n")
    came = zap("index", "restore", str(mixed), "--json").json
    assert came["kept"] == ["index-deploy.md"]
    assert came["removed"] == ["index-reference.md"]
    assert index_of(mixed) == before.replace("\r\n\r\nThe end", "\r\n- [New](new.md) — since then\r\n\r\nThe end")


@pytest.mark.promise("index.cut", "history.erase")
def test_a_cut_keeps_no_word_of_an_erased_memory(folder: Path, zap: Zap, home: Path) -> None:
    one = keep(zap, "Secret plan.", "--title", "Plan", "--description", "what about the tamarind")
    scan(zap)
    zap("index", "apply", str(folder))
    zap("delete", one, "--scope", "agent:coder", "--erase", "--yes")
    scan(zap)
    assert zap("index", "restore", str(folder)).status == 0
    assert index_of(folder) == INDEX
    assert not any(b"tamarind" in data for data in held(home / "store").values())


@pytest.mark.promise("index.cut")
def test_a_line_that_was_changed_since_a_cut_comes_back_as_it_is_now(mixed: Path, zap: Zap) -> None:
    before = index_of(mixed)
    zap("index", "apply", str(mixed))
    leaf = mixed / "index-deploy.md"
    leaf.write_text(leaf.read_text().replace("by hand: deploy/ship-2.md", "better words"))
    zap("index", "restore", str(mixed))
    assert index_of(mixed) == before.replace("by hand: deploy/ship-2.md", "better words")


@pytest.mark.promise("index.cut")
def test_a_leaf_is_no_memory_and_new_notes_join_it(folder: Path, zap: Zap) -> None:
    assert zap("index", "apply", str(folder)).status == 0
    assert "- [Projects](index-project.md) — 1 note: Release owner" in index_of(folder)
    keep(zap, "Prod has two regions.", "--title", "Regions", "--description", "where is prod", "--about", "project")
    keep(zap, "Never ship on Friday.", "--title", "Friday", "--description", "when to ship", "--about", "feedback")
    done = scan(zap)
    assert "passed over" not in done.err
    assert "- [Projects](index-project.md) — 2 notes: Release owner; Regions" in index_of(folder)
    assert "- [Friday](friday.md) — when to ship" in index_of(folder)
    assert "- [Regions](regions.md) — where is prod\n" in (folder / "index-project.md").read_text()
    assert zap("list", "--json", "--scope", "agent:coder").json["count"] == 4


def test_a_folder_that_is_none_and_a_blank_name_are_errors(home: Path, zap: Zap) -> None:
    for command in (("index", "plan"), ("index", "apply"), ("index", "restore"), ("vault", "report")):
        assert zap(*command, str(home / "nowhere")).status == 3
        assert zap(*command, " ").status == 2
    assert "No folder is mirrored" in zap("index", "plan").err


@pytest.mark.promise("index.kept")
@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("индекс".encode("cp1251"), "is not UTF-8 (byte 1)"),
        (b"- [Tabs](tabs.md)\n" * 70_000, "has more than 1,048,576 bytes"),
        (None, "is not a regular file"),
    ],
)
def test_an_index_that_cannot_be_read_is_named_everywhere_and_left_alone(
    folder: Path, zap: Zap, data: bytes | None, why: str
) -> None:
    page = folder / "MEMORY.md"
    page.unlink()
    page.mkdir() if data is None else page.write_bytes(data)
    stored = zap("store", "Прод в двух регионах.", "--scope", "agent:coder", "--title", "Прод")
    assert (stored.status, why in stored.err) == (0, True), stored
    assert why in scan(zap).err
    for command in ("plan", "apply"):
        done = zap("index", command, str(folder))
        assert (done.status, why in done.err) == (7, True), done
    assert zap("index", "restore", str(folder)).status in {3, 7}
    assert page.is_dir() if data is None else page.read_bytes() == data


@pytest.mark.promise("index.budget")
def test_a_warning_names_the_index_once(folder: Path, zap: Zap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZAPOMNI_INDEX_LINES", "1")
    keep(zap, "Прод в двух регионах.", "--title", "Прод")
    told = scan(zap).err
    assert "MEMORY.md: it has" in told
    assert "MEMORY.md: MEMORY.md" not in told


@pytest.mark.promise("index.cut")
def test_a_cut_that_listed_further_notes_comes_back_to_the_byte_with_what_came_since(folder: Path, zap: Zap) -> None:
    for name in ("один", "два", "три"):
        (folder / f"{name}.md").write_text(f"---\nname: {name}\nmetadata:\n  type: project\n---\n\n{name}\n")
    scan(zap)
    before = index_of(folder)
    assert zap("index", "apply", str(folder)).status == 0
    assert "один.md" in (folder / "index-project.md").read_text(encoding="utf-8")
    assert zap("index", "restore", str(folder)).status == 0
    assert index_of(folder) == before
    zap("index", "apply", str(folder))
    keep(zap, "Прод в двух регионах.", "--title", "Прод", "--about", "project")
    scan(zap)
    zap("index", "restore", str(folder))
    assert index_of(folder) == before + "- [Прод](прод.md) — Прод в двух регионах.\n"


DOUBLED = """- [Ship 1](ship-1.md) — how to ship, step 1
- [Rollback](ship-1.md) — how to roll back: my own words
- [Ship 2](ship-2.md) — how to ship, step 2
# Память
* [Откат](./ship-2.md): как откатить, моими словами
- [Ship 3](ship-3.md) — how to ship, step 3
"""


@pytest.fixture
def doubled(home: Path) -> Path:
    """A folder whose index has several lines for one note."""
    files = {f"ship-{no}.md": note(f"Step {no}.", name=f"ship-{no}", description=f"step {no}") for no in (1, 2, 3)}
    return write(home / "doubled", {**files, "MEMORY.md": DOUBLED.replace("\n", "\r\n")})


@pytest.mark.promise("index.cut")
def test_several_lines_of_one_note_all_move_in_their_order_and_all_come_back(doubled: Path, zap: Zap) -> None:
    before = held(doubled)
    (plan,) = zap("index", "plan", str(doubled), "--json").json["plans"]
    assert [one["notes"] for one in plan["leaves"]] == [3]
    (report,) = zap("vault", "report", str(doubled), "--json").json["reports"]
    assert [(one["line"], one["text"]) for one in report["doubled"]] == [(2, "ship-1.md"), (5, "./ship-2.md")]
    assert "MEMORY.md:2 “ship-1.md”: MEMORY.md:1 leads there already" in zap("vault", "report", str(doubled)).out
    assert zap("index", "apply", str(doubled)).status == 0
    leaf = (doubled / "index-project.md").read_bytes().decode()
    assert leaf.endswith(DOUBLED.replace("# Память\n", ""))
    assert "3 notes: Ship 1; Ship 2; Ship 3" in index_of(doubled)
    assert zap("index", "restore", str(doubled)).status == 0
    assert held(doubled) == before


@pytest.mark.promise("index.cut")
def test_of_several_lines_of_one_note_each_comes_back_as_it_is_now(doubled: Path, zap: Zap) -> None:
    zap("index", "apply", str(doubled))
    leaf = doubled / "index-project.md"
    now = leaf.read_text().replace("- [Ship 1](ship-1.md) — how to ship, step 1\n", "")
    leaf.write_text(now.replace("my own words", "better words") + "- [Третий](ship-3.md) — и ещё\n")
    page = doubled / "MEMORY.md"
    page.write_bytes(page.read_bytes() + b"Written since.\r\n")
    zap("index", "restore", str(doubled))
    lines = index_of(doubled).split("\r\n")
    assert lines[:1] == ["- [Rollback](ship-1.md) — how to roll back: better words"]
    assert lines[1:5] == DOUBLED.splitlines()[2:]
    assert sorted(lines[5:]) == ["", "- [Третий](ship-3.md) — и ещё", "Written since."]


@pytest.mark.promise("index.cut")
def test_an_index_that_a_cut_made_keeps_what_people_wrote_into_it_since(doubled: Path, zap: Zap) -> None:
    page = doubled / "MEMORY.md"
    page.unlink()
    before = held(doubled)
    zap("index", "apply", str(doubled))
    zap("index", "restore", str(doubled))
    assert held(doubled) == before
    zap("index", "apply", str(doubled))
    page.write_text(page.read_text() + "- [Откат](ship-2.md) — моими словами\n")
    zap("index", "restore", str(doubled))
    assert index_of(doubled) == "- [Откат](ship-2.md) — моими словами\n"


@pytest.mark.promise("index.kept")
def test_a_line_by_hand_for_a_note_on_a_leaf_costs_no_other_line_of_it(doubled: Path, zap: Zap) -> None:
    zap("source", "add", str(doubled), "--mode", "mirror", "--scope", "agent:coder")
    zap("index", "apply", str(doubled))
    leaf, page = doubled / "index-project.md", doubled / "MEMORY.md"
    page.write_text(page.read_text() + "- [Ship!](ship-1.md) — написано рукой\n")
    before = leaf.read_text()
    one = keep(zap, "Прод в двух регионах.", "--title", "Прод", "--about", "project")
    scan(zap)
    assert leaf.read_text() == before + "- [Прод](прод.md) — Прод в двух регионах.\n"
    page.write_text(page.read_text() + "- [Прод!](прод.md) — моими словами\n")
    zap("update", one, "--scope", "agent:coder", "--description", "где лежит прод")
    scan(zap)
    assert leaf.read_text() == before + "- [Прод](прод.md) — где лежит прод\n"
    assert index_of(doubled).endswith("- [Ship!](ship-1.md) — написано рукой\n- [Прод!](прод.md) — моими словами\n")


@pytest.mark.promise("index.kept")
@pytest.mark.parametrize("cut", ["", "apply"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_undoing_a_deletion_brings_every_line_of_the_memory_back_where_it_was(
    doubled: Path, zap: Zap, end: str, cut: str
) -> None:
    (doubled / "MEMORY.md").write_bytes(DOUBLED.removesuffix("\n").replace("\n", end).encode())
    zap("source", "add", str(doubled), "--mode", "mirror", "--scope", "agent:coder")
    if cut:
        zap("index", cut, str(doubled))
    before = held(doubled)
    ids = {one["title"]: one["id"] for one in zap("list", "--json", "--scope", "agent:coder").json["memories"]}
    for gone in (["ship-2"], ["ship-1", "ship-3"]):
        for name in gone:
            zap("delete", ids[name], "--scope", "agent:coder", "--yes")
        scan(zap)
        pages = "".join(data.decode() for name, data in held(doubled).items() if "MEMORY" in name or "index-" in name)
        assert not any(f"{name}.md" in pages for name in gone)
        for name in reversed(gone):
            zap("undo", ids[name], "--scope", "agent:coder")
            scan(zap)
        assert held(doubled) == before


@pytest.mark.promise("index.kept")
@pytest.mark.parametrize("ahead", ["", "# Память\n\n"])
def test_lines_that_went_one_after_the_other_come_back_in_their_order(home: Path, zap: Zap, ahead: str) -> None:
    names = ["первый", "второй", "третий", "последний"]
    page = ahead + "".join(f"- [{name}]({name}.md) — о чём он\n" for name in names)
    notes = {f"{name}.md": note(f"{name} шаг.", name=name, description="о чём он") for name in names}
    folder = write(home / "memory", {"MEMORY.md": page, **notes})
    zap("source", "add", str(folder), "--mode", "mirror", "--scope", "agent:coder")
    ids = {one["title"]: one["id"] for one in zap("list", "--json", "--scope", "agent:coder").json["memories"]}
    for order in (names[:2], names[1::-1], names[:3], names[2::-1]):
        for verb in (("delete", "--yes"), ("undo",)):
            for name in order:
                zap(verb[0], ids[name], "--scope", "agent:coder", *verb[1:])
                scan(zap)
            if verb[0] == "delete":
                assert not any(f"{name}.md" in index_of(folder) for name in order)
        assert index_of(folder) == page


@pytest.mark.promise("index.kept", "history.erase")
def test_lines_that_went_with_a_memory_follow_its_file_and_are_gone_once_it_is_erased(
    doubled: Path, zap: Zap, home: Path
) -> None:
    zap("source", "add", str(doubled), "--mode", "mirror", "--scope", "agent:coder")
    ids = {one["title"]: one["id"] for one in zap("list", "--json", "--scope", "agent:coder").json["memories"]}
    before = index_of(doubled)
    zap("delete", ids["ship-2"], "--scope", "agent:coder", "--yes")
    scan(zap)
    other = doubled / "ship-2.md"
    other.write_text("Somebody else's.\n")
    zap("undo", ids["ship-2"], "--scope", "agent:coder")
    scan(zap)
    assert index_of(doubled) == before.replace("./ship-2.md", "ship-2-2.md").replace("ship-2.md", "ship-2-2.md")
    zap("delete", ids["ship-1"], "--scope", "agent:coder", "--yes")
    scan(zap)
    assert any(b"my own words" in data for data in held(home / "store").values())
    zap("delete", ids["ship-1"], "--scope", "agent:coder", "--erase", "--yes")
    zap("delete", ids["ship-2"], "--scope", "agent:coder", "--erase", "--yes")
    scan(zap)
    assert "ship-1.md" not in index_of(doubled)
    stored = b"".join(held(home / "store").values())
    assert b"my own words" not in stored
    assert "моими словами".encode() not in stored


@pytest.mark.promise("index.kept")
def test_a_line_that_holds_a_secret_stays_on_its_page_for_no_store_may_keep_it(
    doubled: Path, zap: Zap, home: Path
) -> None:
    page, secret = doubled / "MEMORY.md", "ghp_" + "a1B2c3D4e5F6" * 3
    page.write_text(DOUBLED + f"- [Ship 1](ship-1.md) — token {secret}\n")
    zap("source", "add", str(doubled), "--mode", "mirror", "--scope", "agent:coder")
    ids = {one["title"]: one["id"] for one in zap("list", "--json", "--scope", "agent:coder").json["memories"]}
    before = index_of(doubled)
    zap("delete", ids["ship-1"], "--scope", "agent:coder", "--yes")
    scan(zap)
    assert not (doubled / "ship-1.md").exists()
    assert index_of(doubled) == before
    assert not any(secret.encode() in data for data in held(home / "store").values())


@pytest.mark.promise("index.cut")
def test_a_second_cut_is_taken_back_to_the_byte_with_its_leaves(doubled: Path, zap: Zap) -> None:
    zap("index", "apply", str(doubled))
    (doubled / "ship-4.md").write_text(note("Шаг 4.", name="ship-4", description="четвёртый шаг"))
    page = doubled / "MEMORY.md"
    page.write_bytes(page.read_bytes() + "- [Ещё](ship-1.md) — моими словами\r\n".encode())
    before = held(doubled)
    assert zap("index", "apply", str(doubled)).status == 0
    assert "4 notes: " in index_of(doubled)
    assert zap("index", "restore", str(doubled)).status == 0
    assert held(doubled) == before


@pytest.mark.promise("index.cut")
def test_an_index_comes_back_whole_though_somebody_took_out_the_line_for_a_leaf(doubled: Path, zap: Zap) -> None:
    before = held(doubled)
    zap("index", "apply", str(doubled))
    (doubled / "MEMORY.md").write_text("# Память\n")
    assert zap("index", "restore", str(doubled)).status == 0
    assert held(doubled) == before


@pytest.mark.promise("index.kept")
def test_lines_follow_files_that_somebody_moves_swaps_or_deletes_and_come_back_with_them(
    folder: Path, zap: Zap
) -> None:
    second = keep(zap, "Второй факт.", "--title", "Второй")
    scan(zap)
    own = "- [Second!](second.md) — by hand\n"
    (folder / "MEMORY.md").write_text(own + index_of(folder))
    (folder / "второй.md").rename(folder / "second.md")
    assert "moved 1" in scan(zap).out
    line = "- [Второй](second.md) — Второй факт.\n"
    assert index_of(folder) == own + INDEX + line
    zap("update", second, "--scope", "agent:coder", "--description", "что второе")
    (folder / "second.md").rename(folder / "2.md")
    scan(zap)
    own, line = own.replace("second.md", "2.md"), "- [Второй](2.md) — что второе\n"
    assert index_of(folder) == own + INDEX + line
    text = (folder / "2.md").read_bytes()
    (folder / "2.md").unlink()
    assert "removed 1" in scan(zap).out
    assert index_of(folder) == INDEX
    zap("undo", second, "--scope", "agent:coder")
    scan(zap)
    assert (folder / "2.md").read_bytes() == text
    assert index_of(folder) == own + INDEX + line
    (folder / "2.md").unlink()
    scan(zap)
    (folder / "два.md").write_bytes(text)
    assert "added 1" in scan(zap).out
    assert index_of(folder) == (own + INDEX + line).replace("2.md", "два.md")
    scan(zap)
    assert index_of(folder) == (own + INDEX + line).replace("2.md", "два.md")


@pytest.mark.promise("index.kept")
def test_files_that_change_places_keep_their_own_lines(folder: Path, zap: Zap) -> None:
    tabs, owner = folder / "tabs-not-spaces.md", folder / "release-owner.md"
    tabs.rename(folder / "tmp.md")
    owner.rename(tabs)
    (folder / "tmp.md").rename(owner)
    scan(zap)
    swapped = INDEX.replace("(tabs-not-spaces.md)", "(x)").replace("(release-owner.md)", "(tabs-not-spaces.md)")
    assert index_of(folder) == swapped.replace("(x)", "(release-owner.md)")
    text = tabs.read_bytes()
    owner.replace(tabs)
    assert "moved 1, removed 1" in scan(zap).out
    assert index_of(folder) == INDEX.splitlines(keepends=True)[0]
    assert sorted(held(folder)) == ["MEMORY.md", "tabs-not-spaces.md"]
    every = zap("list", "--json", "--scope", "agent:coder", "--deleted").json["memories"]
    zap("undo", next(one["id"] for one in every if one["title"] == "release-owner"), "--scope", "agent:coder")
    scan(zap)
    assert (folder / "tabs-not-spaces-2.md").read_bytes() == text
    assert index_of(folder) == INDEX.replace("release-owner.md", "tabs-not-spaces-2.md")


@pytest.mark.promise("index.kept")
def test_a_folder_without_an_index_gets_none_when_its_files_move_go_and_come_back(folder: Path, zap: Zap) -> None:
    tabs = folder / "tabs-not-spaces.md"
    text = tabs.read_bytes()
    tabs.unlink()
    scan(zap)
    (folder / "MEMORY.md").unlink()
    (folder / "release-owner.md").rename(folder / "owner.md")
    tabs.write_bytes(text)
    scan(zap)
    assert not (folder / "MEMORY.md").exists()
    (folder / "MEMORY.md").write_text("# Mine\n")
    tabs.unlink()
    scan(zap)
    assert index_of(folder) == "# Mine\n"


@pytest.mark.promise("index.kept")
def test_a_note_on_a_leaf_that_somebody_deletes_loses_its_lines_there_until_it_is_back(doubled: Path, zap: Zap) -> None:
    zap("source", "add", str(doubled), "--mode", "mirror", "--scope", "agent:coder")
    zap("index", "apply", str(doubled))
    before = held(doubled)
    (doubled / "ship-1.md").unlink()
    scan(zap)
    assert "ship-1.md" not in (doubled / "index-project.md").read_text()
    assert "2 notes: Ship 2; Ship 3" in index_of(doubled)
    (doubled / "ship-1.md").write_bytes(before["ship-1.md"])
    scan(zap)
    assert held(doubled) == before


KILLED = """
import os, signal, sys
from zapomni.services.mirror import reconcile
from zapomni.services.vault import keep
from zapomni.surfaces.cli.main import run
room, name = {"reconcile": reconcile, "keep": keep}[sys.argv[1]], sys.argv[2].removeprefix("after ")
real = getattr(room, name) if name != sys.argv[2] else lambda *_: None
setattr(room, name, lambda *given: (real(*given), os.kill(os.getpid(), signal.SIGKILL)))
run(["source", "scan", "--scope", "all"])
"""


def scan_killed_at(room: str, name: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, room, name], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done


@pytest.mark.promise("index.killed")
@pytest.mark.parametrize("at", ["reconcile.keep_index", "keep.write_pages", "keep._settled"])
def test_what_a_killed_scan_had_not_said_in_the_index_yet_the_next_one_says(folder: Path, zap: Zap, at: str) -> None:
    keep(zap, "Первый факт.", "--title", "Первый")
    second = keep(zap, "Второй факт.", "--title", "Второй")
    third = keep(zap, "Третий факт.", "--title", "Третий")
    scan(zap)
    whole = index_of(folder)
    gone = [line for line in whole.splitlines(keepends=True) if "второй.md" not in line and "tabs" not in line]
    zap("delete", second, "--scope", "agent:coder", "--yes")
    zap("update", third, "--scope", "agent:coder", "--path", "факты")
    (folder / "tabs-not-spaces.md").unlink()
    (folder / "release-owner.md").rename(folder / "owner.md")
    scan_killed_at(*at.split("."))
    assert sorted(held(folder)) == ["MEMORY.md", "owner.md", "первый.md", "факты/третий.md"]
    (folder / "owner.md").rename(folder / "владелец.md")
    scan_killed_at(*at.split("."))
    scan(zap)
    moved = {"release-owner.md": "владелец.md", "третий.md": "факты/третий.md"}
    for old, new in moved.items():
        whole, gone = whole.replace(f"({old})", f"({new})"), [line.replace(f"({old})", f"({new})") for line in gone]
    assert index_of(folder) == "".join(gone)
    every = zap("list", "--json", "--scope", "agent:coder", "--deleted").json["memories"]
    for one in (second, next(one["id"] for one in every if one["title"] == "tabs-not-spaces")):
        zap("undo", one, "--scope", "agent:coder")
        scan_killed_at(*at.split("."))
    scan(zap)
    assert index_of(folder) == whole


@pytest.mark.promise("index.killed")
def test_a_file_that_is_there_again_after_a_killed_scan_keeps_its_line(folder: Path, zap: Zap) -> None:
    (folder / "tabs-not-spaces.md").unlink()
    scan_killed_at("reconcile", "keep_index")
    write(folder, {"tabs-not-spaces.md": note("Пробелы, а не табуляция.", name="tabs-not-spaces")})
    scan(zap)
    assert index_of(folder) == INDEX


@pytest.mark.promise("index.killed")
def test_lines_of_notes_that_changed_places_follow_once_though_the_scan_was_killed(folder: Path, zap: Zap) -> None:
    one, other, aside = (folder / name for name in ("tabs-not-spaces.md", "release-owner.md", "aside"))
    for old, new in ((one, aside), (other, one), (aside, other)):
        old.rename(new)
    scan_killed_at("keep", "after write_pages")
    tabs, owner = INDEX.splitlines(keepends=True)
    swapped = [tabs.replace(one.name, other.name), owner.replace(other.name, one.name)]
    assert index_of(folder) == "".join(swapped)
    scan(zap)
    assert index_of(folder) == "".join(swapped)
    other.rename(folder / "табуляция.md")
    scan_killed_at("keep", "after write_pages")
    scan(zap)
    assert index_of(folder) == "".join([tabs.replace(one.name, "табуляция.md"), swapped[1]])


@pytest.mark.promise("index.killed")
def test_lines_of_notes_that_changed_places_follow_once_though_the_store_was_busy(
    folder: Path, zap: Zap, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, aside = (folder / name for name in ("tabs-not-spaces.md", "release-owner.md", "aside"))
    for old, new in ((one, aside), (other, one), (aside, other)):
        old.rename(new)

    def busy(*_: object) -> None:
        raise StoreBusy("another process held the store")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteMirrorWrites, "pay", busy)
        zap("source", "scan", "--scope", "all")
    scan(zap)
    tabs, owner = INDEX.splitlines(keepends=True)
    swapped = [tabs.replace(one.name, other.name), owner.replace(other.name, one.name)]
    assert index_of(folder) == "".join(swapped)


@pytest.mark.promise("index.kept")
def test_a_line_comes_back_with_its_note_although_the_index_was_away_just_then(folder: Path, zap: Zap) -> None:
    (folder / "tabs-not-spaces.md").unlink()
    scan(zap)
    (folder / "MEMORY.md").rename(folder.parent / "away.md")
    write(folder, {"tabs-not-spaces.md": LOADED["tabs-not-spaces.md"]})
    scan(zap)
    (folder.parent / "away.md").rename(folder / "MEMORY.md")
    scan(zap)
    assert index_of(folder) == INDEX


@pytest.mark.promise("index.kept")
@pytest.mark.parametrize("killed", [False, True])
def test_a_note_moved_over_another_one_keeps_its_line_and_the_other_one_comes_back_with_its_own(
    folder: Path, zap: Zap, *, killed: bool
) -> None:
    every = zap("list", "--json", "--scope", "agent:coder").json["memories"]
    tabs = next(one["id"] for one in every if one["title"] == "tabs-not-spaces")
    if not killed:
        zap("update", tabs, "--scope", "agent:coder", "--tag", "отступы")
    (folder / "release-owner.md").rename(folder / "tabs-not-spaces.md")
    if killed:
        scan_killed_at("reconcile", "take")
    scan(zap)
    scan(zap)
    assert sorted(held(folder)) == ["MEMORY.md", "tabs-not-spaces-2.md", "tabs-not-spaces.md"]
    tabs_line, owner_line = INDEX.splitlines(keepends=True)
    moved = [tabs_line.replace(".md", "-2.md"), owner_line.replace("release-owner.md", "tabs-not-spaces.md")]
    assert index_of(folder) == "".join(moved)


@pytest.mark.promise("index.killed")
def test_lines_of_a_memory_and_a_file_that_both_went_go_too(folder: Path, zap: Zap) -> None:
    every = zap("list", "--json", "--scope", "agent:coder").json["memories"]
    one = next(one["id"] for one in every if one["title"] == "tabs-not-spaces")
    zap("delete", one, "--scope", "agent:coder", "--yes")
    (folder / "tabs-not-spaces.md").unlink()
    scan(zap)
    assert index_of(folder) == INDEX.splitlines(keepends=True)[1]
    zap("undo", one, "--scope", "agent:coder")
    scan(zap)
    assert index_of(folder) == INDEX
    scan(zap)
    assert index_of(folder) == INDEX


@pytest.mark.promise("index.kept")
def test_the_line_of_a_note_of_ours_that_is_edited_and_moved_at_once_follows(folder: Path, zap: Zap) -> None:
    every = zap("list", "--json", "--scope", "agent:coder").json["memories"]
    tabs = next(one["id"] for one in every if one["title"] == "tabs-not-spaces")
    zap("update", tabs, "--scope", "agent:coder", "--description", "почему так")
    (folder / "tabs-not-spaces.md").unlink()
    scan(zap)
    ours = (folder / "tabs-not-spaces.md").read_text()
    (folder / "tabs-not-spaces.md").unlink()
    write(folder, {"отступы.md": ours.replace("---", "---\nother: x", 1)})
    scan(zap)
    assert "(tabs-not-spaces.md)" not in index_of(folder)
    assert "(отступы.md)" in index_of(folder)


@pytest.mark.promise("index.kept")
def test_two_notes_whose_names_are_spellings_of_one_may_go_at_once(folder: Path, zap: Zap) -> None:
    names = ["\u0401ж.md", "\u0415\u0308ж.md"]
    write(folder, {name: note(f"Факт {no} о ежах.", name=f"ёж-{no}") for no, name in enumerate(names)})
    scan(zap)
    write(folder, {"MEMORY.md": f"{INDEX}- [Ёж]({names[0]}) — колючий\n"})
    for name in names:
        (folder / name).unlink()
    scan(zap)
    assert index_of(folder) == INDEX
