"""What every verb is handed: the store, the time, fresh ids and the place it is asked from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from zapomni.model import USER_SCOPE, Scope

if TYPE_CHECKING:
    from zapomni.clock import Clock
    from zapomni.ids import IdFactory
    from zapomni.services.touches import Touches
    from zapomni.store.base import Store


class Place(Struct, frozen=True, kw_only=True):
    """Where a caller stands: the scope its writes go to and the scopes its reads see, when it names none.

    `agent` is the scope of the agent that it is, where the settings say so: one of those that it sees. On a `branch` of
    the memory these are the branch's own; its reads see the scopes behind them too.
    """

    write: Scope = USER_SCOPE
    read: tuple[Scope, ...] = field(default=(USER_SCOPE,))
    agent: Scope | None = None
    branch: str = ""


class Context(Struct, frozen=True, kw_only=True):
    """The tools of a verb; it holds no state of its own."""

    store: Store
    clock: Clock
    new_id: IdFactory
    touches: Touches
    place: Place = field(default_factory=Place)
