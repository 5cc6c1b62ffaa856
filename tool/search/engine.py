"""Searching a list of files: the built-in engine, and ripgrep before it where it is installed.

The built-in engine finds the lines and cuts them. Ripgrep only says beforehand which files have a
match at all, so both ways give the same answer.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import anyio
import anyio.to_thread
from pydantic import BaseModel

from agentslot.tool.errors import ToolFailedError
from agentslot.tool.search import worker
from agentslot.tool.shell.environment import reduced_environment
from agentslot.tool.shell.process import Finished, Outcome, run_process

TIME_LIMIT_SECONDS = 30.0

_CAPACITY = 8 * 1024 * 1024
_BATCH_BYTES = 100_000  # of arguments; systems take more, but not for ever
_WORKER = [sys.executable, "-I", "-S", "-W", "ignore", worker.__file__]
_RIPGREP_OPTIONS = [
    "--files-with-matches", "--null", "--no-config", "--no-messages", "--binary", "--crlf",
    "--max-filesize=64M",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for.

    Attributes:
        pattern: a regular expression that is matched within lines.
        ignore_case: whether case does not matter.
        context: lines to show around a match.
        most: matching lines to find.
    """

    pattern: str
    ignore_case: bool
    context: int
    most: int


class Found(BaseModel):
    """What an engine found.

    Attributes:
        hits: files in the order of their paths, each with lines: number, text, whether it matches.
            One matching line more than asked for shows that there are more.
        binary: binary files that match; their lines are not shown.
        error: what is wrong with the pattern.
    """

    hits: list[tuple[str, list[tuple[int, str, bool]]]] = []
    binary: list[str] = []
    error: str | None = None


async def search_files(
    query: Query, folder: Path, descriptor: int, files: Sequence[str], *, ripgrep: str | None
) -> Found:
    """Search files below an open folder.

    Args:
        query: what to look for.
        folder: the folder.
        descriptor: the folder, open; files are opened from here, without following links.
        files: paths below the folder, in the order in which they are searched.
        ripgrep: the program, if it shall choose the files first.

    Raises:
        ToolFailedError: `invalid_arguments` for a malformed pattern, `search_failed` if it takes
            too long or the engine breaks.
    """
    with anyio.move_on_after(TIME_LIMIT_SECONDS):
        if ripgrep is not None:
            files = await _with_matches(query, folder, files, ripgrep)
        return await _search(query, folder, descriptor, files)
    message = (
        f"no result after {TIME_LIMIT_SECONDS:g} seconds; use a simpler pattern or a subfolder"
    )
    raise ToolFailedError("search_failed", message)


async def _search(query: Query, folder: Path, descriptor: int, files: Sequence[str]) -> Found:
    names = b"".join(os.fsencode(file) + b"\0" for file in files)
    task = json.dumps(asdict(query)).encode() + b"\n" + names
    finished = await _run([*_WORKER, str(descriptor)], folder, task, descriptor)
    output = finished.output.whole()
    if finished.outcome is not Outcome.OK or output is None:
        raise ToolFailedError("search_failed", "the search engine broke; search in a subfolder")
    found = Found.model_validate_json(output)
    if found.error is not None:
        message = f"the pattern is no regular expression: {found.error}"
        raise ToolFailedError("invalid_arguments", message)
    return found


async def _with_matches(
    query: Query, folder: Path, files: Sequence[str], ripgrep: str
) -> Sequence[str]:
    """The files in which ripgrep finds the pattern; all of them where it cannot tell."""
    case = "--ignore-case" if query.ignore_case else "--case-sensitive"
    matching: set[str] = set()
    for batch in _batches(files):
        arguments = [ripgrep, *_RIPGREP_OPTIONS, case, "--regexp", query.pattern, "--", *batch]
        try:
            finished = await _run(arguments, folder)
        except OSError:
            return files
        output = finished.output.whole()
        if finished.exit_code > 1 or output is None:
            return files
        matching.update(map(os.fsdecode, output.split(b"\0")))
    return [file for file in files if file in matching]


def _batches(files: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for file in files:
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += len(os.fsencode(file)) + 1
    if batch:
        yield batch


async def _run(
    arguments: Sequence[str], folder: Path, task: bytes = b"", *descriptors: int
) -> Finished:
    with await anyio.to_thread.run_sync(_spooled, task) as stdin:
        return await run_process(
            arguments,
            folder=folder,
            environment=reduced_environment(os.environ),
            capacity=_CAPACITY,
            stdin=stdin,
            pass_fds=descriptors,
        )


def _spooled(task: bytes) -> IO[bytes]:
    """An unnamed file that holds `task` and is read from its start."""
    file = TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(task)
    file.seek(0)
    return file
