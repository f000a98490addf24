"""Where the data lies that is no part of the project: what needs it skips, with the reason, where it is absent."""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(os.environ.get("ZAPOMNI_SHARED") or Path(__file__).parents[2] / "shared")  # noqa: TID251 - the machine's matter
INTEGRATIONS = SHARED / "reference" / "integrations"
