"""`zapomni bench`: retrieval on a set of yours, speed beside the bare parts, start-up."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from zapomni.surfaces.cli.session import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.app import Zapomni
    from zapomni.bench.retrieval import Report

SHOWN = ("hit@1", "hit@5", "hit@10", "all@10", "rec@10", "ndcg@10", "mrr@10")


@click.group("bench", cls=Group)
def bench() -> None:
    """Measure retrieval and speed on this machine."""


@bench.command("retrieval")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--mode", type=click.Choice(["lexical", "semantic", "hybrid"]), default="hybrid", show_default=True)
@click.option(
    "--groups", default="", metavar="NAME,NAME", help="Only these groups of the set, separated by commas; all if empty."
)
@click.option(
    "--keep", type=click.Path(path_type=Path), metavar="PATH", help="A folder that keeps the store for the next run."
)
@click.option(
    "--unrelated",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="A set whose questions should return nothing: how many return anything?",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def retrieval(
    folder: Path,
    mode: str,
    groups: str,
    keep: Path | None,
    unrelated: Path | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Store the set in FOLDER through the gateway, ask through recall, score, compare with plain FTS5."""
    from zapomni.bench.retrieval import run
    from zapomni.bench.sets import read_set
    from zapomni.model import Mode

    data = read_set(folder).only(frozenset(part for part in groups.split(",") if part))
    with _store(keep) as app:
        report = run(app, data, Mode(mode), _progress, read_set(unrelated) if unrelated else None)
    click.echo(json.dumps(to_builtins(report), ensure_ascii=False) if as_json else _table(report))


@bench.command("prompt")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--unrelated",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="A set whose questions have nothing to do with FOLDER's passages.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def prompt(folder: Path, unrelated: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """Store the set in FOLDER and count what its questions, and unrelated ones, bring to mind as prompts of a hook."""
    from zapomni.bench.prompts import run
    from zapomni.bench.sets import read_set

    with _store(None) as app:
        rates = run(app, read_set(folder), read_set(unrelated) if unrelated else None, _progress)
    rows = [to_builtins(rate) for rate in rates]
    click.echo(json.dumps(rows, ensure_ascii=False) if as_json else _columns(rows))


