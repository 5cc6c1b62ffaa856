"""Hooks for tests: each asks a function, remembers what it was shown, and can be held."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import anyio

from agentslot.session import ExtensionDescriptor, ExtensionDiagnostic, MessageInput
from agentslot.standardagent.hook import InvocationFailure, LifecycleScope

Answer = Callable[[Any], Any]


class Hook:
    """A hook of any boundary; `answer` makes its result of the view, or raises."""

    def __init__(
        self, key: str, answer: Answer, *, scope: Any = None, hold: bool = False, version: str = "1"
    ) -> None:
        self.views: list[Any] = []
        self._descriptor = ExtensionDescriptor.of(key, version)
        self._answer = answer
        self._scope = scope
        self._entered = anyio.Event()
        self._open = anyio.Event()
        if not hold:
            self._open.set()

    def descriptor(self) -> ExtensionDescriptor:
        return self._descriptor

    def scope(self) -> Any:
        return self._scope

    async def evaluate(self, view: Any) -> Any:
        self.views.append(view)
        self._entered.set()
        await self._open.wait()
        return self._answer(view)

    async def entered(self) -> None:
        with anyio.fail_after(20):
            await self._entered.wait()

    def open(self) -> None:
        self._open.set()

    def close(self) -> None:
        """Hold the next question."""
        self._entered, self._open = anyio.Event(), anyio.Event()

    def answers(self, answer: Answer) -> None:
        self._answer = answer


def fails(_: object) -> NoReturn:
    raise RuntimeError("password=hunter2")


def fails_safely(_: object) -> NoReturn:
    raise InvocationFailure("quota_unknown", "the quota could not be read")


def takes_too_long(_: object) -> NoReturn:
    raise TimeoutError


def returns_nonsense(_: object) -> str:
    return "yes"


def cancels_itself(_: object) -> NoReturn:
    """Only asyncio lets anybody raise this."""
    raise anyio.get_cancelled_exc_class()


FAILURES = [
    (fails, "failed", "extension_failed"),
    (fails_safely, "failed", "quota_unknown"),
    (takes_too_long, "failed", "extension_deadline_exceeded"),
    (returns_nonsense, "failed", "extension_failed"),
]


def note(text: str) -> MessageInput:
    return MessageInput.of(text)


def told(diagnostics: Sequence[ExtensionDiagnostic]) -> list[str]:
    """The invocations of a journal in words, oldest first: key status/effect/context code."""
    return [_told(each) for each in sorted(diagnostics, key=lambda d: d.sequence)]


def _told(one: ExtensionDiagnostic) -> str:
    parts = [one.status.value, one.effect.value, one.context.value]
    words = [one.invocation.descriptor.key, "/".join(part for part in parts if part != "none")]
    if one.decision is not None:
        words.append(one.decision.value)
    if one.error_code:
        words.append(one.error_code)
    return " ".join(words)


ALWAYS = LifecycleScope()
