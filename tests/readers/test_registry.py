"""From a name to a reader, ours or another package's."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from zapomni.readers import registry
from zapomni.readers.registry import BUILT_IN, by_ending, limit_of, reader_for, version_of


@pytest.fixture
def others(monkeypatch):
    def install(**readers):
        points = [metadata.EntryPoint(name, value, registry.GROUP) for name, value in readers.items()]
        monkeypatch.setattr(metadata, "entry_points", lambda **_: metadata.EntryPoints(points))
        by_ending.cache_clear()

    yield install
    by_ending.cache_clear()


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("README.MD", "markdown"),
        ("a.b.markdown", "markdown"),
        ("a.rst", "text"),
        ("main.rs", "text"),
        ("Makefile", "text"),
        ("имя файла", "text"),
        (".gitignore", "text"),
        ("a.unknown", "text"),
        ("a.csv", "data"),
        ("a.Yaml", "data"),
        ("a.pdf", "pdf"),
        ("a.docx", "docx"),
        ("a.htm", "html"),
        ("a.ipynb", "notebook"),
    ],
)
def test_a_file_is_read_by_the_ending_of_its_name(name, reader):
    assert reader_for(name, b"").name == reader


def test_what_holds_secrets_or_is_written_by_programs_has_no_ending_of_ours():
    assert not {".env", ".lock", ".pem", ".key"} & set(by_ending())


def test_a_name_tells_how_many_bytes_are_read_and_a_format_its_version():
    assert limit_of("a.PDF") == 100 * 2**20
    assert limit_of("a.md") == limit_of("a.log") == limit_of("Makefile") == 10 * 2**20
    assert (version_of("markdown"), version_of("gone")) == (1, 0)


def test_each_reader_that_the_package_declares_is_built_in():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["entry-points"][registry.GROUP].values()) <= set(BUILT_IN)


def test_no_two_readers_of_ours_want_one_ending():
    endings = [ending for reader in set(by_ending().values()) for ending in reader.endings]
    assert len(endings) == len(set(endings))


def test_a_reader_of_another_package_wins_for_its_endings(others, monkeypatch):
    mine = SimpleNamespace(name="mine", version=3, endings=[".md", ".mine"], limit=1, read=None)
    monkeypatch.setattr(registry, "mine", mine, raising=False)
    others(mine="zapomni.readers.registry:mine")
    assert reader_for("a.md", b"") is mine
    assert reader_for("a.mine", b"") is mine
    assert reader_for("a.markdown", b"").name == "markdown"


def test_a_reader_that_fails_to_load_is_named_and_passed_over(others, caplog):
    others(gone="no_such_package:READER", odd="zapomni.readers.registry:GROUP", text="zapomni.readers.plain:TEXT")
    assert reader_for("a.md", b"").name == "markdown"
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "'gone' (no_such_package:READER)" in caplog.text
    assert "'odd'" in caplog.text


def test_choosing_a_reader_loads_no_library_behind_it():
    heavy = ("pypdfium2", "mammoth", "markdownify", "bs4", "yaml", "charset_normalizer")
    program = (
        "import sys; from zapomni.readers.registry import reader_for\n"
        f"reader_for('a.pdf', b''), reader_for('a.docx', b'')\nprint([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
