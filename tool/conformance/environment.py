"""The referee of `execution.environment/v1`: commands run as they were given, and confined.

```python
from agentslot.tool.conformance import EXECUTION_ENVIRONMENT_SUITE

async def test_mine_is_an_execution_environment() -> None:
    await EXECUTION_ENVIRONMENT_SUITE.check(MyEnvironment)
```

It runs commands of `sh` in folders of its own, below the folder for temporary files.
"""

import os
import secrets
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import cast

import anyio
import anyio.to_thread

from agentslot._conformance import Broken, Suite, check, demand
from agentslot.tool.environment.contract import Boundary, ExecutionEnvironment, Launch
from agentslot.tool.environment.run import run_in
from agentslot.tool.environment.verify import probe
from agentslot.tool.process.run import Finished, Outcome
from agentslot.tool.process.variables import reduced_environment

MakeEnvironment = Callable[[], ExecutionEnvironment]

STOP_SECONDS = 5.0
"""Longest time from the end of a command that was stopped to that of all its processes."""

_ODD = ("two words", "", "*", "$HOME", "'\"\\", "--help", "-", ";exit")


@asynccontextmanager
async def _folder() -> AsyncGenerator[Path]:
    make = partial(tempfile.TemporaryDirectory[str], prefix="agentslot-")
    folder = await anyio.to_thread.run_sync(make)
    try:
        yield Path(await anyio.Path(folder.name).resolve())
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(folder.cleanup)


async def _launch(environment: ExecutionEnvironment, folder: Path, *arguments: str) -> Launch:
    variables = reduced_environment(os.environ)
    return await anyio.to_thread.run_sync(environment.launch, arguments, folder, variables)


async def _run(environment: ExecutionEnvironment, folder: Path, *arguments: str) -> Finished:
    return await run_in(await _launch(environment, folder, *arguments))


async def _said(environment: ExecutionEnvironment, folder: Path, *arguments: str) -> str:
    """What a command that succeeds writes."""
    finished = await _run(environment, folder, *arguments)
    text = finished.output.text()
    if finished.outcome is not Outcome.OK:
        raise Broken(f"{arguments[:3]} ended with code {finished.exit_code}: {text[-400:]}")
    return text


@check
async def a_command_gets_its_arguments_as_they_are(make: MakeEnvironment) -> None:
    """No shell has a look at them on the way, and none is lost."""
    async with _folder() as folder:
        said = await _said(make(), folder, "sh", "-c", 'printf "<%s>\\n" "$@"', "sh", *_ODD)
        expected = "".join(f"<{each}>\n" for each in _ODD)
        demand(said.strip() == expected.strip(), f"of {_ODD} came {said.split(chr(10))}")


@check
async def the_status_of_a_command_comes_back(make: MakeEnvironment) -> None:
    """It tells the model whether something went wrong."""
    environment = make()
    async with _folder() as folder:
        for status in (0, 1, 77):
            finished = await _run(environment, folder, "sh", "-c", f"exit {status}")
            demand(finished.exit_code == status, f"of {status} came {finished.exit_code}")


@check
async def a_command_works_in_its_folder(make: MakeEnvironment) -> None:
    """It starts there, under the same path; what it changes there is changed."""
    async with _folder() as folder:
        before, after = anyio.Path(folder / "before"), anyio.Path(folder / "after")
        await before.write_text("text\n", encoding="utf-8")
        said = await _said(make(), folder, "sh", "-c", "pwd -P && cat before > after && rm before")
        demand(
            said.strip() == str(folder), f"it starts in {said.strip()!r}, not in {str(folder)!r}"
        )
        moved = await after.exists() and await after.read_text(encoding="utf-8") == "text\n"
        demand(moved and not await before.exists(), "what it changed in its folder has not changed")


