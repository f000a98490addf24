"""Keeping the index of a mirrored folder: a line comes and changes with the memory that we write a file for.

What people and harnesses write into the folder they list themselves: of their files no line is added, and of a line
that they wrote nothing changes but where it leads to when its file moves; it goes when its file does. An index that is
not there is made whole.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.errors import Conflict, Unavailable
from zapomni.files.tree import Tree
from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.record import from_record
from zapomni.services.find import everything_in
from zapomni.services.mirror.says import folder_of, name_of
from zapomni.services.review.inbox import STOOD
from zapomni.services.vault.budget import budget_warnings
from zapomni.services.vault.pages import card_of, mark, read_pages, write_pages
from zapomni.text.index_cut import INDEX, Card, up_to_date
from zapomni.text.index_page import line_of, parse_index, target_key, with_lines_back
from zapomni.text.index_removed import lines_of, with_lines_of
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from zapomni.model import Memory
    from zapomni.model.document import Source
    from zapomni.model.mirror import KeptLine, Moves
    from zapomni.services.context import Context
    from zapomni.settings import IndexSettings

_EVERY: Final = 10**6
_TRIES: Final = 3
"""Times that the index is read anew when somebody else wrote it meanwhile."""


class Kept(Struct, frozen=True, kw_only=True):
    """What keeping an index came to: the pages that were written, and what is to be said of its budget."""

    pages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Changes(Struct, frozen=True, kw_only=True):
    """What just happened to a mirrored folder, each file by its path.

    `owed` says step by step where files went since the index was kept last. `made` and `edited` were written by us.
    """

    owed: Mapping[int, Moves]
    made: Collection[str] = ()
    edited: Collection[str] = ()


def keep_index(context: Context, source: Source, settings: IndexSettings, written: Changes) -> Kept:
    """Bring the index of a mirrored folder to what just happened to it.

    Files that were made get a line, or those back with which their memory went; those that were edited get a new one
    where they have one of ours. Lines of moved files lead to where they are now, those of files that are gone go and
    are kept in the store. An index that cannot be read, or changes each time it is to be written, is left and named.
    """
    tree, mirrors = Tree(source.root), context.store.mirrors
    went = mirrors.kept_lines(source.id) if any(moves.gone for moves in written.owed.values()) else {}
    try:
        for _ in range(_TRIES):
            before = read_pages(tree)
            after = _caught_up(context, source, before, written, went)
            back = mirrors.returning_lines(source.id) if written.made or before else {}
            if written.made or back or _leads(after, written.edited):
                after = _kept(context, source, after, written, back)
            _intend(context, source, written, before, after)
            with suppress(Conflict), _settled(context, source, written, back):
                pages = write_pages(tree, before, after)
                return Kept(pages=pages, warnings=budget_warnings(after.get(INDEX, ""), settings))
    except Unavailable as error:
        return Kept(warnings=(f"the index was not brought up to date: {error.message}",))
    return Kept(warnings=("the index was not brought up to date: somebody else is writing it",))


def index_warnings(context: Context, source: Source, memory: Memory, settings: IndexSettings) -> tuple[str, ...]:
    """Say what of a mirrored folder's index is over its budget, or nearly so, once it has a line for this memory."""
    ids = {row.memory_id: path for path, row in context.store.mirrors.agreed(source.id).items() if row.tied}
    path = ids.get(memory.id) or f"{folder_of(memory.path)}/{name_of(memory)}.md".lstrip("/")
    try:
        pages = read_pages(Tree(source.root))
    except Unavailable as error:
        return (f"{source.root}: {error.message}",)
    cards = [card_of(path, memory)]
    after = up_to_date(pages, cards)
    return tuple(f"{source.root}/{INDEX}: {warning}" for warning in budget_warnings(after[INDEX], settings))


def _caught_up(
    context: Context,
    source: Source,
    before: dict[str, str],
    written: Changes,
    went: dict[str, tuple[KeptLine, ...]],
) -> dict[str, str]:
    """Return the pages with all that is owed; what a killed scan has written into a page is not done to it again."""
    intended = context.store.mirrors.intended(source.id) if written.owed else {}
    says = {page: step for page, (step, sign) in intended.items() if page in before and mark(before[page]) == sign}
    after = before
    for step, moves in written.owed.items():
        ready = {page: text for page, text in after.items() if says.get(page, 0) >= step}
        others = {page: text for page, text in after.items() if page not in ready}
        after = {**_followed(context, source, others, moves, went), **ready}
    return after


