"""The process that matches lines against a pattern, for a pattern can take years and Python cannot break it off.

A script: `matching.Pattern` starts it, and it imports nothing of ours. Each line in and out is one JSON value:
first the pattern and whether letter case counts, answered by what is wrong with it (empty for nothing); then the
lines of a text, answered by pairs of a line's index and the character where the match begins.
"""

from __future__ import annotations

import json
import re
import sys


def main() -> None:
    """Answer until the input ends."""
    pattern: re.Pattern[str] | None = None
    for raw in sys.stdin.buffer:
        asked = json.loads(raw)
        if pattern is None:
            try:
                pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
                _answer("")
            except (re.error, RecursionError, OverflowError, ValueError) as error:
                _answer(str(error) or "it is nested too deeply")
        else:
            found = [(no, match.start()) for no, line in enumerate(asked) if (match := pattern.search(line))]
            _answer(found)


def _answer(value: object) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
