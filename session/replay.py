"""Replaying a Session file by the rules: what the aggregate makes of its lines.

Opening a Session trusts lines that are whole (`FileScan`); this is for looking at a file with all
care.
"""

from agentslot.session.aggregate import apply_to, create
from agentslot.session.codec import UnreadableError
from agentslot.session.draft import Draft
from agentslot.session.errors import ClassifiedError
from agentslot.session.facts import Fact
from agentslot.session.fileformat import (
    FORMAT,
    RECORDS,
    Header,
    begin,
    read_commit,
    read_facts,
    relabelled,
    type_of,
)
from agentslot.session.identity import SERVICE_ACTOR
from agentslot.session.state import SessionState
from agentslot.session.store import NewSession


class Replay:
    """Folds the lines of a file into a state."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self._format = FORMAT
        self._draft: Draft | None = None
        self._lenient = False
        self._facts: list[Fact] = []

    def take(self, line: bytes) -> None:
        """Fold one line in, given without its line feed.

        Raises:
            UnreadableError: it is not whole, or does not fit what stands before it.
        """
        kind = type_of(line)
        if self.header is None:
            self.header, self._lenient = begin(line)
            self._create_when_complete(self.header)
        elif kind == "commit" and self._draft is not None:
            self._apply(line, self._draft)
        elif kind == "facts" and self._draft is None:
            self._facts += read_facts()(line, lenient=self._lenient).facts
            self._create_when_complete(self.header)
        elif kind == "format" and self._draft is not None:
            self._format = relabelled(line, self._draft.revision, lenient=self._lenient)
        elif not self._lenient or kind in RECORDS:
            raise UnreadableError(f"a record of type {kind!r} has no place here")

    def _create_when_complete(self, header: Header) -> None:
        if len(self._facts) < header.facts:
            return
        new = NewSession(
            header.id,
            header.agent,
            header.workspace,
            header.model_config,
            header.lineage,
            tuple(self._facts),
        )
        try:
            state = create(new, header.at)
        except ClassifiedError as error:
            raise UnreadableError(error.message) from error
        self._facts = []
        self._draft = Draft(state, SERVICE_ACTOR, header.at)

    def _apply(self, line: bytes, draft: Draft) -> None:
        commit = read_commit()(line, lenient=self._lenient)
        if commit.rev != draft.revision + 1:
            raise UnreadableError(f"revision {commit.rev} follows revision {draft.revision}")
        try:
            apply_to(draft, commit.changes, now=commit.at, actor=commit.actor)
        except ClassifiedError as error:
            raise UnreadableError(error.message) from error
        if len(draft.extension_journal) and self._format == FORMAT:
            raise UnreadableError(f"a file of format {FORMAT!r} knows of no hooks")

    def state(self) -> SessionState | None:
        """The Session so far; None before it is created."""
        return None if self._draft is None else self._draft.so_far()
