"""The token of a server whose settings name none."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from zapomni.errors import ConfigError, Unavailable
from zapomni.surfaces.http.token import kept_token, token_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.promise("http.token")
def test_a_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "data"
    token = kept_token(home)
    assert len(token) >= 43
    assert kept_token(home) == token
    assert token_file(home).stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o077 == 0
    assert sorted(file.name for file in home.iterdir()) == ["http.token", "http.token.lock"]


@pytest.mark.promise("http.token")
def test_two_data_folders_have_two_tokens(tmp_path: Path) -> None:
    assert kept_token(tmp_path / "a") != kept_token(tmp_path / "b")


@pytest.mark.promise("http.token")
def test_servers_that_start_at_once_share_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(kept_token, [tmp_path] * 8))) == 1


@pytest.mark.promise("http.token")
def test_a_token_that_others_can_read_is_not_trusted(tmp_path: Path) -> None:
    kept_token(tmp_path)
    token_file(tmp_path).chmod(0o644)
    with pytest.raises(ConfigError, match="can be read by others"):
        kept_token(tmp_path)


@pytest.mark.parametrize("text", ["", "\n", "two words", "строка", "\x00"])
def test_a_file_that_holds_no_token_stops_the_start(tmp_path: Path, text: str) -> None:
    kept_token(tmp_path)
    token_file(tmp_path).write_text(text, encoding="utf-8")
    with pytest.raises((ConfigError, Unavailable)) as told:
        kept_token(tmp_path)
    assert str(token_file(tmp_path)) in str(told.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Unavailable, match="ZAPOMNI_HTTP_TOKEN"):
        kept_token(tmp_path)