@check
async def a_command_gets_no_other_variables(make: MakeEnvironment) -> None:
    """Those that were given are all: the keys of this process are not for commands."""
    mark = secrets.token_hex(8)
    async with _folder() as folder:
        with _variable("AGENTSLOT_CONFORMANCE_KEY", mark):
            said = await _said(make(), folder, "env")
    demand(mark not in said, "a variable of this process reached it that it was not given")


@contextmanager
def _variable(name: str, value: str) -> Generator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


@check
async def to_launch_runs_nothing(make: MakeEnvironment) -> None:
    """It says how to run a command; whether, and when, is decided by whoever asked."""
    async with _folder() as folder:
        await _launch(make(), folder, "sh", "-c", "touch ran")
        demand(not await anyio.Path(folder / "ran").exists(), "the command has run")


@check
async def commands_at_the_same_time_do_not_disturb_each_other(make: MakeEnvironment) -> None:
    """Each has its own words and its own folder."""
    environment = make()

    async def one(name: str) -> None:
        async with _folder() as folder:
            said = await _said(environment, folder, "sh", "-c", f"pwd -P; echo {name}")
            demand(said.split() == [str(folder), name], f"{name} in {folder} said {said.split()}")

    async with anyio.create_task_group() as tasks:
        for name in ("first", "second", "third"):
            tasks.start_soon(one, name)


@check
async def a_command_that_is_stopped_leaves_nothing_running(make: MakeEnvironment) -> None:
    """A signal to its process group ends it, or the `stop` of its launch."""
    async with _folder() as folder:
        await anyio.to_thread.run_sync(os.mkfifo, folder / "alive")
        alive = os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)
        try:
            # The end of a pipe is read when nobody is left who could write to it.
            command = "exec 9> alive; echo yes >&9; sleep 60"
            launch = await _launch(make(), folder, "sh", "-c", command)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_run_on, launch)
                await anyio.wait_readable(alive)
                tasks.cancel_scope.cancel()
            os.read(alive, 100)
            with anyio.move_on_after(STOP_SECONDS) as limit:
                await anyio.wait_readable(alive)
            demand(not limit.cancelled_caught, "it goes on after it was stopped")
        finally:
            os.close(alive)


async def _run_on(launch: Launch) -> None:
    finished = await run_in(launch)
    raise Broken(f"a command that takes long ended at once: {finished.output.text()[-400:]}")


@check
async def it_promises_the_same_each_time(make: MakeEnvironment) -> None:
    """What it confines is asked when it is mounted, and believed from then on."""
    environment = make()
    known = _promised(environment)
    async with _folder() as folder:
        await _said(environment, folder, "true")
    again = _promised(environment)
    demand(again == known, f"it promises {_listed(again)} after it has promised {_listed(known)}")


def _promised(environment: ExecutionEnvironment) -> frozenset[Boundary]:
    known = cast("object", environment.confines)
    demand(isinstance(known, frozenset), f"it promises {known!r}, which is no frozenset")
    promised = environment.confines
    strange = [each for each in promised if type(each) is not Boundary]
    demand(not strange, f"it promises {strange}, which are no boundaries")
    return promised


@check
async def it_confines_what_it_promises(make: MakeEnvironment) -> None:
    """A command tries to get through each boundary."""
    async with _folder() as folder:
        report = await probe(make(), folder)
    demand(not report.broken, f"a command got through: {_listed(report.broken)}")


def _listed(boundaries: frozenset[Boundary]) -> str:
    return ", ".join(sorted(boundaries)) or "nothing"


EXECUTION_ENVIRONMENT_SUITE: Suite[MakeEnvironment] = Suite(
    "execution.environment/v1",
    (
        a_command_gets_its_arguments_as_they_are,
        the_status_of_a_command_comes_back,
        a_command_works_in_its_folder,
        a_command_gets_no_other_variables,
        to_launch_runs_nothing,
        commands_at_the_same_time_do_not_disturb_each_other,
        a_command_that_is_stopped_leaves_nothing_running,
        it_promises_the_same_each_time,
        it_confines_what_it_promises,
    ),
)
