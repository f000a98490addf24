"""The header of a note: YAML between lines of `---` at the very start."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT: Final = 64 * 1024
"""Most characters of a header."""
DEPTH: Final = 32
"""Most lists and mappings inside each other; libyaml recurses."""
BLOCKS: Final = 2
"""Most headers one behind the other: tools that do not see the first write their own before it."""

_OPENING: Final = re.compile(r"---[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
_NESTING: Final = "[{-:?"
"""No list and no mapping is opened without one of them."""
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\r?\n)*")
_KEY: Final = r"[^\W\d_][\w-]{0,60}"
_TEXT: Final = r"""[^\W\d_][\w .,;!?/()+"'`«»—–-]*"""
_PLAIN: Final = re.compile(rf"(?:{_KEY}:(?: {_TEXT}|(?:\n  {_KEY}: {_TEXT})+)\n)+")
"""Keys with texts in which nothing means anything to YAML, at the left edge or one level inside."""
_NO_TEXTS: Final = frozenset({"yes", "no", "y", "n", "true", "false", "on", "off", "null"})
"""Words that YAML reads as something else than a text, in lower case."""


class Header(Struct, frozen=True, kw_only=True):
    """What stands before the body of a note.

    `start` is the character with which the body begins, 0 without a header. `problem` is `line N: why` of a
    header that cannot be read: it is left to the body, so that its words are found, and nothing is guessed.
    """

    start: int = 0
    values: Mapping[str, Any] = field(default_factory=dict)
    problem: str | None = None


class _Broken(Exception):
    """A block that cannot be read: the line in it, from 0, and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def frontmatter(text: str, blocks: int = BLOCKS) -> Header:
    """Return the header of a text without a byte-order mark.

    It opens with a first line `---` and closes with a line `---` or `...`; what never closes is a page that
    begins with a rule. At most `blocks` headers, one behind the other, are merged and the first value of a key wins.
    Keys become texts, values are what YAML 1.1 makes of them. Never raises.
    """
    start, values = 0, dict[str, Any]()
    for number in range(blocks):
        opening = _OPENING.match(text, _BLANK_LINES.match(text, start).end() if start else 0)  # type: ignore[union-attr] # it may be empty
        closing = opening and _CLOSING.search(text, opening.end())
        if opening is None or closing is None:
            break
        try:
            found = _mapping(text[opening.end() : closing.start()])
        except _Broken as broken:
            line = text.count("\n", 0, opening.end()) + broken.line + 1
            return Header(start=start, values=values, problem=f"line {line}: {broken}")
        if found is None and number:
            break  # a rule with which the body begins
        if found is None:
            return Header(problem="line 2: it is no list of keys and values")
        values = found | values
        start = closing.end()
    return Header(start=start, values=values)


def _mapping(block: str) -> dict[str, Any] | None:
    """Return the keys and values of a block, None for YAML of another sort."""
    if len(block) > LIMIT:
        raise _Broken(0, f"it is longer than {LIMIT // 1024} KB")
    plain = _plain_mapping(block)
    return _yaml_mapping(block) if plain is None else plain


def _plain_mapping(block: str) -> dict[str, Any] | None:
    """Return what YAML makes of a block of plain lines, in a fraction of its time; None where only YAML can tell."""
    if _PLAIN.fullmatch(block) is None:
        return None
    values: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for line in block.splitlines():
        key, _, text = map(str.strip, line.partition(":"))
        if key.lower() in _NO_TEXTS or text.lower() in _NO_TEXTS:
            return None
        if not text:
            values[key] = inner = {}
        else:
            (inner if line[0] == " " else values)[key] = text
    return values


def _yaml_mapping(block: str) -> dict[str, Any] | None:
    """Return the keys and values of a block as YAML reads it, None for YAML of another sort."""
    import yaml

    try:
        _refuse_bombs(block)
        value = yaml.load(block, _loader())  # noqa: S506 - it is a safe one
        if isinstance(value, dict):
            return {str(key): entry for key, entry in value.items()}
    except yaml.MarkedYAMLError as error:
        raise _Broken(_line(error.problem_mark or error.context_mark), error.problem or "it is not YAML") from None
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
        # PyYAML lets through what Python says of a 13th month or of `!!int x`
        raise _Broken(0, f"it is not YAML: {str(error).splitlines()[0] if str(error) else 'a bad value'}") from None
    return {} if value is None else None


def _refuse_bombs(block: str) -> None:
    """Refuse what grows out of proportion when it is read: aliases, and nesting that exhausts the stack."""
    if "*" not in block and sum(map(block.count, _NESTING)) <= DEPTH:
        return  # half of the time of an ordinary header, of which there are many
    import yaml

    depth = 0
    for event in yaml.parse(block, _loader()):
        if isinstance(event, yaml.AliasEvent):
            raise _Broken(_line(event.start_mark), "aliases (*name) are not read")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH:
            raise _Broken(_line(event.start_mark), f"it is nested more than {DEPTH} times")


def _line(mark: Any) -> int:
    return mark.line if mark else 0


def _loader() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)
