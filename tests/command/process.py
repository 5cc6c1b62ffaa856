"""The command as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "agentslot")


def environment(**extra: str) -> dict[str, str]:
    """Variables for a process that finds the source folder, and no settings of whoever tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AGENTSLOT_")}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "COLUMNS": "80", **extra}


def agentslot(
    *arguments: str, stdin: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; without `stdin` its input is empty."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input="" if stdin is None else stdin,
        capture_output=True,
        encoding="utf-8",
        env=environment(**variables),
        timeout=50,
        check=False,
    )


class Process(subprocess.Popen[bytes]):
    """The command while it runs: wait for what it says, then do something to it."""

    def __init__(self, *arguments: str, stdin: int = subprocess.DEVNULL, **variables: str) -> None:
        super().__init__(
            [*COMMAND, *arguments],
            bufsize=0,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**variables),
        )
        self._out, self._err = b"", b""

    def prints(self, text: str) -> None:
        """Wait until it was written to standard output."""
        assert self.stdout is not None
        while text.encode() not in self._out:
            self._out += self._some(self.stdout)

    def reports(self, text: str) -> None:
        """Wait until it was written to standard error."""
        assert self.stderr is not None
        while text.encode() not in self._err:
            self._err += self._some(self.stderr)

    def ended(self) -> subprocess.CompletedProcess[str]:
        """Wait for the end; all that it said."""
        out, err = self.communicate(timeout=30)
        self._out += out
        self._err += err
        return subprocess.CompletedProcess(
            self.args, self.returncode, self._out.decode(), self._err.decode()
        )

    def _some(self, stream: IO[bytes]) -> bytes:
        data = os.read(stream.fileno(), 65536)
        assert data, f"it ended: {self._out!r} {self._err!r}"
        return data
