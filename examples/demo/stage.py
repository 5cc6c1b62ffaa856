"""What the demonstration is played on: a copy of the project, the gate, the agent's process."""

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from examples.demo.gate import Gate, Run

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "examples" / "project"

AGENT = "examples.demo.agent"


class Stage:
    """Runs the agent on the project, and kills it once: in the first run of Python after an edit.

    Attributes:
        project: the copy that the agent works on.
        sessions: the folder of its Sessions.
        killed: the run of Python in which the agent was killed.
    """

    def __init__(self, folder: Path, sessions: Path, model: Mapping[str, str]) -> None:
        self.project = folder / "project"
        self.sessions = sessions
        self.killed: Run | None = None
        self._agent: subprocess.Popen[bytes] | None = None
        shutil.copytree(PROJECT, self.project, ignore=shutil.ignore_patterns("__pycache__"))
        self.gate = Gate(folder / "bin", self._on_run)
        self._environment = {
            **os.environ,
            **model,
            "AGENTSLOT_WORKSPACE": str(self.project),
            "AGENTSLOT_SESSIONS": str(sessions),
            "AGENTSLOT_CHANGES": str(folder / "changes"),
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }

    def run_agent(self) -> int:
        """Run the agent until it has finished or is killed; returns its exit code."""
        command = [sys.executable, "-m", AGENT]
        with subprocess.Popen(
            command, cwd=ROOT, env=self._environment, stdin=subprocess.DEVNULL
        ) as self._agent:
            return self._agent.wait()

    def _on_run(self, run: Run) -> None:
        """Called in the gate's thread while a tool of the agent is at work."""
        if self.killed is None and self._agent is not None and self.changes():
            self.killed = run
            self._agent.kill()
            self._agent.wait()

    def changes(self) -> str:
        """What differs from the original, in a unified diff; empty if nothing does."""
        return "".join(_changes(self.project))

    def tests_are_untouched(self) -> bool:
        """Whether the tests are what they were, and not bent until they pass."""
        return not any(_changes(self.project, "tests"))

    def run_tests(self) -> tuple[bool, str]:
        """Run the project's tests: whether they pass, and what was printed."""
        done = subprocess.run(
            [sys.executable, "-m", "unittest"],
            cwd=self.project,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return done.returncode == 0, done.stderr


@contextmanager
def set_up(sessions: Path, model: Mapping[str, str], *, keep: bool) -> Generator[Stage]:
    """Copy the project to a temporary folder and open the gate.

    Args:
        sessions: folder where the agent's Sessions lie; it stays.
        model: the environment variables that say which model is asked.
        keep: whether the temporary folder stays too.
    """
    folder = Path(tempfile.mkdtemp(prefix="agentslot-demo-")).resolve()
    try:
        stage = Stage(folder, sessions, model)
        with stage.gate.open():
            yield stage
    finally:
        if not keep:
            shutil.rmtree(folder)


def _changes(project: Path, below: str = ".") -> Generator[str]:
    paths = {
        path.relative_to(root)
        for root in (PROJECT, project)
        for path in (root / below).rglob("*.py")
    }
    for path in sorted(paths):
        before, after = _lines(PROJECT / path), _lines(project / path)
        yield from difflib.unified_diff(before, after, str(path), str(path), n=0)


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    return path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
