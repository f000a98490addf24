"""Scores of a ranking: hit@k, all@k, rec@k, nDCG@10, MRR@10, and a paired comparison of two systems.

Definitions as in the usual IR literature; `hit@k` is what vendors call R@k, `all@k` wants every answer.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet


Scores = dict[str, float]
"""The value of each metric, by its name."""

CUTS: Final = (1, 3, 5, 10)
METRICS: Final = (
    "hit@1", "hit@3", "hit@5", "hit@10", "all@5", "all@10", "rec@5", "rec@10", "ndcg@10", "mrr@10",
)  # fmt: skip
_ROUNDS: Final = 1_000


def score(ranked: Sequence[str], answers: AbstractSet[str]) -> Scores:
    """Return every metric of one ranking, best first and without repeats."""
    flags = [item in answers for item in ranked[:10]]
    scores: Scores = {}
    for k in CUTS:
        found = sum(flags[:k])
        scores[f"hit@{k}"] = float(found > 0)
        scores[f"all@{k}"] = float(found == len(answers))
        scores[f"rec@{k}"] = found / len(answers)
    gain = sum(1 / math.log2(place + 2) for place, flag in enumerate(flags) if flag)
    best = sum(1 / math.log2(place + 2) for place in range(min(len(answers), 10)))
    scores["ndcg@10"] = gain / best
    scores["mrr@10"] = next((1 / (place + 1) for place, flag in enumerate(flags) if flag), 0.0)
    return scores


def mean(rows: Sequence[Scores]) -> Scores:
    """Return the mean of each metric over questions; empty for no questions."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in METRICS} if rows else {}


def paired(ours: Mapping[str, Scores], theirs: Mapping[str, Scores], metric: str) -> tuple[float, float]:
    """Return the mean difference over the same questions and the share of bootstrap rounds that deny it.

    Paired bootstrap over questions, 1,000 rounds, fixed seed.
    """
    pick = random.Random(0)  # noqa: S311 - a benchmark, and it must repeat
    gaps = [ours[name][metric] - theirs[name][metric] for name in sorted(set(ours) & set(theirs))]
    if not gaps:
        return 0.0, 1.0
    denied = sum(sum(pick.choices(gaps, k=len(gaps))) <= 0 for _ in range(_ROUNDS))
    return sum(gaps) / len(gaps), denied / _ROUNDS
