import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zapomni.text import words
from zapomni.text.fold import fold
from zapomni.text.stem import stem
from zapomni.text.words import TOKENIZER, QueryWord, index_words, query_words, similar_words, similarity

ANY = st.text(st.characters())
LIVELY = st.text(
    st.sampled_from(list("aBcZ019 .-_/:@#+\\'&\"«»№ёйЙЁжШ猫京กั้ा한のー🚀👩\u200d💻\u0301\u05b8\u200b")), max_size=60
)
T08 = [
    "E1234 on boot means the fuse map is missing.",
    "E1243 on boot means the clock drifted.",
    "Call refreshTokenVault() before silentSignOut; flag DEPOT_API_BASE wins over the file.",
    "The regression came in with commit 9f3c2ab7d1e04c55a6b1f0d2e8c7714300aa91be.",
    "Job 550e8400-e29b-41d4-a716-446655440000 is the canary.",
    "R 4.3 scripts live beside the Go services; gate 42 is staging.",
    *[f"Note {n}: a boot error, the token and the silent signing out of session {n}." for n in range(60, 90)],
]


class Index:
    """A search index as a store would keep it: three columns, bm25 over all of them."""

    def __init__(self, *texts: str, titles: Sequence[str] = ()) -> None:
        self.db = apsw.Connection(":memory:")
        self.db.execute(f'create virtual table t using fts5(title, body, exact, tokenize="{TOKENIZER}")')
        for no, text in enumerate(texts, 1):
            row = index_words(title=titles[no - 1] if titles else "", body=text)
            self.db.execute(
                "insert into t(rowid, title, body, exact) values (?, ?, ?, ?)",
                (no, row.title.decode(), row.body.decode(), row.exact.decode()),
            )

    def find(self, query: str) -> list[int]:
        found = query_words(query)
        if not found:
            return []
        stems = " OR ".join(quoted(word.stem) for word in found)
        exact = " OR ".join(quoted(word.exact) for word in found if word.exact)
        match = f"({{title body}} : ({stems}))" + (f" OR (exact : ({exact}))" if exact else "")
        rows = self.db.execute("select rowid from t where t match ? order by bm25(t, 2.0, 1.0, 0.25)", (match,))
        return [row[0] for row in rows]


def quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def tokens(row: words.IndexWords) -> list[str]:
    return whole(row).split(" ")


def whole(row: words.IndexWords) -> str:
    return b" ".join((row.title, row.body, row.exact)).decode()


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("E1234", 1), ("e1234", 1), ("E1243", 2), ("refreshTokenVault", 3), ("refreshtokenvault", 3),
        ("silentSignOut", 3), ("silentsignout", 3), ("DEPOT_API_BASE", 3), ("depot-api-base", 3), ("token vault", 3),
        ("9f3c2ab7d1e04c55a6b1f0d2e8c7714300aa91be", 4), ("9f3c2ab", 4), ("9F3C2AB7D1", 4),
        ("550e8400-e29b-41d4-a716-446655440000", 5), ("550e8400", 5), ("Go", 6), ("R", 6), ("42", 6), ("4.3", 6),
    ],
)  # fmt: skip
def test_identifiers_bring_their_memory_first(query: str, first: int) -> None:
    assert Index(*T08).find(query)[0] == first


@pytest.mark.parametrize("query", ["QX-4471", "cache-warmup", "eu-west-3b", "QX-4471 AND cache-warmup"])
def test_hyphenated_names_bring_their_memory_first(query: str) -> None:
    index = Index(
        "Ticket QX-4471: the cache-warmup job must finish before eu-west-3b opens for traffic.",
        "Ticket QX-4472: invoice export moved to the nightly window.",
    )
    assert index.find(query)[0] == 1
    assert index.find("-4471") == [1]
    assert index.find("--dry-run") == []


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("don't restart", 1), ("O'Hara", 1), ("O’Hara", 1), ('5" rack', 1), ('"rack runbook', 1), ("(billing worker", 1),
        ("^billing", 1), ("do not purge /var/lib/queue", 2), ("DO NOT PURGE /var/lib/queue", 2), ("queue*", 2),
    ],
)  # fmt: skip
def test_query_syntax_is_plain_text(query: str, first: int) -> None:
    index = Index(
        "Don't restart the billing worker by hand: O'Hara owns the 5\" rack runbook.",
        "NEVER delete /var/lib/queue - do not purge it, not even on staging.",
    )
    assert index.find(query)[0] == first


