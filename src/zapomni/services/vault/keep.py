"""Keeping the index of a mirrored folder: a line comes, changes and goes with the memory that we write a file for.

What people and harnesses write into the folder they list themselves: of their files no line is added, and no line that
they wrote is changed. An index that is not there is made whole.
"""

from __future__ import annotations

from contextlib import suppress
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
from zapomni.services.vault.pages import card_of, read_pages, write_pages
from zapomni.text.index_cut import INDEX, Card, up_to_date
from zapomni.text.index_page import line_of, parse_index, target_key, with_lines_back

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from zapomni.model import Memory
    from zapomni.model.document import Source
    from zapomni.services.context import Context
    from zapomni.settings import IndexSettings

_EVERY: Final = 10**6
_TRIES: Final = 3
"""Times that the index is read anew when somebody else wrote it meanwhile."""


class Kept(Struct, frozen=True, kw_only=True):
    """What keeping an index came to: the pages that were written, and what is to be said of its budget."""

    pages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def keep_index(
    context: Context,
    source: Source,
    settings: IndexSettings,
    *,
    made: Collection[str],
    edited: Collection[str],
    became: Mapping[str, str | None],
) -> Kept:
    """Bring the index of a mirrored folder to what was just written to it.

    Files that were `made` get a line, those that were `edited` a new one where they have one of ours. `became` says of
    files that were moved where they are now: their lines lead there; None is for those that are gone with their lines.
    An index that cannot be read, or changes each time it is to be written, is left and named.
    """
    tree = Tree(source.root)
    try:
        for _ in range(_TRIES):
            before = read_pages(tree)
            after = before
            if made or _listed(before) & {target_key(path) for path in (*edited, *became)}:
                after = _kept(context, source, before, made, edited, became)
            with suppress(Conflict):
                return Kept(
                    pages=write_pages(tree, before, after),
                    warnings=budget_warnings(after.get(INDEX, ""), settings),
                )
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


def _kept(
    context: Context,
    source: Source,
    before: Mapping[str, str],
    made: Collection[str],
    edited: Collection[str],
    became: Mapping[str, str | None],
) -> dict[str, str]:
    rows = context.store.mirrors.agreed(source.id)
    agreed = {path: row.memory_id for path, row in rows.items() if row.memory_id}
    pages = up_to_date(before, [], became=became)
    listed, now = _listed(pages), [became.get(path) or path for path in edited]
    wanted = [*made, *(path for path in now if target_key(path) in listed)] if before else list(agreed)
    ids = {path: agreed[path] for path in wanted if path in agreed}
    found = context.store.get(list(ids.values()), everything_in((source.scope,)))
    memories = {memory.id: memory for memory in found}
    cards = [card_of(path, memories[one]) for path, one in ids.items() if one in memories]
    given_up, back = _decided(context, source, {target_key(path): row.sha256 for path, row in rows.items()})
    former = _former(context, pages, cards, ids) | given_up
    after = up_to_date(pages, cards, former=former)
    ours = {line_of(card.entry) for card in cards}
    return {page: with_lines_back(text, back, ours) for page, text in after.items()}


def _former(context: Context, pages: Mapping[str, str], cards: list[Card], ids: Mapping[str, str]) -> set[str]:
    """Return the lines that we would have written for earlier versions of those memories whose line is another now."""
    standing = {line.text.strip("\ufeff\r\n") for text in pages.values() for line in parse_index(text).entries}
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


def _listed(pages: Mapping[str, str]) -> set[str]:
    return {link for text in pages.values() for line in parse_index(text).lines for link in line.links}
