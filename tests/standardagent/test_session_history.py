"""`session_history`: an agent reads and searches its own past, however short its context is."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.interaction import ChannelSession, CreateSession, ForkSession
from agentslot.session import AgentId, MemoryStore, ToolResult, WorkspaceId
from agentslot.standardagent import AgentConfig, TailCompactorModule
from agentslot.tool import SessionHistoryModule, ToolFailedError, function_tool
from agentslot.tool.conformance import Trial, check_tool
from agentslot.tool.history import tool as history_tool
from agentslot.tool.history.cursor import Cursor, read_cursor
from agentslot.tool.history.tool import SessionHistory
from tests.standardagent.agents import Answer, agent, answer, call, calls

CURSOR = re.compile(r"cursor=([\w-]+)")


@function_tool
async def report(subject: str) -> str:
    """Report on a subject."""
    return f"all about {subject}: " + "word " * 1000


@function_tool
async def broken() -> str:
    """Always fail."""
    raise ToolFailedError("out_of_paper", "put paper in")


@asynccontextmanager
async def remembering(*script: Answer, config: AgentConfig | None = None) -> AsyncGenerator[Any]:
    keys = ("session_history", "report", "broken")
    limits = config or AgentConfig(tool_keys=keys)
    modules = [SessionHistoryModule(), TailCompactorModule(1)]
    async with agent(script, tools=[report, broken], config=limits, modules=modules) as session:
        yield session


async def looked(session: Any, **arguments: Any) -> str:
    """What the agent reads if it looks into its past now."""
    result = await raw(session, **arguments)
    assert result.error is None, result.error
    return str(json.loads(result.output or ""))


async def raw(session: Any, **arguments: Any) -> ToolResult:
    session.executor.script(calls(call("session_history", **arguments)), answer("I see."))
    await session.send_and_wait("Look back.")
    result = session.executor.requests[-1].inputs[-1]
    assert isinstance(result, ToolResult)
    return result


def cursor_in(text: str) -> str:
    """The last cursor that a text names."""
    return str(CURSOR.findall(text)[-1])


async def test_the_past_is_read_beyond_what_the_context_still_shows() -> None:
    keys = ("session_history", "report", "broken")
    config = AgentConfig(tool_keys=keys, hard_token_limit=4)
    script = [answer("The secret word is plum."), answer("Fine."), answer("Good.")]
    async with remembering(*script, config=config) as session:
        for said in ("What is the word?", "And now?", "And then?"):
            await session.send_and_wait(said)
        shown = await looked(session)
        request = session.executor.requests[-1]
        assert not any("plum" in str(element) for element in request.inputs[:-1])
    assert "assistant: The secret word is plum." in shown
    assert re.search(r"user, \d{4}-\d\d-\d\d \d\d:\d\d UTC: What is the word\?", shown)
    assert shown.index("What is the word?") < shown.index("And now?")
    assert shown.endswith("[3 steps, oldest first; this is the beginning]")
    assert "Look back." not in shown  # the step that asks is in its context anyway


async def test_pages_follow_each_other_without_a_gap_or_a_repetition() -> None:
    said = [f"message {number}" for number in range(7)]
    async with remembering(*[answer("ok")] * 7) as session:
        for text in said:
            await session.send_and_wait(text)
        pages = [await looked(session, limit=3)]
        while "older steps" in pages[-1]:
            pages.append(await looked(session, limit=3, cursor=cursor_in(pages[-1])))
    read = [re.findall(r"message \d", page) for page in pages]
    assert read == [said[4:], said[1:4], said[:1]]


async def test_calls_results_and_failures_are_told_and_thinking_is_not() -> None:
    script = [calls(call("report", subject="plums"), call("broken")), answer("Done.")]
    async with remembering(*script) as session:
        await session.send_and_wait("Report.")
        shown = await looked(session)
    assert 'call of report: {"subject": "plums"}' in shown
    assert "result of report: all about plums: word word" in shown
    assert "result of broken: failed (out_of_paper): put paper in" in shown
    assert "attempt" not in shown


async def test_a_long_entry_is_cut_and_its_cursor_reads_on_to_the_end() -> None:
    async with remembering(calls(call("report", subject="plums")), answer("ok")) as session:
        await session.send_and_wait("Report.")
        text = await looked(session)
        (cursor,) = CURSOR.findall(text)
        cut = text.split("result of report: ")[1].split("… [")[0]
        rest = ""
        while cursor:
            window = await looked(session, cursor=cursor)
            head, *body, note = window.split("\n")
            assert head == "result of report:"
            rest += "\n".join(body)
            cursor = next(iter(CURSOR.findall(note)), "")
    assert cut + rest == "all about plums: " + "word " * 1000


async def test_a_search_finds_entries_with_all_words_newest_first() -> None:
    script = [answer("A Plum is blue."), answer("An apple is red."), answer("No plum today.")]
    async with remembering(*script) as session:
        for text in ("plum?", "apple?", "again?"):
            await session.send_and_wait(text)
        found = await looked(session, query="PLUM")
        both = await looked(session, query="blue plum")
        nothing = await looked(session, query="cherry")
        around = await looked(session, cursor=cursor_in(both.splitlines()[1]), limit=1)
    heads = [line.split(":")[0].split(",")[0] for line in found.splitlines() if "lum" in line]
    assert heads == ["assistant", "assistant", "user"]
    assert "[3 found, newest first; all was searched]" in found
    assert both.startswith("assistant: A Plum is blue.\n[around it: cursor=")
    assert nothing == "[nothing found; all was searched]"
    assert "plum?" in around
    assert "A Plum is blue." in around
    assert "apple" not in around


async def test_a_search_goes_on_where_it_stopped() -> None:
    async with remembering(*[answer(f"plum {number + 5}") for number in range(5)]) as session:
        for number in range(5):
            await session.send_and_wait(f"plum {number}")
        found: list[str] = []
        arguments = {"query": "plum", "limit": 3}
        while True:
            page = await looked(session, **arguments)
            found += re.findall(r"plum \d", page)
            if "all was searched" in page:
                break
            arguments["cursor"] = cursor_in(page)
    assert found == [f"plum {number}" for number in (9, 4, 8, 3, 7, 2, 6, 1, 5, 0)]


async def test_looks_into_the_past_are_neither_repeated_nor_found() -> None:
    async with remembering(answer("ok")) as session:
        await session.send_and_wait("plum")
        await looked(session, query="plum")
        assert "[1 found" in await looked(session, query="plum")
        assert "result of session_history: [left out" in await looked(session)


async def test_a_search_stops_after_so_much_text_and_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history_tool, "MAX_SEARCHED_CHARACTERS", 3000)
    script = [answer("plum"), calls(call("report", subject="x")), answer("ok")]
    async with remembering(*script) as session:
        await session.send_and_wait("first")
        await session.send_and_wait("second")
        page = await looked(session, query="plum")
        assert page.startswith("[nothing found; to search what is older")
        assert "assistant: plum" in await looked(session, query="plum", cursor=cursor_in(page))


async def test_a_page_keeps_within_the_bytes_of_a_result_by_leaving_out_the_oldest_steps() -> None:
    keys = ("session_history", "report", "broken")
    config = AgentConfig(tool_keys=keys, max_inline_tool_result_bytes=6000)
    reporting = [calls(call("report", subject="plums")), answer("ok")]
    async with remembering(*reporting * 6, config=config) as session:
        for number in range(6):
            await session.send_and_wait(f"Report {number}.")
        page = await looked(session)
        older = await looked(session, cursor=CURSOR.findall(page)[-1])
    assert "Report 5." in page
    assert "Report 0." not in page
    assert "older steps" in page
    newest = max(map(int, re.findall(r"Report (\d)", older)))
    assert newest == min(map(int, re.findall(r"Report (\d)", page))) - 1


@pytest.mark.parametrize("cursor", ["x", "AAAA", "*", str(Cursor(10_000)), ""])
async def test_what_is_no_cursor_is_refused_or_taken_for_none(cursor: str) -> None:
    async with remembering(answer("ok")) as session:
        await session.send_and_wait("plum")
        result = await raw(session, cursor=cursor)
        if not cursor:
            assert "plum" in str(result.output)
            return
        assert result.error is not None
        assert result.error.code == "invalid_cursor"


@given(st.integers(1, 2**60), st.none() | st.integers(0, 2**60))
def test_a_cursor_names_its_place_and_no_other_text_does(sequence: int, at: int | None) -> None:
    cursor = Cursor(sequence, at)
    assert read_cursor(str(cursor), sequence) == cursor
    with pytest.raises(ToolFailedError):
        read_cursor(str(cursor), sequence - 1)
    changed = ("B" if str(cursor)[0] == "A" else "A") + str(cursor)[1:]
    with pytest.raises(ToolFailedError):
        read_cursor(changed, sequence)


async def test_no_other_session_can_be_reached() -> None:
    tool = SessionHistory(MemoryStore()).tool()
    assert set(cast("dict[str, object]", tool.definition.input_schema["properties"])) == {
        "query",
        "cursor",
        "limit",
    }
    async with remembering(answer("ok"), answer("ok")) as session:
        await session.send_and_wait("the plum of the first session")
        await session.send_and_wait("its second message")
        cursor = cursor_in(await looked(session, limit=1))
        new = CreateSession(AgentId("tester"), WorkspaceId("default"))
        session.session = ChannelSession(session.access, await session.access.create_session(new))
        session.executor.script(answer("ok"), answer("ok"))
        await session.send_and_wait("the apple of the other session")
        await session.send_and_wait("no more")
        for arguments in ({}, {"query": "plum"}, {"cursor": cursor}):
            assert "plum" not in await looked(session, **arguments)


async def test_a_fork_reads_what_it_was_given_with_the_cursors_of_its_parent() -> None:
    async with remembering(answer("ok"), answer("ok")) as session:
        await session.send_and_wait("plum")
        await session.send_and_wait("apple")
        cursor = cursor_in(await looked(session, limit=1))
        fork = ForkSession(session.id, "full_history", AgentId("tester"), WorkspaceId("default"))
        session.session = ChannelSession(session.access, await session.access.fork_session(fork))
        page = await looked(session, cursor=cursor)
    assert "plum" in page
    assert "apple" not in page


async def test_the_tool_does_what_the_contract_of_tools_says() -> None:
    tool = SessionHistory(MemoryStore()).tool()
    await check_tool(tool, Trial({"query": "plum"}, succeeds=False))
