"""Random edits, renames and deletions on both sides with crashes between: nothing is lost and both sides agree.

250 examples are some 11,000 steps.
"""

from __future__ import annotations

import shutil
import tempfile
import unicodedata
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from tests.mirror.folders import Crash, Vault, burn

from zapomni.errors import ZapomniError

NAMES = (
    "a.md", "A.md", "б.md", "Заметка о выдре.md", unicodedata.normalize("NFC", "Ёж.md"),
    unicodedata.normalize("NFD", "Ёж.md"), "sub/a.md", "sub/deep/ж.md", "v1.2/x y.md", "name with spaces.md", "zz.md",
)  # fmt: skip
FORMS = (
    "{body}",
    "{body}\n",
    "# Heading {no}\n\n{body}\n",
    "---\nname: n{no}\ndescription: d {no}\nmetadata:\n  type: feedback\n---\n\n{body}\n",
    "\ufeff---\r\nname: имя{no}  # a comment\r\nowner: {{a: 1}}\r\ntags: [river, река]\r\n---\r\n\r\n{body}\r\nmore\r\n",
    "---  \ndescription: >\n  folded {no}\n  text\n---  \n{body}",
    "---\ntitle: Roadmap: half\n---\n{body}\n",
    "---\npermalink: x\n---\n\n---\ntitle: T{no}\n---\n{body}\n",
    "---\n\na rule first {body}\n",
    "{body}\n\npassword: Qwerty{no}!x9\n",
    "{body} [[a]] and [[Ёж]]\n\n\n",
    "---\nname: n{no}\n---",
)
CONTENTS = (
    "{body}",
    "\n\n{body}\n\n",
    "---\na: b\n---\n{body}",
    "{body}\r\nline\r\n\r\nend  ",
    "# Заголовок\n\n{body} [[б]]",
    "{body}\tx\x0cy",
)


