"""A model served by a child process, from before it is needed until it is not."""

import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from agentslot.standardagent.command.failure import CommandError
from agentslot.standardagent.command.local import serve

_MAX_CONTEXT_TOKENS = 16_384
"""What a model may be trained for beyond that costs gigabytes of memory."""

_MAX_LINE = 1 << 16
_ERROR = re.compile(r"[\d.]+ E (.+)")
"""An error in the log of llama.cpp: time, level, message."""

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that is being served.

    Attributes:
        name: what its file is called.
        url: address of the server, on 127.0.0.1.
        key: what the server wants to be told, since others on this machine reach it too.
        context_tokens: size of its window.
        calls_tools: whether its chat template knows tools.
    """

    name: str
    url: str
    key: str = field(repr=False)
    context_tokens: int
    calls_tools: bool


@asynccontextmanager
async def local_model(file: Path, *, threads: int = -1) -> AsyncGenerator[LocalModel]:
    """Serve the model in a file while the block runs.

    The server listens on a free port of 127.0.0.1. It ends with the block, and with this process,
    however that ends.

    Args:
        file: a model in the format GGUF.
        threads: how many compute; -1 leaves it to llama.cpp.

    Raises:
        CommandError: llama.cpp cannot load or serve the model.
    """
    key = secrets.token_urlsafe()
    settings = {
        "file": os.fspath(file),
        "context_tokens": _MAX_CONTEXT_TOKENS,
        "threads": threads,
        "key": key,
    }
    # -P: the file lies among modules of ours, which are not to be imported by their bare names.
    command = [sys.executable, "-P", serve.__file__]
    async with await anyio.open_process(command, stderr=subprocess.STDOUT) as process:
        try:
            with suppress(anyio.BrokenResourceError):  # it has ended already, and says why
                await _stream(process.stdin).send(f"{json.dumps(settings)}\n".encode())
            served = await _until_served(process, file)
        except BaseException:
            with suppress(ProcessLookupError):
                process.kill()  # while it loads it does not hear that its input has ended
            raise
        yield LocalModel(name=file.stem, key=key, **served)


async def _until_served(process: Process, file: Path) -> dict[str, Any]:
    """What the child says when the model is there."""
    lines = BufferedByteReceiveStream(_stream(process.stdout))
    said: list[str] = []
    while True:
        try:
            line = (await lines.receive_until(b"\n", _MAX_LINE)).decode(errors="replace")
        except anyio.IncompleteRead:
            reason = _reason(said) or f"it ended with code {await process.wait()}"
            raise CommandError(f"llama.cpp cannot serve {str(file)!r}: {reason}") from None
        if line.startswith("{"):
            served: dict[str, Any] = json.loads(line)  # the rest of LocalModel
            return served
        said.append(line)


def _reason(said: list[str]) -> str:
    """The first error, which the others are about; else the end of a traceback."""
    errors = [found[1] for line in said if (found := _ERROR.match(line))]
    return errors[0] if errors else said[-1] if said else ""


def _stream(stream: S | None) -> S:
    """One that was asked for."""
    assert stream is not None
    return stream
