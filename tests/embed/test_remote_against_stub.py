"""Trials T43 and T44: what a provider can do wrong, done by a process of its own."""

from __future__ import annotations

import math

import pytest
from tests.embed.conftest import near

from zapomni.embed import ollama, openai
from zapomni.errors import EmbedderError
from zapomni.forms import Secret
from zapomni.settings import EmbedderSettings

KEY = "sk-trial-KEY-123"
SUBJECTS = ["apples", "bridges", "candles", "dolphins", "engines", "forests", "guitars", "harbours"]
MAKERS = {"openai": openai.make, "ollama": ollama.make}


@pytest.fixture(params=MAKERS)
def make(request, stub):
    made = []

    def make(**values):
        values = {"model": "stub-a-64", "batch": 10, "timeout_s": 5.0, **values}
        chosen = EmbedderSettings(provider=request.param, base_url=stub.url, api_key=Secret(KEY), **values)
        made.append(MAKERS[request.param](chosen))
        return made[-1]

    make.provider = request.param
    yield make
    for embedder in made:
        embedder.close()


def vectors(answer):
    return [None if isinstance(one, EmbedderError) else one for one in answer]


def nearest(query, answer):
    return max(range(len(answer)), key=lambda i: near(query, answer[i]))


def test_each_text_gets_its_unit_vector(make):
    answer = make().embed(SUBJECTS, "passage")
    assert all(abs(math.hypot(*vector) - 1) < 1e-6 and len(vector) == 64 for vector in answer)
    assert [nearest(make().embed([s], "query")[0], answer) for s in SUBJECTS] == list(range(8))


@pytest.mark.parametrize("step", ["nan", "zero"])
def test_no_nan_and_no_zero_vector_counts(make, stub, step):
    stub.script(embed=[step])
    embedder = make()
    assert vectors(embedder.embed(SUBJECTS, "passage")) == [None] * 8
    assert None not in vectors(embedder.embed(SUBJECTS, "passage"))


def test_vectors_of_the_wrong_width_never_count_even_as_the_first_answer(make, stub):
    stub.script(embed=["wrongdim"])
    embedder = make()
    with pytest.raises(EmbedderError, match="different widths"):
        embedder.embed(SUBJECTS, "passage")
    assert {len(vector) for vector in embedder.embed(SUBJECTS, "passage")} == {64}
    stub.script(embed=["wrongdim"])
    assert vectors(embedder.embed(SUBJECTS, "passage")) == [None] * 8


def test_one_vector_too_few_shifts_nothing(make, stub):
    embedder = make(dimension=64)
    right = embedder.embed(SUBJECTS, "passage")
    stub.script(embed=["short"])
    answer = vectors(embedder.embed(SUBJECTS, "passage"))
    assert all(one in (None, other) for one, other in zip(answer, right, strict=True))
    assert answer.count(None) == (1 if make.provider == "openai" else 0)


def test_shuffled_vectors_are_put_into_order(make, stub):
    embedder = make(dimension=64)
    right = embedder.embed(SUBJECTS, "passage")
    stub.script(embed=["shuffled"])
    assert embedder.embed(SUBJECTS, "passage") == right


def test_a_server_error_is_tried_again(make, stub):
    stub.script(embed=[{"status": 500, "body": {"error": "cannot encode NaN"}}])
    assert None not in vectors(make().embed(SUBJECTS, "passage"))


def test_a_missing_model_is_told_without_a_second_try(make, stub):
    stub.script(embed=[{"status": 404, "body": {"error": "model is not pulled"}}])
    embedder = make()
    with pytest.raises(EmbedderError, match="404") as caught:
        embedder.embed(SUBJECTS, "passage")
    assert "embedder.model" in caught.value.remedy
    assert len(stub.log()) == 1
    assert None not in vectors(embedder.embed(SUBJECTS, "passage"))


def test_an_answer_without_vectors_is_a_failure_of_the_provider(make, stub):
    stub.script(embed_default={"status": 200, "body": {"embeddings": [], "data": []}})
    with pytest.raises(EmbedderError, match="without any vector"):
        make().embed(SUBJECTS, "passage")


def test_only_the_refused_text_fails(make, stub):
    stub.script(embed_default={"reject_if": "POISON"})
    texts = [*SUBJECTS[:4], "a POISON note", *SUBJECTS[5:]]
    answer = make().embed(texts, "passage")
    assert [i for i, one in enumerate(vectors(answer)) if one is None] == [4]
    assert answer[4].permanent
    assert "POISON" not in str(answer[4])


def test_a_batch_that_is_too_large_is_split_whatever_the_wording(make, stub):
    stub.script(embed_default={"max_batch": 3})
    assert None not in vectors(make().embed(SUBJECTS, "passage"))


def test_a_lone_refused_text_is_told_from_a_provider_that_refuses_everything(make, stub):
    stub.script(embed_default={"reject_if": "POISON"})
    assert vectors(make().embed(["POISON"], "passage")) == [None]
    stub.script(embed_default={"status": 400})
    with pytest.raises(EmbedderError, match="plain word too") as caught:
        make().embed(SUBJECTS, "passage")
    assert caught.value.permanent
    assert len(stub.log()) < 8


def test_sixty_notes_through_a_rate_limit_an_error_and_a_hang(make, stub):
    embedder = make(timeout_s=0.5)
    embedder.embed(["warm"], "passage")
    stub.script(
        embed=["ok", "ok", {"status": 429, "headers": {"Retry-After": "2"}}, "ok", {"status": 500}, {"hang": 2}],
        embed_default={"reject_if": "POISON"},
    )
    notes = [f"note {i} about {SUBJECTS[i % 8]}" for i in range(59)] + ["POISON"]
    answer = embedder.embed(notes, "passage")
    assert [i for i, one in enumerate(vectors(answer)) if one is None] == [59]


def test_a_bad_key_stops_at_once_and_shows_nowhere(make, stub):
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    stub.script(embed_default={"status": 401, "body": body})
    with pytest.raises(EmbedderError, match="refuses the key") as caught:
        make().embed(SUBJECTS, "passage")
    assert caught.value.permanent
    assert len(stub.log()) == 1
    assert KEY not in f"{caught.value} {caught.value!r} {caught.value.__dict__}"
    assert "apples" not in str(caught.value)


def test_a_failure_half_way_keeps_what_was_there(make, stub):
    embedder = make(batch=4, dimension=64)
    stub.script(embed=["ok"], embed_default={"status": 503})
    answer = embedder.embed(SUBJECTS, "passage")
    assert [one is None for one in vectors(answer)] == [False] * 4 + [True] * 4
    assert not answer[7].permanent


def test_a_query_gives_up_soon_and_a_hang_is_bounded(make, stub):
    stub.script(embed_default={"hang": 2})
    with pytest.raises(EmbedderError, match=r"within 0\.2 s"):
        make(query_timeout_s=0.2).embed(["apples"], "query")
