from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]
    Stored = Callable[..., str]


def test_a_stored_text_comes_back_word_for_word(zap: Zap, stored: Stored) -> None:
    text = "Ёлка  в холле:\n\tкуплена у ООО «Северный Лес» 🎄 "
    memory_id = stored(text)
    assert zap("show", memory_id, "--json").json["content"] == text


def test_every_field_of_a_memory_can_be_given(zap: Zap, stored: Stored) -> None:
    memory_id = stored(
        "We never deploy on Friday.",
        *("--kind", "procedural", "--title", "No Friday deploys", "--description", "May I deploy?"),
        *("--tag", "a,b", "--tag", "Срочно", "--entity", "Ada", "--importance", "0", "--pinned"),
        *("--path", "process.deploy", "--source", "handbook.md", "--about", "project", "--position", "3"),
        *("--key", "friday", "--observed-at", "2026-01-02T03:04:05Z", "--valid-from", "2026-01-01T00:00Z"),
        *("--valid-until", "2999-01-01T00:00Z", "--meta", "team=platform", "--meta", "eq=a=b", "--scope", "team:web"),
    )
    memory = zap("show", memory_id, "--scope", "all", "--json").json
    assert {
        "kind": "procedural",
        "title": "No Friday deploys",
        "description": "May I deploy?",
        "tags": ["a,b", "Срочно"],
        "entities": ["Ada"],
        "importance": 0.0,
        "pinned": True,
        "path": "process.deploy",
        "source": "handbook.md",
        "about": "project",
        "position": 3,
        "key": "friday",
        "observed_at": "2026-01-02T03:04:05.000000Z",
        "valid_until": "2999-01-01T00:00:00.000000Z",
        "metadata": {"team": "platform", "eq": "a=b"},
        "scope": "team:web",
        "origin": "user",
    }.items() <= memory.items()


@pytest.mark.parametrize("words", [["store", "-"], ["store"]])
def test_a_text_is_read_from_standard_input(zap: Zap, words: list[str]) -> None:
    result = zap(*words, "--json", stdin="Из трубы.\n")
    assert result.status == 0
    assert zap("show", result.json["id"], "--json").json["content"] == "Из трубы."


def test_words_without_quotes_are_one_text(zap: Zap) -> None:
    memory_id = zap("store", "no", "deploys  on", "Friday", "--kind", "procedural", "--json", stdin="unread").json["id"]
    assert zap("show", memory_id, "--json").json["content"] == "no deploys  on Friday"
    assert zap("recall", "Friday", "deploys", "--json").json["memories"][0]["id"] == memory_id
    zap("update", memory_id, "deploys", "-", "never")
    assert zap("show", memory_id, "--json").json["content"] == "deploys - never"


def test_utf_16_with_its_mark_is_understood(zap: Zap) -> None:
    result = zap("store", "--json", stdin="Из PowerShell.\r\n".encode("utf-16"))
    assert zap("show", result.json["id"], "--json").json["content"] == "Из PowerShell."


def test_a_text_that_begins_with_a_dash_goes_after_two(zap: Zap, stored: Stored) -> None:
    memory_id = stored("--json is an option")
    found = zap("recall", "--json", "--", "--json option").json
    assert [memory["id"] for memory in found["memories"]] == [memory_id]


def test_recall_finds_by_words_and_says_how(zap: Zap, stored: Stored) -> None:
    memory_id = stored("По пятницам релизы запрещены.", "--title", "Пятница")
    stored("Кофе кончился.")
    result = zap("recall", "релиз в пятницу")
    assert result.status == 0
    assert memory_id[:8] in result.out
    assert "Пятница" in result.out
    assert "mode: lexical" in result.err
    assert "switched off" in result.err


def test_recall_reads_its_question_from_standard_input(zap: Zap, stored: Stored) -> None:
    memory_id = stored("По пятницам релизы запрещены.")
    assert zap("recall", "-", "--json", stdin="релиз\n").json["memories"][0]["id"] == memory_id


def test_a_question_without_an_answer_says_so_and_succeeds(zap: Zap, stored: Stored) -> None:
    stored("По пятницам релизы запрещены.")
    result = zap("recall", "квантовая хромодинамика")
    assert (result.status, result.out) == (0, "")
    assert "Nothing found in user" in result.err


