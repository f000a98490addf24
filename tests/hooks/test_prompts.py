from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.hooks.events import context_of
from tests.hooks.prompts import ABOUT, EVERYDAY, MEMORIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from zapomni.app import Zapomni

    Ask = Callable[[str], str]


@pytest.fixture
def ask(fire: Callable[..., Any]) -> Ask:
    """Return what a prompt brings in a session of its own."""
    return lambda prompt: context_of(fire("claude", "UserPromptSubmit", f"of {prompt}", prompt=prompt))


@pytest.mark.promise("hooks.once")
def test_everyday_prompts_that_speak_of_no_memory_bring_none(app: Zapomni, ask: Ask) -> None:
    for text in MEMORIES:
        app.remember(text)
    assert {prompt: told for prompt in EVERYDAY if (told := ask(prompt))} == {}


@pytest.mark.promise("hooks.once")
def test_most_prompts_that_speak_of_a_memory_bring_it(app: Zapomni, ask: Ask) -> None:
    for text in MEMORIES:
        app.remember(text)
    missed = [prompt for prompt, memory in ABOUT if memory not in ask(prompt)]
    assert len(missed) <= len(ABOUT) / 4, missed


@pytest.mark.promise("hooks.once")
@pytest.mark.parametrize(
    ("memory", "one", "two"),
    [
        ("The flaky test of the checkout is test 14.", "fix the test", "fix the flaky test"),
        ("Тест входа иногда падает из-за часового пояса.", "почему это падает?", "почему падает тест?"),
    ],
)
def test_one_word_in_common_brings_nothing_and_two_bring_the_memory(
    app: Zapomni, ask: Ask, memory: str, one: str, two: str
) -> None:
    app.remember(memory)
    assert ask(one) == ""
    assert memory in ask(two)


@pytest.mark.promise("hooks.once")
def test_an_identifier_is_told_by_its_parts_and_brings_its_memory_alone(app: Zapomni, ask: Ask) -> None:
    app.remember("test_checkout_total is flaky on Windows because of rounding.")
    assert "because of rounding" in ask("look at test_checkout_total")


@pytest.mark.promise("hooks.once")
@pytest.mark.parametrize(
    "prompt", ["Может ли это быть в самом моём?", "А почему оно у вас такое и чьё?", "Могут ли они быть своими сами?"]
)
def test_russian_function_words_bring_nothing_in_any_form(app: Zapomni, ask: Ask, prompt: str) -> None:
    app.remember("Сам отчёт может быть любым, но наш список и ваши таблицы такие же, как свои: их могут удалить.")
    app.remember("Чей это ключ, знает моя смена.")
    assert ask(f"{prompt} Скажи, когда обед.") == ""


@pytest.mark.promise("hooks.once")
@pytest.mark.parametrize(
    ("memory", "prompt"),
    [
        ("Петров отвечает за поставщиков и сидит в Казани.", "что там с Петровым?"),
        ("The contract with the carrier DHL ends in December.", "what about DHL?"),
        ("Очередь писем держит redis.", "а что у нас с redis?"),
    ],
)
def test_a_prompt_that_says_nothing_but_a_name_brings_the_few_memories_that_hold_it(
    app: Zapomni, ask: Ask, memory: str, prompt: str
) -> None:
    app.remember(memory)
    assert memory in ask(prompt)
    for no in range(5):
        app.remember(f"{memory} Об этом говорили в прошлый раз, номер {no}.")
    assert ask(f"{prompt} ") == "", "what everybody holds says nothing"


SURNAMES = (
    "Встречу с Ивановым перенесли на пятницу",
    "Иван настраивает Grafana",
    "Договор подписала Кузнецова",
    "Кузнец чинит ограду",
)


@pytest.mark.promise("hooks.once")
@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("Где Иванов?", SURNAMES[0]),
        ("а что Кузнецов?", SURNAMES[2]),
        ("что там с Кузнецовым?", SURNAMES[2]),
        ("что там с Соколовым?", ""),
        ("а что Соколов?", ""),
    ],
)
def test_a_surname_alone_brings_what_tells_of_it_and_not_what_it_is_made_of(
    app: Zapomni, ask: Ask, prompt: str, told: str
) -> None:
    for text in (*SURNAMES, "Сокол — кодовое имя выпуска", *(f"Кузнец номер {no} в отпуске" for no in range(6))):
        app.remember(text)
    brought = ask(prompt)
    assert told in brought
    assert not [other for other in (*SURNAMES, "Сокол", "номер") if other != told and other in brought]


@pytest.mark.promise("hooks.once")
@pytest.mark.parametrize("prompt", ["а что Кузнецов?", "что там с Кузнецовым?"])
def test_a_surname_that_nobody_wrote_down_brings_nothing(app: Zapomni, ask: Ask, prompt: str) -> None:
    app.remember("Кузнец чинит ограду")
    assert ask(prompt) == ""


@pytest.mark.promise("hooks.once")
@pytest.mark.parametrize(
    "prompt",
    ["what’s the status?", "WHAT IS THE STATUS?", "Status — what is it?", "а что с обменом?", "что там — с 47?"],
)
def test_a_single_word_that_is_no_name_brings_nothing(app: Zapomni, ask: Ask, prompt: str) -> None:
    app.remember("Status of an order is an enum.")
    app.remember("Обмен с 1С идёт ночью, миграция 47.")
    assert ask(prompt) == ""


@pytest.mark.promise("hooks.once")
def test_a_message_is_brought_for_its_own_words_not_for_those_around_it(app: Zapomni, ask: Ask) -> None:
    said = ["The gearbox of the ferry leaks oil.", "I will order a seal.", "Lunch is at noon."]
    for place, text in enumerate(said):
        app.remember(text, source="chat", position=place)
    told = ask("does the ferry's gearbox leak?")
    assert said[0] in told
    assert said[2] not in told
