"""History as the model sees it: the messages, calls and results, in order."""

from typing import cast

from agentslot.model import Input, Transcript
from agentslot.session import Fact, History

_VISIBLE = frozenset({"message", "tool_call", "tool_result"})


class Projection:
    """The transcript of a growing History; each fact is looked at once."""

    def __init__(self) -> None:
        self._seen = 0
        self._transcript = Transcript()

    def of(self, history: History) -> Transcript:
        """The transcript of `history`, which must continue the one that was asked for before."""
        if len(history) > self._seen:
            fresh = [_input(fact) for fact in history[self._seen :] if fact.kind in _VISIBLE]
            if fresh:
                self._transcript = self._transcript.appended(fresh)
            self._seen = len(history)
        return self._transcript


def _input(fact: Fact) -> Input:
    """What a visible fact contributes to every later request."""
    return cast("Input", fact.payload)  # its kind has said so
