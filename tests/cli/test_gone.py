"""What was deleted, erased or taken back is named as such, with the way back."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]
    Stored = Callable[..., str]

MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d"


@pytest.mark.parametrize("words", [["show"], ["update"], ["delete"]])
def test_a_deleted_memory_is_named_with_the_way_back(zap: Zap, stored: Stored, words: list[str]) -> None:
    made = stored("Ключи лежат у вахтёра.")
    zap("delete", made)
    result = zap(*words, made[:8], *(["новый текст"] if words == ["update"] else []))
    assert result.status == 3
    told = rf"memory {made} is deleted since {MOMENT} UTC. It is brought back by `zapomni undo {made}`"
    assert re.search(told, result.err)
    zap("undo", made)
    assert zap("show", made).status == 0


@pytest.mark.parametrize("verb", ["show", "delete", "undo", "blame"])
def test_an_erased_memory_is_named_as_such_by_its_whole_id(zap: Zap, stored: Stored, verb: str) -> None:
    made = stored("Стереть навсегда.")
    zap("delete", made, "--erase", "--yes")
    result = zap(verb, made)
    assert result.status == 3
    assert re.search(rf"memory {made} was erased on {MOMENT} UTC", result.err)
    assert f"`zapomni history {made}`" in result.err
    assert "erase  by cli" in zap("history", made).out
    assert f"no memory '{made[:8]}'" in zap(verb, made[:8]).err


def test_an_id_that_fits_nothing_is_no_deleted_one(zap: Zap, stored: Stored) -> None:
    zap("delete", stored("Одна."))
    assert "no memory 'zzzz' in user. Look it up with `list`" in zap("show", "zzzz").err


def test_what_was_deleted_in_a_scope_out_of_sight_is_not_told(zap: Zap, stored: Stored) -> None:
    made = stored("Чужая тайна.", "--scope", "team:web")
    zap("delete", made, "--scope", "team:web")
    assert "no memory" in zap("show", made, "--scope", "user").err


@pytest.mark.promise("history.undo")
def test_an_undo_says_what_it_took_back_and_how_it_goes_forward_again(zap: Zap, stored: Stored) -> None:
    made = stored("Кофе мелют утром.")
    zap("update", made, "Кофе мелют днём.")
    first, second = zap("undo", made), zap("undo", made)
    assert re.search(rf"^taken back: update #2 of {MOMENT}:\d\d\n  {made}$", first.out.strip())
    assert f"`zapomni undo {made} --to 2` goes forward again" in first.err
    assert re.search(rf"^taken back: create #1 of {MOMENT}:\d\d; it is deleted now", second.out)
    assert f"`zapomni undo {made} --to 1`" in second.err
    nothing = zap("undo", made)
    assert nothing.status == 6
    assert f"`zapomni undo {made} --to NUMBER`" in nothing.err
    forward = zap("undo", made, "--to", "2")
    assert re.search(rf"^brought to what it was after update #2 of {MOMENT}:\d\d\n  {made}$", forward.out.strip())
    assert "Кофе мелют днём." in zap("show", made).out


@pytest.mark.promise("history.undo")
def test_the_history_says_where_an_undo_went(zap: Zap, stored: Stored) -> None:
    made = stored("Кофе мелют утром.")
    zap("update", made, "Кофе мелют днём.")
    zap("undo", made, "--to", "1")
    zap("undo", made, "--to", "1")
    zap("undo", made)
    zap("delete", made)
    zap("undo", made, "--to", "6")
    lines = zap("history", made).out.splitlines()
    there = [at for at, line in enumerate(lines) if line.startswith("#")]
    assert lines[there[2]].endswith("restore  by cli  to what it was after #1")
    assert lines[there[2] + 1] == "  content: Кофе мелют днём. -> Кофе мелют утром."
    assert lines[there[3]].endswith("restore  by cli  to what it was after #1")
    assert lines[there[3] + 1] == "  nothing changed"
    assert lines[there[4]].endswith("takes back #4")
    assert lines[there[4] + 1] == "  nothing changed"
    assert lines[there[6]].endswith("restore  by cli  to what it was after #6")


def test_the_undo_of_a_run_names_its_own(zap: Zap, stored: Stored) -> None:
    ids = [stored("Одна."), stored("Другая.")]
    run = zap("delete", *ids, "--yes", "--json").json["run"]
    assert re.search(r"^taken back: 2 \(run \w+\)", zap("undo", "--run", run).out)


def commands(said: str) -> list[list[str]]:
    """The commands between backticks, as a shell would take them apart."""
    return [shlex.split(words)[1:] for words in re.findall(r"`(zapomni (?:--home [^`]+ )?undo [^`]+)`", said)]


@pytest.mark.promise("history.undo")
@pytest.mark.parametrize("scope", ["project:alpha", "team:сайт", "team:the web's site", "user"])
def test_the_commands_that_are_printed_for_another_scope_work_when_copied(zap: Zap, stored: Stored, scope: str) -> None:
    made = stored("Ключи лежат у вахтёра.", "--scope", scope)
    here = ("--scope", scope)
    zap("update", made, "Ключи лежат у охраны.", *here)
    (forward,) = commands(zap("undo", made, *here).err)
    assert zap(*forward).status == 0
    assert "у охраны" in zap("show", made, *here).out
    zap("delete", made, *here)
    for words in (["show", made], ["update", made, "новый"], ["delete", made]):
        (back,) = commands(zap(*words, *here).err)
        assert zap(*back).status == 0
        zap("delete", made, *here)
    other = stored("Окна закрыты.", *here)
    stored("Двери закрыты.", *here)
    (run,) = commands(zap("delete", *here, "--yes").err)
    assert zap(*run).out.startswith("taken back: 2 (run ")
    zap("delete", other, *here, "--never", "мимо")
    (lift,) = commands(zap("store", "Окна закрыты.", *here).err)
    assert zap(*lift).status == 0
    zap("undo", other, *here)
    zap("undo", other, *here)
    said = zap("undo", other, *here)
    assert said.status == 6
    (anywhere,) = commands(said.err)
    assert zap(*anywhere[:-1], re.findall(r"#(\d+)", zap("history", other, *here).out)[0]).status == 0


@pytest.mark.promise("history.undo")
def test_the_commands_that_are_printed_name_the_store_and_the_branch_that_were_named(zap: Zap, home: Path) -> None:
    at = ("--home", str(home / "другой дом"))
    made = zap(*at, "store", "Порт 8377", "--json").json["id"]
    zap(*at, "branch", "create", "проба")
    zap(*at, "update", made, "Порт 8378", "--branch", "проба")
    zap(*at, "update", made, "Порт 8379", "--branch", "проба")
    (forward,) = commands(zap(*at, "undo", made, "--branch", "проба").err)
    assert zap(*forward).status == 0
    assert "8379" in zap(*at, "show", made, "--branch", "проба").out
    zap(*at, "delete", made, "--branch", "")
    (back,) = commands(zap(*at, "show", made, "--json").json["error"]["remedy"])
    assert zap(*back).status == 0


@pytest.mark.promise("history.undo")
def test_a_run_that_was_taken_back_is_not_taken_back_again(zap: Zap, stored: Stored) -> None:
    ids = [stored("Одна."), stored("Другая."), stored("Третья.")]
    run = zap("delete", *ids, "--yes", "--json").json["run"]
    first = zap("undo", "--run", run, "--json").json["run"]
    runs = zap("history", "--runs").out
    again = zap("undo", "--run", run)
    assert (again.status, again.out) == (6, "")
    assert f"run {run} was already taken back by run {first}" in again.err
    assert zap("history", "--runs").out == runs
    assert f"`zapomni undo --run {first}` goes forward again" in again.err
    assert zap("undo", "--run", first).out.startswith("taken back: 3 (run ")
    assert zap("list", "--json").json["total"] == 0


@pytest.mark.promise("history.undo")
def test_a_run_of_which_nothing_can_be_taken_back_leaves_no_run(zap: Zap, stored: Stored) -> None:
    ids = [stored("Одна."), stored("Другая.")]
    run = zap("delete", *ids, "--yes", "--json").json["run"]
    zap("undo", ids[0])
    zap("undo", ids[1], "--to", "2")
    runs = zap("history", "--runs").out
    came = zap("undo", "--run", run)
    assert came.out.splitlines()[0] == "taken back: 0"
    assert f"left alone: {ids[0]}: already taken back by cli" in came.out
    assert f"left alone: {ids[1]}: changed again by cli (restore)" in came.out
    assert zap("undo", "--run", run, "--json").json["run"] is None
    assert zap("history", "--runs").out == runs


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["history"], "`zapomni history ID`"),
        (["history"], "`zapomni history --runs`"),
        (["undo"], "`zapomni undo ID`"),
        (["undo"], "`zapomni undo --run RUN`"),
        (["diff"], "`zapomni diff --run RUN`"),
        (["history", "abcd", "--runs"], "not both"),
        (["undo", "abcd", "--run", "efgh"], "not both"),
        (["undo", "--run", "efgh", "--to", "1"], "not with --run"),
    ],
)
def test_a_command_without_a_subject_says_what_to_type(zap: Zap, words: list[str], told: str) -> None:
    said = zap(*words)
    assert (said.status, told in said.err) == (2, True)


@pytest.mark.promise("write.rejection")
def test_a_refusal_names_what_lifts_it(zap: Zap, stored: Stored) -> None:
    made, other = stored("Кофе мелют утром."), stored("Что-то другое.")
    zap("delete", made, "--never", "мимо", "--yes")
    stored_again = zap("store", "Кофе мелют утром.")
    assert stored_again.status == 6
    assert "warning: refused before by cli: мимо" in stored_again.err
    changed = zap("update", other, "Кофе мелют утром.")
    assert "refused before by cli: мимо. The refusal is lifted by" in changed.err
    for said in (stored_again, changed):
        assert f"The refusal is lifted by `zapomni undo {made}`" in said.err
    zap("undo", made)
    assert zap("store", "Кофе мелют утром.").out.startswith("duplicate")


@pytest.mark.promise("write.rejection")
def test_a_refusal_that_nothing_lifts_any_more_names_no_way(zap: Zap, stored: Stored) -> None:
    made = stored("Кофе мелют утром.")
    zap("delete", made, "--never", "мимо", "--yes")
    zap("delete", made, "--erase", "--yes")
    said = zap("store", "Кофе мелют утром.")
    assert (said.status, "lifted" in said.err) == (6, False)
