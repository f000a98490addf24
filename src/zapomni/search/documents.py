"""The read path of documents: the same two legs as for memories, over chunks, ranked by what kind of document it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.model import Mode, Part
from zapomni.model.document import DocumentHit, DocumentKind
from zapomni.search.constants import KIND_BONUS, LEXICAL_CUT, PER_DOCUMENT, VECTOR_CUT
from zapomni.search.fuse import fuse, parts
from zapomni.search.lexical import WordScores
from zapomni.search.looked import Looked, judge
from zapomni.search.retrieve import in_its_language
from zapomni.store.found import Lexical
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Space, Vector
    from zapomni.model.document import DocumentQuery
    from zapomni.search.lexical import WordScore
    from zapomni.store.documents import Documents, Found
    from zapomni.text.words import QueryWord

_ASKED: Final = {
    DocumentKind.ADR: "adr decision decide decided why chose решение решили почему",
    DocumentKind.RFC: "rfc proposal pep предложение",
    DocumentKind.CHANGELOG: "changelog changed release version новое изменилось релиз версия",
    DocumentKind.RUNBOOK: "runbook playbook restore restart rollback procedure инструкция восстановить откатить",
    DocumentKind.POSTMORTEM: "postmortem incident outage failure инцидент сбой авария",
    DocumentKind.CONFIG: "config configuration setting yaml toml конфиг конфигурация настройка",
}
"""Words of a question that ask for one kind of document (article A's source boosts)."""
_STEMS: Final = {kind: frozenset(word.stem for word in query_words(words)) for kind, words in _ASKED.items()}


class _Ranked(NamedTuple):
    score: float
    no: int
    found: Found
    factors: tuple[Part, ...]

    @property
    def text(self) -> str:
        """What the chunk says."""
        return self.found.chunk.text

    def hit(self, words: WordScore | None, cosine: float | None) -> DocumentHit:
        """Return it as a hit, with every part of its score."""
        found = self.found
        return DocumentHit(
            source=found.source,
            document=found.document,
            chunk=found.chunk,
            score=self.score,
            parts=(*parts(words, cosine), *self.factors),
        )


def retrieve_chunks(
    documents: Documents, query: DocumentQuery, space: Space | None, vector: Vector | None
) -> Looked[DocumentHit]:
    """Return at most `query.limit` hits, `PER_DOCUMENT` of one file, and how they were found.

    With a vector, meaning takes part too.
    """
    words = () if query.mode is Mode.SEMANTIC else query_words(query.text)
    lexical = documents.lexical(words, query.where, LEXICAL_CUT) if words else Lexical()
    visible = documents.visible(query.where)
    scores = WordScores(words, lexical, visible)
    by_words = {hit.no: scores.of_hit(hit) for hit in lexical.hits}
    cosines: dict[int, float] = {}
    if space is not None and vector is not None:
        asked = in_its_language(space, vector, query.text)
        cosines = dict(documents.nearest(space, asked, query.where, VECTOR_CUT, also=list(by_words)))
    fused = fuse(by_words, cosines)
    found = documents.fetch([no for _, no in fused])
    ranked = [_weighed(relevance, no, found[no], words) for relevance, no in fused if no in found]
    ranked.sort(key=lambda item: (-item.score, item.no))
    judged = _spread(ranked, query.limit)
    return judge(
        judged,
        _Ranked.hit,
        question=query.text,
        words=words,
        lexical=lexical,
        by_words=by_words,
        cosines=cosines,
        visible=visible,
    )


def _weighed(relevance: float, no: int, found: Found, words: Sequence[QueryWord]) -> _Ranked:
    factors = []
    if found.chunk.weight != 1:
        factors.append(
            Part(name="weight", value=found.chunk.weight, why="multiplies: a list of contents, links or noise")
        )
    kind = found.document.kind
    if any(word.stem in _STEMS.get(kind, ()) for word in words):
        factors.append(Part(name="kind", value=KIND_BONUS, why=f"multiplies: the question asks for {kind.value}"))
    score = relevance
    for factor in factors:
        score *= factor.value
    return _Ranked(score, no, found, tuple(factors))


def _spread(ranked: Sequence[_Ranked], limit: int) -> list[_Ranked]:
    """Return the best, no more of one file than others leave room for, and no place twice where sources overlap."""
    taken: list[_Ranked] = []
    held: dict[str, set[int]] = {}
    for item in ranked:
        places = held.setdefault(f"{item.found.source.root}/{item.found.document.path}", set())
        if item.found.chunk.start not in places and len(places) < PER_DOCUMENT:
            places.add(item.found.chunk.start)
            taken.append(item)
        if len(taken) == limit:
            break
    return taken
