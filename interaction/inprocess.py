"""The channel for code that runs in the application's own process."""

from typing import Literal

from agentslot.interaction.errors import ChannelAlreadyBound, ChannelNotBound
from agentslot.interaction.gateway import CreateSession, ForkSession, GatewayAccess
from agentslot.interaction.handle import ChannelSession
from agentslot.session import (
    Actor,
    AgentId,
    ForkMode,
    ModelConfig,
    SessionId,
    SessionPage,
    WorkspaceId,
)


class InProcessChannel:
    """Opens Sessions for the code beside it; safe to use from several tasks.

    Example:
        channel = InProcessChannel()
        application = new_application("bot", modules=[gateway_channel("api", channel), ...], ...)
        async with application.start():
            session = await channel.create_session(agent="bot", workspace="default")
            print((await session.send_and_wait("What is 2+2?")).text)
    """

    def __init__(self, *, actor: Actor | None = None) -> None:
        """Make a channel whose commands are attributed to `actor` (None: the service itself)."""
        self._actor = actor
        self._access: GatewayAccess | None = None

    def bind(self, access: GatewayAccess) -> None:
        """Called once, when the application is built.

        Raises:
            ChannelAlreadyBound: the channel belongs to an application already.
        """
        if self._access is not None:
            raise ChannelAlreadyBound
        self._access = access

    @property
    def access(self) -> GatewayAccess:
        """Every operation of the Gateway, with its raw requests and answers.

        Raises:
            ChannelNotBound: the channel belongs to no built application yet.
        """
        if self._access is None:
            raise ChannelNotBound
        return self._access

    async def create_session(
        self,
        *,
        agent: str,
        workspace: str,
        model_config: ModelConfig | None = None,
        actor: Actor | None = None,
    ) -> ChannelSession:
        """Open a new Session; without a config it uses the application's default model.

        What is done with it then is attributed to `actor`; without one, to that of the channel.
        """
        access = self.access
        opened = await access.create_session(
            CreateSession(AgentId(agent), WorkspaceId(workspace), model_config)
        )
        return ChannelSession(access, opened, actor=actor or self._actor)

    async def resume_session(
        self, session_id: str, *, actor: Actor | None = None
    ) -> ChannelSession:
        """Open a stored Session again; what was prepared before a crash goes on at once.

        One that is open is joined: each user who works in it gets a handle of their own.

        Raises:
            ClassifiedError: `not_found/session_not_found`.
            SessionDamagedError: what is stored cannot be trusted; nothing was changed.
        """
        access = self.access
        opened = await access.resume_session(SessionId(session_id))
        session = ChannelSession(access, opened, actor=actor or self._actor)
        await session.view()  # tells the handle whether a Run goes on
        return session

    async def fork_session(
        self,
        source: str,
        *,
        agent: str,
        workspace: str,
        mode: ForkMode | Literal["full_history", "history_prefix"] = "full_history",
        cutoff: int = 0,
        model_config: ModelConfig | None = None,
        actor: Actor | None = None,
    ) -> ChannelSession:
        """Open a new Session with a copy of another one's past; see `ForkSession`."""
        access = self.access
        request = ForkSession(
            SessionId(source), mode, AgentId(agent), WorkspaceId(workspace), cutoff, model_config
        )
        forked = await access.fork_session(request)
        return ChannelSession(access, forked, actor=actor or self._actor)

    async def list_sessions(
        self, agent: str, workspace: str, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        """A page of the Sessions of a scope, newest change first; opens nothing."""
        return await self.access.list_sessions(
            AgentId(agent), WorkspaceId(workspace), limit=limit, cursor=cursor
        )
