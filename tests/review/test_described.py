"""Selection by description: titles and descriptions alone decide, by words and by meaning."""

from __future__ import annotations

import pytest

from zapomni.embed.scripted import ScriptedEmbedder
from zapomni.errors import EmbedderError, InvalidInput
from zapomni.model import Draft
from zapomni.services.remember import remember_many

PRICES = "Сверяем с прайсом поставщика."


@pytest.mark.promise("recall.described")
def test_the_content_says_nothing_and_the_description_everything(app):
    good = app.remember(PRICES, description="откуда брать цены товаров каталога").id
    app.remember("Цены товаров каталога лежат в таблице.", description="таблицы склада")
    titled = app.remember("On Monday.", title="When the price list comes").id
    assert [hit.memory.id for hit in app.recall("цена товара", by="description").hits] == [good]
    assert [hit.memory.id for hit in app.recall("price lists", by="description").hits] == [titled]
    assert len(app.recall("цена товара").hits) == 2
    assert app.recall("прайс поставщика", by="description").hits == ()


@pytest.mark.promise("recall.described")
def test_filters_limits_and_scopes_hold_and_what_has_no_description_is_told(app):
    for number in range(4):
        app.remember(f"Text {number}.", description=f"gate number {number}", tags=["odd"] if number % 2 else [])
    app.remember("A gate of its own.", scope="agent:ada", description="gate of ada")
    app.remember("No description at all, gate.")
    found = app.recall("gate", by="description", limit=3)
    assert len(found.hits) == 3
    assert len(app.recall("gate", by="description", tags=["odd"]).hits) == 2
    assert len(app.recall("gate", by="description", scopes=["agent:ada"]).hits) == 1
    lexical = app.recall("gate", by="description", mode="lexical")
    assert lexical.reason == "1 of 5 memories have neither title nor description and cannot be selected"


@pytest.mark.promise("recall.described")
def test_meaning_counts_and_each_description_is_embedded_once(opened):
    embedder = ScriptedEmbedder()
    app = opened(embedder=embedder)
    good = app.remember(PRICES, description="откуда брать цены каталога").id
    app.remember("Другое.", description="кто дежурит по ночам")
    app.embedding.drain()
    made = []
    embed = embedder.embed
    embedder.embed = lambda texts, role: made.append((role, len(texts))) or embed(texts, role)
    for _ in range(2):
        hits = app.recall("откуда брать цены каталога", by="description").hits
        assert hits[0].memory.id == good
        assert "meaning" in {part.name for part in hits[0].parts}
    assert made == [("query", 1), ("passage", 2), ("query", 1)]
    app.delete(good, erase=True)
    assert app.store.descriptions.vectors(app.embedding.active().no, [b"x"]) == {}


@pytest.mark.promise("recall.described")
def test_words_alone_answer_where_descriptions_get_no_vectors(opened):
    embedder = ScriptedEmbedder()
    app = opened(embedder=embedder)
    good = app.remember(PRICES, description="откуда брать цены каталога").id
    app.embedding.drain()
    embed = embedder.embed

    def away(texts, role):
        if role == "passage":
            raise EmbedderError("the model is away")
        return embed(texts, role)

    embedder.embed = away
    found = app.recall("цены каталога", by="description")
    assert [hit.memory.id for hit in found.hits] == [good]
    assert "the model is away" in found.reason


def test_too_many_memories_are_not_selected_from(app):
    drafts = [Draft(content=f"Note {number}.", description="x") for number in range(2_001)]
    assert all(list(remember_many(app.context, drafts, actor=app.actor)))
    with pytest.raises(InvalidInput, match=r"2,001 memories are seen"):
        app.recall("note", by="description")
