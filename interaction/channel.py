"""Channels: how callers reach the Gateway, and the module that mounts one."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol, runtime_checkable

from agentslot import Many, Module
from agentslot.interaction.gateway import GATEWAY_ACCESS, GatewayAccess


class GatewayChannel(Protocol):
    """A caller-facing adapter. It may also have `lifespan()`, entered once the Gateway is there."""

    def bind(self, access: GatewayAccess, /) -> None:
        """Remember the access; open nothing, start nothing. Called once.

        Raises:
            ChannelAlreadyBound: the channel belongs to an application already.
        """
        ...


@runtime_checkable
class ChannelLifespan(Protocol):
    """A channel that does something while the application runs, such as listening."""

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        """Entered after the Gateway has started, left before it stops."""
        ...


GATEWAY_CHANNELS = Many[GatewayChannel](
    "gateway.channel", filled_by="gateway_channel(key, channel)"
)

MOUNTED_CHANNELS = Many[GatewayChannel]("standardagent.internal.mounted-channel")
"""Anchor by which the channels that `gateway_channel` has mounted are known; not for users."""


def gateway_channel(key: str, channel: GatewayChannel) -> Module:
    """The module that mounts `channel` under `key`.

    Example:
        new_application("bot", modules=[gateway_channel("api", InProcessChannel()), ...], ...)
    """
    bound = False

    def bind(access: GatewayAccess) -> GatewayChannel:
        # A build that fails is tried again, and runs constructors again; the channel is bound once.
        nonlocal bound
        if not bound:
            channel.bind(access)
            bound = True
        return channel

    return Module(
        f"gateway.channel.{key}",
        GATEWAY_CHANNELS.add_with(key, lambda resolver: bind(resolver[GATEWAY_ACCESS])),
        MOUNTED_CHANNELS.add(key, channel),
        requires=(GATEWAY_ACCESS.required(),),
        lifespan=channel.lifespan if isinstance(channel, ChannelLifespan) else None,
    )
