"""Every ranking constant in one table, each with what chose it.

Tuned on LoCoMo conversations conv-26, conv-30 and conv-41 unless said; the figures stand in `docs/benchmarks.md`.
"""

from __future__ import annotations

from typing import Final

# --- how many candidates enter ----------------------------------------------------------------------------
LEXICAL_CUT: Final = 100
"""Hits of the words that are counted again. LoCoMo rec@10 by words alone: .794 at 50, .793 at 100, .801 at 300."""
VECTOR_CUT: Final = 100
"""Hits of the vectors that enter beside them."""

# --- words ------------------------------------------------------------------------------------------------
K1: Final = 1.2
"""BM25's saturation of repeated words; 1.2 as everywhere."""
LENGTH_SHARE: Final = 0.4
"""BM25's b for a memory by itself: .4 beats the usual .75, for short notes are not padded."""
WINDOW_LENGTH_SHARE: Final = 0.75
"""BM25's b for a memory with its neighbours."""
PERFECT: Final = 0.75
"""Share of BM25's upper bound that a document full of the words really comes near to (embedders.md, section 2)."""
UNSEEN: Final = 10
"""Memories imagined beside those that are there when a word's rarity is worked out, so that small stores rank well."""
PART_SHARE: Final = 0.3
"""What a part of an identifier counts where some memory holds the whole of it; else the parts speak for it."""
NEAR_SHARE: Final = 0.7
"""What a word counts that stands for one which no memory holds: `ветк` for `веток`, `redis` for `redsi`."""
EXACT_BONUS: Final = 0.1
"""What an exact form adds to its stem, so that the word as it was written comes first."""
SHARED: Final = 0.5
"""How often a word that may be a surname counts as said where only its stem stands: `кузнец` for `Кузнецов`. Plural
nouns in the genitive end alike and lose nothing: hit@10 by words alone of Russian XQuAD .992 with it and without, of
DaNetQA .886 and .884."""

# --- neighbours of an ordered source ------------------------------------------------------------------------
NEAR: Final = 2
FAR: Final = 6
"""Places to each side that lend their words, in the near and in the far window."""
NEAR_WEIGHT: Final = 1.0
FAR_WEIGHT: Final = 0.4
SHORT: Final = 150
"""Words up to which a message lends its neighbours all of its score; a longer one lends SHORT / length."""

# --- long memories that stand alone -------------------------------------------------------------------------
PASSAGE: Final = 80
"""Words of the passage that speaks for a long memory: its best one counts in place of the whole."""
LONG: Final = 160
"""Words from which a memory is looked at by passages."""

# --- meaning ------------------------------------------------------------------------------------------------
VECTOR_WEIGHT: Final = 2.0
"""What the mean-centred cosine counts. LoCoMo is flat from 1 to 1.5; XQuAD wants 2 (a choice made on it)."""

# --- ranking ------------------------------------------------------------------------------------------------
GATE: Final = 0.20
GATE_GROWTH: Final = 0.02
"""Evidence that the best hit must have: GATE + GATE_GROWTH * ln(memories that may be seen), for among many some come
near by chance. In the prototype 80 % of unrelated questions, held out, found nothing and no LoCoMo answer was lost; the
means of vectors were changed after that, and what the product does with them stands in `docs/benchmarks.md`."""
GATE_ACROSS: Final = 0.13
GATE_ACROSS_GROWTH: Final = 0.014
"""The same where question and memory are in different languages, which costs a part of the cosine."""
GATE_BEHIND: Final = 0.6
"""Share of the gate that every further hit must have once the best has passed it."""
WORD_EVIDENCE: Final = 0.5
"""What the words around a hit count beside its cosine as evidence."""
WORDS_ALONE: Final = 0.065
"""Share of what a question's words could say that is enough where no vector can speak; it grows by GATE_GROWTH too.
Questions of even number, over 1 to 40 and 240 to 2,212 texts: 1.0 and 0 % of answers are lost, and 22 and 71 % of
unrelated questions get something; with .1 for every store it is 1.1 and 0, 26 and 91 %."""
IMPORTANCE_BASE: Final = 0.5
IMPORTANCE_SHARE: Final = 0.5
"""Relevance is multiplied by base + share * importance (article A)."""

# --- documents --------------------------------------------------------------------------------------------
PER_DOCUMENT: Final = 5
"""Most chunks of one file in an answer, so that a long file does not fill it. Questions to Django's manual, the seen
half: nDCG@10 .749 at 3, .752 at 5, .753 without."""
KIND_BONUS: Final = 1.1
"""What a hit's relevance is multiplied by when the question asks for its kind of document."""

# --- what a model reads for a question ----------------------------------------------------------------------
# `zapomni bench ask`: 2,000 memories, room for a tenth of them.
RELEVANT_CUT: Final = 100
"""Hits that may be read because they are relevant: as many as either leg brings."""
READ_SHARES: Final = {"relevant": 0.6, "important": 0.25, "recent": 0.15}
"""Shares of the room in their order; what one leaves goes to the others."""
READ_SHARES_NEWEST: Final = {"recent": 0.5, "relevant": 0.35, "important": 0.15}
"""The same where the latest of something is asked for."""
NARROWED_SHARE: Final = 0.8
"""Share of the room for the dates and names that the question speaks of; the rest is for what is relevant elsewhere,
for a date may be one that a memory only mentions."""
IMPORTANT_STEPS: Final = (1.0, 0.9, 0.8, 0.7, 0.6)
"""Importance from which memories are read for it, the greatest first: .5 is what says nothing."""
NARROWED_CUT: Final = 2_000
"""Memories of a date or name that are put in order of time."""
NAMING_CUT: Final = 20
"""Memories looked at for each word of a question, to learn which names there are."""
