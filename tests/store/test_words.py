from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from zapomni.model import Filter, Verb
from zapomni.store.sqlite.corpus import MEMORIES
from zapomni.store.sqlite.lexical import indexed, match
from zapomni.text.words import TOKENIZER, QueryWord, query_words


def test_the_index_uses_the_tokenizer_of_the_text_room(bench):
    sql = bench.store._db.mine().execute("SELECT sql FROM sqlite_schema WHERE name = 'words'").get
    assert f'tokenize = "{TOKENIZER}"' in sql


def test_every_short_field_is_found(bench):
    bench.add(
        bench.memory(
            "a", "x", title="Заголовки", description="describing", tags=("метка",), entities=("Анна",), path="p.skill"
        )
    )
    for word in ("заголовками", "describe", "метки", "анна", "skill"):
        assert bench.found(word) == ["a"], word


def test_the_words_follow_every_change(bench):
    first = bench.memory("a", "lapwing", tags=("one",))
    bench.add(first)
    second = replace(first, content="grebe", version=2)
    bench.put(first, second)
    assert (bench.found("lapwing"), bench.found("grebe")) == ([], ["a"])
    third = replace(second, tags=("two",), version=3)
    bench.put(second, third)
    assert (bench.found("one"), bench.found("two"), bench.ids(Filter(tags=("one",)))) == ([], ["a"], [])
    gone = replace(third, deleted_at=bench.now, version=4)
    bench.put(third, gone, Verb.DELETE)
    assert bench.found("grebe") == []
    edited = replace(gone, content="heron", version=5)
    bench.put(gone, edited)
    assert bench.found("heron") == []
    bench.put(edited, replace(edited, deleted_at=None, version=6), Verb.RESTORE)
    assert (bench.found("grebe"), bench.found("heron")) == ([], ["a"])
    assert bench.unwell() == []


@pytest.mark.promise("recall.syntax")
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stem=st.text(min_size=1), exact=st.none() | st.text())
def test_no_word_is_syntax(bench, stem, exact):
    token = QueryWord(stem.encode("utf-8", "replace").decode(), exact and exact.encode("utf-8", "replace").decode())
    bench.store.lexical([token], Filter(), 5)
    assert match(['a" OR "b']) == '"a"" OR ""b"'


@pytest.mark.promise("recall.syntax")
@pytest.mark.parametrize(
    "text", ["AND", "NOT pebble", 'title:"pebble"', "pebble*", "(pebble", "^pebble", "NEAR(pebble, 2)", "- pebble"]
)
def test_a_question_has_no_syntax(bench, text):
    bench.add(bench.memory("a", "one pebble"), bench.memory("b", "other"))
    assert bench.found(text) in (["a"], [])


def test_the_size_of_the_index_is_read_from_its_own_record(bench):
    db = bench.store._db.mine()
    assert indexed(db, MEMORIES) == 0
    bench.add(*(bench.memory(f"m{at}") for at in range(300)))
    bench.put(bench.get("m5"), None, Verb.ERASE)
    assert indexed(db, MEMORIES) == db.execute("SELECT count(*) FROM words").get == 299


def test_nothing_asked_nothing_found(bench):
    bench.add(bench.memory("a", "pebble"))
    assert bench.store.lexical([], Filter(), 5).hits == ()
    assert bench.store.lexical(query_words("pebble"), Filter(), 0).hits == ()
    assert bench.store.lexical(query_words("absent"), Filter(), 5).hits == ()


def test_a_filter_applies_before_the_cut(bench):
    bench.add(
        *(bench.memory(f"m{at}", "pebble pebble") for at in range(50)),
        bench.memory("x", "a pebble among stones", scope=bench.other),
    )
    assert bench.found("pebble", Filter(scopes=(bench.other,))) == ["x"]
    hits = bench.store.lexical(query_words("pebble"), Filter(scopes=(bench.other,)), 1).hits
    assert len(hits) == 1
