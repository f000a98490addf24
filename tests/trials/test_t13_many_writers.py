"""T13: several server processes, an HTTP server and a command loop write to one store; a foreign lock in between.

Out of reach now: nothing. The lock is held until every server has answered readings, instead of for eight seconds.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.servers import META, post
from tests.trials import drivers_b as drive

world = drive.world
ITEMS = 25
SERVERS = 4


def store_message(writer: int, no: int) -> dict[str, Any]:
    arguments = {"content": f"writer {writer} item {no}"}
    return {
        "jsonrpc": "2.0",
        "id": f"{writer}-{no}",
        "method": "tools/call",
        "params": {"name": "store_memory", "arguments": arguments},
    }


def stored(server: Any, writer: int, count: int) -> list[dict[str, Any]]:
    answers = server.replies(lambda message: str(message.get("id")).startswith(f"{writer}-"), count)
    return [answer["result"]["structuredContent"] for answer in answers]


@pytest.mark.slow
@pytest.mark.promise("store.shared")
def test_six_writers_and_a_foreign_lock_lose_nothing_and_meet_no_lock_error(world: drive.World) -> None:
    servers = [world.server() for _ in range(SERVERS)]
    url = world.http()
    held: list[Any] = []

    def over_http() -> list[dict[str, Any]]:
        modern = {"_meta": META}
        answers = []
        for no in range(ITEMS):
            message = store_message(SERVERS, no)
            message["params"] |= modern
            headers = {"Mcp-Method": "tools/call", "Mcp-Name": "store_memory"}
            status, answer = post(url, message, headers | {"MCP-Protocol-Version": "2026-07-28"})
            assert status == 200, answer
            answers.append(answer["result"]["structuredContent"])
        return answers

    def by_command() -> list[dict[str, Any]]:
        return [world.zap("store", f"writer {SERVERS + 1} item {no}") for no in range(ITEMS)]

    with ThreadPoolExecutor(2) as pool:
        for writer, server in enumerate(servers):
            server.send(*(store_message(writer, no) for no in range(ITEMS // 2)))
        others = pool.submit(over_http), pool.submit(by_command)
        for writer, server in enumerate(servers):
            stored(server, writer, ITEMS // 2)
        held.append(world.hold())
        for writer, server in enumerate(servers):
            server.send(*(store_message(writer, no) for no in range(ITEMS // 2, ITEMS)))
        for server in servers:  # readers go on, however many writers wait
            for _ in range(3):
                assert server.good("recall_memory", query="writer 0 item 3")["count"] > 0
        assert all(len(stored(server, writer, 0)) == ITEMS // 2 for writer, server in enumerate(servers))
        drive.finish(held[0])
        outcomes = [outcome for writer, server in enumerate(servers) for outcome in stored(server, writer, ITEMS)]
        outcomes += [outcome for other in others for outcome in other.result()]
    assert {outcome["status"] for outcome in outcomes} == {"created"}
    wanted = {f"writer {writer} item {no}" for writer in range(SERVERS + 2) for no in range(ITEMS)}
    rows = [row for row in world.exported() if row.get("type") == "memory"]
    assert {row["id"] for row in rows} == {outcome["id"] for outcome in outcomes}
    assert {row["content"] for row in rows} == wanted
    assert len(rows) == len(wanted)
    for text in sorted(wanted)[::10]:
        assert text in drive.texts(servers[0].good("recall_memory", query=text))
    assert all(server.process.poll() is None for server in servers)
    world.healthy()


@pytest.mark.promise("store.shared", "mcp.errors")
def test_a_lock_longer_than_the_stated_wait_is_a_clear_error_that_may_be_tried_again(world: drive.World) -> None:
    server = world.server(ZAPOMNI_STORE_BUSY_TIMEOUT_MS="50")
    kept = server.good("store_memory", content="The kiln fires at 1040")
    holder = world.hold()
    for tool, arguments in (
        ("store_memory", {"content": "The kiln door sticks"}),
        ("update_memory", {"id": kept["id"], "content": "The kiln fires at 1060"}),
        ("delete_memory", {"id": kept["id"]}),
    ):
        refused = server.call(tool, **arguments)
        assert refused["isError"]
        error = refused["structuredContent"]["error"]
        assert error["code"] == "store_busy"
        assert "try again" in error["remedy"]
        assert "database is locked" not in json.dumps(refused)
    by_command = world.zap("store", "The kiln door sticks", status=7, ZAPOMNI_STORE_BUSY_TIMEOUT_MS="50")
    assert by_command["error"]["code"] == "store_busy"
    assert drive.texts(server.good("recall_memory", query="kiln")) == ["The kiln fires at 1040"]
    drive.finish(holder)
    assert server.good("store_memory", content="The kiln door sticks")["status"] == "created"
    assert server.process.poll() is None
    assert sorted(world.contents()) == ["The kiln door sticks", "The kiln fires at 1040"]
    world.healthy()
