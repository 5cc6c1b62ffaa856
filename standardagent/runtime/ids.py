"""Identities that the Runtime gives out: unique over processes, cheap, and not meant to sort."""

import itertools
import secrets

from agentslot.session import InvocationId, MessageId, RunId, SessionId, StepId, ToolCallId
from agentslot.session.identity import AttemptId


class Ids:
    """Ids of the shape `<kind>-<16 hex digits>-<n>`; the digits are drawn once per application."""

    def __init__(self, seed: str | None = None) -> None:
        self._seed = seed or secrets.token_hex(8)
        self._numbers = itertools.count(1)

    def _next(self, kind: str) -> str:
        return f"{kind}-{self._seed}-{next(self._numbers)}"

    def session(self) -> SessionId:
        """A new Session."""
        return SessionId(self._next("session"))

    def run(self) -> RunId:
        """A new Run."""
        return RunId(self._next("run"))

    def step(self) -> StepId:
        """A new step."""
        return StepId(self._next("step"))

    def message(self) -> MessageId:
        """A new message."""
        return MessageId(self._next("message"))

    def tool_call(self) -> ToolCallId:
        """A new tool call."""
        return ToolCallId(self._next("call"))

    def attempt(self) -> AttemptId:
        """A new attempt."""
        return AttemptId(self._next("attempt"))

    def invocation(self) -> InvocationId:
        """A new invocation of a hook."""
        return InvocationId(self._next("invocation"))

    def commit(self, label: str) -> str:
        """A fresh idempotency key; the label says what the commit was for."""
        return self._next(f"runtime-{label}")
