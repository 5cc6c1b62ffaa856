"""History as the model sees it: the messages, calls and results, in order."""

from agentslot.model import Input, Transcript
from agentslot.session import Fact, History, Message, ToolCall, ToolResult


def visible(fact: Fact) -> Input | None:
    """What a fact contributes to every later request, if anything."""
    payload = fact.payload
    if isinstance(payload, Message | ToolCall | ToolResult):
        return payload
    return None


class Projection:
    """The transcript of a growing History; each fact is looked at once."""

    def __init__(self) -> None:
        self._seen = 0
        self._transcript = Transcript()

    def of(self, history: History) -> Transcript:
        """The transcript of `history`, which must continue the one that was asked for before."""
        if len(history) > self._seen:
            fresh = [item for fact in history[self._seen :] if (item := visible(fact)) is not None]
            if fresh:
                self._transcript = self._transcript.appended(fresh)
            self._seen = len(history)
        return self._transcript
