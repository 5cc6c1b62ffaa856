"""What the Session has on record, read from its file without the agent."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agentslot.session import (
    ModelAttempt,
    RunFact,
    RunStatus,
    SessionId,
    SessionState,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolStatus,
    check_file,
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
        path: the file that it lies in.
        runs: how each Run ended, oldest first.
        calls: every call that has a result, in the order of the results.
        requests: requests to the model that were answered.
        usage: tokens of all of them.
    """

    session_id: SessionId
    path: Path
    runs: tuple[RunStatus, ...]
    calls: tuple[CallRecord, ...]
    requests: int
    usage: TokenUsage

    @property
    def unknown(self) -> tuple[CallRecord, ...]:
        """The calls whose outcome nobody knows."""
        return tuple(each for each in self.calls if each.status is ToolStatus.OUTCOME_UNKNOWN)


def read_records(folder: Path, workspace: Path) -> tuple[Record, ...]:
    """The Sessions of a workspace in a folder of Sessions."""
    reports = (check_file(path) for path in folder.glob("*.jsonl"))
    return tuple(
        _record(report.path, report.intact)
        for report in reports
        if report.intact is not None and report.intact.workspace == str(workspace)
    )


def _record(path: Path, state: SessionState) -> Record:
    runs: list[RunStatus] = []
    began: dict[ToolCallId, tuple[ToolCall, datetime]] = {}
    calls: list[CallRecord] = []
    usages: list[TokenUsage] = []
    for fact in state.history:
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
    return Record(state.id, path, tuple(runs), tuple(calls), len(usages), total)
