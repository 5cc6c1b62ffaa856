"""The referee of execution environments: ours pass, and each check finds what it is for."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot.tool import (
    Boundary,
    BubblewrapEnvironment,
    ContainerEnvironment,
    ExecutionEnvironment,
    LocalEnvironment,
    SandboxError,
)
from agentslot.tool.conformance import (
    EXECUTION_ENVIRONMENT_SUITE,
    ConformanceFailure,
    environment,
)
from agentslot.tool.environment import Launch, probe
from tests.repository.house import ROOT
from tests.standardagent.conformance.judging import broken_rules


@pytest.fixture(scope="module")
def bubblewrap() -> BubblewrapEnvironment:
    """Bubblewrap, where it is installed and may make namespaces."""
    environment = BubblewrapEnvironment()
    try:
        anyio.run(probe, environment, Path.cwd())
    except SandboxError:
        pytest.skip("bubblewrap is not installed, or may make no namespaces")
    return environment


async def test_the_machine_itself_conforms() -> None:
    await EXECUTION_ENVIRONMENT_SUITE.check(LocalEnvironment)


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize("network", [False, True])
async def test_bubblewrap_conforms(network: bool) -> None:
    await EXECUTION_ENVIRONMENT_SUITE.check(lambda: BubblewrapEnvironment(network=network))


ENGINE = f"""#!{sys.executable}
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from agentslot.tool import BubblewrapEnvironment

asked = sys.argv[1:]
if asked[0] == "run":
    folder = Path(asked[asked.index("--workdir") + 1])
    command = asked[asked.index("image") + 1 :]
    launch = BubblewrapEnvironment().launch(command, folder, {{"PATH": os.environ["PATH"]}})
    os.execve(launch.arguments[0], launch.arguments, launch.variables)
"""


@pytest.mark.usefixtures("bubblewrap")
async def test_containers_conform_before_an_engine_that_confines(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text(ENGINE, encoding="utf-8")  # nothing else runs
    engine.chmod(0o755)
    await EXECUTION_ENVIRONMENT_SUITE.check(
        lambda: ContainerEnvironment("image", program=str(engine))
    )


class Changing(LocalEnvironment):
    """Launches commands in some wrong way."""

    def __init__(self, change: Callable[[Launch], Launch]) -> None:
        self._change = change

    def launch(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> Launch:
        return self._change(super().launch(arguments, folder, variables))


def through_a_shell(launch: Launch) -> Launch:
    return replace(launch, arguments=["sh", "-c", " ".join(launch.arguments)])


def without_empty_ones(launch: Launch) -> Launch:
    return replace(launch, arguments=[each for each in launch.arguments if each])


def always_well(launch: Launch) -> Launch:
    return replace(launch, arguments=["sh", "-c", '"$@"; exit 0', "sh", *launch.arguments])


def elsewhere(launch: Launch) -> Launch:
    return replace(launch, folder=Path("/"))


def in_a_copy(launch: Launch) -> Launch:
    script = 'c=$(mktemp -d); cp -r . "$c"; here=$PWD; cd "$c"; "$@" | sed "s|^$c|$here|"'
    return replace(launch, arguments=["sh", "-c", script, "sh", *launch.arguments])


def with_everything(launch: Launch) -> Launch:
    return replace(launch, variables={**os.environ, **launch.variables})


def at_once(launch: Launch) -> Launch:
    if launch.arguments[-1] == "touch ran":
        subprocess.run(launch.arguments, cwd=launch.folder, check=True)
    return launch


def in_a_session_of_its_own(launch: Launch) -> Launch:
    return replace(launch, arguments=["setsid", "--wait", *launch.arguments])


class Forgetful(LocalEnvironment):
    """Keeps the folder of the first command."""

    folder: Path | None = None

    def launch(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> Launch:
        self.folder = self.folder or folder
        return super().launch(arguments, self.folder, variables)


class Fickle(LocalEnvironment):
    """Promises more after it was used."""

    def __init__(self) -> None:
        self.confines = frozenset()

    def launch(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> Launch:
        if arguments == ("true",):
            self.confines = frozenset({Boundary.READS})
        return super().launch(arguments, folder, variables)


class Boastful(LocalEnvironment):
    confines = frozenset({Boundary.READS, Boundary.WRITES})


class Worded(LocalEnvironment):
    confines: Any = frozenset({"reads"})


class Listing(LocalEnvironment):
    confines: Any = ()


def changing(change: Callable[[Launch], Launch]) -> Callable[[], ExecutionEnvironment]:
    return lambda: Changing(change)


ARGUMENTS = "a_command_gets_its_arguments_as_they_are"
STATUS = "the_status_of_a_command_comes_back"
FOLDER = "a_command_works_in_its_folder"
VARIABLES = "a_command_gets_no_other_variables"
NOTHING = "to_launch_runs_nothing"
TOGETHER = "commands_at_the_same_time_do_not_disturb_each_other"
STOPPED = "a_command_that_is_stopped_leaves_nothing_running"
SAME = "it_promises_the_same_each_time"
CONFINES = "it_confines_what_it_promises"


@pytest.mark.parametrize(
    ("make", "rule", "said"),
    [
        (changing(through_a_shell), ARGUMENTS, "ended with code"),
        (changing(without_empty_ones), ARGUMENTS, "of ('two words',"),
        (changing(always_well), STATUS, "of 1 came 0"),
        (changing(elsewhere), FOLDER, "ended with code"),
        (changing(in_a_copy), FOLDER, "what it changed in its folder has not changed"),
        (changing(with_everything), VARIABLES, "a variable of this process reached it"),
        (changing(at_once), NOTHING, "the command has run"),
        (Forgetful, TOGETHER, " said ["),
        (changing(in_a_session_of_its_own), STOPPED, "it goes on after it was stopped"),
        (Fickle, SAME, "it promises reads after it has promised nothing"),
        (Worded, SAME, "it promises ['reads'], which are no boundaries"),
        (Listing, SAME, "it promises (), which is no frozenset"),
        (Boastful, CONFINES, "a command got through: reads, writes"),
    ],
)
async def test_a_broken_environment_fails_the_check_that_is_for_it(
    make: Callable[[], ExecutionEnvironment],
    rule: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if rule == STOPPED:
        monkeypatch.setattr(environment, "STOP_SECONDS", 0.1)
    [check] = [each for each in EXECUTION_ENVIRONMENT_SUITE.checks if each.__name__ == rule]
    with pytest.raises(ConformanceFailure) as caught:
        await check(make)
    assert caught.value.check == rule
    assert said in caught.value.detail


async def test_an_environment_that_is_not_there_passes_nothing() -> None:
    absent = BubblewrapEnvironment(program="no-bwrap-here")
    found = await broken_rules(EXECUTION_ENVIRONMENT_SUITE, lambda: absent)
    assert len(found) == len(EXECUTION_ENVIRONMENT_SUITE.checks)
    assert "install bubblewrap" in found[ARGUMENTS]
