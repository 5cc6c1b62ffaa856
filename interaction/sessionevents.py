"""The events of a Session as a program iterates over them."""

from types import TracebackType

from agentslot.interaction.events import Event
from agentslot.interaction.gateway import EventStream, GatewayAccess
from agentslot.session import SessionId


class SessionEvents:
    """The events of a Session from the moment this is entered, or first iterated.

    Iterate it directly, or enter it first to miss nothing of what the block itself starts:

        async with session.events() as events:
            await session.send("Go on.")
            async for event in events:
                ...

    It ends when it is closed or the Session is. It holds no task and no cancel scope, so a loop
    may be left at any point.
    """

    def __init__(
        self, access: GatewayAccess, session_id: SessionId, after_revision: int | None
    ) -> None:
        self._access = access
        self._session_id = session_id
        self._after_revision = after_revision
        self._stream: EventStream | None = None

    async def receive(self) -> Event:
        """Wait for the next event; see `EventStream.receive` for how it ends."""
        stream = self._stream or await self._subscribed()
        return await stream.receive()

    async def aclose(self) -> None:
        """Stop listening; the Run goes on."""
        if self._stream is not None:
            await self._stream.aclose()

    async def __aenter__(self) -> "SessionEvents":
        await self._subscribed()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> "SessionEvents":
        return self

    async def __anext__(self) -> Event:
        stream = self._stream or await self._subscribed()
        return await stream.__anext__()

    async def _subscribed(self) -> EventStream:
        if self._stream is None:
            self._stream = await self._access.subscribe(
                self._session_id, after_revision=self._after_revision
            )
        return self._stream
