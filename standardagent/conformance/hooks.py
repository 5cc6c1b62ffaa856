"""The referees of the five typed hooks, `hook.input_gate/v1` and so on.

The contracts have one shape, so each check is written once; `hook_suite` makes it a check of one
kind of hook.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial, wraps
from typing import Any

import anyio

from agentslot import Module
from agentslot._conformance import Suite, check, demand
from agentslot.session import ExtensionEntry, MemoryStore, SessionId
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.conformance.asking import expect_end_when_cancelled
from agentslot.standardagent.conformance.hookkinds import KINDS, HookKind, Onlooker
from agentslot.standardagent.conformance.stage import TOOL_EFFECTS, Make, Stage, part, staged

CONFIG = AgentConfig(max_model_attempts_per_run=20)
"""A Run with more requests than this is taken for one that never ends."""

_BROKEN = ("extension_failed", "extension_deadline_exceeded")


async def _tools(kind: HookKind, make: Make) -> Sequence[str]:
    """The tools that the hooks look at."""
    async with staged(part(kind.slot, make)) as stage:
        scopes = [] if kind.scope is None else [hook.scope() for hook in stage.subjects(kind.slot)]
        keys = [key for scope in scopes for key in getattr(scope, "keys", None) or ()]
    return tuple(dict.fromkeys(keys)) or tuple(TOOL_EFFECTS)


async def _entries(stage: Stage, kind: HookKind) -> list[ExtensionEntry]:
    """What the journals of all Sessions say of the hooks under test."""
    keys = {hook.descriptor().key for hook in stage.subjects(kind.slot)}
    found: list[ExtensionEntry] = []
    page = await stage.channel.list_sessions("conformance", "default", limit=200)
    for summary in page.sessions:
        journal = (await stage.store.load(summary.id)).state.extensions
        found += [entry for entry in journal if entry.invocation.descriptor.key in keys]
    return found


async def it_says_the_same_of_itself_each_time(kind: HookKind, make: Make) -> None:
    """`descriptor` and `scope` are read once, and tell who the hook is for as long as it lives."""
    async with staged(part(kind.slot, make)) as stage:
        for hook in stage.subjects(kind.slot):
            known, again = (
                (hook.descriptor(), None if kind.scope is None else hook.scope()) for _ in range(2)
            )
            demand(known == again, f"it says {again} after it has said {known}")


async def the_next_process_has_the_same_hook(kind: HookKind, make: Make) -> None:
    """After a restart a question is asked of a hook with the same descriptor only."""
    tools, disk = await _tools(kind, make), MemoryStore()
    stage_of = partial(staged, config=CONFIG, disk=disk, tools=tools)
    async with stage_of(part(kind.slot, make), dies_after=kind.dies_after) as before:
        known = {hook.descriptor() for hook in before.subjects(kind.slot)}
        session_id = await _dies(before, tools) if kind.dies_after else None
        async with stage_of(part(kind.slot, make)) as stage:
            new = {hook.descriptor() for hook in stage.subjects(kind.slot)}
            if session_id is not None:
                await stage.channel.resume_session(session_id)
                ended = (await stage.last_run(session_id)).termination
                mismatch = ended is not None and ended.code.endswith("_definition_mismatch")
                demand(not mismatch, f"the next process does not know it again: {new}, not {known}")
            demand(new == known, f"in the next process it is {new}, not {known}")


async def _dies(stage: Stage, tools: Sequence[str]) -> SessionId:
    """Let the process die when the question is recorded; the Session of which it is."""
    session = await stage.session()
    await session.send(f"call {tools[0]}")
    await stage.store.died.wait()
    return session.id


async def its_answers_are_those_of_its_place(kind: HookKind, make: Make) -> None:
    """Of the right type, with a decision that the place knows, and within the limits."""
    tools = await _tools(kind, make)
    async with staged(part(kind.slot, make), config=CONFIG, tools=tools) as stage:
        await kind.drive(stage, await stage.session(), tools)
        entries = await _entries(stage, kind)
        broken = [entry.error_code for entry in entries if entry.error_code in _BROKEN]
        demand(not broken, f"{len(broken)} questions ended as failed{stage.complained()}")


async def sessions_at_the_same_time_do_not_disturb_each_other(kind: HookKind, make: Make) -> None:
    """One hook is asked for all Sessions: it fails with others no more than alone."""
    tools = await _tools(kind, make)
    broken: list[set[str]] = []
    for count in (1, 3):
        async with staged(part(kind.slot, make), config=CONFIG, tools=tools) as stage:
            async with anyio.create_task_group() as tasks:
                for session in [await stage.session() for _ in range(count)]:
                    tasks.start_soon(kind.drive, stage, session, tools)
            entries = await _entries(stage, kind)
            broken.append({entry.error_code for entry in entries if entry.error_code in _BROKEN})
            demand(broken[-1] <= broken[0], f"with others it fails{stage.complained()}")


async def a_question_that_is_cancelled_ends(kind: HookKind, make: Make) -> None:
    """The cancellation of a Run, or of whoever submits a message, is let pass."""
    tools, onlooker = await _tools(kind, make), Onlooker(kind)
    watching = Module("conformance.onlooker", kind.slot.append(onlooker))
    # Before the hooks under test: they may reject what it would be asked about.
    async with staged(watching, part(kind.slot, make), config=CONFIG, tools=tools) as stage:
        await kind.drive(stage, await stage.session(), tools)
        for hook in stage.subjects(kind.slot):
            await expect_end_when_cancelled(partial(hook.evaluate, onlooker.views[0]))


async def a_run_comes_to_its_end(kind: HookKind, make: Make) -> None:
    """A gate that sends Runs on stops at some time: only budgets stop it otherwise."""
    async with staged(part(kind.slot, make), config=CONFIG) as stage:
        stage.subjects(kind.slot)
        session = await stage.session()
        await session.send_and_wait("hello")
        ended = (await stage.last_run(session.id)).termination
        endless = ended is not None and ended.code == "model_attempt_limit"
        limit = CONFIG.max_model_attempts_per_run
        demand(not endless, f"after {limit} requests it still sent the Run on")


_CHECKS = (
    it_says_the_same_of_itself_each_time,
    the_next_process_has_the_same_hook,
    its_answers_are_those_of_its_place,
    sessions_at_the_same_time_do_not_disturb_each_other,
    a_question_that_is_cancelled_ends,
)
_CHECKS_OF_ONE_KIND = {"hook.completion_gate": (a_run_comes_to_its_end,)}


def hook_suite(slot_id: str) -> Suite[Make]:
    """The suite of one kind of hook."""
    checks = (*_CHECKS, *_CHECKS_OF_ONE_KIND.get(slot_id, ()))
    return Suite(f"{slot_id}/v1", tuple(_of(KINDS[slot_id], each) for each in checks))


def _of(
    kind: HookKind, judge: Callable[[HookKind, Make], Awaitable[None]]
) -> Callable[[Make], Coroutine[Any, Any, None]]:
    @check
    @wraps(judge)
    async def run(make: Make) -> None:
        await judge(kind, make)

    return run


INPUT_GATE_SUITE = hook_suite("hook.input_gate")
TOOL_PREFLIGHT_SUITE = hook_suite("hook.tool_preflight")
TOOL_RESULT_SUITE = hook_suite("hook.tool_result")
COMPLETION_GATE_SUITE = hook_suite("hook.completion_gate")
SESSION_LIFECYCLE_SUITE = hook_suite("hook.session_lifecycle")
