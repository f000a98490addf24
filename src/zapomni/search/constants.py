"""Every ranking constant in one table, each with what chose it.

The figures stand in `docs/benchmarks.md`. Tuned on LoCoMo conversations conv-26, conv-30 and conv-41 only.
"""

from __future__ import annotations

from typing import Final

LEXICAL_CUT: Final = 300
"""Hits of the words that enter the fusion."""
VECTOR_CUT: Final = 300
"""Hits of the vectors that enter the fusion."""
REACH: Final = 2
"""Places to each side from which an ordered source lends its score."""
LEXICAL_WEIGHT: Final = 1.0
NEIGHBOUR_WEIGHT: Final = 0.35
"""What a neighbour's words add to a candidate."""
VECTOR_WEIGHT: Final = 0.8
"""What the mean-centred cosine adds beside BM25 over its own best (embedders.md, section 6)."""
FLOOR: Final = 0.18
"""Relevance under which nothing is returned."""
IMPORTANCE_BASE: Final = 0.5
IMPORTANCE_SHARE: Final = 0.5
"""Relevance is multiplied by base + share * importance (article A)."""
