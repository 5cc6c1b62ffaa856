"""The approval desk: calls that wait for a person, answered through the Gateway by any channel."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from agentslot import Module, One
from agentslot.session import ClassifiedError, ErrorKind, SessionId
from agentslot.standardagent.policy.contract import (
    APPROVAL_SERVICE,
    ApprovalAnswer,
    ApprovalRequest,
)


@dataclass(slots=True)
class _Waiting:
    request: ApprovalRequest
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: ApprovalAnswer | None = None


class ApprovalDesk:
    """An ApprovalService that waits until somebody answers at the Gateway.

    What waits is not stored here: the call itself is durable and still prepared, so after a restart
    the resumed Run comes back to this desk with the same digest.
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[SessionId, str], _Waiting] = {}
        self._listeners: list[Callable[[ApprovalRequest], None]] = []

    def on_request(self, listener: Callable[[ApprovalRequest], None]) -> None:
        """Call `listener` with each request that begins to wait."""
        self._listeners.append(listener)

    async def decide(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Wait for `answer`; forget the request if the wait is cancelled."""
        key = (request.action.session_id, request.digest)
        waiting = self._waiting[key] = _Waiting(request)
        try:
            for listener in self._listeners:
                listener(request)
            await waiting.answered.wait()
        finally:
            del self._waiting[key]
        assert waiting.answer is not None
        return waiting.answer

    def waiting(self, session_id: SessionId) -> tuple[ApprovalRequest, ...]:
        """The requests of a Session that wait now, oldest first."""
        return tuple(
            each.request
            for (owner, _), each in self._waiting.items()
            if owner == session_id and each.answer is None
        )

    def answer(self, session_id: SessionId, digest: str, answer: ApprovalAnswer) -> None:
        """Answer a waiting request.

        Raises:
            ClassifiedError: `not_found/approval_not_found` if nothing waits under that digest: it
                was answered, the Run has ended, or the call is not the one that was shown.
        """
        waiting = self._waiting.get((session_id, digest))
        if waiting is None or waiting.answer is not None:
            raise ClassifiedError(
                ErrorKind.NOT_FOUND,
                "approval_not_found",
                f"no call of Session {session_id!r} waits under {digest}: look at the view again",
            )
        waiting.answer = answer
        waiting.answered.set()


APPROVAL_DESK = One[ApprovalDesk]("standardagent.internal.approval-desk")
"""Anchor through which the Gateway finds the desk; ApprovalDeskModule fills it."""


def ApprovalDeskModule() -> Module:  # noqa: N802 - reads like the other modules where it is used
    """Ask for approvals at the Gateway: whichever channel is connected can answer."""
    desk = ApprovalDesk()
    return Module("approval.desk", APPROVAL_SERVICE.set(desk), APPROVAL_DESK.set(desk))
