"""Commands as an application has them: each description read once, when it is built."""

from collections.abc import Mapping
from typing import cast

from agentslot import Resolver
from agentslot.interaction import (
    INTERACTION_COMMANDS,
    CommandDescriptor,
    InteractionCommand,
    InvalidCommand,
)
from agentslot.standardagent.runtime.components import InstalledCommand


def install_commands(resolver: Resolver) -> Mapping[str, InstalledCommand]:
    """The commands of an assembly, in the order of their keys.

    Raises:
        InvalidCommand: one cannot say what it is, or its key is another one than that in the slot.
    """
    commands = resolver[INTERACTION_COMMANDS]
    return {key: _installed(key, commands[key]) for key in sorted(commands)}


def _installed(key: str, command: InteractionCommand) -> InstalledCommand:
    try:
        descriptor = command.describe()
    except Exception as error:
        raise _invalid(key, command, f"cannot describe itself: {error}") from error
    if not isinstance(cast("object", descriptor), CommandDescriptor):
        raise _invalid(key, command, f"describes itself as {descriptor!r}")
    if descriptor.key != key:
        raise _invalid(key, command, f"calls itself {descriptor.key!r}")
    return InstalledCommand(command, descriptor)


def _invalid(key: str, command: InteractionCommand, problem: str) -> InvalidCommand:
    return InvalidCommand(
        f"the command {type(command).__name__!r} under key {key!r} {problem}",
        fix="let `describe` return a CommandDescriptor with the key that it has in the slot",
        slot=INTERACTION_COMMANDS.id,
        key=key,
    )
