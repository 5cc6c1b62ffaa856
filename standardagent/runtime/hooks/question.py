"""Questions to hooks: what a component will be asked, and its place in the extension journal."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from agentslot.session import (
    ExtensionDescriptor,
    ExtensionEntry,
    ExtensionInvocation,
    ExtensionStatus,
    InvocationEnded,
    InvocationId,
    InvocationPrepared,
    InvocationStep,
    InvocationSucceeded,
    SessionState,
    UpdateExtensionJournal,
)
from agentslot.standardagent.runtime.hooks.digest import input_digest
from agentslot.standardagent.runtime.ids import Ids

V = TypeVar("V")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Asking(Generic[V, R]):
    """What one component will be asked, once the question has an identity.

    Attributes:
        view: makes the view of an invocation id and the revision that records it.
        canonical: the same view for its digest, with JSON text in its canonical spelling.
        invocation: makes the identity; all of it is given but id, digest and revision.
        group: questions of one group end when one of them is decided.
    """

    descriptor: ExtensionDescriptor
    evaluate: Callable[[V], Awaitable[R]]
    view: Callable[[InvocationId, int], V]
    invocation: "partial[ExtensionInvocation]"
    group: str = ""
    canonical: Callable[[V], object] = lambda view: view

    def identify(self, invocation_id: InvocationId, revision: int) -> ExtensionInvocation:
        """The identity of this question under an id, recorded at a revision."""
        digest = input_digest(self.canonical(self.view(invocation_id, revision)))
        return self.invocation(
            id=invocation_id,
            descriptor=self.descriptor,
            input_digest=digest,
            prepared_revision=revision,
        )

    def is_recorded_as(self, entry: ExtensionEntry) -> bool:
        """Whether the entry is of this very question, asked of the same definition."""
        known = entry.invocation
        return known == self.identify(known.id, known.prepared_revision)


class Question(Generic[R]):
    """A recorded question, and how far it has come.

    Attributes:
        ending: how the component ended, once it has.
        began: whether the component may have been called.
        closed: whether nothing of it is left to settle.
    """

    def __init__(
        self, asking: Asking[V, R], sequence: int, invocation: ExtensionInvocation
    ) -> None:
        self.sequence = sequence
        self.invocation = invocation
        self.group = asking.group
        self.ending: InvocationSucceeded | InvocationEnded | None = None
        self.began = False
        self.closed = False
        view = asking.view(invocation.id, invocation.prepared_revision)
        self.ask: Callable[[], Awaitable[R]] = partial(asking.evaluate, view)

    @property
    def answer(self) -> InvocationSucceeded | None:
        """What the component said, if it did."""
        return self.ending if isinstance(self.ending, InvocationSucceeded) else None

    @property
    def failed(self) -> bool:
        """Whether it ended without an answer, other than by never being asked."""
        ending = self.ending
        if ending is None or isinstance(ending, InvocationSucceeded):
            return False
        return self.began or ending.status is not ExtensionStatus.CANCELED

    def step(self, step: InvocationStep) -> UpdateExtensionJournal:
        """The change that takes the next step of it."""
        return UpdateExtensionJournal(self.sequence, step)


def reserve(
    state: SessionState, ids: Ids, askings: Sequence[Asking[V, R]]
) -> tuple[list[UpdateExtensionJournal], list[Question[R]]]:
    """The changes that record the questions in the next commit, and the questions."""
    questions: list[Question[R]] = []
    changes: list[UpdateExtensionJournal] = []
    for sequence, asking in enumerate(askings, len(state.extensions) + 1):
        invocation = asking.identify(ids.invocation(), state.revision + 1)
        question = Question(asking, sequence, invocation)
        questions.append(question)
        changes.append(question.step(InvocationPrepared(invocation)))
    return changes, questions


def restore(
    entries: Sequence[ExtensionEntry], askings: Sequence[Asking[V, R]]
) -> list[Question[R]] | None:
    """The questions as they are recorded; None if those are not exactly what would be asked now."""
    if len(entries) != len(askings):
        return None
    questions: list[Question[R]] = []
    for entry, asking in zip(entries, askings, strict=True):
        if not asking.is_recorded_as(entry):
            return None
        question = Question(asking, entry.sequence, entry.invocation)
        question.began = entry.pending_at is not None
        question.closed = not entry.is_open
        question.ending = _ending(entry)
        questions.append(question)
    return questions


def _ending(entry: ExtensionEntry) -> InvocationSucceeded | InvocationEnded | None:
    if entry.finished_at is None:
        return None
    if entry.status is ExtensionStatus.SUCCEEDED:
        return InvocationSucceeded(entry.decision, entry.reason, entry.context_messages)
    return InvocationEnded(entry.status, entry.error_code, entry.error_reason)
