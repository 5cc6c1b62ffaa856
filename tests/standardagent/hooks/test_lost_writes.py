"""A journal of hooks that cannot be written: what was being decided is unknown, and settled so."""

from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import InputGateError, SessionCommand
from agentslot.session import (
    SESSION_STORE,
    ClassifiedError,
    Commit,
    CommitRequest,
    ErrorKind,
    MemoryStore,
    RunStatus,
    TerminationSource,
)
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
from tests.standardagent.hooks.hooking import Hook, note, told


class RefusingStore(MemoryStore):
    """Cannot write the commits with a label, from the n-th on, so many times."""

    def __init__(self) -> None:
        super().__init__()
        self._refused: dict[str, range] = {}
        self._seen: dict[str, int] = {}

    def refuse(self, label: str, number: int = 1, times: int = 1) -> None:
        self._refused[label] = range(number, number + times)

    async def commit(self, request: CommitRequest) -> Commit:
        label = request.idempotency_key.rsplit("-", 2)[0].removeprefix("runtime-")
        number = self._seen[label] = self._seen.get(label, 0) + 1
        if number in self._refused.get(label, ()):
            raise ClassifiedError(ErrorKind.UNAVAILABLE, "not_durable", "the disk is full")
        return await super().commit(request)


def refusing(label: str, number: int = 1, times: int = 1) -> tuple[RefusingStore, Any]:
    store = RefusingStore()
    store.refuse(label, number, times)
    return store, lambda: Module("store", SESSION_STORE.set(store))


def module(slot: Any, result: object, scope: object = None) -> list[Module]:
    """Two hooks, a and b, that always answer the same."""
    pair = [Hook(key, lambda _: result, scope=scope) for key in "ab"]
    return [Module("hooks", *(slot.append(each) for each in pair))]


CALLS = [calls(call("gate")), answer("ok"), answer("later")]

OF_A_RUN = [
    (
        TOOL_PREFLIGHTS,
        ToolPreflightResult.allow(),
        ToolScope(),
        "preflight",
        "hook_outcome_unknown",
    ),
    (
        TOOL_RESULT_HOOKS,
        ToolResultHookResult((note("x"),)),
        ToolResultScope(),
        "result-hooks",
        "tool_result_hook_persistence_failed",
    ),
    (
        COMPLETION_GATES,
        CompletionGateResult.complete(),
        None,
        "completion-gates",
        "completion_gate_outcome_unknown",
    ),
]


@pytest.mark.parametrize(("slot", "result", "scope", "label", "code"), OF_A_RUN)
@pytest.mark.parametrize("begun", [1, 2])
async def test_a_run_is_interrupted_when_its_questions_cannot_be_recorded(
    slot: Any, result: object, scope: object, label: str, code: str, begun: int
) -> None:
    _, store = refusing(f"{label}-begin", begun)
    modules = module(slot, result, scope)
    async with agent(CALLS, gated=True, modules=modules, store=store) as session:
        session.gate.open()
        ended = await session.send_and_wait("go")
        view = await session.view()
        assert (await session.send_and_wait("go on")).status is RunStatus.COMPLETED
    assert ended.status is RunStatus.INTERRUPTED
    assert (ended.termination.source, ended.termination.code) == (TerminationSource.EXTENSION, code)
    entries = told(view.recent_extension_diagnostics)
    first = "canceled/discarded" if begun == 1 else "outcome_unknown/discarded"
    assert entries[0].startswith(f"a {first}")
    assert entries[1].startswith("b canceled/discarded")


@pytest.mark.parametrize(("slot", "result", "scope", "label", "code"), OF_A_RUN)
async def test_what_cannot_be_settled_at_once_is_settled_with_the_end_of_the_run(
    slot: Any, result: object, scope: object, label: str, code: str
) -> None:
    store, stored = refusing(f"{label}-begin", 2)
    store.refuse(f"{label}-lost")
    modules = module(slot, result, scope)
    async with agent(CALLS, gated=True, modules=modules, store=stored) as session:
        session.gate.open()
        ended = await session.send_and_wait("go")
        view = await session.view()
    assert ended.termination.code == code
    assert told(view.recent_extension_diagnostics)[0].startswith("a outcome_unknown/discarded")


@pytest.mark.parametrize(("slot", "result", "scope", "label", "code"), OF_A_RUN)
async def test_a_chain_whose_end_cannot_be_recorded_comes_to_nothing(
    slot: Any, result: object, scope: object, label: str, code: str
) -> None:
    del code
    _, store = refusing(f"{label}-applied")
    modules = module(slot, result, scope)
    async with agent(CALLS, gated=True, modules=modules, store=store) as session:
        session.gate.open()
        ended = await session.send_and_wait("go")
        view = await session.view()
    assert ended.status is RunStatus.INTERRUPTED
    assert ended.termination.source is TerminationSource.EXTENSION
    statuses = {each.status for each in view.recent_extension_diagnostics}
    assert {each.effect for each in view.recent_extension_diagnostics} == {"discarded"}
    assert statuses == {"succeeded", "outcome_unknown"}


