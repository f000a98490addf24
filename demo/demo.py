"""The main job, end to end: one agent stores over MCP, a second process recalls it over MCP by meaning.

Nothing is configured, nothing leaves this machine; the store lies in a temporary folder.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp.client.stdio import stdio_client

from mcp import ClientSession, StdioServerParameters

FACTS = (
    ("English", "We never deploy on Friday: the on-call engineer is alone until Monday."),
    ("Russian", "По пятницам релизы запрещены: до понедельника дежурит один человек."),
)
QUESTIONS = (
    ("English", "Can I ship a release before the weekend?"),
    ("Russian", "Можно ли выкатить новую версию перед выходными?"),
)


def server(home: Path, folder: Path) -> StdioServerParameters:
    """Return how an agent starts the server, as its configuration file would say it."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "zapomni", "--home", str(home), "serve"],
        cwd=str(folder),
        env={**os.environ, "PYTHONUTF8": "1"},
    )


async def call(session: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return its structured answer."""
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def store(home: Path, folder: Path) -> None:
    """Be the first agent: store a fact in each language and leave."""
    async with stdio_client(server(home, folder)) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for language, fact in FACTS:
            await call(session, "store_memory", content=fact, importance=0.9, tags=["deploy"])
            print(f"agent 1 stored in {language}: {fact}")
        while (await call(session, "memory_stats"))["meaning"]["waiting"]:
            await asyncio.sleep(0.2)


async def recall(home: Path, folder: Path) -> None:
    """Be the second agent, in another process: ask in other words."""
    async with stdio_client(server(home, folder)) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for (language, question), (_, fact) in zip(QUESTIONS, FACTS, strict=True):
            print(f"agent 2 asks in {language}: {question}")
            answer = await call(session, "recall_memory", query=question)
            found = [memory["content"] for memory in answer["memories"]]
            assert fact in found, f"{fact!r} was not recalled: {answer}"
            for text in found:
                print(f"agent 2 recalled: {text}")


def main() -> None:
    """Run both agents one after the other over one store."""
    with tempfile.TemporaryDirectory(prefix="zapomni-demo-") as root:
        home, folder = Path(root) / "home", Path(root) / "work"
        folder.mkdir()
        asyncio.run(store(home, folder))
        asyncio.run(recall(home, folder))


if __name__ == "__main__":
    main()
