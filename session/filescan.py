"""Scanning a Session file: the state that its lines make, and where its facts lie.

A line was valid when it was acknowledged, and its checksum says that it is still the same. So no
rule is checked again: each line is parsed to plain data, what the Session is like now is kept, and
the facts stay in the file. `Replay` checks everything; a test holds the two together.
"""

from collections import Counter, deque
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain
from pathlib import Path

from pydantic_core import from_json, to_json

from agentslot.session.codec import Decoder, UnreadableError
from agentslot.session.errors import ClassifiedError
from agentslot.session.filefold import Fold, Plain
from agentslot.session.fileformat import (
    COMMIT_MEMBERS,
    FORMAT,
    LINES_IN_A_WRITE,
    RECORDS,
    Header,
    fingerprint,
    read_facts,
    relabelled,
    unseal,
)
from agentslot.session.filepages import PAGE_FACTS, PAGE_LINES, FilePages
from agentslot.session.history import History, subject_of
from agentslot.session.identity import ToolCallId
from agentslot.session.ondemand import ReadOnDemand
from agentslot.session.recent import REMEMBERED_COMMITS, RecentCommits, outcome_of
from agentslot.session.sharedlist import SharedList
from agentslot.session.state import (
    ContextView,
    JournalEntry,
    JournalStatus,
    QueueItem,
    SessionState,
)
from agentslot.session.store import Repair

PAGES_IN_TAIL = 2
"""How many pages of facts are read at once, so that a short Session is in memory whole."""


