"""Facts that stay in their file until they are asked for.

A Session file is read in pages of some lines. Of each page only what has to be known to read it
alone is kept in memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

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
PAGE_FACTS = 256

Place = tuple[RunId, StepId]


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


class FilePages:
    """The pages of one file, up to the line that was its last when it was scanned.

    Args:
        path: the file.
        header: its first line.
        pages: what is known of each page, and where a page behind the last one would begin.
        lenient: whether members that this version does not know are passed over.
    """

    def __init__(self, path: Path, header: Header, pages: Sequence[Page], *, lenient: bool) -> None:
        self._path = path
        self._header = header
        self._pages = pages
        self._lenient = lenient

    def facts(self, number: int) -> Sequence[Fact]:
        """The facts of a page; raises like `read`."""
        return self.read(number).facts

    def contexts(self, number: int) -> Sequence[ContextView]:
        """The contexts of a page; raises like `read`."""
        return self.read(number).contexts

    def read(self, number: int) -> "PageReader":
        """All of a page.

        Raises:
            SessionDamagedError: the file is no longer what it was when it was scanned.
            ClassifiedError: `unavailable/unreadable`.
        """
        page, following = self._pages[number : number + 2]
        reader = PageReader(self._header.id, page)
        lines = self._bytes(page.offset, following.offset).splitlines()
        for line_number, line in enumerate(lines, page.line):
            try:
                reader.take(line, lenient=self._lenient)
            except UnreadableError as error:
                raise SessionDamagedError(self._path, str(error), line=line_number) from error
        if page.facts + len(reader.facts) != following.facts:
            reason = "it is not what it was when it was opened"
            raise SessionDamagedError(self._path, reason, line=page.line)
        return reader

    def _bytes(self, begin: int, end: int) -> bytes:
        try:
            with self._path.open("rb") as file:
                file.seek(begin)
                return file.read(end - begin)
        except OSError as error:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "unreadable",
                f"{self._path} could not be read: {error.strerror}",
            ) from error


class PageReader:
    """Makes the facts and contexts of one page.

    Attributes:
        facts: those of the lines so far.
        contexts: and theirs.
    """

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
