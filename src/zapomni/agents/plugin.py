"""Whether a client has our plugin on, which brings hooks of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.agents.base import Reach
from zapomni.agents.disk import content
from zapomni.agents.edits import NAME
from zapomni.agents.json_text import at
from zapomni.errors import ZapomniError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zapomni.agents.base import Client, Machine

_USER: Final[Mapping[str, tuple[str, ...]]] = {"claude-code": ("{claude}/settings.json",)}
_PROJECT: Final[Mapping[str, tuple[str, ...]]] = {
    "claude-code": ("{project}/.claude/settings.json", "{project}/.claude/settings.local.json"),
}
"""Where a client says which plugins are on, as `enabledPlugins: {"NAME@MARKETPLACE": true}` (integrations 2.3)."""


def plugin_of(client: Client, machine: Machine, reach: Reach) -> str:
    """Return our plugin as the client names it where it is on, else nothing; a project has the user's plugins too.

    A file that cannot be read names none.
    """
    places = _USER.get(client.name, ())
    if reach is Reach.PROJECT:
        places += _PROJECT.get(client.name, ())
    for place in places:
        try:
            found = at(content(machine.path(place)).text, ("enabledPlugins",))
        except ZapomniError:
            continue
        for name, on in found.value.items() if found is not None and isinstance(found.value, dict) else ():
            if on and name.partition("@")[0] == NAME:
                return str(name)
    return ""
