"""What a statement may say of its sources, in Russian and English: numbers, dates, names and code."""

from __future__ import annotations

import random
import string
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.claims import Sources, dropped, invented

BUDGET = "Met with Alice today. Q3 budget is approved, $2.4M."
HIRING = "Alice wants to hire two engineers in August."
BUDGET_RU = "Встретились с Алисой. Бюджет Q3 утверждён, 2,4 млн долларов."
HIRING_RU = "Павел из Твери хочет нанять трёх инженеров в августе."

TRUE = {
    "as it stands": ("The Q3 budget of $2.4M is approved.", BUDGET),
    "another way of writing money": ("The Q3 budget is 2,400,000 USD.", BUDGET),
    "money in Russian": ("Бюджет Q3 равен $2.4M.", BUDGET_RU),
    "thousands parted by spaces": ("Бюджет Q3: 2 400 000 долларов.", BUDGET_RU),
    "a number without its unit": ("Both years had a budget of 2.4 million.", BUDGET),
    "percent": ("Доля выросла до 40 процентов.", "Доля теперь 40 %."),
    "a number word": ("Alice hires 2 engineers.", HIRING),
    "a number word in another case": ("Нанять хотят 3 инженеров.", HIRING_RU),
    "one and two are figures of speech": ("Both facts are two sides of one matter.", HIRING),
    "a date in another order": ("The audit is on 3 May 2026.", "Audit: 2026-05-03."),
    "a date with dots": ("Проверка назначена на 03.05.2026.", "Проверка будет 3 мая 2026 года."),
    "a month of a date": ("The audit falls into May 2026.", "Audit: 03.05.2026."),
    "a year of a date": ("Аудит идёт в 2026 году.", "Аудит: 3 мая 2026."),
    "the same hour": ("Backups run at 2:10 pm.", "Backups run at 14:10."),
    "a weekday in the plural": ("Deploys wait for Fridays.", "No deploy before Friday."),
    "a weekday in another case": ("К пятнице всё готово.", "Готово будет в пятницу."),
    "a name's possessive": ("Budget and staff depend on Alice's word.", f"{BUDGET} {HIRING}"),
    "names in other cases": ("Алисе и Павлу из Твери нужны инженеры.", f"{BUDGET_RU} {HIRING_RU}"),
    "surnames in other cases": ("Петрову и Пушкиной нужен Лев.", "Петров и Пушкина пишут Льву, а Льва нет: Лев уехал."),
    "a word of a source opens the sentence": ("Утверждённый бюджет Алисы.", BUDGET_RU),
    "usual openings": ("Together they matter. Однако всё зависит от Алисы.", BUDGET_RU),
    "code": ("It goes by `make ship` with --dry-run: `src/auth.py` calls refreshToken.", "make ship --dry-run src/auth.py refreshToken"),
    "a file of a path": ("It is auth.py that fails.", "src/auth.py fails"),
    "figures in a span": ("The timeout is 30 s.", "set `timeout=30 s`"),
    "среда is an environment": ("Готова среда разработки.", "Окружение для разработки готово."),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "source"), TRUE.values(), ids=TRUE)
@pytest.mark.promise("consolidate.guard")
def test_what_the_sources_say_may_be_said_in_other_words(statement, source):
    assert invented(statement, [source]) == []


FALSE = {
    "another number": ("The Q3 budget is $2.5M.", BUDGET, ["$2.5M"]),
    "another size": ("The Q3 budget is $2.4B.", BUDGET, ["$2.4B"]),
    "another currency": ("Бюджет Q3: 2,4 млн евро.", BUDGET_RU, ["2,4 млн евро"]),
    "a unit nobody named": ("It takes 40 minutes.", "It takes 40.", ["40 minutes"]),
    "a decimal that is none": ("Бюджет равен 24 млн долларов.", BUDGET_RU, ["24 млн долларов"]),
    "a number word": ("Нанять хотят пятерых? Нет, пять инженеров.", HIRING_RU, ["пять"]),
    "a sign": ("The change is -5 %.", "The change is 5 %.", ["-5 %"]),
    "a day nobody named": ("The audit is on 3 May.", "The audit is in May.", ["3 May"]),
    "another month": ("Инженеров наймут в сентябре.", HIRING_RU, ["сентябре"]),
    "another year": ("It was May 2025.", "It was 3 May 2026.", ["May 2025"]),
    "another hour": ("Backups run at 02:40.", "Backups run at 02:10.", ["02:40"]),
    "another weekday": ("Выпуск в среду.", "Выпуск в четверг.", ["среду"]),
    "a name": ("The engineers report to Bob.", HIRING, ["Bob"]),
    "a name that opens the sentence": ("Bob approved the budget.", BUDGET, ["Bob"]),
    "a Russian name": ("Инженеров ищет Борис.", HIRING_RU, ["Борис"]),
    "a Russian name that opens the sentence": ("Борис ищет инженеров.", HIRING_RU, ["Борис"]),
    "a beginning of a name": ("Steven approved it.", "Stevenson approved it.", ["Steven"]),
    "the beginning of a Russian name": ("Михаил утвердил.", "Михайлов утвердил.", ["Михаил"]),
    "a name in another script": ("Engineers are hired by Алиса.", HIRING, ["Алиса"]),
    "an acronym": ("Бюджет Q3 утверждён с НДС.", BUDGET_RU, ["НДС"]),
    "a quarter": ("The Q4 budget is approved.", BUDGET, ["Q4"]),
    "an identifier": ("Call refresh_token.", "Call refreshToken.", ["refresh_token"]),
    "a flag cut short": ("Use --dry.", "Use --dry-run.", ["--dry"]),
    "a path": ("Look into src/auth/keys.py.", "Look into src/auth.py.", ["src/auth/keys.py"]),
    "a version": ("Нужна версия 1.2.4.", "Нужна версия 1.2.3.", ["1.2.4"]),
    "a span": ("Run `make all`.", "Run `make ship`.", ["make all"]),
    "an address": ("See https://b.example/x.", "See https://a.example/x.", ["https://b.example/x"]),
    "a code with a nought before it": ("The code is 410.", "The code is 0410.", ["410"]),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "source", "found"), FALSE.values(), ids=FALSE)
