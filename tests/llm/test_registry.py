"""From the settings to a model, and what that loads."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.llm.samples import KEY, settings

from zapomni.config import load
from zapomni.errors import ConfigError
from zapomni.llm.registry import BUILT_IN, GROUP, make_llm
from zapomni.settings import LlmSettings

ROOT = Path(__file__).parents[2]


def test_without_a_model_there_is_none():
    assert make_llm(LlmSettings()) is None


def test_an_unknown_provider_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match="no provider 'openapi'") as caught:
        make_llm(settings("openapi"))
    assert "anthropic, bedrock, ollama, openai, scripted" in caught.value.remedy


def test_the_entry_points_name_what_is_built_in():
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = table["project"]["entry-points"][GROUP]
    assert named == {name: f"zapomni.llm.{module}:{make}" for name, (module, make) in BUILT_IN.items()}


def test_a_label_is_the_setting_as_it_was_written():
    assert make_llm(settings("ollama", name="qwen3:4b")).label == "ollama:qwen3:4b"


@pytest.mark.promise("house.light")
def test_making_a_model_loads_no_library_of_a_provider():
    code = (
        "import sys; from zapomni.settings import LlmSettings; from zapomni.llm.registry import make_llm; "
        "[make_llm(LlmSettings(model=m)) for m in ('openai:m', 'anthropic:m', 'bedrock:m', 'ollama:m')]; "
        "print(sorted({'pydantic_ai', 'pydantic', 'openai', 'anthropic', 'boto3', 'httpx2', 'jsonschema'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- settings ------------------------------------------------------------------------------------------------
@pytest.fixture
def read(tmp_path):
    def read(**environ):
        return load(environ={"HOME": str(tmp_path), **environ}, cwd=tmp_path)

    return read


@pytest.mark.parametrize("value", ["gpt-5", "openai", "openai:", ":gpt", "Open AI:x", "openai: x"])
def test_a_model_is_named_with_its_provider(read, value):
    with pytest.raises(ConfigError, match="PROVIDER:MODEL"):
        read(ZAPOMNI_LLM_MODEL=value)


def test_a_model_may_hold_colons_and_slashes(read):
    llm = read(ZAPOMNI_LLM_MODEL="ollama:hf.co/Qwen/Qwen3:4b").llm
    assert (llm.provider, llm.name) == ("ollama", "hf.co/Qwen/Qwen3:4b")


@pytest.mark.parametrize(("model", "variable"), [("openai:m", "OPENAI_API_KEY"), ("anthropic:m", "ANTHROPIC_API_KEY")])
@pytest.mark.promise("model.key")
def test_an_ambient_key_is_for_its_own_provider_at_its_own_address(read, model, variable):
    assert read(ZAPOMNI_LLM_MODEL=model, **{variable: KEY}).llm.api_key.reveal() == KEY
    assert (
        read(ZAPOMNI_LLM_MODEL=model, ZAPOMNI_LLM_BASE_URL="https://a.example", **{variable: KEY}).llm.api_key is None
    )
    assert read(ZAPOMNI_LLM_MODEL="ollama:m", **{variable: KEY}).llm.api_key is None
    assert read(**{variable: KEY}).llm.api_key is None


@pytest.mark.promise("model.key")
def test_a_key_is_dropped_when_a_later_layer_names_another_provider_or_address(read, tmp_path):
    folder = tmp_path / ".config" / "zapomni"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f'[llm]\nmodel = "openai:gpt-5-mini"\napi_key = "{KEY}"\n')
    assert read().llm.api_key.reveal() == KEY
    assert read(ZAPOMNI_LLM_MODEL="openai:gpt-5").llm.api_key.reveal() == KEY
    assert read(ZAPOMNI_LLM_MODEL="anthropic:claude").llm.api_key is None
    config = read(ZAPOMNI_LLM_BASE_URL="https://a.example")
    assert config.llm.api_key is None
    assert "another provider or address" in config.origins["llm.api_key"]


@pytest.mark.promise("model.key")
def test_the_key_of_the_model_and_that_of_the_embedder_are_two(read):
    config = read(
        ZAPOMNI_LLM_MODEL="openai:m",
        ZAPOMNI_LLM_API_KEY=KEY,
        ZAPOMNI_EMBEDDER_PROVIDER="ollama",
        OPENAI_API_KEY="other",
    )
    assert config.llm.api_key.reveal() == KEY
    assert config.embedder.api_key is None
    assert KEY not in repr(config)
    assert KEY not in str(list(config.rows()))


@pytest.mark.parametrize(
    "line", ['model = "openai:m"', 'base_url = "https://a.example"', "daily_tokens = 1", "price_in = 0.0"]
)
def test_a_project_sets_none_of_it(read, tmp_path, line):
    (tmp_path / ".zapomni.toml").write_text(f"[llm]\n{line}\n")
    with pytest.raises(ConfigError, match="cloned repository"):
        read()
