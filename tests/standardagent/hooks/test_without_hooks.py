"""An application without hooks pays nothing for them: no entry, no commit, no task."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from agentslot import Module
from agentslot.interaction import QueuedCommand, SessionCommand
from agentslot.session import SESSION_STORE, Commit, CommitRequest, MemoryStore
from agentslot.standardagent.hook import (
    COMPLETION_GATES,
    INPUT_GATES,
    SESSION_LIFECYCLES,
    TOOL_PREFLIGHTS,
    TOOL_RESULT_HOOKS,
    CompletionGateResult,
    InputGateResult,
    LifecycleScope,
    SessionLifecycleResult,
    ToolPreflightResult,
    ToolResultHookResult,
    ToolResultScope,
    ToolScope,
)
from tests.standardagent.agents import agent, answer, call, calls
from tests.standardagent.hooks.hooking import Hook, note


class CountingStore(MemoryStore):
    """Remembers what each commit was for, and what it changed."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: list[str] = []
        self.kinds: list[str] = []

    async def commit(self, request: CommitRequest) -> Commit:
        self.labels.append(request.idempotency_key.rsplit("-", 2)[0].removeprefix("runtime-"))
        self.kinds += [change.kind for change in request.changes]
        return await super().commit(request)


async def a_day(session: Any) -> None:
    """Everything that hooks could be asked about."""
    await session.send("first")
    await session.gate.entered()
    receipt = await session.send("second")
    command = QueuedCommand(session.id, receipt.message_id)
    await session.access.edit_queued(command, note("third"))
    await session.access.delete_queued(command)
    await session.steer("and this")
    session.gate.open()
    await session.when_idle()
    await session.access.close_session(SessionCommand(session.id))


async def labels(*modules: Module, day: Callable[[Any], Awaitable[None]] = a_day) -> CountingStore:
    store = CountingStore()
    script = [calls(call("gate"), call("gate")), answer("one"), answer("two")]
    stored = partial(Module, "store", SESSION_STORE.set(store))
    async with agent(script, gated=True, modules=list(modules), store=stored) as session:
        await day(session)
    return store


PLAIN = [
    "send-start",
    "attempt-start",
    "model-complete",
    "send",
    "queue-edit",
    "queue-delete",
    "steer",
    "tool-executing",
    "tool-results",
    "attempt-start",
    "model-complete",
    "run-finish",
]


async def test_without_hooks_there_is_no_entry_and_no_commit_for_them() -> None:
    store = await labels()
    assert store.labels == PLAIN
    assert "update_extension_journal" not in store.kinds


ELSEWHERE = ToolScope(("elsewhere",))


@pytest.mark.parametrize(
    "module",
    [
        Module(
            "preflight",
            TOOL_PREFLIGHTS.append(
                Hook("a", lambda _: ToolPreflightResult.allow(), scope=ELSEWHERE)
            ),
        ),
        Module(
            "result",
            TOOL_RESULT_HOOKS.append(
                Hook("a", lambda _: ToolResultHookResult(), scope=ToolResultScope(("elsewhere",)))
            ),
        ),
    ],
    ids=lambda module: module.id,
)
async def test_hooks_with_another_scope_cost_no_commit(module: Module) -> None:
    store = await labels(module)
    assert store.labels == PLAIN
    assert "update_extension_journal" not in store.kinds


@pytest.mark.parametrize("count", [1, 2, 5])
async def test_a_chain_shares_its_commits(count: int) -> None:
    """N hooks take N + 2 commits, of which those that record them may be the Runtime's own."""

    def hooks(answers: Any, scope: object = None) -> list[Hook]:
        return [Hook(str(n), lambda _: answers, scope=scope) for n in range(count)]

    async def one_run(session: Any) -> None:
        session.gate.open()
        await session.send_and_wait("go")

    plain = len((await labels(day=one_run)).labels)
    allow, nothing = ToolPreflightResult.allow(), ToolResultHookResult()
    complete, quiet = CompletionGateResult.complete(), SessionLifecycleResult()
    preflights, results = hooks(allow, ToolScope()), hooks(nothing, ToolResultScope())
    gates, lives = hooks(complete), hooks(quiet, LifecycleScope())
    chains = {
        # A call that is asked about does not begin in the commit that records it, so one more.
        "preflight": ([TOOL_PREFLIGHTS.append(h) for h in preflights], 2 * count + 2),
        "result": ([TOOL_RESULT_HOOKS.append(h) for h in results], 2 * count + 1),
        "completion": ([COMPLETION_GATES.append(h) for h in gates], count + 2),
        "lifecycle": ([SESSION_LIFECYCLES.append(h) for h in lives], count + 2),
        "input": ([INPUT_GATES.append(h) for h in hooks(InputGateResult.accept())], 2 * count + 1),
    }
    for name, (contributions, more) in chains.items():
        store = await labels(Module(name, *contributions), day=one_run)
        assert len(store.labels) - plain == more, name