@pytest.mark.promise("consolidate.guard")
def test_what_no_source_says_is_named(statement, source, found):
    assert invented(statement, [source]) == found


LOCKERS = ("The locker code for bay 3 is 4410.", "The locker code for bay 8 is 4471.")
LOCKERS_RU = ("Код ящика в отсеке 3: 4410.", "Код ящика в отсеке 8: 4471.")


@pytest.mark.promise("consolidate.guard")
def test_a_sentence_that_is_repeated_keeps_its_values():
    for (one, other), both, neither in (
        (
            LOCKERS,
            "The locker codes are 4410 for bay 3 and 4471 for bay 8.",
            "The locker codes of all bays begin alike.",
        ),
        (
            LOCKERS_RU,
            "Коды ящиков: отсек 3 — 4410, отсек 8 — 4471.",
            "Коды ящиков во всех отсеках начинаются одинаково.",
        ),
    ):
        assert dropped(both, one) == dropped(both, other) == []
        assert dropped(neither, one) == ["3", "4410"]
        assert dropped(neither, other) == ["8", "4471"]


@pytest.mark.promise("consolidate.guard")
def test_a_statement_on_something_else_need_not_hold_a_sentences_values():
    assert dropped("They want to hire two engineers.", HIRING, ["Alice"]) == ["August", "Alice"]
    assert dropped("The Q3 budget of $2.4M pays for engineers.", HIRING) == []
    assert dropped("Бюджет Q3 в 2,4 млн долларов утверждён.", BUDGET_RU) == []  # of the meeting it does not speak
    assert dropped("Бюджет утверждён.", BUDGET_RU) == ["2,4 млн долларов", "Q3"]


def test_a_word_that_opens_a_sentence_is_dropped_only_where_it_is_known_for_a_name():
    tea = "Ivo drinks sencha."
    assert dropped("Everybody drinks sencha.", tea) == []
    assert dropped("Everybody drinks sencha.", tea, ["Ivo"]) == ["Ivo"]
    assert dropped("Both like coffee.", "Lena's tea is sencha.") == []
    assert dropped("The tea is sencha.", "Lena's tea is sencha.") == ["Lena"]


@given(
    st.lists(st.sampled_from([BUDGET, HIRING, BUDGET_RU, HIRING_RU, *LOCKERS, *LOCKERS_RU]), min_size=1, unique=True)
)
@pytest.mark.promise("consolidate.guard")
def test_sources_put_one_behind_the_other_are_held_back_for_nothing(sources):
    statement = " ".join(sources)
    assert invented(statement, sources) == []
    assert [dropped(statement, source) for source in sources] == [[]] * len(sources)


@given(st.text())
def test_no_text_breaks_it_and_every_text_says_what_it_says(text):
    assert dropped(text, text, [text]) is not None
    assert invented(text, [text]) is not None


@given(st.integers(3, 10**9).filter(lambda number: not 1900 <= number < 2100), st.sampled_from(["{:,}", "{}"]))
def test_a_number_is_known_however_it_is_parted_and_another_one_is_not(number, form):
    source = f"It weighs {form.format(number)} kg."
    assert invented(f"Весит {number} кг.", [source]) == ["Весит"]
    assert f"{number + 1} кг" in invented(f"Весит {number + 1} кг.", [source])


HOSTILE = ["a" * 50_000, "a." * 25_000, "a/" * 25_000, "-a" * 25_000, "Aa" * 25_000, "A " * 25_000, "1 " * 25_000,
           "`" * 50_000, "_" * 50_000, "1" * 50_000, "a@" * 25_000, "A. " * 17_000, "5 May " * 8_000, "а-" * 25_000]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:6])
