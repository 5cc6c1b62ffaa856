"""What a loop says beforehand: the answer of the model and the beginning of its calls at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agentslot import Module
from agentslot.session import (
    SESSION_STORE,
    Commit,
    CommitRequest,
    FileStoreModule,
    MemoryStore,
    ToolResult,
)
from agentslot.standardagent import (
    AGENT_LOOP,
    Outcome,
    PolicyModule,
    Preset,
    RunHandle,
)
from agentslot.standardagent.hook import TOOL_PREFLIGHTS, ToolPreflightResult, ToolScope
from agentslot.standardagent.loop.contract import TERMINAL
from agentslot.tool import function_tool
from tests.standardagent.agents import agent, answer, call, calls, kinds
from tests.standardagent.conformance.test_loop import NEXT
from tests.standardagent.hooks.crashes import image_after
from tests.standardagent.hooks.hooking import Hook
from tests.standardagent.test_resume import resumed


class StepByStep:
    """The standard loop, but that it says nothing beforehand."""

    async def run(self, run: RunHandle) -> Outcome:
        state = run.state
        while state not in TERMINAL:
            state = await run.act(NEXT[state])
        return await run.finish(TERMINAL[state])


def step_by_step() -> Module:
    return Module("step-by-step", AGENT_LOOP.set(StepByStep()))


def guarded() -> Module:
    return PolicyModule(Preset.TRUSTED)


def advised() -> Module:
    hook = Hook("a", lambda _: ToolPreflightResult.allow(), scope=ToolScope())
    return Module("advised", TOOL_PREFLIGHTS.append(hook))


CALL, BEGIN = "append_tool_call", "mark_tool_pending"


class Recording(MemoryStore):
    """Remembers what was recorded of calls, by commit."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[list[str]] = []

    async def commit(self, request: CommitRequest) -> Commit:
        commit = await super().commit(request)
        kinds: list[str] = [change.kind for change in request.changes]
        of_calls = [kind for kind in kinds if kind in (CALL, BEGIN)]
        if of_calls:
            self.commits.append(of_calls)
        return commit

    def module(self) -> Module:
        return Module("store", SESSION_STORE.set(self))


async def test_the_standard_loop_begins_a_call_in_the_commit_that_records_it() -> None:
    store = Recording()
    script = [calls(call("gate")), answer("done")]
    async with agent(script, gated=True, store=store.module) as session:
        session.gate.open()
        result = await session.send_and_wait("go")
    assert (result.text, session.gate.runs) == ("done", 1)
    assert store.commits == [[CALL, BEGIN]]


async def test_a_batch_begins_with_the_calls_that_may_run_first() -> None:
    ran = list[str]()

    @function_tool(parallel_safe=True)
    async def look(at: str) -> str:
        """Look."""
        ran.append(at)
        return "seen"

    store = Recording()
    batch = calls(
        call("nobody"), call("look", at="a"), call("look", "{"), call("look", at="b"), call("gate")
    )
    script = [batch, answer("done")]
    async with agent(script, tools=[look], gated=True, store=store.module) as session:
        session.gate.open()
        await session.send_and_wait("go")
        view = await session.view()
    assert sorted(ran) == ["a", "b"]
    assert store.commits == [[CALL] * 5 + [BEGIN] * 2, [BEGIN]]
    results = [f.payload for f in view.recent_history if isinstance(f.payload, ToolResult)]
    codes = [r.error.code if r.error else "" for r in results]
    assert codes == ["tool_not_found", "", "invalid_arguments", "", ""]


@pytest.mark.parametrize("module", [step_by_step, guarded, advised])
async def test_calls_that_wait_for_somebody_begin_later(module: Callable[[], Module]) -> None:
    store = Recording()
    script = [calls(call("gate")), answer("done")]
    async with agent(script, gated=True, modules=[module()], store=store.module) as session:
        session.gate.open()
        await session.send_and_wait("go")
    assert session.gate.runs == 1
    assert store.commits == [[CALL], [BEGIN]]


@pytest.mark.parametrize(
    ("modules", "runs", "end"),
    [([], 0, "tool_result:outcome_unknown"), ([step_by_step()], 1, "run:completed")],
    ids=["begun", "waiting"],
)
async def test_after_a_crash_what_has_begun_is_unknown_and_what_waits_is_made(
    modules: list[Module], runs: int, end: str, tmp_path: Path
) -> None:
    folder = tmp_path / "sessions"
    made = list[str]()

    @function_tool
    async def write() -> str:
        """Write."""
        made.append("again")
        return "written"

    script = [calls(call("write")), answer("done")]
    async with agent(
        script, tools=[write], modules=modules, store=lambda: FileStoreModule(folder)
    ) as session:
        await session.send_and_wait("go")
        session_id = session.id
    made.clear()
    crashed = image_after(folder, "model-complete")
    async with resumed(crashed, session_id, [answer("done")], [write], modules) as session:
        await session.when_idle()
        view = await session.view()
    assert len(made) == runs
    assert end in kinds(view.recent_history)[-2:]