async def test_gates_that_cannot_be_recorded_at_all_interrupt_the_run() -> None:
    _, store = refusing("completion-gates-prepare")
    modules = module(COMPLETION_GATES, CompletionGateResult.complete())
    async with agent([answer("ok")], modules=modules, store=store) as session:
        ended = await session.send_and_wait("go")
    assert ended.termination.code == "completion_gate_prepare_failed"


@pytest.mark.parametrize(
    ("label", "number", "left"),
    [
        ("input-gates-begin", 1, ["a failed/discarded", "b failed/discarded"]),
        ("input-gates-end", 1, ["a outcome_unknown/discarded", "b failed/discarded"]),
        ("input-gates-begin", 2, ["a succeeded/discarded", "b failed/discarded"]),
        ("send-start", 1, ["a succeeded/discarded", "b succeeded/discarded"]),
    ],
)
async def test_a_message_is_not_submitted_when_its_gates_cannot_be_recorded(
    label: str, number: int, left: list[str]
) -> None:
    _, store = refusing(label, number)
    modules = module(INPUT_GATES, InputGateResult.accept())
    async with agent([answer("ok")], modules=modules, store=store) as session:
        with pytest.raises(InputGateError) as caught:
            await session.send("go")
        view = await session.view()
        assert (await session.send_and_wait("again")).status is RunStatus.COMPLETED
    assert caught.value.kind is ErrorKind.UNAVAILABLE
    assert view.recent_history == ()
    entries = told(caught.value.diagnostics)
    assert [each[: len(start)] for each, start in zip(entries, left, strict=True)] == left


async def test_a_message_whose_gates_cannot_even_be_settled_is_settled_by_recovery() -> None:
    store, stored = refusing("input-gates-begin", 2)
    store.refuse("input-gates-lost")
    modules = module(INPUT_GATES, InputGateResult.accept())
    async with agent([answer("ok")], modules=modules, store=stored) as session:
        with pytest.raises(InputGateError):
            await session.send("go")
        await session.access.close_session(SessionCommand(session.id))
        await session.access.resume_session(session.id)
        view = await session.view()
    assert {each.effect for each in view.recent_extension_diagnostics} == {"discarded"}


async def test_a_refusal_that_cannot_be_recorded_is_a_refusal_all_the_same() -> None:
    _, stored = refusing("input-gates-discarded")
    modules = module(INPUT_GATES, InputGateResult.reject("no"))
    async with agent([answer("ok")], modules=modules, store=stored) as session:
        with pytest.raises(InputGateError, match="input_rejected"):
            await session.send("go")
        view = await session.view()
    assert {each.effect for each in view.recent_extension_diagnostics} == {"discarded"}


@pytest.mark.parametrize("label", ["lifecycle-prepare", "lifecycle-begin", "lifecycle-applied"])
async def test_a_session_is_not_opened_or_closed_without_the_record_of_its_hooks(
    label: str,
) -> None:
    store, stored = refusing(label, number=2 if label != "lifecycle-begin" else 3)
    modules = module(SESSION_LIFECYCLES, SessionLifecycleResult(), LifecycleScope())
    async with agent([answer("ok")], modules=modules, store=stored) as session:
        with pytest.raises(ClassifiedError) as caught:
            await session.access.close_session(SessionCommand(session.id))
        assert caught.value.kind is ErrorKind.UNAVAILABLE
        store.refuse("lifecycle-prepare", 3, 1)
        if label == "lifecycle-prepare":
            await session.view()  # it has not been closed
            return
        with pytest.raises(ClassifiedError):
            await session.access.resume_session(session.id)
        await session.access.resume_session(session.id)
        await session.view()
        assert (await session.send_and_wait("go")).status is RunStatus.COMPLETED


class NeverDies(Hook):
    """A gate that no cancellation reaches: it goes on until it is opened."""

    async def evaluate(self, view: Any) -> Any:
        with anyio.CancelScope(shield=True):
            return await super().evaluate(view)


async def submit(session: Any) -> None:
    with pytest.raises(InputGateError):
        await session.send("go")


@pytest.mark.parametrize("lost", [False, True])
async def test_who_closes_and_goes_away_early_leaves_no_question_open(*, lost: bool) -> None:
    _, stored = refusing("lifecycle-canceled", times=int(lost))
    gate = NeverDies("gate", lambda _: InputGateResult.accept(), hold=True)
    modules = [
        *module(SESSION_LIFECYCLES, SessionLifecycleResult(), LifecycleScope()),
        Module("gate", INPUT_GATES.append(gate)),
    ]
    async with agent([answer("ok")], modules=modules, store=stored) as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(submit, session)
            await gate.entered()
            async with anyio.create_task_group() as closing:
                closing.start_soon(session.access.close_session, SessionCommand(session.id))
                await anyio.wait_all_tasks_blocked()
                closing.cancel_scope.cancel()
            gate.open()
        await session.access.resume_session(session.id)
        view = await session.view()
    code = "session_lifecycle_recovery_canceled" if lost else "canceled"
    assert told(view.recent_extension_diagnostics)[3:] == [
        f"a canceled/discarded {code}",
        f"b canceled/discarded {code}",
        "a succeeded/applied",
        "b succeeded/applied",
    ]
