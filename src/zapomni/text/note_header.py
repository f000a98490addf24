"""Changing single values in the header of a note, so that every other byte of it stays what it was.

The place of a value is found by the YAML parser, the rest is text. What came of it is read again and compared: a
header in which a change would touch anything else is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Keys = tuple[str, ...]
"""A key, or one inside the mapping of another."""

_REMEDY: Final = "Change the file by hand"
_WIDTH: Final = 10**9
"""No line is ever folded."""


def with_values(block: str, changes: Sequence[tuple[Keys, Any]], end: str) -> str:
    """Return the lines between the fences of a header with some values changed; keys that are not there are added.

    `end` is the note's line ending. Values are texts, numbers, booleans and lists of texts; None takes a key away.
    Raises `InvalidInput` for a block in which that cannot be done without touching another key.
    """
    after = block
    for keys, value in changes:
        after = _with_value(after, keys, value, end)
    if _meant(_load(after), changes) != _wanted(_load(block), changes):
        raise InvalidInput("frontmatter", "its form is none that can be changed safely", remedy=_REMEDY)
    return after


def scalar(value: Any) -> str:
    """Return a value as it stands behind a key: a plain text where YAML reads it as just that, else in quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_flowed(str(item)) for item in value)}]"
    text = str(value)
    return text if not isinstance(value, str) or _is_plain(text, "key: {}", {"key": text}) else _quoted(text)


def _flowed(text: str) -> str:
    return text if _is_plain(text, "[{}]", [text]) else _quoted(text)


def _is_plain(text: str, form: str, meaning: Any) -> bool:
    import yaml

    try:
        return bool(text) and text.isprintable() and bool(_load(form.format(text)) == meaning)
    except (yaml.YAMLError, ValueError):
        return False


def _quoted(text: str) -> str:
    import yaml

    dumped: str = yaml.dump(text, Dumper=yaml.SafeDumper, default_style='"', allow_unicode=True, width=_WIDTH)
    return dumped.removesuffix("\n")


def _with_value(block: str, keys: Keys, value: Any, end: str) -> str:
    import yaml

    try:
        root = yaml.compose(block, yaml.SafeLoader)  # its marks count characters
    except yaml.YAMLError as error:
        raise InvalidInput("frontmatter", f"it cannot be read ({error})", remedy=_REMEDY) from None
    entry = _entry(root, keys[0])
    if len(keys) == 1 or entry is None:
        return _placed(block, root, keys, value, end) if entry is None else _replaced(block, entry, value)
    within = entry[1]
    inner = _entry(within, keys[1])
    if inner is not None:
        return _replaced(block, inner, value)
    return block if value is None else _inserted(block, within, f"{keys[1]}: {scalar(value)}", end)


def _entry(node: Any, key: str) -> tuple[Any, Any] | None:
    """Return the nodes of a key and its value; of several, the last, which is the one that counts."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return None
    return next((pair for pair in reversed(node.value) if pair[0].value == key), None)


def _placed(block: str, root: Any, keys: Keys, value: Any, end: str) -> str:
    """Return the block with a new key at its end."""
    if value is None:
        return block
    if root is not None and getattr(root, "flow_style", False):
        raise InvalidInput("frontmatter", "it is written in braces", remedy=_REMEDY)
    head = f"{keys[0]}: {scalar(value)}" if len(keys) == 1 else f"{keys[0]}:{end}  {keys[1]}: {scalar(value)}"
    return f"{block}{'' if not block or block.endswith(chr(10)) else end}{head}{end}"


def _replaced(block: str, entry: tuple[Any, Any], value: Any) -> str:
    """Return the block with another value for a key, or without the key; a comment behind it stays."""
    return _without(block, entry) if value is None else _put(block, entry, scalar(value))


def _put(block: str, entry: tuple[Any, Any], text: str) -> str:
    """Return the block with another text where the value of a key stands."""
    key, old = entry
    start, end = old.start_mark.index, old.end_mark.index
    kept = block[start:end]
    tail = kept[len(kept.rstrip()) :]  # the value of several lines takes its last line end along
    between = block[key.end_mark.index : start]
    if "\n" in between:  # it began on a line of its own
        start = key.end_mark.index + 1
    gap = "" if start and block[start - 1].isspace() else " "
    return f"{block[:start]}{gap}{text}{tail}{block[end:]}"


def _without(block: str, entry: tuple[Any, Any]) -> str:
    """Return the block without the lines of a key; where they are not its own alone its value becomes null."""
    key, old = entry
    start, end = block.rfind("\n", 0, key.start_mark.index) + 1, old.end_mark.index
    if end and block[end - 1] != "\n":
        end = block.find("\n", end) + 1
    alone = not block[start : key.start_mark.index].strip() and not block[old.end_mark.index : end].strip()
    if alone and end and _load(less := block[:start] + block[end:]) is not None:
        return less
    return _put(block, entry, "null")


def _inserted(block: str, within: Any, line: str, end: str) -> str:
    """Return the block with a new first key in a mapping that is there."""
    import yaml

    if not isinstance(within, yaml.MappingNode) or not within.value:
        raise InvalidInput("frontmatter", f"there is no place for {line.partition(':')[0]}", remedy=_REMEDY)
    first = within.value[0][0].start_mark
    if within.flow_style:
        return f"{block[: first.index]}{line}, {block[first.index :]}"
    return f"{block[: first.index]}{line}{end}{' ' * first.column}{block[first.index :]}"


def _load(block: str) -> Any:
    import yaml

    return yaml.load(block, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - it is a safe one


def _meant(after: Any, changes: Sequence[tuple[Keys, Any]]) -> Mapping[str, Any]:
    """Return what a changed header means: a key that was taken away and is null now is as good as gone."""
    values = dict(after or {})
    for keys, value in changes:
        inner = values if len(keys) == 1 else values.get(keys[0])
        if value is None and isinstance(inner, dict) and inner.get(keys[-1], ...) is None:
            del inner[keys[-1]]
    return values


def _wanted(before: Any, changes: Sequence[tuple[Keys, Any]]) -> Mapping[str, Any]:
    """Return what a header means once its changes are made."""
    values = dict(before or {})
    for keys, value in changes:
        meant = list(value) if isinstance(value, tuple) else value
        if len(keys) == 1:
            _set(values, keys[0], meant)
        else:
            inner = dict(values.get(keys[0]) or {})
            _set(inner, keys[1], meant)
            if inner or keys[0] in values:
                values[keys[0]] = inner
    return values


def _set(values: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        values.pop(key, None)
    else:
        values[key] = value
