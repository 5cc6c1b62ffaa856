"""The referees of hooks: good hooks pass, and each of their checks finds what it is for."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from agentslot import Module
from agentslot._conformance import Suite
from agentslot.session import ExtensionDescriptor, LifecyclePhase, MessageInput, ToolStatus
from agentslot.standardagent.conformance import (
    COMPLETION_GATE_SUITE,
    INPUT_GATE_SUITE,
    SESSION_LIFECYCLE_SUITE,
    TOOL_PREFLIGHT_SUITE,
    TOOL_RESULT_SUITE,
    asking,
)
from agentslot.standardagent.hook import (
    CompletionGateResult,
    InputGateResult,
    InvocationFailure,
    LifecycleScope,
    SessionLifecycleResult,
    ToolPreflightResult,
    ToolResultHookResult,
    ToolResultScope,
    ToolScope,
)
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import stubborn, unready
from tests.standardagent.hooks.hooking import Hook

Judge = Suite[Callable[[], object]]


def always(result: object) -> Callable[[object], object]:
    return lambda _: result


def failing(_: object) -> Any:
    raise InvocationFailure("quota_unknown", "the quota could not be read")


def input_gate(view: Any) -> InputGateResult:
    if view.operation == "steer":
        return InputGateResult.reject("no steering here")
    return InputGateResult.accept(MessageInput.of(f"seen: {view.operation}"))


def preflight(view: Any) -> ToolPreflightResult:
    if view.tool == "send":
        return ToolPreflightResult.require_approval("it cannot be taken back")
    if view.arguments.endswith('!"}'):
        return ToolPreflightResult.deny("it would fail")
    return ToolPreflightResult.allow()


def result_hook(view: Any) -> ToolResultHookResult:
    return ToolResultHookResult((MessageInput.of(f"{view.tool}: {view.result.status}"),))


def completion_gate(view: Any) -> CompletionGateResult:
    if view.follow_ons < 2:
        return CompletionGateResult.go_on(MessageInput.of("Are you sure?"))
    return CompletionGateResult.complete()


def lifecycle(view: Any) -> SessionLifecycleResult:
    greeting = (MessageInput.of(f"opened: {view.open_kind}"),)
    return SessionLifecycleResult(greeting if view.phase is LifecyclePhase.OPEN else ())


KINDS: dict[str, tuple[Judge, Callable[[Any], object], object]] = {
    "input_gate": (INPUT_GATE_SUITE, input_gate, None),
    "tool_preflight": (TOOL_PREFLIGHT_SUITE, preflight, ToolScope()),
    "tool_result": (TOOL_RESULT_SUITE, result_hook, ToolResultScope()),
    "completion_gate": (COMPLETION_GATE_SUITE, completion_gate, None),
    "session_lifecycle": (SESSION_LIFECYCLE_SUITE, lifecycle, LifecycleScope()),
}

each_kind = pytest.mark.parametrize("kind", KINDS)


def make(kind: str, hook: type[Hook] = Hook, **options: Any) -> Callable[[], Hook]:
    _, answer, scope = KINDS[kind]
    options = {"answer": answer, "scope": scope, **options}
    return lambda: hook("mine", **options)


@each_kind
async def test_a_good_hook_conforms(kind: str) -> None:
    await KINDS[kind][0].check(make(kind))


@each_kind
async def test_a_hook_may_fail_for_a_reason_that_it_names(kind: str) -> None:
    await KINDS[kind][0].check(make(kind, answer=failing))


@pytest.mark.parametrize(
    ("kind", "scope"),
    [
        ("tool_preflight", ToolScope(("shell",))),
        ("tool_result", ToolResultScope(("shell",), (ToolStatus.FAILED,))),
        ("session_lifecycle", LifecycleScope((LifecyclePhase.CLOSE,))),
    ],
)
async def test_a_hook_is_asked_about_its_scope(kind: str, scope: object) -> None:
    await KINDS[kind][0].check(make(kind, scope=scope))


class Fickle(Hook):
    """Says something new of itself each time but the first."""

    def __init__(self, key: str, **options: Any) -> None:
        super().__init__(key, **options)
        self._versions = count()

    def descriptor(self) -> ExtensionDescriptor:
        return ExtensionDescriptor.of("mine", str(next(self._versions)))


VERSIONS = count()


class NewEachTime(Hook):
    def __init__(self, key: str, **options: Any) -> None:
        super().__init__(key, version=str(next(VERSIONS)), **options)


class Unready(Hook):
    def __init__(self, key: str, **options: Any) -> None:
        super().__init__(key, **options)
        self._work = unready(super().evaluate)

    async def evaluate(self, view: Any) -> Any:
        return await self._work(view)


class Stubborn(Unready):
    def __init__(self, key: str, **options: Any) -> None:
        super().__init__(key, **options)
        self._work = stubborn(super(Unready, self).evaluate)


@each_kind
@pytest.mark.parametrize(
    ("hook", "rule"),
    [
        (Fickle, "it_says_the_same_of_itself_each_time"),
        (NewEachTime, "the_next_process_has_the_same_hook"),
        (Unready, "sessions_at_the_same_time_do_not_disturb_each_other"),
        (Stubborn, "a_question_that_is_cancelled_ends"),
    ],
)
async def test_a_broken_hook_fails_the_check_that_is_for_it(
    kind: str, hook: type[Hook], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if hook is Stubborn:
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    assert list(await broken_rules(KINDS[kind][0], make(kind, hook))) == [rule]


@pytest.mark.parametrize(
    ("kind", "result", "said"),
    [
        ("input_gate", "yes", "no InputGateResult"),
        ("input_gate", InputGateResult.reject(""), "needs a reason"),
        ("tool_preflight", CompletionGateResult.complete(), "no ToolPreflightResult"),
        ("tool_preflight", ToolPreflightResult.deny("a\nb"), "no safe line"),
        ("tool_result", None, "no ToolResultHookResult"),
        (
            "tool_result",
            ToolResultHookResult((MessageInput.of("x"),) * 17),
            "17 messages of context are more than 16",
        ),
        ("completion_gate", CompletionGateResult.go_on(), "needs a context"),
        (
            "session_lifecycle",
            SessionLifecycleResult((MessageInput.of("bye"),)),
            "cannot bring a context",
        ),
    ],
)
async def test_an_answer_that_breaks_a_rule_is_told_with_the_rule(
    kind: str, result: object, said: str
) -> None:
    found = await broken_rules(KINDS[kind][0], make(kind, answer=always(result)))
    assert list(found) == ["its_answers_are_those_of_its_place"]
    assert said in found["its_answers_are_those_of_its_place"]


@each_kind
async def test_a_module_without_a_hook_conforms_to_nothing(kind: str) -> None:
    suite = KINDS[kind][0]
    found = await broken_rules(suite, lambda: Module("empty"))
    assert len(found) == len(suite.checks)
    assert set(found.values()) == {f"it brings nothing for the slot hook.{kind}"}


async def test_a_gate_that_never_stops_is_found() -> None:
    go_on = CompletionGateResult.go_on(MessageInput.of("more"))
    found = await broken_rules(COMPLETION_GATE_SUITE, make("completion_gate", answer=always(go_on)))
    assert list(found) == ["a_run_comes_to_its_end"]
