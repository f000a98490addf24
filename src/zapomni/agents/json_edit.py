"""Our entry among a client's servers, and our hooks among its hooks, in JSON with comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from zapomni.agents.edits import NAME, Named, State, Written, taken
from zapomni.agents.json_text import appended, at, replaced, tidied, with_container, without

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Member(Named, frozen=True, kw_only=True):
    """Our entry in the object at `path`."""

    path: tuple[str, ...]

    def state(self, text: str) -> State:
        """Tell what stands under our name."""
        found = at(text, (*self.path, NAME))
        return State.ABSENT if found is None else self.standing(found.value)

    def put(self, text: str) -> Written:
        """Add the entry at the end of its object, or bring it up to date where it stands."""
        state = self.state(text)
        if state is State.FOREIGN:
            raise taken(f"an entry of {'.'.join(self.path)}")
        if state is State.WIRED:
            return Written(text=text)
        if state is State.CHANGED:
            found = at(text, (*self.path, NAME))
            value = self.renewed(found.value if found else {}, self.value)
            return Written(text=replaced(text, (*self.path, NAME), value))
        made = with_container(text, self.path, dict)
        return Written(text=appended(made.text, self.path, NAME, self.value), blanks=made.blanks)

    def drop(self, text: str, blanks: Mapping[str, str | None]) -> str:
        """Remove the entry, and each object around it that was made for it and is empty now."""
        if self.state(text) in {State.ABSENT, State.FOREIGN}:
            return text
        return tidied(without(text, self.path, NAME), self.path, blanks)


class Hooks(Struct, frozen=True, kw_only=True):
    """One item of ours in the list of each event at `path`, and what the root of such a file needs beside them."""

    path: tuple[str, ...]
    events: Mapping[str, Any]
    ours: Callable[[Any], bool]
    root: Mapping[str, Any] = field(default_factory=dict)

    def state(self, text: str) -> State:
        """Tell whether each event has our item as wanted, and no other event has one."""
        found = self._found(text)
        if not found:
            return State.ABSENT
        return State.WIRED if found == {event: [item] for event, item in self.events.items()} else State.CHANGED

    def put(self, text: str) -> Written:
        """Append our item to the list of each event; another version of ours makes room for it."""
        if self.state(text) is State.WIRED:
            return Written(text=text)
        text = self._without(text)
        made = with_container(text, (), dict)
        text, blanks = made.text, dict(made.blanks)
        for key, value in self.root.items():
            if at(text, (key,)) is None:
                text, blanks[key] = appended(text, (), key, value), None
        for event, item in self.events.items():
            made = with_container(text, (*self.path, event), list)
            blanks = {**made.blanks, **blanks}
            text = appended(made.text, (*self.path, event), None, item)
        return Written(text=text, blanks=blanks)

    def drop(self, text: str, blanks: Mapping[str, str | None]) -> str:
        """Remove our items, and whatever was made for them and serves nobody else."""
        events = list(self._found(text))
        if not events:
            return text
        text = self._without(text)
        inner = {path: was for path, was in blanks.items() if "/" in path or path in self.path}
        for event in reversed(events):
            text = tidied(text, (*self.path, event), inner)
        was_there = blanks.get("/".join(self.path), "") is not None  # so the hooks of others need none of our root
        if was_there or at(text, self.path) is None:
            for key in self.root:
                text = without(text, (), key) if key in blanks and at(text, (key,)) is not None else text
        return tidied(text, (), blanks)

    def _found(self, text: str) -> dict[str, list[Any]]:
        """Return our items by event."""
        holder = at(text, self.path)
        events = holder.value if holder and isinstance(holder.value, dict) else {}
        mine = {
            key: [item for item in items if self.ours(item)] for key, items in events.items() if isinstance(items, list)
        }
        return {key: items for key, items in mine.items() if items}

    def _without(self, text: str) -> str:
        for event in self._found(text):
            node = at(text, (*self.path, event))
            for place in reversed(range(len(node.items) if node else 0)):
                if node and self.ours(node.items[place].node.value):
                    text = without(text, (*self.path, event), place)
        return text
