"""The two things that are searched, memories and the chunks of documents, by the names of their tables.

What finds words, keeps spaces and works off the embed queue is the same for both; only the names differ.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Corpus(Struct, frozen=True):
    """The tables of one thing that is searched.

    `items` holds what is searched and `item` is what the others call its number; `text` is its column that says
    most, `alive` the condition for those that are searched at all.
    """

    items: str
    item: str
    text: str
    alive: str
    words: str
    counts: str
    spaces: str
    vectors: str
    pieces: str
    jobs: str


MEMORIES: Final = Corpus(
    items="memories",
    item="memory_no",
    text="content",
    alive="deleted_at IS NULL",
    words="words",
    counts="word_counts",
    spaces="spaces",
    vectors="vectors",
    pieces="pieces",
    jobs="embed_jobs",
)
CHUNKS: Final = Corpus(
    items="chunks",
    item="chunk_no",
    text="text",
    alive="TRUE",
    words="chunk_words",
    counts="chunk_word_counts",
    spaces="chunk_spaces",
    vectors="chunk_vectors",
    pieces="chunk_pieces",
    jobs="chunk_jobs",
)
