"""A word that no memory holds is taken for the nearest one that some memory holds, as the library answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zapomni.text.slips import strokes

if TYPE_CHECKING:
    from zapomni.app import Zapomni

NOTES = (
    "Старые ветки удаляем раз в месяц",
    "Все ошибки пишем в журнал",
    "Сборка идёт на машине в подвале",
    "Окна открываем по утрам",
    "Деплой бывает по четвергам",
    "Не хватает памяти на старом сервере",
    "Кэш живёт один час",
    "База данных: Postgres шестнадцатой версии",
    "Очередь задач держит Redis",
    "Индекс строится ночью",
    "Договор подписала Ольга",
    "Миграция заняла два часа",
    "The deployment window is on Friday",
    "Error E1234 means a full disk",
    "The helper load_user_table reads the accounts",
    "Maria prefers green tea",
    "The printer stands on the second floor",
    "Our landlord is called Henderson",
    "The bicycle has a flat tyre",
    "Grandmother bakes bread on Sundays",
    "The passport expires in August",
    "The dentist works until six",
    "Кошку зовут Мурка",
    "Ключи лежат у соседа",
    "Отпуск начинается в июле",
    "Бабушка любит пионы",
    "Поезд отходит в девять",
    "Счёт за воду оплачен",
    "Гитара стоит в шкафу",
    "Врач принимает по средам",
)


@pytest.fixture
def notes(words: Zapomni) -> Zapomni:
    for note in NOTES:
        words.remember(note)
    return words


def found(app: Zapomni, question: str) -> list[str]:
    return [hit.memory.content for hit in app.recall(question).hits]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Сколько у нас веток?", "ветки"),
        ("Куда писать тексты ошибок?", "ошибки"),
        ("Место сборок?", "Сборка"),
        ("Сколько окон?", "Окна"),
        ("Когда деплои?", "Деплой"),
        ("Где кончилась память?", "памяти"),
        ("Сколько живёт кеш?", "Кэш"),
        ("Which version of postgress?", "Postgres"),
        ("Who uses redsi?", "Redis"),
        ("Когда строится индикс?", "Индекс"),
        ("Кто подписал договр?", "Договор"),
        ("Сколько длилась миграцыя?", "Миграция"),
        ("When is the deploymnet?", "deployment"),
        ("Who is Hendrsen?", "Henderson"),
    ],
)
def test_a_slip_or_an_odd_form_still_finds_the_note(notes: Zapomni, question: str, told: str) -> None:
    assert told in found(notes, question)[0]


@pytest.mark.parametrize("asked", ["Петров", "Петрова", "Петрову", "Петровым", "Петрове"])
@pytest.mark.parametrize("told", ["Петров отвечает за склад", "Ключи у Петрова", "С Петровым уже говорили"])
def test_a_surname_is_found_in_any_case(notes: Zapomni, asked: str, told: str) -> None:
    # The stemmer takes the nominative for a genitive plural: `петр`, where the other cases come to `петров`.
    notes.remember(told)
    assert found(notes, f"А где {asked}?") == [told]


SURNAMES = {
    "Волков": ("Волков на больничном", "Книгу Волкова вернули", "С Волковым договорились"),
    "Иванов": ("Встречу с Ивановым перенесли на пятницу", "Иван настраивает Grafana"),
    "Кузнецов": ("Договор подписала Кузнецова", "Кузнец чинит ограду"),
    "Соловьёв": ("Отчёт готовит Соловьёв из отдела продаж", "Соловей, соловей и ещё соловей"),
    "Ростов": ("В Ростове открыли новый склад на улице Ленина", "Рост составил десять процентов"),
}


@pytest.mark.parametrize("asked", SURNAMES)
@pytest.mark.parametrize("by", ["text", "description"])
def test_all_that_tell_of_a_surname_come_before_what_shares_its_stem(words: Zapomni, asked: str, by: str) -> None:
    for told in SURNAMES[asked]:
        words.remember(told, description=told)
    assert {hit.memory.content for hit in words.recall(asked, by=by).hits} == set(SURNAMES[asked])
    assert asked[:-2] in words.recall(asked, by=by).hits[0].memory.content
    if asked != "Волков":
        assert words.recall(asked, by=by).hits[0].memory.content == SURNAMES[asked][0]


def test_a_long_text_that_shares_the_stem_comes_after_the_surname_too(words: Zapomni) -> None:
    surname = "Кузнецова подписала договор, " + "а дальше речь о погоде и о дороге " * 40
    smith = "Кузнец чинит ограду, " + "а дальше речь о погоде и о дороге " * 40
    words.remember(surname)
    words.remember(smith)
    assert found(words, "Кузнецов") == [surname, smith]


@pytest.mark.parametrize("asked", ["Кузнецовым", "Кузнецовой", "Соловьёвым"])
def test_a_surname_that_nobody_wrote_down_is_no_slip_of_the_word_it_comes_from(words: Zapomni, asked: str) -> None:
    words.remember("Кузнец чинит ограду")
    words.remember("Кузнецу заплатили")
    words.remember("Соловей поёт в саду")
    assert found(words, asked) == []


@pytest.mark.parametrize(("asked", "told"), [("Максим", "Код Максима проверен"), ("Артём", "Ключи у Артёма")])
def test_a_name_whose_end_looks_like_an_ending_is_found_in_any_case(words: Zapomni, asked: str, told: str) -> None:
    words.remember(told)
    words.remember(f"{asked} в отпуске")
    assert sorted(found(words, asked)) == sorted([told, f"{asked} в отпуске"])


@pytest.mark.parametrize("question", ["E1243", "E1235?", "usar_x9", "1234"])
def test_identifiers_and_numbers_are_never_taken_for_another(notes: Zapomni, question: str) -> None:
    assert not [note for note in found(notes, question) if "E1234" in note or "load_user_table" in note]


def test_a_part_of_an_unknown_identifier_is_not_taken_for_another(notes: Zapomni) -> None:
    assert found(notes, "foo_printr_bar") == []


def test_a_word_that_is_known_is_never_replaced(notes: Zapomni) -> None:
    notes.remember("The pointer is a hunting dog")
    assert found(notes, "pointer") == ["The pointer is a hunting dog"]
    assert found(notes, "printer") == ["The printer stands on the second floor"]


def test_the_word_as_asked_comes_before_what_stands_for_another(notes: Zapomni) -> None:
    notes.remember("Индикт кончился")
    answers = found(notes, "индикт индикс")
    assert answers[0] == "Индикт кончился"


def test_the_commoner_of_two_near_words_is_taken(notes: Zapomni) -> None:
    notes.remember("The castle of the lord")
    notes.remember("The castor sugar is out")
    notes.remember("Two castles near the river")
    assert all("castle" in note for note in found(notes, "castlr"))


def test_a_short_word_is_not_taken_for_another(notes: Zapomni) -> None:
    assert found(notes, "tek") == []


@pytest.mark.parametrize(
    "question",
    [
        "How tall is Mount Everest?",
        "Какая столица у Австралии?",
        "Сколько весит взрослый слон?",
        "Who composed the ninth symphony?",
        "quantum chromodynamics",
    ],
)
def test_an_unrelated_question_still_finds_nothing(notes: Zapomni, question: str) -> None:
    assert found(notes, question) == []


@pytest.mark.parametrize(
    ("one", "other", "most", "apart"),
    [
        ("redsi", "redis", 1, 1),
        ("redis", "redis", 1, 0),
        ("договр", "договор", 1, 1),
        ("ca", "abc", 2, 3),
        ("kitten", "sitting", 2, 3),
        ("kitten", "sitting", 3, 3),
        ("deploymnte", "deployment", 2, 2),
        ("abcd", "badc", 2, 2),
        ("abcd", "badc", 1, 2),
        ("", "ab", 2, 2),
    ],
)
def test_strokes_are_counted_as_far_as_asked(one: str, other: str, most: int, apart: int) -> None:
    assert strokes(one, other, most) == strokes(other, one, most) == apart
