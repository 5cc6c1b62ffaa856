"""A provider that plays scripts, for what stands before a provider."""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from agentslot.model.contract import (
    AttemptRecorder,
    Completion,
    ExecutionCapabilities,
    ModelRequest,
    ModelStream,
    TokenCount,
)
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.middleware import PassingRecorder
from agentslot.model.testing import (
    Script,
    ScriptedStream,
    calls_answer,
    failing_answer,
    text_answer,
)
from agentslot.session import AttemptId, ModelConfig, TextPart

SAYS = text_answer("Hello there.")
REMEMBERS = Script(Completion((TextPart("Hello."),), continuation='{"signature":1}'))
CALLS = calls_answer(("ping", {}))
FAILS = failing_answer(ModelErrorCode.OVERLOADED)
SHOWS_AND_FAILS = failing_answer(ModelErrorCode.OVERLOADED, deltas=["half"])
BREAKS_AND_GOES_ON = Script(
    ModelError(ModelErrorCode.BROKEN_STREAM, "cut off", retryable=True), ("half",), usage=None
)
"""The provider tries again by itself: the next script is of the same call."""


def waits() -> Script:
    """It takes the request and sends nothing."""
    return Script(Completion((TextPart("never"),)), gate=anyio.Event())


def waits_after_text() -> Script:
    """It sends some text, and then nothing more."""
    return Script(Completion((TextPart("never"),)), ("some",), gate=anyio.Event())


@dataclass(frozen=True, slots=True)
class Sent:
    """A request, and the attempt as which it was recorded."""

    attempt_id: AttemptId
    request: ModelRequest


class Player:
    """A ModelProvider that has every model, and plays scripts; the last one repeats.

    Attributes:
        sent: every request, in order.
    """

    counts_offline = True

    def __init__(self, scripts: Sequence[Script]) -> None:
        self.sent: list[Sent] = []
        self._left = list(reversed(scripts))

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        """A large window, for any model."""
        del config
        return ExecutionCapabilities(context_window_tokens=1_000_000)

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        """Begin a call; it takes its scripts when it is read."""
        return ScriptedStream(self._next, _Sending(recorder, request, self.sent))

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """One for each element."""
        return TokenCount(len(request.inputs))

    async def fingerprint(self, request: ModelRequest) -> str:
        """All that is shown, and to whom."""
        shown = request.system_prompt, list(request.inputs), request.tools, request.output
        return repr((request.config, *shown))

    def _next(self) -> Script:
        return self._left.pop() if self._left[1:] else self._left[0]


class _Sending(PassingRecorder):
    """Sends a request as soon as it is recorded."""

    def __init__(self, recorder: AttemptRecorder, request: ModelRequest, sent: list[Sent]) -> None:
        super().__init__(recorder)
        self._request = request
        self._sent = sent

    async def started(self) -> AttemptId:
        attempt_id = await super().started()
        self._sent.append(Sent(attempt_id, self._request))
        return attempt_id
