"""The chain engine: asks hooks one after the other, each question durable before it is asked.

Finishing one question and beginning the next share a commit. What a boundary does with the answers
is its own; what becomes of a chain that stops is the same everywhere: the question that stopped it
takes effect, earlier answers are discarded, later questions are never asked.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

from agentslot.session import (
    Change,
    ClassifiedError,
    ContextDisposition,
    ErrorKind,
    ExtensionDecision,
    ExtensionEffect,
    ExtensionStatus,
    InvocationBegun,
    InvocationEnded,
    InvocationSettled,
    InvocationSucceeded,
)
from agentslot.session.rules.extensions import answer_problem
from agentslot.session.settlement import abandoned
from agentslot.standardagent.runtime.hooks.asking import FAILED, call
from agentslot.standardagent.runtime.hooks.question import Question
from agentslot.standardagent.runtime.owner import SessionOwner

log = logging.getLogger(__name__)

R = TypeVar("R")


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class BoundaryPolicy(Generic[R]):
    """What is particular to one boundary.

    Attributes:
        label: names its commits and its log entries.
        result: the class of its results.
        answer: what is recorded of a result.
        stopped: code of questions that are not asked because an earlier one failed.
        canceled: code of questions that the end of their caller overtook.
        lost: code under which it fails if its journal could not be written.
        superseded: whether something more important came up; looked at under the lock, before each
            question.
        decisive: decisions after which the other questions of the group need not be asked.
        decided: code of those questions.
        pipelined: whether an end may wait for the next question's commit.
    """

    label: str
    result: type[R]
    answer: Callable[[R], InvocationSucceeded]
    stopped: str
    canceled: str
    lost: str = "hook_outcome_unknown"
    superseded: Callable[[], bool] = _never
    decisive: frozenset[ExtensionDecision] = frozenset()
    decided: str = ""
    pipelined: bool = True


class HookChain(Generic[R]):
    """The questions of one occurrence of a boundary, already recorded as prepared.

    Attributes:
        decisive: the question that ended the chain by its failure, or, if its boundary says so, by
            its decision; what it did takes effect.
        superseded: whether the chain ended because something more important came up.
        over: whether its end is durable, or left to recovery: nothing of it is left to settle here.
    """

    def __init__(
        self, owner: SessionOwner, policy: BoundaryPolicy[R], questions: Sequence[Question[R]]
    ) -> None:
        self.questions = questions
        self.policy = policy
        self.superseded = False
        self.over = False
        self.decisive = next((q for q in questions if q.failed), None)
        self._owner = owner
        self._unwritten: list[Change] = []

    @property
    def failure(self) -> InvocationEnded | None:
        """How the question failed that ended the chain, if one did."""
        ending = self.decisive.ending if self.decisive is not None else None
        return ending if isinstance(ending, InvocationEnded) else None

    async def evaluate(self) -> None:
        """Ask what has not been asked yet, until a question fails or the chain is superseded.

        Raises:
            ClassifiedError: the journal could not be written; what can be settled has been.
        """
        try:
            for question in self.questions:
                if self.failure is not None:
                    return
                if question.ending is None and not await self._ask(question):
                    return
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._give_up()
            raise
        except ClassifiedError as error:
            with anyio.CancelScope(shield=True):
                await self.settle_what_is_left()
            raise self._lost() from error

    async def _ask(self, question: Question[R]) -> bool:
        """Ask one question; returns whether the chain goes on."""
        async with self._owner.lock:
            if self.policy.superseded():
                self.superseded = True
                return False
            await self._write("begin", [question.step(InvocationBegun())])
        question.began = True
        name = question.invocation.descriptor.key
        self._end(question, self._checked(question, await call(self._owner, name, question.ask)))
        if not self.policy.pipelined:
            async with self._owner.lock:
                await self._write("end", [])
        answer = question.answer
        if answer is None:
            self.decisive = question
            return False
        if answer.decision in self.policy.decisive:
            self.skip(self.policy.decided, group=question.group)
        return True

    def _checked(
        self, question: Question[R], result: R | InvocationEnded
    ) -> InvocationSucceeded | InvocationEnded:
        """What is recorded of a result; one that breaks the contract is a failure."""
        if isinstance(result, InvocationEnded):
            return result
        key = question.invocation.descriptor.key
        if not isinstance(result, self.policy.result):
            log.error("hook %s returned %r, no %s", key, result, self.policy.result.__name__)
            return FAILED
        try:
            answer = self.policy.answer(result)
            problem = answer_problem(question.invocation, answer)
        except Exception:  # a result may hold anything at run time
            log.exception("hook %s returned a result that cannot be read", key)
            return FAILED
        if problem:
            log.error("hook %s returned no valid result: %s", key, problem)
            return FAILED
        return answer

    def _end(self, question: Question[R], ending: InvocationSucceeded | InvocationEnded) -> None:
        question.ending = ending
        self._unwritten.append(question.step(ending))

    def skip(self, code: str, *, group: str) -> None:
        """Do not ask the questions of a group that have not been asked."""
        for question in self.questions:
            if question.group == group and question.ending is None:
                self._end(question, InvocationEnded(ExtensionStatus.CANCELED, code))
                question.closed = True

    async def record_ends(self) -> None:
        """Make durable how the questions ended, before anything comes of it; under the lock."""
        if self._unwritten:
            await self._write("ends", [])

    async def _write(self, what: str, changes: Sequence[Change]) -> None:
        await self._owner.commit(f"{self.policy.label}-{what}", [*self._unwritten, *changes])
        self._unwritten = []

    def applied(self, context: ContextDisposition) -> list[Change]:
        """The changes that end a chain which succeeded; proposed contexts become `context`."""
        changes = list(self._unwritten)
        for question in self.questions:
            if not question.closed:
                proposed = question.answer is not None and question.answer.context
                becomes = context if proposed else ContextDisposition.NONE
                changes.append(question.step(InvocationSettled(ExtensionEffect.APPLIED, becomes)))
        return changes

    def stopped(self, code: str) -> list[Change]:
        """The changes that end a chain which came to nothing."""
        changes = list(self._unwritten)
        for question in self.questions:
            if question.closed:
                continue
            if question.ending is None:
                changes.append(question.step(InvocationEnded(ExtensionStatus.CANCELED, code)))
                continue
            effect = ExtensionEffect.DISCARDED
            if question is self.decisive:
                effect = ExtensionEffect.APPLIED
            proposed = question.answer is not None and question.answer.context
            context = ContextDisposition.DISCARDED if proposed else ContextDisposition.NONE
            changes.append(question.step(InvocationSettled(effect, context)))
        return changes

    async def finish(self, what: str, changes: Sequence[Change]) -> None:
        """Make the end of the chain durable, under the lock."""
        if changes:
            await self._owner.commit(f"{self.policy.label}-{what}", changes)
        self.over = True

    async def _give_up(self) -> None:
        """The caller is gone: end what is being asked as canceled, and settle everything."""
        for question in self.questions:
            if question.began and question.ending is None:
                ended = InvocationEnded(ExtensionStatus.CANCELED, self.policy.canceled)
                self._end(question, ended)
                self.decisive = question
        try:
            async with self._owner.lock:
                await self.finish("canceled", self.stopped(self.policy.canceled))
        except ClassifiedError:
            await self.settle_what_is_left()

    async def settle_what_is_left(self) -> None:
        """After a lost write: settle what the store says is open. If that fails, recovery does."""
        owner, self.over = self._owner, True
        sequences = {question.sequence for question in self.questions}
        try:
            async with owner.lock:
                owner.adopt((await owner.components.store.load(owner.id)).state)
                left = [e for e in owner.state.extensions.open.values() if e.sequence in sequences]
                if left:
                    changes = [change for entry in left for change in abandoned(entry)]
                    await owner.commit(f"{self.policy.label}-lost", changes)
        except ClassifiedError:
            log.exception("hooks of Session %s could not be settled", owner.id)

    def _lost(self) -> ClassifiedError:
        return ClassifiedError(
            ErrorKind.UNAVAILABLE,
            self.policy.lost,
            f"what hooks decided at {self.policy.label} could not be recorded",
        )
