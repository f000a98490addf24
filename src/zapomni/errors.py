"""Every error a caller can see: what happened, to what, and what can be done about it.

Each class carries its own `code` and `exit_status`; surfaces render these and add no meaning of their own.
"""

from __future__ import annotations

from typing import Final, TypeVar

Error = TypeVar("Error", bound="ZapomniError")


class ZapomniError(Exception):
    """The root of all errors of this package.

    `message` says what happened to what; `remedy` says what the reader can do. `code` is the stable word
    that surfaces put into their answers.
    """

    code: str = "error"
    exit_status: int = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        self.message = message
        self.remedy = remedy
        super().__init__(f"{message}. {remedy}" if remedy else message)

    def __reduce__(self) -> tuple[object, ...]:
        """Let an error be copied and sent to another process, whatever it was made of; the cause stays behind."""
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[Error], args: tuple[object, ...]) -> Error:
    """Return an error as it was; its attributes are set anew by whoever unpickles it."""
    return kind.__new__(kind, *args)


class InvalidInput(ZapomniError):
    """A value that was given cannot be used; names the field, the value and what is allowed."""

    code = "invalid_input"
    exit_status = 2

    def __init__(self, field: str, problem: str, *, remedy: str = "") -> None:
        self.field = field
        super().__init__(f"{field}: {problem}", remedy=remedy)


class NotFound(ZapomniError):
    """Nothing visible carries that id or name."""

    code = "not_found"
    exit_status = 3


class Ambiguous(ZapomniError):
    """A short id fits several memories, or several of `what`; `matches` lists them and nothing was changed."""

    code = "ambiguous"
    exit_status = 4

    def __init__(self, prefix: str, matches: tuple[str, ...], what: str = "memories") -> None:
        self.matches = matches
        listed = ", ".join(matches)
        super().__init__(f"id {prefix!r} fits several {what}: {listed}", remedy="Give more letters of the id")


class Conflict(ZapomniError):
    """Somebody else changed the record first; carries both versions so that nothing is lost."""

    code = "conflict"
    exit_status = 5

    def __init__(self, message: str, *, current: object = None, wanted: object = None, remedy: str = "") -> None:
        self.current = current
        self.wanted = wanted
        super().__init__(message, remedy=remedy)


class Refused(ZapomniError):
    """The request is understood and will not be done (a rejected value, a blank filter on a delete)."""

    code = "refused"
    exit_status = 6


class Unavailable(ZapomniError):
    """Something needed is not there now (a provider, a lock, a disk); trying again later may help."""

    code = "unavailable"
    exit_status = 7


class StoreBusy(Unavailable):
    """Another process held the store longer than the stated wait; nothing was changed."""

    code = "store_busy"


class StoreDamaged(ZapomniError):
    """The store file is not whole or not ours; nothing was changed."""

    code = "store_damaged"
    exit_status = 8


class ProviderError(Unavailable):
    """Somebody who was asked for an answer failed.

    `retry_after` is in seconds when the provider named it. `permanent` marks what trying again cannot
    mend (a bad key, an unknown model).
    """

    def __init__(
        self, message: str, *, remedy: str = "", retry_after: float | None = None, permanent: bool = False
    ) -> None:
        self.retry_after = retry_after
        self.permanent = permanent
        super().__init__(message, remedy=remedy)


class EmbedderError(ProviderError):
    """An embedding provider failed."""

    code = "embedder"


class ModelError(ProviderError):
    """A language model could not be asked, or gave nothing that can be used.

    `tokens_in` and `tokens_out` were used in vain.
    """

    code = "model"

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        retry_after: float | None = None,
        permanent: bool = False,
        tokens_in: int = 0,
        tokens_out: int = 0,
    ) -> None:
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out
        super().__init__(message, remedy=remedy, retry_after=retry_after, permanent=permanent)


class BudgetSpent(ModelError):
    """The day's tokens or money are spent, so no model was asked; `retry_after` is until the next day begins."""

    code = "budget"


class ConfigError(ZapomniError):
    """A setting has a bad value; names it, its value, where it stands and what is allowed."""

    code = "config"
    exit_status = 2


EXIT_STATUS: Final = {
    0: "done",
    1: "an error that has no status of its own",
    2: "bad input or a bad setting",
    3: "not found",
    4: "a short id fits several memories",
    5: "somebody else changed it first",
    6: "refused",
    7: "something needed is not available now",
    8: "the store is damaged",
}
"""What each exit status of the command means."""
