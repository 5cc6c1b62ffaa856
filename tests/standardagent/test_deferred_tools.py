"""Deferred tools: searched for, then shown behind the stable ones, and remembered by History."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import ChannelSession, InProcessChannel, gateway_channel
from agentslot.model import MODEL_EXECUTOR, TOKEN_COUNTER, ModelRequest
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire
from agentslot.session import FileStore, FileStoreModule, History, ToolResult
from agentslot.standardagent import (
    AgentConfig,
    ContextRetention,
    TailCompactorModule,
    new_application,
    rebuilt_request,
)
from agentslot.standardagent.runtime import toolset
from agentslot.tool import Tool, ToolsModule, function_tool
from tests.standardagent.agents import MODEL, Answer, ScriptedModel, answer, call, calls

STABLE = ("add", "tool_search")


@function_tool
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def catalog(ran: list[str] | None = None, *, deferred: bool = True) -> list[Tool]:
    """Three tools that are seldom needed."""

    @function_tool(deferred=deferred)
    async def weather(city: str) -> str:
        """Forecast for a city."""
        (ran if ran is not None else []).append(city)
        return "sun"

    @function_tool(deferred=deferred)
    async def mail(text: str) -> str:
        """Send a message to a colleague."""
        return "sent"

    @function_tool(deferred=deferred)
    async def calendar() -> str:
        """List what is planned for today."""
        return "nothing"

    return [weather, mail, calendar]


class Process:
    """One application over Session files, and its model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = ScriptedModel([])
        self.channel = InProcessChannel()

    @asynccontextmanager
    async def running(
        self,
        tools: Sequence[Tool],
        *script: Answer,
        modules: Sequence[Module] = (),
        config: AgentConfig = AgentConfig(),  # noqa: B008  # a frozen value
    ) -> AsyncGenerator[None]:
        self.model = ScriptedModel(script)
        self.channel = InProcessChannel()
        application = new_application(
            "deferring",
            modules=[
                FileStoreModule(self.folder),
                Module("test.model", MODEL_EXECUTOR.set(self.model), TOKEN_COUNTER.set(self.model)),
                ToolsModule(*tools),
                gateway_channel("test", self.channel),
                *modules,
            ],
            config=replace(config, tool_keys=tuple(t.definition.name for t in tools)),
            default_model=MODEL,
        )
        with anyio.fail_after(20):
            async with application.start():
                yield

    async def session(self) -> ChannelSession:
        return await self.channel.create_session(agent="tester", workspace="default")

    def shown(self) -> list[tuple[str, ...]]:
        """The tools of each request, by name."""
        return [tuple(t.name for t in request.tools) for request in self.model.requests]

    def results(self) -> list[ToolResult]:
        """The result that each request but the first ends with."""
        last = [request.inputs[-1] for request in self.model.requests]
        return [element for element in last if isinstance(element, ToolResult)]


@pytest.fixture
def process(tmp_path: Path) -> Process:
    return Process(tmp_path)


def searching(query: str) -> Answer:
    return calls(call("tool_search", query=query))


async def test_the_first_request_shows_the_stable_tools_and_the_search(process: Process) -> None:
    async with process.running([add, *catalog()], answer("hello")):
        await (await process.session()).send_and_wait("hi")
    assert process.shown() == [STABLE]
    description = process.model.requests[0].tools[1].description
    assert "weather: Forecast for a city." in description


async def test_what_is_found_is_shown_behind_in_the_order_of_finding(process: Process) -> None:
    script = [searching("weather"), searching("calendar mail"), searching("weather"), answer("ok")]
    async with process.running([*catalog(), add], *script):
        await (await process.session()).send_and_wait("go")
    assert process.shown() == [
        STABLE,
        (*STABLE, "weather"),
        (*STABLE, "weather", "calendar", "mail"),
        (*STABLE, "weather", "calendar", "mail"),
    ]
    assert [request.late_tools for request in process.model.requests] == [0, 1, 3, 3]


