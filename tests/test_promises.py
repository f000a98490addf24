from __future__ import annotations

import ast
from pathlib import Path

from tests.promises import PROMISES

HERE = Path(__file__).parent


def claimed() -> dict[str, list[str]]:
    claims: dict[str, list[str]] = {}
    for path in HERE.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.promise":
                for argument in node.args:
                    assert isinstance(argument, ast.Constant)
                    claims.setdefault(str(argument.value), []).append(path.name)
    return claims


def test_every_promise_is_claimed_by_a_test() -> None:
    missing = sorted(set(PROMISES) - set(claimed()))
    assert not missing, f"no test keeps these promises: {missing}"


def test_no_test_claims_a_promise_that_is_not_made() -> None:
    unknown = {name: files for name, files in claimed().items() if name not in PROMISES}
    assert not unknown