@pytest.mark.parametrize(
    "query", ["AND", "OR", "NOT", "NEAR(queue staging", "*", "**", '""', ")(", '"', "", "  ", "\u200f"]
)
def test_stray_operators_are_harmless(query: str) -> None:
    assert isinstance(Index("NEVER delete /var/lib/queue and do not purge it").find(query), list)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("ёлка", 1), ("ЁЛКА", 1), ("елка", 1), ("ёлки", 1), ("счет 118", 1), ("счёт", 1), ("северный лес", 1), ("№118", 1),
        ("№ 118", 1), ("118", 1), ("надежности", 2), ("НАДЁЖНОСТИ", 2), ("надёжность", 2), ("байкал", 2), ("отчет", 2),
        ("отчёта", 2), ("папке_7", 2), ("срочно", 2),
    ],
)  # fmt: skip
def test_russian_is_found_in_any_case_form_and_spelling(query: str, found: int) -> None:
    index = Index(
        "Ёлка в холле куплена у ООО «Северный Лес», счёт № 118.",
        "Отчёт по НАДЁЖНОСТИ узла «Байкал» лежит в Папке_7.",
        titles=["", "Срочно отчёты"],
    )
    assert index.find(query) == [found]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("caf\u00e9 zo\u00eb", [1]), ("cafe zoe", [1]), ("\u05e9\u05dc\u05d5\u05dd", [2]), ("\u0642\u0644\u0645", [3]),
        ("\u0130STANBUL", [4]), ("istanbul", [4]), ("\u0131\u015f\u0131k", [4]), ("final", [5]), ("🚀", [5]), ("👩‍💻", [5]),
        ("東京", [6]), ("京都", [6]), ("猫", [6]), ("ภาษาไทย", [7]), ("ไทย", [7]), ("हिन्दी", [8]), ("메모리", [9]), ("\u200f", []),
    ],
)  # fmt: skip
def test_other_scripts_and_emoji_are_found(query: str, found: list[int]) -> None:
    index = Index(
        "Cafe\u0301 Zoe\u0308 opens at 8",
        "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u05dc\u05e6\u05d5\u05d5\u05ea",
        "\u0642\u064e\u0644\u064e\u0645 \u0623\u062d\u0645\u0631",
        "\u0130STANBUL ofisi, I\u015eIK paneli",
        "Deploy by \U0001f469\u200d\U0001f4bb done \U0001f680 \u2014 \ufb01nal",
        "東京と京都に猫がいる",
        "ผมชอบภาษาไทยมาก",
        "हिन्दी भाषा",
        "메모리를 저장한다",
    )
    assert index.find(query) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("C++", 1),
        ("c#", 2),
        (".NET", 3),
        ("main.py", 4),
        ("bar-baz", 5),
        ("anna@example.com", 6),
        ("R&D", 7),
        ("IDs", 8),
    ],
)
def test_a_name_with_punctuation_beats_its_parts(query: str, found: int) -> None:
    index = Index(
        "the C++ service", "the C# service", "the .NET service", "see /srv/app/src/main.py there",
        "https://github.com/foo/bar-baz/issues/12 is open", "write to anna@example.com today", "the R&D budget",
        "IDs of the main C net py r d bar and baz, anna example com",
    )  # fmt: skip
    assert index.find(query)[0] == found


def test_words_glued_by_camel_case_are_no_exact_match_for_the_spread_ones() -> None:
    assert Index("TLS alert closed Session 42", "The TLSSession is gone").find("TLSSession") == [2, 1]


def test_stop_words_go_from_a_query_that_has_others_and_stay_in_one_that_has_not() -> None:
    assert [word.stem for word in query_words("What is the plan for us and Где лежит отчёт")] == [
        "plan",
        "леж",
        "отчет",
    ]
    assert [word.stem for word in query_words("the who")] == ["the", "who"]
    assert [word.stem for word in query_words("vitamin D")] == ["vitamin", "d"]


def test_a_possessive_is_its_owner() -> None:
    assert query_words("Caroline's")[0] == query_words("Caroline")[0]


def test_a_query_has_distinct_words_and_not_too_many() -> None:
    assert query_words("cat cats cat") == (QueryWord("cat"),)
    many = query_words(" ".join(f"w{n}" for n in range(500)))
    assert len(many) == words.QUERY_WORDS
    assert many[0].stem == "w0"


