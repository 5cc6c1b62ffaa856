"""Time may jump; order and growth do not depend on it."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from agentslot.session import FileStore, MemoryStore, SessionId, SessionStore
from agentslot.session.clock import StrictClock
from tests.session.scenario import at, new_session, queued, request


class Steps:
    """A clock that jumps about."""

    def __init__(self, *seconds: float) -> None:
        self._times: Iterator[float] = iter(seconds)

    def __call__(self) -> datetime:
        return at(next(self._times))


def test_readings_grow_when_the_clock_steps_back() -> None:
    clock = StrictClock(Steps(100, 99.9, 99.9, 100, 101))
    readings = [clock() for _ in range(5)]
    assert readings == sorted(set(readings))
    assert readings[-1] == at(101)


def test_a_reading_is_later_than_what_it_has_to_follow() -> None:
    clock = StrictClock(Steps(1, 2))
    assert clock(after=at(50)) > at(50)
    assert clock() > at(50)


async def _order(store: SessionStore) -> list[str]:
    state = await store.create(new_session())
    for number in range(3):
        state = (await store.commit(request(state, f"k{number}", queued(f"q{number}")))).state
    return [item.message.id for item in state.queue]


async def test_order_is_the_order_of_commits_whatever_the_clock_says(tmp_path: Path) -> None:
    times = (100, 99.9, 99.9, 100, 42)
    assert await _order(MemoryStore(clock=Steps(*times))) == ["q0", "q1", "q2"]
    async with FileStore(tmp_path, clock=Steps(*times)) as store:
        assert await _order(store) == ["q0", "q1", "q2"]
    state = (await FileStore(tmp_path).load(SessionId("s1"))).state
    assert [item.message.id for item in state.queue] == ["q0", "q1", "q2"]


async def test_a_restart_with_an_earlier_clock_does_not_turn_time_back(tmp_path: Path) -> None:
    async with FileStore(tmp_path, clock=Steps(100, 101)) as store:
        state = await store.create(new_session())
        state = (await store.commit(request(state, "k0", queued("q0")))).state
    async with FileStore(tmp_path, clock=Steps(5)) as store:
        later = (await store.commit(request(state, "k1", queued("q1")))).state
    assert later.updated_at > state.updated_at
