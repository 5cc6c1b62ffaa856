"""Contexts that hooks propose, on their way into a step: facts that its request alone shows."""

from collections.abc import Collection, Iterator, Sequence

from agentslot.session import (
    AppendContextContribution,
    Change,
    ContextContribution,
    ContextDisposition,
    ExtensionBoundary,
    ExtensionEffect,
    ExtensionEntry,
    ExtensionInvocation,
    InvocationSettled,
    Message,
    MessageId,
    MessageInput,
    Role,
    RunId,
    StepId,
    UpdateExtensionJournal,
)
from agentslot.session.settlement import discard
from agentslot.standardagent.runtime.owner import SessionOwner

CONSUMED = InvocationSettled(context=ContextDisposition.CONSUMED)


def contribution(
    owner: SessionOwner,
    invocation: ExtensionInvocation,
    context: Sequence[MessageInput],
    run_id: RunId,
    step_id: StepId,
) -> AppendContextContribution:
    """The change that shows a proposed context to the model in one step."""
    now = owner.components.now()
    messages = tuple(
        Message(MessageId(f"{invocation.id}-{n}"), Role.USER, proposed.parts, now, run_id, step_id)
        for n, proposed in enumerate(context, 1)
    )
    source = f"hook:{invocation.descriptor.key}:{invocation.id}"
    return AppendContextContribution(ContextContribution(run_id, step_id, source, messages))


def consume_waiting(
    owner: SessionOwner, entries: Sequence[ExtensionEntry], run_id: RunId, step_id: StepId
) -> list[Change]:
    """The changes that bring contexts which have waited into a step."""
    changes: list[Change] = []
    for entry in entries:
        context = entry.context_messages
        changes.append(contribution(owner, entry.invocation, context, run_id, step_id))
        changes.append(UpdateExtensionJournal(entry.sequence, CONSUMED))
    return changes


def waiting_for_messages(
    owner: SessionOwner, message_ids: Collection[MessageId]
) -> list[ExtensionEntry]:
    """Contexts of the input gate that wait until these queued messages are taken up."""
    return [
        entry
        for entry in _waiting(owner, ExtensionBoundary.INPUT_GATE)
        if entry.invocation.message_id in message_ids
    ]


def discard_waiting(owner: SessionOwner, message_id: MessageId) -> list[Change]:
    """The changes that drop what gates proposed for a queued message as it was."""
    return [
        UpdateExtensionJournal(entry.sequence, discard(entry))
        for entry in waiting_for_messages(owner, (message_id,))
    ]


def waiting_for_run(owner: SessionOwner) -> list[ExtensionEntry]:
    """Contexts of the Session's opening that wait for the next Run."""
    return list(_waiting(owner, ExtensionBoundary.SESSION_LIFECYCLE))


def _waiting(owner: SessionOwner, boundary: ExtensionBoundary) -> Iterator[ExtensionEntry]:
    for entry in owner.state.extensions.open.values():
        applied = entry.effect is ExtensionEffect.APPLIED
        if applied and entry.invocation.boundary is boundary:
            yield entry
