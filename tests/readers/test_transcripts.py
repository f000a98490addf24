from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zapomni.readers.base import Unreadable
from zapomni.readers.transcripts.lines import LINE_LIMIT
from zapomni.readers.transcripts.registry import read_transcript, session_of
from zapomni.text.echoes import own_words


def said(file: Path, *rows: Any, tail: int | None = None) -> list[tuple[str, str]]:
    text = "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)
    file.write_text(text, encoding="utf-8")
    return [(turn.role, turn.text) for turn in read_transcript(file, tail)]


def claude(kind: str, text: Any, uuid: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "message": {"role": kind, "content": text}, **more}


def test_claude_code_what_a_person_and_the_model_said(tmp_path: Path) -> None:
    rows = [
        {"type": "queue-operation", "content": "Use tabs."},
        {"type": "attachment", "uuid": "a", "attachment": {"content": ["injected"]}},
        claude("user", "Use tabs. Запомни.", "u1", "a"),
        claude("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}], "s1", "u1"),
        claude("user", [{"type": "tool_result", "content": "printed"}], "u2", "s1"),
        {"type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": None, "logicalParentUuid": "u2"},
        claude("user", "This session is continued.", "u3", "c", isCompactSummary=True),
        claude("user", "<local-command-caveat>x</local-command-caveat>", "u4", "u3", isMeta=True),
        claude("user", "<command-name>/x</command-name>", "u5", "u4"),
        claude("user", "And spaces in YAML.", "u6", "u5"),
        {"type": "some-future-line"},
        '{"type": "user", "uuid": "half", "mess',
    ]
    expected = [("user", "Use tabs. Запомни."), ("assistant", "Noted."), ("user", "And spaces in YAML.")]
    assert said(tmp_path / "t", *rows) == expected


def test_claude_code_what_a_rewind_took_back_was_not_said(tmp_path: Path) -> None:
    rows = [
        claude("user", "First.", "1"),
        claude("assistant", "Wrong way.", "2", "1"),
        claude("user", "Go on that way.", "3", "2"),
        claude("assistant", "Right way.", "4", "1"),
    ]
    assert said(tmp_path / "t", *rows) == [("user", "First."), ("assistant", "Right way.")]


def test_claude_code_lines_that_speak_of_no_parent_follow_each_other(tmp_path: Path) -> None:
    rows = [claude("user", "Решили: храним в PostgreSQL.", "1"), claude("assistant", "Noted.", "2")]
    rows = [{name: value for name, value in row.items() if name != "parentUuid"} for row in rows]
    assert said(tmp_path / "t", *rows) == [("user", "Решили: храним в PostgreSQL."), ("assistant", "Noted.")]


def test_codex_new_and_old(tmp_path: Path) -> None:
    def item(kind: str, text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        return {
            "type": "event_msg",
            "payload": {"type": "item_completed", "item": {"type": kind, "id": "i", "content": content}},
        }

    message = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "injected"}]}
    rows = [
        {"type": "session_meta", "payload": {"id": "x", "cwd": "/p"}},
        {"type": "response_item", "payload": message},
        item("UserMessage", "No Friday deploys."),
        {"type": "response_item", "payload": {"type": "function_call_output", "output": [{"text": "printed"}]}},
        item("AgentMessage", "Understood."),
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Старый вид."}},
    ]
    expected = [("user", "No Friday deploys."), ("assistant", "Understood."), ("user", "Старый вид.")]
    assert said(tmp_path / "t", *rows) == expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"type": "summary"}\n{"type": "user", "sessionId": "a-claude"}\n', "a-claude"),
        ('{"type": "session_meta", "payload": {"id": "a-codex"}}\n', "a-codex"),
        ('{\n "sessionId": "a-gemini",\n "projectHash": "h"\n}\n', "a-gemini"),
        ('{"type": "session.start", "data": {"sessionId": "a-copilot"}}\n', "a-copilot"),
        ('{"role": "user", "content": "x"}\n', ""),
        ("no JSON\n", ""),
    ],
)
def test_a_transcript_says_whose_session_it_is(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "файл").write_text(text, encoding="utf-8")
    assert session_of(tmp_path / "файл") == named
    assert not session_of(tmp_path / "missing")


