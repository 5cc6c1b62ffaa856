"""Input gates: a message is submitted when all of them let it through, or not at all.

A Session's submissions take turns. The gates are asked outside its lock, so Runs and other commands
go on meanwhile; before the message is submitted, everything that the decision rests on is looked at
again.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import anyio

from agentslot.interaction import InputGateError
from agentslot.session import (
    Actor,
    Change,
    ClassifiedError,
    ContextDisposition,
    Delivery,
    ErrorKind,
    ExtensionBoundary,
    ExtensionDecision,
    ExtensionInvocation,
    InvocationId,
    InvocationSucceeded,
    Message,
    MessageInput,
    RunId,
    StepId,
    diagnostic,
)
from agentslot.standardagent.hook import (
    InputGate,
    InputGateResult,
    InputGateView,
    InputOperation,
    Link,
)
from agentslot.standardagent.runtime.hooks.chain import BoundaryPolicy, HookChain
from agentslot.standardagent.runtime.hooks.contexts import contribution
from agentslot.standardagent.runtime.hooks.interrupting import kind_of_ending
from agentslot.standardagent.runtime.hooks.question import Asking, Question, reserve
from agentslot.standardagent.runtime.owner import SessionOwner, runtime_closed

_POLICY: BoundaryPolicy[InputGateResult] = BoundaryPolicy(
    label="input-gates",
    result=InputGateResult,
    answer=lambda result: InvocationSucceeded(
        ExtensionDecision(result.decision), result.reason, tuple(result.context)
    ),
    stopped="input_gate_chain_stopped",
    canceled="canceled",
    decisive=frozenset({ExtensionDecision.REJECT}),
    decided="input_gate_chain_stopped",
    pipelined=False,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a submission is about beside its message; it must not change while gates are asked.

    Attributes:
        run_id: the Run that a message is to steer.
        previous_digest: digest of the content that an edit replaces.
        delivery: of the message that is edited.
    """

    run_id: RunId | None = None
    previous_digest: str = ""
    delivery: Delivery | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """A message that somebody wants to submit.

    Attributes:
        message: as it would be submitted; gates cannot change it.
        subject: reads the subject, under the lock; raises if there is none.
    """

    operation: InputOperation
    message: Message
    subject: Callable[[], Subject]
    expected_revision: int | None
    actor: Actor | None


class Admission:
    """The leave to submit a message: what to commit with it."""

    def __init__(self, owner: SessionOwner, chain: HookChain[InputGateResult] | None) -> None:
        self._owner = owner
        self._chain = chain

    def waiting(self) -> list[Change]:
        """With a message that goes into the queue: the contexts wait beside it."""
        return [] if self._chain is None else self._chain.applied(ContextDisposition.NONE)

    def consumed(self, run_id: RunId, step_id: StepId) -> list[Change]:
        """With a message that starts a Run: the contexts join its first step."""
        if self._chain is None:
            return []
        changes = self._chain.applied(ContextDisposition.CONSUMED)
        for question in self._chain.questions:
            context = question.answer.context if question.answer is not None else ()
            if context:
                invocation = question.invocation
                changes.append(contribution(self._owner, invocation, context, run_id, step_id))
        return changes


@asynccontextmanager
async def admitted(owner: SessionOwner, submission: Submission) -> AsyncGenerator[Admission]:
    """Hold the Session's lock for a message that may be submitted now.

    Raises:
        RevisionConflictError: the Session has moved on since its caller looked; no gate was asked.
        InputGateError: the message may not be submitted, or not any more.
    """
    if not owner.components.hooks.input_gates:
        async with owner.lock:
            owner.check_writable(submission.expected_revision)
            submission.subject()
            yield Admission(owner, None)
        return
    async with owner.submitting:
        chain, subject = await _let_through(owner, submission)
        try:
            async with owner.lock:
                owner.check_writable(None)
                if submission.subject() != subject:
                    raise _changed()
                yield Admission(owner, chain)
        except ClassifiedError as error:
            await _discard(owner, chain)
            raise _refusal(owner, chain, error.kind, error.code, error.message) from error
        except anyio.get_cancelled_exc_class():
            await _discard(owner, chain)
            raise


