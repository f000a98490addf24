"""What leaves the process: bodies, headers, retries, and where the key may go."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import httpx2
import pytest
import stamina

from zapomni.embed import jina, ollama, openai
from zapomni.errors import ConfigError, EmbedderError
from zapomni.forms import Secret
from zapomni.hosts import is_loopback
from zapomni.settings import EmbedderSettings

KEY = "sk-trial-KEY-123"


class Provider:
    """Answers with vectors of `width`, or with the next of `answers`; keeps every request."""

    def __init__(self, *answers, width=3):
        self.answers = list(answers)
        self.width = width
        self.requests = []

    @property
    def transport(self):
        return httpx2.MockTransport(self.answer)

    @property
    def bodies(self):
        return [json.loads(request.content) for request in self.requests]

    def answer(self, request):
        self.requests.append(request)
        if self.answers:
            step = self.answers.pop(0)
            if isinstance(step, Exception):
                raise step
            if step is not None:
                return step
        count = len(json.loads(request.content)["input"])
        rows = [[1.0] + [0.0] * (self.width - 1)] * count
        return httpx2.Response(
            200, json={"embeddings": rows, "data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]}
        )


def settings(provider, key=KEY, **values):
    return EmbedderSettings(provider=provider, api_key=Secret(key) if key else None, **values)


def test_openai_is_asked_at_its_own_address_with_the_key():
    provider = Provider()
    embedder = openai.make(settings("openai", dimension=3), provider.transport)
    embedder.embed(["a", "b"], "passage")
    (request,) = provider.requests
    assert str(request.url) == "https://api.openai.com/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert provider.bodies == [{"model": "text-embedding-3-small", "input": ["a", "b"], "dimensions": 3}]
    assert (embedder.provider, embedder.model, embedder.local) == ("openai", "text-embedding-3-small#3", False)


def test_another_width_is_asked_only_of_models_that_can_choose():
    provider = Provider()
    embedder = openai.make(settings("openai", model="bge-m3", dimension=3), provider.transport)
    embedder.embed(["a"], "query")
    assert "dimensions" not in provider.bodies[0]
    assert (embedder.model, embedder.width) == ("bge-m3", 3)


def test_a_space_of_another_width_has_another_name_and_is_found_by_it_again():
    provider = Provider()
    for chosen in ({"dimension": 3}, {"model": "text-embedding-3-small#3"}):
        embedder = openai.make(settings("openai", **chosen), provider.transport)
        assert embedder.model == "text-embedding-3-small#3"
        embedder.embed(["a"], "query")
    assert provider.bodies[0] == provider.bodies[1]
    assert openai.make(settings("openai", model="odd#name")).model == "odd#name"


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/embeddings"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/embeddings"),
        ("https://host.example/api", "https://host.example/api/embeddings"),
    ],
)
def test_a_bare_address_gets_the_usual_root(base, url):
    provider = Provider()
    openai.make(settings("openai", base_url=base, dimension=3), provider.transport).embed(["a"], "query")
    assert str(provider.requests[0].url) == url


def test_jina_is_told_the_task_and_the_width():
    provider = Provider()
    embedder = jina.make(settings("jina", dimension=3), provider.transport)
    embedder.embed(["a"], "query")
    embedder.embed(["b"], "passage")
    assert [(b["task"], b["dimensions"], b["model"]) for b in provider.bodies] == [
        ("retrieval.query", 3, "jina-embeddings-v3"),
        ("retrieval.passage", 3, "jina-embeddings-v3"),
    ]
    assert str(provider.requests[0].url) == "https://api.jina.ai/v1/embeddings"


def test_ollama_is_asked_on_this_machine_in_small_batches_without_a_key():
    provider = Provider()
    ollama.make(settings("ollama", key=None, dimension=3), provider.transport).embed(["x"] * 23, "passage")
    assert [len(body["input"]) for body in provider.bodies] == [10, 10, 3]
    assert str(provider.requests[0].url) == "http://127.0.0.1:11434/api/embed"
    assert "authorization" not in provider.requests[0].headers


def test_open_models_see_the_prefixes_they_were_trained_with():
    provider = Provider()
    for model in ("embeddinggemma:300m", "intfloat/multilingual-e5-large", "bge-m3"):
        embedder = ollama.make(settings("ollama", model=model, dimension=3), provider.transport)
        embedder.embed(["x"], "query")
        embedder.embed(["x"], "passage")
    assert [body["input"][0] for body in provider.bodies] == [
        "task: search result | query: x",
        "title: none | text: x",
        "query: x",
        "passage: x",
        "x",
        "x",
    ]


def test_the_width_is_confirmed_once_and_then_known():
    provider = Provider()
    embedder = openai.make(settings("openai"), provider.transport)
    assert embedder.width is None
    embedder.embed(["a"], "passage")
    embedder.embed(["b"], "query")
    assert embedder.width == 3
    assert [body["input"] for body in provider.bodies] == [["a"], ["text"], ["b"]]


def test_what_no_provider_can_take_is_replaced():
    provider = Provider()
    openai.make(settings("openai", dimension=3), provider.transport).embed(["a\0b\ud800c"], "passage")
    assert provider.bodies[0]["input"] == ["a b c"]


@pytest.mark.parametrize("base", ["http://models.example/v1", "http://10.0.0.7:8000"])
def test_a_key_is_not_sent_unencrypted_to_another_machine(base):
    with pytest.raises(ConfigError, match="unencrypted") as caught:
        openai.make(settings("openai", base_url=base))
    assert KEY not in str(caught.value)
    openai.make(settings("openai", key=None, base_url=base))


@pytest.mark.parametrize(
    ("host", "here"),
    [("localhost", True), ("a.localhost", True), ("127.8.8.8", True), ("::1", True), ("localhost.example", False)],
)
def test_only_this_machine_is_loopback(host, here):
    assert is_loopback(host) is here


@pytest.mark.parametrize("target", ["https://evil.example/v1/embeddings", "/v2/embeddings"])
def test_no_redirect_is_followed(target):
    provider = Provider(httpx2.Response(307, headers={"Location": target}))
    with pytest.raises(EmbedderError, match="redirects are not followed"):
        openai.make(settings("openai"), provider.transport).embed(["a"], "passage")
    assert [request.url.host for request in provider.requests] == ["api.openai.com"]


@pytest.mark.parametrize(
    "failure",
    [
        httpx2.ConnectError(f"no route, header was Bearer {KEY}"),
        httpx2.LocalProtocolError(f"Illegal header value b'Bearer {KEY}'"),
        httpx2.ReadTimeout("slow"),
        httpx2.Response(503, text=f"secret text {KEY}"),
        httpx2.Response(200, text=f"not json {KEY} secret text"),
        httpx2.Response(200, json=[1]),
        httpx2.Response(200, json={"data": 7}),
        httpx2.Response(418, json={"error": {"message": f"secret text {KEY}", "code": "teapot"}}),
    ],
)
def test_a_failure_tells_neither_the_key_nor_the_text(failure, caplog):
    caplog.set_level(logging.DEBUG)
    provider = Provider(*[failure] * 20)
    embedder = openai.make(settings("openai"), provider.transport)
    with pytest.raises(EmbedderError) as caught:
        embedder.embed(["secret text"], "passage")
    shown = f"{caught.value} {caught.value!r} {embedder!r} {vars(embedder)} {caplog.text}"
    shown += str([vars(record) for record in caplog.records])
    assert KEY not in shown
    assert "secret text" not in shown
    assert len(provider.requests) <= 4


def test_an_answer_that_drips_is_not_waited_for_beyond_the_timeout(monkeypatch):
    ticks = iter(range(1_000))
    monkeypatch.setattr("zapomni.embed._wire.monotonic", lambda: next(ticks))
    provider = Provider(*[httpx2.Response(200, content=(b" " for _ in range(100))) for _ in range(4)])
    with pytest.raises(EmbedderError, match="within 5 s"):
        openai.make(settings("openai", timeout_s=5.0), provider.transport).embed(["a"], "passage")


@pytest.fixture
def waits(monkeypatch):
    """The pauses that retries ask for, without waiting."""
    asked = []
    monkeypatch.setattr("tenacity.nap.time", SimpleNamespace(sleep=asked.append))
    with stamina.set_testing(False):
        yield asked


def test_a_rate_limit_is_waited_for_as_asked(waits):
    date = {"Date": "Mon, 01 Jan 2024 00:00:00 GMT", "Retry-After": "Mon, 01 Jan 2024 00:00:07 GMT"}
    provider = Provider(httpx2.Response(429, headers={"Retry-After": "2"}), httpx2.Response(503, headers=date))
    openai.make(settings("openai", dimension=3), provider.transport).embed(["a"], "passage")
    assert waits == [2.0, 7.0]


def test_a_rate_limit_beyond_patience_is_passed_on(waits):
    provider = Provider(httpx2.Response(429, headers={"Retry-After": "600"}))
    with pytest.raises(EmbedderError) as caught:
        openai.make(settings("openai"), provider.transport).embed(["a"], "passage")
    assert (caught.value.retry_after, caught.value.permanent, waits) == (600.0, False, [])
    provider = Provider(httpx2.Response(429, headers={"Retry-After": "2"}))
    with pytest.raises(EmbedderError):
        openai.make(settings("openai"), provider.transport).embed(["a"], "query")
    assert waits == []


def test_retries_are_not_logged_and_those_of_a_host_still_are(caplog):
    provider = Provider(*[httpx2.ConnectError("no")] * 20)
    with pytest.raises(EmbedderError, match="could not be reached"):
        openai.make(settings("openai"), provider.transport).embed(["a"], "passage")
    assert len(provider.requests) > 1
    assert not caplog.records

    @stamina.retry(on=OSError, attempts=2)
    def theirs():
        raise OSError("theirs")

    with pytest.raises(OSError, match="theirs"):
        theirs()
    assert [record.name for record in caplog.records][:1] == ["stamina"]


def test_a_provider_that_is_away_is_told_with_what_to_look_at():
    for failure, what in ((httpx2.ConnectError("no"), "base_url"), (httpx2.ReadTimeout("no"), "timeout_s")):
        with pytest.raises(EmbedderError) as caught:
            openai.make(settings("openai"), Provider(*[failure] * 20).transport).embed(["a"], "passage")
        assert what in caught.value.remedy


def test_tries_are_bounded_with_growing_pauses(waits):
    provider = Provider(*[httpx2.ConnectError("no")] * 20)
    with pytest.raises(EmbedderError, match="could not be reached"):
        openai.make(settings("openai"), provider.transport).embed(["a"], "passage")
    assert len(provider.requests) == 4
    assert len(waits) == 3
    for least, wait in zip((0.1, 0.2, 0.4), waits, strict=True):  # doubled each time, and up to .2 s by chance
        assert least <= wait <= least + 0.2


def test_a_batch_that_breaks_the_server_is_searched_for_its_culprit():
    class Server(Provider):
        def answer(self, request):
            if any("NaN" in text for text in json.loads(request.content)["input"]):
                self.requests.append(request)
                return httpx2.Response(500, json={"error": "cannot encode NaN"})
            return super().answer(request)

    embedder = ollama.make(settings("ollama", dimension=3), Server().transport)
    answer = embedder.embed(["a", "b", "NaN", "d"], "passage")
    assert [isinstance(one, EmbedderError) for one in answer] == [False, False, True, False]
    assert not answer[2].permanent


@pytest.mark.parametrize(
    "places",
    [[0, 0, 1], [0, 1, 3], [-1, 0, 1], ["0", "1", "2"], [0, None, 2]],
    ids=["twice", "beyond", "below", "text", "gap"],
)
def test_places_that_make_no_order_are_never_guessed(places):
    data = [{"index": place, "embedding": [float(i), 1.0, 0.0]} for i, place in enumerate(places)]
    provider = Provider(httpx2.Response(200, json={"data": data}))
    answer = openai.make(settings("openai", dimension=3), provider.transport).embed(["a", "b", "c"], "passage")
    assert all(list(vector) == [1.0, 0.0, 0.0] for vector in answer)


@pytest.mark.parametrize("values", [None, [], "abc", [1, "x", 2], [[1], [2], [3]], [1e39, 0, 0], {"a": 1}, 5])
def test_a_strange_vector_is_an_error_of_its_text_alone(values):
    data = [{"index": 0, "embedding": values}, {"index": 1, "embedding": [0.0, 2.0, 0.0]}]
    provider = Provider(httpx2.Response(200, json={"data": data}))
    answer = openai.make(settings("openai", dimension=3), provider.transport).embed(["a", "b"], "passage")
    assert isinstance(answer[0], EmbedderError)
    assert list(answer[1]) == [0.0, 1.0, 0.0]


def test_closing_twice_and_using_again_is_allowed():
    provider = Provider()
    embedder = openai.make(settings("openai", dimension=3), provider.transport)
    embedder.close()
    embedder.embed(["a"], "query")
    embedder.close()
    embedder.close()
    assert len(embedder.embed(["a"], "query")[0]) == 3
    assert embedder.embed([], "query") == []
