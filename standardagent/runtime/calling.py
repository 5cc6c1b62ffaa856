"""Calling a component: whatever it does, its caller gets an answer or an error, and in time."""

import logging
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

import anyio

from agentslot import AgentSlotError
from agentslot._failures import is_failure
from agentslot.standardagent.runtime.components import Components
from agentslot.standardagent.runtime.guests import Guests

log = logging.getLogger(__name__)

R = TypeVar("R")

GRACE_SECONDS = 5.0
"""How long a component that is cancelled may take to end before it is left behind."""


class Asker(Protocol):
    """On whose behalf a component is asked: a Session's owner, or the registry of all."""

    @property
    def components(self) -> Components:
        """The component is one of them; they say how long it may take."""
        ...

    @property
    def guests(self) -> Guests:
        """Among whom it is asked."""
        ...


class CancelledItself(AgentSlotError):  # noqa: N818 - named after what happened
    """A component ended by a cancellation that nobody had asked for."""


class WantedToExit(AgentSlotError):  # noqa: N818 - named after what happened
    """A component called `sys.exit`, which is not for it to do: it has failed."""


async def answer_of(
    asker: Asker, name: str, ask: Callable[[], Awaitable[R]], *, waits: bool = False
) -> R:
    """What a component answers, asked in a task of its own.

    There it cannot cancel its caller by cancelling itself. The cancellation of the caller cancels
    it. One that does not let itself be cancelled, since it waits for a thread for example, is left
    behind; the application waits for it when it stops.

    Args:
        asker: on whose behalf it is asked.
        name: what it is, for its task and for the log.
        ask: asks it.
        waits: it waits for a person, so it may take as long as it likes.

    Raises:
        TimeoutError: it took longer than `component_timeout_seconds`.
        CancelledItself: it did.
        WantedToExit: it did.
        Exception: whatever it raised.
    """
    call = _Call(ask)
    asker.guests.invite(call.run, call.scope, name)
    seconds = None if waits else asker.components.config.component_timeout_seconds or None
    try:
        with anyio.move_on_after(seconds) as limit:
            await call.ended.wait()
        late = limit.cancelled_caught and not call.answers
    finally:
        if not call.ended.is_set():
            await call.cancel(name)
    if late:
        raise TimeoutError(f"{name} took longer than {seconds:g} seconds") from call.error
    if call.error is not None:
        raise call.error
    if not call.answers:
        raise CancelledItself(f"{name} cancelled itself")
    return call.answers[0]


class _Call(Generic[R]):
    """One question, and what came of it."""

    def __init__(self, ask: Callable[[], Awaitable[R]]) -> None:
        # The end of the application reaches a component through its caller, as every other end.
        self.scope = anyio.CancelScope(shield=True)
        self.ended = anyio.Event()
        self.answers: list[R] = []
        self.error: Exception | None = None
        self._ask = ask

    async def run(self) -> None:
        try:
            self.answers.append(await self._ask())
        except Exception as error:  # noqa: BLE001 - raised to the caller
            self.error = error
        except BaseException as error:
            if not is_failure(error):
                raise
            self.error = WantedToExit("it called sys.exit")
            self.error.__cause__ = error
        finally:
            self.ended.set()

    async def cancel(self, name: str) -> None:
        """End it, and wait for that, but not forever."""
        self.scope.cancel()
        with anyio.move_on_after(GRACE_SECONDS, shield=True) as grace:
            await self.ended.wait()
        if grace.cancelled_caught:
            log.error("%s goes on though it was cancelled", name)