async def _let_through(
    owner: SessionOwner, submission: Submission
) -> tuple[HookChain[InputGateResult], Subject]:
    """Ask the gates; they have all let the message through when this returns."""
    async with owner.lock:
        owner.check_writable(submission.expected_revision)
        subject = submission.subject()
        links = owner.components.hooks.input_gates
        askings = [_asking(owner, submission, subject, link) for link in links]
        changes, questions = reserve(owner.state, owner.components.ids, askings)
        await owner.commit("input-gates-prepare", changes, submission.actor)
    chain = HookChain(owner, _POLICY, questions)
    try:
        with anyio.CancelScope() as owner.asking:
            await chain.evaluate()
    except ClassifiedError as error:
        raise _refusal(owner, chain, error.kind, error.code, error.message) from error
    if chain.over:
        closed = runtime_closed(owner.id)
        raise _refusal(owner, chain, closed.kind, closed.code, closed.message)
    chain.decisive = chain.decisive or next(filter(_rejects, questions), None)
    if chain.decisive is not None:
        await _discard(owner, chain)
        raise _refusal(owner, chain, *_reason(chain))
    return chain, subject


def _rejects(question: Question[InputGateResult]) -> bool:
    answer = question.answer
    return answer is not None and answer.decision is ExtensionDecision.REJECT


def _asking(
    owner: SessionOwner, submission: Submission, subject: Subject, link: Link[InputGate, None]
) -> Asking[InputGateView, InputGateResult]:
    state, message = owner.state, submission.message

    def view(invocation_id: InvocationId, revision: int) -> InputGateView:
        return InputGateView(
            invocation_id,
            submission.operation,
            state.id,
            state.agent,
            state.workspace,
            revision,
            message.id,
            message.client_message_id,
            MessageInput(message.parts),
            subject.previous_digest,
        )

    return Asking(
        link.descriptor,
        link.component.evaluate,
        view,
        partial(
            ExtensionInvocation,
            boundary=ExtensionBoundary.INPUT_GATE,
            run_id=subject.run_id,
            message_id=message.id,
        ),
    )


def _reason(chain: HookChain[InputGateResult]) -> tuple[ErrorKind, str, str]:
    """Kind, code and words of what the gates decided."""
    ended = chain.failure
    if ended is not None and chain.decisive is not None:
        kind = kind_of_ending(ended)
        known = ended.code == "extension_deadline_exceeded" or kind is ErrorKind.CANCELED
        code = ended.code if known else "extension_failed"
        gate = chain.decisive.invocation.descriptor.key
        return kind, code, f"input gate {gate!r} failed: {ended.reason or ended.code}"
    answer = chain.decisive.answer if chain.decisive is not None else None
    return ErrorKind.FORBIDDEN, "input_rejected", answer.reason if answer is not None else ""


def _changed() -> ClassifiedError:
    return ClassifiedError(
        ErrorKind.CONFLICT,
        "revision_conflict",
        "what the message was meant for has changed while the input gates were asked: look again",
    )


async def _discard(owner: SessionOwner, chain: HookChain[InputGateResult]) -> None:
    """Settle a chain whose message is not submitted, also for a caller that is gone."""
    with anyio.CancelScope(shield=True):
        try:
            async with owner.lock:
                await chain.finish("discarded", chain.stopped(_POLICY.stopped))
        except ClassifiedError:
            await chain.settle_what_is_left()


def _refusal(
    owner: SessionOwner,
    chain: HookChain[InputGateResult],
    kind: ErrorKind,
    code: str,
    message: str,
) -> InputGateError:
    entries = [owner.state.extensions[q.sequence] for q in reversed(chain.questions)]
    return InputGateError(
        kind,
        code,
        message,
        session_id=owner.id,
        current_revision=owner.state.revision,
        diagnostics=tuple(map(diagnostic, entries)),
    )
