"""Runs the model as a process of its own."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
STOP_SECONDS = 5.0


@contextmanager
def loopback_model(
    *arguments: str, module: str = "examples.loopback_model", delay_seconds: float = 0.0
) -> Generator[str]:
    """Start the model and yield its base URL; stop it at the end.

    The model also stops by itself when this process ends in any way.

    Args:
        arguments: what the module wants to be told beside the options of every model.
        module: serves a model that can do another job.
        delay_seconds: pause before each piece of an answer.

    Raises:
        ChildProcessError: The model did not start.
    """
    command = [sys.executable, "-m", module, *arguments, "--until-stdin-closes"]
    process = subprocess.Popen(
        [*command, "--port", "0", "--delay", str(delay_seconds)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        assert process.stdin is not None  # both are pipes
        assert process.stdout is not None
        try:
            base_url = process.stdout.readline().strip()
            if not base_url:
                raise ChildProcessError("the loopback model did not start; see its error above")
            yield base_url
        finally:
            process.stdin.close()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
