"""Completion gates: is the Run really done?"""

from dataclasses import dataclass
from typing import Protocol

from agentslot import Chain
from agentslot.model import TokenBudget
from agentslot.session import (
    AgentId,
    ExtensionDecision,
    ExtensionDescriptor,
    GoalReference,
    InvocationId,
    MessageId,
    MessageInput,
    Part,
    RunId,
    SessionId,
    StepId,
    WorkspaceId,
)


@dataclass(frozen=True, slots=True)
class CompletionGateView:
    """A Run whose model has answered and asks for nothing more, or whose tools have ended it.

    Attributes:
        prepared_revision: revision of the commit that records the question.
        next_step_id: the step in which the Run would go on.
        message_id: the last assistant message, and `parts` what it says.
        budget: tokens of the Run so far; going on does not reset it.
        follow_ons: how often gates have made this Run go on already.
        goal: the goal of the Session that was found to be met; it is completed if all gates agree.
    """

    invocation_id: InvocationId
    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    prepared_revision: int
    run_id: RunId
    step_id: StepId
    next_step_id: StepId
    message_id: MessageId
    parts: tuple[Part, ...]
    budget: TokenBudget
    follow_ons: int
    goal: GoalReference | None = None


@dataclass(frozen=True, slots=True)
class CompletionGateResult:
    """Let the Run complete, or let it go on with something to work on."""

    decision: ExtensionDecision
    reason: str = ""
    context: tuple[MessageInput, ...] = ()

    @classmethod
    def complete(cls, reason: str = "") -> "CompletionGateResult":
        """Nothing is missing."""
        return cls(ExtensionDecision.COMPLETE, reason)

    @classmethod
    def go_on(cls, *context: MessageInput, reason: str = "") -> "CompletionGateResult":
        """Continue the Run with these user messages; at least one."""
        return cls(ExtensionDecision.CONTINUE, reason, context)


class CompletionGate(Protocol):
    """One link of the chain before a natural completion. All are asked; one is enough to go on.

    Nothing but the budgets of the Run ends a gate that always goes on: count `follow_ons`.
    """

    def descriptor(self) -> ExtensionDescriptor:
        """Which gate this is; asked once, at build time."""
        ...

    async def evaluate(self, view: CompletionGateView, /) -> CompletionGateResult:
        """Decide on one completion. After a failure the Run is interrupted.

        Raises:
            InvocationFailure: it cannot be decided, for a reason that may be recorded.
        """
        ...


COMPLETION_GATES = Chain[CompletionGate]("hook.completion_gate")
