"""The answer to a request that was asked before, byte for byte, without asking again."""

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import anyio

from agentslot.model.contract import (
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    FinishReason,
    ModelEvent,
    ModelRequest,
    ModelStream,
    TextDelta,
)
from agentslot.model.extension import Proceed
from agentslot.model.middleware.recording import PassingRecorder
from agentslot.model.wires.caching import CacheStats
from agentslot.session import AttemptId, AttemptStatus, SessionId, TextPart

_KEPT = frozenset({FinishReason.STOP, FinishReason.TOOL_USE})
_Key = tuple[SessionId, str]


@dataclass(frozen=True, slots=True)
class _Answer:
    completion: Completion
    outcome: AttemptOutcome


class RequestCache:
    """A ModelMiddleware that remembers answers by the exact bytes of their requests.

    A Session finds only its own answers. An answer that was found is recorded as an attempt
    without tokens, whose `provider_request_id` begins with `cache:`.

    Attributes:
        stats: hits, misses and savings.
    """

    def __init__(self, *, max_entries: int = 128, ignore_temperature: bool = False) -> None:
        """Remember answers.

        Args:
            max_entries: of all Sessions together; what was not used for longest goes first.
            ignore_temperature: also answer requests that ask for chance, by a temperature over 0.

        Raises:
            ValueError: max_entries is less than 1.
        """
        if max_entries < 1:
            raise ValueError(f"max_entries must be at least 1, not {max_entries}")
        self.stats = CacheStats()
        self._answers: OrderedDict[_Key, _Answer] = OrderedDict()
        self._max_entries = max_entries
        self._ignore_temperature = ignore_temperature

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        """Answer from memory, or go on and remember what comes."""
        if request.config.temperature and not self._ignore_temperature:
            return proceed(request, recorder)
        return _Looked(partial(self._look, request, recorder, proceed))

    async def _look(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        key = (request.session_id, await proceed.fingerprint(request))
        known = self._answers.get(key)
        if known is None:
            self.stats.misses += 1
            watching = _WatchingRecorder(recorder)
            return _Remembering(proceed(request, watching), watching, partial(self._keep, key))
        self._answers.move_to_end(key)
        self.stats.hits += 1
        self.stats.saved_usd += known.outcome.cost_usd or 0
        return _Remembered(known, key[1], recorder)

    def _keep(self, key: _Key, answer: _Answer) -> None:
        self._answers[key] = answer
        while len(self._answers) > self._max_entries:
            self._answers.popitem(last=False)


class _Looked:
    """A stream that finds out where its events come from when it is first read."""

    def __init__(self, look: Callable[[], Awaitable[ModelStream]]) -> None:
        self._look = look
        self._stream: ModelStream | None = None

    async def receive(self) -> ModelEvent:
        if self._stream is None:
            self._stream = await self._look()
        return await self._stream.receive()

    async def aclose(self) -> None:
        if self._stream is not None:
            await self._stream.aclose()


class _WatchingRecorder(PassingRecorder):
    """Keeps how the last attempt ended."""

    last: AttemptOutcome | None = None

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        self.last = outcome
        await super().finished(attempt_id, outcome)


class _Remembering:
    """A stream whose answer is kept as it passes by."""

    def __init__(
        self, stream: ModelStream, watching: _WatchingRecorder, keep: Callable[[_Answer], None]
    ) -> None:
        self._stream = stream
        self._watching = watching
        self._keep = keep

    async def receive(self) -> ModelEvent:
        event = await self._stream.receive()
        outcome = self._watching.last
        if isinstance(event, Completed) and event.completion.finish in _KEPT and outcome:
            self._keep(_Answer(event.completion, outcome))
        return event

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Remembered:
    """The stream of an answer that was found."""

    def __init__(self, answer: _Answer, fingerprint: str, recorder: AttemptRecorder) -> None:
        self._answer = answer
        self._fingerprint = fingerprint
        self._recorder = recorder
        self._events: deque[ModelEvent] | None = None

    async def receive(self) -> ModelEvent:
        if self._events is None:
            self._events = await self._replay()
        if not self._events:
            raise anyio.EndOfStream
        return self._events.popleft()

    async def aclose(self) -> None:
        self._events = deque()

    async def _replay(self) -> deque[ModelEvent]:
        attempt_id = await self._recorder.started()
        outcome = AttemptOutcome(
            AttemptStatus.SUCCEEDED,
            served_model=self._answer.outcome.served_model,
            provider_request_id=f"cache:{self._fingerprint}",
        )
        with anyio.CancelScope(shield=True):
            await self._recorder.finished(attempt_id, outcome)
        completion = self._answer.completion
        texts = [part.text for part in completion.parts if isinstance(part, TextPart)]
        shown = [TextDelta(attempt_id, text) for text in texts if text]
        return deque([*shown, Completed(attempt_id, completion)])
