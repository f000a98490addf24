"""The state of a memory folder: what it costs, where it is going, what wants repair; and compacting it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.folders import LOADED, dated, held, note, write
from tests.cli.test_docs import EXAMPLES, undocumented

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Result

    Zap = Callable[..., Result]

ARTICLE = ("--count", "2026-07-08=118", "--count", "30.07.2026=124", "--count", "2026-08-11=135")
"""The record counts that the article gives."""
LONG = (
    "почему прод лежит в двух регионах и что делать, когда один из них недоступен, как переключить DNS и проверить " * 2
)


@pytest.fixture
def ill(home: Path) -> Path:
    """A folder with one of every flaw."""
    files = {
        "deploy.md": note(
            "Выкатка через [[release-owner]]. План на завтра: [[nothing]].", name="deploy", description="выкатка"
        ),
        "names.md": note(
            "Пишем «Todo List» с пробелом.", name="names", description="как писать название продукта в текстах"
        ),
        "names-2.md": note("пишем  «Todo list» с пробелом.", name="names-2", description="какое имя у продукта"),
        "old.md": note(
            "Freeze.\n\nThe release will go out on 2026-05-01.", name="old", description="when is the next release?"
        ),
        "broken.md": "---\nname: [\n---\nText.\n",
        "unlisted.md": note("Nobody lists it.", name="unlisted", description="who lists this note?"),
    }
    index = LOADED["MEMORY.md"] + "- [Выкатка](deploy.md) — " + "ж" * 200 + "\n- [Gone](gone.md) — no file\n"
    index += "".join(f"- [{name}]({name}.md) — x\n" for name in ("names", "names-2", "old", "broken"))
    return write(home / "ill", {**LOADED, **files, "MEMORY.md": index})


@pytest.mark.promise("vault.report")
def test_a_report_names_every_flaw_of_a_plain_folder_and_writes_nothing(ill: Path, zap: Zap, home: Path) -> None:
    before = held(ill)
    (report,) = zap("vault", "report", str(ill), "--json").json["reports"]
    assert held(ill) == before
    assert report["records"] == 8
    assert report["index"] == {"lines": 8, "bytes": len(before["MEMORY.md"]), "tokens": report["index"]["tokens"]}
    assert report["index"]["tokens"] > report["index"]["bytes"] / 5
    assert report["bodies"]["bytes"] == sum(len(data) for name, data in before.items() if name != "MEMORY.md")
    assert report["ratio"] == round(report["bodies"]["bytes"] / report["index"]["bytes"], 1)
    assert [(one["line"], one["length"]) for one in report["long_lines"]] == [(3, 225)]
    assert {one["path"] for one in report["weak"]} == {"deploy.md", "broken.md"}
    assert [(one["path"], one["line"], one["text"]) for one in report["dead_links"]] == [
        ("deploy.md", 8, "[[nothing]]")
    ]
    assert {(one["path"], one["line"]) for one in report["stale"]} == {("deploy.md", 8), ("old.md", 10)}
    assert report["doubled"] == []
    assert report["parents"] == [{"path": "release-owner.md", "links": 2}]
    assert report["duplicates"] == [["names-2.md", "names.md"]]
    assert report["not_in_index"] == ["unlisted.md"]
    assert [(one["line"], one["text"]) for one in report["no_file"]] == [(4, "gone.md")]
    assert [one["path"] for one in report["headers"]] == ["broken.md"]
    shown = zap("vault", "report", str(ill))
    assert "Parents, never to be merged: 1" in shown.out
    assert "deploy.md:8 “[[nothing]]”: no note is called so" in shown.out


@pytest.mark.promise("vault.forecast")
def test_the_report_foretells_the_article_s_dates_from_its_counts(ill: Path, zap: Zap, home: Path) -> None:
    (report,) = zap("vault", "report", str(ill), "--json", *ARTICLE).json["reports"]
    assert report["growth"] == {"since": "2026-07-30", "until": "2026-08-11", "came": 11, "a_day": 0.917, "spread": 1.0}
    first, second, *_ = report["targets"]
    assert (first["number"], first["day"], second["number"], second["day"]) == (150, "2026-08-27", 200, "2026-10-21")
    assert first["earliest"] <= "2026-08-31" <= first["latest"]
    assert second["earliest"] <= "2026-10-31" <= second["latest"]
    (home / "counts.txt").write_text("# records\n2026-07-08 118\n2026-07-30,124\n\n2026-08-11\t135  # by hand\n")
    told = zap("vault", "report", str(ill), "--json", "--history", str(home / "counts.txt")).json["reports"][0]
    assert told["targets"] == report["targets"]


@pytest.mark.promise("vault.forecast")
def test_an_index_like_the_article_s_reaches_its_budget_when_its_growth_says(home: Path, zap: Zap) -> None:
    # 135 records in 21 KB, some 160 bytes a line (features B-4)
    lines = [f"- [Запись {no:03}](n{no:03}.md) — {'ж' * 62}\n" for no in range(135)]
    folder = write(
        home / "big", {"MEMORY.md": "".join(lines)} | {f"n{no:03}.md": note(f"Fact {no}.") for no in range(135)}
    )
    (report,) = zap("vault", "report", str(folder), "--json", *ARTICLE).json["reports"]
    assert (report["records"], report["bytes_a_line"]) == (135, 159.0)
    targets = {(one["what"], one["number"]): one for one in report["targets"]}
    assert targets["bytes", 25_000]["day"] == "2026-09-04"  # (25,000 - 21,465) / 159 = 22 records, at 0.92 a day
    assert targets["lines", 200]["day"] == targets["records", 200]["day"]


@pytest.mark.promise("vault.forecast")
def test_notes_are_counted_from_the_day_on_which_each_was_first_known(home: Path, zap: Zap) -> None:
    folder = write(home / "dated", {f"n{no}.md": note(f"Fact {no}.", name=f"n{no}") for no in range(30)})
    for no in range(30):
        dated(folder / f"n{no}.md", "2026-01-05" if no < 20 else "2026-01-06")
    (report,) = zap("vault", "report", str(folder), "--json").json["reports"]
    assert report["counts"][-1]["records"] == 30
    assert report["growth"] is None  # nothing came lately
    assert [one["day"] for one in report["targets"]] == [None] * len(report["targets"])
    assert "too little is known" in zap("vault", "report", str(folder)).out


@pytest.mark.promise("vault.picture")
def test_the_picture_is_the_same_for_the_same_numbers_and_shows_the_days(ill: Path, zap: Zap, home: Path) -> None:
    file = home / "growth.svg"
    assert zap("vault", "report", str(ill), "--picture", str(file), *ARTICLE).status == 0
    text = file.read_text()
    assert ET.fromstring(text).tag.endswith("svg")
    assert "150 records: 2026-08-27, 2026-08-21 to 2026-09-07" in text
    assert "prefers-color-scheme:dark" in text
    assert zap("vault", "report", str(ill), "--picture", "-", *ARTICLE).out == text
    assert (
        ET.fromstring(zap("vault", "report", str(write(home / "none", {"a.txt": ""})), "--picture", "-").out)
        is not None
    )


@pytest.mark.parametrize("count", ["soon", "2026-08-11", "2026-13-01=5", "=5", "2026-08-11=-5"])
def test_a_count_that_is_none_is_refused_by_name(ill: Path, zap: Zap, count: str) -> None:
    done = zap("vault", "report", str(ill), "--json", "--count", count)
    assert done.status == 2
    assert done.json["error"]["message"].startswith("count: ")


# --- compaction -------------------------------------------------------------------------------------------
@pytest.fixture
def folder(home: Path, zap: Zap) -> Path:
    files = {
        "prod.md": note("Прод в двух регионах.", name="prod", description=LONG.strip()),
        "copy-1.md": note("Пишем «Todo List».", name="copy-1", description="как писать название"),
        "copy-2.md": note("пишем «Todo list».", name="copy-2", description="имя продукта в текстах"),
        "parent.md": note("Пишем «Todo List».", name="parent", description="правила имён"),
        "child.md": note("See [[parent]].", name="child", description="which rule comes first?"),
    }
    index = "".join(f"- [{name}]({name}.md) — {name}\n" for name in ("copy-1", "copy-2", "parent", "child"))
    index += f"- [prod](prod.md) — {LONG.strip()}\n"
    made = write(home / "notes", {**files, "MEMORY.md": index})
    assert zap("source", "add", str(made), "--mode", "mirror", "--scope", "agent:coder").status == 0
    return made


def compacted(zap: Zap, *names: str) -> dict[str, Any]:
    """Compact and return what came of the one folder."""
    (only,) = zap("vault", "compact", *names, "--json").json["compactions"]
    return dict(only)


def accept(zap: Zap, kind: str) -> str:
    """Accept the one proposal of a kind, bring the folder up to date and return the run."""
    (found,) = zap("inbox", "list", "--json", "--kind", kind).json["proposals"]
    done = zap("inbox", "accept", "--json", found["id"])
    assert done.status == 0, done
    zap("source", "scan", "--scope", "all")
    return str(done.json["run"])


@pytest.mark.promise("cli.json")
def test_every_answer_about_a_folder_is_documented(folder: Path, ill: Path, zap: Zap) -> None:
    for section, words in (
        ("vault report", ["vault", "report", str(ill), *ARTICLE]),
        ("index plan", ["index", "plan", str(folder)]),
        ("vault compact", ["vault", "compact", str(folder), "--dry-run"]),
    ):
        assert undocumented(zap(*words, "--json").json, EXAMPLES[section]) == set(), words


@pytest.mark.promise("vault.compact")
def test_a_dry_run_shows_what_would_be_proposed_and_files_nothing(folder: Path, zap: Zap) -> None:
    before = held(folder)
    (came,) = zap("vault", "compact", str(folder), "--dry-run", "--json").json["compactions"]
    assert [one["path"] for one in came["shorten"]] == ["prod.md"]
    assert (came["merge"][0]["keep"], came["merge"][0]["drop"]) == ("copy-1.md", ["copy-2.md"])
    assert came["spared"] == ["parent.md"]
    assert came["proposals"] == []
    assert zap("inbox", "list", "--json").json["count"] == 0
    assert compacted(zap, str(folder))["shorten"] == came["shorten"]
    assert held(folder) == before


@pytest.mark.promise("vault.compact")
def test_a_long_line_is_cut_at_a_word_and_what_it_said_stands_in_the_body(folder: Path, zap: Zap) -> None:
    before = held(folder)
    zap("vault", "compact", str(folder))
    run = accept(zap, "shorten")
    text = (folder / "prod.md").read_text()
    assert LONG.strip() in text.split("---\n")[2]
    description = next(line for line in text.splitlines() if line.startswith("description: "))
    assert description.endswith("…")
    line = next(line for line in (folder / "MEMORY.md").read_text().splitlines() if "prod.md" in line)
    assert len(line) <= 150
    assert line.endswith("…")
    assert compacted(zap, str(folder))["shorten"] == []
    assert zap("undo", "--run", run).status == 0
    zap("source", "scan", "--scope", "all")
    assert (folder / "prod.md").read_bytes() == before["prod.md"]


@pytest.mark.promise("vault.compact", "index.kept")
@pytest.mark.parametrize("kind", ["shorten", "merge"])
def test_undoing_a_compaction_brings_the_line_back_that_a_person_had_written(folder: Path, zap: Zap, kind: str) -> None:
    page = folder / "MEMORY.md"
    hook = f"моими словами: {LONG.strip()}"
    written = page.read_text().replace(f"- [prod](prod.md) — {LONG.strip()}", f"* [Прод](prod.md): {hook}")
    written = written.replace("- [copy-2](copy-2.md) — copy-2", "* [Копия](./copy-2.md) - как я её зову")
    page.write_text(written, newline="\r\n")
    zap("source", "scan", "--scope", "all")
    zap("vault", "compact", str(folder))
    run = accept(zap, kind)
    assert page.read_bytes() != written.replace("\n", "\r\n").encode()
    assert zap("undo", "--run", run).status == 0
    zap("source", "scan", "--scope", "all")
    assert sorted(page.read_bytes().decode().split("\r\n")) == sorted(written.split("\n"))
    zap("source", "scan", "--scope", "all")
    assert kind == "merge" or page.read_bytes() == written.replace("\n", "\r\n").encode()


@pytest.mark.promise("vault.compact")
def test_a_copy_is_merged_a_parent_never_and_undoing_brings_the_file_back(folder: Path, zap: Zap) -> None:
    before = held(folder)
    zap("vault", "compact", str(folder))
    run = accept(zap, "merge")
    after = held(folder)
    assert set(before) - set(after) == {"copy-2.md"}
    assert after["parent.md"] == before["parent.md"]
    assert "имя продукта в текстах" in after["copy-1.md"].decode()
    assert "copy-2.md" not in after["MEMORY.md"].decode()
    assert zap("undo", "--run", run).status == 0
    zap("source", "scan", "--scope", "all")
    back = held(folder)
    assert back["copy-2.md"] == before["copy-2.md"]
    assert back["copy-1.md"] == before["copy-1.md"]


@pytest.mark.promise("vault.compact")
def test_what_was_changed_since_a_proposal_stays_as_it_is(folder: Path, zap: Zap) -> None:
    zap("vault", "compact", str(folder))
    (folder / "copy-2.md").write_text(note("Something else.", name="copy-2", description="new"))
    found = {one["kind"]: one["id"] for one in zap("inbox", "list", "--json").json["proposals"]}
    assert zap("inbox", "accept", found["merge"]).status == 5
    memory = next(
        one for one in zap("list", "--json", "--scope", "agent:coder").json["memories"] if one["title"] == "prod"
    )
    zap("update", memory["id"], "--scope", "agent:coder", "--description", "short")
    assert zap("inbox", "accept", found["shorten"]).status == 5
    assert zap("inbox", "list", "--json").json["count"] == 2


@pytest.mark.promise("vault.compact")
def test_the_same_is_not_proposed_twice_nor_after_a_no(folder: Path, zap: Zap) -> None:
    assert len(compacted(zap, str(folder))["proposals"]) == 2
    assert compacted(zap, str(folder))["proposals"] == []
    for one in zap("inbox", "list", "--json").json["proposals"]:
        assert zap("inbox", "reject", one["id"], "--why", "I like it long").status == 0
    assert compacted(zap, str(folder))["proposals"] == []


def test_a_folder_that_is_not_mirrored_cannot_be_compacted(ill: Path, zap: Zap) -> None:
    done = zap("vault", "compact", str(ill), "--json")
    assert done.status == 6
    assert "--mode mirror" in done.json["error"]["remedy"]


@pytest.mark.promise("vault.compact")
def test_without_a_name_every_mirrored_folder_is_compacted(folder: Path, zap: Zap, home: Path) -> None:
    other = write(home / "заметки", {"длинно.md": note("Прод.", name="длинно", description=LONG.strip())})
    assert zap("source", "add", str(other), "--mode", "mirror", "--scope", "agent:bear").status == 0
    first, second = zap("vault", "compact", "--json").json["compactions"]
    assert (first["root"], second["root"]) == (str(folder), str(other))
    assert (len(first["proposals"]), len(second["proposals"])) == (2, 1)
    told = zap("vault", "compact", "--scope", "agent:bear")
    assert (str(other) in told.out, str(folder) in told.out) == (True, False)
    assert "Nothing new: each is proposed in the inbox already" in told.err


def test_where_no_folder_is_mirrored_there_is_nothing_to_compact_and_that_is_said(zap: Zap) -> None:
    done = zap("vault", "compact")
    assert (done.status, done.out, "No folder is mirrored" in done.err) == (0, "", True)
