"""Another model in place of one that cannot answer now."""

from collections import deque
from dataclasses import replace

from agentslot.model.contract import (
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Failed,
    ModelEvent,
    ModelRequest,
    ModelStream,
)
from agentslot.model.errors import ModelErrorCode
from agentslot.model.extension import Proceed
from agentslot.model.middleware.recording import PassingRecorder
from agentslot.session import AttemptId, ModelConfig

FALLBACK_CODES = frozenset(
    {
        ModelErrorCode.RATE_LIMITED,
        ModelErrorCode.OVERLOADED,
        ModelErrorCode.QUOTA_EXHAUSTED,
        ModelErrorCode.MODEL_NOT_FOUND,
        ModelErrorCode.TRANSPORT,
        ModelErrorCode.TIMEOUT,
        ModelErrorCode.BROKEN_STREAM,
    }
)
"""Failures that say nothing against the request itself."""


class FallbackModel:
    """A ModelMiddleware that asks other models, in order, when a call has failed for good.

    On a token budget that is used up nobody else is asked, and the failure stands.

    The Run keeps its configuration. What answered stands in `served_model` of the attempt, as
    `provider/model`, and is what the attempt is priced by.
    """

    def __init__(
        self, *models: ModelConfig, codes: frozenset[ModelErrorCode] = FALLBACK_CODES
    ) -> None:
        """Ask `models` after failures with one of `codes`; their providers must be installed."""
        if not models:
            raise ValueError("FallbackModel needs at least one model to fall back to")
        self._models = models
        self._codes = codes

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        """Begin the call with the model that was asked for."""
        others = deque(replace(request, config=model) for model in self._models)
        return _FallbackStream(
            proceed(request, recorder), others, recorder, proceed=proceed, codes=self._codes
        )


class _FallbackStream:
    """The stream of the current model; its failure begins the next one's."""

    def __init__(
        self,
        stream: ModelStream,
        others: deque[ModelRequest],
        recorder: AttemptRecorder,
        *,
        proceed: Proceed,
        codes: frozenset[ModelErrorCode],
    ) -> None:
        self._stream = stream
        self._others = others
        self._recorder = recorder
        self._proceed = proceed
        self._codes = codes
        self._fell_back = False

    async def receive(self) -> ModelEvent:
        while True:
            event = await self._stream.receive()
            match event:
                case Failed(error) if error.code in self._codes and self._may_go_on():
                    await self._next()
                case Completed(attempt_id, completion) if self._fell_back:
                    # What the model wants back would be given to the one that was asked for.
                    return Completed(attempt_id, replace(completion, continuation=None))
                case _:
                    return event

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _may_go_on(self) -> bool:
        return bool(self._others) and not self._recorder.budget().exhausted

    async def _next(self) -> None:
        await self._stream.aclose()
        self._fell_back = True
        request = self._others.popleft()
        recorder = _FallbackRecorder(self._recorder, request.config)
        self._stream = self._proceed(request, recorder)


class _FallbackRecorder(PassingRecorder):
    """Records which model the attempts were really made of."""

    def __init__(self, recorder: AttemptRecorder, served: ModelConfig) -> None:
        super().__init__(recorder)
        self._served = served

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        served = f"{self._served.provider}/{outcome.served_model or self._served.model}"
        await super().finished(attempt_id, replace(outcome, served_model=served))
