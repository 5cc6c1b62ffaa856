"""What a request shows beside the conversation, leaves out when it is too long, and records."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from anyio.to_thread import run_sync

from agentslot import Module
from agentslot.model import ModelRequest
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.session import (
    FileStore,
    FileStoreModule,
    Message,
    MessageInput,
    RunStatus,
    SqliteStore,
    SqliteStoreModule,
    ToolResult,
    rows,
)
from agentslot.standardagent import (
    CONTEXT_COMPACTOR,
    CONTEXT_SOURCES,
    AgentConfig,
    Compaction,
    ContextInput,
    ContextRetention,
    TailCompactorModule,
    rebuilt_request,
)
from agentslot.tool import function_tool
from tests.standardagent.agents import agent, answer, call, calls


@function_tool(strict=True)
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


class Clock:
    """Tells the step's number of elements, as a clock would tell the time."""

    key = "clock"

    async def contribute(self, context: ContextInput) -> Sequence[MessageInput]:
        return [MessageInput.of(f"it is now {len(context.inputs)}")]


def texts(request: ModelRequest) -> list[str]:
    return [each.text for each in request.inputs if isinstance(each, Message)]


async def test_what_a_source_adds_is_shown_in_its_own_step_only() -> None:
    modules = [Module("clock", CONTEXT_SOURCES.append(Clock()))]
    script = [calls(call("add", a=1, b=2)), answer("3")]
    async with agent(script, tools=[add], modules=modules) as session:
        await session.send_and_wait("1+2?")
        first, second = session.executor.requests
        view = await session.view()
    assert texts(first) == ["1+2?", "it is now 1"]
    assert texts(second) == ["1+2?", "", "it is now 4"]
    assert [f.kind for f in view.recent_history].count("context_contribution") == 2


async def test_a_source_that_fails_ends_the_run_before_anything_is_sent() -> None:
    class Broken:
        key = "broken"

        async def contribute(self, context: ContextInput) -> Sequence[MessageInput]:
            raise RuntimeError("secret")

    modules = [Module("broken", CONTEXT_SOURCES.append(Broken()))]
    async with agent([answer("never")], modules=modules) as session:
        result = await session.send_and_wait("hi")
        assert session.executor.requests == []
    assert result.status is RunStatus.FAILED
    assert result.termination is not None
    assert result.termination.code == "context_preparation_failed"
    assert "secret" not in result.termination.message


async def test_what_a_source_adds_and_no_store_can_keep_ends_the_run_by_its_name() -> None:
    class Half:
        key = "half"

        async def contribute(self, context: ContextInput) -> Sequence[MessageInput]:
            return [MessageInput.of("half \ud800")]

    modules = [Module("half", CONTEXT_SOURCES.append(Half()))]
    async with agent([answer("never")], modules=modules) as session:
        result = await session.send_and_wait("hi")
        assert session.executor.requests == []
    assert result.termination is not None
    assert result.termination.code == "context_preparation_failed"
    assert "'half'" in result.termination.message


async def test_without_a_compactor_a_request_over_the_limit_is_not_sent() -> None:
    config = AgentConfig(hard_token_limit=2)
    async with agent([answer("one"), answer("never")], config=config) as session:
        await session.send_and_wait("first")
        result = await session.send_and_wait("second")
    assert result.termination is not None
    assert result.termination.code == "context_limit_exceeded"


async def test_a_compactor_leaves_out_the_oldest_turns_and_history_keeps_them() -> None:
    config = AgentConfig(hard_token_limit=3)
    script = [answer("one"), answer("two"), answer("three")]
    async with agent(script, config=config, modules=[TailCompactorModule(3)]) as session:
        for said in ("first", "second", "third"):
            assert (await session.send_and_wait(said)).status is RunStatus.COMPLETED
        shown = texts(session.executor.requests[2])
        view = await session.view()
    assert shown == ["second", "two", "third"]
    kept = [f.payload.text for f in view.recent_history if isinstance(f.payload, Message)]
    assert kept == ["first", "one", "second", "two", "third", "three"]


async def test_a_compactor_never_parts_a_call_from_its_result() -> None:
    config = AgentConfig(tool_keys=("add",), hard_token_limit=5)
    script = [calls(call("add", a=1, b=2)), answer("3"), calls(call("add", a=3, b=4)), answer("7")]
    modules = [TailCompactorModule(1)]
    async with agent(script, tools=[add], config=config, modules=modules) as session:
        await session.send_and_wait("1+2?")
        await session.send_and_wait("3+4?")
        last = session.executor.requests[-1]
    assert texts(last)[0] == "3+4?"
    assert isinstance(last.inputs[-1], ToolResult)


