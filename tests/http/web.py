"""The whole HTTP server in this process: one request at a time, sent to it as a web server would."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import anyio

from zapomni.surfaces.mcp.http import web_app
from zapomni.surfaces.serving import Served

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.app import Zapomni

TOKEN = "the-token-of-this-test"
HOST = "127.0.0.1:8377"


@dataclass(frozen=True)
class Said:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Web:
    """A server over one memory; `host` is the address that it is told to listen on."""

    app: Zapomni
    host: str = "127.0.0.1"
    seen: list[Said] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.asgi, _ = web_app(Served(self.app), host=self.host, token=TOKEN)

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        parts: Sequence[bytes | None] | None = None,
        **query: Any,
    ) -> Said:
        """One request with the token, unless `headers` say otherwise; one that is None is not sent.

        `parts` are those in which the body comes; a None stands for a client that leaves.
        """
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        usual: dict[str, str | None] = {"Host": HOST, "Authorization": f"Bearer {TOKEN}"}
        if body is not None:
            usual |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
        sent = {name: value for name, value in {**usual, **(headers or {})}.items() if value is not None}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": quote(path).encode(),
            "root_path": "",
            "query_string": urlencode(query, doseq=True).encode(),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8_377),
        }
        said = anyio.run(self._send, scope, list(parts if parts is not None else [data]))
        self.seen.append(said)
        return said

    async def _send(self, scope: dict[str, Any], parts: list[bytes | None]) -> Said:
        got: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            part = parts.pop(0) if parts else None
            if part is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message: Any) -> None:
            got.append(message)

        await self.asgi(scope, receive, send)
        if not got:
            return Said(0, {}, b"")
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in got[0]["headers"]}
        return Said(got[0]["status"], headers, b"".join(message.get("body", b"") for message in got[1:]))

    def good(self, method: str, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        said = self(method, path, body, **query)
        assert said.status in {200, 201}, said
        shape: dict[str, Any] = said.json
        return shape
