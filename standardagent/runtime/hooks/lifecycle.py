"""Session lifecycle hooks: asked when a Session has been opened, and when somebody closes it."""

from functools import partial

import anyio

from agentslot.session import (
    Actor,
    Change,
    ClassifiedError,
    ContextDisposition,
    ExtensionBoundary,
    ExtensionDiagnostic,
    ExtensionInvocation,
    InvocationId,
    InvocationSucceeded,
    LifecyclePhase,
    OpenKind,
    UpdateExtensionJournal,
    diagnostic,
)
from agentslot.session.settlement import discard
from agentslot.standardagent.hook import (
    LifecycleScope,
    Link,
    SessionLifecycle,
    SessionLifecycleResult,
    SessionLifecycleView,
)
from agentslot.standardagent.runtime.hooks.chain import BoundaryPolicy, HookChain
from agentslot.standardagent.runtime.hooks.contexts import waiting_for_run
from agentslot.standardagent.runtime.hooks.question import Asking, reserve
from agentslot.standardagent.runtime.owner import SessionOwner

_POLICY: BoundaryPolicy[SessionLifecycleResult] = BoundaryPolicy(
    label="lifecycle",
    result=SessionLifecycleResult,
    answer=lambda result: InvocationSucceeded(None, result.reason, tuple(result.context)),
    stopped="session_lifecycle_chain_stopped",
    canceled="canceled",
)


async def ask_at_opening(owner: SessionOwner, kind: OpenKind) -> tuple[ExtensionDiagnostic, ...]:
    """Ask the hooks about a Session that opens; what they add waits for its next Run.

    Returns:
        What was asked and answered, newest first. A hook that fails ends the chain and nothing
        else.

    Raises:
        ClassifiedError: it could not be recorded.
    """
    async with owner.lock:
        chain = await _reserved(owner, LifecyclePhase.OPEN, kind, None)
    return () if chain is None else await _asked(owner, chain)


class Farewell:
    """The hooks about a Session that closes, recorded under the revision of who closes it."""

    def __init__(
        self, owner: SessionOwner, chain: HookChain[SessionLifecycleResult] | None
    ) -> None:
        self._owner = owner
        self._chain = chain

    async def ask(self) -> tuple[ExtensionDiagnostic, ...]:
        """Wait until the Session is at rest, and ask the hooks; see `ask_at_opening`."""
        chain = self._chain
        try:
            await self._owner.at_rest()
        except anyio.get_cancelled_exc_class():
            if chain is not None:
                with anyio.CancelScope(shield=True):
                    await _abandon(self._owner, chain)
            raise
        return () if chain is None else await _asked(self._owner, chain)


async def reserve_farewell(owner: SessionOwner, actor: Actor | None) -> Farewell:
    """Record what hooks will be asked when the Session is at rest; the caller holds the lock."""
    return Farewell(owner, await _reserved(owner, LifecyclePhase.CLOSE, None, actor))


async def _reserved(
    owner: SessionOwner, phase: LifecyclePhase, kind: OpenKind | None, actor: Actor | None
) -> HookChain[SessionLifecycleResult] | None:
    links = [link for link in owner.components.hooks.lifecycles if phase in link.scope.phases]
    if not links:
        return None
    askings = [_asking(owner, link, phase, kind) for link in links]
    changes, questions = reserve(owner.state, owner.components.ids, askings)
    await owner.commit("lifecycle-prepare", changes, actor)
    return HookChain(owner, _POLICY, questions)


def _asking(
    owner: SessionOwner,
    link: Link[SessionLifecycle, LifecycleScope],
    phase: LifecyclePhase,
    kind: OpenKind | None,
) -> Asking[SessionLifecycleView, SessionLifecycleResult]:
    state = owner.state

    def view(invocation_id: InvocationId, revision: int) -> SessionLifecycleView:
        return SessionLifecycleView(
            invocation_id, state.id, state.agent, state.workspace, revision, phase, kind
        )

    return Asking(
        link.descriptor,
        link.component.evaluate,
        view,
        partial(
            ExtensionInvocation,
            boundary=ExtensionBoundary.SESSION_LIFECYCLE,
            phase=phase,
            open_kind=kind,
        ),
    )


async def _asked(
    owner: SessionOwner, chain: HookChain[SessionLifecycleResult]
) -> tuple[ExtensionDiagnostic, ...]:
    await chain.evaluate()
    with anyio.CancelScope(shield=True):
        async with owner.lock:
            if chain.failure is None:
                changes = [*_outdated(owner, chain), *chain.applied(ContextDisposition.NONE)]
                await chain.finish("applied", changes)
            else:
                await chain.finish("failed", chain.stopped(_POLICY.stopped))
    entries = [owner.state.extensions[q.sequence] for q in reversed(chain.questions)]
    return tuple(map(diagnostic, entries))


def _outdated(owner: SessionOwner, chain: HookChain[SessionLifecycleResult]) -> list[Change]:
    """Drop contexts that wait where the same hook has a newer one, or restarts would pile up."""
    renewed = {
        question.invocation.descriptor.key
        for question in chain.questions
        if question.answer is not None and question.answer.context
    }
    return [
        UpdateExtensionJournal(entry.sequence, discard(entry))
        for entry in waiting_for_run(owner)
        if entry.invocation.descriptor.key in renewed
    ]


async def _abandon(owner: SessionOwner, chain: HookChain[SessionLifecycleResult]) -> None:
    try:
        async with owner.lock:
            await chain.finish("canceled", chain.stopped(_POLICY.canceled))
    except ClassifiedError:
        await chain.settle_what_is_left()
