"""Commands of an application's own: what a person can ask for besides sending messages.

A command describes itself once, so that every channel can offer it: a terminal as `/key`, a page as
a form. What it does to the Session goes through the actions that it is given for one call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from agentslot import CompositionError, Many
from agentslot._json import JsonValue
from agentslot.model import ModelDescriptor
from agentslot.session import (
    Actor,
    AgentId,
    ClientMessageId,
    MessageId,
    MessageInput,
    ModelConfig,
    RunId,
    SessionId,
    WorkspaceId,
    is_identity,
)


class FieldType(StrEnum):
    """What a person enters in a field."""

    TEXT = "text"
    BOOLEAN = "boolean"
    SINGLE_CHOICE = "single_choice"
    MULTI_CHOICE = "multi_choice"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the values of a field, and what a person reads for it."""

    value: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class CommandField:
    """One argument of a command.

    Attributes:
        key: its member in the object of arguments.
        choices: of a choice field only, and there at least one.
    """

    key: str
    title: str
    type: FieldType = FieldType.TEXT
    description: str = ""
    required: bool = False
    choices: tuple[Choice, ...] = ()

    def __post_init__(self) -> None:
        if not is_identity(self.key):
            msg = f"a field needs a key, not {self.key!r}"
            raise ValueError(msg)
        choosing = self.type in (FieldType.SINGLE_CHOICE, FieldType.MULTI_CHOICE)
        if choosing != bool(self.choices):
            msg = f"exactly a choice field has choices, and field {self.key!r} is {self.type}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class CommandDescriptor:
    """What people see of a command.

    Attributes:
        key: its name, one word; the key in the slot is the same.
        fields: its arguments, the most important first: where words are typed without their
            field's key, they fill the fields in this order.
        confirm: whether a channel asks the person before it invokes the command.
    """

    key: str
    title: str
    description: str = ""
    fields: tuple[CommandField, ...] = ()
    confirm: bool = False

    def __post_init__(self) -> None:
        if not self.key or any(char.isspace() or char == "/" for char in self.key):
            msg = f"the key of a command is one word, not {self.key!r}"
            raise ValueError(msg)
        keys = [field.key for field in self.fields]
        if len(set(keys)) != len(keys):
            msg = f"command {self.key!r} has two fields of one key: {', '.join(keys)}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class CommandScope:
    """The Session that a command is invoked for."""

    agent: AgentId
    workspace: WorkspaceId
    session_id: SessionId


@dataclass(frozen=True, slots=True)
class InvokeCommand:
    """Ask for a command.

    Attributes:
        arguments: one JSON object as text; empty for none.
        expected_revision: the revision that the caller decided on; None if it does not matter.
        actor: who asks; what the command does is attributed to them.
    """

    session_id: SessionId
    key: str
    arguments: str = ""
    expected_revision: int | None = None
    actor: Actor | None = None


@dataclass(frozen=True, slots=True)
class CommandInvocation:
    """One call as the command sees it; see InvokeCommand."""

    scope: CommandScope
    key: str
    arguments: str = ""
    expected_revision: int | None = None
    actor: Actor | None = None


@dataclass(frozen=True, slots=True)
class SendAction:
    """Submit a message."""

    input: MessageInput
    expected_revision: int | None = None
    client_message_id: ClientMessageId | None = None
    kind: Literal["send"] = "send"


@dataclass(frozen=True, slots=True)
class SteerAction:
    """Let a message join the active Run."""

    input: MessageInput
    expected_revision: int | None = None
    client_message_id: ClientMessageId | None = None
    kind: Literal["steer"] = "steer"


@dataclass(frozen=True, slots=True)
class RunPendingAction:
    """Start a Run on the first message that waits."""

    expected_revision: int | None = None
    kind: Literal["run_pending"] = "run_pending"


@dataclass(frozen=True, slots=True)
class CancelAction:
    """End the active Run as canceled."""

    expected_revision: int | None = None
    kind: Literal["cancel"] = "cancel"


@dataclass(frozen=True, slots=True)
class UpdateModelConfigAction:
    """Switch an idle Session to another model."""

    config: ModelConfig
    expected_revision: int | None = None
    accept_compatibility_loss: bool = False
    kind: Literal["update_model_config"] = "update_model_config"


ActionRequest = SendAction | SteerAction | RunPendingAction | CancelAction | UpdateModelConfigAction

ActionKind = Literal["send", "steer", "run_pending", "cancel", "update_model_config"]


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What an action did: the revision after it, and what it made."""

    revision: int
    message_id: MessageId | None = None
    run_id: RunId | None = None


@dataclass(frozen=True, slots=True)
class NextAction:
    """What a person may want to do after a command, as a channel can offer it."""

    kind: ActionKind
    title: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command answers.

    Attributes:
        revision: of the Session, as the command last saw it.
        data: anything JSON can say; a channel shows it.
        next: what suggests itself now.
    """

    revision: int
    data: JsonValue = None
    next: tuple[NextAction, ...] = ()


class CommandActions(Protocol):
    """What a command can do to the Session that it is invoked for, and to no other.

    It is closed when the call returns: `unavailable/runtime_closed` from then on.
    """

    async def current_model_config(self) -> tuple[int, ModelConfig]:
        """The revision of the Session, and the model that it uses."""
        ...

    async def available_models(self) -> Sequence[ModelDescriptor]:
        """All models of the catalogs, by provider and model.

        Raises:
            ClassifiedError: `internal/invalid_model_catalog`: a catalog contradicts its key, or
                names a model twice.
        """
        ...

    async def apply(self, request: ActionRequest) -> ActionResult:
        """Do it, with what the operation of the Gateway of that name may raise."""
        ...


class InteractionCommand(Protocol):
    """A command that every channel can offer."""

    def describe(self) -> CommandDescriptor:
        """What people see of it; asked once, when the application is built."""
        ...

    async def invoke(self, invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        """Carry out one call.

        What it changes, it changes on the revision that the invocation expects, so that what was
        decided on an older one is refused: actions take it.

        Raises:
            ClassifiedError: `invalid_input/invalid_arguments` if it cannot read its arguments;
                anything that it refuses. Other exceptions reach the caller as
                `internal/command_failed`.
        """
        ...


INTERACTION_COMMANDS = Many[InteractionCommand]("interaction.command")


class InvalidCommand(CompositionError):  # noqa: N818 - named after what happened
    """A command cannot say what it is, or calls itself by another name than its key."""
