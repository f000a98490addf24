"""From a name to a provider."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from typing import TYPE_CHECKING

import pytest
from tests.embed.conftest import near

from zapomni.clock import system_clock
from zapomni.embed import registry, scripted
from zapomni.embed.breaker import Breaker
from zapomni.embed.bundled import BundledEmbedder
from zapomni.embed.registry import BUILT_IN, make_embedder
from zapomni.embed.scripted import ScriptedEmbedder
from zapomni.errors import ConfigError, EmbedderError
from zapomni.forms import Secret
from zapomni.settings import EmbedderSettings

if TYPE_CHECKING:
    from zapomni.embed.base import Embedder


def make(provider, **values):
    return make_embedder(EmbedderSettings(provider=provider, **values), system_clock)


@pytest.mark.parametrize("provider", BUILT_IN)
def test_every_built_in_provider_is_made_without_asking_anybody(provider):
    embedder = make(provider)
    assert embedder.provider == provider
    assert embedder.model
    assert embedder.preparation >= 1
    assert embedder.piece > 0
    embedder.close()


def test_only_providers_that_can_be_away_get_a_breaker():
    assert isinstance(make("bundled"), BundledEmbedder)
    assert isinstance(make("scripted"), ScriptedEmbedder)
    assert isinstance(make("openai", api_key=Secret("k")), Breaker)


def test_none_is_no_embedder():
    assert make("none") is None


def test_an_unknown_provider_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match="'opnai'") as caught:
        make("opnai")
    assert "bundled, jina, ollama, openai, scripted" not in caught.value.message
    for name in (*BUILT_IN, "none"):
        assert name in caught.value.remedy


def test_a_package_may_bring_its_own_provider(monkeypatch):
    point = metadata.EntryPoint("mine", "zapomni.embed.scripted:make", registry.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda **_: metadata.EntryPoints([point]))
    assert isinstance(make("mine", dimension=8), ScriptedEmbedder)


def test_a_built_in_provider_is_found_without_reading_package_metadata():
    program = (
        "import sys; from zapomni.embed.registry import make_embedder; from zapomni.settings import EmbedderSettings\n"
        "make_embedder(EmbedderSettings(), None)\n"
        "print([m for m in ('importlib.metadata', 'numpy', 'httpx2', 'stamina') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_scripted_provider_puts_like_texts_near_each_other_and_keeps_a_log():
    embedder = ScriptedEmbedder()
    query = embedder.embed(["where is the cellar key"], "query")[0]
    near_one, far_one = embedder.embed(["The cellar key hangs there.", "Пароль от базы"], "passage")
    assert near(query, near_one) > 0.4 > near(query, far_one)
    assert embedder.calls[0] == ("query", ("where is the cellar key",))
    assert [len(texts) for _, texts in embedder.calls] == [1, 2]


def test_two_scripted_models_of_one_width_live_in_unrelated_spaces():
    one, other = (ScriptedEmbedder(model).embed(["the same text"], "query")[0] for model in ("a", "b"))
    assert abs(near(one, other)) < 0.5


def test_the_scripted_provider_fails_as_told_and_embeds_anything():
    embedder = scripted.make(EmbedderSettings(model="m", dimension=4))
    embedder.failures.append(EmbedderError("as told"))
    with pytest.raises(EmbedderError, match="as told"):
        embedder.embed(["a"], "query")
    assert [len(vector) for vector in embedder.embed(["", "\0\ud800", "x" * 10_000], "passage")] == [4, 4, 4]


def test_every_provider_is_an_embedder():
    checked: list[Embedder] = [BundledEmbedder(), ScriptedEmbedder(), Breaker(ScriptedEmbedder(), system_clock)]
    assert len(checked) == 3
