"""The programs that tools work through: whether they are there, and do what they are there for."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from agentslot.standardagent.command.check import Check
from agentslot.tool import SandboxError
from agentslot.tool.environment import BubblewrapEnvironment, verify
from agentslot.tool.search import find_ripgrep

_SECONDS = 10
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class _Backend:
    """A program, and what there is without it.

    Attributes:
        find: where it is; None if it is not there.
        problem: why it cannot be used although it is there; None if it can.
    """

    subject: str
    purpose: str
    instead: str
    find: Callable[[], str | None]
    problem: Callable[[str], str | None] = lambda _program: None


def check_backends() -> Iterator[Check]:
    """Look for each program, and try out those that may be there and of no use."""
    for backend in _BACKENDS:
        program = backend.find()
        if program is None:
            yield Check(backend.subject, "missing", backend.purpose, backend.instead)
        elif problem := backend.problem(program):
            detail = f"{backend.purpose}: {problem}"
            yield Check(backend.subject, "missing", detail, backend.instead)
        else:
            yield Check(backend.subject, "ok", f"{_version(program)}, {backend.purpose}")


def _first_of(*names: str) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


def _version(program: str) -> str:
    """The version in what the program says about itself; its path if it says none."""
    found = _VERSION.search(_said(program, "--version") or "")
    return found[0] if found else program


def _said(program: str, *arguments: str) -> str | None:
    """What the program prints; None if it fails."""
    try:
        return subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def _no_sandbox(_program: str) -> str | None:
    """What the self-test of the sandbox, which each start of an agent repeats, says against it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            anyio.run(verify, BubblewrapEnvironment(), Path(folder))
        except SandboxError as error:
            return str(error)
    return None


def _no_engine(program: str) -> str | None:
    """The client alone starts no container."""
    if _said(program, "info", "--format", "{{.ServerVersion}}") is None:
        return "the client is there, but no engine answers"
    return None


_BACKENDS = (
    _Backend("bash", "the bash tool", "sh", partial(_first_of, "bash")),
    _Backend("ripgrep", "searching large trees", "our own search alone", find_ripgrep),
    _Backend(
        "git",
        "where your own ignore rules are",
        "their default place; ignore rules are read without git",
        partial(_first_of, "git"),
    ),
    _Backend(
        "bubblewrap",
        "commands in a sandbox",
        "a container, or no sandbox",
        partial(_first_of, "bwrap"),
        _no_sandbox,
    ),
    _Backend(
        "docker",
        "commands in containers",
        "bubblewrap, or no sandbox",
        partial(_first_of, "docker"),
        _no_engine,
    ),
    _Backend(
        "powershell",
        "the powershell tool",
        "a powershell tool that names bash",
        partial(_first_of, "pwsh", "powershell"),
    ),
)
