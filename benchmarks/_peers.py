"""Peers in environments of their own: installed once under `.bench/`, measured in processes.

A peer is a script in `benchmarks/peers/`, called as `<script> <workload> <turns> <folder>`. It
prints one JSON object: `us_per_turn`, or `wall_seconds` of many at once.
"""

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = Path(os.environ.get("AGENTSLOT_BENCH", ROOT / ".bench"))


@dataclass(frozen=True, slots=True)
class Peer:
    """A framework that does the same workload."""

    name: str
    packages: tuple[str, ...]


HAYSTACK = Peer("haystack", ("haystack-ai",))
AGNO = Peer("agno", ("agno", "sqlalchemy[asyncio]", "openai"))
LANGGRAPH = Peer("langgraph", ("langgraph", "langgraph-checkpoint-sqlite", "aiosqlite"))
PYDANTIC_AI = Peer("pydantic_ai", ("pydantic-ai-slim",))
STRANDS = Peer("strands", ("strands-agents",))


def python_of(peer: Peer) -> Path:
    """The interpreter of the peer's environment, which is made on the first call.

    Raises:
        RuntimeError: the peer cannot be installed here.
    """
    folder = ENVIRONMENTS / peer.name
    python = folder / "bin" / "python"
    stamp, wanted = folder / "installed", "\n".join(peer.packages)
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"installing {peer.name} into {folder}", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", *peer.packages]
        installed = subprocess.run(command, capture_output=True, text=True, check=False)
        if installed.returncode:
            raise RuntimeError(
                f"{peer.name} cannot be installed: {installed.stderr.strip()[-300:]}"
            )
        stamp.write_text(wanted, encoding="utf-8")
    return python


def measure(peer: Peer, workload: str, turns: int, folder: Path) -> dict[str, Any]:
    """Run a workload of the peer in a process of its own.

    Raises:
        RuntimeError: it is not to be had here, or it failed.
    """
    script = ROOT / "benchmarks" / "peers" / f"{peer.name}_agent.py"
    command = [str(python_of(peer)), str(script), workload, str(turns), str(folder)]
    quiet = {"DO_NOT_TRACK": "1", "HAYSTACK_TELEMETRY_ENABLED": "False", "AGNO_TELEMETRY": "false"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **quiet}
    )
    if done.returncode:
        raise RuntimeError(f"{peer.name} failed at {workload}: {done.stderr.strip()[-300:]}")
    printed: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return printed
