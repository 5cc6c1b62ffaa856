"""A database that fails any statement of any commit; and one that cannot even take it back."""

import sqlite3
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentslot.session import SqliteStore
from tests.faults import checks
from tests.faults.media import DATABASE
from tests.faults.story import Story, content, recorded, refused, replay

pytestmark = pytest.mark.faults


@dataclass
class Plan:
    """Which statement of which transaction fails.

    Attributes:
        transaction: its number, counted from 0; the first one creates the Session.
        statement: its number in the transaction, whose first one begins it.
        rollback: whether taking the transaction back fails as well, once.
        statements: how many statements each transaction had.
        inside: whether one is going on.
    """

    transaction: int
    statement: int
    rollback: bool = False
    statements: list[int] = field(default_factory=list[int])
    inside: bool = False

    def run(self, statement: str) -> None:
        """Count the statement.

        Raises:
            sqlite3.OperationalError: it fails.
        """
        if statement == "ROLLBACK" and self.rollback:
            self.rollback = False
            raise sqlite3.OperationalError("disk I/O error")
        if statement == "BEGIN IMMEDIATE":
            self.statements.append(0)
            self.inside = True
        if not self.inside:
            return
        place = len(self.statements) - 1, self.statements[-1]
        self.statements[-1] += 1
        self.inside = statement not in ("COMMIT", "ROLLBACK")
        if place == (self.transaction, self.statement):
            raise sqlite3.OperationalError("disk I/O error")


class FailingConnection(sqlite3.Connection):
    """Asks the plan before each statement."""

    plan: Plan

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        self.plan.run(sql)
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        self.plan.run(sql)
        return super().executemany(sql, parameters)


@contextmanager
def failing(plan: Plan) -> Generator[None]:
    """Connections that are made in the block follow the plan."""
    connection = type("Connection", (FailingConnection,), {"plan": plan})
    with pytest.MonkeyPatch.context() as patch:
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect
        patch.setattr(sqlite3, "connect", partial(connect, factory=connection))
        yield


async def fail_and_go_on(story: Story, folder: Path, plan: Plan) -> None:
    """Fail one statement of the story; the same commit is sent again, and then the others."""
    number = plan.transaction - 1
    with failing(plan):
        async with SqliteStore(folder / "sessions.db") as store:
            before = await replay(store, story, number)
            await refused(store.commit(story.commits[number]))
            assert (await store.load(before.id)).state == before
            assert (await store.commit(story.commits[number])).applied
            for later in story.commits[number + 1 :]:
                assert (await store.commit(later)).applied
    checks.revisions_have_no_gap(DATABASE.commits(folder, story.new.id))


async def whole(story: Story, folder: Path) -> tuple[object, list[int]]:
    """The Session that the story makes, and how many statements each transaction has."""
    plan = Plan(-1, -1)
    with failing(plan):
        async with SqliteStore(folder / "sessions.db") as store:
            return content(await replay(store, story, len(story.commits))), plan.statements


@pytest.mark.parametrize("rollback", [False, True], ids=["", "and its taking back"])
async def test_a_statement_that_fails_changes_nothing_and_its_commit_can_be_sent_again(
    rollback: bool, folder: Path
) -> None:
    story = await recorded(folder / "story")
    expected, statements = await whole(story, folder / "whole")
    for transaction, count in enumerate(statements[1:], 1):
        for statement in range(count):
            place = folder / f"{transaction}-{statement}"
            await fail_and_go_on(story, place, Plan(transaction, statement, rollback=rollback))
            store = SqliteStore(place / "sessions.db")
            assert content((await store.load(story.new.id)).state) == expected


async def test_a_session_whose_creation_fails_is_not_there(folder: Path) -> None:
    story = await recorded(folder / "story")
    _, statements = await whole(story, folder / "whole")
    for statement in range(statements[0]):
        place = folder / f"{statement}"
        with failing(Plan(0, statement)):
            async with SqliteStore(place / "sessions.db") as store:
                await refused(store.create(story.new))
                assert DATABASE.sessions(place) == []
                await store.create(story.new)
