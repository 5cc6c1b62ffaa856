"""Whom a component under test meets: a model that does as it is told, tools, and a mortal store."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import cast

import anyio

from agentslot._json import loads
from agentslot.model import (
    AttemptRecorder,
    ExecutionCapabilities,
    Input,
    ModelErrorCode,
    ModelRequest,
    TokenCount,
)
from agentslot.model.testing import (
    Script,
    ScriptedStream,
    calls_answer,
    failing_answer,
    text_answer,
)
from agentslot.session import (
    AgentId,
    ClassifiedError,
    Commit,
    CommitRequest,
    ErrorKind,
    Loaded,
    MemoryStore,
    Message,
    ModelConfig,
    NewSession,
    Role,
    SessionId,
    SessionPage,
    SessionState,
    ToolCall,
    ToolDefinition,
    ToolResult,
    WorkspaceId,
)
from agentslot.tool import Effect, ToolInvocation

MODEL = ModelConfig("conformance", "obedient")

DONE = "Done."
"""What the model says when it has nothing else to do."""


class ObedientModel:
    """Executor and counter that does what the newest order in the conversation says.

    Orders are user messages: `call note look! …` calls tools, see ObedientTool; `break` lets the
    request fail; `wait …` and another order does that when `go_on` is called. Whatever else is
    said, and the results of calls, are answered with DONE.

    Attributes:
        requests: every request, in order.
    """

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self._waiting: dict[SessionId, anyio.Event] = {}
        self._asked = anyio.Event()

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        """A large window, for any model."""
        del config
        return ExecutionCapabilities(context_window_tokens=1_000_000)

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """Four for each element, and one for every four characters."""
        return TokenCount(sum(4 + len(_text(each)) // 4 for each in request.inputs))

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ScriptedStream:
        """Answer as the order says."""
        self.requests.append(request)
        return ScriptedStream(partial(self._answer, request), recorder)

    def _answer(self, request: ModelRequest) -> Script:
        order = _order(request)
        gate = None
        if order[:1] == ["wait"]:
            gate = self._waiting[request.session_id] = anyio.Event()
            self._asked.set()
            order = order[1:]
        match order:
            case ["call", *names]:
                return calls_answer(*((n.rstrip("!.~"), {"text": n}) for n in names), gate=gate)
            case ["break"]:
                return failing_answer(ModelErrorCode.REQUEST_REJECTED)
            case _:
                return text_answer(DONE, gate=gate)

    async def waiting(self, session_id: SessionId | None = None) -> None:
        """Wait until a request waits, of that Session or of any."""
        while not (self._waiting if session_id is None else session_id in self._waiting):
            self._asked = anyio.Event()
            await self._asked.wait()

    def go_on(self, session_id: SessionId) -> None:
        """Answer the request that waits."""
        self._waiting.pop(session_id).set()


def _text(element: Input) -> str:
    match element:
        case Message():
            return element.text
        case ToolCall():
            return element.arguments
        case ToolResult():
            return element.output or ""


def _order(request: ModelRequest) -> list[str]:
    """The words of the order that has not been carried out yet."""
    new = takewhile(_is_new, reversed(request.inputs))
    texts = (each.text for each in new if isinstance(each, Message))
    orders = (text.split() for text in texts)
    return next((order for order in orders if order[:1] in _ORDERS), list[str]())


_ORDERS = (["call"], ["break"], ["wait"])


def _is_new(element: object) -> bool:
    return isinstance(element, Message) and element.role is Role.USER


class ObedientTool:
    """A tool that does what its text ends with: `!` fails, `.` votes to end the Run, `~` hangs.

    Attributes:
        made: the texts of the calls that it was given, in order; tools may share the list.
    """

    parallel_safe = False

    def __init__(self, name: str, effect: Effect, made: list[str]) -> None:
        self.effect = effect
        self.made = made
        self.definition = ToolDefinition(name, "Does its work.", _SCHEMA)

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        """Do it."""
        call_id = invocation.call.id
        text = str(cast("Mapping[str, object]", loads(invocation.call.arguments))["text"])
        self.made.append(text)
        if text.endswith("~"):
            await anyio.sleep_forever()
        if text.endswith("!"):
            return ToolResult.failed(call_id, "told_to_fail", "as it was told to")
        return replace(ToolResult.succeeded(call_id, text), terminate=text.endswith("."))


_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


class MortalStore:
    """A SessionStore in memory whose process can die; what is stored outlives it.

    Args:
        disk: what is stored.
        dies_after: the process dies when a commit has been made whose label begins so.

    Attributes:
        died: whether the process is dead; set it to kill it.
    """

    def __init__(self, disk: MemoryStore, dies_after: str = "") -> None:
        self._disk = disk
        self._dies_after = f"runtime-{dies_after}" if dies_after else ""
        self.died = anyio.Event()
        self._buried = anyio.Event()

    def bury(self) -> None:
        """Let those that wait for the dead process know."""
        self._buried.set()

    async def _alive(self) -> None:
        if self.died.is_set():
            with anyio.CancelScope(shield=True):
                await self._buried.wait()
            raise ClassifiedError(ErrorKind.UNAVAILABLE, "process_died", "the process has died")

    async def create(self, new: NewSession) -> SessionState:
        """See SessionStore."""
        await self._alive()
        return await self._disk.create(new)

    async def load(self, session_id: SessionId) -> Loaded:
        """See SessionStore."""
        await self._alive()
        return await self._disk.load(session_id)

    async def recover(self, session_id: SessionId) -> Loaded:
        """See SessionStore."""
        await self._alive()
        return await self._disk.recover(session_id)

    async def commit(self, request: CommitRequest) -> Commit:
        """See SessionStore."""
        await self._alive()
        commit = await self._disk.commit(request)
        if self._dies_after and request.idempotency_key.startswith(self._dies_after):
            self.died.set()
            await self._alive()
        return commit

    async def list_sessions(
        self, agent: AgentId, workspace: WorkspaceId, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        """See SessionStore."""
        await self._alive()
        return await self._disk.list_sessions(agent, workspace, limit=limit, cursor=cursor)
