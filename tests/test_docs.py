from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    return [(page.name, block) for page in PAGES for block in pattern.findall(page.read_text(encoding="utf-8"))]


def steps(block: str) -> list[tuple[str, list[str]]]:
    """Split a transcript into commands and the lines that must follow; `…` stands for anything."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        elif found:
            found[-1][1].append(line)
    return found


def matches(wanted: list[str], got: str) -> bool:
    pattern = r"\n".join(".*".join(re.escape(part) for part in line.rstrip().split("…")) for line in wanted)
    return (
        re.fullmatch(pattern, "\n".join(line.rstrip() for line in got.strip("\n").splitlines()), re.DOTALL) is not None
    )


@pytest.mark.promise("docs.true")
@pytest.mark.parametrize(("page", "block"), blocks(CONSOLE))
def test_a_transcript_in_the_docs_is_what_happens(page: str, block: str, tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent
    env = {
        "PATH": f"{scripts}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "ZAPOMNI_HOME": str(tmp_path / "home"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "100",
    }
    work = tmp_path / "work"
    work.mkdir()
    for command, wanted in steps(block):
        done = subprocess.run(
            ["bash", "-c", command], cwd=work, env=env, capture_output=True, text=True, check=False, timeout=60
        )
        assert matches(wanted, done.stdout + done.stderr), f"{page}: $ {command}\n{done.stdout}{done.stderr}"


@pytest.mark.promise("docs.true")
@pytest.mark.parametrize(("page", "block"), blocks(PYTHON))
def test_an_example_in_the_docs_runs(page: str, block: str, tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "ZAPOMNI_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"{page}\n{block}\n{done.stdout}{done.stderr}"
