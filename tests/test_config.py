"""Settings: layers, origins, what a bad value says, and what a cloned repository may not do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import platformdirs
import pytest

from zapomni import config
from zapomni.config import load
from zapomni.errors import ConfigError
from zapomni.forms import Secret
from zapomni.model.branch import Policy
from zapomni.settings import MERGE_POLICIES, SETTINGS

KEY = "sk-trial-KEY-123"


@pytest.fixture
def place(tmp_path):
    """A user's home with a settings folder and a repository to work in."""
    (tmp_path / "home" / ".config" / "zapomni").mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "HEAD").touch()
    (tmp_path / "repo" / "deep").mkdir()
    return tmp_path


@pytest.fixture
def read(place):
    """Load with given layers; returns the configuration."""

    def read(user="", project="", env=None, cwd=None, **overrides):
        (place / "home/.config/zapomni/config.toml").write_text(user, encoding="utf-8")
        (place / "repo/.zapomni.toml").write_text(project, encoding="utf-8")
        names = {name.replace("__", "."): value for name, value in overrides.items()}
        return load(names, {"HOME": str(place / "home"), **(env or {})}, cwd or place / "repo/deep")

    return read


def test_without_any_layer_every_value_is_its_default(read, place):
    settings = read()
    assert settings.home == place / "home/.local/share/zapomni"
    assert settings.store_path == settings.home / "memories.db"
    assert settings.embedder.provider == "bundled"
    assert set(settings.origins.values()) == {"default"}
    assert set(settings.origins) == set(SETTINGS)


def test_the_later_layer_wins_and_the_origin_says_which(read, place):
    user = "[recall]\nlimit = 1\nbudget = 100\n[http]\nport = 1001\n[store]\nbusy_timeout_ms = 1\n"
    settings = read(
        user,
        "recall.limit = 2\nrecall.budget = 200",
        {"ZAPOMNI_RECALL_LIMIT": "3", "ZAPOMNI_HTTP_PORT": "1003"},
        recall__limit=4,
    )
    assert (settings.recall.limit, settings.recall.budget) == (4, 200)
    assert (settings.http.port, settings.store.busy_timeout_ms) == (1003, 1)
    assert settings.origins["recall.limit"] == "--recall-limit"
    assert settings.origins["recall.budget"] == str(place / "repo/.zapomni.toml")
    assert settings.origins["http.port"] == "environment ZAPOMNI_HTTP_PORT"
    assert settings.origins["store.busy_timeout_ms"] == str(place / "home/.config/zapomni/config.toml")


def test_an_override_of_none_is_no_override(read):
    assert read(env={"ZAPOMNI_RECALL_LIMIT": "3"}, recall__limit=None).recall.limit == 3


def test_an_empty_variable_is_not_set_and_an_empty_text_stands_for_the_default(read):
    settings = read("[embedder]\nmodel = ''\n", env={"ZAPOMNI_HOME": "", "ZAPOMNI_EMBEDDER_PROVIDER": " "})
    assert settings.embedder.model is None
    assert settings.embedder.provider == "bundled"
    assert settings.origins["home"] == "default"


@pytest.mark.parametrize("name", [n for n in SETTINGS if not SETTINGS[n].project])
def test_a_project_file_may_not_set(read, name):
    with pytest.raises(ConfigError, match="not trusted") as caught:
        read(project=f"{name} = 'x'")
    assert name in caught.value.message
    assert ".zapomni.toml" in caught.value.message


def test_a_project_file_counts_from_any_folder_below_the_root_and_the_nearest_wins(read, place):
    (place / "repo/deep/.zapomni.toml").write_text("recall.limit = 7", encoding="utf-8")
    assert read(project="recall.limit = 5").recall.limit == 7
    assert read(project="recall.limit = 5", cwd=place / "repo").recall.limit == 5


def test_no_project_file_is_taken_from_above_the_repository(read, place):
    (place / ".zapomni.toml").write_text("recall.limit = 6", encoding="utf-8")
    (place / "bare/deep").mkdir(parents=True)
    (place / "repo/.git").rename(place / "bare/.git")
    assert read(cwd=place / "bare/deep").recall.limit == 10
    (place / "bare/.git/HEAD").unlink()  # so it is no repository, and does not name the project either
    assert read(cwd=place / "bare/deep").recall.limit == 6


