"""The tool `tool_search`: finds tools of a large catalogue, and thereby loads them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated

from pydantic import Field

from agentslot._json import JsonError, JsonValue, dumps, loads
from agentslot.session import ToolDefinition, ToolResult, ToolStatus
from agentslot.tool.catalogindex import CatalogIndex, common_words
from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.functiontool import FunctionTool

TOOL_SEARCH = "tool_search"
MAX_INDEX_BYTES = 8192
"""Most bytes of the prompt that the index of a catalogue may take."""

_SHOWN_SUMMARY = 120

_DESCRIPTION = """\
Find and load tools that are not shown to you yet. There are {count} more. Say in a few words what \
a tool should do, or give exact names; the tools that are found can be called from your next \
message on. A tool that is not loaded cannot be called.\
"""


class ToolSearch:
    """Searches the deferred tools of an application."""

    def __init__(self, tools: Sequence[ToolDefinition]) -> None:
        self._tools = tools
        self._description = f"{_DESCRIPTION.format(count=len(tools))}\n\n{_overview(tools)}"

    @cached_property
    def _index(self) -> CatalogIndex:  # made at the first search, in the thread that it runs in
        return CatalogIndex(self._tools)

    def tool(self) -> FunctionTool[..., object]:
        """Return `tool_search`."""
        return FunctionTool(
            self._search,
            name=TOOL_SEARCH,
            description=self._description,
            parallel_safe=True,
            effect=Effect.PURE,
        )

    def _search(
        self,
        query: Annotated[str, Field(min_length=1)],
        invocation: ToolInvocation,
        limit: Annotated[int, Field(ge=1, le=20)] = 5,
    ) -> JsonValue:
        """Find tools.

        Args:
            query: Words for what the tool should do, or exact names of tools.
            invocation: The call.
            limit: Most tools to load.
        """
        found = self._index.find(query, limit)
        if not found:
            note = f"none of {len(self._tools)} tools matches {query[:200]!r}; use other words"
            return {"loaded": [], "note": note}
        loaded: list[JsonValue] = [
            {"name": tool.name, "description": _summary(tool)} for tool in found
        ]
        while loaded:  # only a tool that the answer names is loaded, so the answer must fit
            answer: JsonValue = {"loaded": loaded, "note": "you can call these from now on"}
            if len(dumps(answer).encode()) <= invocation.max_inline_output_bytes:
                return answer
            loaded = loaded[:-1]
        raise ToolFailedError("result_too_large", "not even one tool can be named here")


def loaded_tools(result: ToolResult) -> tuple[str, ...]:
    """The names of the tools that a result of `tool_search` has loaded, as it lists them."""
    if result.status is not ToolStatus.SUCCEEDED or result.output is None:
        return ()
    try:
        answer = loads(result.output)
    except JsonError:
        return ()
    loaded = answer.get("loaded") if isinstance(answer, dict) else None
    if not isinstance(loaded, list):
        return ()
    return tuple(str(each["name"]) for each in loaded if isinstance(each, dict) and "name" in each)


def _overview(tools: Sequence[ToolDefinition]) -> str:
    """What there is: a line for each tool, or all names, or the words of the names."""
    lines = "\n".join(f"{tool.name}: {_summary(tool)}" for tool in tools)
    if _fits(lines):
        return lines
    names = " ".join(tool.name for tool in tools)
    if _fits(names):
        return names
    words, room = list[str](), MAX_INDEX_BYTES
    for word in common_words(tool.name for tool in tools):
        room -= len(word.encode()) + 1
        if room < 0:
            break
        words.append(word)
    return f"Words in their names: {' '.join(words)}"


def _fits(text: str) -> bool:
    return len(text.encode()) <= MAX_INDEX_BYTES


def _summary(tool: ToolDefinition) -> str:
    """The first sentence of a description, as one line."""
    first = " ".join(tool.description.split("\n\n")[0].split())
    sentence, dot, _ = first.partition(". ")
    text = sentence + dot.strip()
    return text if len(text) <= _SHOWN_SUMMARY else f"{text[:_SHOWN_SUMMARY]}…"
