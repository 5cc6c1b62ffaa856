"""Which tools there are, and which of them a request shows.

Most stand in every request, sorted by name. A deferred tool is shown from the moment at which the
Session has found it, behind those that were shown before: what a provider has cached stays as it
is. What was found is read off History, so it is the same after a restart, in a fork and however the
request is shortened.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from agentslot import InvalidContribution
from agentslot._json import dumps
from agentslot.session import History, ToolDefinition, ToolResult, ToolStatus, read_history
from agentslot.standardagent.runtime.components import ExposedTool
from agentslot.tool import TOOLS, Tool, argument_check, is_deferred, may_wait
from agentslot.tool.declaration import check_definition
from agentslot.tool.toolsearch import TOOL_SEARCH, ToolSearch, loaded_tools


def digest_of(text: str) -> str:
    """Content address of a text."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def exposed_tools(tools: Mapping[str, Tool]) -> dict[str, ExposedTool]:
    """What the model may call, by name and in the order of the names.

    If some tools are deferred, `tool_search` is among them. If all were, none is: there would be
    nothing to stand before them.

    Raises:
        InvalidContribution: a tool has another name than its key, or one that is taken.
        ToolDeclarationError: some provider would refuse a tool, and with it every request.
    """
    exposed = {key: _exposed(key, tools[key]) for key in sorted(tools)}
    deferred = [tool.definition for tool in exposed.values() if tool.deferred]
    if not deferred:
        return exposed
    if len(deferred) == len(exposed):
        return {key: replace(tool, deferred=False) for key, tool in exposed.items()}
    if TOOL_SEARCH in exposed:
        raise InvalidContribution(
            f"{TOOL_SEARCH!r} is the tool that finds deferred ones",
            fix="give yours another name",
            slot=TOOLS.id,
            key=TOOL_SEARCH,
        )
    search = _exposed(TOOL_SEARCH, ToolSearch(deferred).tool())
    return dict(sorted({**exposed, TOOL_SEARCH: search}.items()))


def _exposed(key: str, tool: Tool) -> ExposedTool:
    definition = tool.definition
    if definition.name != key:
        raise InvalidContribution(
            f"the tool under key {key!r} calls itself {definition.name!r}",
            fix="use one name for both",
            slot=TOOLS.id,
            key=key,
        )
    check_definition(definition)
    return ExposedTool(
        tool,
        definition,
        tool.parallel_safe,
        tool.effect,
        is_deferred(tool),
        argument_check(tool),
        may_wait(tool),
    )


@dataclass(frozen=True, slots=True)
class ToolSet:
    """The tools of a request.

    Attributes:
        late: how many of them, at the end, were found on the way.
        text: all of them as the record of the request keeps them.
        digest: content address of the text; None if there are no tools.
    """

    definitions: tuple[ToolDefinition, ...]
    late: int
    text: str
    digest: str | None

    @classmethod
    def of(cls, stable: Iterable[ToolDefinition], late: Iterable[ToolDefinition] = ()) -> "ToolSet":
        """The tools that stand in every request, and behind them those found on the way."""
        first, found = tuple(stable), tuple(late)
        described = [
            *map(_described, first),
            *({**_described(tool), "late": True} for tool in found),
        ]
        text = dumps(described)
        digest = digest_of(text) if described else None
        return cls((*first, *found), len(found), text, digest)


def _described(tool: ToolDefinition) -> dict[str, object]:
    described: dict[str, object] = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
    return {**described, "strict": True} if tool.strict else described


class FoundTools:
    """The deferred tools that one Session has found, in that order; each fact is looked at once.

    Args:
        tools: all tools by name.
        deferred: names of those that have to be found.
    """

    def __init__(self, tools: Mapping[str, ExposedTool], deferred: Collection[str]) -> None:
        self._tools = tools
        self._deferred = deferred
        self._seen = 0
        self._found: dict[str, None] = {}
        self._set: ToolSet | None = None

    async def catch_up(self, history: History) -> None:
        """Look at what an earlier process left, if it has to be read, before `of` is asked."""
        if self._deferred and self._seen < history.stored:
            await read_history(history, self.of, history)

    def of(self, history: History) -> Collection[str]:
        """What the Session has found; `history` must continue the one that was asked for before."""
        if self._deferred and len(history) > self._seen:
            for fact in history[self._seen :]:
                if isinstance(fact.payload, ToolResult):
                    self._see(history, fact.payload)
            self._seen = len(history)
        return self._found.keys()

    def _see(self, history: History, result: ToolResult) -> None:
        call = history.call(result.call_id)
        if call is None:
            return
        names: Iterable[str] = ()
        if call.name == TOOL_SEARCH:
            names = loaded_tools(result)
        elif result.status is not ToolStatus.FAILED:  # it ran when it was not deferred yet
            names = (call.name,)
        self._found.update((name, None) for name in names if name in self._deferred)

    def behind(self, stable: ToolSet, history: History) -> ToolSet:
        """The tools of the next request: `stable` and what was found, in the order of finding."""
        found = self.of(history)
        if not found:
            return stable
        if self._set is None or self._set.late != len(found):
            late = [self._tools[name].definition for name in found]
            self._set = ToolSet.of(stable.definitions, late)
        return self._set
