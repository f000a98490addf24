"""How well documents are found: a project's manual is asked the questions that its own code puts.

A name that the manual describes (`.. function:: slugify`) and the code defines once with a docstring gives a question,
the first sentence of that docstring; the answer is the chunk of the manual that holds the line of the description or
one of the `ANSWER_LINES` behind it. Code is left out of the index, so that no question stands in it. Question and
answer were written for different readers. Half of the questions are held back by a hash of their text.
"""

from __future__ import annotations

import ast
import hashlib
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.bench.score import Scores, mean, score
from zapomni.model import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from zapomni.app import Zapomni
    from zapomni.model.document import DocumentHit

    Progress = Callable[[str, int, int], None]

ANSWER_LINES: Final = 15
"""Lines behind a description's first one that still say what it is."""
FEWEST_WORDS: Final = 6
DEPTH: Final = 10
MANUAL: Final = "docs"
"""The folder of a Sphinx project that holds its manual."""
_DESCRIBED: Final = re.compile(r"\.\. (?:\w+:)?(?:function|class|method|exception|data|attribute):: *([\w.]+)")


class Question(NamedTuple):
    """A sentence, and the lines of the file that answer it."""

    text: str
    path: str
    first_line: int
    last_line: int
    held_back: bool


def run(app: Zapomni, folder: Path, progress: Progress) -> dict[str, Scores]:
    """Index the manual of a project in place, work off the queue, and return the scores by mode and half."""
    app.documents.add(folder, include=[f"{MANUAL}/"], exclude=["*.py"])
    app.documents.scan(progress=lambda _: lambda done, total: progress("scanning", done, total))
    app.documents.embedding.drain(progress=lambda done, total: progress("embedding", done, total))
    return _ask(app, questions(folder), progress)


def questions(folder: Path) -> list[Question]:
    """Return the questions that a project's docstrings put to its manual, one a description."""
    sentences = _sentences(folder)
    found = {}
    for path, number, name in _descriptions(folder):
        sentence = sentences.get(name)
        if sentence is not None and sentence not in found:
            held_back = bool(hashlib.sha256(sentence.encode()).digest()[0] & 1)
            found[sentence] = Question(sentence, path, number, number + ANSWER_LINES, held_back)
    return list(found.values())


def _sentences(folder: Path) -> dict[str, str]:
    """Return the first sentence of the docstring of each name that the code defines once."""
    defined: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("*.py")):
        if "tests" in file.parts:
            continue
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                defined.setdefault(node.name, []).append(ast.get_docstring(node) or "")
    first = {name: texts[0].partition("\n\n")[0] for name, texts in defined.items() if len(texts) == 1}
    cut = {name: " ".join(text.split()).partition(". ")[0].rstrip(".") for name, text in first.items()}
    return {
        name: text
        for name, text in cut.items()
        if len(text.split()) >= FEWEST_WORDS and name.lower() not in text.lower()
    }


def _descriptions(folder: Path) -> Iterator[tuple[str, int, str]]:
    for file in sorted((folder / MANUAL).rglob("*.txt")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            described = _DESCRIBED.match(line.strip())
            if described:
                yield file.relative_to(folder).as_posix(), number, described[1].rpartition(".")[2]


def _ask(app: Zapomni, asked: Sequence[Question], progress: Progress) -> dict[str, Scores]:
    rows: dict[str, list[Scores]] = {}
    for mode in Mode:
        for done, question in enumerate(asked):
            found = app.documents.search(question.text, limit=DEPTH, mode=mode).hits
            ranked = [str(place) if not _answers(hit, question) else "answer" for place, hit in enumerate(found)]
            half = "held back" if question.held_back else "seen"
            rows.setdefault(f"{mode.value}, {half}", []).append(score(list(dict.fromkeys(ranked)), {"answer"}))
            progress(f"asking {mode.value}", done, len(asked))
    return {name: mean(scores) for name, scores in rows.items()}


def _answers(hit: DocumentHit, question: Question) -> bool:
    chunk = hit.chunk
    overlaps = chunk.first_line <= question.last_line and chunk.last_line >= question.first_line
    return hit.document.path == question.path and overlaps
