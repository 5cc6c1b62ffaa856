"""Completion gates: a Run ends when all agree, and goes on within its budgets when one does not."""

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import QueuedCommand, SendMessage
from agentslot.session import (
    SESSION_STORE,
    Commit,
    CommitRequest,
    FileStoreModule,
    MemoryStore,
    Message,
    RunStatus,
    TerminationSource,
)
from agentslot.standardagent import AgentConfig
from agentslot.standardagent.hook import COMPLETION_GATES, CompletionGateResult
from tests.standardagent.agents import agent, answer, call, calls, kinds
from tests.standardagent.hooks.crashes import image_after
from tests.standardagent.hooks.hooking import FAILURES, Answer, Hook, note, told
from tests.standardagent.test_resume import crash, resumed

COMPLETE = CompletionGateResult.complete()


def gate(key: str, evaluate: Answer = lambda _: COMPLETE, **options: Any) -> Hook:
    return Hook(key, evaluate, **options)


def goes_on(times: int, text: str = "look again") -> Answer:
    """Go on so often, then let the Run complete."""
    return lambda view: (
        CompletionGateResult.go_on(note(text)) if view.follow_ons < times else COMPLETE
    )


def installed(*hooks: Hook) -> list[Module]:
    return [Module("hooks", *(COMPLETION_GATES.append(each) for each in hooks))]


def texts(request: Any) -> list[str]:
    return [each.text for each in request.inputs if isinstance(each, Message)]


async def test_a_run_completes_when_all_gates_agree() -> None:
    gates = gate("a"), gate("b")
    async with agent([answer("done")], modules=installed(*gates)) as session:
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.COMPLETED
    assert told(result.diagnostics) == [
        "a succeeded/applied complete",
        "b succeeded/applied complete",
    ]
    (view,) = gates[0].views
    assert (view.parts[0].text, view.follow_ons, view.budget.used) == ("done", 0, 2)


async def test_one_gate_is_enough_to_go_on_in_the_same_run() -> None:
    gates = gate("a"), gate("b", goes_on(1)), gate("c", goes_on(1, "and again"))
    script = [answer("done?"), answer("done!")]
    async with agent(script, modules=installed(*gates)) as session:
        result = await session.send_and_wait("go")
        first, second = session.executor.requests
        view = await session.view()
    assert result.status is RunStatus.COMPLETED
    assert result.text == "done!"
    assert texts(second) == ["go", "done?", "look again", "and again"]
    assert first.run_id == second.run_id
    assert first.step_id != second.step_id
    assert [v.follow_ons for v in gates[0].views] == [0, 1]
    assert gates[0].views[0].next_step_id == second.step_id
    assert told(result.diagnostics)[:3] == [
        "a succeeded/applied complete",
        "b succeeded/applied/consumed continue",
        "c succeeded/applied/consumed continue",
    ]
    assert kinds(view.recent_history).count("run:started") == 1


async def test_what_a_gate_adds_is_shown_in_one_request_alone() -> None:
    script = [answer("1"), answer("2"), answer("3")]
    async with agent(script, modules=installed(gate("a", goes_on(2)))) as session:
        await session.send_and_wait("go")
        assert texts(session.executor.requests[2]) == ["go", "1", "2", "look again"]


async def test_going_on_resets_no_budget() -> None:
    config = AgentConfig(max_tokens_per_run=5)
    script = [answer("1"), answer("2"), answer("3"), answer("never")]
    forever = gate("a", goes_on(100))
    async with agent(script, modules=installed(forever), config=config) as session:
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.INTERRUPTED
    assert result.termination.code == "run_token_budget_exceeded"
    assert [view.budget.used for view in forever.views] == [2, 4, 6]


async def test_gates_are_not_asked_while_there_are_calls_or_messages_to_join() -> None:
    watching = gate("a")
    script = [calls(call("gate")), answer("later"), answer("done")]
    async with agent(script, gated=True, modules=installed(watching)) as session:
        await session.send("go")
        await session.gate.entered()
        session.gate.open()
        await session.when_idle()
    assert len(watching.views) == 1


