"""The check that every channel of an application has been bound to its Gateway."""

from agentslot import InvalidContribution, Module, One, Registrar, Resolver
from agentslot.interaction import GATEWAY_CHANNELS
from agentslot.interaction.channel import MOUNTED_CHANNELS

CHANNELS_CHECKED = One[tuple[str, ...]]("standardagent.internal.channel-validation-state")
"""Anchor that holds the keys of the checked channels; not a slot for users to fill."""


class ChannelCheckModule(Module):
    """Refuses a channel that was put into its slot by hand: nobody would ever bind it."""

    id = "standardagent.internal.channel-validation"
    requires = (GATEWAY_CHANNELS.optional(), MOUNTED_CHANNELS.optional())

    def register(self, registrar: Registrar) -> None:
        """Contribute the anchor, whose constructor is the check."""
        registrar.contribute(CHANNELS_CHECKED.set_with(_check))


def _check(resolver: Resolver) -> tuple[str, ...]:
    channels, mounted = resolver[GATEWAY_CHANNELS], resolver[MOUNTED_CHANNELS]
    for key, channel in channels.items():
        if channel is not mounted.get(key):
            raise InvalidContribution(
                f"the channel {type(channel).__name__!r} under key {key!r} is bound to no Gateway",
                fix=f"mount it with gateway_channel({key!r}, channel) instead",
                slot=GATEWAY_CHANNELS.id,
                key=key,
            )
    return tuple(channels)