def test_when_it_happened_may_be_a_day_by_its_name_or_with_dots(zap: Zap, stored: Stored) -> None:
    today, yesterday = stored("One.", "--observed-at", "сегодня"), stored("Two.", "--observed-at", "yesterday")
    dotted = stored("Three.", "--observed-at", "30.11.2020")
    for on, memory_id in (("today", today), ("вчера", yesterday), ("30.11.2020", dotted), ("2020-11", dotted)):
        assert [memory["id"] for memory in zap("list", "--on", on, "--json").json["memories"]] == [memory_id]
    assert zap("update", dotted, "--observed-at", "вчера").status == 0
    assert zap("list", "--on", "yesterday", "--json").json["total"] == 2


def test_an_empty_store_has_no_part_of_an_answer_to_miss(zap: Zap, stored: Stored) -> None:
    assert zap("recall", "релиз").err == "Nothing found in user (mode: lexical): there is no memory to search\n"
    stored("По пятницам релизы запрещены.")
    assert "Not the whole answer" in zap("recall", "релиз").err


def test_a_hit_beyond_the_budget_is_not_called_nothing(zap: Zap, stored: Stored) -> None:
    memory_id = stored("По пятницам релизы запрещены: " + "слово " * 50)
    err = zap("recall", "релиз", "--budget", "5").err
    assert f"1 found in user (mode: lexical), but the budget has no room for any: {memory_id[:8]}" in err
    assert "Nothing" not in err
    assert "more" not in err


def test_explain_tells_what_was_searched_where_nothing_was_found(zap: Zap, stored: Stored) -> None:
    stored("По пятницам релизы запрещены.")
    searched = "Nothing found in user (mode: lexical): searched 1 memory, and none reached the floor"
    assert searched in zap("recall", "квантовая хромодинамика", "--explain").err
    assert "searched" not in zap("recall", "квантовая хромодинамика").err


def test_a_share_may_be_written_with_a_comma_and_cannot_be_cleared(zap: Zap, stored: Stored) -> None:
    memory_id = stored("One.", "--importance", "0,75")
    assert zap("show", memory_id, "--json").json["importance"] == 0.75
    assert zap("list", "--min-importance", "0,8", "--json").json["total"] == 0
    result = zap("update", memory_id, "--importance", "none")
    assert result.status == 2
    assert "cannot be cleared" in result.err


FRUIT = "яблоко груша слива вишня черешня абрикос персик айва хурма инжир гранат лимон апельсин"


@pytest.mark.promise("recall.nothing")
def test_explain_shows_what_came_nearest_to_the_floor_where_nothing_reached_it(zap: Zap, stored: Stored) -> None:
    memory_id = stored("Шхуна стоит в доке.")
    lines = zap("recall", "где", "шхуна", FRUIT, "--explain").out.splitlines()
    rows = dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in lines[1:6])
    assert lines[0] == "memories"
    assert rows["looked for"].startswith("шхун, яблок")
    assert rows["passed over"] == "где"
    assert rows["searched"] == "1"
    assert rows["candidates"] == "by words 1; the best did not reach the floor"
    assert re.fullmatch(memory_id + r"  0\.\d\d, \d\d% of what the floor asks", rows["nearest"])
    assert "  Шхуна стоит в доке." in lines
    assert any(line.split()[:1] == ["words"] for line in lines)
    near = zap("recall", "где", "шхуна", FRUIT, "--explain", "--json").json["explanations"][0]["nearest"]
    assert (near["handle"], 0 < near["share"] < 1) == (memory_id, True)
    assert {part["name"] for part in near["parts"]} >= {"words", "importance"}
    assert "Шхуна" not in json.dumps(near, ensure_ascii=False), "stored text stands in no explanation"


