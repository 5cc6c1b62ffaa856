"""Trying to break what an environment promises."""

import os
import re
import secrets
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL

import anyio
import anyio.to_thread

from agentslot.tool.environment.contract import Boundary, ExecutionEnvironment
from agentslot.tool.environment.run import run_in
from agentslot.tool.errors import SandboxError
from agentslot.tool.process.run import Outcome
from agentslot.tool.process.variables import reduced_environment

TIME_LIMIT_SECONDS = 60.0

# Each line of the answer is a label and what was found; the last one shows that all was tried.
_PROBE = """
echo "works: $(cat "$1/inside")"
(echo broken > "$2/written") 2>/dev/null
echo "reads: $(cat "$2/secret" 2>/dev/null)"
echo "network: $(readlink /proc/self/ns/net)" $(sed -n 's/^ *\\([^ :]*\\):.*/\\1/p' /proc/net/dev)
for process in /proc/[0-9]*; do
  case "$(tr '\\0' ' ' < "$process/environ" 2>/dev/null)" in *"$3"=*) echo "processes: seen" ;; esac
done
echo "done: yes"
"""


@dataclass(frozen=True, slots=True)
class Report:
    """What a self-test found.

    Attributes:
        confines: the promises that held.
        broken: the promises that did not.
    """

    confines: frozenset[Boundary]
    broken: frozenset[Boundary]


async def probe(environment: ExecutionEnvironment, folder: Path) -> Report:
    """Run one command that tries everything in `environment`, and look at what it reached.

    Args:
        environment: the environment.
        folder: an existing folder in which it runs commands.

    Raises:
        SandboxError: no command can be run in it at all.
    """
    async with _bait(folder) as bait:
        environ = reduced_environment(os.environ)
        arguments = ["sh", "-c", _PROBE, "probe", str(bait.inside), str(bait.outside), bait.mark]
        launch = await anyio.to_thread.run_sync(environment.launch, arguments, folder, environ)
        try:
            finished = await run_in(launch, timeout_seconds=TIME_LIMIT_SECONDS)
        except OSError as error:
            raise SandboxError(type(environment).__name__, str(error.strerror)) from error
        answer = finished.output.text()
        written = await anyio.Path(bait.outside / "written").exists()
    if finished.outcome is not Outcome.OK or "done: yes" not in answer:
        raise SandboxError(type(environment).__name__, f"no command can be run: {answer[-400:]}")
    if f"works: {bait.mark}" not in answer:
        raise SandboxError(type(environment).__name__, "its folder is not what it is outside")
    open_ = {
        Boundary.WRITES: written,
        Boundary.READS: f"reads: {bait.mark}" in answer,
        Boundary.NETWORK: _reaches_network(answer, bait.network),
        Boundary.PROCESSES: "processes: seen" in answer,
    }
    held = frozenset(boundary for boundary, is_open in open_.items() if not is_open)
    return Report(held & environment.confines, environment.confines - held)


async def verify(environment: ExecutionEnvironment, folder: Path) -> None:
    """Require that an environment keeps what it promises.

    Raises:
        SandboxError: it cannot be used here, or a promise was broken.
    """
    report = await probe(environment, folder)
    if report.broken:
        broken = ", ".join(sorted(report.broken))
        message = f"it promises to confine {broken}, and a test got through"
        raise SandboxError(type(environment).__name__, message)


@dataclass(frozen=True, slots=True)
class _Bait:
    inside: Path
    outside: Path
    mark: str
    network: str


@asynccontextmanager
async def _bait(folder: Path) -> AsyncGenerator[_Bait]:
    """Files in and outside of the folder, and a process, that carry a mark nobody can guess."""
    mark = f"MARK_{secrets.token_hex(8)}"
    inside, outside = await anyio.to_thread.run_sync(_lay_out, folder, mark)
    try:
        network = await anyio.to_thread.run_sync(_network)
        async with _decoy(mark):
            yield _Bait(Path(inside.name), Path(outside.name), mark, network)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(inside.cleanup)
            await anyio.to_thread.run_sync(outside.cleanup)


@asynccontextmanager
async def _decoy(mark: str) -> AsyncGenerator[None]:
    """A process that does nothing and carries the mark."""
    decoy = await anyio.open_process(
        ["sleep", str(2 * TIME_LIMIT_SECONDS)],
        env={"PATH": os.environ.get("PATH", os.defpath), mark: "1"},
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            decoy.kill()
            await decoy.wait()


def _lay_out(
    folder: Path, mark: str
) -> tuple[tempfile.TemporaryDirectory[str], tempfile.TemporaryDirectory[str]]:
    inside = tempfile.TemporaryDirectory(prefix=".agentslot-", dir=folder)
    outside = tempfile.TemporaryDirectory(prefix="agentslot-")
    (Path(inside.name) / "inside").write_text(mark, "utf-8")
    (Path(outside.name) / "secret").write_text(mark, "utf-8")
    return inside, outside


def _network() -> str:
    """Identity of the network that this process sees; empty where the system has none."""
    try:
        return os.readlink("/proc/self/ns/net")
    except OSError:
        return ""


def _reaches_network(answer: str, ours: str) -> bool:
    """Whether the command shared our network, or had one beside the loopback of its own."""
    found = re.search(r"^network: (\S+)((?: \S+)*)$", answer, re.MULTILINE)
    if found is None:
        return True
    return found[1] == ours or bool(set(found[2].split()) - {"lo"})