def test_outside_a_repository_the_nearest_file_that_names_the_project_sets_too(read, place):
    (place / ".zapomni.toml").write_text("recall.limit = 6", encoding="utf-8")
    (place / "loose/deep").mkdir(parents=True)
    assert read(cwd=place / "loose/deep").recall.limit == 6
    (place / "loose/.zapomni.toml").write_text("recall.limit = 8", encoding="utf-8")
    assert read(cwd=place / "loose").recall.limit == 8
    assert read(cwd=place / "loose/deep").recall.limit == 8


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("http.port = 70000", "a whole number from 0 to 65,535"),
        ("http.port = true", "a whole number"),
        ("http.port = 1.5", "a whole number"),
        ("http.port = 'eighty'", "'eighty'"),
        ("embedder.timeout_s = nan", "a number from 0.1 to 600"),
        ("embedder.base_url = 'ftp://host'", "http://"),
        ("embedder.base_url = 'http://host:99999'", "http://"),
        ("embedder.provider = 7", "text"),
        ("scope = 'backend'", "project:NAME"),
        ("home = ['a']", "a path"),
    ],
)
def test_a_bad_value_names_setting_value_place_and_what_is_allowed(read, place, toml, said):
    with pytest.raises(ConfigError) as caught:
        read(toml)
    assert toml.split()[0] in str(caught.value)
    assert str(place / "home/.config/zapomni/config.toml") in str(caught.value)
    assert said in str(caught.value)


def test_a_bad_variable_is_named(read):
    with pytest.raises(ConfigError, match=r"http\.port: '0x1' in environment ZAPOMNI_HTTP_PORT"):
        read(env={"ZAPOMNI_HTTP_PORT": "0x1"})


def test_a_bad_override_is_named_as_its_flag(read):
    with pytest.raises(ConfigError, match="--recall-limit"):
        read(recall__limit=0)


@pytest.mark.parametrize(
    ("toml", "near"),
    [("[embedder]\nmodle = 'x'", "embedder.model"), ("hom = 'x'", "home"), ("[http]\nports = 1", "http.port")],
)
def test_an_unknown_name_suggests_the_nearest(read, toml, near):
    with pytest.raises(ConfigError, match=f"Did you mean {near}"):
        read(toml)


def test_a_slip_in_a_variable_is_told_and_a_foreign_variable_is_not(read):
    with pytest.raises(ConfigError, match="Did you mean ZAPOMNI_HOME"):
        read(env={"ZAPOMNI_HOEM": "/x"})
    read(env={"ZAPOMNI_SHARED": "/x", "ZAPOMNI_CONFIG": ""})


@pytest.mark.parametrize("text", ["[http\n", "a = = 1", "\udcff", "[" * 10_000])
def test_an_unreadable_file_is_named(read, place, text):
    path = place / "bad.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match=r"bad\.toml"):
        read(env={"ZAPOMNI_CONFIG": str(path)})


def test_a_file_that_was_named_must_be_there(read, place):
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        read(env={"ZAPOMNI_CONFIG": "~/nowhere.toml"})


def test_a_settings_file_that_the_system_does_not_let_one_ask_for_is_told_like_any_other(read):
    with pytest.raises(ConfigError, match=r"ы\.toml cannot be read"):
        read(env={"ZAPOMNI_CONFIG": f"/{'ы' * 300}.toml"})
    assert read().home


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("~/mem test", "home/mem test"),
        ("~", "home"),
        ("$HOME/x/y/z", "home/x/y/z"),
        ("${WORK}/m", "repo/m"),
    ],
)
def test_tilde_and_variables_are_expanded(read, place, written, meant):
    assert read(env={"ZAPOMNI_HOME": written, "WORK": str(place / "repo")}).home == place / meant


@pytest.mark.parametrize("written", ["$NOWHERE/x", "~nobody_at_all/x", "a\0b"])
def test_a_path_that_cannot_be_expanded_is_refused(read, written):
    with pytest.raises(ConfigError, match="home"):
        read(home=written)


def test_a_relative_path_starts_at_its_file_or_at_the_working_folder(read, place):
    assert read("home = 'mem'").home == place / "home/.config/zapomni/mem"
    assert read(env={"ZAPOMNI_HOME": "./mem"}).home == place / "repo/deep/mem"
    assert read(home="../mem").home == place / "repo/mem"
    assert read(home=Path("mem")).home == place / "repo/deep/mem"


def test_a_deleted_working_folder_harms_only_relative_paths(tmp_path):
    program = (
        "import os, sys; os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])\n"
        "from zapomni.config import load\n"
        "print(load({}, {'HOME': '/h'}).home)\n"
        "load({'home': 'mem'}, {'HOME': '/h'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "gone"], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "/h/.local/share/zapomni"
    assert "no longer exists" in done.stderr


def test_a_path_that_the_locale_cannot_spell_is_told_with_what_to_do():
    program = "from zapomni.config import load\nload({'home': '/\\u0434\\u043e\\u043c'}, {'HOME': '/h'})"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=plain)
    assert "ConfigError: home:" in done.stderr
    assert "PYTHONUTF8=1" in done.stderr


def test_a_secret_shows_nowhere_but_when_revealed(read):
    settings = read(f"embedder.api_key = '{KEY}'", env={"ZAPOMNI_HTTP_TOKEN": KEY})
    assert settings.embedder.api_key == Secret(KEY)
    assert settings.embedder.api_key.reveal() == KEY
    shown = f"{settings!r} {settings} {settings.embedder} {list(settings.rows())}"
    assert KEY not in shown
    assert ("embedder.api_key", "set (hidden)") in [row[:2] for row in settings.rows()]


