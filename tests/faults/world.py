"""The world around a process: it can stop the process anywhere, and outlives it.

A point is a place where the process may be stopped: around each write and each effect. When it is
stopped at one, nothing that it tries after that happens any more, so the disk and the effects are
what a kill at that point leaves. For a process that is really killed the world keeps a record.
"""

import hashlib
import json
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.lowlevel

from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    ExtensionStatus,
    Fact,
    InvocationId,
    JournalStatus,
    MessageId,
    SessionId,
    SessionState,
    ToolCallId,
)
from agentslot.session.codec import encode

Pause = Callable[[str], Awaitable[None]]


async def _go_on(name: str) -> None:
    del name
    await anyio.lowlevel.checkpoint()


class Stopped(Exception):
    """The process has been stopped: what was tried has not happened."""


@dataclass(frozen=True)
class Acknowledged:
    """The newest commit of a Session that a store has answered for."""

    revision: int
    facts: int
    digest: str


def digest(facts: tuple[Fact, ...]) -> str:
    """What tells two Histories apart."""
    whole = hashlib.sha256()
    for fact in facts:
        whole.update(encode(fact))
    return whole.hexdigest()


class World:
    """Remembers effects and acknowledgements over all the processes that share it.

    Attributes:
        points: the points that this process has passed, in order.
        effects: how often each effect happened.
        acknowledged: what stores have answered for.
        accepted: messages that a caller holds a receipt of, by Session.
        violations: effects that happened before the decision for them was durable.
        stopped: set once the process has been stopped.
        refused: set once a store has refused a write that was no conflict.
        folder: where what is durable lies, if anything is.
        pause: awaited where a part of the agent waits for something, with the name of the place.
    """

    def __init__(self, record: Path | None = None) -> None:
        self.effects: Counter[str] = Counter()
        self.acknowledged: dict[SessionId, Acknowledged] = {}
        self.accepted: dict[SessionId, set[MessageId]] = {}
        self.violations: list[str] = []
        self.folder: Path | None = None
        self.pause: Pause = _go_on
        self._kill = False
        self._file = -1
        if record is not None:
            self._file = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.begin_process()

    def begin_process(self, stop_at: int | None = None, *, kill: bool = False) -> None:
        """A new process begins; it is stopped at its point number `stop_at`, or killed there."""
        self.points: list[str] = []
        self.stopped = anyio.Event()
        self.refused = anyio.Event()
        self._stop_at = stop_at
        self._kill = kill
        self._dead = False
        self._states: dict[SessionId, SessionState] = {}
        self._news = anyio.Event()

    @property
    def alive(self) -> bool:
        """Whether the process goes on."""
        return not self._dead

    def point(self, name: str, last_act: Callable[[], object] | None = None) -> None:
        """Pass a point, or stop there; `last_act` is what the process just manages to do then.

        Raises:
            Stopped: the process ends here, or has ended before.
        """
        if self._dead:
            raise Stopped(name)
        self.points.append(name)
        if len(self.points) - 1 != self._stop_at:
            return
        if last_act is not None:
            last_act()
        if self._kill:
            os.kill(os.getpid(), signal.SIGKILL)
        self._dead = True
        raise Stopped(name)

    def kill(self) -> None:
        """The process ends here, between two points."""
        self._dead = True

    def effect(self, name: str) -> None:
        """Something happens that no restart can take back."""
        with self.noticing():
            self.point(f"{name}: before the effect")
            self.effects[name] += 1
            self._write("effect", name)
            self._news.set()
            self.point(f"{name}: after the effect")

    def tool_effect(self, session_id: SessionId, call_id: ToolCallId) -> None:
        """A call has its effect; it must be known to be running by now."""
        entry = self._states[session_id].journal.get(call_id)
        if entry is None or entry.status is not JournalStatus.PENDING:
            self.violations.append(f"call {call_id} ran and was not recorded as pending")
        self.effect(call_id)

    def hook_effect(self, session_id: SessionId, invocation_id: InvocationId) -> None:
        """A hook is asked; it must be known to be asked by now."""
        journal = self._states[session_id].extensions
        entry = next((e for e in journal.open.values() if e.invocation.id == invocation_id), None)
        if entry is None or entry.status is not ExtensionStatus.PENDING:
            self.violations.append(f"hook {invocation_id} was asked and not recorded as pending")
        self.effect(invocation_id)

    def request_effect(self, session_id: SessionId, attempt_id: str) -> None:
        """A request goes out; its attempt must be known by now."""
        run = self._states[session_id].active_run
        if run is None or attempt_id not in run.open_attempts:
            self.violations.append(f"attempt {attempt_id} went out and was not recorded")
        self.effect(attempt_id)

    def acknowledge(self, state: SessionState) -> None:
        """A store has answered that this state is durable."""
        facts = tuple(state.history)
        self._states[state.id] = state
        self.acknowledged[state.id] = Acknowledged(state.revision, len(facts), digest(facts))
        self._write("acknowledged", state.id, state.revision, len(facts), digest(facts))
        self._news.set()

    def accept(self, session_id: SessionId, message_id: MessageId) -> None:
        """A caller was told that its message is safe."""
        self.accepted.setdefault(session_id, set()).add(message_id)
        self._write("accepted", session_id, message_id)

    def withdraw(self, session_id: SessionId, message_id: MessageId) -> None:
        """A caller is about to delete its message: from now on it may be there or not."""
        self.accepted[session_id].discard(message_id)
        self._write("withdrawn", session_id, message_id)

    async def until(self, happened: Callable[[], bool]) -> None:
        """Wait for an effect or an acknowledgement that makes it true."""
        while not happened():
            self._news = anyio.Event()
            await self._news.wait()

    @contextmanager
    def noticing(self) -> Generator[None]:
        """Around points, on the event loop: tells those who wait for the worst that it came."""
        try:
            yield
        except Stopped:
            self.stopped.set()
            raise
        except ClassifiedError as error:
            if error.kind is ErrorKind.UNAVAILABLE:
                self.refused.set()
            raise

    def _write(self, *record: object) -> None:
        if self._file >= 0:
            os.write(self._file, json.dumps(record).encode() + b"\n")


def world_of(record: Path) -> World:
    """What the world of a killed process knows, from its record."""
    world = World()
    for line in record.read_text().splitlines():
        match json.loads(line):
            case ["effect", name]:
                world.effects[name] += 1
            case ["acknowledged", session, revision, facts, whole]:
                world.acknowledged[session] = Acknowledged(revision, facts, whole)
            case ["accepted", session, message]:
                world.accept(session, message)
            case ["withdrawn", session, message]:
                world.withdraw(session, message)
            case other:
                raise AssertionError(f"unknown record {other}")
    return world
