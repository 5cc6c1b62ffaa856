"""The tool `session_history`."""

from collections.abc import Callable, Sequence
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from agentslot.session import ClassifiedError, History, SessionStore, ToolCall, ToolCallId
from agentslot.session.pages import history_page
from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.fit import fit
from agentslot.tool.functiontool import FunctionTool
from agentslot.tool.history.cursor import Cursor, read_cursor
from agentslot.tool.history.entries import Entry, Step, entry_of, steps_of
from agentslot.tool.history.show import Hit, show_entry, show_hits, show_steps

MAX_BYTES = 50 * 1024
MAX_SEARCHED_CHARACTERS = 4_000_000
"""How much text one call looks through before it says how to search on."""


class SessionHistory:
    """Reads and searches the past of the Session that calls."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    def tool(self) -> FunctionTool[..., object]:
        """Return `session_history`."""
        return FunctionTool(
            self._read, name="session_history", parallel_safe=True, effect=Effect.READ
        )

    async def _read(
        self,
        invocation: ToolInvocation,
        query: str | None = None,
        cursor: str | None = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
    ) -> str:
        """Read the past of this session, also what is not shown to you any more.

        Without a query the newest steps before this one come back, oldest first: messages, tool
        calls and their results. With a query the entries that contain all of its words come back,
        newest first. The line in brackets at the end tells the cursor to read or search on with.

        Args:
            invocation: The call.
            query: Words to look for; their case does not matter.
            cursor: A cursor from an earlier result of this tool, to go on from there.
            limit: Most steps to read, or most entries to find.
        """
        try:
            history = (await self._store.load(invocation.session_id)).state.history
        except ClassifiedError as error:
            raise ToolFailedError(error.code, error.message) from error
        start = read_cursor(cursor, history.last_sequence) if cursor else None
        words = query.casefold().split() if query else []
        return await anyio.to_thread.run_sync(_answer, history, invocation, words, start, limit)


def _answer(
    history: History,
    invocation: ToolInvocation,
    words: Sequence[str],
    start: Cursor | None,
    limit: int,
) -> str:
    if start is not None and start.character is not None:
        entry, character = _entry(history, start.sequence), start.character
        return _fitting(invocation, lambda size: show_entry(entry, character, size))
    if words:
        stop = start.sequence - 1 if start else _end_of_past(history, invocation.call.id)
        hits, searched_to = _search(history, stop, words, limit)
        return _fitting(invocation, lambda size: show_hits(hits, searched_to, size))
    before = start.sequence if start else _place_of(history, invocation.call.id)
    steps, has_older = _page(history, before, limit)
    return _fitting(invocation, lambda size: show_steps(steps, size, has_older=has_older))


def _page(history: History, before: int, limit: int) -> tuple[list[Step], bool]:
    """The newest steps before a fact in which something was said or done; whether more remain."""
    while True:
        facts, has_older = history_page(history, before_sequence=before, step_limit=limit)
        steps = list(steps_of(facts, history))
        if steps or not has_older:
            return steps, has_older
        before = facts[0].sequence


def _fitting(invocation: ToolInvocation, show: Callable[[int], str]) -> str:
    return fit(show, MAX_BYTES, invocation.max_inline_output_bytes)


def _entry(history: History, sequence: int) -> Entry:
    entry = entry_of(history[sequence - 1], history)
    if entry is None:
        raise ToolFailedError("invalid_cursor", "nothing is told there; call without a cursor")
    return entry


def _place_of(history: History, call_id: ToolCallId) -> int:
    """Sequence of the call that asks."""
    for fact in reversed(history):
        if isinstance(fact.payload, ToolCall) and fact.payload.id == call_id:
            return fact.sequence
    return history.last_sequence + 1


def _end_of_past(history: History, call_id: ToolCallId) -> int:
    """Sequence of the last fact before the step of the call that asks, which it is shown anyway."""
    place = _place_of(history, call_id)
    facts, _ = history_page(history, before_sequence=place, step_limit=1)
    return facts[-1].sequence if facts else 0


def _search(
    history: History, stop: int, words: Sequence[str], limit: int
) -> tuple[Sequence[Hit], int]:
    """Hits up to a fact, newest first, and the oldest fact that was looked at."""
    hits: list[Hit] = []
    looked_at, step, behind = 0, None, stop + 1
    for sequence in range(stop, 0, -1):
        fact = history[sequence - 1]
        if fact.step_id != step:
            step, behind = fact.step_id, sequence + 1
        entry = entry_of(fact, history)
        if entry is None or entry.is_own:
            continue
        folded = entry.text.casefold()
        looked_at += len(folded)
        if all(word in folded for word in words):
            hits.append(Hit(entry, min(map(folded.index, words)), behind))
        if len(hits) == limit or looked_at >= MAX_SEARCHED_CHARACTERS:
            return hits, sequence
    return hits, 1