def _intend(
    context: Context, source: Source, written: Changes, before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    """Keep by which hash the pages are known that are about to say what is owed."""
    marks = {page: mark(text) for page, text in after.items() if before.get(page) != text}
    if written.owed and marks:
        with context.store.write() as tx:
            tx.mirrors.intend(source.id, max(written.owed), marks)


def _followed(
    context: Context,
    source: Source,
    pages: dict[str, str],
    moves: Moves,
    went: dict[str, tuple[KeptLine, ...]],
) -> dict[str, str]:
    """Return the pages with lines that lead to where files are now, and none to those that are gone."""
    if not _leads(pages, (*moves.moved, *moves.gone)):
        return pages
    staying = _keep_lines(context, source, pages, moves.gone, went)
    became = {**moves.moved, **dict.fromkeys(moves.gone)}
    return up_to_date(pages, [], became={path: new for path, new in became.items() if path not in staying})


def _kept(
    context: Context,
    source: Source,
    before: Mapping[str, str],
    written: Changes,
    returning: Mapping[str, Sequence[KeptLine]],
) -> dict[str, str]:
    rows = context.store.mirrors.agreed(source.id)
    agreed = {path: row.memory_id for path, row in rows.items() if row.tied and row.memory_id}
    pages = dict(before)
    kept = context.store.mirrors.kept_lines(source.id) if returning else {}
    away = [line for lines in kept.values() for line in lines]
    for path, lines in returning.items():
        pages = with_lines_of(pages, lines, path, away)
    listed = _listed(pages)
    wanted = [*written.made, *(one for one in written.edited if target_key(one) in listed)] if before else list(agreed)
    ids = {path: agreed[path] for path in wanted if path in agreed}
    found = context.store.get(list(ids.values()), everything_in((source.scope,)))
    memories = {memory.id: memory for memory in found}
    cards = [card_of(path, memories[one]) for path, one in ids.items() if one in memories]
    given_up, back = _decided(context, source, {target_key(path): row.sha256 for path, row in rows.items()})
    former = _former(context, pages, cards, ids) | given_up
    after = up_to_date(pages, cards, former=former)
    ours, standing = {line_of(card.entry) for card in cards}, _words(after)
    lacking = {key: line for key, line in back.items() if line not in standing}
    return {page: with_lines_back(text, lacking, ours) for page, text in after.items()}


def _keep_lines(
    context: Context,
    source: Source,
    pages: Mapping[str, str],
    gone: Mapping[str, str],
    went: dict[str, tuple[KeptLine, ...]],
) -> set[str]:
    """Keep the lines that go with their memories, and return the files whose lines stay: they hold a secret.

    `went` has those of earlier tries and of a scan that was killed, of which some may be gone from the pages. Of an
    erased memory nothing is kept.
    """
    staying = set[str]()
    if not gone:
        return staying
    found = lines_of(pages, gone, [line for lines in went.values() for line in lines])
    with context.store.write() as tx:
        for path, memory_id in gone.items():
            lines = found[path]
            if tx.get(memory_id) is None:
                continue
            if any(redact(line.text)[1] for line in lines):
                staying.add(path)
                continue
            known = went.get(memory_id, ())
            texts = {line.text for line in known}
            went[memory_id] = (*known, *(line for line in lines if line.text not in texts))
            tx.mirrors.keep_lines(source.id, memory_id, went[memory_id])
    return staying


@contextmanager
def _settled(context: Context, source: Source, written: Changes, back: Collection[str]) -> Iterator[None]:
    """Forget what the index says once it is written: where files went, and the lines that are back with their memories.

    All but the commit is done before that, so that a store that is busy then has nothing said twice.
    """
    rows = context.store.mirrors.agreed(source.id) if back else {}
    if not (back or written.owed):
        yield
        return
    with context.store.write() as tx:
        tx.mirrors.pay(source.id, max(written.owed, default=0))
        for path in back:
            tx.mirrors.keep_lines(source.id, rows[path].memory_id or "", ())
        yield


def _former(context: Context, pages: Mapping[str, str], cards: list[Card], ids: Mapping[str, str]) -> set[str]:
    """Return the lines that we would have written for earlier versions of those memories whose line is another now."""
    standing = _words(pages)
    found: set[str] = set()
    for card in cards:
        path = card.entry.target
        if line_of(card.entry) not in standing:
            for revision in context.store.history(ids[path]):
                for record in (revision.before, revision.after):
                    if record is not None:
                        found.add(line_of(card_of(path, from_record(record)).entry))
    return found & standing


def _decided(context: Context, source: Source, marks: Mapping[str, str]) -> tuple[set[str], dict[str, str]]:
    """Return the lines of people that a person agreed to have shortened, and those that stand no more without a reason.

    The latter by their files, which say again, to the byte, what they said beside that line: what was agreed to was
    taken back.
    """
    kinds, states = [ProposalKind.SHORTEN, ProposalKind.MERGE], list(ProposalState)
    given_up, back = set[str](), dict[str, str]()
    for one in context.store.proposals.listed([source.scope], states=states, kinds=kinds, limit=_EVERY):
        if one.kind is ProposalKind.SHORTEN and one.state is ProposalState.ACCEPTED:
            given_up.add(str(one.detail.get("line")))
        for told in one.detail.get(STOOD, ()):
            entry = parse_index(told["line"]).entries[0].entry
            if entry is not None and marks.get(target_key(entry.target)) == told["sha256"]:
                back[target_key(entry.target)] = told["line"]
    return given_up - set(back.values()), back


def _words(pages: Mapping[str, str]) -> set[str]:
    return {line.words for text in pages.values() for line in parse_index(text).entries}


def _leads(pages: Mapping[str, str], paths: Collection[str]) -> bool:
    """Tell whether any line leads to any of these files."""
    return bool(paths) and not _listed(pages).isdisjoint(map(target_key, paths))


def _listed(pages: Mapping[str, str]) -> set[str]:
    return {link for text in pages.values() for line in parse_index(text).lines for link in line.links}
