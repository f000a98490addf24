"""T14: what one process stores, changes and deletes, another running process sees, by word, meaning and count.

Out of reach now: notes indexed from a folder (INDEX, SEARCH-DOCS). No setting is documented as live.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.trials import drivers_b as drive

world = drive.world


@pytest.mark.promise("store.shared")
def test_a_warm_server_sees_each_change_of_a_command_by_word_by_meaning_and_in_every_count(world: drive.World) -> None:
    world.env["ZAPOMNI_EMBEDDER_PROVIDER"] = "scripted"
    world.zap("store", "The ferry leaves at nine")
    server = world.server()
    assert server.good("recall_memory", query="ferry", mode="hybrid")["mode"] == "hybrid"  # its caches are warm

    def found(mode: str) -> list[str]:
        answer: dict[str, Any] = server.good("recall_memory", query="north yard gate code", mode=mode, strict=True)
        return [text for text in drive.texts(answer) if "Gate" in text]

    def counts() -> tuple[int, int]:
        return server.good("memory_stats")["memories"], server.good("list_memories")["total"]

    made = world.zap("store", "Gate code for the north yard is 7719.")
    expected = ["Gate code for the north yard is 7719."]
    assert found("lexical") == expected  # a word is found by the very next call
    assert drive.until(lambda: found("semantic"), drive.SOON) == expected
    assert counts() == (2, 2)

    world.zap("update", made["id"], "Gate code for the north yard is 7720.")
    expected = ["Gate code for the north yard is 7720."]
    assert found("lexical") == expected
    assert drive.until(lambda: found("semantic"), drive.SOON) == expected
    assert not [text for text in drive.texts(server.good("recall_memory", query="7719")) if "7719" in text]
    assert counts() == (2, 2)

    world.zap("delete", made["id"], "--yes")
    assert found("lexical") == found("semantic") == found("hybrid") == []
    assert counts() == (1, 1)
    assert drive.texts(server.good("list_memories")) == ["The ferry leaves at nine"]


@pytest.mark.promise("store.shared")
def test_two_servers_see_what_each_of_them_writes_at_their_next_call(world: drive.World) -> None:
    one, two = world.server(), world.server()
    for no in range(5):
        for writer, reader in ((one, two), (two, one)):
            made = writer.good(
                "store_memory", content=f"Berth {no} belongs to the {'Heron' if writer is one else 'Tern'}"
            )
            assert made["id"] in drive.ids(reader.good("recall_memory", query=f"berth {no}"))
            assert reader.good("memory_stats")["memories"] == writer.good("memory_stats")["memories"]
            reader.good("update_memory", id=made["id"], content=f"Berth {no} of pier {no} is free")
            assert writer.good("list_memories", id=made["id"])["content"] == f"Berth {no} of pier {no} is free"
            writer.good("delete_memory", id=made["id"])
            assert reader.good("recall_memory", query=f"berth {no}")["count"] == 0
            assert reader.call("list_memories", id=made["id"])["isError"]
