"""What the Runtime works with: the components of one Assembly, resolved once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agentslot.model import AttemptObserver, ModelExecutor, TokenCounter
from agentslot.session import ArtifactStore, ModelConfig, SessionStore, ToolDefinition
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.hook import Hooks
from agentslot.standardagent.loop import AgentLoop
from agentslot.standardagent.observe import ObservationHub, SessionCommitObserver
from agentslot.standardagent.policy import ApprovalDesk, ApprovalService, PolicyGuard
from agentslot.standardagent.runtime.ids import Ids
from agentslot.tool import Effect, Tool

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, aware and in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ExposedTool:
    """A tool on the allowlist, with its declarations as they were at build time."""

    tool: Tool
    definition: ToolDefinition
    parallel_safe: bool
    effect: Effect


@dataclass(frozen=True, slots=True)
class Components:
    """Everything replaceable that the fixed Runtime calls.

    Attributes:
        tools: the allowlisted tools by name, in the order of their names.
    """

    store: SessionStore
    executor: ModelExecutor
    counter: TokenCounter
    loop: AgentLoop
    tools: Mapping[str, ExposedTool]
    guards: Sequence[PolicyGuard]
    approval: ApprovalService | None
    desk: ApprovalDesk | None
    attempt_observers: Sequence[AttemptObserver]
    observation: ObservationHub
    commit_observers: Sequence[SessionCommitObserver]
    config: AgentConfig
    default_model: ModelConfig
    ids: Ids
    hooks: Hooks
    artifacts: ArtifactStore | None = None
    now: Clock = utc_now
