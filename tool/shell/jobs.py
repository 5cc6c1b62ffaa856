"""Commands whose output can be read by later calls: in the background, or too long to show."""

import itertools
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from agentslot.session import SessionId
from agentslot.tool.environment.contract import Launch
from agentslot.tool.environment.run import run_in
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.process.run import Finished
from agentslot.tool.process.spill import Spill

MAX_ENDED = 32
"""Ended commands whose output is still kept; the oldest is forgotten first."""
MAX_RUNNING = 16


@dataclass(slots=True)
class Job:
    """One command.

    Attributes:
        number: how calls name it.
        session_id: whose it is; other Sessions neither see nor stop it.
        command: as the model wrote it.
        finished: how it ended; None while it runs, and if it was stopped.
        ended: set at its end.
    """

    number: int
    session_id: SessionId
    command: str
    spill: Spill
    finished: Finished | None = None
    ended: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def state(self) -> str:
        """`running`, or how it ended."""
        if not self.ended.is_set():
            return "running"
        if self.finished is None:
            return "stopped"
        if self.finished.signal is not None:
            return f"ended by {self.finished.signal}"
        return f"ended with exit code {self.finished.exit_code}"


class Jobs:
    """The commands that later calls can ask for."""

    def __init__(self) -> None:
        self._jobs: dict[int, Job] = {}
        self._numbers = itertools.count(1)
        self._tasks: TaskGroup | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._making_folder = Lock()  # commands may need it at once, each in a worker thread

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Commands can be started in the background until the block ends; then all are ended."""
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                yield
                tasks.cancel_scope.cancel()
        finally:
            self._tasks = None
            await self.aclose()

    async def aclose(self) -> None:
        """Forget the commands and delete what they wrote."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._clear)

    def new_spill(self) -> Spill:
        """A place for the output of a command; its file is deleted when the shell is closed."""
        return Spill(self._spill_folder)

    def keep(self, session_id: SessionId, command: str, spill: Spill, finished: Finished) -> Job:
        """Let later calls read the output of a command that has ended."""
        job = Job(next(self._numbers), session_id, command, spill, finished)
        job.ended.set()
        self._add(job)
        return job

    async def start(self, session_id: SessionId, command: str, launch: Launch) -> Job:
        """Start a command in the background.

        Raises:
            ToolFailedError: `background_unavailable` outside of a started application,
                `too_many_processes`.
            OSError: the program or the folder cannot be used.
        """
        if self._tasks is None:
            message = "commands run in the background only while the application is started"
            raise ToolFailedError("background_unavailable", message)
        if sum(not job.ended.is_set() for job in self._jobs.values()) >= MAX_RUNNING:
            message = f"{MAX_RUNNING} processes run already; end one with process_stop"
            raise ToolFailedError("too_many_processes", message)
        job = Job(next(self._numbers), session_id, command, self.new_spill())
        await self._tasks.start(self._run, job, launch)
        self._add(job)
        return job

    def of(self, session_id: SessionId) -> list[Job]:
        """The commands of a Session, oldest first."""
        return [job for job in self._jobs.values() if job.session_id == session_id]

    def get(self, session_id: SessionId, number: int) -> Job:
        """One command of a Session.

        Raises:
            ToolFailedError: `not_found`.
        """
        job = self._jobs.get(number)
        if job is None or job.session_id != session_id:
            known = ", ".join(str(job.number) for job in self.of(session_id)) or "none"
            raise ToolFailedError("not_found", f"there is no process {number}; there are: {known}")
        return job

    async def _run(self, job: Job, launch: Launch, *, task_status: TaskStatus[None]) -> None:
        try:
            with job.scope:
                job.finished = await run_in(launch, spill=job.spill, on_start=task_status.started)
        finally:
            job.ended.set()
            job.spill.grew.set()

    def _add(self, job: Job) -> None:
        self._jobs[job.number] = job
        ended = [job for job in self._jobs.values() if job.ended.is_set()]
        for old in ended[:-MAX_ENDED]:
            old.spill.remove()
            del self._jobs[old.number]

    def _spill_folder(self) -> Path:
        with self._making_folder:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="agentslot-")
            return Path(self._folder.name)

    def _clear(self) -> None:
        for job in self._jobs.values():
            job.spill.remove()
        self._jobs.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