@pytest.mark.promise("recall.nothing")
def test_explain_counts_what_scope_time_and_trust_keep_away(zap: Zap, stored: Stored) -> None:
    stored("Red tape.", "--scope", "team:web")
    stored("Red square.", "--valid-until", "2020-01-01", "--scope", "user")
    told = zap("recall", "red", "--explain", "--scope", "user")
    assert "hidden" in told.out
    assert "1 answer in team:web (`--scope team:web`); 1 answer not valid now" in told.out
    shown = zap("recall", "red", "--explain", "--scope", "user", "--trust", "disputed", "--json").json
    assert shown["explanations"][0]["without"] == {"every": 2}
    ids = zap("list", "--scope", "team:web", "--json").json["memories"][0]["id"]
    zap("update", ids, "Red tape, cut.", "--scope", "team:web")
    only = zap("recall", "red", "--explain", "--scope", "team:web", "--trust", "disputed", "--json").json
    assert only["explanations"][0]["without"] == {"trust": 1}


@pytest.mark.promise("recall.nothing")
def test_explain_names_no_stand_in_that_only_another_scope_holds(zap: Zap, stored: Stored) -> None:
    stored("Операция Бабочковедение.", "--scope", "project:secret")
    stored("Шхуна стоит в доке.", "--scope", "user")
    asked = ("recall", "шхуна", "бабочковедениц", FRUIT, "--explain", "--json", "--scope")
    assert zap(*asked, "user").json["explanations"][0]["near"] == {}
    assert zap(*asked, "project:secret").json["explanations"][0]["near"] == {"бабочковедениц": "бабочковеден"}


@pytest.mark.promise("recall.nothing")
def test_explain_of_descriptions_and_of_a_stand_in_for_a_misspelt_word(zap: Zap, stored: Stored) -> None:
    stored("Redis holds the sessions.", "--description", "Where do sessions live?")
    why = zap("recall", "redsi", FRUIT, "--explain", "--json").json["explanations"][0]
    assert why["near"] == {"redsi": "redi"}
    assert "redi for redsi" in zap("recall", "redsi", FRUIT, "--explain").out
    by = zap("recall", "redis", "--by", "description", "--explain", "--json").json["explanations"][0]
    assert (by["words"], by["seen"], by["by_words"]) == (["redi"], 1, 0)


@pytest.mark.promise("recall.explain")
def test_explain_shows_every_part_of_the_score(zap: Zap, stored: Stored) -> None:
    stored("We never deploy on Friday.")
    parts = zap("recall", "deploy", "--explain", "--json").json["memories"][0]["parts"]
    lines = zap("recall", "deploy", "--explain").out
    assert parts
    assert all(part["name"] in lines and f"{part['value']:.4f}" in lines for part in parts)


def test_a_long_text_is_cut_unless_it_is_wanted_whole(zap: Zap, stored: Stored) -> None:
    text = "слово " * 2_000 + "конец"
    memory_id = stored(text)
    short, whole = zap("list", "--json").json["memories"][0], zap("list", "--json", "--full").json["memories"][0]
    assert short["cut"] is True
    assert short["length"] == len(text)
    assert whole["content"] == text
    lines = zap("list").out.splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 80
    assert "конец" in zap("show", memory_id).out


def test_filters_narrow_a_listing_and_a_recall_alike(zap: Zap, stored: Stored) -> None:
    wanted = stored("One deploy note.", "--tag", "log", "--kind", "episodic")
    stored("Another deploy note.", "--tag", "logistics")
    for words in (["list"], ["recall", "deploy"]):
        found = zap(*words, "--tag", "LOG", "--kind", "episodic", "--json").json
        assert [memory["id"] for memory in found["memories"]] == [wanted]


def test_a_listing_goes_on_at_its_cursor_until_it_ends(zap: Zap, stored: Stored) -> None:
    ids = {stored(f"Note {number}.") for number in range(5)}
    seen: list[str] = []
    cursor: list[str] = []
    for _ in range(5):
        page = zap("list", "--limit", "2", "--json", *cursor).json
        assert page["total"] == 5
        seen += [memory["id"] for memory in page["memories"]]
        if page["next"] is None:
            break
        cursor = ["--cursor", page["next"]]
    assert len(seen) == 5
    assert set(seen) == ids
    result = zap("list", "--limit", "2")
    assert "2 of 5" in result.err
    assert "--cursor" in result.err