def test_no_encoder_writes_a_secret(read):
    settings = read(f"embedder.api_key = '{KEY}'", env={"ZAPOMNI_HTTP_TOKEN": KEY})
    for value in (settings, settings.embedder, settings.http.token):
        assert KEY not in msgspec.json.encode(value, enc_hook=str).decode()
        assert KEY not in str(msgspec.to_builtins(value, enc_hook=str))
        assert KEY not in json.dumps(value, default=str)
    with pytest.raises(TypeError):
        msgspec.json.encode(settings.http.token)
    assert len({settings.http.token, settings.embedder.api_key, Secret("another")}) == 2


@pytest.mark.parametrize("toml", [f"embedder.api_key = '{KEY} ё'", f"embedder.base_url = 'https://u:{KEY}@host'"])
def test_a_bad_secret_is_not_shown_either(read, toml):
    with pytest.raises(ConfigError) as caught:
        read(toml)
    assert KEY not in f"{caught.value} {caught.value!r}"


def test_another_tools_key_is_taken_for_its_provider_at_its_host_only(read):
    env = {"OPENAI_API_KEY": KEY, "JINA_API_KEY": "jina-key"}
    assert read(env=env).embedder.api_key is None
    own = read(env={**env, "ZAPOMNI_EMBEDDER_PROVIDER": "openai"})
    assert own.embedder.api_key == Secret(KEY)
    assert own.origins["embedder.api_key"] == "environment OPENAI_API_KEY"
    assert read(env={**env, "ZAPOMNI_EMBEDDER_PROVIDER": "jina"}).embedder.api_key == Secret("jina-key")
    for url in ("http://127.0.0.1:1", "https://api.openai.com.evil.example/v1", "http://api.openai.com/v1"):
        moved = {"ZAPOMNI_EMBEDDER_PROVIDER": "openai", "ZAPOMNI_EMBEDDER_BASE_URL": url}
        assert read(env={**env, **moved}).embedder.api_key is None


def test_a_key_does_not_follow_when_a_later_layer_names_another_host(read):
    user = f"[embedder]\nprovider = 'openai'\napi_key = '{KEY}'\n"
    assert read(user).embedder.api_key == Secret(KEY)
    assert read(user, env={"ZAPOMNI_EMBEDDER_MODEL": "m"}).embedder.api_key == Secret(KEY)
    for change in ({"ZAPOMNI_EMBEDDER_PROVIDER": "jina"}, {"ZAPOMNI_EMBEDDER_BASE_URL": "https://else.example"}):
        settings = read(user, env=change)
        assert settings.embedder.api_key is None
        assert "another provider" in settings.origins["embedder.api_key"]


def test_a_key_that_was_meant_for_no_one_yet_goes_to_the_provider_chosen_later(read):
    settings = read(f"embedder.api_key = '{KEY}'", env={"ZAPOMNI_EMBEDDER_PROVIDER": "openai"})
    assert settings.embedder.api_key == Secret(KEY)


def test_the_default_folders_are_those_of_platformdirs(monkeypatch, tmp_path):
    for variables in ({}, {"XDG_DATA_HOME": str(tmp_path / "d"), "XDG_CONFIG_HOME": str(tmp_path / "c")}):
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        environ = {"HOME": str(Path.home()), **variables}
        assert str(config.default_folder("data", environ)) == platformdirs.user_data_dir("zapomni", appauthor=False)
        assert str(config.default_folder("config", environ)) == platformdirs.user_config_dir("zapomni", appauthor=False)


def test_every_setting_has_a_sentence_a_form_and_a_default_that_fits(read):
    for row in SETTINGS.values():
        assert row.doc.endswith(".")
        assert row.form.allowed
        assert row.env == row.env.upper()
    shown = {name: value for name, value, _ in read().rows()}
    assert shown.keys() == SETTINGS.keys()


def test_loading_brings_in_neither_toml_nor_platformdirs_nor_the_model_when_no_file_is_there(tmp_path):
    program = (
        "import sys; from zapomni.config import load; from pathlib import Path\n"
        f"load({{}}, {{'HOME': {str(tmp_path)!r}}}, Path({str(tmp_path)!r}))\n"
        "print([m for m in ('tomllib', 'platformdirs', 'zapomni.model', 'numpy', 'difflib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_policy_that_is_none_stops_the_start_and_is_not_left_to_a_merge(read, place):
    file = place / "home/.config/zapomni/config.toml"
    with pytest.raises(ConfigError, match=f"merge_policy: 'foo' in {file} cannot be used") as refused:
        read('merge_policy = "foo"')
    assert tuple(Policy) == MERGE_POLICIES
    assert refused.value.remedy == "Allowed is append, replace, confidence_gated, llm_merge or reject"
    with pytest.raises(ConfigError, match="environment ZAPOMNI_MERGE_POLICY"):
        read(env={"ZAPOMNI_MERGE_POLICY": "слить"})
    assert read('merge_policy = "Replace"').merge_policy == "replace"
    assert not read('merge_policy = ""').merge_policy
