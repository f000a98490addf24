"""What a client holds of ours now: nothing is started and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from zapomni.agents.base import Part
from zapomni.agents.disk import content
from zapomni.agents.edits import State
from zapomni.agents.plugin import plugin_of
from zapomni.errors import ZapomniError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zapomni.agents.base import Client, Launch, Machine, Reach


class Spot(Struct, frozen=True, kw_only=True):
    """One part in one file; `problem` says why the file cannot be read."""

    part: Part
    file: Path
    state: State
    problem: str = ""


class Look(Struct, frozen=True, kw_only=True):
    """One client as it stands: whether it is here, and every place of ours in it; a part with no place has none.

    `plugin` is our plugin as the client names it, where it is on.
    """

    client: Client
    installed: bool
    spots: tuple[Spot, ...]
    plugin: str = ""

    def state(self, part: Part) -> State | None:
        """Return how a part stands over all its files, None where the client has no place for it."""
        states = {spot.state for spot in self.spots if spot.part is part}
        if len(states) > 1:
            return State.CHANGED
        return next(iter(states), None)

    @property
    def twice(self) -> bool:
        """Whether each hook runs twice: by the plugin and by what stands in the client's files."""
        return bool(self.plugin) and self.state(Part.HOOKS) in {State.WIRED, State.CHANGED}

    @property
    def problem(self) -> str:
        """The first file that cannot be read, and why; empty where all can."""
        return next((f"{spot.file}: {spot.problem}" for spot in self.spots if spot.problem), "")


def inspect(client: Client, machine: Machine, launch: Launch, reach: Reach) -> Look:
    """Return how a client is wired; `launch` is how it should start us, another way counts as changed."""
    return Look(
        client=client,
        installed=machine.installed(client),
        spots=tuple(_spots(client, machine, launch, reach)),
        plugin=plugin_of(client, machine, reach),
    )


def _spots(client: Client, machine: Machine, launch: Launch, reach: Reach) -> Iterator[Spot]:
    for aim in client.aims:
        file = machine.file(aim, reach)
        if file is None:
            continue
        try:
            state, problem = aim.edit(launch).state(content(file).text), ""
        except ZapomniError as error:
            state, problem = State.FOREIGN, error.message
        yield Spot(part=aim.part, file=file, state=state, problem=problem)
