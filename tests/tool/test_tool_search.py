"""Searching a catalogue of tools: what is found, what the prompt carries of it, what counts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot import Application
from agentslot.session import ToolCallId, ToolDefinition, ToolResult, ToolStatus
from agentslot.tool import TOOLS, DeferredTool, ToolsModule, function_tool, is_deferred
from agentslot.tool.catalogindex import CatalogIndex
from agentslot.tool.conformance import Trial, check_tool
from agentslot.tool.toolsearch import MAX_INDEX_BYTES, ToolSearch, loaded_tools
from tests.tool.invoking import invoke, invoke_text


def tool(name: str, description: str = "Does it.", *arguments: str) -> ToolDefinition:
    properties = {argument: {"type": "string"} for argument in arguments}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return ToolDefinition(name, description, schema)


CATALOG = [
    tool("calendar_create", "Create an event in the calendar. Asks nobody.", "title", "start"),
    tool("github_create_issue", "Open an issue in a repository.", "title", "body"),
    tool("github_list_issues", "List the issues of a repository."),
    tool("mailSend", "Send a message.", "recipient"),
    tool("weather", "Forecast for a city."),
]


def found(query: str, limit: int = 5) -> list[str]:
    return [each.name for each in CatalogIndex(CATALOG).find(query, limit)]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("open an issue", "github_create_issue"),
        ("list issues", "github_list_issues"),
        ("forecasts", "weather"),
        ("send mail", "mailSend"),
        ("recipient", "mailSend"),
        ("CALENDAR event", "calendar_create"),
    ],
)
def test_words_of_name_description_and_arguments_find_a_tool(query: str, best: str) -> None:
    assert found(query)[0] == best


def test_exact_names_find_those_tools_alone_in_the_order_of_asking() -> None:
    assert found("weather, github_list_issues") == ["weather", "github_list_issues"]
    assert found("weather github_list_issues calendar_create", 2) == [
        "weather",
        "github_list_issues",
    ]


def test_what_fits_far_worse_is_left_out_and_nothing_is_found_by_nothing() -> None:
    assert found("weather forecast city repository") == ["weather"]
    assert found("?!") == []
    assert found("xylophone") == []


@given(st.text(), st.integers(1, 20))
def test_any_query_finds_each_tool_at_most_once_and_no_more_than_asked(
    query: str, limit: int
) -> None:
    names = found(query, limit)
    assert len(names) == len(set(names)) <= limit
    assert names == found(query, limit)


async def test_what_is_found_is_what_is_loaded() -> None:
    search = ToolSearch(CATALOG).tool()
    result = await invoke(search, query="issue", limit=1)
    answer = json.loads(result.output or "")
    assert [each["name"] for each in answer["loaded"]] == list(loaded_tools(result))
    assert len(loaded_tools(result)) == 1
    nothing = await invoke(search, query="xylophone")
    assert loaded_tools(nothing) == ()
    assert "use other words" in str(nothing.output)


async def test_an_answer_that_has_no_room_loads_only_what_it_names() -> None:
    search = ToolSearch(CATALOG).tool()
    query = " ".join(each.name for each in CATALOG)
    whole = await invoke_text(search, json.dumps({"query": query}))
    assert len(loaded_tools(whole)) == 5
    short = await invoke_text(search, json.dumps({"query": query}), 300)
    assert 0 < len(loaded_tools(short)) < 5
    none = await invoke_text(search, json.dumps({"query": query}), 20)
    assert none.error is not None
    assert none.error.code == "result_too_large"
    assert loaded_tools(none) == ()


@given(st.text() | st.just('{"loaded": {}}') | st.just('{"loaded": [1, {"name": 2}, {}]}'))
def test_any_output_can_be_read_for_what_it_loads(output: str) -> None:
    result = ToolResult(ToolCallId("c"), ToolStatus.SUCCEEDED, output)
    assert all(type(name) is str for name in loaded_tools(result))


@pytest.mark.parametrize(
    ("count", "shown"),
    [(5, "tool_4_of_many: Does it."), (400, " tool_399_of_many"), (5000, "Words in their names:")],
)
def test_the_index_costs_the_prompt_little_however_large_the_catalogue(
    count: int, shown: str
) -> None:
    catalog = [tool(f"tool_{number}_of_many") for number in range(count)]
    description = ToolSearch(catalog).tool().definition.description
    assert shown in description
    assert f"There are {count} more" in description
    assert len(description.encode()) < MAX_INDEX_BYTES + 500


def test_the_index_shows_the_first_sentence_on_one_line() -> None:
    long = tool("long", "First\nsentence. Second one.\n\nAnother paragraph.")
    endless = tool("endless", "word " * 100)
    lines = ToolSearch([long, endless]).tool().definition.description.splitlines()
    assert "long: First sentence." in lines
    assert any(line.startswith("endless: word") and line.endswith("…") for line in lines)


async def test_tool_search_does_what_the_contract_of_tools_says() -> None:
    await check_tool(ToolSearch(CATALOG).tool(), Trial({"query": "issue"}))


async def test_a_tool_is_deferred_by_itself_or_by_its_module() -> None:
    @function_tool(deferred=True)
    async def rare() -> str:
        """Seldom needed."""
        return "here"

    @function_tool
    async def common() -> str:
        """Often needed."""
        return "here"

    assert (is_deferred(rare), is_deferred(common)) == (True, False)
    wrapped = DeferredTool(common)
    assert is_deferred(wrapped)
    assert (wrapped.definition, wrapped.effect) == (common.definition, common.effect)
    assert wrapped.parallel_safe is common.parallel_safe
    assert (await invoke(wrapped)).output == '"here"'
    built = Application("one", [ToolsModule(common, deferred=True)]).build()
    assert is_deferred(built[TOOLS]["common"])