@pytest.mark.parametrize(("fails", "status", "code"), FAILURES)
async def test_after_a_failure_the_run_is_interrupted_and_not_completed(
    fails: Answer, status: str, code: str
) -> None:
    modules = installed(gate("a", goes_on(9)), gate("b", fails), gate("c"))
    async with agent([answer("done")], modules=modules) as session:
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.INTERRUPTED
    assert result.termination.source is TerminationSource.EXTENSION
    assert result.termination.code == code
    assert result.text == "done"
    assert told(result.diagnostics) == [
        "a succeeded/discarded/discarded continue",
        f"b {status}/applied {code}",
        "c canceled/discarded completion_gate_batch_aborted",
    ]


@pytest.mark.parametrize(
    "nonsense",
    [
        CompletionGateResult.go_on(),
        CompletionGateResult.complete("x" * 1025),
        CompletionGateResult(COMPLETE.decision, "", (note("x"),)),
    ],
)
async def test_a_result_that_breaks_the_contract_is_a_failure(nonsense: object) -> None:
    async with agent([answer("done")], modules=installed(gate("a", lambda _: nonsense))) as session:
        result = await session.send_and_wait("go")
    assert result.termination.code == "extension_failed"


async def test_a_steer_that_comes_in_meanwhile_wins() -> None:
    held = gate("b", hold=True)
    gates = gate("a", goes_on(1)), held, gate("c")
    script = [answer("done?"), answer("done!"), answer("really")]
    async with agent(script, modules=installed(*gates)) as session:
        await session.send("go")
        await held.entered()
        await session.steer("wait")
        held.open()
        await session.when_idle()
        view = await session.view()
        assert texts(session.executor.requests[1]) == ["go", "done?", "wait"]
    assert told(view.recent_extension_diagnostics)[:3] == [
        "a succeeded/discarded/discarded continue",
        "b succeeded/discarded complete",
        "c canceled/discarded completion_gate_superseded",
    ]
    assert kinds(view.recent_history)[-1] == "run:completed"
    assert [v.follow_ons for v in gates[0].views] == [0, 0, 1]


