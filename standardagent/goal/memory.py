"""A goal store over ledgers, and the one that keeps them in memory."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import anyio
import anyio.lowlevel

from agentslot.session import Goal, GoalId, GoalStatus, SessionId
from agentslot.session.clock import Clock, utc_now
from agentslot.standardagent.goal.contract import DecisionRecord
from agentslot.standardagent.goal.rules import GoalLedger, change_status, decide, set_goal


class LedgerGoals(ABC):
    """A GoalStore that does what the rules say; others read and write the ledgers.

    Changes of one Session wait for each other.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._locks: WeakValueDictionary[SessionId, anyio.Lock] = WeakValueDictionary()

    async def current(self, session_id: SessionId) -> Goal | None:
        """The goal of the Session; see GoalStore."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        ledger = await self._read(session_id)
        return None if ledger is None else ledger.goal

    async def set(
        self, session_id: SessionId, objective: str, *, expected_version: int, max_follow_ons: int
    ) -> Goal:
        """Give the Session a new goal; see GoalStore."""
        async with self._changing(session_id) as before:
            goal_id = GoalId(f"goal-{secrets.token_hex(8)}")
            after = set_goal(
                before,
                expected_version,
                goal_id,
                session_id,
                objective,
                max_follow_ons,
                self._clock(),
            )
            await self._write(session_id, after)
        return after.goal

    async def change_status(
        self, session_id: SessionId, status: GoalStatus, *, expected_version: int
    ) -> Goal:
        """Give the goal another status; see GoalStore."""
        async with self._changing(session_id) as before:
            after = change_status(before, session_id, expected_version, status, self._clock())
            if after is not before:
                await self._write(session_id, after)
        return after.goal

    async def record_decision(self, record: DecisionRecord) -> Goal:
        """Apply a decision once; see GoalStore."""
        async with self._changing(record.session_id) as before:
            after, goal = decide(before, record)
            if after is not before:
                await self._write(record.session_id, after)
        return goal

    @asynccontextmanager
    async def _changing(self, session_id: SessionId) -> AsyncGenerator[GoalLedger | None]:
        """Hold the Session's ledger; what is begun here is not cut short."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        lock = self._locks.setdefault(session_id, anyio.Lock())
        async with lock:
            with anyio.CancelScope(shield=True):
                yield await self._read(session_id)

    @abstractmethod
    async def _read(self, session_id: SessionId) -> GoalLedger | None: ...

    @abstractmethod
    async def _write(self, session_id: SessionId, ledger: GoalLedger) -> None: ...


class MemoryGoals(LedgerGoals):
    """Keeps goals in memory: gone when the process ends.

    Args:
        clock: where changes take their time from.
    """

    def __init__(self, *, clock: Clock = utc_now) -> None:
        super().__init__(clock)
        self._ledgers: dict[SessionId, GoalLedger] = {}

    async def _read(self, session_id: SessionId) -> GoalLedger | None:
        return self._ledgers.get(session_id)

    async def _write(self, session_id: SessionId, ledger: GoalLedger) -> None:
        self._ledgers[session_id] = ledger
