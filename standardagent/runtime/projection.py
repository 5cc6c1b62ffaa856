"""History as the model sees it: the messages, calls and results, in order.

What sources and hooks contributed to a step is shown in that step's request alone, behind the rest:
it is committed after everything else that the request shows.
"""

from typing import cast

from agentslot.model import Input, Transcript
from agentslot.session import (
    ContextContribution,
    Fact,
    History,
    Message,
    RunId,
    StepId,
    read_history,
)

_VISIBLE = frozenset({"message", "tool_call", "tool_result"})
_AT_ONCE = 256
"""Facts that are in memory at once while an old History is read."""


def is_visible(fact: Fact) -> bool:
    """Whether every later request shows the fact."""
    return fact.kind in _VISIBLE


class Projection:
    """The transcript of a growing History; each fact is looked at once."""

    def __init__(self) -> None:
        self._seen = 0
        self._transcript = Transcript()
        self._step: tuple[RunId, StepId] | None = None
        self._contributed: list[Message] = []

    def of(self, history: History, run_id: RunId, step_id: StepId) -> Transcript:
        """What the request of a step shows.

        `history` must continue the one that was asked for before, and the step be the newest.
        """
        if len(history) > self._seen:
            self._look_at(history)
        if self._contributed and self._step == (run_id, step_id):
            return self._transcript.showing(self._contributed)
        return self._transcript

    async def catch_up(self, history: History) -> None:
        """Look at what an earlier process left, if it has to be read, before `of` is asked."""
        if self._seen < history.stored:
            await read_history(history, self._look_at, history)

    def _look_at(self, history: History) -> None:
        for start in range(self._seen, len(history), _AT_ONCE):
            fresh: list[Input] = []
            for fact in history[start : start + _AT_ONCE]:
                if fact.kind in _VISIBLE:
                    fresh.append(_input(fact))
                elif isinstance(fact.payload, ContextContribution):
                    self._contribute(fact.payload)
            if fresh:
                self._transcript = self._transcript.appended(fresh)
        self._seen = len(history)

    def _contribute(self, contribution: ContextContribution) -> None:
        step = contribution.run_id, contribution.step_id
        if step != self._step:
            self._step, self._contributed = step, []
        self._contributed.extend(contribution.messages)


def _input(fact: Fact) -> Input:
    """What a visible fact contributes to every later request."""
    return cast("Input", fact.payload)  # its kind has said so
