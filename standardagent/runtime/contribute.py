"""Context sources: what they add to a step is a fact before it is shown."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import cast

from agentslot.session import (
    AppendContextContribution,
    ClassifiedError,
    ContextContribution,
    ErrorKind,
    Message,
    MessageInput,
    Role,
)
from agentslot.standardagent.context import ContextInput, ContextSource
from agentslot.standardagent.runtime.calling import answer_of
from agentslot.standardagent.runtime.run import Run

log = logging.getLogger(__name__)


def context_of(run: Run, limit_tokens: int) -> ContextInput:
    """What sources and compactors are told of the request that is being prepared."""
    owner, state = run.owner, run.owner.state
    return ContextInput(
        owner.id,
        state.agent,
        state.workspace,
        run.id,
        run.step_id,
        state.revision,
        owner.projection.of(state.history, run.id, run.step_id),
        run.config,
        limit_tokens,
    )


async def ask_sources(run: Run, limit_tokens: int) -> None:
    """Ask every source in order and record what it adds; the next one sees it.

    Raises:
        ClassifiedError: `internal/context_preparation_failed`: a source failed.
    """
    for source in run.owner.components.context_sources:
        added = await _asked(run, source, context_of(run, limit_tokens))
        if added:
            await _record(run, source.key, added)


async def _asked(run: Run, source: ContextSource, context: ContextInput) -> Sequence[MessageInput]:
    name = f"context source {source.key!r}"
    try:
        return proposed(await answer_of(run.owner, name, partial(source.contribute, context)))
    except Exception as error:
        log.exception("%s failed in Run %s", name, run.id)
        raise ClassifiedError(
            ErrorKind.INTERNAL,
            "context_preparation_failed",
            f"{name} failed with {type(error).__name__}",
        ) from error


def proposed(messages: object) -> tuple[MessageInput, ...]:
    """The messages that a component has returned.

    Raises:
        TypeError: it has returned something else.
        ClassifiedError: `invalid_input/text_not_unicode`: no store could keep them.
    """
    if not isinstance(messages, Sequence):
        raise TypeError(f"a {type(messages).__name__} is no sequence of messages")
    for each in cast("Sequence[object]", messages):
        if not isinstance(each, MessageInput):
            raise TypeError(f"a {type(each).__name__} is no MessageInput")
        each.require_unicode()
    return tuple(cast("Sequence[MessageInput]", messages))


async def _record(run: Run, key: str, added: Sequence[MessageInput]) -> None:
    owner = run.owner
    messages = tuple(as_user_message(run, each) for each in added)
    contribution = ContextContribution(run.id, run.step_id, key, messages)
    async with owner.lock:
        await owner.commit("context-source", [AppendContextContribution(contribution)])


def as_user_message(run: Run, content: MessageInput) -> Message:
    """A user message of the current step that nobody has sent."""
    components = run.owner.components
    return Message(
        components.ids.message(),
        Role.USER,
        content.parts,
        components.now(),
        run.id,
        run.step_id,
    )
