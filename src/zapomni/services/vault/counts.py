"""The owner's own numbers of records: how many there were on which day."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from zapomni.errors import InvalidInput
from zapomni.text.dates import parse_instant
from zapomni.text.growth import Count

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

_ROW: Final = re.compile(r"\s*(?P<day>\S.*?)\s*[=,;:\t ]\s*(?P<records>\d{1,9})\s*(?:#.*)?")


def parse_counts(rows: Iterable[str], zone: tzinfo) -> list[Count]:
    """Read numbers as `2026-08-11=135`; a comma, a semicolon or a space stands for the sign too.

    Blank rows and those that begin with `#` say nothing. Raises `InvalidInput` for any other.
    """
    counts = []
    for row in rows:
        if not row.strip() or row.lstrip().startswith("#"):
            continue
        found = _ROW.fullmatch(row)
        if found is None:
            raise InvalidInput("count", f"{row!r} is not DATE=NUMBER", remedy="Write it as 2026-08-11=135")
        day = parse_instant(found["day"], zone, field="count").astimezone(zone).date()
        counts.append(Count(day, int(found["records"])))
    return sorted(counts)
