"""T26: no path and no link leads an agent out of what was attached.

Tools that write, append, move or delete files are out of reach now: there are none; nor are there routes of HTTP
beside the one of the protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.trials import drivers_b as drive

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.servers import Server

world = drive.world
REFUSED = "The path names nothing that may be read here"
PATHS = [
    "../outside/secret.txt",
    "ABS/outside/secret.txt",
    "ABS/vault/../outside/secret.txt",
    "ABS/vault-evil/x.md",
    "vault/../outside/secret.txt",
    "../vault-evil/x.md",
    "vault-evil/x.md",
    "%2e%2e%2foutside%2fsecret.txt",
    "vault/%2e%2e/outside/secret.txt",
    "..\\outside\\secret.txt",
    "vault\\..\\outside\\secret.txt",
    "link.md",
    "vault/link.md",
    "ABS/vault/link.md",
    "dirlink/secret.txt",
    "vault/dirlink",
    "vault/loop/dirlink/secret.txt",
    "dangling.md",
    "vault/dangling.md",
    "secret.txt\0.md",
    "vault/ok.md\0.txt",
    "//server/share/x",
    "C:\\Windows\\win.ini",
    "C:/Windows/win.ini",
    "~/.ssh/id_rsa",
    "vault/нет такого.md",
    "file:///etc/passwd",
    "/etc/passwd",
    "/proc/self/environ",
    "/dev/stdin",
]


@pytest.fixture
def server(world: drive.World) -> Server:
    world.write("outside/secret.txt", "BADGER-SECRET\n")
    world.write("vault-evil/x.md", "BADGER-SIBLING\n")
    world.write("vault/ok.md", "# ok\n\nplain\n")
    links = {"link.md": "../outside/secret.txt", "dirlink": "../outside", "loop": ".", "inner.md": "ok.md"}
    for name, target in (links | {"dangling.md": "../outside/new.txt"}).items():
        (world.home / "vault" / name).symlink_to(target)
    (came,) = world.zap("source", "add", str(world.home / "vault"))["sources"]
    assert came["added"] == 1
    skipped = {one["path"]: one["reason"] for one in came["skipped"]}
    assert skipped == {
        "link.md": "a link that leads outside",
        "dirlink": "a link that leads outside",
        "dangling.md": "a link that leads outside",
        "loop": "a link to the root, which is indexed itself",
        "inner.md": "a link to ok.md, which is indexed itself",
    }
    return world.server("--tools", "full")


def refusals(server: Server, path: str) -> list[dict[str, Any]]:
    calls: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: server.call("repo_read", path=path),
        lambda: server.call("repo_list", path=path),
        lambda: server.call("repo_search", query="BADGER", path=path),
    )
    return [call() for call in calls]


@pytest.mark.promise("documents.rooted")
def test_every_trick_is_refused_with_one_message_and_changes_nothing(world: drive.World, server: Server) -> None:
    before = {name: drive.files_in(world.home / name) for name in ("outside", "vault-evil")}
    for path in PATHS:
        for result in refusals(server, path.replace("ABS", str(world.home))):
            error = result["structuredContent"]["error"]
            assert result["isError"]
            assert (error["code"], error["message"]) == ("refused", REFUSED), path
            assert "BADGER" not in str(result)
        answer = server.call("index_documents", source=path.replace("ABS", str(world.home)))
        assert answer["isError"]
        assert "BADGER" not in str(answer)
    assert {name: drive.files_in(world.home / name) for name in before} == before


@pytest.mark.promise("documents.rooted")
def test_the_secret_behind_a_link_is_in_no_answer_and_not_in_the_store(world: drive.World, server: Server) -> None:
    for query in ("BADGER-SECRET", "BADGER SIBLING", "badger"):
        assert world.places(query, "--mode", "lexical") == []
        assert server.good("semantic_search", query=query, mode="lexical")["count"] == 0
        assert server.good("semantic_search", query=query, path="../outside")["count"] == 0
        assert server.good("repo_search", query=query)["count"] == 0
    listed = [entry["path"] for entry in server.good("repo_list")["entries"]]
    assert listed == ["vault", "vault/ok.md"]
    server.stop()
    assert not [file for file in world.store.parent.iterdir() if b"badger" in file.read_bytes().lower()]


@pytest.mark.promise("documents.rooted")
def test_a_link_that_stays_inside_is_followed(server: Server) -> None:
    for path in ("vault/ok.md", "vault/inner.md", "vault/loop/loop/inner.md", "inner.md", "./vault//ok.md"):
        part = server.good("repo_read", path=path)
        assert (part["path"], part["text"]) == ("vault/ok.md", "# ok\n\nplain\n")
