"""Standard output: kept for the answer, closed from the beginning, lost on the way."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TextIO


def open_missing() -> None:
    """Where a standard stream was closed before we began, read nothing and write nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # in this order, each gets the number that is its own
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as the process


def drop_lost() -> None:
    """Drop what standard output still holds, if it takes no more.

    The interpreter would otherwise try again at its end, and complain.
    """
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


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
        try:
            with suppress(BrokenPipeError):
                answers.close()
            sys.stdout.flush()
        finally:
            os.dup2(kept, stdout)
            os.close(kept)