def test_an_update_changes_what_is_named_and_nothing_else(zap: Zap, stored: Stored) -> None:
    memory_id = stored("Old text.", "--tag", "keep", "--title", "Title", "--meta", "a=1", "--meta", "b=2")
    result = zap("update", memory_id[:10], "New text.", "--importance", "0.9", "--meta", "a=", "--json")
    assert result.json["version"] == 2
    memory = zap("show", memory_id, "--json").json
    assert (memory["content"], memory["importance"], memory["metadata"]) == ("New text.", 0.9, {"b": "2"})
    assert (memory["tags"], memory["title"]) == (["keep"], "Title")
    zap("update", memory_id, "--tag", "none", "--title", "none")
    memory = zap("show", memory_id, "--json").json
    assert (memory["tags"], memory["title"]) == ([], "")


def test_every_command_that_shows_a_change_tells_a_zero_and_leaves_a_no_empty(zap: Zap, stored: Stored) -> None:
    memory_id = stored("The text.", "--importance", "0.5", "--pinned")
    zap("update", memory_id, "--importance", "0", "--unpinned")
    for command in ("diff", "history"):
        lines = zap(command, memory_id).out
        assert "importance: 0.5 -> 0.0" in lines, command
        assert "pinned: yes -> -" in lines, command
    shown = zap("show", memory_id).out
    assert "importance" in shown
    assert "pinned" not in shown


def test_an_update_of_a_field_leaves_standard_input_alone(zap: Zap, stored: Stored) -> None:
    memory_id = stored("The text.")
    assert zap("update", memory_id, "--tag", "new", stdin="not for us").status == 0
    assert zap("show", memory_id, "--json").json["content"] == "The text."
    assert zap("update", memory_id, stdin="For us.").status == 0
    assert zap("show", memory_id, "--json").json["content"] == "For us."


def test_a_memory_moves_to_another_scope(zap: Zap, stored: Stored) -> None:
    memory_id = stored("Shared.")
    assert zap("update", memory_id, "--move-to", "team:web", "--json").json["scope"] == "team:web"
    assert zap("show", memory_id).status == 3
    assert zap("show", memory_id, "--scope", "team:web").status == 0


def test_a_lost_update_shows_both_texts(zap: Zap, stored: Stored) -> None:
    memory_id = stored("First.")
    zap("update", memory_id, "Второй.")
    result = zap("update", memory_id, "Third.", "--version", "1")
    assert result.status == 5
    assert "Второй." in result.err
    assert "Third." in result.err
    assert zap("update", memory_id, "Third.", "--version", "1", "--json").json["error"]["current"]["version"] == 2


def test_a_deleted_memory_is_gone_until_it_is_taken_back(zap: Zap, stored: Stored) -> None:
    memory_id = stored("Gone and back.")
    assert zap("delete", memory_id).status == 0
    assert zap("show", memory_id).status == 3
    assert memory_id[:8] in zap("list", "--deleted").out
    assert zap("undo", memory_id).status == 0
    assert zap("show", memory_id).status == 0
    verbs = [entry["verb"] for entry in zap("history", memory_id, "--json").json["revisions"]]
    assert verbs == ["create", "delete", "restore"]
    assert "by cli" in zap("history", memory_id).out


def test_one_bad_id_never_costs_the_good_ones(zap: Zap, stored: Stored) -> None:
    first, last = stored("First."), stored("Last.")
    result = zap("delete", first, "zzzz", last, "--json")
    assert result.status == 3
    assert (result.json["deleted"], result.json["failed"]) == (2, 1)
    assert result.json["results"][1]["error"]["code"] == "not_found"
    assert zap("list", "--json").json["total"] == 0


def test_deleting_by_filter_takes_exactly_what_the_listing_shows(zap: Zap, stored: Stored) -> None:
    for tag in ("log", "logistics", "a,b", "OPS", "ops", "50%", "C++"):
        stored(f"Tagged {tag}, {tag == 'OPS'}.", "--tag", tag)
    for tag in ("log", "ops", "a,b", "50%"):
        listed = {memory["id"] for memory in zap("list", "--tag", tag, "--json").json["memories"]}
        dry = zap("delete", "--tag", tag, "--dry-run", "--json").json
        assert {memory["id"] for memory in dry["memories"]} == listed
        assert zap("list", "--tag", tag, "--json").json["total"] == len(listed)
        done = zap("delete", "--tag", tag, "--yes", "--json").json
        assert {entry["id"] for entry in done["results"]} == listed
        assert zap("list", "--tag", tag, "--json").json["total"] == 0
    assert zap("list", "--json").json["total"] == 2


