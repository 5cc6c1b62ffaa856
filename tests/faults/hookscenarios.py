"""What hooks do to an agent, in each of their boundaries: decide, add context, fail."""

from collections.abc import Callable, Sequence
from typing import Any

import anyio

from agentslot import Contribution, Module
from agentslot.interaction import QueuedCommand
from agentslot.model.testing import calls_answer, text_answer
from agentslot.session import (
    ClassifiedError,
    ExtensionDescriptor,
    MessageInput,
    TextPart,
    ToolStatus,
)
from agentslot.standardagent.hook import (
    COMPLETION_GATES,
    INPUT_GATES,
    SESSION_LIFECYCLES,
    TOOL_PREFLIGHTS,
    TOOL_RESULT_HOOKS,
    CompletionGateResult,
    CompletionGateView,
    InputGateResult,
    InputGateView,
    LifecycleScope,
    SessionLifecycleResult,
    SessionLifecycleView,
    ToolPreflightResult,
    ToolPreflightView,
    ToolResultHookResult,
    ToolResultScope,
    ToolResultView,
    ToolScope,
)
from tests.faults.scenario import calling, scenario
from tests.faults.stage import Modules, Stage
from tests.faults.world import World

# The slots have five contracts of one shape; these hooks fit whichever they are put into.
Answer = Callable[[Any], Any]


class Hook:
    """A hook of any boundary; being asked is an effect, for it must not be asked twice."""

    def __init__(self, world: World, key: str, answer: Answer, scope: Any = None) -> None:
        self._world = world
        self._descriptor = ExtensionDescriptor.of(key, "1")
        self._answer = answer
        self._scope = scope

    def descriptor(self) -> ExtensionDescriptor:
        return self._descriptor

    def scope(self) -> Any:
        return self._scope

    async def evaluate(self, view: Any) -> Any:
        await self._world.pause(f"{self._descriptor.key} is asked")
        self._world.hook_effect(view.session_id, view.invocation_id)
        await self._world.pause(f"{self._descriptor.key} answers")
        return self._answer(view)


def hooked(*chains: Callable[[World], Sequence[Contribution]]) -> Modules:
    """A module with all hooks of these chains."""
    return lambda world: [Module("faults.hooks", *(c for chain in chains for c in chain(world)))]


def note(text: str) -> MessageInput:
    return MessageInput.of(text)