@bench.command("selection")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--describe", type=click.Choice(["sentence", "question", "misses"]), default="question", show_default=True
)
@click.option("--groups", default="", metavar="NAME", help="Only this group of the set; all if empty.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def selection(folder: Path, describe: str, groups: str, as_json: bool) -> None:  # noqa: FBT001
    """Choose records of the set in FOLDER by their descriptions, by full text and by both words and meaning.

    A record is described by its first sentence, by one of the questions about it, which is not asked then, or by the
    first sentence with every question that is not asked.
    """
    from zapomni.bench.selection import Describe, run
    from zapomni.bench.sets import read_set

    data = read_set(folder).only(frozenset(part for part in groups.split(",") if part))
    with _store(None) as app:
        report = run(app, data, Describe(describe), _progress)
    if as_json:
        click.echo(json.dumps(to_builtins(report), ensure_ascii=False))
        return
    click.echo(f"{report.name}: {report.records} records, described by: {report.described_by}")
    rows = [
        {"what": row.way, "half": row.half, "questions": row.questions, **_picked(row.scores)}
        for row in report.rows
        if row.questions
    ]
    click.echo(_columns(rows))


def _picked(scores: dict[str, float]) -> dict[str, float]:
    return {metric: scores[metric] for metric in ("hit@1", "hit@5", "mrr@10")}


@bench.command("latency")
@click.option(
    "--sizes", default="1000,10000", metavar="N,N", show_default=True, help="Numbers of memories, separated by commas."
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def latency(sizes: str, as_json: bool) -> None:  # noqa: FBT001
    """Measure warm recall and bulk import beside bare FTS5, numpy and apsw on the same data."""
    from zapomni.bench.latency import run

    rows = [to_builtins(row) for row in run([int(part) for part in sizes.split(",")], _progress)]
    click.echo(json.dumps(rows) if as_json else _columns(rows))


@bench.command("start")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def start(as_json: bool) -> None:  # noqa: FBT001
    """Measure cold commands and the server's handshake beside a bare interpreter."""
    from zapomni.bench.start import run

    rows = [to_builtins(row) for row in run()]
    click.echo(json.dumps(rows) if as_json else _columns(rows))


@bench.command("hook")
@click.option("--size", default=10_000, metavar="N", show_default=True, help="How many memories.")
@click.option(
    "--at-once", default=16, metavar="N", show_default=True, help="How many of two hundred hooks run at a time."
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def hook(size: int, at_once: int, as_json: bool) -> None:  # noqa: FBT001
    """Measure hooks over many memories beside a bare interpreter, and two hundred of them together."""
    from zapomni.bench.hooks import fill, horde, run

    with tempfile.TemporaryDirectory(prefix="zapomni-bench-") as folder:
        with _store(Path(folder)) as app:
            fill(app, size)
        rows = [to_builtins(row) for row in run(Path(folder))]
        many = to_builtins(horde(Path(folder), at_once))
    click.echo(json.dumps({"hooks": rows, "together": many}) if as_json else f"{_columns(rows)}\n\n{_columns([many])}")


@bench.command("embed")
@click.option("--count", default=400, metavar="N", show_default=True, help="How many texts of about 75 tokens.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def embed(count: int, as_json: bool) -> None:  # noqa: FBT001
    """Measure how fast the embed queue is worked off beside each engine alone on the same texts."""
    from zapomni.bench.engines import run

    rows = [to_builtins(row) for row in run(count)]
    click.echo(json.dumps(rows) if as_json else _columns(rows))


@bench.command("memory")
@click.option("--size", default=10_000, metavar="N", show_default=True, help="How many memories.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def memory(size: int, as_json: bool) -> None:  # noqa: FBT001
    """Measure what a server holds after a hundred hybrid recalls, and what a memory takes on disk."""
    from zapomni.bench.memory import run

    row = to_builtins(run(size))
    click.echo(json.dumps(row) if as_json else _columns([row]))


@bench.command("index")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def index(folder: Path, as_json: bool) -> None:  # noqa: FBT001
    """Index a copy of FOLDER, once more, and after ten of its documents changed."""
    from zapomni.bench.index import run

    report = run(folder, _progress)
    if as_json:
        click.echo(json.dumps(to_builtins(report), ensure_ascii=False))
        return
    click.echo(f"{report.files:,} files, {report.megabytes:,.1f} MB; the store {report.store_mb:,.1f} MB")
    click.echo(_columns([to_builtins(scan) for scan in report.scans]))
    click.echo(f"at most {report.peak_mb:,.0f} MB held; {report.vectors_per_second:,.1f} chunks a second get a vector")


@bench.command("documents")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--keep", type=click.Path(path_type=Path), metavar="PATH", help="A folder that keeps the store for the next run."
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def documents(folder: Path, keep: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """Ask the manual of the Sphinx project in FOLDER what its docstrings say."""
    from zapomni.bench.documents import run

    with _store(keep) as app:
        scores = run(app, folder, _progress)
    rows = [{"what": name, **{metric: row[metric] for metric in SHOWN}} for name, row in scores.items() if row]
    click.echo(json.dumps(scores) if as_json else _columns(rows))


@bench.command("beside")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def beside(folder: Path, as_json: bool) -> None:  # noqa: FBT001
    """Measure the recalls of a server at rest and while it indexes FOLDER."""
    from zapomni.bench.beside import run

    row = to_builtins(run(folder))
    click.echo(json.dumps(row) if as_json else _columns([row]))


@bench.command("ask")
@click.option("--size", default=2_000, metavar="N", show_default=True, help="How many memories.")
@click.option("--room", default=200, metavar="N", show_default=True, help="For how many of them there is room.")
@click.option("--runs", default=100, metavar="N", show_default=True, help="How many facts are planted.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def ask(size: int, room: int, runs: int, as_json: bool) -> None:  # noqa: FBT001
    """Measure what a model would be given to read, beside the most recent memories; no model is asked."""
    from zapomni.bench.asking import run

    report = run(size, room, runs, _progress)
    if as_json:
        click.echo(json.dumps(to_builtins(report)))
        return
    click.echo(f"{report.memories:,} memories, room for {report.room}; planted facts supplied, of {report.runs}:")
    click.echo(f"zapomni {report.planted}, the most recent {report.planted_recent}")
    click.echo(_columns([to_builtins(share) for share in report.shares]))


@bench.command("mirror")
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--files", default=2_000, metavar="N", show_default=True, help="How many notes are made where no folder is named."
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def mirror(folder: Path | None, files: int, as_json: bool) -> None:  # noqa: FBT001
    """Attach a copy of FOLDER, or so many notes, as a mirror, beside reading and hashing the files."""
    from zapomni.bench.mirror import run

    row = to_builtins(run(folder, files, _progress))
    click.echo(json.dumps(row) if as_json else _columns([row]))


@contextmanager
def _store(keep: Path | None) -> Iterator[Zapomni]:
    """Open the store that a benchmark works on: one that is kept, or one that is gone afterwards."""
    from zapomni.app import Zapomni
    from zapomni.config import load

    with tempfile.TemporaryDirectory(prefix="zapomni-bench-") as folder, Zapomni(load({"home": keep or folder})) as app:
        yield app


def _progress(what: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{what}: {done}/{total}   ", nl=False, err=True)


def _table(report: Report) -> str:
    rows: list[dict[str, Any]] = [{"what": "zapomni", **report.overall}, {"what": "plain FTS5", **report.plain}]
    rows += [{"what": f"  {name}", **scores} for name, scores in report.by_category.items() if name]
    picked = [{"what": row["what"], **{name: row[name] for name in SHOWN}} for row in rows]
    lines = [
        f"{report.name}: {report.questions} questions over {report.passages} passages, mode {report.mode}",
        _columns(picked),
    ]
    if report.guaranteed:
        lines.append(f"warning: hit@10 is certain by construction for {report.guaranteed} questions")
    lines.append(f"nothing is returned for {100 * report.silent:.1f} % of the questions")
    if report.loud is not None:
        lines.append(f"something is returned for {100 * report.loud:.1f} % of the unrelated ones")
    lines += [
        f"against plain FTS5, {metric}: {gap:+.3f} (denied by {100 * denied:.1f} % of paired bootstrap rounds)"
        for metric, (gap, denied) in report.gain.items()
    ]
    return "\n".join(lines)


def _columns(rows: Sequence[dict[str, Any]]) -> str:
    """Set rows of equal keys as a table with right-aligned numbers."""
    if not rows:
        return ""
    cells = [list(rows[0]), *[[_cell(value) for value in row.values()] for row in rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    return "\n".join(
        "  ".join(text.ljust(width) if place == 0 else text.rjust(width) for place, (text, width) in enumerate(line))
        for line in (list(zip(row, widths, strict=True)) for row in cells)
    )


def _cell(value: object) -> str:
    return f"{value:,.3f}" if isinstance(value, float) else str(value)
