"""Compaction: a request that does not fit is shortened in its view, never in History."""

import logging
from functools import partial

from agentslot.model import Transcript
from agentslot.session import (
    ClassifiedError,
    ContextRange,
    ErrorKind,
    History,
    Message,
    Role,
    read_history,
)
from agentslot.standardagent.context import Compaction, ContextCompactor
from agentslot.standardagent.runtime.calling import answer_of
from agentslot.standardagent.runtime.contribute import as_user_message, context_of, proposed
from agentslot.standardagent.runtime.projection import is_visible
from agentslot.standardagent.runtime.run import Run

log = logging.getLogger(__name__)

ViewInputs = tuple[ContextRange | Message, ...]


async def compacted(
    run: Run, compactor: ContextCompactor, limit_tokens: int
) -> tuple[Transcript, ViewInputs]:
    """The shorter conversation, and how its record refers to History.

    Raises:
        ClassifiedError: `internal/context_preparation_failed`: the compactor failed, or broke its
            contract.
    """
    context = context_of(run, limit_tokens)
    try:
        ask = partial(compactor.compact, context)
        compaction = _compaction(await answer_of(run.owner, "context compactor", ask))
        instead = proposed(compaction.instead)
        _check(compaction, context.inputs)
    except Exception as error:
        log.exception("the context compactor failed in Run %s", run.id)
        raise ClassifiedError(
            ErrorKind.INTERNAL,
            "context_preparation_failed",
            f"the context compactor failed with {type(error).__name__}: the log says why",
        ) from error
    shown = tuple(as_user_message(run, each) for each in instead)
    kept = context.inputs[compaction.kept_from :]
    history = run.owner.state.history
    first = await read_history(history, _sequence_of, history, compaction.kept_from)
    return Transcript([*shown, *kept]), (*shown, ContextRange(first, history.last_sequence))


def _compaction(answer: object) -> Compaction:
    if isinstance(answer, Compaction):
        return answer
    raise TypeError(f"a context compactor returned {answer!r}, which is no Compaction")


def _check(compaction: Compaction, inputs: Transcript) -> None:
    """Refuse what would part a call from its result, or begin with what no provider accepts."""
    if not 0 <= compaction.kept_from < inputs.lasting:
        raise ValueError(f"kept_from is {compaction.kept_from} of {inputs.lasting} elements")
    first = inputs[compaction.kept_from]
    if not isinstance(first, Message):
        raise TypeError(f"the first element that stays is a {first.kind}, not a message")
    if not compaction.instead and first.role is not Role.USER:
        raise ValueError("the first element that stays must be a user message")


def _sequence_of(history: History, index: int) -> int:
    """The sequence of the fact that a conversation shows at that place."""
    for fact in history:
        if is_visible(fact):
            if index == 0:
                return fact.sequence
            index -= 1
    raise IndexError(index)