async def test_what_a_source_has_added_is_no_turn_to_keep_instead_of_the_last_one() -> None:
    config = AgentConfig(tool_keys=("add",), hard_token_limit=6)
    script = [answer("hello"), calls(call("add", a=1, b=2)), answer("3")]
    modules = [TailCompactorModule(1), Module("clock", CONTEXT_SOURCES.append(Clock()))]
    async with agent(script, tools=[add], config=config, modules=modules) as session:
        await session.send_and_wait("hi")
        result = await session.send_and_wait("1+2?")
        shown = texts(session.executor.requests[-1])
    assert result.text == "3"
    assert shown[0] == "1+2?"


async def test_what_is_too_long_even_when_compacted_is_refused_with_what_to_change() -> None:
    """Who has a compactor is not told to install one."""
    config = AgentConfig(hard_token_limit=2)
    modules = [TailCompactorModule(99)]
    async with agent([answer("one")], config=config, modules=modules) as session:
        await session.send_and_wait("first")
        result = await session.send_and_wait("second")
    assert result.termination is not None
    assert result.termination.code == "context_limit_exceeded"
    assert "let the context compactor keep less" in result.termination.message


@pytest.mark.parametrize("kept_from", [-1, 2, 99])
async def test_a_compactor_that_breaks_its_contract_fails_the_run(kept_from: int) -> None:
    class Wrong:
        async def compact(self, context: ContextInput) -> Compaction:
            return Compaction(kept_from)

    config = AgentConfig(tool_keys=("add",), hard_token_limit=3)
    modules = [Module("wrong", CONTEXT_COMPACTOR.set(Wrong()))]
    script = [calls(call("add", a=1, b=2)), answer("never")]
    async with agent(script, tools=[add], config=config, modules=modules) as session:
        result = await session.send_and_wait("1+2?")
    assert result.status is RunStatus.FAILED
    assert result.termination is not None
    assert result.termination.code == "context_preparation_failed"
    assert result.termination.message.startswith("the context compactor failed with ")


async def test_messages_in_place_of_the_beginning_are_shown_first() -> None:
    class Summary:
        async def compact(self, context: ContextInput) -> Compaction:
            return Compaction(len(context.inputs) - 1, (MessageInput.of("so far: greetings"),))

    config = AgentConfig(hard_token_limit=2)
    modules = [Module("summary", CONTEXT_COMPACTOR.set(Summary()))]
    async with agent([answer("one"), answer("two")], config=config, modules=modules) as session:
        await session.send_and_wait("first")
        await session.send_and_wait("second")
        assert texts(session.executor.requests[1]) == ["so far: greetings", "second"]


@pytest.mark.parametrize("in_database", [False, True])
@pytest.mark.parametrize("retention", ContextRetention)
async def test_every_recorded_request_can_be_made_again_byte_for_byte(
    retention: ContextRetention,
    in_database: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "NEWEST_CONTEXTS", 2)  # older ones are read when they are asked for
    path = tmp_path / "sessions"
    config = AgentConfig(
        system_prompt="Be exact.",
        tool_keys=("add",),
        hard_token_limit=5,
        context_retention=retention,
    )
    script = [calls(call("add", a=1, b=2)), answer("3"), answer("four"), answer("five")]
    modules = [TailCompactorModule(3), Module("clock", CONTEXT_SOURCES.append(Clock()))]
    store = partial(SqliteStoreModule if in_database else FileStoreModule, path)
    async with agent(script, tools=[add], config=config, modules=modules, store=store) as session:
        for said in ("1+2?", "and then?", "and now?"):
            assert (await session.send_and_wait(said)).status is RunStatus.COMPLETED
        sent = session.executor.requests
        session_id = session.id
    async with SqliteStore(path) if in_database else FileStore(path) as stored:
        state = (await stored.load(session_id)).state
    assert state.context is not None
    views = [*await run_sync(list, state.retained_contexts), state.context]
    assert len(views) == (len(sent) if retention is ContextRetention.RETAIN_ALL else 1)
    for view, request in zip(views, sent[-len(views) :], strict=True):
        wire = OpenAICompletionsWire("https://api.openai.com/v1")
        again = wire.encode(rebuilt_request(state, view)).body
        assert again == OpenAICompletionsWire("https://api.openai.com/v1").encode(request).body