class FileScan:
    """Folds the lines of one file, which come in their order, into a state.

    Attributes:
        bytes: length of the lines so far.
        format: what the file is labelled as; the last label counts.
        is_created: whether all is there that the Session starts with.
    """

    def __init__(self, path: Path, header: Header, length: int, *, lenient: bool) -> None:
        self.bytes = length
        self.format = FORMAT
        self.is_created = not header.facts
        self._path = path
        self._header = header
        self._lenient = lenient
        self._lines = 1
        self._newest = deque([0], maxlen=LINES_IN_A_WRITE)
        self._revision = 1
        self._updated_at = ""
        self._fold = Fold(header.model_config, lenient=lenient)
        self._pages = [self._fold.page(2, length)]
        self._commits = deque[tuple[bytes, str, int, int]](maxlen=REMEMBERED_COMMITS)
        self._unknown = Counter[str]()

    def take(self, line: bytes, kind: str) -> None:
        """Fold in a line that is proved to be whole, and of that type.

        Raises:
            UnreadableError: it does not fit what stands before it.
        """
        if self._page_is_full():
            self._pages.append(self._fold.page(self._lines + 1, self.bytes))
        record = line.removesuffix(b"\n")
        if kind == "commit" and self.is_created:
            self._commit(record)
        elif kind == "facts" and not self.is_created:
            for fact in read_facts()(record, lenient=self._lenient).facts:
                self._fold.append(subject_of(fact.payload))
            self.is_created = self._fold.facts >= self._header.facts
        elif kind == "format" and self.is_created:
            self.format = relabelled(record, self._revision, lenient=self._lenient)
        elif self._lenient and kind not in RECORDS:
            self._unknown[kind] += 1
        else:
            raise UnreadableError(f"a record of type {kind!r} has no place here")
        self._lines += 1
        self._newest.append(self.bytes)
        self.bytes += len(line)

    @property
    def newest(self) -> int:
        """Where what was written last begins, or the line before it."""
        return self._newest[0]

    def _page_is_full(self) -> bool:
        page = self._pages[-1]
        has_facts = self._fold.facts - page.facts
        return has_facts >= PAGE_FACTS or self._lines >= page.line + PAGE_LINES - 1

    def _commit(self, line: bytes) -> None:
        fold = self._fold
        before = fold.facts
        record: Plain = from_json(line, cache_strings="keys")
        if not (record.keys() <= COMMIT_MEMBERS or self._lenient):
            unknown = ", ".join(sorted(record.keys() - COMMIT_MEMBERS))
            raise UnreadableError(f"unknown members: {unknown}")
        try:
            if record["rev"] != self._revision + 1:
                raise UnreadableError(f"revision {record['rev']} follows revision {self._revision}")
            self._updated_at = record["at"]
            fold.commit(record["changes"], self._updated_at)
            self._commits.append((line, record["key"], before, fold.facts))
        except (LookupError, TypeError, ValueError, ClassifiedError) as error:
            raise UnreadableError(f"it does not fit the Session before it: {error!r}") from error
        if len(fold.extensions) and self.format == FORMAT:
            raise UnreadableError(f"a file of format {FORMAT!r} knows of no hooks")
        self._revision += 1

    def state(self) -> SessionState:
        """The Session after the lines so far.

        Raises:
            UnreadableError: what it is like now is not of its shape.
        """
        header, fold = self._header, self._fold
        history, retained = self._stored()
        plain = {"queue": [*fold.queue.values()], "context": fold.context}
        current = _read_current()(to_json(plain), lenient=self._lenient)
        return SessionState(
            header.id,
            header.agent,
            header.workspace,
            self._revision,
            history,
            fold.model_config,
            header.at,
            datetime.fromisoformat(self._updated_at) if self._updated_at else header.at,
            current.queue,
            _journal(fold, history),
            fold.run,
            header.lineage,
            current.context,
            retained,
            fold.texts,
            fold.extensions,
        )

    def _stored(self) -> tuple[History, SharedList[ContextView]]:
        """History, of which only the newest facts are in memory, and the contexts that are kept.

        What commits look up is among the newest facts, or is open.
        """
        fold, pages = self._fold, self._pages
        fold.index.sort()
        end = fold.page(self._lines + 1, self.bytes)
        file = FilePages(self._path, self._header, [*pages, end], lenient=self._lenient)
        tail = range(max(len(pages) - PAGES_IN_TAIL, 0), len(pages))
        first, newest = pages[tail.start], [file.read(number) for number in tail]
        history = History(
            chain.from_iterable(page.facts for page in newest),
            head=ReadOnDemand([page.facts for page in pages], file.facts, range(first.facts)),
            find=fold.index,
        )
        kept = range(fold.retained_from, max(fold.contexts - 1, fold.retained_from))
        older = range(kept.start, max(min(first.contexts, kept.stop), kept.start))
        views = list(chain.from_iterable(page.contexts for page in newest))
        contexts = SharedList(
            views[older.stop - first.contexts : kept.stop - first.contexts],
            head=ReadOnDemand([page.contexts for page in pages], file.contexts, older),
        )
        return history, contexts

    def recent(self) -> RecentCommits[bytes]:
        """The newest commits, to answer for when they are sent again."""
        recent = RecentCommits[bytes]()
        first_revision = self._revision - len(self._commits) + 1
        for revision, (line, key, before, after) in enumerate(self._commits, first_revision):
            recent.add(
                key, fingerprint(unseal(line)), outcome_of(revision, range(before), range(after))
            )
        return recent

    def notes(self) -> list[Repair]:
        """What was passed over."""
        return [
            Repair(None, f"kept {count} records of the unknown type {kind!r} of a newer version")
            for kind, count in self._unknown.items()
        ]


@dataclass(frozen=True, slots=True)
class _Current:
    queue: tuple[QueueItem, ...]
    context: ContextView | None


_read_current = cache(lambda: Decoder(_Current))  # made at first use, since it takes milliseconds


def _journal(fold: Fold, history: History) -> dict[ToolCallId, JournalEntry]:
    journal: dict[ToolCallId, JournalEntry] = {}
    for call_id in fold.calls:
        call = history.call(call_id)
        if call is None:
            raise UnreadableError(f"tool call {call_id!r} is not in History")
        status = JournalStatus.PENDING if call_id in fold.pending else JournalStatus.PREPARED
        journal[call_id] = JournalEntry(call, status)
    return journal
