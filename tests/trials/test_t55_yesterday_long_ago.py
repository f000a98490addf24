"""Trial T55: "yesterday" in something that was said long ago; the model is scripted, its prompt is read."""

from __future__ import annotations

import io
import json
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from tests.http.web import Web
from tests.provider import provider
from tests.trials import drivers_b

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.llm.scripted import ScriptedLlm
from zapomni.surfaces.http.call import BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.trials.drivers_b import World

    from zapomni.model import Memory

    Open = Callable[..., Zapomni]

world = drivers_b.world

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SAID = "2024-03-01T00:30:00+03:00"
SAID_AT = datetime(2024, 2, 29, 21, 30, tzinfo=UTC)
E1 = "Yesterday we moved the launch to next Friday."
E2 = "Вчера договорились, что отчёт сдаём через неделю."
CASES = [
    pytest.param(E1, "On 2024-02-29 the launch was moved to 2024-03-08.", "when was the launch moved", id="English"),
    pytest.param(E2, "29 февраля 2024 договорились сдать отчёт 7 марта 2024.", "когда сдаём отчёт", id="Russian"),
]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Open the trial's memory in Moscow with a model's replies, None for no model; each opening is a month later."""
    apps: list[Zapomni] = []

    def open_with(reply: Any = None) -> Zapomni:
        at = NOW + timedelta(days=30 * len(apps))
        llm = ScriptedLlm(lambda _: reply) if reply is not None else None
        config = load({"home": tmp_path / "data", "embedder.provider": "none"}, environ={}, cwd=tmp_path)
        apps.append(Zapomni(config, clock=lambda: at, llm=llm))
        apps[-1].zone = ZoneInfo("Europe/Moscow")  # type: ignore[assignment]
        return apps[-1]

    yield open_with
    for app in apps:
        app.close()


def prompt(app: Zapomni) -> str:
    llm = app._llm
    assert isinstance(llm, ScriptedLlm)
    return "\n".join(getattr(part, "text", "") for part in llm.calls[-1].task.parts)


def only(app: Zapomni) -> Memory:
    (memory,) = app.list().memories
    return memory


@pytest.mark.promise("ingest.said")
@pytest.mark.parametrize(("text", "resolved", "question"), CASES)
@pytest.mark.parametrize("by", ["library", "http", "http file"])
def test_what_was_said_long_ago_is_read_as_of_then_and_both_times_are_kept(
    opened: Open, text: str, resolved: str, question: str, by: str
) -> None:
    app = opened({"facts": [{"content": resolved}]})
    if by == "library":
        app.reading.ingest(text, said_at=SAID)
    elif by == "http":
        Web(app).good("POST", "/ingest", {"text": text, "said_at": SAID})
    else:
        file = {"Content-Type": BYTES}
        said = Web(app)("POST", "/ingest/file", text.encode(), headers=file, name="chat.txt", said_at=SAID)
        assert said.status == 200, said
    assert "Friday, 2024-03-01 at 00:30 (UTC+0300)" in prompt(app)
    assert "2026" not in prompt(app)
    memory = only(app)
    assert (memory.content, memory.observed_at, memory.created_at) == (resolved, SAID_AT, NOW)
    assert app.recall(question).hits[0].memory.id == memory.id
    out = io.BytesIO()
    app.export(out)
    (exported,) = [row for row in map(json.loads, out.getvalue().splitlines()) if row.get("type") == "memory"]
    assert exported["observed_at"] == "2024-02-29T21:30:00.000000Z"
    assert exported["created_at"] == "2026-11-30T12:00:00.000000Z"


@pytest.mark.promise("ingest.said")
@pytest.mark.parametrize("text", [E1, E2])
def test_without_a_date_the_time_of_storing_is_used_and_recorded_as_such(opened: Open, text: str) -> None:
    app = opened({"facts": [{"content": text}]})
    app.reading.ingest(text)
    assert "Monday, 2026-11-30 at 15:00 (UTC+0300)" in prompt(app)
    assert (only(app).observed_at, only(app).created_at) == (None, NOW)


@pytest.mark.promise("ingest.said")
@pytest.mark.parametrize(("said", "told"), [(SAID, "2024-03-01 at 00:30"), (None, "2026-11-30 at 15:00")])
def test_reading_it_again_months_later_does_not_shift_it(opened: Open, said: str | None, told: str) -> None:
    """A text that waited for a model is read as of when it was said, or else stored, not as of the later reading."""
    opened().reading.ingest(E2, said_at=said)
    later = opened({"facts": [{"content": "Отчёт сдаём 7 марта."}]})
    assert len(later.reading.enrich().read) == 1
    assert told in prompt(later)
    assert only(later).observed_at == (SAID_AT if said else None)


MARCH = datetime(2024, 3, 1, tzinfo=ZoneInfo("Europe/Moscow"))
LATER = datetime(2025, 5, 5, 15, tzinfo=ZoneInfo("Europe/Moscow"))
FILES = [
    pytest.param("a.md", f"---\ndate: {SAID}\ncreated: 2020-01-01\n---\n{E2}", SAID_AT, id="date in its header"),
    pytest.param("2020-01-01.md", f"---\ncreated: 2024-03-01\n---\n{E2}", MARCH, id="created, before the name"),
    pytest.param("b.md", f"---\ndate: 01.03.2024\n---\n{E2}", MARCH, id="day as Russians write it"),
    pytest.param("2024-03-01-notes.md", E2, MARCH, id="day in its name"),
    pytest.param("Встреча 01.03.2024.txt", E2, MARCH, id="day in a Russian name"),
    pytest.param("log_20240301.txt", E1, MARCH, id="day without dashes"),
    pytest.param("2024-03-01.md", f"---\ndate: давно\n---\n{E2}", MARCH, id="header that is no date"),
    pytest.param("план на 2030-05-01.md", E2, LATER, id="day to come, so when it was changed"),
    pytest.param("build-20241399.txt", E1, LATER, id="number that is no day"),
    pytest.param("notes.txt", E2, LATER, id="when it was changed"),
]


@pytest.mark.promise("ingest.said")
@pytest.mark.parametrize(("name", "text", "written"), FILES)
@pytest.mark.parametrize("by", ["source", "file"])
def test_a_file_is_read_as_of_when_it_was_written(
    opened: Open, tmp_path: Path, name: str, text: str, written: datetime, by: str
) -> None:
    app = opened({"facts": [{"content": "29 февраля 2024 договорились сдать отчёт 7 марта 2024."}]})
    file = tmp_path / "notes" / name
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    os.utime(file, (LATER.timestamp(), LATER.timestamp()))
    if by == "source":
        app.documents.add(file.parent, mode="ingest")
        app.reading.scan()
    else:
        with file.open("rb") as opened_file:
            app.reading.ingest_file(opened_file, name, modified_ns=file.stat().st_mtime_ns)
    local = written.astimezone(ZoneInfo("Europe/Moscow"))
    assert f"{local:%Y-%m-%d at %H:%M} (UTC+0300)" in prompt(app)
    assert (only(app).observed_at, only(app).created_at) == (written, NOW)


@pytest.mark.promise("ingest.said")
def test_the_command_reads_a_file_as_of_its_own_time_unless_it_is_told_another(world: World) -> None:
    file = world.write("записи.txt", E2)
    os.utime(file, (SAID_AT.timestamp(), SAID_AT.timestamp()))
    with provider(lambda _: {"facts": [{"content": E2}]}) as model:
        world.env |= {**model.settings(), "TZ": "Europe/Moscow"}
        world.zap("ingest", str(file), "--scope", "project:one")
        world.zap("ingest", str(file), "--scope", "project:two", "--said-at", "2023-06-01")
        assert ["2024-03-01 at 00:30 (UTC+0300)" in one.text for one in model.requests] == [True, False]
        assert "2023-06-01 at 00:00 (UTC+0300)" in model.requests[1].text
    rows = {row["scope"]: row["observed_at"] for row in world.exported() if row.get("type") == "memory"}
    assert rows == {"project:one": "2024-02-29T21:30:00.000000Z", "project:two": "2023-05-31T21:00:00.000000Z"}


def test_a_time_that_is_none_is_an_error_that_names_it(opened: Open) -> None:
    said = Web(opened({"facts": []}))("POST", "/ingest", {"text": E1, "said_at": "давно"})
    assert (said.status, "said_at" in said.body.decode()) == (400, True)
