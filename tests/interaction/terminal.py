"""A person at a terminal, played by the test: lines to type, and a screen to look at."""

import io
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from agentslot.interaction import CliChannel, GatewayAccess
from agentslot.interaction.cli import Screen


class ShownText(io.StringIO):
    """A text stream that can be waited for."""

    def __init__(self, *, terminal: bool = False) -> None:
        super().__init__()
        self._terminal = terminal
        self._written = anyio.Event()

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        length = super().write(text)
        self._written.set()
        return length

    async def shows(self, text: str, times: int = 1) -> None:
        """Wait until the text was written that often."""
        with anyio.fail_after(20):
            while self.getvalue().count(text) < times:
                self._written = anyio.Event()
                await self._written.wait()


class Person:
    """Types lines, presses keys and reads the screen."""

    def __init__(self, *, interactive: bool = True) -> None:
        self.screen = ShownText()
        self._type, self._lines = anyio.create_memory_object_stream[str](100)
        self.interactive = interactive

    @property
    def lines(self) -> MemoryObjectReceiveStream[str]:
        return self._lines

    async def types(self, *lines: str) -> None:
        for line in lines:
            await self._type.send(line)

    def leaves(self) -> None:
        """End of input."""
        self._type.close()

    async def sees(self, text: str, times: int = 1) -> None:
        await self.screen.shows(text, times)

    @asynccontextmanager
    async def talking_to(
        self, gateway: GatewayAccess, session_id: str | None = None
    ) -> AsyncGenerator[CliChannel]:
        channel = CliChannel(
            session_id=session_id,
            agent=None if session_id else "bot",
            workspace=None if session_id else "default",
            lines=self._lines,
            interactive=self.interactive,
            screen=Screen(self.screen),
        )
        channel.bind(gateway)
        with self._type, self._lines:
            async with channel.lifespan():
                yield channel
