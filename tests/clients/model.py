"""A scripted model on loopback, in the four dialects that agents speak to theirs.

What a person says decides: `CALL tool {json}` calls the first tool on offer whose name ends so, once; whatever else is
said, and the result of a tool, is answered with a plain sentence. Every request is kept, so that a test sees what an
agent was really given.
"""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple, Self

_CALL = re.compile(r"CALL (\S+) (\{.*?\})", re.DOTALL)
_SAID = "Understood."
_DONE = "The tool has answered."


class Move(NamedTuple):
    """What the model does: call a tool, by its name and arguments, or say something."""

    text: str
    tool: str = ""
    arguments: Any = None


def decide(prompt: str, tools: list[str], *, answered: bool) -> Move:
    found = _CALL.search(prompt.replace('\\"', '"'))  # some clients quote what they were given
    if answered or found is None:
        return Move(_DONE if answered else _SAID)
    fitting = [name for name in tools if name.endswith(found[1])]
    return Move("", fitting[0], json.loads(found[2])) if fitting else Move(f"There is no tool {found[1]}.")


class Model:
    """The server; use it in a `with` statement."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                self.reply(json.dumps({"data": [], "models": [], "object": "list"}), "application/json")

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                model.requests.append(raw.decode("utf-8", "replace"))
                path = self.path.partition("?")[0]
                try:
                    body, kind = answer(path, json.loads(raw))
                except ValueError:
                    body, kind = "{}", "application/json"
                self.reply(body, kind)

            def reply(self, body: str, kind: str) -> None:
                data = body.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def was_given(self, text: str) -> bool:
        """Tell whether any request held this text."""
        return any(text in request or json.dumps(text)[1:-1] in request for request in self.requests)


def answer(path: str, asked: dict[str, Any]) -> tuple[str, str]:
    """Return the body of an answer and its type."""
    if path.endswith("/count_tokens"):
        return json.dumps({"input_tokens": 10}), "application/json"
    if path.endswith("/messages"):
        return anthropic(asked)
    if path.endswith("/responses"):
        return stream(responses(asked))
    if path.endswith("/chat/completions"):
        return chat(asked)
    if "enerateContent" in path:
        return gemini(asked, streamed="stream" in path)
    return "{}", "application/json"


def stream(events: list[dict[str, Any]], *, named: bool = True, end: str = "") -> tuple[str, str]:
    lines = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines) + end, "text/event-stream"


def texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content or [] if isinstance(part, dict))


# --- Claude Code -----------------------------------------------------------------------------------------
def anthropic(asked: dict[str, Any]) -> tuple[str, str]:
    prompt, answered = "", False
    for message in asked["messages"]:
        content = message["content"]
        if message["role"] == "user" and "CALL " in texts(content):
            prompt, answered = texts(content), False
        if isinstance(content, list) and any(part.get("type") == "tool_result" for part in content):
            answered = True
    move = decide(prompt, [tool["name"] for tool in asked.get("tools", [])], answered=answered)
    block: dict[str, Any] = {"type": "text", "text": move.text}
    if move.tool:
        block = {"type": "tool_use", "id": "toolu_1", "name": move.tool, "input": move.arguments}
    stop = "tool_use" if move.tool else "end_turn"
    usage = {"input_tokens": 5, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {"id": f"msg_{len(asked['messages'])}", "type": "message", "role": "assistant", "model": asked["model"]}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    if not asked.get("stream"):
        return json.dumps({**message, "content": [block], "stop_reason": stop}), "application/json"
    empty = {**block, "input": {}} if move.tool else {**block, "text": ""}
    delta = {"type": "text_delta", "text": move.text}
    if move.tool:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(move.arguments)}
    return stream([
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ])  # fmt: skip


# --- Codex -----------------------------------------------------------------------------------------------
def responses(asked: dict[str, Any]) -> list[dict[str, Any]]:
    items = [item for item in asked.get("input", []) if isinstance(item, dict)]
    offered = [*asked.get("tools", []), *(tool for item in items for tool in item.get("tools", []))]
    names: dict[str, tuple[str, str]] = {}
    for tool in offered:
        for inner in tool.get("tools", []) if tool.get("type") == "namespace" else [tool]:
            if inner.get("name"):
                space = tool["name"] if tool.get("type") == "namespace" else ""
                names[f"{space}__{inner['name']}" if space else inner["name"]] = (space, inner["name"])
    answered = any(str(item.get("type", "")).endswith("_call_output") for item in items)
    said = [texts(item.get("content")) for item in items if item.get("role") == "user"]
    prompt = next((text for text in reversed(said) if "CALL " in text), "")
    move = decide(prompt, list(names), answered=answered)
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "msg_1"}
    item["content"] = [{"type": "output_text", "text": move.text}]
    wanted = _CALL.search(prompt)
    if move.tool:
        space, name = names[move.tool]
        item = {"type": "function_call", "call_id": "call_1", "name": name, "arguments": json.dumps(move.arguments)}
        item |= {"namespace": space} if space else {}
    elif wanted and not answered and any(tool.get("type") == "tool_search" for tool in offered):
        query = {"query": wanted[1], "limit": 5}
        item = {
            "type": "tool_search_call",
            "call_id": "ts_1",
            "status": "completed",
            "execution": "client",
            "arguments": query,
        }
    usage = {"input_tokens": 5, "input_tokens_details": None, "output_tokens": 3, "output_tokens_details": None}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "usage": usage | {"total_tokens": 8}}},
    ]


# --- OpenCode --------------------------------------------------------------------------------------------
def chat(asked: dict[str, Any]) -> tuple[str, str]:
    last = asked["messages"][-1]
    tools = [tool["function"]["name"] for tool in asked.get("tools", [])]
    move = decide(texts(last.get("content")), tools, answered=last["role"] == "tool")
    delta: dict[str, Any] = {"role": "assistant", "content": move.text}
    if move.tool:
        function = {"name": move.tool, "arguments": json.dumps(move.arguments)}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}],
        }
    end = "tool_calls" if move.tool else "stop"
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": asked["model"]}
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    if not asked.get("stream"):
        choice = {"index": 0, "message": delta, "finish_reason": end}
        return json.dumps(
            {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        ), "application/json"
    first = {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last_chunk = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": end}], "usage": usage}
    return stream([first, last_chunk], named=False, end="data: [DONE]\n\n")


# --- Gemini CLI ------------------------------------------------------------------------------------------
def gemini(asked: dict[str, Any], *, streamed: bool) -> tuple[str, str]:
    last = asked["contents"][-1]["parts"]
    names = [one["name"] for tool in asked.get("tools", []) for one in tool.get("functionDeclarations", [])]
    settings = asked.get("generationConfig", {})
    move = decide(texts(last), names, answered=any("functionResponse" in part for part in last))
    if settings.get("responseMimeType") == "application/json" or settings.get("responseJsonSchema"):
        about = {"reasoning": "x", "next_speaker": "user", "complexity_score": 10, "complexity_reasoning": "x"}
        move = Move(json.dumps(about))
    part = {"functionCall": {"name": move.tool, "args": move.arguments}} if move.tool else {"text": move.text}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    reply = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}
    return stream([reply], named=False) if streamed else (json.dumps(reply), "application/json")
