"""The cut of an index: what must act of its own accord stays on the page that is always loaded, the rest in leaves.

A leaf is a page of its own, one a topic, to which the index leads by one line. It is known by its header, where
`zapomni.index` stands; a harness reads it when a task calls for it. The cut is not by project: a rule that nobody asks
for acts only where it is always in sight (features B-15).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.text.clean import cut
from zapomni.text.frontmatter import frontmatter
from zapomni.text.index_page import (
    DASH,
    LINE_LIMIT,
    Entry,
    line_of,
    parse_index,
    target_key,
    with_entries,
    with_lines,
    without,
)
from zapomni.text.language import is_russian
from zapomni.text.note_header import scalar
from zapomni.text.notes import BOM, OURS, slug

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

INDEX: Final = "MEMORY.md"
"""The page that Claude Code loads at every start (integrations 2.4)."""
FEWEST: Final = 3
"""Notes of one topic that are worth a leaf: the line that leads to it costs as much as one of them."""

_MARK: Final = "index"
_COUNTED: Final = re.compile(r"(?:\d+ notes?|Заметок: \d+)(?:: .*)?")
_TITLES: Final = {
    "project": ("Projects", "Проекты"),
    "reference": ("References", "Ссылки"),
    "": ("Other notes", "Прочее"),
}


class Card(Struct, frozen=True, kw_only=True):
    """One note as the cut sees it: its entry, whether it must always be loaded, and the topic it belongs to else.

    `about` is the topic of those whose own has too few notes.
    """

    entry: Entry
    core: bool
    topic: str = ""
    about: str = ""

    @property
    def key(self) -> str:
        """The file by which entries are known."""
        return target_key(self.entry.target)


def is_leaf(text: str) -> bool:
    """Tell whether a file is a leaf of an index and no note."""
    ours = frontmatter(text.removeprefix(BOM)).values.get(OURS) if OURS in text else None
    return isinstance(ours, dict) and _MARK in ours


def titles_of(text: str) -> dict[str, str]:
    """Return what the notes of a page are called on it, by their files; of several lines of one the first counts."""
    found: dict[str, str] = {}
    for line in parse_index(text).entries:
        if line.entry is not None:
            found.setdefault(target_key(line.entry.target), line.entry.title)
    return found


def homes_by_topic(cards: Sequence[Card], taken: Collection[str]) -> dict[str, str]:
    """Return for each note the page on which it belongs after a cut, by its file.

    `taken` are the files that are there and no leaves: no leaf gets the name of one.
    """
    counts = Counter(card.topic for card in cards if not card.core and card.topic)
    topics = {card.key: card.topic if counts[card.topic] >= FEWEST else card.about for card in cards}
    used = {name.lower() for name in taken}
    pages: dict[str, str] = {}
    for card in cards:
        topic = topics[card.key]
        if not card.core and topic not in pages:
            pages[topic] = _leaf_path(topic, used)
            used.add(pages[topic].lower())
    return {card.key: INDEX if card.core else pages[topics[card.key]] for card in cards}


def distributed(pages: Mapping[str, str], cards: Sequence[Card], homes: Mapping[str, str]) -> dict[str, str]:
    """Return the pages with every note on its page, and on the index a line for each leaf.

    All lines that lead to a note move to its page, byte for byte and in their order. Pages that are new to `pages` are
    made.
    """
    after = {INDEX: "", **pages}
    after |= {page: _new_leaf(page, cards, homes) for page in homes.values() if page not in after}
    lines = [(page, key, words) for page, text in pages.items() for key, words in _entry_lines(text)]
    for page, text in after.items():
        away = {key for key, home in homes.items() if home != page}
        come = [words for stood, key, words in lines if stood != page and homes.get(key) == page]
        after[page] = with_lines(without(text, away), come)
    return _with_cards(after, cards, homes)


def up_to_date(
    pages: Mapping[str, str],
    cards: Sequence[Card],
    *,
    former: Collection[str] = (),
    became: Mapping[str, str | None] | None = None,
) -> dict[str, str]:
    """Return the pages with a line for every note where it stands, and on the index a line for each leaf.

    A note that stands nowhere joins the leaf of its topic where there is one. No line moves, and a note may have lines
    on several pages; `former` and `became` are those of `with_entries`.
    """
    after = {INDEX: "", **pages}
    return _with_cards(after, cards, {card.key: _home(card, after) for card in cards}, former=former, became=became)


def _with_cards(
    pages: Mapping[str, str],
    cards: Sequence[Card],
    homes: Mapping[str, str],
    *,
    former: Collection[str] = (),
    became: Mapping[str, str | None] | None = None,
) -> dict[str, str]:
    """Return the pages with a line for every note where it stands, one that stands nowhere on its page in `homes`."""
    standing = {page: {key for key, _ in _entry_lines(text)} for page, text in pages.items()}
    known = set[str]().union(*standing.values())
    for key in (card.key for card in cards if card.key not in known):
        standing[homes[key]].add(key)
    after = dict[str, str]()
    for page, text in pages.items():
        wanted = [card.entry for card in cards if card.key in standing[page]]
        after[page] = with_entries(text, wanted, former=former, became=became)
    return with_leaves(after)


def _home(card: Card, pages: Collection[str]) -> str:
    """Return the page of a new note: the leaf of its topic, if there is one."""
    if card.core:
        return INDEX
    wished = (_leaf_path(topic, ()) for topic in (card.topic, card.about))
    return next((page for page in wished if page in pages), INDEX)


def with_leaves(pages: Mapping[str, str]) -> dict[str, str]:
    """Return the pages with a line for each leaf on the index, as the leaf is now; one that a person wrote stays."""
    text = pages.get(INDEX, "")
    leaves = {target_key(page): _leaf_entry(page, leaf) for page, leaf in pages.items() if page != INDEX}
    ours = {
        line.words
        for line in parse_index(text).entries
        if line.entry and target_key(line.entry.target) in leaves and _COUNTED.fullmatch(line.entry.hook)
    }
    return {**pages, INDEX: with_entries(text, list(leaves.values()), former=ours)}


def _leaf_entry(page: str, text: str) -> Entry:
    """Return the line that leads to a leaf: how many notes it has, and what they are called as far as it goes."""
    titles = list(titles_of(text).values())
    count = len(titles)
    counted = f"Заметок: {count}" if is_russian(" ".join(titles)) else f"{count} note{'' if count == 1 else 's'}"
    entry = Entry(title=str(frontmatter(text.removeprefix(BOM)).values.get("description") or page), target=page)
    room = LINE_LIMIT - len(line_of(entry)) - len(DASH)
    return Entry(title=entry.title, target=page, hook=cut(f"{counted}: {'; '.join(titles)}", max(room, len(counted))))


def _new_leaf(page: str, cards: Iterable[Card], homes: Mapping[str, str]) -> str:
    """Return an empty leaf; its description is its title, which stands on the index beside the count."""
    mine = [card for card in cards if homes[card.key] == page]
    own = {card.topic for card in mine}
    topic = (own.pop() if len(own) == 1 and len(mine) >= FEWEST else "") or mine[0].about
    titles = _TITLES.get(topic)
    russian = is_russian(" ".join(card.entry.title for card in mine))
    title = titles[russian] if titles else topic[:1].upper() + topic[1:]
    name = page.removesuffix(".md")
    head = ["---", f"name: {scalar(name)}", f"description: {scalar(title)}", "metadata:", "  type: reference"]
    return "\n".join([*head, f"{OURS}:", f"  {_MARK}: leaf", "---", "", ""])


def _leaf_path(topic: str, used: Collection[str]) -> str:
    name = f"index-{slug(topic or 'other', 'notes')}"
    free, number = f"{name}.md", 2
    while free.lower() in used:
        free, number = f"{name}-{number}.md", number + 1
    return free


def _entry_lines(text: str) -> list[tuple[str, str]]:
    """Return the lines that stand for one file each: that file, and the line without what it begins and ends with."""
    entries = ((line.entry, line.words) for line in parse_index(text).entries)
    return [(target_key(entry.target), words) for entry, words in entries if entry is not None]
