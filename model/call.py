"""One logical call as a stream of events: attempts, retries, resets, and one terminal event."""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

import anyio

from agentslot.model.attempt import Attempt, Timeouts
from agentslot.model.cachedcontents import CachedContents
from agentslot.model.catalog import attempt_cost
from agentslot.model.contract import (
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Failed,
    ModelDescriptor,
    ModelEvent,
    ModelRequest,
    Reset,
)
from agentslot.model.endpoint import Endpoint
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.estimate import UsageLedger
from agentslot.model.outputlimit import clamp_max_tokens
from agentslot.model.promptcache import PromptCache
from agentslot.model.retry import RetryPolicy
from agentslot.model.wire import Wire, WireRequest
from agentslot.model.wires.caching import CacheLoss
from agentslot.session import AttemptStatus, TokenUsage, safe_line
from agentslot.session.credential import CredentialResolver

if TYPE_CHECKING:
    from agentslot._http import AsyncClient

_MAX_HINT_BYTES = 384


class LogicalCall:
    """The ModelStream of one call; nothing is sent before it is first read."""

    def __init__(
        self,
        request: ModelRequest,
        recorder: AttemptRecorder,
        *,
        wire: Wire,
        encode: Callable[[ModelRequest], Awaitable[WireRequest]],
        endpoint: Endpoint,
        credentials: CredentialResolver,
        model: ModelDescriptor | None,
        retry: RetryPolicy,
        timeouts: Timeouts,
        usage: UsageLedger,
        cache: PromptCache,
        cached: CachedContents | None,
        client: "Callable[[], Awaitable[AsyncClient]]",
    ) -> None:
        self._request = request
        self._recorder = recorder
        self._wire = wire
        self._encode = encode
        self._endpoint = endpoint
        self._credentials = credentials
        self._model = model
        self._retry = retry
        self._timeouts = timeouts
        self._usage = usage
        self._cache = cache
        self._cached = cached
        self._client = client
        self._events: deque[ModelEvent] = deque()
        self._attempt: Attempt | None = None
        self._attempts = 0
        self._delay = 0.0
        self._encoded = self._sent = WireRequest("", b"")
        self._showing = False
        self._ended = False

    async def receive(self) -> ModelEvent:
        """Wait for the next event; see ModelStream."""
        while not self._events:
            if self._ended:
                raise anyio.EndOfStream
            try:
                if self._attempt is None:
                    await self._begin()
                elif deltas := await self._attempt.read():
                    self._events.extend(deltas)
                    self._showing = True
                elif deltas is None:
                    await self._complete(self._attempt)
            except ModelError as error:
                await self._fail(error)
        return self._events.popleft()

    async def aclose(self) -> None:
        """Let go of the connection; an attempt that was still running is recorded as canceled."""
        self._ended = True
        self._events.clear()
        if self._attempt is not None:
            await self._end(self._attempt, AttemptStatus.CANCELED, error_code="canceled")

    async def _begin(self) -> None:
        if self._delay:
            await anyio.sleep(self._delay)
        if self._recorder.budget().exhausted:
            raise ModelError(ModelErrorCode.BUDGET_EXHAUSTED, "the Run's token budget is used up")
        attempt_id = await self._recorder.started()
        self._attempts += 1
        self._attempt = Attempt(
            attempt_id, self._wire, self._endpoint, self._credentials, self._timeouts
        )
        self._encoded = await self._encode(self._request)
        self._sent = await self._fitting(self._encoded)
        if self._cached is not None:
            self._sent = self._cached.shortened(self._sent)
        await self._attempt.send(await self._client(), self._sent)

    async def _fitting(self, encoded: WireRequest) -> WireRequest:
        """The request with its bound of the output lowered to what the window has left."""
        config = self._request.config
        asked = encoded.max_tokens or config.max_tokens
        if asked is None or self._model is None:
            return encoded
        expected = self._usage.expect(self._request.inputs.ledger, encoded.body)
        limit = clamp_max_tokens(asked, self._model.capabilities, expected)
        if limit == asked:
            return encoded
        lowered = replace(self._request, config=replace(config, max_tokens=limit))
        return await self._encode(lowered)

    async def _complete(self, attempt: Attempt) -> None:
        answer = attempt.finish()
        self._usage.learn(self._request.inputs.ledger, self._encoded, answer.usage)
        served_model = attempt.redacted(answer.served_model)
        loss = self._cache.answered(
            self._request, self._encoded, answer.usage, partial(self._cost, served_model)
        )
        await self._end(
            attempt,
            AttemptStatus.SUCCEEDED,
            served_model=served_model,
            cache_loss=loss,
            response_id=attempt.redacted(answer.request_id),
        )
        self._ended = True
        self._events.append(Completed(attempt.id, answer.completion))

    async def _fail(self, error: ModelError) -> None:
        attempt, delay = self._attempt, None
        if attempt is not None:
            error.partial_text = attempt.partial_text()
            attempt.redact(error)
            if hint := attempt.hint(error) or self._wait_hint(error):
                error.args = (f"{error.message} ({safe_line(hint, _MAX_HINT_BYTES)})",)
            await self._end(
                attempt, AttemptStatus.FAILED, error_code=error.code, error_message=error.message
            )
            if self._showing:
                self._showing = False
                self._events.append(Reset(attempt.id))
            delay = self._delay_after(error)
        if delay is None:
            self._ended = True
            self._events.append(Failed(error))
        else:
            self._delay = delay

    def _delay_after(self, error: ModelError) -> float | None:
        if self._cached is not None and self._cached.refused(self._sent, error):
            # What is sent without the name counts as the same try.
            self._cached, self._attempts = None, self._attempts - 1
            return 0.0
        return self._retry.delay_seconds(error, self._attempts)

    def _wait_hint(self, error: ModelError) -> str:
        """Why a call is not tried again that could be, later."""
        asked, longest = error.retry_after_seconds, self._retry.max_retry_after_seconds
        if asked is None or asked <= longest or not error.retryable:
            return ""
        return f"it asks to wait {asked:g} seconds, and max_retry_after_seconds is {longest:g}"

    async def _end(
        self,
        attempt: Attempt,
        status: AttemptStatus,
        *,
        served_model: str = "",
        error_code: str = "",
        error_message: str = "",
        cache_loss: CacheLoss | None = None,
        response_id: str = "",
    ) -> None:
        """Record the end of an attempt, with what it used: reported, or estimated if it began."""
        self._attempt = None
        usage = attempt.decoder.usage
        if usage is None and attempt.answering:
            usage = self._usage.estimate(self._encoded.body, attempt.decoder.text)
        outcome = AttemptOutcome(
            status,
            usage,
            served_model,
            attempt.request_id,
            error_code,
            error_message,
            self._cost(served_model, usage),
            cache_loss,
            "" if status is AttemptStatus.SUCCEEDED else attempt.partial_text(),
            response_id,
        )
        with anyio.CancelScope(shield=True):
            await attempt.aclose()
            await self._recorder.finished(attempt.id, outcome)

    def _cost(self, served_model: str, usage: TokenUsage | None) -> Decimal | None:
        return None if self._model is None else attempt_cost(self._model, served_model, usage)
