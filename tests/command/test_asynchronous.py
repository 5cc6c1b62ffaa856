"""What reaches the command from inside of task groups."""

import anyio
import pytest

from agentslot import AgentSlotError, BuildFailed
from agentslot.standardagent.command.asynchronous import run_async


async def raise_in_tasks(*errors: BaseException) -> int:
    async def fail(error: BaseException) -> None:
        raise error

    async with anyio.create_task_group() as outer, anyio.create_task_group() as tasks:
        for error in errors:
            tasks.start_soon(fail, error)
    del outer
    return 0


def outcome(*errors: BaseException) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - that it is none else is the point
        run_async(lambda: raise_in_tasks(*errors))
    return caught.value


def test_a_single_error_comes_as_itself() -> None:
    error = AgentSlotError("one")
    assert outcome(error) is error


def test_a_reader_that_went_away_comes_before_what_followed_from_it() -> None:
    gone = BrokenPipeError()
    assert outcome(AgentSlotError("one"), gone, ValueError()) is gone


def test_a_group_of_our_own_stays_a_group() -> None:
    group = BuildFailed("2 problems", [ValueError("a"), ValueError("b")])
    assert outcome(group) is group


def test_several_errors_stay_together() -> None:
    error = outcome(AgentSlotError("one"), ValueError("two"))
    assert isinstance(error, ExceptionGroup)


def test_the_result_is_the_exit_code() -> None:
    async def main() -> int:
        return 7

    assert run_async(main) == 7