async def test_a_tool_that_was_found_runs_and_one_that_was_not_says_what_to_do(
    process: Process,
) -> None:
    ran: list[str] = []
    guess = calls(call("weather", city="Rome"))
    script = [guess, searching("weather"), guess, answer("ok")]
    async with process.running([add, *catalog(ran)], *script):
        await (await process.session()).send_and_wait("go")
    early, _, late = process.results()
    assert early.error is not None
    assert early.error.code == "tool_not_loaded"
    assert "call tool_search with query 'weather'" in early.error.message
    assert late.output == '"sun"'
    assert ran == ["Rome"]


async def test_calling_an_unknown_tool_lists_what_can_be_called_now(process: Process) -> None:
    unknown = calls(call("nobody"))
    async with process.running([add, *catalog()], searching("mail"), unknown, answer("ok")):
        await (await process.session()).send_and_wait("go")
    error = process.results()[-1].error
    assert error is not None
    assert error.message == (
        "there is no tool 'nobody'; the tools are: add, tool_search, mail; tool_search finds more"
    )


async def test_a_batch_that_searches_and_calls_at_once_has_searched(process: Process) -> None:
    ran: list[str] = []
    both = calls(call("tool_search", query="weather"), call("weather", city="Rome"))
    async with process.running([add, *catalog(ran)], both, answer("ok")):
        await (await process.session()).send_and_wait("go")
    assert ran == []
    assert process.shown()[-1] == (*STABLE, "weather")


async def test_without_a_stable_tool_every_tool_is_shown_and_there_is_no_search(
    process: Process,
) -> None:
    ran: list[str] = []
    direct = calls(call("weather", city="Rome"))
    async with process.running(catalog(ran), direct, answer("ok")):
        await (await process.session()).send_and_wait("go")
    assert process.shown() == [("calendar", "mail", "weather")] * 2
    assert process.model.requests[0].late_tools == 0
    assert ran == ["Rome"]


async def test_without_deferred_tools_there_is_no_search(process: Process) -> None:
    async with process.running([add], answer("ok")):
        await (await process.session()).send_and_wait("go")
    assert process.shown() == [("add",)]


async def test_a_restart_finds_the_same_tools_in_the_same_order(process: Process) -> None:
    script = [searching("weather"), searching("calendar"), answer("ok")]
    async with process.running([add, *catalog()], *script):
        session = await process.session()
        await session.send_and_wait("go")
        before = process.model.requests[-1].tools
    async with process.running([add, *catalog()], calls(call("calendar")), answer("ok")):
        resumed = await process.channel.resume_session(session.id)
        await resumed.send_and_wait("go on")
        assert process.model.requests[0].tools == before
    assert process.results()[-1].output == '"nothing"'


async def test_a_fork_has_found_what_its_history_tells(process: Process) -> None:
    script = [answer("hello"), searching("weather"), answer("ok"), answer("whole"), answer("head")]
    async with process.running([add, *catalog()], *script):
        session = await process.session()
        await session.send_and_wait("hi")
        first_run = (await session.view()).recent_history[-1].sequence
        await session.send_and_wait("go")
        fork = partial(process.channel.fork_session, agent="tester", workspace="default")
        whole = await fork(session.id)
        await whole.send_and_wait("and now?")
        head = await fork(session.id, mode="history_prefix", cutoff=first_run)
        await head.send_and_wait("and now?")
    assert process.shown()[-2:] == [(*STABLE, "weather"), STABLE]


async def test_a_shortened_conversation_keeps_the_tools_that_it_found(process: Process) -> None:
    script = [searching("weather"), answer("ok"), answer("one"), answer("two")]
    tail, config = [TailCompactorModule(1)], AgentConfig(hard_token_limit=5)
    async with process.running([add, *catalog()], *script, modules=tail, config=config):
        session = await process.session()
        for said in ("go", "more", "and more"):
            await session.send_and_wait(said)
    last = process.model.requests[-1]
    assert not any(isinstance(element, ToolResult) for element in last.inputs)
    assert process.shown()[-1] == (*STABLE, "weather")


