"""Echoes: what stands in a transcript though nobody said it: what was injected, recalled, pasted or printed."""

from __future__ import annotations

import re
from typing import Final

from zapomni.text.fence import MARKER

_WRAPPED: Final = re.compile(
    r"<(hook_context|session_context|untrusted_context|system-reminder|environment_context|user_instructions"
    r"|local-command-[a-z]+|command-[a-z]+|INSTRUCTIONS|context|editor_context)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
"""What clients put around their own words and those of hooks and tools, inside what the person said."""
_INPUT: Final = re.compile(r"</?user_(?:input|query|message)\b[^>]*>")
_RECALLED: Final = re.compile(
    rf"^[^\n]*<<<{re.escape(MARKER)}\b.*?(?:^[^\n]*>>>{re.escape(MARKER)}[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)
"""Our marks also where a quote or a list put something before them, and where the closing one was cut off."""
_CODE: Final = re.compile(r"^[ \t>]*(```+|~~~+).*?(?:^[ \t>]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_CITED: Final = re.compile(r"^.*\[[2-9b-df-hj-np-tv-z]{16}\].*$", re.MULTILINE)
"""A line with the id of a memory quotes what was recalled."""
_QUOTED: Final = re.compile(r"^[ \t]*>.*$", re.MULTILINE)


def own_words(text: str) -> str:
    """Return what a person or a model said itself, of the same length, with blanks in place of everything else.

    Blanked are blocks between our marks, the wrappings of clients, code blocks, quoted lines and lines that cite a
    memory by its id; places in the answer are places in the text.
    """
    for pattern in (_RECALLED, _WRAPPED, _CODE, _QUOTED, _CITED, _INPUT):
        text = pattern.sub(_blank, text)
    return text


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