def test_what_would_be_deleted_is_shown_with_the_beginning_of_its_text(zap: Zap, stored: Stored) -> None:
    stored("Выкатка по вторникам.", "--tag", "deploy")
    shown = zap("delete", "--tag", "deploy", "--dry-run").out.splitlines()
    assert shown == ["Would delete 1 memory:", *zap("list", "--tag", "deploy").out.splitlines()]
    assert shown[2].strip() == "Выкатка по вторникам."


@pytest.mark.parametrize("blank", [["--tag", ""], ["--tag", " "], ["--path", "\u200b"], ["--tag", "x", "--source", ""]])
def test_a_blank_filter_deletes_nothing(zap: Zap, stored: Stored, blank: list[str]) -> None:
    stored("Stays.", "--tag", "x")
    result = zap("delete", *blank, "--yes")
    assert result.status == 2
    assert "blank" in result.err
    assert zap("list", "--json").json["total"] == 1


def test_deleting_many_must_be_confirmed(zap: Zap, stored: Stored) -> None:
    stored("Stays.", "--tag", "x")
    assert zap("delete", "--tag", "x", stdin="y\n").status == 6
    assert zap("delete", "--yes").status == 2
    assert zap("delete", "abcd", "--tag", "x", "--yes").status == 2
    assert zap("list", "--json").json["total"] == 1


