"""What comes first and why, by words and by scripted vectors, as the library answers."""

from __future__ import annotations

import re
from math import isclose, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zapomni.embed.scripted import ScriptedEmbedder
from zapomni.errors import EmbedderError, Unavailable
from zapomni.model import Actor, Draft, Kind, Scope, ScopeKind
from zapomni.search import constants
from zapomni.search.pack import cost
from zapomni.services.remember import remember_many
from zapomni.text.words import QUERY_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.app import Zapomni
    from zapomni.model import Recollection

TALK = (
    "How was your week?",
    "Busy! I finally signed up for the pottery workshop.",
    "Oh nice, the pottery workshop in the old mill?",
    "Third of May, half past nine.",
    "So the workshop starts early, pottery before breakfast!",
    "Ha, yes.",
    *(f"By the way, topic number {no} came up at home." for no in range(20)),
    "Fourth of June, half past ten.",
)
SAID_WITHOUT = TALK[3]
"""A turn that holds none of the words of the question; those around it do."""


def texts(answer: Recollection) -> list[str]:
    return [hit.memory.content for hit in answer.hits]


def tell(app: Zapomni, turns: Sequence[str], source: str, **fields: Any) -> None:
    for position, turn in enumerate(turns):
        app.remember(turn, source=source, position=position, **fields)


def store_all(app: Zapomni, drafts: Sequence[Draft]) -> None:
    assert {outcome.status.value for outcome in remember_many(app.context, drafts, actor=Actor(name="test"))} == {
        "created"
    }


# --- neighbours of a conversation -------------------------------------------------------------------------
@pytest.mark.promise("recall.neighbours")
@pytest.mark.parametrize("kind", ["words", "both"])
def test_a_turn_is_found_through_the_turns_around_it(kind: str, request: pytest.FixtureRequest) -> None:
    app: Zapomni = request.getfixturevalue(kind)
    tell(app, TALK, "talk")
    app.embedding.drain()
    found = texts(app.recall("When is the pottery workshop?"))
    assert SAID_WITHOUT in found
    assert TALK[-1] not in found, "a turn far from the matter says nothing about it"


@pytest.mark.promise("recall.neighbours")
def test_turns_of_another_conversation_or_scope_lend_nothing(words: Zapomni) -> None:
    tell(words, TALK[:3], "talk")
    words.remember(SAID_WITHOUT)
    words.remember("Fifth of May, nine.", source="other", position=3)
    words.remember("Sixth of May, nine.", source="talk", position=3, scope="agent:other")
    found = texts(words.recall("When is the pottery workshop?", scopes=["all"]))
    assert set(found) <= set(TALK[:3])
    assert found


@pytest.mark.promise("recall.neighbours")
def test_a_neighbour_that_the_filter_keeps_out_is_not_answered_with(words: Zapomni) -> None:
    tell(words, TALK[:3], "talk", tags=["mine"])
    words.remember(SAID_WITHOUT, source="talk", position=3)
    assert SAID_WITHOUT in texts(words.recall("When is the pottery workshop?"))
    assert SAID_WITHOUT not in texts(words.recall("When is the pottery workshop?", tags=["mine"]))


# --- order ------------------------------------------------------------------------------------------------
@pytest.mark.promise("recall.words")
@pytest.mark.parametrize(
    ("question", "exact", "stem"),
    [
        ("отчётом", "Отчётом занята Ада.", "Отчёты лежат у Ады."),
        ("отчетами", "Отчётами занят Боб.", "Отчёту отдан весь день."),
        ("deploys", "The deploys are done.", "The deploy is done."),
        ("testing", "Testing comes first.", "Tested comes first."),
        ("отчёт", "Отчёт лежит у Ады.", "Отчёты лежат у Ады."),  # the stem itself
        ("deploy", "The deploy is done.", "The deploys are done."),
    ],
)
def test_the_word_as_it_was_written_comes_before_its_other_forms(
    words: Zapomni, question: str, exact: str, stem: str
) -> None:
    words.remember(exact)
    words.remember(stem)
    assert texts(words.recall(question)) == [exact, stem]