async def test_a_tool_that_ran_before_it_was_deferred_needs_no_search(process: Process) -> None:
    ran: list[str] = []
    used = calls(call("weather", city="Rome"))
    async with process.running([add, *catalog(deferred=False)], used, answer("ok")):
        session = await process.session()
        await session.send_and_wait("go")
    async with process.running([add, *catalog(ran)], used, answer("ok")):
        resumed = await process.channel.resume_session(session.id)
        await resumed.send_and_wait("again")
    assert process.shown()[0] == (*STABLE, "weather")
    assert ran == ["Rome"]


async def test_a_tool_that_is_gone_is_not_shown_any_more(process: Process) -> None:
    async with process.running([add, *catalog()], searching("weather mail"), answer("ok")):
        session = await process.session()
        await session.send_and_wait("go")
    without = [tool for tool in catalog() if tool.definition.name != "weather"]
    async with process.running([add, *without], answer("ok")):
        resumed = await process.channel.resume_session(session.id)
        await resumed.send_and_wait("go on")
    assert process.shown() == [(*STABLE, "mail")]


async def test_a_further_request_looks_at_no_result_twice_and_shows_the_same_set(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[ToolResult] = []

    def loaded(result: ToolResult) -> tuple[str, ...]:
        looked_at.append(result)
        return ("weather",)

    monkeypatch.setattr(toolset, "loaded_tools", loaded)
    adding = [calls(call("add", a=number, b=1)) for number in range(5)]
    async with process.running([add, *catalog()], searching("weather"), *adding, answer("ok")):
        await (await process.session()).send_and_wait("go")
    assert len(looked_at) == 1
    shown = {id(request.tools) for request in process.model.requests[1:]}
    assert len(shown) == 1


async def test_every_recorded_request_can_be_made_again_with_its_late_tools(
    process: Process,
) -> None:
    script = [searching("weather"), searching("mail"), answer("ok")]
    config = AgentConfig(context_retention=ContextRetention.RETAIN_ALL)
    async with process.running([add, *catalog()], *script, config=config):
        session = await process.session()
        await session.send_and_wait("go")
    async with FileStore(process.folder) as stored:
        state = (await stored.load(session.id)).state
    assert state.context is not None
    views = [*state.retained_contexts, state.context]
    assert len(views) == len(process.model.requests) == 3
    for view, sent in zip(views, process.model.requests, strict=True):
        assert _bytes(rebuilt_request(state, view)) == _bytes(sent)


def _bytes(request: ModelRequest) -> bytes:
    return AnthropicMessagesWire().encode(request).body


async def test_what_is_found_step_by_step_is_what_one_pass_finds(process: Process) -> None:
    failing = calls(call("mail", wrong=1))
    script = [searching("mail"), failing, calls(call("weather", city="x")), searching("weather")]
    async with process.running([add, *catalog()], *script, answer("ok")):
        session = await process.session()
        await session.send_and_wait("go")
        facts = (await session.view()).recent_history
    exposed = toolset.exposed_tools({t.definition.name: t for t in [add, *catalog()]})
    deferred = {name for name, tool in exposed.items() if tool.deferred}
    growing = toolset.FoundTools(exposed, deferred)
    seen: list[list[str]] = []
    for length in range(len(facts) + 1):
        history = History(facts[:length])
        seen.append(list(growing.of(history)))
        assert seen[-1] == list(toolset.FoundTools(exposed, deferred).of(history))
    assert [] in seen
    assert ["mail"] in seen
    assert seen[-1] == ["mail", "weather"]


async def test_a_tool_of_the_same_name_as_the_search_fails_the_build(process: Process) -> None:
    @function_tool
    async def tool_search() -> str:
        """Mine."""
        return ""

    with pytest.raises(Exception, match="give yours another name"):
        async with process.running([add, tool_search, *catalog()]):
            pass
    async with process.running([add, tool_search], answer("ok")):
        await (await process.session()).send_and_wait("go")
    assert process.shown() == [STABLE]
