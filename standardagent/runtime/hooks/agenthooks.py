"""Agent hooks: best effort proposals with which a Run goes on instead of completing."""

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast

from agentslot.session import (
    ClassifiedError,
    Delivery,
    History,
    InvocationEnded,
    Message,
    MessageInput,
    QueueItem,
    Role,
    read_history,
)
from agentslot.standardagent.hook import AgentHookView
from agentslot.standardagent.runtime.hooks.asking import call
from agentslot.standardagent.runtime.run import Run

log = logging.getLogger(__name__)


async def proposals(run: Run) -> list[QueueItem]:
    """What the agent hooks want to be said, as messages that steer the Run.

    A hook that fails wants nothing; the cancellation of the Run ends it early.
    """
    components, state = run.owner.components, run.owner.state
    messages = await read_history(state.history, _messages, state.history)
    view = AgentHookView(state.id, run.id, state.revision, run.config, messages)
    proposed: list[MessageInput] = []
    with run.interruptible():
        for hook in components.hooks.agent_hooks:
            name = type(hook).__name__
            answer = await call(run.owner, name, partial(hook.before_run_complete, view))
            proposed += _valid(name, answer)
    if run.cancel_requested:
        return []
    return [_steering(run, each) for each in proposed]


def _messages(history: History) -> tuple[Message, ...]:
    return tuple(fact.payload for fact in history if isinstance(fact.payload, Message))


def _valid(name: str, proposed: object) -> Iterator[MessageInput]:
    if isinstance(proposed, InvocationEnded):
        return
    several: Sequence[object] = [proposed]
    if isinstance(proposed, Sequence) and not isinstance(proposed, str):
        several = cast("Sequence[object]", proposed)
    for each in several:
        if not isinstance(each, MessageInput):
            log.error("agent hook %s proposed a %s, which is no message", name, type(each).__name__)
            continue
        try:
            each.require_unicode()
        except ClassifiedError as error:
            log.error("agent hook %s proposed a text that is none: %s", name, error)  # noqa: TRY400  # the error says all
        else:
            yield each


def _steering(run: Run, proposed: MessageInput) -> QueueItem:
    components = run.owner.components
    message = Message(components.ids.message(), Role.USER, proposed.parts, components.now())
    return QueueItem(message, Delivery.STEER)