class MirrorMachine(RuleBasedStateMachine):
    """One folder and one scope; `owed` are the words that must be somewhere for ever."""

    @initialize(existing=st.booleans())
    def open(self, existing):
        self.folder = Path(tempfile.mkdtemp())
        (self.folder / "vault").mkdir()
        self.patch = pytest.MonkeyPatch()
        self.vault = Vault(self.folder / "home", self.folder / "vault")
        burn(self.patch, self.vault)
        self.no = 0
        self.owed: set[str] = set()
        self.fresh: dict[str, str] = {}
        if existing:
            self.vault.write("a.md", self.text(FORMS[3]))
            self.vault.remember(self.text(CONTENTS[0]))
        self.vault.app.documents.add(self.vault.root, mode="mirror", scope=self.vault.scope)

    def teardown(self):
        if hasattr(self, "vault"):
            self.vault.close()
            self.patch.undo()
            shutil.rmtree(self.folder)

    def text(self, form: str) -> str:
        self.no += 1
        return form.format(no=self.no, body=f"word{self.no}x")

    def existing(self, data) -> str | None:
        names = sorted(name for name in self.vault.files() if name.endswith(".md"))
        return data.draw(st.sampled_from(names)) if names else None

    def some(self, data, *, deleted: bool = False):
        found = sorted(self.vault.memories(deleted=deleted).values(), key=lambda memory: memory.created_at)
        found = [one for one in found if (one.deleted_at is not None) == deleted]
        return data.draw(st.sampled_from(range(len(found))).map(lambda at: found[at])) if found else None

    # --- a person ---------------------------------------------------------------------------------------
    @rule(name=st.sampled_from(NAMES), form=st.sampled_from(FORMS))
    def write(self, name, form):
        self.vault.write(name, self.text(form))

    @rule(data=st.data())
    def edit(self, data):
        if name := self.existing(data):
            self.vault.write(name, self.vault.read(name) + self.text("\n{body}"))

    @rule(data=st.data())
    def edit_header(self, data):
        name = self.existing(data)
        if name and (text := self.vault.read(name)).startswith("---"):
            self.vault.write(name, text.replace("---", "---\nother: x", 1))

    @rule(data=st.data(), to=st.sampled_from(NAMES))
    def rename(self, data, to):
        name = self.existing(data)
        if name and not (self.vault.root / to).exists():
            (self.vault.root / to).parent.mkdir(parents=True, exist_ok=True)
            (self.vault.root / name).rename(self.vault.root / to)

    @rule(data=st.data())
    def swap(self, data):
        one, other = self.existing(data), self.existing(data)
        if one and other and one != other:
            (self.vault.root / one).rename(self.vault.root / "aside")
            (self.vault.root / other).rename(self.vault.root / one)
            (self.vault.root / "aside").rename(self.vault.root / other)

    @rule(data=st.data(), to=st.sampled_from(NAMES))
    def copy(self, data, to):
        name = self.existing(data)
        if name and not (self.vault.root / to).exists():
            self.vault.write(to, self.vault.read(name))

    @rule(data=st.data())
    def remove(self, data):
        if name := self.existing(data):
            (self.vault.root / name).unlink()

    # --- the store --------------------------------------------------------------------------------------
    @rule(form=st.sampled_from(CONTENTS), path=st.sampled_from([None, "profile.skills", "sub", "навыки.python"]))
    def remember(self, form, path):
        title = f"Заметка {self.no}" if self.no % 2 else ""
        self.vault.remember(self.text(form), path=path, title=title)

    @rule(data=st.data(), form=st.sampled_from(CONTENTS))
    def update(self, data, form):
        if memory := self.some(data):
            self.vault.update(memory.id, content=self.text(form))

    @rule(
        data=st.data(),
        fields=st.sampled_from([
            {"description": "why: so"}, {"title": "Новое имя"}, {"about": "user"}, {"pinned": True}, {"tags": ("x",)},
            {"importance": 0.9}, {"description": ""}, {"path": "elsewhere"},
        ]),
    )  # fmt: skip
    def update_field(self, data, fields):
        if memory := self.some(data):
            with suppress(ZapomniError):  # nothing changes
                self.vault.update(memory.id, **fields)

    @rule(data=st.data())
    def delete(self, data):
        if memory := self.some(data):
            self.vault.app.delete(memory.id, scopes=[self.vault.scope])

    @rule(data=st.data())
    def undo(self, data):
        if memory := self.some(data, deleted=True):
            self.vault.app.undo(memory.id, scopes=[self.vault.scope])

    @rule(data=st.data(), choice=st.sampled_from(["memory", "file", "both", None]))
    def answer(self, data, choice):
        review = self.vault.app.review
        waiting = review.proposals(scopes=[self.vault.scope])
        if waiting:
            proposal = waiting[data.draw(st.integers(0, len(waiting) - 1))]
            try:
                if choice is None:
                    review.reject(proposal.id, why="no", scopes=[self.vault.scope])
                else:
                    review.accept(proposal.id, choice=choice, scopes=[self.vault.scope])
            except ZapomniError:
                pass

    # --- both -------------------------------------------------------------------------------------------
    @rule(fuse=st.integers(0, 12))
    def crash(self, fuse):
        self.vault.fuse = fuse
        try:
            self.vault.scan(accept_removals=True)
        except Crash:
            pass
        finally:
            self.vault.fuse = None
        self.lost_nothing()

    @rule(accept=st.booleans())
    def scan(self, accept):
        before = self.words_in_files()
        came = self.vault.scan(accept_removals=accept)
        passed = {one.path for one in came.skipped}
        self.owed |= {word for path, words in before.items() if path not in passed for word in words}
        self.lost_nothing()

    @precondition(lambda self: self.no % 2)
    @rule()
    def settle(self):
        for _ in range(4):
            came = self.vault.scan(accept_removals=True)
            if not any(getattr(came, name) for name in COUNTS):
                break
        else:
            counts = {name: getattr(came, name) for name in COUNTS}
            raise AssertionError(f"no end: {counts} {came.skipped} {self.vault.rows()} {self.vault.files()}")
        assert came.problem is None
        wrong = self.vault.disagreements({one.path for one in came.skipped})
        assert not wrong, (wrong, self.vault.rows(), self.vault.files())
        assert not self.vault.dead_lines(), (self.vault.index(), self.vault.rows(), self.vault.files())
        before = self.vault.files(), self.vault.index(), self.vault.revisions(), self.vault.app.store.generation()
        again = self.vault.scan()
        assert not any(getattr(again, name) for name in COUNTS), again
        after = self.vault.files(), self.vault.index(), self.vault.revisions(), self.vault.app.store.generation()
        assert after == before, (again, self.vault.rows(), self.vault.files())
        self.lost_nothing()

    def words_in_files(self) -> dict[str, list[str]]:
        files = {path: data.decode() for path, data in self.vault.files().items() if path.endswith(".md")}
        known = [f"word{no}x" for no in range(1, self.no + 1)]
        return {path: [word for word in known if word in text] for path, text in files.items()}

    def lost_nothing(self):
        everything = self.vault.haystack()
        assert [word for word in self.owed if word not in everything] == []


COUNTS = ("added", "changed", "moved", "removed", "written", "dropped")


@pytest.mark.promise("mirror.machine")
def test_random_edits_with_crashes_between_lose_nothing_and_end_with_both_sides_alike():
    run_state_machine_as_test(
        MirrorMachine,
        settings=settings(max_examples=25, stateful_step_count=50, suppress_health_check=list(HealthCheck)),
    )
