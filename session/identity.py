"""Who and what a fact belongs to: the identities of the domain.

Agent → Workspace → Session → Run → Step → Attempt. A Run belongs to one Session; a Step is one
model call plus its batch of tools; an Attempt is one physical request to a provider in a Step.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

AgentId = NewType("AgentId", str)
WorkspaceId = NewType("WorkspaceId", str)
SessionId = NewType("SessionId", str)
RunId = NewType("RunId", str)
StepId = NewType("StepId", str)
AttemptId = NewType("AttemptId", str)
MessageId = NewType("MessageId", str)
ClientMessageId = NewType("ClientMessageId", str)
ToolCallId = NewType("ToolCallId", str)
FactId = NewType("FactId", str)
InvocationId = NewType("InvocationId", str)
GoalId = NewType("GoalId", str)


def is_identity(text: str) -> bool:
    """Whether `text` may serve as an identity: not empty and without white space around it."""
    return bool(text) and text == text.strip()


class ActorKind(StrEnum):
    """What kind of somebody acts; says nothing about permission."""

    LOCAL_USER = "local_user"
    REMOTE_USER = "remote_user"
    SERVICE = "service"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who caused a fact. Carries no credential; the channel has authenticated whoever it is."""

    kind: ActorKind
    id: str

    def __post_init__(self) -> None:
        if not is_identity(self.id):
            msg = f"actor id must be a trimmed, non-empty text, not {self.id!r}"
            raise ValueError(msg)


SERVICE_ACTOR = Actor(ActorKind.SERVICE, "agentslot")
"""Whom a commit is attributed to when it names no actor."""
