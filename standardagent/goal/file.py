"""Goals in files: one small file a Session, replaced whole and flushed at each change."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import anyio
import anyio.to_thread

from agentslot.session import ClassifiedError, ErrorKind, FileOperations, Goal, SessionId
from agentslot.session.clock import Clock, utc_now
from agentslot.session.codec import Decoder, UnreadableError, encode
from agentslot.session.filewriter import TEMPORARY_PREFIX, create_file
from agentslot.session.lockfile import LockFile, opening
from agentslot.standardagent.goal.memory import LedgerGoals
from agentslot.standardagent.goal.rules import Decided, GoalLedger


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoalFile:
    """What stands in a file."""

    format: Literal["agentslot.goal-file/v1"]
    goal: Goal
    decisions: tuple[Decided, ...] = ()


@cache
def _decoder() -> Decoder[_GoalFile]:
    return Decoder(_GoalFile)


class FileGoals(LedgerGoals):
    """A GoalStore in a folder that one process owns while the store is open.

    ```python
    async with FileGoals("goals") as goals:
        goal = await goals.set(session_id, "...", expected_version=0, max_follow_ons=10)
    ```

    A file is never written in place: after a crash it holds the goal as it was, or as it is now.

    Args:
        directory: where the files lie, apart from those of the Sessions; made when the store is
            opened, for its owner alone.
        clock: where changes take their time from.
        operations: the system calls of the write path, for tests that make one fail.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        clock: Clock = utc_now,
        operations: FileOperations | None = None,
    ) -> None:
        super().__init__(clock)
        self._directory = Path(directory)
        self._operations = operations or FileOperations()
        self._lock = LockFile(self._directory / ".lock")

    async def __aenter__(self) -> Self:
        """Take the folder for this process.

        Raises:
            ClassifiedError: `unavailable/sessions_in_use`, naming the process that has it;
                `unavailable/not_writable`.
        """
        await anyio.to_thread.run_sync(self._open)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the folder back. All that was acknowledged is durable already."""
        self._lock.release()

    def _open(self) -> None:
        with opening(self._directory):
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire(self._directory)
            for leftover in self._directory.glob(f"{TEMPORARY_PREFIX}*.tmp"):
                leftover.unlink()

    def _file_of(self, session_id: SessionId) -> Path:
        digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        return self._directory / f"{digest}.json"

    async def _read(self, session_id: SessionId) -> GoalLedger | None:
        return await anyio.to_thread.run_sync(self._decoded, session_id)

    async def _write(self, session_id: SessionId, ledger: GoalLedger) -> None:
        file = _GoalFile(
            format="agentslot.goal-file/v1", goal=ledger.goal, decisions=ledger.decisions
        )
        content = encode(file) + b"\n"
        path = self._file_of(session_id)
        await anyio.to_thread.run_sync(create_file, self._operations, path, content)

    def _decoded(self, session_id: SessionId) -> GoalLedger | None:
        path = self._file_of(session_id)
        try:
            file = _decoder()(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE, "unreadable", f"{path} could not be read: {error.strerror}"
            ) from error
        except UnreadableError as error:
            raise _damaged(path, str(error)) from error
        if file.goal.session_id != session_id:
            raise _damaged(path, f"it holds a goal of Session {file.goal.session_id!r}")
        return GoalLedger(file.goal, file.decisions)


def _damaged(path: Path, what: str) -> ClassifiedError:
    return ClassifiedError(
        ErrorKind.INTERNAL,
        "goal_damaged",
        f"{path} is no goal file: {what}. Nothing was changed; remove it to go on without the goal",
    )
