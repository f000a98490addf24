"""Every route does what it says, in the shapes of docs/json.md."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from zapomni import errors
from zapomni.services.parse import DRAFT_FIELDS, FILTER_FIELDS, PATCH_FIELDS
from zapomni.surfaces.http.answers import failure, status_of
from zapomni.surfaces.http.table import CALLS
from zapomni.surfaces.serving import Internal
from zapomni.surfaces.shapes import OUTSIDE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.http.web import Web

    from zapomni.surfaces.http.call import Call

RUSSIAN = "По пятницам не выкатываем: до понедельника дежурит один человек."
ENGLISH = "The staging password lies in the safe."


@pytest.mark.promise("http.verbs")
def test_a_memory_is_stored_found_changed_and_taken_back(web: Web) -> None:
    said = web("POST", "/memories", {"content": RUSSIAN, "tags": ["релиз"], "importance": 0.9})
    made = said.json
    assert (said.status, made["status"], said.headers["location"]) == (201, "created", f"/memories/{made['id']}")
    web.good("POST", "/memories", {"content": ENGLISH})
    assert [hit["content"] for hit in web.good("GET", "/memories/search", q="выкатка в пятницу")["memories"]] == [
        RUSSIAN
    ]
    assert web.good("GET", "/memories", tags=["релиз"])["total"] == 1
    assert web.good("GET", f"/memories/{made['id'][:8]}")["content"] == RUSSIAN
    changed = web.good("PATCH", f"/memories/{made['id']}", {"importance": 0.2, "version": 1})
    assert (changed["status"], changed["version"]) == ("updated", 2)
    assert web.good("DELETE", f"/memories/{made['id']}")["status"] == "deleted"
    assert web.good("GET", "/memories")["total"] == 1
    assert web.good("POST", f"/memories/{made['id']}/undo")["restored"] == [made["id"]]
    history = web.good("GET", f"/memories/{made['id']}/history")
    assert [revision["verb"] for revision in history["revisions"]] == ["create", "update", "delete", "restore"]
    assert {revision["actor"] for revision in history["revisions"]} == {"http"}
    diff = web.good("GET", f"/memories/{made['id']}/diff", end=history["revisions"][1]["seq"])
    assert diff["from"] == history["revisions"][0]["seq"]
    assert diff["lines"] or diff["fields"]
    blame = web.good("GET", f"/memories/{made['id']}/blame")
    assert {line["actor"] for line in blame["lines"]} == {"http"}
    assert web.good("GET", "/status")["memories"] == 2


@pytest.mark.promise("http.errors")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{bad", "body: it is no JSON (line 1, character 2)"),
        ('{"content": "Ёлка",\n "tags": [}'.encode(), "body: it is no JSON (line 2, character 11)"),
        ('{"content": "Ёлка"}'.encode("cp1251"), "body: it is no JSON in UTF-8 (byte 14)"),
        (b'{"importance": NaN}', "body: it is no JSON: NaN is no number"),
        (b'{"importance": ' + b"1" * 5_000 + b"}", "body: it is no JSON that can be read: a number in it is too long"),
        (b"[" * 200_000, "body: it is no JSON that can be read: it is nested too deeply"),
    ],
    ids=["no JSON", "on a later line", "not UTF-8", "no number", "too long a number", "too deep"],
)
def test_a_body_that_cannot_be_read_is_refused_with_the_place(web: Web, body: bytes, said: str) -> None:
    answer = web("POST", "/memories", body, headers={"Content-Type": "application/json"})
    assert (answer.status, answer.json["error"]["message"]) == (400, said)
    assert answer.json["error"]["remedy"] == "Send a JSON object"


@pytest.mark.promise("http.errors")
def test_a_deleted_memory_is_named_with_the_route_that_brings_it_back(web: Web) -> None:
    made = web.good("POST", "/memories", {"content": RUSSIAN})["id"]
    web.good("DELETE", f"/memories/{made}")
    said = web("GET", f"/memories/{made}")
    assert said.status == 404
    assert said.json["error"]["message"].startswith(f"memory {made} is deleted since ")
    assert said.json["error"]["remedy"] == f"It is brought back by POST /memories/{made}/undo"
    assert web("GET", "/memories/zzzz").json["error"]["remedy"] == "Look it up with GET /memories or name its scope"


@pytest.mark.promise("http.errors")
def test_the_route_that_brings_a_memory_back_names_the_scope_that_it_needs(web: Web) -> None:
    made = web.good("POST", "/memories", {"content": RUSSIAN, "scope": "team:сайт"})["id"]
    web.good("DELETE", f"/memories/{made}", scope="team:сайт")
    said = web("GET", f"/memories/{made}", scope="team:сайт").json["error"]["remedy"]
    route = urlsplit(said.removeprefix("It is brought back by POST "))
    assert (route.path, dict(parse_qsl(route.query))) == (f"/memories/{made}/undo", {"scope": "team:сайт"})
    assert web("POST", route.path, **dict(parse_qsl(route.query))).status == 200


@pytest.mark.promise("http.verbs")
def test_pages_follow_each_other_to_the_end(web: Web) -> None:
    for number in range(5):
        web.good("POST", "/memories", {"content": f"Note number {number}."})
    seen, cursor = [], ""
    while cursor is not None:
        page = web.good("GET", "/memories", limit=2, cursor=cursor)
        seen += [memory["content"] for memory in page["memories"]]
        cursor = page["next"]
    assert sorted(seen) == [f"Note number {number}." for number in range(5)]


@pytest.mark.promise("http.verbs")
def test_documents_are_scanned_searched_and_told_of(web: Web, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "deploy.md").write_text("# Выкатка\n\nВыкатываем командой `make ship`.\n", encoding="utf-8")
    source = web.app.documents.add(folder)
    assert web.good("POST", "/sources/scan", {})["sources"][0]["added"] == 1
    found = web.good("GET", "/search", q="как выкатить", kind=["docs"])
    assert [place["path"] for place in found["documents"]] == ["deploy.md"]
    assert [one["id"] for one in web.good("GET", "/sources")["sources"]] == [source.id]
    assert web.good("GET", "/sources/status", source=source.id)["sources"][0]["documents"] == 1


@pytest.mark.promise("http.verbs")
def test_a_scan_brings_the_notes_of_a_mirrored_folder_in(web: Web, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "пирс.md").write_text("Буй у третьего пирса сорвало штормом.\n", encoding="utf-8")
    web.app.documents.add(folder, mode="mirror", scope="agent:boat")
    assert [one["added"] for one in web.good("POST", "/sources/scan", {"scope": ["all"]})["sources"]] == [1]
    assert web.good("GET", "/memories", scope="agent:boat")["total"] == 1


@pytest.mark.promise("http.verbs")
@pytest.mark.parametrize(("lock", "left"), [("scan", "docs"), ("mirror", "vault"), ("ingest-scan", "mail")])
def test_a_folder_that_another_process_scans_is_named_and_the_others_are_read(
    web: Web, tmp_path: Path, lock: str, left: str
) -> None:
    for name, mode in (("docs", "index"), ("vault", "mirror"), ("mail", "ingest")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "пирс.md").write_text(f"Буй у третьего пирса: {name}.\n", encoding="utf-8")
        web.app.documents.add(tmp_path / name, mode=mode, scope="agent:boat")
    with web.app.store.worker_lock(lock):  # as another process that is at work holds it
        came = web.good("POST", "/sources/scan", {"scope": ["all"]})["sources"]
    told = {one["root"].rpartition("/")[2]: (one["added"], one["problem"]) for one in came}
    assert told.pop(left) == (0, "another process is scanning just now")
    assert [*told.values()] == [(1, None)] * 2


@pytest.mark.promise("http.verbs")
def test_a_run_is_taken_back_as_one(web: Web) -> None:
    ids = [web.good("POST", "/memories", {"content": text})["id"] for text in (RUSSIAN, ENGLISH)]
    run = web.app.delete_many(ids).run
    assert sorted(web.good("POST", f"/runs/{run}/undo")["restored"]) == sorted(ids)


def test_an_erased_memory_has_a_history_without_texts(web: Web) -> None:
    made = web.good("POST", "/memories", {"content": RUSSIAN})
    erased = web.good("DELETE", f"/memories/{made['id']}", erase="true")
    assert (erased["status"], erased["outside"]) == ("erased", OUTSIDE)
    history = web("GET", f"/memories/{made['id']}/history")
    assert "пятницам" not in history.body.decode()


def test_a_text_that_was_refused_before_is_refused_with_a_status_of_its_own(web: Web) -> None:
    made = web.good("POST", "/memories", {"content": RUSSIAN})
    web.good("DELETE", f"/memories/{made['id']}", never="это неправда")
    said = web("POST", "/memories", {"content": RUSSIAN})
    assert (said.status, said.json["status"]) == (422, "refused")
    assert "это неправда" in said.json["warnings"][0]
    assert said.json["warnings"][-1].startswith("The refusal is lifted by POST /memories/")


def test_a_lost_update_shows_what_is_stored(web: Web) -> None:
    made = web.good("POST", "/memories", {"content": ENGLISH})
    web.good("PATCH", f"/memories/{made['id']}", {"content": RUSSIAN})
    said = web("PATCH", f"/memories/{made['id']}", {"content": "третье", "version": 1})
    assert (said.status, said.json["error"]["current"]["content"]) == (409, RUSSIAN)


@pytest.mark.parametrize(
    ("method", "path", "body", "query", "status", "named"),
    [
        ("GET", "/memories/zzzz", None, {}, 404, "zzzz"),
        ("GET", "/memories/search", None, {}, 400, "q"),
        ("GET", "/memories", None, {"kinds": "semantic"}, 400, "Did you mean kind"),
        ("GET", "/memories", None, {"limit": ["1", "2"]}, 400, "limit"),
        ("GET", "/memories", None, {"limit": "много"}, 400, "limit"),
        ("GET", "/memories", None, {"scope": "project:нигде"}, 404, "project:нигде"),
        ("POST", "/memories", {}, {}, 400, "content"),
        ("POST", "/memories", {"content": "  "}, {}, 400, "content"),
        ("POST", "/memories", {"content": 5}, {}, 400, "content"),
        ("POST", "/memories", {"content": "a", "contnet": "b"}, {}, 400, "contnet"),
        ("POST", "/memories", ["content"], {}, 400, "object"),
        ("POST", "/memories", b'{"content": NaN}', {}, 400, "JSON"),
        ("POST", "/memories", b"\xff\xfe{", {}, 400, "JSON"),
        ("POST", "/memories", b"[" * 100_000, {}, 400, "JSON"),
        ("PATCH", "/memories/zzzz", {"version": "one"}, {}, 400, "version"),
        ("GET", "/cost", None, {"days": 0}, 400, "days"),
        ("GET", "/sources/status", None, {"source": "a\0b"}, 404, "source"),
        ("POST", "/sources/scan", {"source": {}}, {}, 400, "source"),
        ("GET", "/nowhere", None, {}, 404, "/nowhere"),
        ("GET", "/memories/", None, {}, 404, "/memories/"),
    ],
)
@pytest.mark.promise("http.errors")
def test_a_wrong_request_is_answered_with_what_is_wrong(
    web: Web, method: str, path: str, body: Any, query: dict[str, Any], status: int, named: str
) -> None:
    said = web(method, path, body, **query)
    assert said.status == status, said
    assert set(said.json) == {"error"}
    assert named in said.body.decode()


def test_an_ambiguous_id_lists_what_it_fits(web: Web) -> None:
    ids = [web.good("POST", "/memories", {"content": f"Запись {number}"})["id"] for number in range(40)]
    letter = next(letter for letter in "23456789bcdfghjkmnpqrstvwxyz" if sum(one[0] == letter for one in ids) > 1)
    said = web("DELETE", f"/memories/{letter}")
    assert said.status == 409
    assert len(said.json["error"]["matches"]) > 1
    assert web.good("GET", "/memories")["total"] == 40


@pytest.mark.parametrize("path", sorted({call.path for call in CALLS}))
@pytest.mark.promise("http.errors")
def test_a_method_that_does_nothing_is_answered_with_those_that_do(web: Web, path: str) -> None:
    there = {call.method for call in CALLS if call.path == path}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - there:
        said = web(method, path)
        assert said.status == 405
        assert set(said.headers["allow"].split(", ")) == there
        assert not [name for name in said.headers if name.startswith("access-control")]


@pytest.mark.promise("http.errors")
def test_a_fault_of_ours_is_answered_by_a_reference_and_nothing_else(
    web: Web, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(web.app, "list", lambda **_: 1 / 0)
    said = web("GET", "/memories")
    assert (said.status, said.json["error"]["code"]) == (500, "internal")
    assert "ZeroDivision" not in said.body.decode()
    reference = said.json["error"]["message"].split()[-1]
    assert reference in caplog.text


@pytest.mark.promise("http.errors")
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InvalidInput("limit", "it is no number"), 400),
        (errors.NotFound("no memory"), 404),
        (errors.Ambiguous("k", ("k1", "k2")), 409),
        (errors.Refused("no"), 422),
        (errors.StoreBusy("another process writes"), 503),
        (errors.BudgetSpent("the day's tokens are spent", retry_after=59.2), 429),
        (errors.ModelError("the model does not answer"), 503),
        (errors.StoreDamaged("not whole"), 500),
        (Internal("internal error 1"), 500),
    ],
)
def test_each_error_has_the_status_of_its_class(error: errors.ZapomniError, status: int) -> None:
    answer = failure(error)
    assert (answer.status, status_of(error)) == (status, status)
    assert ("Retry-After" in answer.headers) == (getattr(error, "retry_after", None) is not None)


def test_every_field_of_a_memory_and_a_filter_can_be_given() -> None:
    named = {call.name: {*call.query, *(call.body or {})} for call in CALLS}
    assert named["create_memory"] == {*DRAFT_FIELDS, "scope"}
    assert named["update_memory"] >= set(PATCH_FIELDS)
    assert named["list_memories"] >= set(FILTER_FIELDS)
    assert named["search_memories"] >= set(FILTER_FIELDS) - {"deleted"}


@pytest.mark.promise("house.light")
def test_a_server_over_pipes_loads_nothing_of_the_http_api() -> None:
    code = "import sys, zapomni.surfaces.mcp.stdio; print([m for m in sys.modules if m.startswith('zapomni.surfaces.http')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.promise("http.described")
def test_half_a_character_is_kept_as_a_sign_of_one_or_refused_and_never_a_fault_of_ours(web: Web) -> None:
    kept = web.good("POST", "/memories", {"content": "Маяк \ud83d погас."})
    assert web.good("GET", f"/memories/{kept['id']}")["content"] == "Маяк \ufffd погас."
    faults = [
        (call.path, name, value)
        for call in CALLS
        for name in call.body or ()
        for value in ("\ud83d", ["папка/\udc80"])
        if web(call.method, call.path.replace("{id}", kept["id"]), {**_needed(call), name: value}).status == 500
    ]
    assert faults == []
    refused = web("POST", "/sources/scan", {"source": "\ud83d"})
    assert (refused.status, refused.json["error"]["message"]) == (
        400,
        "body: it holds half of a surrogate pair where only whole characters will do",
    )


def _needed(call: Call) -> dict[str, Any]:
    return {name: "user" for name in call.required if name in (call.body or ())}
