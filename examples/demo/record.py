"""What the Session has on record, read from its file without the agent."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agentslot.session import (
    AgentId,
    Fact,
    FileStore,
    ModelAttempt,
    RunFact,
    RunStatus,
    SessionId,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolStatus,
    WorkspaceId,
)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call, from the moment it was recorded to the moment its result was."""

    call: ToolCall
    status: ToolStatus
    began: datetime
    ended: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """The story of a Session.

    Attributes:
        runs: how each Run ended, oldest first.
        calls: every call that has a result, in the order of the results.
        requests: requests to the model that were answered.
        usage: tokens of all of them.
    """

    session_id: SessionId
    revision: int
    runs: tuple[RunStatus, ...]
    calls: tuple[CallRecord, ...]
    requests: int
    usage: TokenUsage

    @property
    def unknown(self) -> tuple[CallRecord, ...]:
        """The calls whose outcome nobody knows."""
        return tuple(each for each in self.calls if each.status is ToolStatus.OUTCOME_UNKNOWN)


async def read_records(folder: Path, agent: str, workspace: str) -> tuple[Record, ...]:
    """The Sessions of an agent and a workspace in a folder of Sessions."""
    store = FileStore(folder)
    page = await store.list_sessions(AgentId(agent), WorkspaceId(workspace))
    states = [(await store.load(summary.id)).state for summary in page.sessions]
    return tuple(_record(state.id, state.revision, state.history) for state in states)


def _record(session_id: SessionId, revision: int, history: Iterable[Fact]) -> Record:
    runs: list[RunStatus] = []
    began: dict[ToolCallId, tuple[ToolCall, datetime]] = {}
    calls: list[CallRecord] = []
    usages: list[TokenUsage] = []
    for fact in history:
        match fact.payload:
            case RunFact(status=status) if status is not RunStatus.STARTED:
                runs.append(status)
            case ToolCall() as call:
                began[call.id] = call, fact.at
            case ToolResult(call_id=call_id, status=status):
                call, at = began[call_id]
                calls.append(CallRecord(call, status, at, fact.at))
            case ModelAttempt(usage=TokenUsage() as usage):
                usages.append(usage)
            case _:
                pass
    total = sum(usages, TokenUsage())
    return Record(session_id, revision, tuple(runs), tuple(calls), len(usages), total)
