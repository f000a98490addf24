from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from msgspec.structs import replace

from zapomni.errors import Conflict
from zapomni.model import USER_SCOPE, Actor, Filter, Kind, Memory, Scope, ScopeKind, Trust, Verb
from zapomni.record import to_record
from zapomni.store.sqlite import open_sqlite
from zapomni.text.words import query_words

START = datetime(2026, 11, 30, tzinfo=UTC)
SCOPES = (USER_SCOPE, Scope(kind=ScopeKind.PROJECT, name="p"))
WORDS = ("lapwing", "grebe", "heron", "чайка")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
EVERYTHING = Filter(expired=True, deleted=True, trusts=tuple(Trust))


class StoreMachine(RuleBasedStateMachine):
    """Random histories of two openings of one store against a dictionary of memories and a list of revisions."""

    ids = Bundle("ids")

    @initialize()
    def open(self):
        self.folder = Path(tempfile.mkdtemp())
        self.ticks = 0
        self.stores = [open_sqlite(self.folder / "m.db", clock=lambda: START) for _ in range(2)]
        self.model: dict[str, Memory] = {}
        self.history: dict[str, list[tuple[Verb, object, object]]] = {}
        self.space = self.stores[0].open_space("p", "m", 2, 1, None)

    def teardown(self):
        for store in getattr(self, "stores", ()):
            store.close()
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    @property
    def store(self):
        self.ticks += 1
        return self.stores[self.ticks % 2]

    def put(self, before, after, verb):
        memory_id = (after or before).id
        with self.store.write() as tx:
            tx.put(before, after, verb=verb, actor=Actor(name="t"), at=START)
        entries = self.history.setdefault(memory_id, [])
        if after is None:
            del self.model[memory_id]
            self.history[memory_id] = [(kind, None, None) for kind, _, _ in entries] + [(verb, None, None)]
            return
        self.model[memory_id] = after
        entries.append((verb, before and to_record(before), to_record(after)))

    @rule(
        target=ids,
        content=TEXTS,
        scope=st.sampled_from(SCOPES),
        tags=st.sets(st.sampled_from(("a", "b"))),
        hour=st.integers(0, 2),
    )
    def create(self, content, scope, tags, hour):
        at = START + timedelta(hours=hour)
        memory_id = f"m{len(self.history)}"
        memory = Memory(
            id=memory_id,
            kind=Kind.SEMANTIC,
            scope=scope,
            content=content,
            tags=tuple(sorted(tags)),
            created_at=at,
            updated_at=at,
        )
        self.put(None, memory, Verb.CREATE)
        return memory_id

    @rule(memory_id=ids, content=TEXTS, tags=st.sets(st.sampled_from(("a", "c"))), scope=st.sampled_from(SCOPES))
    def update(self, memory_id, content, tags, scope):
        before = self.model.get(memory_id)
        if before is not None:
            after = replace(before, content=content, tags=tuple(sorted(tags)), scope=scope, version=before.version + 1)
            self.put(before, after, Verb.UPDATE)

    @rule(memory_id=ids)
    def delete_or_restore(self, memory_id):
        before = self.model.get(memory_id)
        if before is not None:
            gone = None if before.deleted_at else START
            verb = Verb.DELETE if gone else Verb.RESTORE
            self.put(before, replace(before, deleted_at=gone, version=before.version + 1), verb)

    @rule(memory_id=consumes(ids))
    def erase(self, memory_id):
        if memory_id in self.model:
            self.put(self.model[memory_id], None, Verb.ERASE)

    @rule(memory_id=ids)
    def change_what_moved_on(self, memory_id):
        found = self.model.get(memory_id)
        if found is not None:
            stale = replace(found, version=found.version + 5)
            with pytest.raises(Conflict), self.store.write() as tx:
                tx.put(
                    stale, replace(stale, content="lost", version=99), verb=Verb.UPDATE, actor=Actor(name="t"), at=START
                )

    @rule(content=TEXTS)
    def roll_back(self, content):
        memory = Memory(
            id="never", kind=Kind.SEMANTIC, scope=USER_SCOPE, content=content, created_at=START, updated_at=START
        )
        with suppress(ZeroDivisionError), self.store.write() as tx:
            tx.put(None, memory, verb=Verb.CREATE, actor=Actor(name="t"), at=START)
            raise ZeroDivisionError

    @rule(limit=st.integers(1, 5))
    def embed(self, limit):
        from array import array

        for job in self.store.embed_jobs(self.space.no, limit, START):
            mark = job.item.content.encode()
            angle = WORDS.index(job.item.content.split()[0])
            vector = array("f", [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)][angle])
            self.store.save_vectors(self.space.no, {mark: vector}, [(job.item, [mark])])

    @rule()
    def rebuild(self):
        self.store.rebuild()

    @invariant()
    def the_listing_is_the_model(self):
        if not hasattr(self, "model"):
            return
        live = [m for m in self.model.values() if m.deleted_at is None]
        page = self.store.page(Filter(), 100)
        order = sorted(live, key=lambda m: (m.created_at, int(m.id[1:])), reverse=True)
        assert list(page.memories) == order
        assert self.store.get(sorted(self.model), EVERYTHING) == [self.model[name] for name in sorted(self.model)]
        for scope in SCOPES:
            assert self.store.page(Filter(scopes=(scope,)), 100).total == sum(m.scope == scope for m in live)

    @invariant()
    def the_words_and_vectors_are_the_model(self):
        if not hasattr(self, "model"):
            return
        live = {m.id: m for m in self.model.values() if m.deleted_at is None}
        for word in WORDS:
            hits = self.store.lexical(query_words(word), Filter(), 100).hits
            found = {m.id for m in self.store.fetch([hit.no for hit in hits]).values()}
            assert found == {name for name, m in live.items() if word in m.content.split()}
        from array import array

        waiting = {job.key for job in self.store.embed_jobs(self.space.no, 100, START)}
        for store in self.stores:
            near = dict(store.nearest(self.space, array("f", [1.0, 0.0]), Filter(), 100))
            memories = store.fetch(list(near))
            assert {memories[no].id for no in near} == set(live) - waiting
            for no, cosine in near.items():
                first = WORDS.index(memories[no].content.split()[0])
                assert cosine == pytest.approx([1, 0, -1, 0][first], abs=1e-6)

    @invariant()
    def the_history_is_the_model(self):
        if not hasattr(self, "model"):
            return
        for name, entries in self.history.items():
            assert [(r.verb, r.before, r.after) for r in self.store.history(name)] == entries

    @invariant()
    def every_check_passes(self):
        if hasattr(self, "model"):
            assert [check for check in self.store.check() if not check.ok] == []


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=25, stateful_step_count=25)
