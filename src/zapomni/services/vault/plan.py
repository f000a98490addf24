"""Cutting the index of a folder: what it would save, doing it, and taking it back.

How the lines stood before is kept in the store as the detail of a run, before anything is written, and none of their
words: an erased memory must leave none behind. Notes are not touched.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import Struct

from zapomni.errors import NotFound, Refused
from zapomni.files.tree import Tree
from zapomni.files.writing import remove_file
from zapomni.model import Run
from zapomni.services.vault.budget import size_of
from zapomni.services.vault.folder import read_folder
from zapomni.services.vault.pages import cards_of_folder, mark, read_pages, write_pages
from zapomni.text.frontmatter import frontmatter
from zapomni.text.index_cut import INDEX, distributed, homes_by_topic, titles_of, with_leaves
from zapomni.text.index_outline import outline, rebuilt, words_mark
from zapomni.text.index_page import parse_index, target_key, with_lines
from zapomni.text.notes import BOM

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zapomni.model import Actor
    from zapomni.services.context import Context
    from zapomni.services.vault.budget import Size
    from zapomni.services.vault.folder import Folder

CUT: Final = "index cut"
RESTORED: Final = "index restored"
_RUNS: Final = 10_000
"""Latest runs among which the cut of a folder is looked for."""


class Leaf(NamedTuple):
    """One leaf of a plan: its file, its title, how many notes it lists, and its bytes."""

    path: str
    title: str
    notes: int
    bytes: int


class Plan(Struct, frozen=True, kw_only=True):
    """What a cut would make of the index of a folder.

    `before` and `after` are the pages by their paths; `was` and `size` what is always loaded then and now, `core` how
    many notes stay on it.
    """

    root: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    was: Size
    size: Size
    core: int
    leaves: tuple[Leaf, ...]

    @property
    def saved(self) -> int:
        """Bytes that are no longer loaded at every start."""
        return self.was.bytes - self.size.bytes

    @property
    def changed(self) -> tuple[str, ...]:
        """The pages that it would write."""
        return tuple(path for path, text in self.after.items() if self.before.get(path) != text)


class Written(Struct, frozen=True, kw_only=True):
    """What was written to a folder: the pages, and the run that holds what stood there before.

    `kept` are leaves that stay because somebody wrote into them.
    """

    root: str
    run: str
    pages: tuple[str, ...]
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def plan_cut(folder: Folder) -> Plan:
    """Say what a cut would make of the index of a folder; notes that the index does not list yet are listed then.

    Raises `Unavailable` for an index that is there and cannot be read.
    """
    if INDEX not in folder.pages:
        read_pages(Tree(folder.root))  # says why, where there is one
    cards = cards_of_folder(folder)
    homes = homes_by_topic(cards, [note.path for note in folder.notes])
    after = distributed(folder.pages, cards, homes)
    leaves = [
        Leaf(path, _title(after[INDEX], path), len(titles_of(text)), len(text.encode()))
        for path, text in after.items()
        if path != INDEX
    ]
    return Plan(
        root=folder.root,
        before=folder.pages,
        after=after,
        was=size_of(folder.index),
        size=size_of(after[INDEX]),
        core=sum(card.core for card in cards),
        leaves=tuple(leaves),
    )


def apply_cut(context: Context, plan: Plan, *, actor: Actor) -> Written:
    """Write the pages of a plan.

    Raises `Refused` when there is nothing to change, `Conflict` for a page that was changed since the plan.
    """
    if not plan.changed:
        raise Refused(f"the index of {plan.root} is cut so already", remedy="`zapomni index plan` shows how it is cut")
    pages = {path: outline(text) for path, text in plan.before.items()}
    run = _run(context, CUT, actor, {"root": plan.root, "pages": pages, "listed": _entries(plan.after.values())})
    return Written(root=plan.root, run=run, pages=write_pages(Tree(plan.root), plan.before, plan.after))


def restore_cut(context: Context, root: str, *, actor: Actor) -> Written:
    """Put the pages of a folder back to what they were before its latest cut.

    An index that nobody changed since becomes what it was to the byte. Lines that came since are put behind the others.
    A leaf into which somebody wrote something else stays, and is named. Raises `NotFound` without a cut.
    """
    cut = _latest(context, root)
    outlines, listed = cut["pages"], set(cut.get("listed", ()))
    tree = Tree(root)
    pages = {**read_pages(tree), **read_folder(root).leaves}  # of leaves to which no line leads any more too
    after = rebuilt(outlines, pages.values())
    for path, come in _since(pages, after, listed).items():
        after[path] = with_lines(after.get(path, ""), come)
    if INDEX in after:
        led_to = {INDEX, *(link for line in parse_index(after[INDEX]).lines for link in line.links)}
        after |= with_leaves({path: text for path, text in after.items() if target_key(path) in led_to})
    run = _run(context, RESTORED, actor, {"root": root})
    written = write_pages(tree, pages, after)
    made = [path for path in pages if path not in after]
    removed = tuple(path for path in made if _is_ours(pages[path]))
    for path in removed:
        remove_file(tree, path, was=mark(pages[path]))
    return Written(
        root=root, run=run, pages=written, removed=removed, kept=tuple(path for path in made if path not in removed)
    )


def _run(context: Context, verb: str, actor: Actor, detail: Mapping[str, Any]) -> str:
    run = Run(id=context.new_id(), verb=verb, actor=actor.name, started_at=context.clock())
    with context.store.write() as tx:
        tx.start_run(run)
        tx.finish_run(run.id, context.clock(), detail)
    return run.id


def _latest(context: Context, root: str) -> Mapping[str, Any]:
    for run in context.store.runs(_RUNS):
        if run.verb in {CUT, RESTORED} and run.detail.get("root") == root:
            if run.verb == CUT:
                return run.detail
            break
    raise NotFound(f"the index of {root} was not cut here", remedy="`zapomni index plan` proposes a cut")


def _entries(pages: Iterable[str]) -> list[str]:
    """Return the hashes of all entries of some pages."""
    return sorted({words_mark(line) for text in pages for line in parse_index(text).entries})


def _since(pages: Mapping[str, str], after: Mapping[str, str], listed: set[str]) -> dict[str, list[str]]:
    """Return the lines that were neither on the pages before the cut nor put there by it, by the page they go to.

    Entries go to the index, other lines stay on their page; a leaf that the cut made is left with those.
    """
    known = listed | {words_mark(line) for text in after.values() for line in parse_index(text).lines}
    found: dict[str, list[str]] = {}
    for path, text in pages.items():
        for line in parse_index(text).lines:
            home = INDEX if line.entry else path
            made = line.entry is not None and (leaf := target_key(line.entry.target)) in pages and leaf not in after
            if words_mark(line) not in known and line.text.strip() and not made and home in {INDEX, *after}:
                found.setdefault(home, []).append(line.words)
    return found


def _is_ours(text: str) -> bool:
    """Tell whether a page holds entries alone behind its header."""
    bare = text.removeprefix(BOM)
    lines = parse_index(bare[frontmatter(bare).start :]).lines
    return all(line.entry or not line.text.strip() for line in lines)


def _title(index: str, path: str) -> str:
    with suppress(StopIteration):
        return next(line.entry.title for line in parse_index(index).entries if line.entry and line.entry.target == path)
    return path
