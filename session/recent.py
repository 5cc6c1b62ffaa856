"""The commits that a store can still answer for when they are sent again."""

from collections.abc import Sized
from typing import Generic, TypeVar

from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.record import record
from agentslot.session.state import SessionState
from agentslot.session.store import Commit

E = TypeVar("E")

REMEMBERED_COMMITS = 256
"""How many commits of a Session are remembered. An older one sent again is a revision conflict."""


@record
class Outcome:
    """What a commit did: the revision it made and the facts it appended, 0 and 0 if none."""

    revision: int
    first_sequence: int
    last_sequence: int


def outcome_of(revision: int, before: Sized, after: Sized) -> Outcome:
    """What the commit did that made `revision`, by the facts before and after it."""
    first, last = len(before) + 1, len(after)
    return Outcome(revision, first, last) if first <= last else Outcome(revision, 0, 0)


class RecentCommits(Generic[E]):
    """Outcomes of the newest commits by idempotency key, with some evidence of the request.

    The evidence tells whether a key comes again with the same request.
    """

    __slots__ = ("_commits",)

    def __init__(self) -> None:
        # Evidence, revision, first and last sequence: flat, since every live Session has these.
        self._commits: dict[str, tuple[E, int, int, int]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._commits

    def add(self, key: str, evidence: E, outcome: Outcome) -> None:
        """Remember a commit, and forget the oldest one if there are too many."""
        self._commits[key] = (
            evidence,
            outcome.revision,
            outcome.first_sequence,
            outcome.last_sequence,
        )
        if len(self._commits) > REMEMBERED_COMMITS:
            del self._commits[next(iter(self._commits))]

    def find(self, key: str) -> tuple[E, Outcome]:
        """The evidence and the outcome of the commit under a key that is remembered."""
        evidence, *numbers = self._commits[key]
        return evidence, Outcome(*numbers)


def answer_again(key: str, outcome: Outcome, state: SessionState, *, same: bool) -> Commit:
    """The answer to a commit that is sent again.

    Raises:
        ClassifiedError: `conflict/revision_conflict`: the key named another request before.
    """
    if not same:
        raise ClassifiedError(
            ErrorKind.CONFLICT,
            "revision_conflict",
            f"the key {key!r} stands for another commit, at revision {outcome.revision}",
        )
    return commit_of(state, outcome, applied=False)


def commit_of(state: SessionState, outcome: Outcome, *, applied: bool = True) -> Commit:
    """The answer to a commit."""
    return Commit(
        state, outcome.revision, outcome.first_sequence, outcome.last_sequence, applied=applied
    )
