"""The formats of transcripts: each a pure function from the lines of a file to what was said.

What is not understood is passed over: clients add kinds of lines with every release. Formats as of November 2026:
Claude Code 2.1, Codex 0.171, Gemini CLI 0.61, Copilot CLI 1.0, Cline CLI 3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.model.session import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zapomni.readers.transcripts.lines import Line


_NOT_TYPED: Final = ("<command-", "<local-command-", "<system-reminder>")
"""How what the person did not type begins."""


# --- Claude Code -----------------------------------------------------------------------------------------
def claude(lines: Sequence[Line]) -> list[Turn]:
    """Return the turns on the branch that the session is on: what a rewind left behind was taken back."""
    said = [line for line in lines if _is_claudes(line.value)]
    branch = _branch(lines, said)
    return [
        Turn(
            role=line.value["type"],
            text=text,
            uuid=text_of(line.value, "uuid"),
            at=text_of(line.value, "timestamp"),
            line=line.no,
        )
        for line in said
        if text_of(line.value, "uuid") in branch and (text := joined(_inner(line.value, "message").get("content")))
    ]


def _is_claudes(value: dict[str, Any]) -> bool:
    hidden = ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly")
    if text_of(value, "type") not in {"user", "assistant"} or any(value.get(name) for name in hidden):
        return False
    return not joined(_inner(value, "message").get("content")).lstrip().startswith(_NOT_TYPED)


def _branch(lines: Sequence[Line], said: Sequence[Line]) -> set[str]:
    """Return the ids from the last thing said up to the first; one whose parent is null ends it.

    A line that does not speak of a parent at all follows what was said before it.
    """
    parents: dict[str, str] = {}
    before = ""
    for line in lines:
        named = text_of(line.value, "parentUuid") or text_of(line.value, "logicalParentUuid")
        if uuid := text_of(line.value, "uuid"):
            parents[uuid] = named or ("" if "parentUuid" in line.value else before)
            before = uuid
    at = text_of(said[-1].value, "uuid") if said else ""
    found: set[str] = {""} if said and not at else set()
    while at and at not in found:
        found.add(at)
        at = parents.get(at, "")
    return found


# --- Codex -----------------------------------------------------------------------------------------------
_CODEX_ROLES: Final = {
    "UserMessage": "user",
    "AgentMessage": "assistant",
    "user_message": "user",
    "agent_message": "assistant",
}


def codex(lines: Sequence[Line]) -> list[Turn]:
    """Return the turns of a rollout: what it calls messages of user and agent, not what was put before the model."""
    return list(_codex(lines))


def _codex(lines: Iterable[Line]) -> Iterator[Turn]:
    for line in lines:
        if line.value.get("type") != "event_msg":
            continue
        payload = _inner(line.value, "payload")
        item = _inner(payload, "item") if payload.get("type") == "item_completed" else payload
        role = _CODEX_ROLES.get(text_of(item, "type"))
        text = joined(item.get("content")) or text_of(item, "message")
        if role and text:
            uuid = text_of(item, "id") or f"line-{line.no}"
            yield Turn(role=role, text=text, uuid=uuid, at=text_of(line.value, "timestamp"), line=line.no)


# --- Gemini CLI ------------------------------------------------------------------------------------------
def gemini(lines: Sequence[Line]) -> list[Turn]:
    """Return the turns of a chat; a message that comes again under its id replaces the one before."""
    messages: dict[str, tuple[int, dict[str, Any]]] = {}
    for line in lines:
        patch = _inner(line.value, "$set").get("messages")
        for message in [*(patch if isinstance(patch, list) else ()), *_list(line.value, "messages"), line.value]:
            if isinstance(message, dict) and text_of(message, "type") in {"user", "gemini"}:
                messages[text_of(message, "id") or f"line-{line.no}"] = (line.no, message)
    return [
        Turn(
            role="user" if message["type"] == "user" else "assistant",
            text=text,
            uuid=uuid,
            at=text_of(message, "timestamp"),
            line=no,
        )
        for uuid, (no, message) in messages.items()
        if (text := joined(message.get("content")))
    ]


# --- Copilot CLI -----------------------------------------------------------------------------------------
def copilot(lines: Sequence[Line]) -> list[Turn]:
    """Return the turns of a log of events."""
    roles = {"user.message": "user", "assistant.message": "assistant"}
    return [
        Turn(role=roles[kind], text=text, uuid=text_of(value, "id"), at=text_of(value, "timestamp"), line=no)
        for no, value in lines
        if (kind := text_of(value, "type")) in roles and (text := text_of(_inner(value, "data"), "content"))
    ]


# --- Cline and others that keep one list of messages -----------------------------------------------------
def messages(lines: Sequence[Line]) -> list[Turn]:
    """Return the turns of one document with a list `messages`, or of lines with `role` and `content`."""
    rows = [row for line in lines for row in (_list(line.value, "messages") or [line.value])]
    return [
        Turn(
            role=row["role"], text=text, uuid=text_of(row, "id") or f"message-{no}", at=str(row.get("ts", "")), line=no
        )
        for no, row in enumerate(rows, 1)
        if isinstance(row, dict)
        and text_of(row, "role") in {"user", "assistant"}
        and (text := joined(row.get("content")))
    ]


# --- what they share -------------------------------------------------------------------------------------
def joined(content: object) -> str:
    """Return the text of a message: the string it is, or its text blocks; calls and results of tools are none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [
        text_of(block, "text") for block in blocks if text_of(block, "type").lower() in {"text", "", "output_text"}
    ]
    return "\n".join(text for text in texts if text)


def text_of(value: dict[str, Any], name: str) -> str:
    """Return a field that is a text, empty where it is none."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def session_named(value: dict[str, Any]) -> str:
    """Return the session that an object of a transcript names, empty where it names none."""
    meta = _inner(value, "payload") if text_of(value, "type") == "session_meta" else {}
    return text_of(value, "sessionId") or text_of(meta, "id") or text_of(_inner(value, "data"), "sessionId")


def _inner(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _list(value: dict[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    return found if isinstance(found, list) else []
