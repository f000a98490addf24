"""The form of one tool, and the schemas that tools are put together from. Plain data, nothing of the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

Schema = dict[str, Any]


class Tool(Struct, frozen=True, kw_only=True):
    """One tool. `quiet` names arguments that are accepted and not advertised, to keep the list short.

    `extra` tools are shown by the profile `full` alone.
    """

    name: str
    title: str
    description: str
    takes: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    gives: Mapping[str, Schema]
    quiet: tuple[str, ...] = ()
    read_only: bool = False
    destructive: bool = False
    always_load: bool = False
    extra: bool = False

    @property
    def known(self) -> tuple[str, ...]:
        """Every argument that is understood."""
        return (*self.takes, *self.quiet)

    def input_schema(self) -> Schema:
        """Return the JSON schema of the arguments."""
        schema: Schema = {"type": "object", "properties": dict(self.takes)}
        return schema | {"required": list(self.required)} if self.required else schema

    def output_schema(self) -> Schema:
        """Return the JSON schema of the structured answer.

        Nothing is required: some clients hold an error's answer against it too.
        """
        return {"type": "object", "properties": dict(self.gives)}

    def annotations(self) -> dict[str, bool]:
        """Return the behaviour hints; the memory is a closed world and repeating a call changes nothing more."""
        hints = {"readOnlyHint": self.read_only, "openWorldHint": False}
        return hints if self.read_only else hints | {"destructiveHint": self.destructive, "idempotentHint": True}

    def definition(self) -> dict[str, Any]:
        """Return the entry of `tools/list` as it goes over the wire."""
        entry = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema(),
            "outputSchema": self.output_schema(),
            "annotations": self.annotations(),
        }
        return entry | {"_meta": {"anthropic/alwaysLoad": True}} if self.always_load else entry


def text(says: str = "") -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": says} if says else {"type": "string"}


def choice(choices: type[StrEnum], says: str = "") -> Schema:
    """Return the schema of one word of a closed list."""
    return text(says) | {"enum": [one.value for one in choices]}


TEXT: Final = text()
TEXTS: Final[Schema] = {"type": "array", "items": {"type": "string"}}
FLAG: Final[Schema] = {"type": "boolean"}
WHOLE: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
OBJECT: Final[Schema] = {"type": "object"}
ROWS: Final[Schema] = {"type": "array", "items": OBJECT}
