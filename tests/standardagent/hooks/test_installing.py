"""Building an application with hooks: what they say of themselves is read once and checked."""

from collections.abc import Callable
from typing import Any

import pytest

from agentslot import Application, BuildFailed, Module
from agentslot.interaction import InProcessChannel
from agentslot.session import ExtensionDescriptor, ExtensionStatus, LifecyclePhase, ToolStatus
from agentslot.standardagent.hook import (
    COMPLETION_GATES,
    HOOK_SLOTS,
    INPUT_GATES,
    SESSION_LIFECYCLES,
    TOOL_PREFLIGHTS,
    TOOL_RESULT_HOOKS,
    CompletionGateResult,
    InvalidHook,
    InvocationFailure,
    LifecycleScope,
    ToolPreflightResult,
    ToolResultScope,
    ToolScope,
)
from tests.standardagent.agents import ScriptedModel, agent, answer, scripted_application
from tests.standardagent.hooks.hooking import Hook

COMPLETE = CompletionGateResult.complete()


def gate(key: str) -> Hook:
    return Hook(key, lambda _: COMPLETE)


def application(*modules: Module) -> Application:
    return scripted_application(ScriptedModel([]), InProcessChannel(), modules=modules)


def problems(*modules: Module) -> list[InvalidHook]:
    with pytest.raises((InvalidHook, BuildFailed)) as caught:
        application(*modules).build()
    error = caught.value
    found = error.exceptions if isinstance(error, BuildFailed) else [error]
    assert all(isinstance(each, InvalidHook) for each in found)
    return [each for each in found if isinstance(each, InvalidHook)]


def test_the_slots_are_chains_that_may_be_empty() -> None:
    assert [slot.id for slot in HOOK_SLOTS] == [
        "hook.input_gate",
        "hook.tool_preflight",
        "hook.tool_result",
        "hook.completion_gate",
        "hook.session_lifecycle",
        "agent.hook",
    ]
    assert {slot.kind for slot in HOOK_SLOTS} == {"chain"}
    assembly = application().build()
    assert [assembly[slot] for slot in HOOK_SLOTS] == [()] * 6


def test_two_hooks_of_a_slot_have_different_keys() -> None:
    twice = Module("a", COMPLETION_GATES.append(gate("x")), COMPLETION_GATES.append(gate("x")))
    (problem,) = problems(twice)
    assert problem.slot == "hook.completion_gate"
    assert "'x'" in str(problem)
    assert "key of its own" in str(problem)
    elsewhere = INPUT_GATES.append(Hook("x", lambda _: None))
    application(Module("a", COMPLETION_GATES.append(gate("x")), elsewhere)).build()


def test_all_that_is_wrong_is_reported_at_once() -> None:
    class Nameless(Hook):
        def descriptor(self) -> Any:
            return "x"

    class Broken(Hook):
        def scope(self) -> Any:
            raise LookupError("no configuration")

    modules = Module(
        "a",
        INPUT_GATES.append(Nameless("a", lambda _: None)),
        TOOL_PREFLIGHTS.append(Broken("b", lambda _: None)),
        TOOL_RESULT_HOOKS.append(Hook("c", lambda _: None, scope=ToolScope())),
        SESSION_LIFECYCLES.append(Hook("d", lambda _: None, scope=None)),
    )
    found = problems(modules)
    assert [problem.slot for problem in found] == [
        "hook.input_gate",
        "hook.tool_preflight",
        "hook.tool_result",
        "hook.session_lifecycle",
    ]
    assert "no configuration" in str(found[1])
    assert "ToolResultScope" in str(found[2])


@pytest.mark.parametrize(
    "scope",
    [
        lambda: ToolScope(()),
        lambda: ToolScope(("a", "a")),
        lambda: ToolScope((" a",)),
        lambda: ToolScope(tuple(str(n) for n in range(65))),
        lambda: ToolScope("bash"),  # type: ignore[arg-type]  # a text is iterable too
        lambda: ToolScope(["bash"]),  # type: ignore[arg-type]  # a list could change later
        lambda: ToolResultScope(("a", "")),
        lambda: ToolResultScope(statuses=()),
        lambda: ToolResultScope(statuses=(ToolStatus.OUTCOME_UNKNOWN,)),
        lambda: LifecycleScope(()),
        lambda: LifecycleScope((LifecyclePhase.OPEN, LifecyclePhase.OPEN)),
    ],
)
def test_a_scope_is_legal_or_cannot_be_made(scope: Callable[[], object]) -> None:
    with pytest.raises((ValueError, TypeError), match="scope"):
        scope()


def test_a_scope_covers_what_it_names() -> None:
    assert ToolScope().covers("anything")
    assert ToolScope(("a", "b")).covers("b")
    assert not ToolScope(("a", "b")).covers("c")
    assert ToolScope(tuple(str(n) for n in range(64))).covers("63")
    assert not ToolResultScope(("a",), (ToolStatus.FAILED,)).covers("a", ToolStatus.SUCCEEDED)
    assert not ToolResultScope(("a",)).covers("b", ToolStatus.SUCCEEDED)


def test_a_failure_is_safe_to_record() -> None:
    failure = InvocationFailure("quota", "no quota", status=ExtensionStatus.CANCELED)
    assert (failure.code, failure.reason, failure.status) == ("quota", "no quota", "canceled")
    for code, reason in (("", ""), ("a\nb", ""), ("a", "two\nlines"), ("a", "x" * 1025)):
        with pytest.raises(ValueError, match="failure"):
            InvocationFailure(code, reason)
    for status in (ExtensionStatus.SUCCEEDED, ExtensionStatus.PENDING, ExtensionStatus.PREPARED):
        with pytest.raises(ValueError, match="failure"):
            InvocationFailure("a", status=status)


async def test_what_a_hook_says_later_of_itself_changes_nothing() -> None:
    class Changing(Hook):
        asked = 0

        def descriptor(self) -> ExtensionDescriptor:
            self.asked += 1
            return ExtensionDescriptor.of(f"key-{self.asked}", "v1")

    hook = Changing("key", lambda _: COMPLETE)
    modules = [Module("a", COMPLETION_GATES.append(hook))]
    async with agent([answer("one"), answer("two")], modules=modules) as session:
        await session.send_and_wait("go")
        result = await session.send_and_wait("again")
    assert result.diagnostics[0].invocation.descriptor.key == "key-1"
    assert hook.asked == 1


def test_a_hook_that_is_none_of_its_slot_is_refused() -> None:
    with pytest.raises(Exception, match=r"hook\.tool_preflight"):
        application(Module("a", TOOL_PREFLIGHTS.append(ToolPreflightResult.allow()))).build()  # type: ignore[arg-type]  # on purpose
