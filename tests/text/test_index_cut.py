"""The cut of an index: rules stay in sight, everything else goes to a leaf, and no line is lost or changed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.index_cut import INDEX, Card, distributed, homes_by_topic, is_leaf, up_to_date
from zapomni.text.index_outline import outline, rebuilt
from zapomni.text.index_page import Entry, entry_of, parse_index, target_key, with_entries, with_lines
from zapomni.text.index_removed import lines_of, with_lines_of

CARDS = st.lists(
    st.builds(
        Card,
        entry=st.builds(
            entry_of,
            st.text(max_size=30),
            st.sampled_from([f"{name}{no}.md" for name in ("rule", "заметка", "with space ") for no in range(12)]),
            st.text(max_size=200),
        ),
        core=st.booleans(),
        topic=st.sampled_from(["", "deploy", "Деплой", "a/b", "project"]),
        about=st.sampled_from(["", "project", "reference"]),
    ),
    max_size=16,
    unique_by=lambda card: card.key,
)
PAGES = st.sampled_from(["", "# Память\r\n\r\n", "# Index\n- [Guide](../guide.md) — by hand\n\nThe end", "\ufeff"])


def card(name: str, *, core: bool = False, topic: str = "", about: str = "project") -> Card:
    return Card(entry=Entry(title=name, target=f"{name}.md", hook=f"why {name}"), core=core, topic=topic, about=about)


def keys(text):
    return [target_key(line.entry.target) for line in parse_index(text).entries]


@pytest.mark.promise("index.cut")
def test_rules_stay_and_topics_with_enough_notes_get_a_leaf_each():
    cards = [card("rule", core=True), *(card(f"ship{no}", topic="deploy") for no in range(3)), card("odd", topic="x")]
    page = with_entries("# Index\n", [one.entry for one in cards])
    pages = distributed({INDEX: page}, cards, homes_by_topic(cards, ()))
    assert pages[INDEX] == (
        "# Index\n- [rule](rule.md) — why rule\n"
        "- [Deploy](index-deploy.md) — 3 notes: ship0; ship1; ship2\n"
        "- [Projects](index-project.md) — 1 note: odd\n"
    )
    assert pages["index-deploy.md"] == (
        "---\nname: index-deploy\ndescription: Deploy\nmetadata:\n  type: reference\nzapomni:\n  index: leaf\n---\n\n"
        "- [ship0](ship0.md) — why ship0\n- [ship1](ship1.md) — why ship1\n- [ship2](ship2.md) — why ship2\n"
    )


def test_a_leaf_speaks_the_language_of_its_notes_and_takes_nobody_s_name():
    cards = [card(f"выкатка-{no}", topic="деплой") for no in range(3)]
    pages = distributed({INDEX: ""}, cards, homes_by_topic(cards, ["Index-Деплой.md"]))
    assert pages[INDEX] == "- [Деплой](index-деплой-2.md) — Заметок: 3: выкатка-0; выкатка-1; выкатка-2\n"


@pytest.mark.promise("index.cut")
@given(PAGES, CARDS)
def test_a_cut_moves_lines_byte_for_byte_and_a_second_one_changes_nothing(text, cards):
    page = with_entries(text, [one.entry for one in cards])
    homes = homes_by_topic(cards, ())
    pages = distributed({INDEX: page}, cards, homes)
    for one in cards:
        found = [name for name, after in pages.items() if one.key in keys(after)]
        assert found == [homes[one.key]]
        assert not one.core or found == [INDEX]
    lines = {line.text.strip("\ufeff\r\n") for line in parse_index(page).lines}
    after = {line.text.strip("\ufeff\r\n") for one in pages.values() for line in parse_index(one).lines}
    assert lines <= after | {""}
    assert rebuilt({INDEX: outline(page)}, pages.values()) == {INDEX: page}
    assert all(is_leaf(one) for name, one in pages.items() if name != INDEX)
    assert distributed(pages, cards, homes) == pages
    assert up_to_date(pages, cards) == pages


WRITTEN = st.lists(
    st.one_of(
        st.builds(
            "{}[{}]({}){}".format,
            st.sampled_from(["- ", "* ", "  - "]),
            st.sampled_from(["Ship", "Откат", "a\\\\b"]),
            st.sampled_from(["ship.md", "./ship.md", "<ship.md>", "откат.md", "rule.md", "gone.md", "guide.md#x"]),
            st.sampled_from(["", " — how to ship", " — моими словами", ": step 2", " - и ещё раз  "]),
        ),
        st.sampled_from(
            ["", "# Память", "Words.", "```", "- [a](ship.md) and [b](rule.md)", "- [[ship|Alias]]", "~~~"]
        ),
    ),
    max_size=14,
)
MINE = [card("ship"), card("откат", topic="деплой"), card("rule", core=True), card("guide", about="reference")]


def written(page):
    """Everything that stands on a page but its lines for leaves."""
    lines = [line for line in parse_index(page).lines if not any(link.startswith("index-") for link in line.links)]
    return [line.text.strip("\ufeff\r\n") for line in lines if line.text.strip("\ufeff\r\n")]


def is_part(some, lines):
    """Tell whether some lines all stand among others, in their order."""
    rest = iter(lines)
    return all(line in rest for line in some)


@pytest.mark.promise("index.cut", "index.kept")
@given(WRITTEN, st.sampled_from(["\n", "\r\n"]), st.booleans(), WRITTEN)
def test_every_line_that_a_person_wrote_moves_and_comes_back_and_no_reconcile_removes_one(lines, end, closed, more):
    page = end.join(lines) + (end if closed else "")
    pages = distributed({INDEX: page}, MINE, homes_by_topic(MINE, ()))
    after = [line for one in pages.values() for line in written(one)]
    assert not Counter(written(page)) - Counter(after)
    mine = set(written(page))
    for one in pages.values():
        assert is_part([line for line in written(one) if line in mine], written(page)) or set(lines) & {"```", "~~~"}
    assert rebuilt({INDEX: outline(page)}, pages.values()) == {INDEX: page}
    by_hand = pages | {INDEX: with_lines(pages[INDEX], more)}
    kept = up_to_date(by_hand, MINE)
    assert all(is_part(written(one), written(kept[name])) for name, one in by_hand.items())


@pytest.mark.promise("index.kept")
@given(WRITTEN, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from(["", "\ufeff"]))
def test_lines_that_went_with_their_note_come_back_where_they_were(lines, end, closed, lead):
    page = lead + end.join(lines) + (end if closed else "")
    pages = {INDEX: page}
    kept = lines_of(pages, ["ship.md"])["ship.md"]
    without_it = {INDEX: with_entries(page, [], became={"ship.md": None})}
    assert lines_of(without_it, ["ship.md"]) == {"ship.md": ()}
    after = with_lines_of(without_it, kept, "ship.md")
    assert after == pages
    assert with_lines_of(after, kept, "ship.md") == after


@given(st.data(), st.integers(1, 40), st.sampled_from(["", "# Память\n", "# Память\n\n"]))
def test_lines_that_go_one_after_the_other_come_back_in_their_places_in_any_order(data, count, head):
    names = [f"шаг-{no}.md" for no in range(count)]
    whole = {INDEX: head + "".join(f"- [Шаг {no}]({name}) — что\n" for no, name in enumerate(names))}
    pages, went = whole, {}
    for name in data.draw(st.permutations(names)):
        kept = [line for lines in went.values() for line in lines]
        went |= lines_of(pages, [name], kept)
        pages = {INDEX: with_entries(pages[INDEX], [], became={name: None})}
    back = data.draw(st.permutations(names))
    for at, name in enumerate(back):
        away = [line for lines in went.values() for line in lines]
        pages = with_lines_of(pages, went.pop(name), name, away)
        assert keys(pages[INDEX]) == [one for one in names if one in back[: at + 1]]
    assert pages == whole


@given(PAGES, CARDS, CARDS)
def test_a_new_note_joins_the_leaf_of_its_topic_and_nothing_else_moves(text, cards, more):
    pages = distributed({INDEX: text}, cards, homes_by_topic(cards, ()))
    known = {one.key for one in cards}
    every = [*cards, *(one for one in more if one.key not in known)]
    after = up_to_date(pages, every)
    assert set(after) == set(pages)
    for name, one in pages.items():
        assert [key for key in keys(after[name]) if key in set(keys(one))] == keys(one)
    for one in every:
        home = next(name for name, page in after.items() if one.key in keys(page))
        assert one.key in known or not one.core or home == INDEX
