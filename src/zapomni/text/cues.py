"""Cues: sentences that say what was decided, ruled, tried in vain, found or left open, in Russian and English.

Rules without a model. They are meant to miss rather than to take in: a sentence must be a statement of some length
that makes sense alone, and the talk of an agent about its next step is none. Rules of conduct are taken from people
alone, for in the words of an agent "always" and "never" mostly describe code.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.text.words import query_words

if TYPE_CHECKING:
    from collections.abc import Iterator


class Sort(StrEnum):
    """What a sentence says of a session."""

    DECIDED = "decided"
    RULE = "rule"
    FAILED = "failed"
    FOUND = "found"
    OPEN = "open"


class Finding(NamedTuple):
    """A sentence with its sort, and where in the text it stands, in characters."""

    sort: Sort
    text: str
    start: int
    end: int


SHORTEST: Final = 20
LONGEST: Final = 400
"""Characters of a sentence that is kept: less says nothing alone, more is a paste."""
WORDS: Final = 4
"""Fewest words of a sentence, stop words not counted."""

_LEAD: Final = (
    r"(?:(?:and|so|ok|okay|also|then|now|please|but|и|так|итак|ок|да|теперь|пожалуйста|но|ещё|еще)[,:]?\s+){0,3}"
)


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_DECIDED: Final = _words(
    r"\b(?:we|i|they|the team|team)(?:'ve| have| had)?\s+(?:all\s+|finally\s+|just\s+)?"
    r"(?:decided|agreed|settled on|committed to)\b",
    r"\b(?:it was|it's been|has been|was) decided\b",
    r"^(?:final |the )?decision(?: is)?\s*[:—–-]",
    rf"^{_LEAD}decided\s*[:—–-]",
    rf"^{_LEAD}let's (?:go with|use|stick (?:with|to)|switch to)\b",
    r"\bwe(?:'ll| will|'re going to| are going to) (?:go with|use|stick (?:with|to)|switch to|move to)\b",
    r"\bwe(?:'re| are) (?:going with|switching to|moving to|dropping)\b",
    r"\b(?:решили|договорились|условились|постановили|остановились на)(?![а-яё])",
    r"^(?:итоговое |принято )?решение\s*[:—–-]",
    rf"^{_LEAD}(?:мы )?(?:выбрали|выбираем|переходим на|бер[её]м|оста[её]мся на|отказ(?:ались|ываемся) от)(?![а-яё])",
    r"(?<![а-яё])будем (?:использовать|хранить|писать|делать через|держать)(?![а-яё])",
    rf"^{_LEAD}давай(?:те)? (?:возьм[её]м|использовать|оставим|перейд[её]м на|остановимся на)(?![а-яё])",
)
_RULE: Final = _words(
    rf"^{_LEAD}(?:always|never|don't ever|do not ever|from now on|going forward)\b",
    r"\b(?:from now on|going forward)\b",
    r"\b(?:should|must|shall) (?:always|never)\b",
    r"\b(?:we|i) (?:always|never) (?:want|use|run|write|commit|push|deploy|put|keep|merge|name)\b",
    r"\bi(?:'d| would)? (?:strongly |really )?prefer\b",
    rf"^{_LEAD}(?:remember|keep in mind)(?: that\b| to\b|:)",
    rf"^{_LEAD}(?:всегда|никогда|больше не|впредь|отныне|с этого момента|запомни(?:те)?|имей(?:те)? в виду)(?![а-яё])",
    r"(?<![а-яё])(?:с этого момента|впредь|отныне|раз и навсегда)(?![а-яё])",
    r"(?<![а-яё])(?:должн[аоы]?|должен|нужно|надо|следует) (?:всегда|никогда)(?![а-яё])",
    r"(?<![а-яё])(?:я |мы )?(?:предпочита(?:ю|ем)|всегда (?:пиш|запуска|использу|дела)[а-яё]+)(?![а-яё])",
    rf"^{_LEAD}(?:нельзя|запрещено|категорически не)(?![а-яё])",
)
_FAILED: Final = _words(
    r"\b(?:tried|attempted)\b.{3,200}\b(?:fail(?:ed|s)|did(?:n't| not) (?:work|help)|does(?:n't| not) (?:work|help)"
    r"|no luck|broke|crashed|timed out|made it worse|had no effect)\b",
    r"\bdid(?:n't| not) (?:work|help)\b.{0,60}\b(?:because|since|as)\b",
    r"\b(?:approach|attempt|workaround|fix|idea)\b.{0,80}\b(?:failed|did(?:n't| not) work|was a dead end)\b",
    r"(?<![а-яё])(?:пробовал|пробовали|попробовал|попробовали|пытал[а-яё]+|попытк[а-яё]+)(?![а-яё]).{3,200}"
    r"(?:не (?:сработал|помог|получил|вышло|взлет)|упал|сломал|провалил|безуспешн|стало хуже)",
    r"(?<![а-яё])не (?:сработал|помог)[а-яё]*.{0,60}(?:потому|так как|из-за|поскольку)",
)
_FOUND: Final = _words(
    r"\broot cause\b.{0,40}\b(?:is|was|:)",
    r"^(?:the )?root cause\s*[:—–-]",
    r"\bthe (?:real |actual |underlying )?(?:problem|issue|bug|culprit|cause|reason)\b.{0,60}"
    r"\b(?:was|is|turned out to be)\b.{0,20}\b(?:that|because|in|a|an|the)\b",
    r"\b(?:it )?turn(?:s|ed) out (?:that\b|to be\b|the\b)",
    r"\b(?:was|is|were) caused by\b",
    r"(?<![а-яё])(?:причина|проблема|дело|ошибка|баг)(?: (?:была|был|же|оказалась|сбоя|ошибки|падения))*"
    r"\s*(?:[:—–-]|в том)",
    r"^(?:[а-яё]+ )?(?:оказалось|выяснилось|оказывается)(?![а-яё])|(?<![а-яё])(?:оказалось|выяснилось), что(?![а-яё])",
    r"(?<![а-яё])(?:падал|падает|ломал|ломается|тормозил|сбоил)[а-яё]* из-за(?![а-яё])",
)
_OPEN: Final = _words(
    r"^(?:todo|fixme|to do|next steps?|follow-?up|open questions?|remaining|left to do|still open|not done(?: yet)?)"
    r"\s*[:—–-]",
    r"\b(?:is|are|was|were) (?:still )?(?:left open|not done yet|still open|yet to be done)\b",
    r"\b(?:what(?:'s| is) left|still left|left to do|remains to be done)\b",
    rf"^{_LEAD}we still (?:need|have) to\b",
    r"^(?:осталось|оста[её]тся|на потом|следующий шаг|дальше|открытый вопрос|не сделано|туду)(?![а-яё])\s*[:—–-]?",
    r"(?<![а-яё])(?:осталось|ещё нужно|еще нужно|ещё надо|еще надо) (?:[а-яё]+ть|[а-яё]+ться|[а-яё]+ти)(?![а-яё])",
)
_SORTS: Final = (
    (Sort.FAILED, _FAILED),
    (Sort.FOUND, _FOUND),
    (Sort.DECIDED, _DECIDED),
    (Sort.OPEN, _OPEN),
    (Sort.RULE, _RULE),
)
"""In this order: "tried X and decided against it, for it failed" is a failure, "from now on we use" a rule."""

_DOUBT: Final = _words(
    r"\b(?:if|whether|unless|in case|should|could|would|might|maybe|perhaps|suppose|what if)\b.{0,40}"
    r"\b(?:decide|agree|choose|go with|switch)",
    r"\b(?:have|has|had)(?:n't| not) (?:yet )?(?:decided|agreed|chosen)\b|\bundecided\b|\bnot decided\b",
    r"\b(?:maybe|perhaps|possibly|not sure|i guess|i think maybe|probably)\b",
    r"(?<![а-яё])(?:если|когда|пока не|ещё не|еще не|не) (?:мы )?(?:решили|решим|договорились|выбрали)",
    r"(?<![а-яё])(?:может быть|возможно|наверное|не уверен[а-яё]*|кажется|вроде бы|вдруг)(?![а-яё])",
)
_NARRATED: Final = _words(
    r"\b(?:i(?:'ll| will|'m going to| am going to)|let me|now i)\b",
    r"\bdecided to (?:look|check|read|run|open|search|start|try|see|verify|take a|have a|go (?:through|over))\b",
    r"(?<![а-яё])(?:сейчас|давайте я|дай мне|я (?:посмотрю|проверю|запущу|открою|попробую|прочитаю))(?![а-яё])",
    r"решил[аи]? (?:посмотреть|проверить|запустить|открыть|прочитать|попробовать|начать|поискать)",
)
_COMPLAINT: Final = _words(
    r"^always (?:been|love[ds]?|fun|a|an|the|up|on|had|nice|good|great)\b",
    r"^never (?:\w+ed|done|been|seen|heard|had|known|knew|thought|mind|again|ever)\b",
    r"\b(?:it|this|that|he|she|they|which|one|test|tests|build|server|app|page)\b(?:'s| is| just| still| almost)* "
    r"(?:always|never)\b",
    r"(?<![а-яё])(?:он|она|оно|они|это|тесты?|сборка|сервер)(?: же| вс[её])? (?:всегда|никогда|больше не)(?![а-яё])",
    r"(?<![а-яё])(?:не работает|не открывается|не запускается|падает)(?![а-яё])",
)
_ITEM: Final = re.compile(r"^[\s*•·+-]*(?:\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?[*_#\s]*")
_BOLD: Final = re.compile(r"[*_`]{2,}")
_END: Final = re.compile(r"(?<=[.!?…])[\"»”')\]]*\s+(?=[\"«“'(\[]?[A-ZА-ЯЁ0-9`])")
_LOG: Final = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\b|Traceback|File \""
    r"|at \S+\(|[$#>%] |\+\+\+ |--- |@@ |diff --git|[+-]\s{2,}|\|)|\b\w+Error:|\bException\b"
    r"|^\s*[\w./-]+:\d+:"
)
_CLOSING: Final = {'"': '"', "“": "”", "«": "»"}
_CODE_END: Final = re.compile(r"[{};]\s*$")
_PROSE: Final = 0.6
"""Share of letters and blanks that a sentence has at least; logs, tables and code have fewer."""


def findings(text: str, *, by_person: bool) -> list[Finding]:
    """Return the sentences of a text that say what a session came to, in their order.

    `by_person` tells that a person said it and no agent. `text` has blanks where others' words stood (`echoes`).
    """
    found = []
    for start, end in _sentences(text):
        sentence = text[start:end]
        sort = _sort(_BOLD.sub("", sentence), by_person=by_person)
        if sort is not None:
            found.append(Finding(sort, sentence, start, end))
    return found


def _sort(sentence: str, *, by_person: bool) -> Sort | None:
    if not SHORTEST <= len(sentence) <= LONGEST or sentence.rstrip("\"»”')").endswith("?") or not _is_prose(sentence):
        return None
    sort = next((sort for sort, cues in _SORTS if cues.search(sentence)), None)
    if sort is None or (sort is Sort.RULE and (not by_person or _COMPLAINT.search(sentence))):
        return None
    if _DOUBT.search(sentence) or (_NARRATED.search(sentence) and sort is not Sort.FAILED):
        return None
    return sort if len(query_words(sentence)) >= WORDS else None


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends; a line ends one, and what marks an item of a list is left out."""
    at = 0
    for line in text.splitlines(keepends=True):
        if line.strip() and not _LOG.search(line):
            mark = _ITEM.match(line)
            start = at + (mark.end() if mark else 0)
            for stop in [at + found.start() for found in _END.finditer(line)] + [at + len(line.rstrip())]:
                begin = start + len(text[start:stop]) - len(text[start:stop].lstrip())
                begin += _is_open(text[begin:stop])
                if begin < stop:
                    yield begin, stop
                start = stop
        at += len(line)


def _is_open(sentence: str) -> bool:
    """Tell whether a sentence begins with a quotation mark that only a later one closes."""
    closing = _CLOSING.get(sentence[:1])
    return closing is not None and closing not in sentence[1:]


def _is_prose(sentence: str) -> bool:
    if _CODE_END.search(sentence):
        return False
    plain = sum(letter.isalpha() or letter.isspace() for letter in sentence)
    return plain >= _PROSE * len(sentence)