def text_of(parts: Sequence[object]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def admit(view: InputGateView) -> InputGateResult:
    text = text_of(view.input.parts)
    if "fails" in text:
        raise RuntimeError("the gate is broken")
    if "bad" in text:
        return InputGateResult.reject("not in this house")
    return InputGateResult.accept(note(f"seen at the gate: {view.operation}"))


def welcome(view: InputGateView) -> InputGateResult:
    del view
    return InputGateResult.accept()


def input_gates(world: World) -> Sequence[Contribution]:
    gates = Hook(world, "admit", admit), Hook(world, "welcome", welcome)
    return [INPUT_GATES.append(hook) for hook in gates]


@scenario(hooked(input_gates))
async def input_accepted_with_context(stage: Stage) -> None:
    stage.model.answers(calling("wait"), text_answer("First."), text_answer("Second."))
    session = await stage.session()
    await stage.send(session, "The first")
    await stage.gate.entered.wait()
    await stage.steer(session, "This way")
    queued = await stage.send(session, "The second")
    await stage.access.edit_queued(QueuedCommand(session.id, queued), note("The better"))
    stage.gate.open()
    await session.when_idle()


@scenario(hooked(input_gates))
async def input_rejected_and_gate_failing(stage: Stage) -> None:
    stage.model.answers(text_answer("At last."))
    session = await stage.session()
    for text in ("A bad message", "The gate fails", "A good message"):
        try:
            await session.view()
            await stage.ask(session, text)
        except ClassifiedError as error:
            if text == "A good message" or error.code == "runtime_closed":
                raise


def inspect(view: ToolPreflightView) -> ToolPreflightResult:
    if view.tool == "fail":
        raise RuntimeError("the inspector is broken")
    if view.tool == "look":
        return ToolPreflightResult.deny("nothing to see here")
    if view.tool == "store":
        return ToolPreflightResult.require_approval("it would be kept")
    return ToolPreflightResult.allow()


def preflights(world: World) -> Sequence[Contribution]:
    hooks = (
        Hook(world, "inspect", inspect, ToolScope()),
        Hook(world, "note", lambda _: ToolPreflightResult.allow(), ToolScope(("note",))),
    )
    return [TOOL_PREFLIGHTS.append(hook) for hook in hooks]


@scenario(hooked(preflights))
async def preflight_allows_denies_and_asks(stage: Stage) -> None:
    stage.model.answers(calling("note", "look", "store", "nobody"), text_answer("Done."))
    session = await stage.session()
    await stage.send(session, "All of it")
    await session.approve(await stage.asked(session))
    await session.when_idle()


@scenario(hooked(preflights))
async def preflight_fails(stage: Stage) -> None:
    stage.model.answers(calling("note", "fail", "note"))
    await stage.ask(await stage.session(), "Try it")


@scenario(hooked(preflights))
async def cancel_between_preflight_and_tools(stage: Stage) -> None:
    stage.model.answers(calling("note", "store"))
    session = await stage.session()
    await stage.send(session, "Store it")
    await stage.asked(session)
    await session.cancel()
    await session.when_idle()


def comment(view: ToolResultView) -> ToolResultHookResult:
    if view.tool == "look":
        raise RuntimeError("the commentator is broken")
    return ToolResultHookResult((note(f"{view.tool} {view.result.status}"),))


def result_hooks(world: World) -> Sequence[Contribution]:
    hooks = (
        Hook(world, "comment", comment, ToolResultScope()),
        Hook(
            world,
            "failures",
            lambda _: ToolResultHookResult(),
            ToolResultScope(statuses=(ToolStatus.FAILED,)),
        ),
    )
    return [TOOL_RESULT_HOOKS.append(hook) for hook in hooks]


@scenario(hooked(result_hooks))
async def results_commented(stage: Stage) -> None:
    stage.model.answers(calling("note", "fail", "nobody"), text_answer("Done."))
    await stage.ask(await stage.session(), "Try it")


@scenario(hooked(result_hooks))
async def result_hook_fails(stage: Stage) -> None:
    stage.model.answers(calling("note", "look", "note"))
    await stage.ask(await stage.session(), "Try it")


def judge(view: CompletionGateView) -> CompletionGateResult:
    text = text_of(view.parts)
    if text == "Broken.":
        raise RuntimeError("the judge is broken")
    if text == "Late.":
        raise TimeoutError  # as the Runtime does when a hook has used up its time
    if text == "Half.":
        return CompletionGateResult.go_on(note("the other half, please"))
    return CompletionGateResult.complete()


def completion_gates(world: World) -> Sequence[Contribution]:
    gates = (
        Hook(world, "judge", judge),
        Hook(world, "clerk", lambda _: CompletionGateResult.complete()),
    )
    return [COMPLETION_GATES.append(hook) for hook in gates]


@scenario(hooked(completion_gates))
async def completion_goes_on_once(stage: Stage) -> None:
    stage.model.answers(text_answer("Half."), calling("note"), text_answer("Whole."))
    await stage.ask(await stage.session(), "All of it")


@scenario(hooked(result_hooks, completion_gates))
async def tool_that_ends_the_run_asks_the_gates(stage: Stage) -> None:
    finish = calls_answer(("finish", {"text": "it"}), text="Half.")
    stage.model.answers(finish, calling("note", "finish"), calling("finish"))
    await stage.ask(await stage.session(), "All of it")


@scenario(hooked(completion_gates))
async def completion_gate_fails(stage: Stage) -> None:
    stage.model.answers(text_answer("Broken."))
    await stage.ask(await stage.session(), "All of it")


@scenario(hooked(completion_gates))
async def completion_gate_past_its_deadline(stage: Stage) -> None:
    stage.model.answers(text_answer("Late."))
    await stage.ask(await stage.session(), "All of it")


@scenario(hooked(completion_gates))
async def steer_before_the_completion_gates(stage: Stage) -> None:
    end = anyio.Event()
    stage.model.answers(text_answer("First.", gate=end), text_answer("Second."))
    session = await stage.session()
    await stage.send(session, "Answer")
    await stage.requested()
    await stage.steer(session, "Another thing")
    end.set()
    await session.when_idle()


def greet(view: SessionLifecycleView) -> SessionLifecycleResult:
    if view.open_kind is None:
        return SessionLifecycleResult()
    return SessionLifecycleResult((note(f"opened by {view.open_kind}"),))


def stumble(view: SessionLifecycleView) -> SessionLifecycleResult:
    if view.open_kind is None:
        raise RuntimeError("the farewell is broken")
    return SessionLifecycleResult()


def lifecycles(world: World) -> Sequence[Contribution]:
    hooks = (
        Hook(world, "greet", greet, LifecycleScope()),
        Hook(world, "stumble", stumble, LifecycleScope()),
    )
    return [SESSION_LIFECYCLES.append(hook) for hook in hooks]


@scenario(hooked(lifecycles))
async def opened_forked_and_closed_with_hooks(stage: Stage) -> None:
    stage.model.answers(text_answer("First."), text_answer("Of the fork."))
    session = await stage.session()
    await stage.ask(session, "The first")
    fork = await stage.channel.fork_session(session.id, agent="tester", workspace="default")
    await stage.ask(fork, "In the fork")
    await session.close()


@scenario(hooked(input_gates, preflights, result_hooks, completion_gates, lifecycles))
async def every_hook_at_once(stage: Stage) -> None:
    stage.model.answers(calling("note"), text_answer("Half."), text_answer("Whole."))
    await stage.ask(await stage.session(), "All of it")
