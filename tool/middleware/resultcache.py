"""The result of a call that was made before, without making it again."""

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, replace

from agentslot._json import canonical_json
from agentslot._text import several
from agentslot.session import SessionId, ToolResult, ToolStatus
from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.middleware.contract import ToolProceed

_Key = tuple[SessionId, str, str]


@dataclass(slots=True)
class ResultCacheStats:
    """What a cache did so far; calls that it does not look at count as neither."""

    hits: int = 0
    misses: int = 0


class ResultCache:
    """A ToolMiddleware that remembers what pure tools returned; best the innermost.

    A Session finds only its own results, and only successes. Arguments count as the same whatever
    their spelling.

    Attributes:
        stats: hits and misses.
    """

    def __init__(self, *, max_entries: int = 128, also: Collection[str] = ()) -> None:
        """Remember results.

        Args:
            max_entries: of all Sessions together; what was not used for longest goes first.
            also: names of tools that are not declared pure, and whose results stay true for as long
                as the application runs.

        Raises:
            ValueError: `max_entries` is below 1.
        """
        if max_entries < 1:
            raise ValueError(f"max_entries must be at least 1, not {max_entries}")
        self.stats = ResultCacheStats()
        self._max_entries = max_entries
        self._also = frozenset(several("also", also))
        self._results: OrderedDict[_Key, ToolResult] = OrderedDict()

    async def invoke(self, invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        """Answer from memory, or go on and remember what comes."""
        call = invocation.call
        if proceed.effect is not Effect.PURE and call.name not in self._also:
            return await proceed()
        key = invocation.session_id, call.name, canonical_json(call.arguments.strip() or "{}")
        if known := self._results.get(key):
            self.stats.hits += 1
            self._results.move_to_end(key)
            return replace(known, call_id=call.id)
        self.stats.misses += 1
        result = await proceed()
        if result.status is ToolStatus.SUCCEEDED:
            self._results[key] = result
            if len(self._results) > self._max_entries:
                self._results.popitem(last=False)
        return result