@pytest.mark.promise("recall.identifiers")
def test_an_identifier_comes_before_texts_of_similar_meaning(both: Zapomni) -> None:
    name = "The function parse_config_file reads settings."
    others = [f"Parse the config, then the file of settings, then config file number {no}." for no in range(20)]
    for text in (name, *others):
        both.remember(text)
    both.embedding.drain()
    assert texts(both.recall("parse_config_file"))[0] == name


def test_importance_multiplies_the_relevance(words: Zapomni) -> None:
    for importance, bank in ((0.0, "левом"), (0.5, "дальнем"), (1.0, "правом")):
        words.remember(f"Мост на {bank} берегу разводят ночью.", importance=importance)
    hits = words.recall("когда разводят мост").hits
    assert [hit.memory.importance for hit in hits] == [1.0, 0.5, 0.0]
    relevance = [hit.score / (0.5 + 0.5 * hit.memory.importance) for hit in hits]
    assert relevance == pytest.approx([relevance[0]] * 3)


def test_an_important_memory_that_hardly_fits_rises_over_an_idle_one_that_does(words: Zapomni) -> None:
    words.remember("Лодка у причала, лодка у мостков.", importance=0.0)
    words.remember("Лодка стоит у дальнего причала.", importance=1.0)
    assert texts(words.recall("лодка у причала"))[0] == "Лодка стоит у дальнего причала."


def test_of_equal_scores_the_newer_comes_first(words: Zapomni) -> None:
    for place in ("слева", "справа"):
        words.remember(f"Якорь лежит {place}.")
    assert texts(words.recall("якорь")) == ["Якорь лежит справа.", "Якорь лежит слева."]


# --- filters ----------------------------------------------------------------------------------------------
CROWD = 300
ONE = "Отчёт о погоде в гавани за год: шторм, штиль."
PASSES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tags": ({"tags": ("Нужный",)}, {"tags": ["нужный"]}),
    "all_tags": ({"tags": ("a", "b")}, {"all_tags": ["a", "b"]}),
    "entities": ({"entities": ("Ада",)}, {"entities": ["ада"]}),
    "kind": ({"kind": Kind.PROCEDURAL}, {"kind": ["procedural"]}),
    "path": ({"path": "a.b.c"}, {"path": "a.b"}),
    "source": ({"source": "log.md"}, {"source": "log.md"}),
    "importance": ({"importance": 0.51}, {"importance_from": 0.505}),
    "pinned": ({"pinned": True}, {"pinned": True}),
    "scope": ({"scope": Scope(kind=ScopeKind.TEAM, name="x")}, {"scopes": ["team:x"]}),
}


