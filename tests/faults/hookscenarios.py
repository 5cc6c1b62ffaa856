"""What an agent with hooks may go through: every boundary, and every way in which it may end."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agentslot import Chain, Module
from agentslot.interaction import InputGateError, QueuedCommand
from agentslot.model.testing import text_answer
from agentslot.session import MessageInput
from agentslot.standardagent.hook import (
    AGENT_HOOKS,
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
from tests.faults.scenarios import calling, scenario
from tests.faults.stage import Stage
from tests.standardagent.hooks.hooking import Answer, Hook, fails, note

Modules = Callable[[], Sequence[Module]]

ALLOWS = ToolPreflightResult.allow()


def hooks(slot: Chain[Any], *answers: Answer, scope: object = None) -> Modules:
    """Hooks of one slot, named a, b, c, made anew for each process."""
    keys = "abc"
    return lambda: (
        Module(
            "faults.hooks",
            *(
                slot.append(Hook(key, answer, scope=scope))
                for key, answer in zip(keys, answers, strict=False)
            ),
        ),
    )


def allows(_: object) -> ToolPreflightResult:
    return ALLOWS


def denies_looking(view: Any) -> ToolPreflightResult:
    return ToolPreflightResult.deny("no looking") if view.tool == "look" else ALLOWS


def asks_before_storing(view: Any) -> ToolPreflightResult:
    return ToolPreflightResult.require_approval("sure?") if view.tool == "store" else ALLOWS


def adds(result: Callable[..., Any]) -> Answer:
    return lambda _: result((note("by the way"),))


def goes_on_once(view: Any) -> CompletionGateResult:
    if view.follow_ons:
        return CompletionGateResult.complete()
    return CompletionGateResult.go_on(note("look again"))


def completes(_: object) -> CompletionGateResult:
    return CompletionGateResult.complete()


def accepts_with_a_word(_: object) -> InputGateResult:
    return InputGateResult.accept(note("by the way"))


def rejects_poems(view: Any) -> InputGateResult:
    poem = "poem" in view.input.parts[0].text
    return InputGateResult.reject("no poems") if poem else InputGateResult.accept()


@scenario(hooks(TOOL_PREFLIGHTS, allows, denies_looking, allows, scope=ToolScope()))
async def preflights_deny_a_call(stage: Stage) -> None:
    stage.model.answers(calling("look", "nobody", "note"), text_answer("Noted."))
    await stage.ask(await stage.session(), "Look and note")


@scenario(hooks(TOOL_PREFLIGHTS, allows, asks_before_storing, scope=ToolScope(("store", "note"))))
async def preflight_asks_for_approval(stage: Stage) -> None:
    stage.model.answers(calling("note", "store", "look"), text_answer("Stored."))
    session = await stage.session()
    await stage.send(session, "Store it")
    await session.approve(await stage.asked(session))
    await session.when_idle()


@scenario(hooks(TOOL_PREFLIGHTS, allows, fails, allows, scope=ToolScope()), completes=False)
async def preflight_fails(stage: Stage) -> None:
    stage.model.answers(calling("note", "look"))
    await stage.ask(await stage.session(), "Note and look")


@scenario(
    hooks(TOOL_RESULT_HOOKS, *[adds(ToolResultHookResult)] * 2, scope=ToolResultScope(("note",)))
)
async def result_hooks_add_something(stage: Stage) -> None:
    stage.model.answers(calling("note", "look"), calling("note"), text_answer("Noted."))
    await stage.ask(await stage.session(), "Note and look")


@scenario(
    hooks(TOOL_RESULT_HOOKS, adds(ToolResultHookResult), fails, scope=ToolResultScope()),
    completes=False,
)
async def result_hook_fails(stage: Stage) -> None:
    stage.model.answers(calling("note", "look"))
    await stage.ask(await stage.session(), "Note and look")


@scenario(hooks(COMPLETION_GATES, completes, goes_on_once, goes_on_once))
async def gates_go_on(stage: Stage) -> None:
    stage.model.answers(text_answer("First."), calling("note"), text_answer("Second."))
    await stage.ask(await stage.session(), "Work")


@scenario(hooks(COMPLETION_GATES, goes_on_once, fails), completes=False)
async def gate_fails(stage: Stage) -> None:
    stage.model.answers(text_answer("First."))
    await stage.ask(await stage.session(), "Work")


@scenario(hooks(INPUT_GATES, accepts_with_a_word, rejects_poems))
async def gates_let_messages_through(stage: Stage) -> None:
    stage.model.answers(calling("wait"), text_answer("First."), text_answer("Second."))
    session = await stage.session()
    await stage.send(session, "Wait")
    await stage.gate.entered.wait()
    edited = await stage.send(session, "The second")
    await stage.access.edit_queued(QueuedCommand(session.id, edited), MessageInput.of("Better"))
    deleted = await stage.send(session, "The third")
    await stage.steer(session, "And this")
    stage.world.withdraw(session.id, deleted)
    await stage.access.delete_queued(QueuedCommand(session.id, deleted))
    stage.gate.open()
    await session.when_idle()


@scenario(hooks(INPUT_GATES, accepts_with_a_word, rejects_poems))
async def gate_rejects_a_message(stage: Stage) -> None:
    session = await stage.session()
    with pytest.raises(InputGateError):
        await session.send("A poem, please")
    await stage.ask(session, "Prose, please")


@scenario(hooks(SESSION_LIFECYCLES, adds(SessionLifecycleResult), scope=LifecycleScope()))
async def session_opened_and_closed(stage: Stage) -> None:
    session = await stage.session()
    await stage.ask(session, "Hello")
    await session.close()
    again = await stage.channel.resume_session(session.id)
    await stage.ask(again, "Hello again")


@scenario(hooks(SESSION_LIFECYCLES, adds(SessionLifecycleResult), fails, scope=LifecycleScope()))
async def session_opened_with_a_hook_that_fails(stage: Stage) -> None:
    await stage.ask(await stage.session(), "Hello")


class ProposesOnce:
    """Has one more thing to say to the first answer."""

    async def before_run_complete(self, view: Any) -> Sequence[MessageInput]:
        return [note("and then?")] if len(view.messages) == 2 else []


@scenario(lambda: (Module("faults.hooks", AGENT_HOOKS.append(ProposesOnce())),))
async def agent_hook_proposes(stage: Stage) -> None:
    stage.model.answers(text_answer("First."), text_answer("Second."))
    await stage.ask(await stage.session(), "Work")


def everything() -> Sequence[Module]:
    return (
        Module(
            "faults.hooks",
            INPUT_GATES.append(Hook("gate", accepts_with_a_word)),
            SESSION_LIFECYCLES.append(
                Hook("life", lambda _: SessionLifecycleResult(), scope=LifecycleScope())
            ),
            TOOL_PREFLIGHTS.append(Hook("pre", allows, scope=ToolScope())),
            TOOL_RESULT_HOOKS.append(
                Hook("post", adds(ToolResultHookResult), scope=ToolResultScope())
            ),
            COMPLETION_GATES.append(Hook("end", goes_on_once)),
        ),
    )


@scenario(everything)
async def all_hooks_at_once(stage: Stage) -> None:
    stage.model.answers(calling("note", "look"), text_answer("First."), text_answer("Second."))
    session = await stage.session()
    await stage.ask(session, "Work")
    await session.close()


@scenario(everything)
async def all_hooks_and_a_cancelled_run(stage: Stage) -> None:
    stage.model.answers(calling("note", "wait"))
    session = await stage.session()
    await stage.send(session, "Wait")
    await stage.gate.entered.wait()
    await stage.steer(session, "And this")
    await session.cancel()
    await session.when_idle()
