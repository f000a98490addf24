"""`source` and `search`: attaching, scanning, and what a person is told of both."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click
import pytest

from zapomni.errors import InvalidInput, Refused, Unavailable
from zapomni.store.sqlite.locks import worker_lock
from zapomni.surfaces.cli.lines import excerpt
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]
    Stored = Callable[..., str]

RELEASE = (
    "---\ntags: [deploy]\n---\n# Релизы\n\n"
    + "Введение о том о сём. " * 90
    + "\n\n## Пятница\n\nПо пятницам релизы запрещены.\n"
)


@pytest.fixture
def papers(home: Path) -> Path:
    folder = home / "work" / "papers"
    write(folder, "release.md", RELEASE)
    write(folder, "adr/0001-store.md", "# Use SQLite\n\nBackups of one file are simple.\n")
    return folder


@pytest.fixture
def attached(zap: Zap, papers: Path) -> Path:
    assert zap("source", "add", str(papers)).status == 0
    return papers


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


# --- sources ----------------------------------------------------------------------------------------------
def test_a_folder_that_is_attached_is_searched_at_once(zap: Zap, papers: Path) -> None:
    result = zap("source", "add", "papers")
    assert result.status == 0
    assert str(papers) in result.out
    assert "added 2" in result.out
    assert "papers/adr/0001-store.md:1" in zap("search", "backup").out


def test_what_another_process_scans_is_named_with_what_to_do_and_nobody_is_told_to_remove_it(
    zap: Zap, attached: Path, home: Path
) -> None:
    with worker_lock(home / "store" / "memories.db", "scan"):
        result = zap("source", "scan")
    assert result.status == Unavailable.exit_status
    assert "stopped: another process is scanning just now" in result.out
    assert "source scan" in result.out
    assert "remove" not in result.out.replace("removed 0", "")


def test_what_has_no_beginning_is_not_attached(zap: Zap, papers: Path) -> None:
    os.mkfifo(papers / "труба")
    result = zap("source", "add", str(papers / "труба"))
    assert (result.status, "neither a folder nor a file" in result.err) == (Refused.exit_status, True)
    assert zap("source", "list", "--json").json["sources"] == []


def test_a_folder_may_be_attached_now_and_read_later(zap: Zap, papers: Path) -> None:
    added = zap("source", "add", "papers", "--no-scan", "--json").json["source"]
    assert (added["root"], added["scanned_at"]) == (str(papers), None)
    later = zap("search", "backup")
    assert later.out == ""
    assert "not scanned yet" in later.err
    assert zap("source", "scan", "--json").json["sources"][0]["added"] == 2
    assert zap("search", "backup").out


def test_patterns_choose_what_is_read_and_may_be_changed(zap: Zap, papers: Path) -> None:
    write(papers, "draft/x.md", "# Draft\n\nBackup of a draft.\n")
    zap("source", "add", "papers", "--include", "*.md", "--exclude", "draft/")
    (source,) = zap("source", "list", "--json").json["sources"]
    assert (source["include"], source["exclude"]) == (["*.md"], ["draft/"])
    assert len(zap("search", "backup", "--json").json["documents"]) == 1
    again = zap("source", "add", "papers", "--json").json
    assert again["source"]["id"] == source["id"]
    assert len(zap("search", "backup", "--json").json["documents"]) == 2


def test_what_is_attached_is_listed_and_let_go_of_by_path_or_id(zap: Zap, attached: Path, home: Path) -> None:
    write(home, "notes/a.md", "# A\n\nBackup.\n")
    zap("source", "add", str(home / "notes"))
    first, second = zap("source", "list", "--json").json["sources"]
    assert zap("source", "list").out.count("scanned ") == 2
    removed = zap("source", "remove", second["id"][:6], "--json").json
    assert (removed["source"]["root"], removed["documents"]) == (str(home / "notes"), 1)
    assert "2 documents left the index" in zap("source", "remove", "papers").out
    assert (attached / "release.md").exists()
    assert zap("search", "backup", "--json").json["count"] == 0
    assert zap("source", "remove", first["id"]).status == 3
    assert "Nothing is attached" in zap("source", "list").err


def test_a_scan_reads_what_changed_and_says_so(zap: Zap, attached: Path) -> None:
    write(attached, "new.md", "# Новое\n\nПоявилось.\n")
    (attached / "adr/0001-store.md").unlink()
    (came,) = zap("source", "scan", "--json").json["sources"]
    assert (came["added"], came["removed"], came["unchanged"]) == (1, 1, 1)
    assert "unchanged 2" in zap("source", "scan", "papers").out


def test_the_status_names_what_was_passed_over_with_its_reason(zap: Zap, attached: Path) -> None:
    write(attached, ".env", "KEY=1\n")
    for no in range(25):
        write(attached, f"s/{no:02}.pem", "x")
    scanned = zap("source", "scan")
    assert "26 passed over" in scanned.err
    (status,) = zap("source", "status", "--json").json["sources"]
    assert (status["documents"], status["kinds"]) == (2, {"adr": 1, "docs": 1})
    assert len(status["skipped"]) == 26
    told = zap("source", "status", "papers").out
    assert ".env: it may hold secrets" in told
    assert "and 6 more; --json lists them all" in told


@pytest.mark.promise("documents.safe_removal")
def test_a_scan_that_finds_its_files_gone_stops_and_says_what_can_be_done(zap: Zap, attached: Path) -> None:
    for no in range(8):
        write(attached, f"{no}.md", f"# Note {no}\n\nBackup {no}.\n")
    zap("source", "scan")
    for file in attached.rglob("*.md"):
        file.unlink()
    stopped = zap("source", "scan")
    assert stopped.status == Unavailable.exit_status
    assert "10 of 10 files are gone" in stopped.out
    assert "--accept-removals" in stopped.out
    assert zap("search", "backup", "--json").json["count"]
    assert zap("search", "backup").err.count("Not up to date") == 1
    document = zap("source", "scan", "--json")
    assert (document.status, document.json["reason"]) == (7, document.json["sources"][0]["problem"])
    accepted = zap("source", "scan", "--accept-removals", "--json")
    assert accepted.json["sources"][0]["removed"] == 10
    assert zap("search", "backup", "--json").json["count"] == 0


@pytest.mark.promise("documents.safe_removal")
def test_a_root_that_is_away_is_told_and_its_documents_stay(zap: Zap, attached: Path) -> None:
    attached.rename(attached.with_name("away"))
    stopped = zap("source", "scan")
    assert stopped.status == Unavailable.exit_status
    assert "source remove" in stopped.out
    assert zap("search", "backup", "--json").json["count"] == 1


def test_a_source_in_which_nothing_could_be_read_says_why(zap: Zap, home: Path) -> None:
    write(home, "empty/node_modules/a.md", "x\n")
    result = zap("source", "add", str(home / "empty"))
    assert result.status == Unavailable.exit_status
    assert "default exclude node_modules" in result.out
    assert "--include" in result.out


def test_the_process_of_a_server_scans_any_scope_by_id(zap: Zap, home: Path) -> None:
    write(home, "team/a.md", "# A\n\nBackup.\n")
    added = zap("source", "add", str(home / "team"), "--scope", "team:web", "--no-scan", "--json").json["source"]
    result = zap("source", "scan", "--scope", "all", "--for-parent", "--json", added["id"], tty=True)
    assert (result.status, result.json["sources"][0]["added"]) == (0, 1)


def test_a_bar_is_for_terminals_alone_and_can_be_refused(zap: Zap, attached: Path) -> None:
    write(attached, "one.md", "# One\n")
    assert "reading" in zap("source", "scan", tty=True).err
    write(attached, "two.md", "# Two\n")
    assert "reading" not in zap("source", "scan", "--quiet", tty=True).err
    assert zap("source", "scan", "--json", tty=True).err == ""


# --- questions --------------------------------------------------------------------------------------------
@pytest.mark.promise("documents.cited")
def test_a_hit_begins_with_its_place_as_editors_open_it(zap: Zap, attached: Path, monkeypatch: Any) -> None:
    result = zap("search", "запрещён", "релиз")
    first = click.unstyle(result.out.splitlines()[0])
    assert first.startswith("papers/release.md:8  ")
    assert first.endswith("Релизы > Пятница")
    assert "docs" in first
    assert "По пятницам релизы запрещены" in result.out
    assert "tags: deploy" in result.out
    assert "found in user (mode: lexical)" in result.err
    monkeypatch.chdir(attached / "adr")
    assert zap("search", "запрещён").out.startswith(f"{attached}/release.md:8  ")
    assert zap("search", "backups").out.startswith("0001-store.md:1  ")


def test_filters_narrow_what_is_searched(zap: Zap, attached: Path, home: Path) -> None:
    write(home, "notes/a.md", "# A\n\nBackups are made daily.\n")
    zap("source", "add", str(home / "notes"))

    def found(*options: str) -> list[str]:
        return sorted(place["path"] for place in zap("search", "backups", "--json", *options).json["documents"])

    assert found() == ["a.md", "adr/0001-store.md"]
    assert found("--kind", "adr") == ["adr/0001-store.md"]
    assert found("--kind", "adr", "--kind", "docs") == ["a.md", "adr/0001-store.md"]
    assert found("--source", "papers") == ["adr/0001-store.md"]
    assert found("--path", "adr") == ["adr/0001-store.md"]
    assert found("--limit", "1") != found()
    assert [place["path"] for place in zap("search", "релиз", "--tag", "DEPLOY", "--json").json["documents"]]
    assert found("--tag", "deploy") == []


@pytest.mark.promise("recall.syntax")
@pytest.mark.parametrize("question", ["AND backup OR", "backup*", '"backup', "title:backup", "-backup", "(backup"])
def test_nothing_in_a_question_to_the_documents_is_syntax(zap: Zap, attached: Path, question: str) -> None:
    assert zap("search", "--json", "--", question).json["count"] == 1


@pytest.mark.promise("recall.explain")
def test_explain_shows_every_part_of_a_place_s_score(zap: Zap, attached: Path) -> None:
    parts = zap("search", "backups", "--explain", "--json").json["documents"][0]["parts"]
    lines = zap("search", "backups", "--explain").out
    assert parts
    assert all(part["name"] in lines and f"{part['value']:.4f}" in lines for part in parts)


def test_a_long_place_is_shown_around_its_words_unless_it_is_wanted_whole(zap: Zap, home: Path) -> None:
    body = "\n".join(f"Строка {no} о погоде и ветре." for no in range(40))
    write(home, "long/a.md", f"# Погода\n\n{body}\nМаяк погас в полночь.\n{body.replace('ветре', 'снеге')}\n")
    zap("source", "add", str(home / "long"))
    shown = zap("search", "погас", "маяк").out
    assert "Маяк погас" in shown
    assert len(shown.splitlines()) <= 8
    assert "Строка 0 о погоде" in zap("search", "маяк погас", "--full").out


def test_an_excerpt_begins_at_the_line_where_most_words_stand_together() -> None:
    text = "A lamp.\n" + "Nothing here.\n" * 40 + "The lamp of the harbour is green.\nEnd."
    words = {word.stem for word in query_words("green harbour lamps")}
    assert excerpt(text, words).startswith("… The lamp of the harbour")
    assert excerpt(text, {"absent"}) == text
    assert excerpt("", words) == ""


def test_a_search_where_nothing_is_attached_says_how_to_attach(zap: Zap) -> None:
    result = zap("search", "anything")
    assert (result.status, result.out) == (0, "")
    assert "zapomni source add PATH" in result.err


def test_a_search_that_finds_nothing_says_so_and_succeeds(zap: Zap, attached: Path) -> None:
    result = zap("search", "квантовая хромодинамика")
    assert (result.status, result.out) == (0, "")
    assert "Nothing found in user" in result.err


def test_a_question_is_read_from_standard_input(zap: Zap, attached: Path) -> None:
    assert zap("search", "-", "--json", stdin="backup\n").json["count"] == 1


def test_memories_and_documents_are_recalled_together_each_by_its_name(
    zap: Zap, attached: Path, stored: Stored
) -> None:
    memory_id = stored("Релизы по пятницам запрещены, а Backups — нет.")
    result = zap("recall", "запрещены релизы", "--with-docs")
    heads = [line for line in result.out.splitlines() if not line.startswith(" ")]
    assert {"memory" in head for head in heads} == {True, False}
    assert all(("  memory  " in head) != ("  document  " in head) for head in heads)
    assert any(head.startswith(memory_id[:8]) for head in heads)
    assert any(head.startswith("papers/release.md:8") for head in heads)
    scores = [float(head.split()[1]) for head in heads]
    assert scores == sorted(scores, reverse=True)
    assert "memories 1" in result.err
    both = zap("recall", "запрещены релизы", "--with-docs", "--json").json
    assert both["count"] == len(both["memories"]) + len(both["documents"])
    assert both["documents"]
    assert "documents" not in zap("recall", "запрещены релизы", "--json").json


@pytest.mark.promise("cli.terminal")
def test_where_nothing_is_attached_a_recall_with_documents_misses_no_part_of_them(zap: Zap) -> None:
    result = zap("recall", "зебра", "--with-docs")
    assert (result.status, result.out) == (0, "")
    assert "Nothing found in user" in result.err
    assert "Not the whole answer: nothing has a vector yet" not in result.err


def test_a_source_of_another_scope_is_looked_for_with_every_scope(zap: Zap, papers: Path) -> None:
    zap("source", "add", "papers", "--mode", "mirror", "--scope", "agent:ada")
    for act in ("scan", "status", "remove"):
        told = zap("source", act, "papers")
        assert (told.status, "'papers' is attached in agent:ada, " in told.err) == (3, True)
        assert "Say --scope agent:ada" in told.err
    assert "source list --scope all" in zap("source", "scan", "nowhere").err
    again = zap("source", "add", "papers", "--mode", "mirror", "--scope", "agent:bob")
    assert (again.status, "is mirrored for agent:ada already" in again.err) == (Refused.exit_status, True)
    assert "let go of" in zap("source", "remove", "papers", "--scope", "all").out


@pytest.mark.promise("mirror.one-folder")
def test_no_folder_is_mirrored_before_its_scope_was_said(zap: Zap, home: Path) -> None:
    zap("store", "Пароли лежат в сейфе.")
    empty = home / "пусто"
    empty.mkdir()
    refused = zap("source", "add", str(empty), "--mode", "mirror", "--json")
    assert refused.status == InvalidInput.exit_status
    assert "(known scopes: user)" in refused.json["error"]["message"]
    assert "--scope user" in refused.json["error"]["remedy"]
    assert list(empty.iterdir()) == []
    assert zap("source", "list", "--json").json["count"] == 0
    assert "written 1" in zap("source", "add", str(empty), "--mode", "mirror", "--scope", "user").out


def test_no_text_of_a_file_controls_the_terminal(zap: Zap, home: Path) -> None:
    harmful = "red \x1b[31m\x1b]0;title\x07 \x9b2J back\x08 \u202e end"
    write(home, "red/a \u202e.md", f"---\ntags: ['{harmful}']\n---\n# {harmful}\n\n{harmful}\n")
    zap("source", "add", str(home / "red"))
    for words in (
        ["search", "red", "--explain"],
        ["search", "red", "--full"],
        ["recall", "red", "--with-docs"],
        ["source", "status"],
        ["source", "list"],
        ["search", "red", "--json"],
    ):
        result = zap(*words)
        assert result.out
        assert not {"\x1b", "\x07", "\x08", "\x9b", "\u202e"} & set(result.out + result.err), words


# --- vectors ----------------------------------------------------------------------------------------------
def test_few_vectors_are_made_at_once_and_many_are_left_to_others(
    zap: Zap, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "bundled")
    few = zap("source", "add", "papers")
    assert "vector" not in few.err
    assert zap("search", "backup", "--json").json.get("waiting") is None
    for no in range(40):
        write(papers, f"many/{no}.md", f"# Note {no}\n\nText {no}.\n")
    many = zap("source", "scan")
    assert "40 chunks wait for their vector; `zapomni reembed` makes them" in many.err
    assert zap("search", "note", "--json").json["waiting"] == 40


@pytest.mark.parametrize("where", ["file", "environment"])
def test_a_folder_that_the_settings_name_is_removed_there_first(
    zap: Zap, home: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = home / "бумаги"
    write(home, "бумаги/нота.md", "# Нота\n\nжуравль прилетел\n")
    settings = home / "config.toml"
    settings.write_text(f'[documents]\nfolders = ["{papers}"]\n' if where == "file" else "", encoding="utf-8")
    monkeypatch.setenv("ZAPOMNI_CONFIG", str(settings))
    if where == "environment":
        monkeypatch.setenv("ZAPOMNI_DOCUMENTS_FOLDERS", str(papers))
    zap("source", "scan")
    refused = zap("source", "remove", str(papers))
    assert refused.status == 6
    assert "documents.folders" in refused.err
    assert str(settings if where == "file" else "ZAPOMNI_DOCUMENTS_FOLDERS") in refused.err
    assert "бумаги/нота.md" in zap("search", "журавль").out
    settings.write_text("")
    monkeypatch.delenv("ZAPOMNI_DOCUMENTS_FOLDERS", raising=False)
    assert zap("source", "remove", str(papers)).status == 0
    zap("source", "scan")
    assert zap("source", "list", "--json").json["sources"] == []