@pytest.mark.timeout(20)
def test_a_hostile_text_holds_nobody_up(text):
    invented("The budget is $2.4M.", [text])
    dropped("The budget is $2.4M.", text)


@pytest.mark.timeout(20)
def test_a_long_text_of_anything_is_read_in_time():
    letters = random.Random(7).choices(string.printable + "ёжЁЖ№«»—", k=100_000)
    invented("The budget is $2.4M.", ["".join(letters)])


SAID = date(2026, 11, 30)  # a Monday
TOLD = [
    ("Yesterday we moved the launch to next Friday.", "On 29 November 2026 the launch was moved to 2026-12-11."),
    ("Вчера договорились сдать отчёт через неделю.", "29 ноября 2026 договорились сдать отчёт 7 декабря 2026."),
    ("The lease runs for three years.", "The lease runs until 30 November 2029."),
    ("Аренда на полтора года, платим ежемесячно.", "Аренда до мая 2028 года."),
    ("Релиз 3 мая.", "Релиз 3 мая 2027."),
    ("We were down from 3 to 5 May.", "The outage began on 3 May 2026 and ended on 5 May 2026."),
    ("Встреча в среду в 14:30.", "Встреча 2 декабря 2026 в 14:30."),
    ("In May we hired two people.", "Two people were hired in May 2026."),
    ("Решили в прошлом квартале.", "Решили в июле 2026."),
    ("The contract of 12.03.2019 stands.", "The contract of March 2019 stands."),
    ("Nothing is said of time.", "It was said on 30 November 2026."),
]
UNTOLD = [
    ("Budget is approved.", "The budget was approved on 3 May 2025.", "3 May 2025"),
    ("Бюджет утверждён.", "Бюджет утверждён 14 марта 2026.", "14 марта 2026"),
    ("Yesterday the budget was approved.", "The budget was approved on 2026-11-12.", "2026-11-12"),
    ("Релиз 3 мая.", "Релиз 4 мая 2027.", "4 мая 2027"),
    ("Релиз 3 мая.", "Релиз 3 мая 2031.", "3 мая 2031"),
    ("Next week we ship.", "It ships in March 2028.", "March 2028"),
    ("Встреча сегодня.", "Встреча сегодня в 14:30.", "14:30"),
    ("Бюджет утверждён.", "Бюджет утверждают по пятницам.", "пятницам"),
]


@pytest.mark.promise("ingest.grounded")
@pytest.mark.parametrize(("text", "fact"), TOLD)
def test_a_date_that_can_be_reckoned_from_a_text_is_no_strange_one(text, fact):
    assert Sources([text]).strange_dates(fact, SAID) == []


@pytest.mark.promise("ingest.grounded")
@pytest.mark.parametrize(("text", "fact", "strange"), UNTOLD)
def test_a_date_that_no_text_bears_out_is_named(text, fact, strange):
    assert Sources([text]).strange_dates(fact, SAID) == [strange]


@pytest.mark.promise("ingest.grounded")
@given(st.text(alphabet="0123456789 .-:деньweksмая", max_size=60), st.dates())
def test_no_text_and_no_day_is_too_odd_to_be_reckoned_from(text, day):
    assert Sources([text]).strange_dates(text, day) == []


GOOD = [
    ("ok so postgres it is, mongo's dead to us", "The team chose Postgres over Mongo."),
    ("Прод переехал в Ригу, старый регион погасили.", "Продакшн переехал в регион Рига, старый регион погашен."),
    ("I usually deploy from the train, so no Friday releases please", "The user does not want releases on Fridays."),
    ("Никогда не выкатываем по пятницам, обожглись", "Команда не выкатывает релизы по пятницам."),
    ("Met with Alice today. Q3 budget is approved, $2.4M.", "Alice утвердила бюджет Q3 на $2.4M."),
    ("Встретился с Алисой. Бюджет утверждён.", "The budget of 2.4M was approved with Алиса."),
    ("予算を承認した。", "予算は承認された。"),
]
BAD = [
    (BUDGET, "The budget of the harbour bridge doubled after the storm."),
    (BUDGET_RU, "Бюджет ремонта моста вырос после шторма вдвое."),
]


@pytest.mark.promise("ingest.grounded")
@pytest.mark.parametrize(("text", "fact"), GOOD)
def test_a_fact_in_other_words_or_another_language_is_no_stranger_to_its_text(text, fact):
    assert Sources([text]).touch(fact)
    assert Sources([text]).strange_words(fact) == []


@pytest.mark.promise("ingest.grounded")
@pytest.mark.parametrize(("text", "fact"), BAD)
def test_one_shared_word_makes_no_fact_of_a_text(text, fact):
    assert len(Sources([text]).strange_words(fact)) >= 3
