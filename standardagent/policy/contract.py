"""The contracts of policy: a guard decides, an approval service asks somebody."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from agentslot import Chain, One
from agentslot.session import Actor, AgentId, SessionId, ToolCall, WorkspaceId
from agentslot.tool import Effect


class PolicyEffect(StrEnum):
    """What a guard says of an action."""

    ALLOW = "allow"
    DENY = "deny"
    REQUIRE_APPROVAL = "require_approval"


@dataclass(frozen=True, slots=True)
class Decision:
    """A guard's answer; everything but `allow` gives its reason, in words the model may read."""

    effect: PolicyEffect
    reason: str = ""

    def __post_init__(self) -> None:
        # An effect that is merely spelled like a denial must not pass for leave.
        object.__setattr__(self, "effect", PolicyEffect(self.effect))
        if not isinstance(self.reason, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
            msg = f"the reason of a decision is a text, not {self.reason!r}"
            raise TypeError(msg)
        if self.effect is not PolicyEffect.ALLOW and not self.reason:
            msg = f"a decision to {self.effect} needs a reason"
            raise ValueError(msg)


ALLOW = Decision(PolicyEffect.ALLOW)


@dataclass(frozen=True, slots=True)
class ToolAction:
    """A tool call before it runs.

    Attributes:
        call: the call with its raw arguments, a valid JSON object.
        effect: the worst that the tool can do.
    """

    call: ToolCall
    effect: Effect
    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId


class PolicyGuard(Protocol):
    """One link of the chain that every call passes. The first denial ends it; an error denies.

    The same call with the same History gets the same decision for the same reason, also in the next
    process: a waiting approval is bound to both.
    """

    async def evaluate(self, action: ToolAction, /) -> Decision:
        """Decide on one call; may run beside other evaluations."""
        ...


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that somebody must approve, and the joined reasons why."""

    action: ToolAction
    reason: str

    @property
    def digest(self) -> str:
        """Binds an answer to exactly this call, these arguments and these reasons."""
        call = self.action.call
        text = "\0".join((call.id, call.name, call.arguments, self.reason))
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """Yes or no, and why. `actor` is who said so, for the audit."""

    approved: bool
    reason: str = ""
    actor: Actor | None = None


class ApprovalService(Protocol):
    """Gets an answer from whoever may give one."""

    async def decide(self, request: ApprovalRequest, /) -> ApprovalAnswer:
        """Wait for the answer. While it waits the call stays prepared, so a restart asks again."""
        ...


POLICY_GUARDS = Chain[PolicyGuard]("policy.guard")
APPROVAL_SERVICE = One[ApprovalService]("approval.service", filled_by="ApprovalDeskModule()")
