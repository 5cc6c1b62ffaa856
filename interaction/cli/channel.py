"""The channel of a terminal: one person, one Session."""

import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio

from agentslot.interaction.cli.conversation import Conversation
from agentslot.interaction.cli.lines import DescriptorLines
from agentslot.interaction.cli.screen import Screen
from agentslot.interaction.gateway import GatewayAccess
from agentslot.interaction.handle import ChannelSession
from agentslot.interaction.inprocess import InProcessChannel
from agentslot.session import Actor, ActorKind, RunStatus

CLI_ACTOR = Actor(ActorKind.LOCAL_USER, "cli")


class CliChannel:
    """Talks to one Session in the terminal while the application runs.

    Give either `session_id`, to resume, or `agent` and `workspace`, to begin a new Session or,
    with `latest`, to resume the one that changed last.

    Example:
        channel = CliChannel(agent="bot", workspace="default")
        application = new_application("bot", modules=[gateway_channel("cli", channel), ...], ...)
        async with application.start():
            await channel.finished()

    Attributes:
        interactive: whether a person can be asked.

    Args:
        lines: the input, line by line; standard input unless given.
        interactive: whether a person can be asked; by default if the input is a terminal.
        screen: where to show the conversation; standard output unless given.

    Raises:
        ValueError: neither or both of the two ways to name a Session were given.
    """

    def __init__(
        self,
        *,
        session_id: str | None = None,
        agent: str | None = None,
        workspace: str | None = None,
        latest: bool = False,
        actor: Actor = CLI_ACTOR,
        lines: AsyncIterator[str] | None = None,
        interactive: bool | None = None,
        screen: Screen | None = None,
    ) -> None:
        if (session_id is None) == (agent is None) or (agent is None) != (workspace is None):
            raise ValueError("give either session_id, or agent and workspace")
        self._session_id = session_id
        self._scope = (agent or "", workspace or "")
        self._latest = latest
        self._lines: AsyncIterator[str] = DescriptorLines() if lines is None else lines
        if interactive is None:
            interactive = isinstance(self._lines, DescriptorLines) and self._lines.interactive
        self.interactive = interactive
        self._screen = Screen(sys.stdout) if screen is None else screen
        self._channel = InProcessChannel(actor=actor)
        self._conversation: Conversation | None = None
        self._stands_back = False
        self._finished = anyio.Event()

    def bind(self, access: GatewayAccess) -> None:
        """Called once, when the application is built."""
        self._channel.bind(access)

    def stand_back(self) -> None:
        """When the application starts, open no Session and read nothing: somebody else does."""
        self._stands_back = True

    @property
    def status(self) -> RunStatus | None:
        """How the last Run ended that did not complete; None while all did."""
        return None if self._conversation is None else self._conversation.status

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the conversation."""
        return self._conversation is not None and self._conversation.interrupted

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Open the Session and talk in the background."""
        if self._stands_back:
            yield
            return
        session = await self._open()
        self._conversation = Conversation(
            session, self._screen, self._lines, interactive=self.interactive
        )
        self._show_header(session)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._talk, self._conversation)
            yield
            tasks.cancel_scope.cancel()

    async def finished(self) -> None:
        """Wait until the person has left, or the input has ended."""
        await self._finished.wait()

    async def interrupt(self) -> None:
        """What Ctrl-C does: cancel the Run that goes on; leave if there is none, or at once."""
        if self._conversation is not None:
            await self._conversation.interrupt()

    async def _open(self) -> ChannelSession:
        if self._session_id is not None:
            return await self._channel.resume_session(self._session_id)
        agent, workspace = self._scope
        if self._latest:
            newest = (await self._channel.list_sessions(agent, workspace, limit=1)).sessions
            if newest:
                return await self._channel.resume_session(newest[0].id)
        return await self._channel.create_session(agent=agent, workspace=workspace)

    def _show_header(self, session: ChannelSession) -> None:
        hint = "; /help lists the commands" if self.interactive else ""
        self._screen.note(f"session {session.id}, revision {session.revision}{hint}", "dim")
        for repair in session.repairs:
            self._screen.note(f"mended: {repair.description}", "yellow")

    async def _talk(self, conversation: Conversation) -> None:
        try:
            await conversation.run()
        finally:
            self._finished.set()
