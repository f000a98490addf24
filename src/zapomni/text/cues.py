"""Cues: sentences that say what was decided, ruled, tried in vain, found or left open, in Russian and English.

Rules without a model. They are meant to miss rather than to take in: a sentence must be a statement that makes sense
alone, and the talk of an agent about its next step is none. Rules of conduct are taken from people alone, for in the
words of an agent "always" and "never" mostly describe code. People may rule and decide in few words, in either language
alike: what counts are the words beside the cue.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.text.stopwords import STOP_WORDS
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


LONGEST: Final = 400
"""Most characters of a sentence that is kept: more is a paste."""
SHORTEST: Final = 20
WORDS: Final = 4
"""Fewest characters and words of a sentence, stop words not counted: less says nothing alone."""
TELLING: Final = 2
"""Fewest words of what a person rules, decides or leaves open, neither stop words nor words of a cue (`_FILLER`)."""

_LEAD: Final = (
    r"(?:(?:and|so|ok|okay|also|then|now|please|but|и|так|итак|ок|да|теперь|пожалуйста|но|ещё|еще)[,:]?\s+){0,3}"
)


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_ACTS: Final = (
    r"use|push|commit|deploy|release|merge|rebase|write|add|put|touch|change|edit|modify|remove|delete|rename|move|create"
    r"|install|import|log|store|mock|hardcode|hard-code|call|run(?! away)|ship"
    r"|generate|format|mix|expose|bump|upgrade|downgrade"
)
_ACTS_RU: Final = (
    r"(?:(?:использу|пуша|выкатыва|добавля|трога|меня|изменя|удаля|переименовыва|создава|созда|устанавлива|импортиру|логиру"
    r"|вызыва|запуска|дела|обновля|ката|применя|лома|смешива|публику|отправля|подключа|называ|генериру|форматиру"
    r"|комментиру|депло)й|мерж[ьи]|пиши|клади|ставь|храни|хардкодь|коммить|пушь|бери(?! в голову)|переноси)(?:те)?"
)
"""What is forbidden in the imperative; of other things that one should not do ("don't worry") nothing is learned."""
_HERE: Final = (
    r"(?!.*(?<!\w)(?:yet|now|today|this|that|these|those|here|it|them|me|anything|пока|сейчас|сегодня|тут|здесь|это[тмй]?|эту"
    r"|эти|его|её|ее|их|мне|меня|ничего)(?!\w))"
)
"""What makes a prohibition one of the moment, or one that says nothing alone."""

_DECIDED: Final = _words(
    r"\b(?:we|i|they|the team|team)(?:'ve| have| had)?\s+(?:all\s+|finally\s+|just\s+)?"
    r"(?:decided|agreed|settled on|committed to)\b",
    r"\b(?:it was|it's been|has been|was) decided\b",
    r"^(?:final |the )?decision(?: is)?\s*[:—–-]",
    rf"^{_LEAD}decided\s*[:—–-]",
    rf"^{_LEAD}let's (?:go with|use|stick (?:with|to)|switch to)\b",
    r"\bwe(?:'ll| will|'re going to| are going to) (?:go with|use|stick (?:with|to)|switch to|move to)\b",
    r"\bwe(?:'re| are) (?:going with|switching to|moving to|dropping)\b",
    r"\b(?:решили|договорились|условились|постановили|остановились на)(?![а-яё])"
    r"(?! (?:проблем|вопрос|задач)|,(?! что))",
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
    rf"^{_LEAD}(?:don't|do not) (?:{_ACTS})\b{_HERE}",
    rf"^{_LEAD}avoid\b(?!.*:){_HERE}",  # with a colon it is a heading of pasted advice
    rf"^{_LEAD}prefer\b.{{2,120}}\b(?:over|to|instead of|rather than)\b{_HERE}",
    rf"^{_LEAD}не {_ACTS_RU}(?![а-яё]){_HERE}",
    rf"^{_LEAD}лучше (?:[a-z][\w.+#-]*|(?:использовать|писать|хранить|брать) .{{2,80}}), чем(?![а-яё])",
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
    r"^(?:на потом|следующий шаг|дальше)\s*[:—–-]",
    r"^(?:осталось|оста[её]тся|открытый вопрос|не сделано|туду)(?![а-яё])"
    r"(?!\s(?:\S+\s)?(?:секунд|минут|час|дн|день|недел|месяц|процент|ждать|подождать|немного|чуть|непонятно|неясно))",
    r"(?<![а-яё])(?:осталось|ещё нужно|еще нужно|ещё надо|еще надо) (?!пять|шесть|чуть)"
    r"(?:[а-яё]+ть|[а-яё]+ться|[а-яё]+ти)(?![а-яё])",
)
_SORTS: Final = (
    (Sort.FAILED, _FAILED),
    (Sort.FOUND, _FOUND),
    (Sort.DECIDED, _DECIDED),
    (Sort.OPEN, _OPEN),
    (Sort.RULE, _RULE),
)
"""In this order: "tried X and decided against it, for it failed" is a failure, "from now on we use" a rule."""
_BRIEF: Final = frozenset({Sort.DECIDED, Sort.RULE, Sort.OPEN})
"""What people say in few words."""
_CHOSEN: Final = _words(
    r"\b(?:decided|agreed|settled) on\b",
    r"(?<![а-яё])(?:решили|решение|договорились)\s*[:—–-]\s*`?[a-z]",
    r"(?<![а-яё])(?:договорились|условились|остановились) на `?[a-z]",
)
"""After these one word says all: "we decided on Redis"."""
_FILLERS: Final = """
never always ever decided agreed settled decision final finally all team let lets from now going forward remember keep
mind please ok okay todo fixme next steps step still left remaining done up open not one ones both thing things
something anything everything way approach plan idea suggestion first second third option yes no
решили договорились условились постановили остановились решение итоговое принято никогда всегда нельзя запрещено
впредь отныне момента запомни запомните имей имейте виду больше раз навсегда категорически осталось остается потом
следующий шаг дальше открытый вопрос сделано туду давай давайте итак окей еще пожалуйста нужно вариант подход план
первый второй третий ничего все
"""
_FILLER: Final = frozenset(_FILLERS.split())
"""Words of cues, and words that name nothing: "let's go with the first one"."""

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
    r"\b(?:decided|agreed) to (?:look|check|read|run|open|search|start|try|see|verify|wait|think|go on|move on"
    r"|continue|meet|take a|have a|go (?:through|over))\b",
    r"(?<![а-яё])(?:сейчас|давайте я|дай мне|я (?:посмотрю|проверю|запущу|открою|попробую|прочитаю))(?![а-яё])",
    r"(?:решил[аи]?|договорились) (?:посмотреть|проверить|запустить|открыть|прочитать|попробовать|начать|поискать"
    r"|подумать|подождать|пойти|продолжить|вернуться|встретиться|созвониться)",
)
_COMPLAINT: Final = _words(
    rf"^{_LEAD}always (?:been|love[ds]?|fun|a|an|the|up|on|had|nice|good|great|here|there|so|happy|glad|ready|down"
    r"|(?!bring )\w+ing|(?!(?:need|embed|feed|seed) )\w+ed|\w+[^su]s)\b",
    rf"^{_LEAD}never (?:\w+ed|done|been|seen|heard|had|known|knew|thought|mind|again|ever|too|a|an|the|in|give|stop|saw"
    r"|\w+[^su]s)\b",
    rf"^{_LEAD}(?:никогда|больше) (?:ещё |еще |так |такого |раньше )*не (?!шли )"
    r"[а-яё]+(?:л[аои]?|лся|л[аои]сь|[юу](?:сь)?|[еиуюая]т(?:ся)?)(?![а-яё])",
    rf"^{_LEAD}никогда (?:бы|не поздно|не говори)(?![а-яё])",
    rf"^{_LEAD}всегда (?:рад[аы]?|готов[аы]?|так|приятно|пожалуйста|интересно"
    r"|(?!шли |дели )[а-яё]+(?:л[аои]?|лся|л[аои]сь))(?![а-яё])",
    rf"^{_LEAD}нельзя (?:сказать|назвать|понять|увидеть|ли)(?![а-яё])",
    r"\b(?:it|this|that|he|she|they|which|one|test|tests|build|server|app|page)\b(?:'s| is| just| still| almost)* "
    r"(?:always|never)\b",
    r"(?<![а-яё])(?:он|она|оно|они|это|тесты?|сборка|сервер)(?: же| вс[её])? (?:всегда|никогда|больше не)(?![а-яё])",
    r"(?<![а-яё])(?:не работает|не открывается|не запускается|падает)(?![а-яё])",
)
_LABEL: Final = _words(
    r"^(?:(?:final |the )?decision(?: is)?|decided|(?:итоговое |принято )?решение|решили|договорились|постановили)"
    r"\s*[:—–-]\s*",
    r"^(?:todo|fixme|to do|left to do|remaining|still open|not done(?: yet)?|осталось|не сделано|туду)\s*[:—–-]\s*",
    r"^(?:remember|keep in mind|запомни(?:те)?)\s*:\s*",
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
        sort = _sort(_BOLD.sub("", sentence).replace("’", "'"), by_person=by_person)
        if sort is not None:
            found.append(Finding(sort, sentence, start, end))
    return found


def unlabelled(text: str) -> str:
    """Return a finding without the label that only says its sort: "Decision: ", "Решили: ", "TODO: "."""
    return _LABEL.sub("", text, count=1) or text


def _sort(sentence: str, *, by_person: bool) -> Sort | None:
    if len(sentence) > LONGEST or sentence.rstrip("\"»”')").endswith("?") or not _is_prose(sentence):
        return None
    sort = next((sort for sort, cues in _SORTS if cues.search(sentence)), None)
    if sort is None or (sort is Sort.RULE and (not by_person or _COMPLAINT.search(sentence))):
        return None
    if _DOUBT.search(sentence) or (_NARRATED.search(sentence) and sort is not Sort.FAILED):
        return None
    is_told = _is_telling(sentence) if by_person and sort in _BRIEF else _is_long(sentence)
    return sort if is_told else None


def _is_long(sentence: str) -> bool:
    return len(sentence) >= SHORTEST and len(query_words(sentence)) >= WORDS


def _is_telling(sentence: str) -> bool:
    """Tell whether a sentence says something beside its cue; parts of `PostgreSQL` are no words of their own."""
    words = {word.exact or word.stem for word in query_words(sentence) if word.whole is None}
    fewest = 1 if _CHOSEN.search(sentence) else TELLING
    return len(words - STOP_WORDS - _FILLER) >= fewest


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
