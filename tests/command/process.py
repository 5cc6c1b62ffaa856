"""The command as a process of its own."""

import os
import pty
import re
import select
import signal
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
        timeout=150,
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

    def reports(self, text: str, times: int = 1) -> None:
        """Wait until it was written to standard error that often."""
        assert self.stderr is not None
        while self._err.count(text.encode()) < times:
            self._err += self._some(self.stderr)

    def ended(self) -> subprocess.CompletedProcess[str]:
        """Wait for the end; all that it said."""
        out, err = self.communicate(timeout=120)
        self._out += out
        self._err += err
        return subprocess.CompletedProcess(
            self.args, self.returncode, self._out.decode(), self._err.decode()
        )

    def _some(self, stream: IO[bytes]) -> bytes:
        data = os.read(stream.fileno(), 65536)
        assert data, f"it ended: {self._out!r} {self._err!r}"
        return data


class Terminal:
    """The command in a terminal of its own, with a person who types."""

    def __init__(self, *arguments: str, **variables: str) -> None:
        self._output = b""
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # tests in the background may ignore it
            variables = environment(**variables)
            os.execvpe(COMMAND[0], [*COMMAND, *arguments], variables)

    @property
    def screen(self) -> str:
        """All that was shown so far, without colours."""
        shown = self._output.decode(errors="replace").replace("\r\n", "\n")
        return re.sub(r"\x1b\[[0-9;]*m", "", shown)

    def types(self, text: str) -> None:
        """Type it, control characters and all."""
        os.write(self._terminal, text.encode())

    def shows(self, text: str, times: int = 1) -> None:
        """Wait until it was shown that often."""
        while self.screen.count(text) < times:
            ready, _, _ = select.select([self._terminal], [], [], 120)
            assert ready, f"it shows no {text!r}: {self.screen}"
            self._output += os.read(self._terminal, 65536)

    def ended(self) -> int:
        """Wait for the end; the exit code."""
        while True:
            try:
                data = os.read(self._terminal, 65536)
            except OSError:  # Linux says so when the last process has closed the terminal
                data = b""
            if not data:
                break
            self._output += data
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._terminal)