def test_gemini_a_message_that_comes_again_replaces_the_one_before(tmp_path: Path) -> None:
    rows = [
        {"sessionId": "s", "projectHash": "h"},
        {"$set": {"messages": [{"id": "0", "type": "user", "content": [{"text": "Base is /v1"}]}]}},
        {"id": "1", "type": "user", "content": [{"text": "<hook_context>INJECTED</hook_context>\n\nBase is /v2"}]},
        {"id": "2", "type": "gemini", "content": ""},
        {"id": "2", "type": "gemini", "content": "Got it.", "toolCalls": [{"result": "printed"}]},
    ]
    found = said(tmp_path / "t", *rows)
    assert [(role, own_words(text).strip()) for role, text in found] == [
        ("user", "Base is /v1"),
        ("user", "Base is /v2"),
        ("assistant", "Got it."),
    ]


def test_copilot_and_cline(tmp_path: Path) -> None:
    copilot = [
        {"type": "session.start", "data": {"sessionId": "s"}},
        {
            "type": "user.message",
            "id": "e",
            "data": {"content": "Tests in ./t", "transformedContent": "<x>Tests in ./t"},
        },
        {"type": "tool.execution_complete", "data": {"result": {"content": "printed"}}},
    ]
    assert said(tmp_path / "t", *copilot) == [("user", "Tests in ./t")]
    cline = {"version": 1, "messages": [
        {"id": "a", "role": "user", "ts": 1, "content": [{"type": "text", "text": '<user_input mode="act">Port 8088</user_input>'}]},
        {"id": "b", "role": "assistant", "content": [{"type": "tool_use", "name": "x"}, {"type": "text", "text": "ok"}]},
    ]}  # fmt: skip
    found = said(tmp_path / "t", json.dumps(cline, indent=1))
    assert [(role, own_words(text).strip()) for role, text in found] == [("user", "Port 8088"), ("assistant", "ok")]


def test_of_a_long_file_the_end_is_read_with_the_right_lines(tmp_path: Path) -> None:
    rows = [claude("user", f"Line {no}.", f"u{no}", f"u{no - 1}") for no in range(500)]
    assert len(said(tmp_path / "t", *rows, tail=5_000)) < 60
    last = read_transcript(tmp_path / "t", 5_000)[-1]
    assert (last.text, last.line) == ("Line 499.", 500)


def test_a_huge_line_costs_only_itself(tmp_path: Path) -> None:
    rows = [
        claude("user", "Before.", "1"),
        claude("user", "x" * LINE_LIMIT, "2", "1"),
        claude("user", "Behind.", "3", "1"),
    ]
    assert said(tmp_path / "t", *rows) == [("user", "Before."), ("user", "Behind.")]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no transcript"),
        (b"hello\n", "no transcript"),
        (b"\x28\xb5\x2f\xfd...", "zstd"),
        (b'{"a": 1}\n', "no transcript"),
    ],
)
def test_what_is_no_transcript_is_said(tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "t").write_bytes(data)
    with pytest.raises(Unreadable, match=why):
        read_transcript(tmp_path / "t")
    with pytest.raises(Unreadable):
        read_transcript(tmp_path / "missing")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ROW = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "event_msg", "gemini", "user.message"]) | JSON},
    optional={
        **dict.fromkeys(
            ("message", "payload", "data", "uuid", "parentUuid", "content", "messages", "$set", "id"), JSON
        ),
        "role": st.sampled_from(["user", "assistant"]),
    },
)


@given(rows=st.lists(ROW, max_size=6), junk=st.binary(max_size=30))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_lines_are_turns_or_no_transcript(tmp_path: Path, rows: list[Any], junk: bytes) -> None:
    text = b"\n".join([*(json.dumps(row).encode() for row in rows), junk])
    (tmp_path / "t").write_bytes(text)
    try:
        turns = read_transcript(tmp_path / "t")
    except Unreadable:
        return
    assert {turn.role for turn in turns} <= {"user", "assistant"}
    assert all(turn.text for turn in turns)


@given(st.text(alphabet="a <>`~\n>-[]/k7m2p4qdx3w9zt5c:zapomnirecall", max_size=200))
@settings(max_examples=200)
def test_places_in_what_was_said_itself_are_places_in_the_text(text: str) -> None:
    own = own_words(text)
    assert len(own) == len(text)
    assert all(mine in {letter, " "} for mine, letter in zip(own, text, strict=True))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "труба")
    for path in (tmp_path / "труба", Path("/dev/zero")):
        assert session_of(path) == ""
        with pytest.raises(Unreadable, match="a pipe or a device"):
            read_transcript(path)
