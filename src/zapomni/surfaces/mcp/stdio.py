"""MCP over standard input and output: one client, both eras of the protocol on one pipe.

Each era has a loop of the SDK of its own, and every message goes to the one it belongs to: the SDK alone
would settle the era by the first request and refuse a client that probes the new one and then falls back.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections import Counter
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Literal

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from zapomni.surfaces.mcp import wire
from zapomni.surfaces.mcp.ending import GRACE, end_in_time
from zapomni.surfaces.mcp.pipe import LINE_LIMIT, Pipe, Writer
from zapomni.surfaces.mcp.server import build_server
from zapomni.surfaces.serving import Served

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from zapomni.app import Zapomni

    Era = Literal["legacy", "modern"]

_HANDSHAKE: Final = {"initialize", "server/discover", "ping"}
"""Requests of a client that may only be looking; background work begins after the first other message."""
_LISTEN: Final = "subscriptions/listen"
_LOG = logging.getLogger(__name__)


def run_stdio(app: Zapomni) -> int:
    """Serve one client over standard input and output until the input ends, and return the exit status.

    Calls in flight are finished first. SIGTERM, SIGINT and a client that stops reading count as the end of
    input. The process has to end after this, and is ended when something keeps it.
    """
    pipe = Pipe.take()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="zapomni: %(message)s")
    try:
        anyio.run(partial(_serve, app, pipe))
    except KeyboardInterrupt:
        pass  # where signals cannot be awaited (Windows)
    finally:
        app.close()
    return 0


async def _serve(app: Zapomni, pipe: Pipe) -> None:
    async with anyio.create_task_group() as tasks:
        session = Session(Served(app), pipe, tasks)
        tasks.start_soon(session.end_on_signal)
        await session.run()
        tasks.cancel_scope.cancel()


class Session:
    """One client's conversation."""

    def __init__(self, memory: Served, pipe: Pipe, tasks: TaskGroup) -> None:
        self._memory = memory
        self._server, self._listeners = build_server(memory)
        self._pipe = pipe
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._writer = Writer(pipe, self._broken)
        self._lines, self._read = anyio.create_memory_object_stream[bytes | wire.Overlong](16)
        self._replies, self._answered = anyio.create_memory_object_stream[SessionMessage]()
        self._eras: dict[Era, MemoryObjectSendStream[SessionMessage | Exception]] = {}
        self._unanswered: Counter[str] = Counter()
        self._settled = anyio.Event()
        self._started = False

    def end(self) -> None:
        """Take no more input; a second call does nothing."""
        self._lines.close()

    async def run(self) -> None:
        """Hold the conversation until the input ends and everything in flight is answered."""
        Thread(target=self._read_pipe, name="mcp-reader", daemon=True).start()
        async with anyio.create_task_group() as loops:
            loops.start_soon(self._write_replies)
            async with self._read:
                async for line in self._read:
                    await self._take(line, loops)
            end_in_time()
            await self._settle()
            self._listeners.close()
            for era in self._eras.values():
                era.close()
            self._replies.close()
        self._writer.finish(GRACE)

    async def end_on_signal(self) -> None:
        """Take SIGTERM and SIGINT for the end of input."""
        with (
            suppress(NotImplementedError),  # Windows
            anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals,
        ):
            async for _ in signals:
                self.end()

    def _broken(self) -> None:
        """Take a client that reads no more for one that says no more; runs on a thread."""
        with suppress(RuntimeError):  # the loop is closed: the conversation is over
            self._loop.call_soon_threadsafe(self.end)

    def _read_pipe(self) -> None:
        """Hand lines to the event loop, as fast as it takes them; runs on a thread."""
        with suppress(Exception):  # the loop takes no more: the conversation is over
            for line in self._pipe.lines():
                asyncio.run_coroutine_threadsafe(self._lines.send(line), self._loop).result()
            self._loop.call_soon_threadsafe(self.end)

    async def _take(self, line: bytes | wire.Overlong, loops: TaskGroup) -> None:
        if isinstance(line, wire.Overlong):
            problem = f"the message is longer than {LINE_LIMIT:,} bytes"
            self._writer.put(wire.error_reply(wire.INVALID_REQUEST, problem, line.request_id()))
            return
        if not line.strip():
            return
        try:
            value = wire.read(line)
        except wire.Unreadable as error:
            problem = f"Parse error: {error}; each message is one line of JSON"
            self._writer.put(wire.error_reply(wire.PARSE_ERROR, problem))
            return
        # A list is a batch of the revision 2025-03-26; its answers go out one by one, each with its id.
        for message in value if isinstance(value, list) and value else [value]:
            await self._route(message, loops)

    async def _route(self, raw: Any, loops: TaskGroup) -> None:
        """Give a message to the loop of its era, or answer it when it is none."""
        raw = wire.mended(raw)
        request_id = raw.get("id") if isinstance(raw, dict) else None
        try:
            message = types.jsonrpc_message_adapter.validate_python(raw, by_name=False)
        except ValidationError:
            message = None
        asks = isinstance(raw, dict) and "method" in raw
        if message is None or (asks and "id" in raw and not isinstance(message, types.JSONRPCRequest)):
            good_id = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
            self._writer.put(wire.error_reply(wire.INVALID_REQUEST, "Invalid request", good_id))
            return
        if isinstance(message, types.JSONRPCRequest):
            if message.method != _LISTEN:  # that one is answered at its end only
                self._unanswered[str(message.id)] += 1
            era = self._era("modern" if wire.is_modern(raw) else "legacy", loops)
            await era.send(SessionMessage(message))
        elif isinstance(message, types.JSONRPCNotification):
            await self._tell(message)
        if asks and raw["method"] not in _HANDSHAKE:
            self._start_worker()

    async def _tell(self, message: types.JSONRPCNotification) -> None:
        """Give a notification, which does not say its era, to every loop there is."""
        if message.method == "notifications/cancelled":  # such a request is never answered
            self._unanswered.pop(str((message.params or {}).get("requestId")), None)
        for era in self._eras.values():
            await era.send(SessionMessage(message))

    def _era(self, era: Era, loops: TaskGroup) -> MemoryObjectSendStream[SessionMessage | Exception]:
        if era not in self._eras:
            self._eras[era], read = anyio.create_memory_object_stream[SessionMessage | Exception]()
            loops.start_soon(self._run_era, read, self._replies.clone())
        return self._eras[era]

    async def _run_era(
        self,
        read: MemoryObjectReceiveStream[SessionMessage | Exception],
        write: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        await self._server.run(read, write, self._server.create_initialization_options())

    async def _write_replies(self) -> None:
        async with self._answered:
            async for reply in self._answered:
                message = reply.message
                self._writer.put(wire.line(message.model_dump(mode="json", by_alias=True, exclude_unset=True)))
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                    self._unanswered -= Counter([str(message.id)])
                    self._settled.set()

    async def _settle(self) -> None:
        """Wait until every request is answered: the SDK drops what is in flight when the input ends."""
        with anyio.move_on_after(GRACE):
            while self._unanswered:
                self._settled = anyio.Event()
                await self._settled.wait()

    def _start_worker(self) -> None:
        if not self._started:
            self._started = True
            self._tasks.start_soon(self._work)

    async def _work(self) -> None:
        try:
            await anyio.to_thread.run_sync(self._memory.start_worker)
        except Exception as error:  # noqa: BLE001 - each call will answer with the same error
            _LOG.warning("no background work: %s", error)
