"""Executors and recorders for tests: answers from a script, and a record of what was asked.

```python
executor = ScriptedExecutor(calls_answer(("add", {"a": 2, "b": 2})), text_answer("It is 4."))
```
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

import anyio

from agentslot._json import dumps
from agentslot.model.contract import (
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    ExecutionCapabilities,
    Failed,
    FinishReason,
    ModelEvent,
    ModelRequest,
    RequestedCall,
    Reset,
    TextDelta,
    TokenBudget,
)
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.session import AttemptId, AttemptStatus, ModelConfig, TextPart, TokenUsage

_USAGE = TokenUsage(input=10, output=5, total=15)


@dataclass(frozen=True, slots=True)
class Script:
    """What one attempt does.

    Attributes:
        outcome: what it ends with. A retryable error is followed by the next script, as the next
            attempt of the same call.
        deltas: text shown before.
        usage: what it reports; None if nothing.
        cost_usd: what the usage cost, if it was priced.
        gate: the attempt waits for this after it has shown its deltas.
    """

    outcome: Completion | ModelError
    deltas: tuple[str, ...] = ()
    usage: TokenUsage | None = _USAGE
    gate: anyio.Event | None = None
    cost_usd: Decimal | None = None


Scripted = Script | str | Callable[[ModelRequest], Script | str]
"""What one attempt plays: a script, a text, or a function that makes either of the request."""


def text_answer(text: str, *, gate: anyio.Event | None = None) -> Script:
    """Answer with text, shown word by word."""
    words = tuple(part for part in text.replace(" ", " \0").split("\0") if part)
    return Script(Completion((TextPart(text),)), words, gate=gate)


def calls_answer(
    *calls: tuple[str, Mapping[str, object] | str],
    text: str = "",
    finish: FinishReason = FinishReason.TOOL_USE,
    gate: anyio.Event | None = None,
) -> Script:
    """Answer with tool calls: each a name and its arguments, a mapping or raw text.

    Raises:
        TypeError: a call is no such pair.
    """
    for call in calls:
        if not isinstance(call, tuple) or len(call) != 2:  # pyright: ignore[reportUnnecessaryIsInstance, reportUnnecessaryComparison]  # untyped code
            raise TypeError(f"each call is a pair such as ('add', {{'a': 2}}), not {call!r}")
    requested = tuple(
        RequestedCall(
            f"call_{number}", name, arguments if isinstance(arguments, str) else dumps(arguments)
        )
        for number, (name, arguments) in enumerate(calls, 1)
    )
    parts = (TextPart(text),) if text else ()
    return Script(Completion(parts, requested, finish), (text,) if text else (), gate=gate)


def failing_answer(
    code: ModelErrorCode, *, retryable: bool = False, deltas: Sequence[str] = ()
) -> Script:
    """Fail, after having shown some text."""
    error = ModelError(code, f"scripted {code}", retryable=retryable)
    return Script(error, tuple(deltas), usage=None)


class ScriptedExecutor:
    """A ModelExecutor that plays scripts, first in first out, and keeps what it was asked.

    Attempts are recorded, reset and ended in the order that the contract prescribes. A call that
    finds no script fails with `invalid_answer`.

    Attributes:
        requests: every request, in order.
    """

    def __init__(
        self, *scripts: Scripted, capabilities: ExecutionCapabilities | None = None
    ) -> None:
        """Play `scripts`: a text answers with it, a function makes the answer of the request.

        Raises:
            TypeError: one of them is neither.
        """
        self.requests: list[ModelRequest] = []
        self._scripts = deque[Scripted]()
        self.add(*scripts)
        self._capabilities = capabilities or ExecutionCapabilities(context_window_tokens=1_000_000)

    def add(self, *scripts: Scripted) -> None:
        """Put more scripts behind those that are left."""
        for script in scripts:
            _require_script(script)
        self._scripts.extend(scripts)

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        """The capabilities given, for any model."""
        del config
        return self._capabilities

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> "ScriptedStream":
        """Begin a call; it takes its scripts when it is read."""
        self.requests.append(request)
        return ScriptedStream(partial(self._next, request), recorder)

    def _next(self, request: ModelRequest) -> Script:
        if self._scripts:
            return _script(self._scripts.popleft(), request)
        reason = f"no script is left for request {len(self.requests)}"
        return Script(ModelError(ModelErrorCode.INVALID_ANSWER, reason), usage=None)


def _require_script(script: object) -> None:
    if not isinstance(script, Script | str) and not callable(script):
        raise TypeError(
            "a script is a text, what text_answer, calls_answer or failing_answer make, or a"
            f" function of the request, not {script!r}"
        )


def _script(scripted: Scripted, request: ModelRequest) -> Script:
    made = scripted if isinstance(scripted, Script | str) else scripted(request)
    _require_script(made)
    return text_answer(made) if isinstance(made, str) else made


class ScriptedStream:
    """The ModelStream of one scripted call."""

    def __init__(self, next_script: Callable[[], Script], recorder: AttemptRecorder) -> None:
        self._next_script = next_script
        self._recorder = recorder
        self._events: deque[ModelEvent] = deque()
        self._script: Script | None = None
        self._attempt_id: AttemptId | None = None
        self._ended = False

    async def receive(self) -> ModelEvent:
        """Wait for the next event; see ModelStream."""
        while not self._events:
            if self._ended:
                raise anyio.EndOfStream
            if self._script is None or self._attempt_id is None:
                self._script = self._next_script()
                self._attempt_id = await self._recorder.started()
                self._events.extend(TextDelta(self._attempt_id, t) for t in self._script.deltas)
            else:
                await self._finish(self._script, self._attempt_id)
        return self._events.popleft()

    async def aclose(self) -> None:
        """Record an attempt that is still running as canceled."""
        self._ended = True
        if self._attempt_id is not None:
            text = "".join(self._script.deltas) if self._script is not None else ""
            outcome = AttemptOutcome(
                AttemptStatus.CANCELED, error_code="canceled", partial_text=text
            )
            await self._record(self._attempt_id, outcome)

    async def _finish(self, script: Script, attempt_id: AttemptId) -> None:
        if script.gate is not None:
            await script.gate.wait()
        if isinstance(script.outcome, Completion):
            succeeded = AttemptOutcome(
                AttemptStatus.SUCCEEDED, script.usage, cost_usd=script.cost_usd
            )
            await self._record(attempt_id, succeeded)
            self._ended = True
            self._events.append(Completed(attempt_id, script.outcome))
            return
        error = script.outcome
        failed = AttemptOutcome(AttemptStatus.FAILED, script.usage, error_code=error.code)
        failed = replace(
            failed,
            error_message=error.message,
            cost_usd=script.cost_usd,
            partial_text="".join(script.deltas),
        )
        await self._record(attempt_id, failed)
        if script.deltas:
            self._events.append(Reset(attempt_id))
        if not error.retryable:
            self._ended = True
            self._events.append(Failed(error))

    async def _record(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        self._script = self._attempt_id = None
        with anyio.CancelScope(shield=True):
            await self._recorder.finished(attempt_id, outcome)


class MemoryRecorder:
    """An AttemptRecorder that remembers.

    Attributes:
        outcomes: the end of each attempt by its id; None while it runs.
    """

    def __init__(self, limit: int = 0) -> None:
        self.outcomes: dict[AttemptId, AttemptOutcome | None] = {}
        self._limit = limit

    async def started(self) -> AttemptId:
        """Give out the next id: `attempt-1`, `attempt-2`, …"""
        attempt_id = AttemptId(f"attempt-{len(self.outcomes) + 1}")
        self.outcomes[attempt_id] = None
        return attempt_id

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        """Remember the end."""
        self.outcomes[attempt_id] = outcome

    def budget(self) -> TokenBudget:
        """The limit given, and what the attempts have used."""
        ended = [outcome.usage for outcome in self.outcomes.values() if outcome is not None]
        return TokenBudget(self._limit, sum(usage.total for usage in ended if usage is not None))
