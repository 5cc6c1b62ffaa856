"""A conversation from elsewhere as a Session: brought in once, then resumed like any other.

The format is that of chat completions, which most frameworks and vendors can write. Each message of
a user begins a Run; answers, calls and results lie in it as if they had been made here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ValidationError

from agentslot._json import dumps
from agentslot.session.changes import (
    AppendMessage,
    AppendRun,
    AppendToolCall,
    AppendToolResult,
    Change,
    MarkToolPending,
)
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.facts import RunFact, RunStatus, RunTermination, TerminationSource
from agentslot.session.identity import MessageId, RunId, StepId, ToolCallId
from agentslot.session.memory import MemoryStore
from agentslot.session.message import Message, Role, TextPart
from agentslot.session.state import SessionState
from agentslot.session.store import CommitRequest, NewSession, SessionStore
from agentslot.session.toolcall import ToolCall, ToolResult, ToolStatus

_UNANSWERED = RunTermination(
    TerminationSource.SESSION,
    ErrorKind.CANCELED,
    "imported_unfinished",
    "the conversation was brought in before this was answered",
)


async def import_chat(
    store: SessionStore, new: NewSession, messages: Sequence[Mapping[str, object]]
) -> SessionState:
    """Create a Session whose past is a conversation in the format of chat completions.

    System messages are left out: an agent has its prompt from its `AgentConfig`. A call without a
    result gets the result that its outcome is unknown.

    Args:
        store: an open store in which no application works, or a store that serves several.
        new: the Session, without facts.
        messages: oldest first, with `role`, `content`, `tool_calls` and `tool_call_id`; what else
            stands in them is left out.

    Raises:
        ClassifiedError: `invalid_input/invalid_conversation`: a message has another form, has parts
            that are no text, or is a result that no call waits for; nothing was created.
            `conflict/session_already_exists`, and what else a store refuses.
    """
    turns = list(_turns([_read(number, each) for number, each in enumerate(messages, 1)]))
    await _write(MemoryStore(), new, turns)  # what a store refuses, it refuses before it is begun
    return await _write(store, new, turns)


async def _write(store: SessionStore, new: NewSession, turns: "Sequence[_Turn]") -> SessionState:
    state = await store.create(new)
    for number, turn in enumerate(turns, 1):
        changes = turn.changes(f"{new.id}:imported:{number}", state)
        request = CommitRequest(state.id, state.revision, f"imported-{number}", changes)
        state = (await store.commit(request)).state
    return state


class _Text(BaseModel):
    type: Literal["text"]
    text: str


class _Function(BaseModel):
    name: str
    arguments: str


class _Call(BaseModel):
    id: str
    function: _Function


def _parts(content: object) -> object:
    """Content as a list of parts, which it may be already."""
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class _Said(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[list[_Text], BeforeValidator(_parts)] = []
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.content)


@dataclass(slots=True)
class _Step:
    """An answer, and what came of its calls."""

    answer: _Said
    results: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def calls(self) -> list[_Call]:
        return self.answer.tool_calls or []


@dataclass(slots=True)
class _Turn:
    """What becomes a Run: messages of a user, and what was done about them."""

    asked: list[_Said] = field(default_factory=list[_Said])
    steps: list[_Step] = field(default_factory=list[_Step])

    def changes(self, name: str, state: SessionState) -> tuple[Change, ...]:
        """The whole Run, whose identities begin with `name`."""
        now, run = datetime.now(UTC), RunId(name)
        config, revision = state.model_config, state.revision
        changes: list[Change] = [AppendRun(RunFact(run, RunStatus.STARTED, config, revision))]
        for number, asked in enumerate(self.asked, 1):
            parts = (TextPart(asked.text),)
            message = MessageId(f"{name}:asked:{number}")
            step = StepId(f"{name}:1")
            changes.append(AppendMessage(Message(message, Role.USER, parts, now, run, step)))
        for number, step_taken in enumerate(self.steps, 1):
            changes.extend(_step(step_taken, f"{name}:{number}", run, now))
        answered = bool(self.steps) and not self.steps[-1].calls
        ended = RunStatus.COMPLETED if answered else RunStatus.INTERRUPTED
        why = None if answered else _UNANSWERED
        return (*changes, AppendRun(RunFact(run, ended, config, revision, why)))


def _step(taken: _Step, name: str, run: RunId, now: datetime) -> Iterator[Change]:
    step, message = StepId(name), MessageId(f"{name}:answer")
    parts = (TextPart(taken.answer.text),) if taken.answer.text else ()
    yield AppendMessage(Message(message, Role.ASSISTANT, parts, now, run, step))
    calls = [
        (each, ToolCallId(f"{name}:call:{number}")) for number, each in enumerate(taken.calls, 1)
    ]
    for each, call in calls:
        asked = each.function
        yield AppendToolCall(
            ToolCall(call, each.id, message, run, step, asked.name, asked.arguments)
        )
    for _, call in calls:
        yield MarkToolPending(call)
    for each, call in calls:
        yield AppendToolResult(_result(call, taken.results.get(each.id)))


def _result(call: ToolCallId, output: str | None) -> ToolResult:
    if output is None:
        return ToolResult(call, ToolStatus.OUTCOME_UNKNOWN)
    return ToolResult(call, ToolStatus.SUCCEEDED, dumps(output))


def _read(number: int, message: Mapping[str, object]) -> tuple[int, _Said]:
    try:
        return number, _Said.model_validate(message)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise _invalid(number, f"{place}: {first['msg']}") from error


def _turns(messages: Sequence[tuple[int, _Said]]) -> Iterator[_Turn]:
    turn = _Turn()
    for number, said in messages:
        match said.role:
            case "user":
                if turn.steps:
                    yield turn
                    turn = _Turn()
                turn.asked.append(said)
            case "assistant":
                turn.steps.append(_Step(said))
            case "tool":
                _answer(turn, number, said)
            case "system" | "developer":
                continue  # an agent has its prompt from its AgentConfig
    if turn.asked or turn.steps:
        yield turn


def _answer(turn: _Turn, number: int, said: _Said) -> None:
    step = turn.steps[-1] if turn.steps else None
    waiting = (
        {call.id for call in step.calls if call.id not in step.results} if step else set[str]()
    )
    if step is None or said.tool_call_id not in waiting:
        known = ", ".join(sorted(waiting)) or "none"
        raise _invalid(
            number,
            f"it is the result of call {said.tool_call_id!r}, and the calls that wait for one are:"
            f" {known}",
        )
    step.results[said.tool_call_id] = said.text


def _invalid(number: int, why: str) -> ClassifiedError:
    return ClassifiedError(
        ErrorKind.INVALID_INPUT,
        "invalid_conversation",
        f"message {number} of the conversation cannot be brought in: {why}",
    )
