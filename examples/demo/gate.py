"""Lets the demonstration know, without guessing by time, that a tool is in the middle of its work.

The agent's shell finds `python` in the gate's folder. Each such run knocks at the gate and waits
there until the gate's owner lets it in, so the owner can act at exactly that moment.
"""

import shlex
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

KNOCK = Path(__file__).with_name("knock.py")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of Python by the agent.

    Attributes:
        shell: tells apart the shell commands that runs came from.
        at: when it knocked.
    """

    shell: int
    at: datetime
    _connection: socket.socket

    def let_in(self) -> None:
        """Let the run begin; it does so once."""
        self._connection.sendall(b".")

    def wait_until_ended(self) -> None:
        """Wait until the run and all that it started have ended."""
        with self._connection:
            self._connection.recv(1)


class Gate:
    """Where each run of Python by the agent waits.

    Args:
        folder: Put it first on the PATH of the agent's shell; it gets a `python` and a `python3`.
        on_run: Called in the gate's thread for each run, which is let in when it returns.
    """

    def __init__(self, folder: Path, on_run: Callable[[Run], None]) -> None:
        self.runs: list[Run] = []
        self._on_run = on_run
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("python", "python3"):
            command = shlex.join([sys.executable, str(KNOCK), str(port)])
            program = folder / name
            program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
            program.chmod(0o755)

    @contextmanager
    def open(self) -> Generator[Self]:
        """Serve the gate; at the end wait for every run that was let in."""
        porter = threading.Thread(target=self._serve, name="gate")
        porter.start()
        try:
            yield self
        finally:
            socket.create_connection(self._listener.getsockname()).close()  # says nothing: the end
            porter.join()
            self._listener.close()
            for run in self.runs:
                run.wait_until_ended()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection.makefile("rb") as knock:
                shell = knock.readline()
            if not shell:
                connection.close()
                return
            run = Run(int(shell), datetime.now(UTC), connection)
            self.runs.append(run)
            self._on_run(run)
            run.let_in()
