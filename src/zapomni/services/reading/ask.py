"""Answering a question in words: a model reads what the memory holds on it and names what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from zapomni.errors import InvalidInput, ModelError, Unavailable
from zapomni.llm.base import Usage
from zapomni.llm.estimate import estimate_usage
from zapomni.model import Mode
from zapomni.search.selection import Selection, known_names, select
from zapomni.services.embedding import Asked as Embedded
from zapomni.services.questions import checked_question, mode_of, unasked
from zapomni.services.reading.ask_prompt import CHOSEN, answer_task, choice_task, headed, kind_of, quoted
from zapomni.services.recall import recall
from zapomni.text.asked import read_asked
from zapomni.text.citations import check_citations
from zapomni.text.clean import is_blank
from zapomni.text.language import is_russian
from zapomni.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from zapomni.errors import ZapomniError
    from zapomni.llm.base import Llm, Task
    from zapomni.model import Filter, Memory, Query, Recollection
    from zapomni.services.context import Context
    from zapomni.services.embedding import Embedding

NOT_HELD: Final = "The memory does not hold the answer."
NOT_HELD_RUSSIAN: Final = "В памяти нет ответа на этот вопрос."
ANSWER_TOKENS: Final = 400
"""What an answer is taken to have where its price is told beforehand: ten sentences."""


class Supply(Struct, frozen=True, kw_only=True):
    """What a model would read for a question: of `total` memories these, with the task that holds them.

    `usage` is an estimate. There is no task where there is nothing to be read. `narrowed` is the filter of the
    dates and names that the question speaks of.
    """

    question: str
    memories: tuple[Memory, ...] = ()
    total: int = 0
    narrowed: Filter | None = None
    task: Task | None = None
    usage: Usage = field(default_factory=Usage)

    @property
    def left_out(self) -> int:
        """How many memories could be seen and would not be read."""
        return self.total - len(self.memories)


class Answer(Struct, frozen=True, kw_only=True):
    """What a question came to.

    `found` is true where the text rests on `cited`, the memories that its citations name: all of them were read.
    A text of the model's always cites; one without a valid source is replaced by ours, that memory does not hold it.
    `unknown` are ids that the model named and had not been given; `unsupported` is what it said without a valid
    source, which is then not the text. `supply` is what there was to be read, `read` counts what was read of it:
    with `choose` whole memories. `problem` says why no model answered; `instead` is then what recall finds.
    """

    text: str = ""
    found: bool = False
    cited: tuple[Memory, ...] = ()
    unknown: tuple[str, ...] = ()
    unsupported: str = ""
    supply: Supply
    read: int = 0
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    problem: ZapomniError | None = None
    instead: Recollection | None = None


def ask(
    context: Context,
    embedding: Embedding[Memory],
    llm: Llm | None,
    query: Query,
    *,
    zone: tzinfo,
    choose: bool = False,
    tell: Callable[[Supply], None] | None = None,
) -> Answer:
    """Answer a question from what `query.where` shows, reading at most `query.budget` tokens of it.

    With `choose` the model first sees titles and descriptions alone and picks at most `CHOSEN` memories. Where no
    model is set or it gives no answer, that is told as `problem`, and recall answers with `query.limit` hits.
    `tell` is given what there is to be read, before anybody is asked. Nothing is asked of a model where there is
    nothing to read. Raises `InvalidInput` for a blank or too long question, and for a budget that has no room for any
    memory.
    """
    supply = supplied(context, embedding, query, zone=zone, choose=choose)
    if tell is not None:
        tell(supply)
    if llm is None:
        problem = Unavailable(
            "no language model is set (llm.model), so nobody answers in words",
            remedy="Set llm.model, for example to ollama:qwen3:4b; `recall` works without one",
        )
        return _instead(context, embedding, query, supply, problem)
    if supply.task is None:
        return Answer(text=_not_held(supply.question), supply=supply, model=llm.label)
    try:
        return _answered(context, llm, query, supply, zone, choose=choose)
    except ModelError as error:
        return _instead(context, embedding, query, supply, error)


def supplied(
    context: Context, embedding: Embedding[Memory], query: Query, *, zone: tzinfo, choose: bool = False
) -> Supply:
    """Return what a model would read for a question, and ask none; raises what `ask` raises."""
    question = checked_question(query.text, query.limit)
    if reason := unasked(question):
        raise InvalidInput("query", reason)
    if query.budget is None or query.budget < 1:
        raise InvalidInput("budget", f"{query.budget} is not a number of tokens from 1 up")
    embedded = Embedded() if query.mode is Mode.LEXICAL else embedding.ask(question)
    mode = mode_of(query.mode, embedded, strict=query.strict)
    asked = read_asked(question, known_names(context.store, question, query.where), context.clock(), zone)
    picked = select(
        context.store,
        replace(query, text=question, mode=mode),
        asked,
        space=embedded.space,
        vector=embedded.vector,
        budget=query.budget,
        cost=lambda memory: estimate_tokens(headed(memory, zone) if choose else quoted(memory, zone)),
    )
    if picked.total and not picked.memories:
        raise InvalidInput("budget", f"{query.budget} tokens have no room for any memory", remedy="Give more")
    return _supply(context, question, picked, zone, choose=choose)


def _supply(context: Context, question: str, picked: Selection, zone: tzinfo, *, choose: bool) -> Supply:
    supply = Supply(question=question, memories=picked.memories, total=picked.total, narrowed=picked.narrowed)
    if not picked.memories:
        return supply
    task = (choice_task if choose else answer_task)(question, picked.memories, context.clock(), zone)
    read = estimate_usage(task, None, "").tokens_in
    return replace(supply, task=task, usage=Usage(tokens_in=read, tokens_out=ANSWER_TOKENS))


def _answered(context: Context, llm: Llm, query: Query, supply: Supply, zone: tzinfo, *, choose: bool) -> Answer:
    """Ask the model, once or with `choose` twice, and hold its answer against what it read."""
    assert supply.task is not None
    read, task, spent = supply.memories, supply.task, Usage()
    if choose:
        choice = llm.ask(task)
        read, spent = _whole(choice.value["ids"], query, supply, zone), choice.usage
        task = answer_task(supply.question, read, context.clock(), zone)
    unanswered = Answer(text=_not_held(supply.question), supply=supply, read=len(read), model=llm.label, usage=spent)
    if not read:
        return unanswered
    reply = llm.ask(task)
    says, found = reply.value["answer"], reply.value["found"]
    text, ids, unknown = check_citations(says, {memory.id: kind_of(memory) for memory in read})
    answer = replace(unanswered, unknown=unknown, usage=spent + reply.usage)
    if not ids or is_blank(text):  # "found": false is no licence: small models say anything under it
        return replace(answer, unsupported=says)
    context.touches.add(ids, context.clock())
    known = {memory.id: memory for memory in read}
    return replace(answer, text=text, found=found, cited=tuple(known[one] for one in ids))


def _whole(ids: Sequence[str], query: Query, supply: Supply, zone: tzinfo) -> tuple[Memory, ...]:
    """Return the memories that were picked, as many as the budget has room for; unknown ids are passed over."""
    known = {memory.id: memory for memory in supply.memories}
    room, kept = query.budget or 0, []
    for memory in [known[one] for one in dict.fromkeys(ids) if one in known][:CHOSEN]:
        price = estimate_tokens(quoted(memory, zone))
        if price <= room:
            kept.append(memory)
            room -= price
    return tuple(kept)


def _instead(
    context: Context, embedding: Embedding[Memory], query: Query, supply: Supply, problem: ZapomniError
) -> Answer:
    return Answer(supply=supply, problem=problem, instead=recall(context, embedding, replace(query, budget=None)))


def _not_held(question: str) -> str:
    return NOT_HELD_RUSSIAN if is_russian(question) else NOT_HELD