class ParkingStore(MemoryStore):
    """Keeps commits waiting, and with them the Session's lock, while it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.released = anyio.Event()
        self.released.set()

    async def commit(self, request: CommitRequest) -> Commit:
        await self.released.wait()
        return await super().commit(request)


async def nothing_moves() -> None:
    """Wait until every task waits; on asyncio the end of a task is noticed a little later."""
    for _ in range(3):
        await anyio.wait_all_tasks_blocked()


async def test_a_steer_that_is_withdrawn_again_has_the_gates_asked_anew() -> None:
    store, held, second = ParkingStore(), gate("a", hold=True), gate("b")
    modules = installed(held, second)
    stored = partial(Module, "store", SESSION_STORE.set(store))
    async with agent([answer("done"), answer("ok")], modules=modules, store=stored) as session:
        access = session.access
        await session.send("go")
        await held.entered()
        receipt = await session.steer("wait")
        store.released = anyio.Event()
        async with anyio.create_task_group() as tasks:
            # The lock is held by a commit; behind it wait the chain, and then the withdrawal.
            tasks.start_soon(access.send, SendMessage(session.id, note("later")))
            await nothing_moves()
            held.open()
            await nothing_moves()
            withdrawal = QueuedCommand(session.id, receipt.message_id)
            tasks.start_soon(access.delete_queued, withdrawal)
            await nothing_moves()
            store.released.set()
        await session.when_idle()
        view = await session.view()
    assert told(view.recent_extension_diagnostics)[:4] == [
        "a succeeded/discarded complete",
        "b canceled/discarded completion_gate_superseded",
        "a succeeded/applied complete",
        "b succeeded/applied complete",
    ]


async def test_cancelling_while_a_gate_is_asked_settles_everything() -> None:
    held = gate("b", hold=True)
    modules = installed(gate("a", goes_on(1)), held, gate("c"))
    async with agent([answer("done"), answer("ok")], modules=modules) as session:
        await session.send("go")
        await held.entered()
        await session.cancel()
        await session.when_idle()
        view = await session.view()
    assert kinds(view.recent_history)[-1] == "run:canceled"
    assert told(view.recent_extension_diagnostics) == [
        "a succeeded/discarded/discarded continue",
        "b canceled/applied completion_gate_canceled",
        "c canceled/discarded completion_gate_canceled",
    ]


async def killed(folder: Path, held: str) -> tuple[Path, str]:
    """The disk of a process that was killed while the gate `held` was asked."""
    gates = {key: gate(key, goes_on(1), hold=key == held) for key in ("a", "b")}
    store = partial(FileStoreModule, folder)
    script = [answer("done?"), answer("done!")]
    async with agent(script, modules=installed(*gates.values()), store=store) as session:
        await session.send("go")
        await gates[held].entered()
        return crash(folder), session.id


async def test_a_gate_that_was_being_asked_at_a_crash_is_not_asked_again(tmp_path: Path) -> None:
    image, session_id = await killed(tmp_path / "sessions", "b")
    gates = gate("a"), gate("b")
    async with resumed(image, session_id, [], modules=installed(*gates)) as session:
        view = await session.view()
    assert kinds(view.recent_history)[-1] == "run:interrupted"
    assert gates[0].views == gates[1].views == []
    assert told(view.recent_extension_diagnostics) == [
        "a succeeded/discarded/discarded continue",
        "b outcome_unknown/discarded completion_gate_outcome_unknown",
    ]


async def finished(folder: Path) -> str:
    """A Session whose gates made its Run go on once."""
    store = partial(FileStoreModule, folder)
    modules = installed(gate("a", goes_on(1)), gate("b"))
    async with agent([answer("1"), answer("2")], modules=modules, store=store) as session:
        await session.send_and_wait("go")
        session_id: str = session.id
    return session_id


async def test_gates_that_nobody_had_asked_are_asked_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    session_id = await finished(folder)
    for occurrence, script in ((1, [answer("2")]), (2, [])):
        disk = image_after(folder, "completion-gates-prepare", occurrence)
        gates = gate("a", goes_on(1)), gate("b")
        async with resumed(disk, session_id, script, modules=installed(*gates)) as session:
            await session.when_idle()
            view = await session.view()
            assert len(session.executor.requests) == len(script)
        assert kinds(view.recent_history)[-1] == "run:completed"
        assert [v.follow_ons for v in gates[0].views] == [0, 1][occurrence - 1 :]
        assert told(view.recent_extension_diagnostics) == [
            "a succeeded/applied/consumed continue",
            "b succeeded/applied complete",
            "a succeeded/applied complete",
            "b succeeded/applied complete",
        ]


@pytest.mark.parametrize(
    "drifted",
    [
        [],
        [gate("a")],
        [gate("b"), gate("a")],
        [gate("a"), gate("b", version="2")],
    ],
)
async def test_other_gates_than_those_that_were_recorded_interrupt_the_run(
    tmp_path: Path, drifted: list[Hook]
) -> None:
    folder = tmp_path / "sessions"
    session_id = await finished(folder)
    disk = image_after(folder, "completion-gates-prepare")
    async with resumed(disk, session_id, [], modules=installed(*drifted)) as session:
        await session.when_idle()
        view = await session.view()
    end = view.recent_history[-1].payload
    assert end.termination.code == "completion_gate_definition_mismatch"
    assert not any(each.views for each in drifted)
    assert told(view.recent_extension_diagnostics) == [
        "a canceled/discarded completion_gate_batch_aborted",
        "b canceled/discarded completion_gate_batch_aborted",
    ]
