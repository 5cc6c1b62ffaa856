"""What the Runtime works with: the components of one Assembly, resolved once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agentslot.interaction import CommandDescriptor, InteractionCommand
from agentslot.model import (
    AttemptObserver,
    ModelCatalog,
    ModelExecutor,
    ModelSelector,
    TokenCounter,
)
from agentslot.session import (
    AgentId,
    ArtifactStore,
    ClassifiedError,
    ErrorKind,
    ModelConfig,
    SessionStore,
    ToolDefinition,
    WorkspaceBoundary,
    WorkspaceId,
    WorkspaceManager,
    WorkspaceScope,
    require_boundary,
)
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.context import ContextCompactor, ContextSource
from agentslot.standardagent.goal.installed import Goals
from agentslot.standardagent.hook import Hooks
from agentslot.standardagent.loop import AgentLoop
from agentslot.standardagent.observe import ObservationHub, SessionCommitObserver
from agentslot.standardagent.policy import ApprovalDesk, ApprovalService, PolicyGuard
from agentslot.standardagent.runtime.ids import Ids
from agentslot.tool import ArgumentCheck, Effect, Tool, ToolMiddleware

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
    deferred: bool = False
    check_arguments: ArgumentCheck | None = None
    waits: bool = True


@dataclass(frozen=True, slots=True)
class InstalledCommand:
    """A command, with its description as it was at build time."""

    command: InteractionCommand
    descriptor: CommandDescriptor


@dataclass(frozen=True, slots=True)
class Components:
    """Everything replaceable that the fixed Runtime calls.

    Attributes:
        counts_apart: whether the counter is neither the executor nor made of providers that count
            without a server.
        tools: the allowlisted tools by name, in the order of their names.
        deferred: names of those that the model has to find first.
        commands: by key, in the order of their keys.
        catalogs: by the key of their provider.
        goals: None if Runs are measured by none.
    """

    store: SessionStore
    executor: ModelExecutor
    counter: TokenCounter
    selector: ModelSelector | None
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
    counts_apart: bool = False
    deferred: frozenset[str] = frozenset()
    tool_middleware: Sequence[ToolMiddleware] = ()
    context_sources: Sequence[ContextSource] = ()
    compactor: ContextCompactor | None = None
    artifacts: ArtifactStore | None = None
    goals: Goals | None = None
    commands: Mapping[str, InstalledCommand] = field(default_factory=dict[str, InstalledCommand])
    catalogs: Mapping[str, ModelCatalog] = field(default_factory=dict[str, ModelCatalog])
    workspaces: WorkspaceManager | None = None
    now: Clock = utc_now

    async def boundary(self, agent: AgentId, workspace: WorkspaceId) -> WorkspaceBoundary | None:
        """Where a Session of this scope works; None if there is no workspace manager.

        Raises:
            ClassifiedError: the manager does not know the scope, cannot give it now, or gave
                another one's.
        """
        if self.workspaces is None:
            return None
        scope = WorkspaceScope(agent, workspace)
        try:
            boundary = await self.workspaces.resolve(scope)
        except ClassifiedError:
            raise
        except Exception as error:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "workspace_unavailable",
                f"the workspace manager failed with {type(error).__name__} on {workspace!r}",
            ) from error
        require_boundary(boundary, scope)
        return boundary