@pytest.fixture(scope="module", params=PASSES)
def crowded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A store in which 300 memories fit a question better than the one that a filter lets through."""
    from zapomni.app import Zapomni
    from zapomni.config import load

    fields, where = PASSES[request.param]
    home = tmp_path_factory.mktemp("crowded")
    settings = {"home": home, "embedder.provider": "scripted"}
    with Zapomni(load(settings, environ={}, cwd=home)) as app:
        crowd = [Draft(content=f"Отчёт о погоде в гавани, {no}.") for no in range(CROWD)]
        ballast = [Draft(content=" ".join(f"{no * 31 + k:x}zq{no}" for k in range(6))) for no in range(CROWD)]
        store_all(app, [*crowd[: CROWD // 2], Draft(content=ONE, **fields), *crowd[CROWD // 2 :], *ballast])
        app.embedding.drain()
        yield app, where


@pytest.mark.promise("recall.filters")
@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_the_one_memory_that_a_filter_lets_through_is_found_behind_hundreds_that_fit_better(
    crowded: tuple[Zapomni, dict[str, Any]], mode: str
) -> None:
    app, where = crowded
    assert ONE not in texts(app.recall("отчёт о погоде в гавани", mode=mode, limit=100, scopes=["all"]))
    assert texts(app.recall("отчёт о погоде в гавани", mode=mode, **where)) == [ONE]


# --- explain ----------------------------------------------------------------------------------------------
@pytest.mark.promise("recall.explain")
def test_the_parts_of_a_score_add_up_to_it(both: Zapomni) -> None:
    tell(both, TALK, "talk", importance=0.8)
    both.remember("The pottery workshop takes place in the old mill. " * 40, importance=0.1)
    both.remember("Мастерская: pottery_workshop.md лежит в wiki.", importance=1.0)
    both.embedding.drain()
    names: set[str] = set()
    for question in ("When is the pottery workshop?", "pottery_workshop.md", "мастерская", "the old mill in May"):
        hits = both.recall(question).hits
        assert hits, question
        for hit in hits:
            values = {part.name: part.value for part in hit.parts}
            names |= values.keys()
            factor = values.pop("importance")
            assert factor == 0.5 + 0.5 * hit.memory.importance
            assert isclose(hit.score, prod((sum(values.values()), factor)), rel_tol=1e-9)
            assert all(part.why for part in hit.parts)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert names == {"words", "exact", "window", "thread", "meaning", "importance"}


@pytest.mark.promise("recall.explain")
def test_the_page_about_scores_names_the_constants_and_bounds_that_hold(both: Zapomni) -> None:
    page = (Path(__file__).parents[2] / "docs" / "scores.md").read_text(encoding="utf-8")
    flat = " ".join(page.split())
    assert f"{constants.GATE:.2f} + {constants.GATE_GROWTH:.2f} × ln" in flat
    assert f"{constants.GATE_ACROSS:.2f} + {constants.GATE_ACROSS_GROWTH:.3f} × ln" in flat
    assert f"need {constants.GATE_BEHIND:.0%} of that".replace("%", " %") in flat
    assert f"a share of {constants.WORDS_ALONE:.3f} + {constants.GATE_GROWTH:.2f} × ln of them" in flat
    assert f"everything beyond {QUERY_WORDS} words" in flat
    share = 1 / constants.PERFECT
    most = {
        "words": share,
        "exact": constants.EXACT_BONUS,
        "window": constants.NEAR_WEIGHT * share,
        "thread": constants.FAR_WEIGHT * share,
        "meaning": constants.VECTOR_WEIGHT,
    }
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([\d.]+) \|", page, re.MULTILINE))
    assert rows == {name: f"{value:.2f}".rstrip("0").rstrip(".") for name, value in most.items()}
    assert f"at most about {sum(most.values()):.1f}" in flat
    both.remember("маяк " * 300)
    tell(both, [f"маяк маяк {no}" for no in range(9)], "talk")
    both.embedding.drain()
    for hit in both.recall("маяк маяка lighthouse").hits:
        assert 0 < hit.score <= sum(most.values())
        assert all(part.value <= most.get(part.name, 1.0) + 1e-9 for part in hit.parts)


@pytest.mark.promise("recall.nothing")
def test_what_came_nearest_by_meaning_is_named_with_its_share_of_the_floor(both: Zapomni) -> None:
    stored = {both.remember(text).id for text in (*TALK[:6], *TALK[6:20:2])}
    both.embedding.drain()
    answer = both.recall("where does one buy bicycle tyres?", explain=True)
    (why,) = answer.explanations
    assert (answer.hits, why.of, why.seen, why.by_words, why.by_meaning) == ((), "memories", 13, 0, 13)
    assert why.passed_over == ("where", "does")
    assert 0 < why.judged < 13, "what lies on the other side of the mean speaks against itself"
    assert why.nearest is not None
    assert why.nearest.handle in stored
    assert 0 < why.nearest.share < 1
    assert {part.name for part in why.nearest.parts} == {"meaning", "importance"}
    assert both.recall("where does one buy bicycle tyres?").explanations == ()


# --- budget -----------------------------------------------------------------------------------------------
@pytest.mark.promise("recall.budget")
@pytest.mark.parametrize("budget", [1, 10, 40, 100, 300, 10_000])
def test_a_budget_is_kept_and_the_rest_is_named_in_order(words: Zapomni, budget: int) -> None:
    for no in range(6):
        words.remember(f"Запись о маяке {no}. " + "Свет виден далеко. " * (no * 3), title="Маяк" * (no % 2))
    everything = words.recall("маяк").hits
    assert len(everything) == 6
    answer = words.recall("маяк", budget=budget)
    assert sum(cost(hit) for hit in answer.hits) <= budget
    kept = [hit.memory.id for hit in answer.hits]
    assert sorted([*kept, *answer.left_out]) == sorted(hit.memory.id for hit in everything)
    room = budget - sum(cost(hit) for hit in answer.hits)
    assert all(cost(hit) > room for hit in everything if hit.memory.id in answer.left_out)
    order = [hit.memory.id for hit in everything]
    assert [kept, list(answer.left_out)] == [sorted(kept, key=order.index), sorted(answer.left_out, key=order.index)]


@pytest.mark.promise("recall.budget")
def test_a_small_memory_behind_one_that_has_no_room_is_still_taken(words: Zapomni) -> None:
    words.remember("Маяк, маяк, маяк: " + "его свет виден далеко за мысом " * 20, importance=1.0)
    words.remember("Маяк погас.", importance=0.1)
    large, small = words.recall("маяк маяк").hits
    assert large.memory.importance == 1.0
    answer = words.recall("маяк маяк", budget=cost(large) - 1)
    assert texts(answer) == [small.memory.content]
    assert answer.left_out == (large.memory.id,)


# --- without vectors --------------------------------------------------------------------------------------
@pytest.mark.promise("recall.degrades")
def test_before_the_first_vector_words_answer_and_say_so(both: Zapomni) -> None:
    both.remember("Лодка у причала.")
    answer = both.recall("лодка")
    assert (answer.mode.value, answer.reason, answer.waiting) == ("lexical", "nothing has a vector yet", 1)
    assert texts(answer) == ["Лодка у причала."]
    both.embedding.drain()
    answer = both.recall("лодка", strict=True)
    assert (answer.mode.value, answer.reason, answer.waiting) == ("hybrid", None, 0)


@pytest.mark.promise("recall.degrades")
def test_a_provider_that_fails_is_named_and_strict_makes_it_an_error(opened: Callable[..., Zapomni]) -> None:
    embedder = ScriptedEmbedder()
    app = opened(embedder)
    app.remember("Лодка у причала.")
    app.embedding.drain()
    down = EmbedderError("scripted is down")
    embedder.failures.extend([down] * 3)
    answer = app.recall("лодка")
    assert (answer.mode.value, answer.reason, texts(answer)) == ("lexical", "scripted is down", ["Лодка у причала."])
    for how in ({"strict": True}, {"mode": "semantic"}):
        with pytest.raises(Unavailable, match="scripted is down"):
            app.recall("лодка", **how)
    assert app.recall("лодка", mode="lexical", strict=True).reason is None
    assert app.recall("лодка").mode.value == "hybrid"


@pytest.mark.promise("recall.floor")
def test_words_alone_return_nothing_for_a_question_that_shares_one_weak_word(words: Zapomni) -> None:
    for no in range(30):
        words.remember(f"Заметка {no} о том, как работает склад и кто за него отвечает.")
    assert not words.recall("зебра").hits
    assert not words.recall("как кормить зебру, жирафа, антилопу, носорога и бегемота в зоопарке Пензы").hits


@pytest.mark.promise("recall.floor")
def test_a_word_in_common_says_less_the_more_memories_there_are_to_have_it(words: Zapomni) -> None:
    question = "Should the ferry to the island take bicycles, goats and our oldest piano in winter?"
    note = "The ferry to the mill was painted yellow by the children of the harbour master, who had some paint left."
    words.remember(note)
    assert texts(words.recall(question)) == [note]
    for no in range(60):
        words.remember(f"Goods of lot {no} are stored behind the gate.")
    assert words.recall(question).hits == ()
    assert texts(words.recall("the yellow ferry")) == [note]
