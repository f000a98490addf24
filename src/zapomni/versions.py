"""The past of a memory: every verb that compares, traces and branches as one method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.services.scopes import scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Actor, Filter, Run, Scope
    from zapomni.model.branch import Branch, Policy
    from zapomni.services.blame import Blame
    from zapomni.services.branching.branches import BranchChange, Dropped, Listed
    from zapomni.services.branching.merge import Merged
    from zapomni.services.context import Context
    from zapomni.services.difference import Difference


class Versions:
    """What was, as `Zapomni.versions` gives it; safe to use from many threads.

    Every method raises only `zapomni.errors.ZapomniError`.
    """

    def __init__(self, context: Context, *, actor: Actor, policy: str = "") -> None:
        self._context = context
        self._policy = policy
        self._actor = actor

    def diff(
        self, memory_id: str, *, scopes: Sequence[str] = (), start: int | None = None, end: int | None = None
    ) -> Difference:
        """Compare a memory as it was after two revisions of its history; by default what its last change did."""
        from zapomni.services.difference import difference

        return difference(self._context, memory_id, scopes=self._seen(scopes), start=start, end=end)

    def diff_run(self, run: str) -> tuple[Run, Sequence[Difference]]:
        """Compare every memory that a run changed, before and after it."""
        from zapomni.services.difference import run_differences

        return run_differences(self._context, run)

    def blame(self, memory_id: str, *, scopes: Sequence[str] = ()) -> Blame:
        """Tell of each line and field of a memory which revision brought it."""
        from zapomni.services.blame import blame

        return blame(self._context, memory_id, scopes=self._seen(scopes))

    def topics(self, where: Filter) -> Mapping[str, int]:
        """Count the memories at each topic path, in the order of the paths."""
        return self._context.store.topics(where)

    # --- branches -----------------------------------------------------------------------------------------
    def branches(self) -> Sequence[Listed]:
        """Return every branch of the memory, with the number of memories that it changed."""
        from zapomni.services.branching.branches import list_branches

        return list_branches(self._context)

    def create_branch(self, name: str, *, actor: Actor | None = None) -> Branch:
        """Make a branch; the setting `branch` works on it. Nothing is copied."""
        from zapomni.services.branching.branches import create_branch

        return create_branch(self._context, name, actor=actor or self._actor)

    def diff_branch(self, name: str) -> Sequence[BranchChange]:
        """Compare what a branch changed with the main line as the branch found it."""
        from zapomni.services.branching.branches import branch_changes

        return branch_changes(self._context, name)

    def merge_branch(
        self, name: str, *, policy: Policy | str | None = None, dry_run: bool = False, actor: Actor | None = None
    ) -> Merged:
        """Bring what a branch changed into the main line as one run; what a person has to decide stays there.

        What both sides changed is settled by `policy`, else by the setting `merge_policy`, else by topic path.
        """
        from zapomni.model.branch import Policy
        from zapomni.services.branching.merge import merge
        from zapomni.services.parse import parse_choice

        wanted = parse_choice("policy", policy, Policy, parse_choice("merge_policy", self._policy, Policy, None))
        return merge(self._context, name, actor=actor or self._actor, policy=wanted, dry_run=dry_run)

    def drop_branch(self, name: str, *, actor: Actor | None = None) -> Dropped:
        """Delete a branch with what it holds, as one run, which `undo_run` takes back."""
        from zapomni.services.branching.branches import drop_branch

        return drop_branch(self._context, name, actor=actor or self._actor)

    def _seen(self, scopes: Sequence[str]) -> tuple[Scope, ...]:
        return scopes_to_read(self._context, scopes)
