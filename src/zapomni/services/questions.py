"""What every question goes through, be it asked of memories or of documents."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import InvalidInput, Unavailable
from zapomni.model import QUERY_LIMIT, RECALL_LIMIT, Mode
from zapomni.text.clean import clean, is_blank
from zapomni.text.fold import name_key
from zapomni.text.stopwords import STOP_WORDS
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from datetime import datetime

    from zapomni.services.embedding import Asked, Embedding

UNSEEN: Final = "nothing in the question can be seen"
WORDLESS: Final = (
    "the question holds only a time or words that nearly every text has; list memories instead of asking for them"
)
MARKS: Final = "no letter or digit in the question says what to look for"


def checked_question(text: str, limit: int) -> str:
    """Return the text of a question as it is asked.

    Raises `InvalidInput` for one that is blank or longer than `QUERY_LIMIT`, and for a limit out of range.
    """
    text, _ = clean(text)
    if not text.strip():
        raise InvalidInput("query", "it is blank", remedy="Ask something, or use `list` to see what there is")
    if len(text) > QUERY_LIMIT:
        raise InvalidInput("query", f"{len(text):,} characters, at most {QUERY_LIMIT:,} are allowed")
    if not 1 <= limit <= RECALL_LIMIT:
        raise InvalidInput("limit", f"{limit} is not from 1 to {RECALL_LIMIT}", remedy="Use `list` for more")
    return text


def unasked(text: str) -> str | None:
    """Say why a text asks for nothing, neither by words nor by meaning, or nothing where it does.

    The vector of invisible characters or of marks alone is near to no matter what.
    """
    if is_blank(text):
        return UNSEEN
    return None if query_words(text) else MARKS


def is_wordless(text: str, now: datetime) -> bool:
    """Tell whether a question says nothing but a time, beside words that nearly every text has (`what was last week`).

    It is answered by listing what there is of that time.
    """
    from zapomni.text.periods import told_bounds  # slow to compile, and most questions find something

    rest = told_bounds(name_key(text), now, UTC).rest
    return all((word.exact or word.stem) in STOP_WORDS for word in query_words(rest))


def mode_of(wanted: Mode, asked: Asked, *, strict: bool) -> Mode:
    """Return the mode that can really answer: without the vector of the question that is by words alone.

    Raises `Unavailable` where words alone are not what was asked for.
    """
    if wanted is Mode.LEXICAL or asked.vector is not None:
        return wanted
    if strict or wanted is Mode.SEMANTIC:
        given = "`--strict`" if strict else "`--mode semantic`"
        raise Unavailable(
            f"semantic search is not available: {asked.reason}", remedy=f"Leave out {given} to search by words"
        )
    return Mode.LEXICAL


def reason_for(embedding: Embedding[Any], wanted: Mode, asked: Asked) -> str | None:
    """Say why this is not the whole answer that was asked for, or nothing when it is."""
    if wanted is Mode.LEXICAL:
        return None
    if asked.space is None:
        return asked.reason
    target = embedding.target()
    if target is None or target.no != asked.space.no:
        return f"still searching by {asked.space.label} while the new model's vectors are built"
    return None