def test_an_identifier_is_a_query_word_of_its_own_besides_its_parts() -> None:
    assert query_words("eu-west-3b") == (
        QueryWord("eu-west-3b", "eu-west-3b"),
        QueryWord("eu", None, "eu-west-3b"),
        QueryWord("west", None, "eu-west-3b"),
        QueryWord("3b", None, "eu-west-3b"),
    )


def test_exact_forms_are_kept_only_where_they_differ_from_the_stem() -> None:
    row = index_words(title="Reports", body="token tokens")
    assert row == words.IndexWords(title=b"report", body=b"token token", exact=b"reports tokens")


def test_words_with_digits_are_never_stemmed() -> None:
    assert [stem(word) for word in ("x86s", "3d", "папке7", "running", "бегущий", "שלום")] == [
        "x86s", "3d", "папке7", "run", "бегущ", "שלום",
    ]  # fmt: skip


def test_stems_are_the_same_on_many_threads() -> None:
    many = [f"{word}{end}" for word in ("надежност", "отчет", "токен") for end in ("", "ы", "ами", "ью", "ов")] * 40
    alone = [stem.__wrapped__(word) for word in many]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem.__wrapped__, many)) == alone


@given(ANY | LIVELY)
def test_every_word_of_a_text_finds_that_text(text: str) -> None:
    row = index_words(title="", body=text)
    body, exact = set(row.body.decode().split(" ")), set(row.exact.decode().split(" "))
    for word in query_words(text):
        assert word.stem in body
        assert word.exact is None or word.exact in exact


@given(st.from_regex(r"[A-Za-zА-Яа-яЁё]{1,200}", fullmatch=True))
def test_a_plain_word_is_folded_as_every_name_is(word: str) -> None:
    assert [one.exact or one.stem for one in query_words(word.capitalize())] == [fold(word)[: words.LONGEST]]


@given(ANY | LIVELY)
def test_words_do_not_depend_on_letter_case(text: str) -> None:
    assert {word.stem for word in query_words(text.lower())} <= set(tokens(index_words(title="", body=text.lower())))


@given(st.lists(ANY | LIVELY, min_size=1, max_size=5))
@settings(max_examples=60)
def test_every_token_survives_the_index_whole(texts: list[str]) -> None:
    db = apsw.Connection(":memory:")
    db.execute(f'create virtual table t using fts5(x, tokenize="{TOKENIZER}")')
    db.execute("create virtual table v using fts5vocab(t, instance)")
    for no, text in enumerate(texts):
        row = index_words(title=text, body=text)
        db.execute("delete from t")
        db.execute("insert into t(rowid, x) values (?, ?)", (no, whole(row)))
        kept = [term for (term,) in db.execute("select term from v order by offset")]
        assert kept == [token for token in tokens(row) if token]


@given(ANY | LIVELY)
def test_tokens_hold_nothing_that_a_query_could_stumble_over(text: str) -> None:
    for token in tokens(index_words(title=text, body=text)):
        assert len(token) <= words.LONGEST
        assert not any(char.isspace() or char in '"\x00' or "\ud800" <= char <= "\udfff" for char in token)


def test_a_run_without_white_space_of_any_length_is_cut_alike_in_text_and_query() -> None:
    blob = "x1" * 5_000
    assert Index(blob).find(blob) == [1]
    assert Index("東" * 50_000).find("東東") == [1]
    assert Index("/".join("abcdefg" for _ in range(10_000))).find("abcdefg") == [1]


def test_similarity_is_the_share_of_common_words() -> None:
    one, other = similar_words("Релиз переносится на четверг"), similar_words("релиз ПЕРЕНЕСЁН на четверг")
    assert similarity(one, one) == 1.0
    assert 0.3 < similarity(one, other) < 1.0
    assert similarity(one, similar_words("Nothing of the kind")) == 0.0
    assert similarity(frozenset(), frozenset()) == 0.0
    assert similarity(similar_words("push to main"), similar_words("do not push to main")) < 1.0


def test_the_module_starts_without_heavy_imports() -> None:
    code = "import sys, zapomni.text.words; print(*sorted(sys.modules))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {
        "hashlib",
        "json",
        "difflib",
        "numpy",
        "zapomni.text.secrets",
    }
