"""A made-up year of notes in two languages, and questions about it whose answers are known.

Each question is put in two wordings: the seen half was at hand when `text.periods` was written and the shares of
`search.constants` were chosen, the held-out half was written before it was first run. That run supplied .97 of what
the held-out half needs; after it one word was read otherwise (`from`, which one of its wordings has).
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from zapomni.model import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NOW: Final = datetime(2026, 4, 16, 15, tzinfo=UTC)
"""A Thursday; every question is asked then."""
DAYS: Final = 400
_IMPORTED: Final = 0.25
"""Share of the notes that were written down later, with the day on which they happened."""
_EACH: Final = 5
"""Questions of one sort in one wording."""


class Words(NamedTuple):
    """A language: people and topics in the forms that its sentences need, and how a note is written."""

    people: Sequence[tuple[str, str]]
    topics: Sequence[tuple[str, str]]
    notes: Sequence[str]
    months: Sequence[str]


ENGLISH: Final = Words(
    people=[(one, one) for one in (
        "Alice", "Bob Carter", "Chloe", "Daniel", "Emma Stone", "Farid", "Grace", "Hugo",
    )],
    topics=[(one, one) for one in (
        "the budget", "hiring", "the release", "the office move", "server costs", "the website", "training", "security",
    )],
    notes=(
        "Met with {name} about {topic}; {detail}.",
        "{name} called: {topic} needs another week, {detail}.",
        "{name} sent notes on {topic}, {detail}.",
        "Agreed with {name} to postpone {topic}; {detail}.",
    ),
    months=("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December"),
)  # fmt: skip
RUSSIAN: Final = Words(
    people=[
        ("Алиса", "Алисой"), ("Борис Котов", "Борисом Котовым"), ("Вера", "Верой"), ("Глеб", "Глебом"),
        ("Дарья Лис", "Дарьей Лис"), ("Егор", "Егором"), ("Жанна", "Жанной"), ("Игорь", "Игорем"),
    ],
    topics=[
        ("бюджет", "бюджете"), ("наём", "найме"), ("релиз", "релизе"), ("переезд офиса", "переезде офиса"),
        ("серверы", "серверах"), ("сайт", "сайте"), ("обучение", "обучении"), ("безопасность", "безопасности"),
    ],
    notes=(
        "Встреча: {name}, тема {topic}; {detail}.",
        "Звонок, {name}: {topic}, нужна ещё неделя, {detail}.",
        "{name}, заметки про {topic}, {detail}.",
        "Решили отложить, {name}: {topic}; {detail}.",
    ),
    months=("января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября",
            "ноября", "декабря"),
)  # fmt: skip


class Note(Struct, frozen=True, kw_only=True):
    """One note: when it happened, whom and what it is about, and the draft that is stored at `stored`."""

    at: datetime
    stored: datetime
    name: str
    topic: str
    meeting: bool
    draft: Draft


class Question(Struct, frozen=True, kw_only=True):
    """A question, its sort, language and half, and which notes its answer needs."""

    text: str
    sort: str
    language: str
    half: str
    needs: Callable[[Note], bool]
    newest: bool = False

    def needed(self, notes: Sequence[Note]) -> list[Note]:
        """Return the notes that the answer needs: all that fit, or of these the latest."""
        fitting = [note for note in notes if self.needs(note)]
        return [max(fitting, key=lambda note: note.at)] if self.newest and fitting else fitting


def notes(seed: int, size: int) -> list[Note]:
    """Return so many notes of the last `DAYS` days, in the order in which they were stored."""
    pick = random.Random(seed)  # noqa: S311 - a benchmark, and it must repeat
    made = [_note(pick, number) for number in range(size)]
    return sorted(made, key=lambda note: note.stored)


def _note(pick: random.Random, number: int) -> Note:
    words = pick.choice((ENGLISH, RUSSIAN))
    at = NOW - timedelta(seconds=pick.randrange(3_600, DAYS * 86_400))
    imported = pick.random() < _IMPORTED
    name, topic, form = pick.choice(words.people)[0], pick.choice(words.topics)[0], pick.randrange(len(words.notes))
    detail = f"{'ticket' if words is ENGLISH else 'заявка'} {10_000 + number}"
    draft = Draft(
        content=words.notes[form].format(name=name, topic=topic, detail=detail),
        entities=(name,),
        importance=round(pick.uniform(0.1, 0.7), 2),
        observed_at=at if imported else None,
    )
    stored = NOW - timedelta(seconds=pick.randrange(60, 3_600)) if imported else at
    return Note(at=at, stored=stored, name=name, topic=topic, meeting=form == 0, draft=draft)


# --- questions --------------------------------------------------------------------------------------------
WORDINGS: Final = {
    ("en", "seen"): {
        "day": "What happened on {day} {month} {year}?",
        "range": "What was going on between {day} and {last} {month} {year}?",
        "month": "What was done in {month} {year}?",
        "week": "What did we do {ago} weeks ago?",
        "latest": "When was the last meeting with {name}?",
        "topic": "What did {name} say about {topic}?",
    },
    ("en", "held out"): {
        "day": "Remind me what we noted on {month} {day}, {year}.",
        "range": "List everything from the {day}th to the {last}th of {month} {year}",
        "month": "I need a summary of {month} {year}",
        "week": "anything worth knowing from {ago} weeks ago",
        "latest": "the most recent meeting that {name} had, what was it about?",
        "topic": "is there news on {topic} from {name}",
    },
    ("ru", "seen"): {
        "day": "Что было {day} {month} {year} года?",
        "range": "Что происходило с {day} по {last} {month} {year}?",
        "month": "Что было сделано в период с 1 по {end} {month} {year} года?",
        "week": "Что мы делали {ago} недели назад?",
        "latest": "Когда была последняя встреча с {name}?",
        "topic": "Что {name} говорит о {topic}?",
    },
    ("ru", "held out"): {
        "day": "Напомни, что мы записали {day}-го {month} {year}",
        "range": "перечисли всё между {day} и {last} {month} {year} г.",
        "month": "Нужна сводка: всё начиная с 1 {month} {year} до {end} {month} {year}",
        "week": "что важного произошло {ago} недели назад?",
        "latest": "о чём шла речь на самой последней встрече с {name}",
        "topic": "есть ли новости о {topic}, которые передала {name}",
    },
}


def questions(seed: int) -> Iterator[Question]:
    """Yield the questions: every sort in both languages and both wordings, `_EACH` times."""
    pick = random.Random(seed)  # noqa: S311
    for (language, half), wordings in WORDINGS.items():
        for sort, wording in wordings.items():
            for _ in range(_EACH):
                yield _question(pick, language, half, sort, wording)


def _question(pick: random.Random, language: str, half: str, sort: str, wording: str) -> Question:
    words = ENGLISH if language == "en" else RUSSIAN
    first, end = _span(pick, sort)
    name, spoken = pick.choice(words.people)
    topic, of_topic = pick.choice(words.topics)
    ago = (NOW.date() - timedelta(days=NOW.weekday()) - first.date()).days // 7
    text = wording.format(
        day=first.day,
        last=(end - timedelta(days=1)).day,
        end=(end - timedelta(days=1)).day,
        month=words.months[first.month - 1],
        year=first.year,
        ago=ago,
        name=spoken if sort == "latest" else name,
        topic=of_topic,
    )

    def needs(note: Note) -> bool:
        if sort == "latest":
            return note.name == name and note.meeting
        if sort == "topic":
            return note.name == name and note.topic == topic
        return first <= note.at < end

    return Question(text=text, sort=sort, language=language, half=half, needs=needs, newest=sort == "latest")


def _span(pick: random.Random, sort: str) -> tuple[datetime, datetime]:
    """Return the time that a question of this sort is about: midnights in UTC."""
    today = NOW.replace(hour=0)
    if sort == "week":
        monday = today - timedelta(days=today.weekday() + 7 * pick.randint(2, 4))
        return monday, monday + timedelta(days=7)
    month = pick.randrange(1, 12)  # of the twelve before this one
    year, number = divmod(today.year * 12 + today.month - 1 - month, 12)
    first = today.replace(year=year, month=number + 1, day=1)
    if sort == "month":
        return first, (first + timedelta(days=31)).replace(day=1)
    first = first.replace(day=pick.randint(4, 18))
    return first, first + timedelta(days=pick.randint(4, 8) if sort == "range" else 1)


# --- planted facts ----------------------------------------------------------------------------------------
FACTS: Final = (
    ("The Q3 budget is approved: 2.4 million dollars.", "How large is the approved Q3 budget?"),
    ("The new office opens in Porto, the lease runs ten years.", "Where does the new office open?"),
    ("Production database backups are kept for 35 days by contract.", "How long must backups be kept?"),
    ("Grace is allergic to peanuts, order food accordingly.", "What is Grace allergic to?"),
    ("The website must never load third-party fonts, legal decided.", "May the website load third-party fonts?"),
    ("Security releases go out within 48 hours of a report.", "How fast do security releases go out?"),
    ("Hiring is frozen for the sales team this whole year.", "For which team is hiring frozen?"),
    ("The master key of the vault is with the notary.", "Who has the master key of the vault?"),
    ("Training costs are paid back when somebody stays two years.", "When are training costs paid back?"),
    (
        "Customers in Norway are invoiced in euros, not in kroner.",
        "In which currency are Norwegian customers invoiced?",
    ),
    ("Бюджет третьего квартала утверждён: 2,4 миллиона.", "Какой бюджет утвердили на третий квартал?"),
    ("Новый офис открываем в Казани, аренда на десять лет.", "Где открываем новый офис?"),
    ("Резервные копии базы храним 35 дней по договору.", "Сколько дней хранить резервные копии?"),
    ("У Жанны аллергия на арахис, учитывать при заказе еды.", "На что аллергия у Жанны?"),
    ("На сайте запрещены сторонние шрифты, решение юристов.", "Можно ли сторонние шрифты на сайте?"),
    ("Обновления безопасности выпускаем за 48 часов.", "За сколько часов выпускаем обновления безопасности?"),
    ("Наём в отдел продаж закрыт на весь год.", "В какой отдел закрыт наём?"),
    ("Главный ключ от сейфа хранится у нотариуса.", "У кого главный ключ от сейфа?"),
    ("Обучение компания оплачивает, если остаться на два года.", "Когда компания оплачивает обучение?"),
    ("Клиентам из Норвегии выставляем счета в евро.", "В какой валюте счета клиентам из Норвегии?"),
)
"""Important facts of a year, each with a question for it; the notes around them speak of the same topics."""