def test_a_scope_alone_is_a_filter_that_is_shown_first_and_must_be_confirmed(
    zap: Zap, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = {stored("Deploys on Tuesdays.", "--scope", "team:сайт"), stored("Релизы по средам.", "--scope", "team:сайт")}
    stored("Stays.", "--scope", "user")
    dry = zap("delete", "--scope", "team:сайт", "--dry-run", "--json").json
    assert {memory["id"] for memory in dry["memories"]} == ids
    refused = zap("delete", "--scope", "team:сайт", stdin="y\n")
    assert (refused.status, "--yes or --dry-run" in refused.err) == (6, True)
    asked: list[str] = []

    def no(question: str, **_: Any) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("click.confirm", no)
    assert zap("delete", "--scope", "team:сайт", tty=True).status == 6
    assert asked == ["Delete 2 memories, all that `list` shows, in team:сайт?"]
    done = zap("delete", "--scope", "team:сайт", "--yes", "--json").json
    assert {entry["id"] for entry in done["results"]} == ids
    assert zap("list", "--scope", "all", "--json").json["total"] == 1
    assert zap("undo", "--run", done["run"]).status == 0
    assert zap("list", "--scope", "team:сайт", "--json").json["total"] == 2


def test_deleting_without_ids_or_filter_says_what_a_filter_is(zap: Zap, stored: Stored) -> None:
    stored("Stays.")
    for words in (["--yes"], ["--yes", "--erase"]):
        refused = zap("delete", *words)
        assert (refused.status, "--scope" in refused.err) == (2, True)
    assert zap("delete", "--scope", "", "--yes").status == 2
    assert zap("delete", "--scope", "team:никто", "--yes").status == 3
    assert zap("list", "--json").json["total"] == 1


def test_a_filter_that_nothing_fits_deletes_nothing_and_asks_nothing(zap: Zap, stored: Stored) -> None:
    stored("Релизы по средам.", "--tag", "deploy")
    result = zap("delete", "--tag", "никакой")
    assert (result.status, result.out, "Nothing fits" in result.err) == (0, "", True)
    assert zap("delete", "--tag", "никакой", "--json").json["deleted"] == 0


def test_erasing_must_be_confirmed_and_is_for_good(zap: Zap, stored: Stored) -> None:
    memory_id = stored("Секрет Полишинеля.")
    assert zap("delete", memory_id, "--erase", stdin="y\n").status == 6
    result = zap("delete", memory_id, "--erase", "--yes", "--json")
    (erased,) = result.json["results"]
    assert (erased["status"], erased["id"], "git repositories" in erased["outside"]) == ("erased", memory_id, True)
    assert "exports, git repositories, backups" in zap("delete", stored("gone"), "--erase", "--yes").err
    assert zap("undo", memory_id).status == 3


@pytest.mark.promise("history.erase")
def test_erasing_by_a_filter_reaches_what_was_deleted_before_and_what_a_listing_leaves_out(
    zap: Zap, stored: Stored, home: Path
) -> None:
    ids = [stored(text, "--scope", "team:сайт") for text in ("Тайна сорок два.", "Тайна сорок три.")]
    ids.append(stored("Тайна сорок четыре.", "--scope", "team:сайт", "--valid-until", "2020-01-01"))
    stored("Остаётся.", "--scope", "user")
    zap("delete", ids[0], "--scope", "team:сайт")
    here = ("delete", "--scope", "team:сайт", "--erase")
    assert zap(*here, "--dry-run").out.startswith("Would delete 3 memories, 1 of them deleted before:")
    dry = zap(*here, "--dry-run", "--json").json
    assert ({memory["id"] for memory in dry["memories"]}, dry["deleted_before"]) == (set(ids), 1)
    done = zap(*here, "--yes")
    assert (done.status, done.out.count("erased "), "1 of them deleted before" in done.err) == (0, 3, True)
    for memory_id in ids:
        assert "Тайна" not in zap("history", memory_id, "--scope", "team:сайт").out
    held = b"".join(path.read_bytes() for path in (home / "store").glob("memories.db*"))
    assert "Тайна".encode() not in held
    assert zap("list", "--scope", "all", "--json").json["total"] == 1


def test_erasing_by_a_filter_takes_no_more_than_the_filter_says(zap: Zap, stored: Stored) -> None:
    kept, gone = stored("Kept.", "--tag", "a"), stored("Gone.", "--tag", "b")
    zap("delete", kept, gone, "--yes")
    assert zap("delete", "--tag", "b", "--yes", "--json").json["deleted"] == 0
    done = zap("delete", "--tag", "b", "--erase", "--yes", "--json").json
    assert [entry["id"] for entry in done["results"]] == [gone]
    assert zap("undo", kept).status == 0


def test_the_question_before_deleting_counts_in_words_that_fit(
    zap: Zap, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def no(question: str, **_: Any) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("click.confirm", no)
    made = stored("Одна.", "--scope", "team:web")
    zap("delete", "--scope", "team:web", tty=True)
    zap("delete", made, "--scope", "team:web")
    stored("Другая.", "--scope", "team:web")
    zap("delete", "--scope", "team:web", "--erase", tty=True)
    assert asked == [
        "Delete 1 memory, all that `list` shows, in team:web?",
        "Erase for good 2 memories, all that there is, 1 of them deleted before, in team:web?",
    ]


def test_a_refused_text_is_not_stored_again(zap: Zap, stored: Stored) -> None:
    memory_id = stored("The moon is cheese.")
    assert zap("delete", memory_id, "--never", "it is wrong").status == 0
    result = zap("store", "The moon is cheese.")
    assert result.status == 6
    assert "it is wrong" in result.err
    assert zap("store", "The moon is cheese.", "--json").json["status"] == "refused"


def test_the_same_text_is_kept_once(zap: Zap, stored: Stored) -> None:
    memory_id = stored("Said once.")
    result = zap("store", "Said once.")
    assert result.status == 0
    assert f"duplicate {memory_id}" in result.out


def test_a_short_id_that_fits_several_lists_them(zap: Zap, stored: Stored) -> None:
    ids = [stored(f"Note number {number}.") for number in range(60)]
    prefix = next(one[0] for one in ids if sum(other[0] == one[0] for other in ids) > 1)
    result = zap("show", prefix)
    assert result.status == 4
    assert sum(one in result.err for one in ids) >= 2
    assert set(zap("show", prefix, "--json").json["error"]["matches"]) <= set(ids)


def test_stats_tell_where_the_store_lies_and_which_scopes_there_are(zap: Zap, stored: Stored, home: Path) -> None:
    stored("For the team.", "--scope", "team:web")
    stored("Mine.", "--tag", "срочно")
    stats = zap("stats", "--json").json
    assert stats["memories"] == 1
    assert stats["store"] == str(home / "store" / "memories.db")
    assert {"user", "team:web"} <= set(stats["known_scopes"])
    lines = zap("stats").out
    assert "team:web" in lines
    assert "срочно" in lines
    assert zap("stats", "--scope", "all", "--json").json["memories"] == 2


def test_scopes_are_named_in_full_and_slips_are_answered(zap: Zap, stored: Stored) -> None:
    stored("Web.", "--scope", "project:website")
    assert zap("list", "--scope", "project:website", "--json").json["total"] == 1
    assert zap("list", "--scope", "user", "--scope", "project:website", "--json").json["total"] == 1
    result = zap("list", "--scope", "project:webiste")
    assert result.status == 3
    assert "project:website" in result.err
    assert zap("list", "--scope", "website").status == 2


def test_every_setting_says_where_it_came_from(zap: Zap, home: Path) -> None:
    found = {row["name"]: row for row in zap("config", "show", "--json").json["settings"]}
    assert found["embedder.provider"]["origin"] == "environment ZAPOMNI_EMBEDDER_PROVIDER"
    assert found["recall.limit"]["origin"] == "default"
    found = {row["name"]: row for row in zap("--home", str(home / "else"), "config", "show", "--json").json["settings"]}
    assert (found["home"]["value"], found["home"]["origin"]) == (str(home / "else"), "--home")
    assert "environment ZAPOMNI_EMBEDDER_PROVIDER" in zap("config", "show").out
    assert zap("config", "path").out == f"{home}/.config/zapomni/config.toml\n"


def test_a_bad_setting_stops_the_command_by_name(zap: Zap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZAPOMNI_RECALL_LIMIT", "plenty")
    result = zap("recall", "anything")
    assert result.status == 2
    assert "recall.limit" in result.err


@pytest.mark.promise("config.home")
def test_the_store_lies_in_one_place_wherever_the_command_is_started(
    zap: Zap, stored: Stored, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = stored("The blue folder is on shelf 3.")
    gone = home / "gone"
    gone.mkdir()
    for folder in (home, "/", gone):
        monkeypatch.chdir(folder)
        if folder == gone:
            gone.rmdir()
        assert memory_id[:8] in zap("recall", "blue folder").out
    assert sorted(path.name for path in (home / "work").iterdir()) == []


@pytest.mark.promise("config.home")
def test_the_home_may_be_written_as_people_write_paths(zap: Zap, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZAPOMNI_HOME", "~/mem test/$SUB")
    monkeypatch.setenv("SUB", "x")
    zap("store", "Somewhere.")
    assert (home / "mem test" / "x" / "memories.db").exists()


def test_runs_are_listed(zap: Zap) -> None:
    result = zap("history", "--runs", "--json")
    assert result.json == {"count": 0, "runs": []}
    assert zap("history").status == 2
    assert zap("undo").status == 2


def test_reembed_without_a_model_says_why(zap: Zap, stored: Stored) -> None:
    stored("Waiting.")
    document = zap("reembed", "--json").json
    assert document["done"] == 0
    assert "switched off" in document["reason"]
    assert "switched off" in zap("reembed", "--quiet").out


def test_a_document_is_the_only_thing_on_standard_output(zap: Zap) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    result = zap("store", f"token {secret} \0", "--json")
    assert json.loads(result.out)["redactions"]
    assert result.err == ""
    told = zap("store", f"another token {secret}")
    assert "cut out of content" in told.err
    assert secret not in told.out + told.err


def test_what_is_found_by_its_description_shows_it(zap: Zap) -> None:
    zap("store", "До десяти тысяч документов она не окупается.", "--description", "почему нет векторной базы")
    shown = "  description: почему нет векторной базы\n"
    assert shown in zap("recall", "векторная база", "--by", "description").out
    assert shown in zap("recall", "векторная база", "--by", "description", "--with-docs").out
    assert shown not in zap("recall", "векторная база").out


def test_runs_are_those_of_the_whole_store(zap: Zap) -> None:
    result = zap("history", "--runs", "--scope", "user")
    assert result.status == 2
    assert "goes with an id" in result.err
