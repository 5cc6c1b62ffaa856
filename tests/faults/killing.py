"""Processes that really die: one is kept ready and forks itself for each that is to be killed.

A fork begins with everything imported, so a kill costs milliseconds. The process reads one job a
line and answers each with the status that its fork ended in.
"""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio

from tests.faults.allscenarios import SCENARIOS
from tests.faults.harness import Trial
from tests.faults.media import MEDIA
from tests.faults.world import World

ROOT = Path(__file__).parents[2]


class Executioner:
    """The process that is kept ready."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def play(self, trial: Trial, record: Path, kill_at: int, backend: str) -> int:
        """Play the trial's scenario in a process that kills itself at a point.

        Returns:
            What the process ended with: -9 if it was killed, 0 if it never passed that point.
        """
        assert self._process.stdin
        assert self._process.stdout
        names = trial.scenario.name, trial.medium.name, str(trial.folder), str(record)
        self._process.stdin.write(json.dumps([*names, kill_at, backend]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def executioner() -> Generator[Executioner]:
    """Keep a process ready while the block lasts."""
    with subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        yield Executioner(process)
        assert process.stdin
        process.stdin.close()


def _serve() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _live(*json.loads(line))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _live(scenario: str, medium: str, folder: str, record: str, kill_at: int, backend: str) -> None:
    world = World(Path(record))
    world.begin_process(kill_at, kill=True)
    trial = Trial(SCENARIOS[scenario], Path(folder), world, MEDIA[medium])
    anyio.run(trial.play, backend=backend)


if __name__ == "__main__":
    _serve()
