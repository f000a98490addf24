from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MODULE_LINES = 400
FUNCTION_LINES = 40
EXCEPTIONS: dict[str, str] = {
    # "module.py": "the reason and its number of lines"
}


@pytest.mark.promise("house.small")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_and_its_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(ROOT / "src"))
    assert len(text.splitlines()) <= MODULE_LINES or name in EXCEPTIONS
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LINES or f"{name}:{node.name}" in EXCEPTIONS, (
                f"{name}:{node.name} has {length} lines"
            )


@pytest.mark.promise("house.light")
@pytest.mark.parametrize(
    "act", ["import zapomni", "import sys; sys.argv=['zapomni','--version']; import zapomni.__main__"]
)
def test_start_up_loads_no_heavy_library(act: str) -> None:
    heavy = "{'numpy','pydantic','mcp','starlette','uvicorn','httpx2','asyncio'}"
    code = f"import atexit, sys\natexit.register(lambda: print('HEAVY', sorted({heavy} & set(sys.modules))))\n{act}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "HEAVY []" in done.stdout, done.stdout + done.stderr


@pytest.mark.promise("house.layers")
def test_the_import_contracts_are_kept() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


ROOMS = ("text", "store", "embed", "llm", "files", "readers", "search", "agents", "services")


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_of_the_architecture_names_every_module_of_a_room(room: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folder = ROOT / "src" / "zapomni" / room
    files = [*folder.glob("*.py"), *(folder.glob("*/*.py") if room == "services" else ())]
    modules = [file.stem for file in files if not file.stem.startswith("_")]
    assert modules
    assert [name for name in modules if not re.search(rf"\b{name}\b", page)] == []
