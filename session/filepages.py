"""Facts that stay in their file until they are asked for.

A Session file is read in pages of some lines. Of each page only what has to be known to read it
alone is kept in memory. Reading one on the event loop is a deliberate fast path: the system has
just read the file, or written it, and a page takes some hundred microseconds.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import TypeVar, overload

from agentslot.session import changes as c
from agentslot.session.changes import Change
from agentslot.session.codec import UnreadableError
from agentslot.session.errors import ClassifiedError, ErrorKind, SessionDamagedError
from agentslot.session.facts import (
    Fact,
    ModelConfigChanged,
    Payload,
    RunBudgetExceeded,
    RunFact,
)
from agentslot.session.fileformat import Header, read_commit, read_facts, type_of
from agentslot.session.identity import SERVICE_ACTOR, Actor, RunId, SessionId, StepId, ToolCallId
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.state import ContextView
from agentslot.session.toolcall import ToolCall, ToolResult

PAGE_LINES = 64
_PAGES_IN_MEMORY = 16

Place = tuple[RunId, StepId]

T = TypeVar("T")


class ReadOnDemand(Sequence[T]):
    """A sequence that is read where it is asked for.

    Args:
        read: reads some neighbouring items: the position of the first, and the items.
        positions: which items the sequence has.
    """

    def __init__(self, read: Callable[[int], tuple[int, Sequence[T]]], positions: range) -> None:
        self._read = read
        self._positions = positions
        self._latest: tuple[int, Sequence[T]] = 0, ()

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self._at(position) for position in self._positions[index]]
        return self._at(self._positions[index])

    def _at(self, position: int) -> T:
        first, items = self._latest
        if not first <= position < first + len(items):
            first, items = self._latest = self._read(position)
        return items[position - first]


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a file, and what the lines before them say that these do not repeat.

    Attributes:
        line: number of the first line, from 1.
        offset: where it begins, in bytes.
        facts: how many facts the lines before hold.
        contexts: how many contexts they hold.
        model_config: the Session's model before the page.
        calls: run and step of the calls that had no result before the page.
    """

    line: int
    offset: int
    facts: int
    contexts: int
    model_config: ModelConfig
    calls: Mapping[ToolCallId, Place]


@dataclass(frozen=True, slots=True)
class _Content:
    facts: tuple[Fact, ...]
    contexts: tuple[ContextView, ...]


class FilePages:
    """The pages of one file, up to the line that was its last when it was scanned.

    Args:
        path: the file.
        header: its first line.
        pages: what is known of each page.
        end: where the last page ends, in bytes.
        lenient: whether members that this version does not know are passed over.
    """

    def __init__(
        self, path: Path, header: Header, pages: Sequence[Page], end: int, *, lenient: bool
    ) -> None:
        self._path = path
        self._header = header
        self._pages = pages
        self._end = end
        self._lenient = lenient
        self._contents: dict[int, _Content] = {}

    def facts(self, position: int) -> tuple[int, Sequence[Fact]]:
        """The facts of a page and the position of the first; one of them is at `position`.

        Raises:
            SessionDamagedError: the file is no longer what it was when it was scanned.
            ClassifiedError: `unavailable/unreadable`.
        """
        number = bisect_right(self._pages, position, key=attrgetter("facts")) - 1
        return self._pages[number].facts, self._content(number).facts

    def contexts(self, position: int) -> tuple[int, Sequence[ContextView]]:
        """The same for the contexts that the file holds."""
        number = bisect_right(self._pages, position, key=attrgetter("contexts")) - 1
        return self._pages[number].contexts, self._content(number).contexts

    def _content(self, number: int) -> _Content:
        content = self._contents.get(number)
        if content is None:
            content = self._decode(number)
            if len(self._contents) >= _PAGES_IN_MEMORY:
                self._contents = {}
            self._contents[number] = content
        return content

    def _decode(self, number: int) -> _Content:
        page = self._pages[number]
        reader = _PageReader(self._header.id, page)
        lines = self._read(number).removesuffix(b"\n").split(b"\n")
        for line_number, line in enumerate(lines, page.line):
            try:
                reader.take(line, lenient=self._lenient)
            except UnreadableError as error:
                raise SessionDamagedError(self._path, str(error), line=line_number) from error
        return _Content(tuple(reader.facts), tuple(reader.contexts))

    def _read(self, number: int) -> bytes:
        begin = self._pages[number].offset
        last = number + 1 == len(self._pages)
        end = self._end if last else self._pages[number + 1].offset
        try:
            with self._path.open("rb", buffering=0) as file:
                file.seek(begin)
                return file.read(end - begin)
        except OSError as error:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "unreadable",
                f"{self._path} could not be read: {error.strerror}",
            ) from error


class _PageReader:
    """Makes the facts and contexts of one page."""

    def __init__(self, session_id: SessionId, page: Page) -> None:
        self.facts: list[Fact] = []
        self.contexts: list[ContextView] = []
        self._session_id = session_id
        self._first = page.facts + 1
        self._model_config = page.model_config
        self._calls = dict(page.calls)

    def take(self, line: bytes, *, lenient: bool) -> None:
        """Read one line, given without its line feed.

        Raises:
            UnreadableError: it is not whole, or not of its shape.
        """
        kind = type_of(line)
        if kind == "commit":
            commit = read_commit()(line, lenient=lenient)
            for change in commit.changes:
                if isinstance(change, c.SetContext):
                    self.contexts.append(change.context)
                else:
                    self._append(change, commit.at, commit.actor or SERVICE_ACTOR)
        elif kind == "facts":
            for fact in read_facts()(line, lenient=lenient).facts:
                sequence = self._first + len(self.facts)
                self.facts.append(replace(fact, session_id=self._session_id, sequence=sequence))

    def _append(self, change: Change, at: datetime, actor: Actor) -> None:
        payload = self._payload_of(change)
        if payload is None:
            return
        run_id, step_id = self._place_of(payload)
        sequence = self._first + len(self.facts)
        self.facts.append(Fact(self._session_id, sequence, run_id, step_id, at, actor, payload))

    def _payload_of(self, change: Change) -> Payload | None:
        """What the change appends to History, if anything."""
        match change:
            case c.AppendMessage(payload) | c.AppendToolCall(payload) | c.AppendToolResult(payload):
                return payload
            case c.AppendRun(payload) | c.AppendAttempt(payload):
                return payload
            case c.AppendContextContribution(payload):
                return payload
            case c.AppendBudgetExceeded(payload) | c.AppendLimitExceeded(payload):
                return payload
            case c.SetModelConfig(config):
                previous, self._model_config = self._model_config, config
                return ModelConfigChanged(previous, config)
            case _:
                return None

    def _place_of(self, payload: Payload) -> tuple[RunId | None, StepId | None]:
        match payload:
            case ToolCall():
                self._calls[payload.id] = payload.run_id, payload.step_id
            case ToolResult():
                return self._calls[payload.call_id]
            case ModelConfigChanged():
                return None, None
            case RunFact() | RunBudgetExceeded():
                return payload.run_id, None
            case _:
                pass
        return payload.run_id, payload.step_id
