"""Why an answer is empty, in words: what was looked for and what stood in the way, options as each surface has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.store.found import VISIBLE_MOST
from zapomni.surfaces.shapes import ARGUMENTS
from zapomni.text.clean import preview, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from zapomni.model.explanation import Barred, Explanation, Hidden, Near

    Spell = Callable[[str, Any], str]
    """Writes an argument, by its name and value, as the surface takes it."""

_ALONE: Final = {
    "time": " not valid now",
    "trust": " rejected or superseded",
    "every": " not valid now, and rejected or superseded",
}
_TOO: Final = {
    "time": ", valid now or not",
    "trust": ", rejected and superseded ones too",
    "every": ", valid now or not, rejected and superseded ones too",
}
"""What a part of the filter keeps away where no option of it was given, and beside what its options say."""
_LIMIT: Final = 400
MEMORIES: Final = ("memory", "memories")
PLACES: Final = ("place in documents", "places in documents")
"""What is searched, one and many."""


def barred_line(barred: Barred, one: str, many: str, asked: Mapping[str, Any], spell: Spell) -> str:
    """Tell which of the arguments that were asked with let nothing through; `one` and `many` name what is searched."""
    options = (" with " if barred.together else " or ").join(_spelled(barred.fields, asked, spell))
    if barred.stored == 1:
        return f"the only {one} does not pass {options}"
    return f"none of {_counted(barred.stored, more=barred.stored >= VISIBLE_MOST)} {many} passes {options}"


def why_rows(why: Explanation, asked: Mapping[str, Any], spell: Spell) -> list[tuple[str, str]]:
    """Return what is told of an empty answer, each with its name; nothing of it is stored text but stems."""
    near = [f"{_line(other)} for {_line(word)}" for word, other in why.near.items()]
    common = " (words that nearly every text has)" if why.common else ""
    rows = [
        ("looked for", f"{_names(why.words) or 'no word'}{common}"),
        ("standing in", ", ".join(near)),
        ("passed over", _names(why.passed_over)),
        ("searched", _counted(why.seen, more=why.seen >= VISIBLE_MOST)),
        ("candidates", _candidates(why)),
        ("hidden", "; ".join(_hidden(part, one, asked, spell) for part, one in why.without.items())),
        ("nearest", _nearest(why.nearest) if why.nearest is not None else ""),
    ]
    return [(name, value) for name, value in rows if value]


def _candidates(why: Explanation) -> str:
    legs = {"by words": why.by_words, "by meaning": why.by_meaning}
    told = ", ".join(f"{leg} {count:,}" for leg, count in legs.items() if count)
    if not told:
        return "none"
    if not why.judged:
        return f"{told}; none is nearer to the question than unrelated texts are"
    return f"{told}; the best{f' {why.judged:,}' if why.judged > 1 else ''} did not reach the floor"


def _hidden(part: str, hidden: Hidden, asked: Mapping[str, Any], spell: Spell) -> str:
    """Tell how many answers a part of the filter keeps away, and by what they would be seen."""
    told = [f"{_counted(hidden.count, more=hidden.more)} answer{'s' if hidden.count > 1 or hidden.more else ''}"]
    if hidden.scopes:
        names = [str(scope) for scope in hidden.scopes]
        told.append(f"in {_names(names)} (`{spell('scope', names[0] if len(names) == 1 else 'all')}`)")
    options = [f"`{option}`" for option in _spelled(hidden.fields, asked, spell)]
    if options:
        told.append(f"without {', '.join(options)}")
    return " ".join(told) + (_TOO if len(told) > 1 else _ALONE).get(part, "")


def _spelled(fields: Iterable[str], asked: Mapping[str, Any], spell: Spell) -> list[str]:
    """Return the arguments by which fields of a filter were given."""
    names = dict.fromkeys(_argument(field, asked) for field in fields)
    return [spell(name, asked.get(name)) for name in names]


def _argument(field: str, asked: Mapping[str, Any]) -> str:
    name = ARGUMENTS.get(field, field)
    return "on" if name in {"since", "until"} and name not in asked else name


def _nearest(near: Near) -> str:
    return f"{_line(near.handle)}  {near.score:.2f}, {near.share:.0%} of what the floor asks"


def _counted(count: int, *, more: bool) -> str:
    return f"{count:,} or more" if more else f"{count:,}"


def _names(words: Sequence[str]) -> str:
    return ", ".join(_line(word) for word in words)


def _line(value: object) -> str:
    return printable(preview(str(value), _LIMIT))
