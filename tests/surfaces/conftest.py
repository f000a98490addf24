"""The five surfaces, each with a store and processes of its own for the whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.surfaces.drivers import REPOSITORY, Agent, Command, Library, Program, Step, play, told
from tests.trials.conftest import Desk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.surfaces.drivers import Surface


@pytest.fixture(scope="session")
def surfaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Surface, Library]]]:
    """Each surface with the library open on the same store; the library itself is the first."""

    def desk(name: str) -> Desk:
        home: Path = tmp_path_factory.mktemp(name) / REPOSITORY
        (home / ".git").mkdir(parents=True)
        (home / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        return Desk(home, ZAPOMNI_MCP_TOOLS="full", ZAPOMNI_DOCUMENTS_WATCH="false")

    desks = [desk(name) for name in ("library", "command", "stdio", "http", "program")]
    libraries = [Library(desk.home) for desk in desks]
    agents = [Agent(desks[2], "mcp"), Agent(desks[3], "http")]
    reached: list[Surface] = [libraries[0], Command(desks[1]), *agents, Program(desks[4])]
    yield list(zip(reached, libraries, strict=True))
    for library in libraries:
        library.app.close()
    for desk_ in desks:
        desk_.stop()


@pytest.fixture
def alike(surfaces: list[tuple[Surface, Library]]) -> Callable[[Sequence[Step], str], None]:
    """Play steps on every surface; the library must answer as each step says, the others as the library does."""

    def check(steps: Sequence[Step], scope: str) -> None:
        answers: dict[str, list[dict[str, Any] | None]] = {
            surface.name: play(surface, library, steps, scope) for surface, library in surfaces
        }
        expected = answers.pop("library")
        for no, (step, answer) in enumerate(zip(steps, expected, strict=True), 1):
            if answer is not None:
                said = told(answer)
                held = {name: said.get(name) for name in step.then}
                assert held == dict(step.then), f"step {no}, {step.verb}: {answer}"
        for name, others in answers.items():
            for no, (step, wanted, got) in enumerate(zip(steps, expected, others, strict=True), 1):
                assert got is None or got == wanted, f"step {no}, {step.verb}, {name} against the library"

    return check
