"""Standard output, kept for the answer."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TextIO


@contextmanager
def kept_for_answers(encoding: str | None = None) -> Generator[TextIO]:
    """Give the real standard output to the block, and standard error to everybody else.

    What a tool prints, or a process that it starts, or a module while it is imported, can thus not
    get between the lines of the answer.
    """
    sys.stdout.flush()
    stdout, stderr = sys.stdout.fileno(), sys.stderr.fileno()
    kept = os.dup(stdout)
    os.dup2(stderr, stdout)
    answers = open(  # noqa: SIM115 - closed below, where a reader that went away is no error
        kept, "w", encoding=encoding or sys.stdout.encoding, errors="replace", closefd=False
    )
    try:
        yield answers
    finally:
        with suppress(BrokenPipeError):
            answers.close()
        sys.stdout.flush()
        os.dup2(kept, stdout)
        os.close(kept)
