"""Searching a list of files: the built-in engine, and ripgrep before it where it is installed.

The built-in engine finds the lines and cuts them. Ripgrep only says beforehand which files have a
match at all, so both ways give the same answer.
"""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import anyio
from pydantic import BaseModel

from agentslot.tool.errors import ToolFailedError
from agentslot.tool.process.run import Outcome
from agentslot.tool.search import worker
from agentslot.tool.search.child import run_on
from agentslot.tool.search.literal import required_texts
from agentslot.tool.search.ripgrep import files_with_matches

TIME_LIMIT_SECONDS = 30.0

_MAX_WORKERS = 4
_FILES_A_WORKER = 2000
_WORKER = [sys.executable, "-I", "-S", "-W", "ignore", worker.__file__]


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


@dataclass(slots=True)
class Found:
    """What an engine found.

    Attributes:
        hits: files in the order of their paths, each with lines: number, text, whether it matches.
            One matching line more than asked for shows that there are more.
        binary: binary files that match; their lines are not shown.
    """

    hits: list[tuple[str, list[worker.Line]]] = field(default_factory=list)
    binary: list[str] = field(default_factory=list)


class _Answer(BaseModel):
    """What a worker writes: files by their place among those that it was given."""

    hits: list[tuple[int, list[worker.Line]]] = []
    binary: list[int] = []
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
            files = await files_with_matches(
                ripgrep, query.pattern, folder, files, ignore_case=query.ignore_case
            )
        return await _search_side_by_side(query, folder, descriptor, files)
    message = (
        f"no result after {TIME_LIMIT_SECONDS:g} seconds; use a simpler pattern or a subfolder"
    )
    raise ToolFailedError("search_failed", message)


async def _search_side_by_side(
    query: Query, folder: Path, descriptor: int, files: Sequence[str]
) -> Found:
    """Give each processor a part of many files; the answer is that of one search."""
    workers = min(os.cpu_count() or 1, _MAX_WORKERS, 1 + len(files) // _FILES_A_WORKER)
    size = -(-len(files) // workers)
    parts: list[Found | ToolFailedError] = [Found() for _ in range(workers)]

    async def search(index: int) -> None:
        try:
            part = files[index * size : (index + 1) * size]
            parts[index] = await _search(query, folder, descriptor, part)
        except ToolFailedError as error:
            parts[index] = error

    async with anyio.create_task_group() as tasks:
        for index in range(workers):
            tasks.start_soon(search, index)
    joined = Found()
    for part in parts:
        if isinstance(part, ToolFailedError):
            raise part
        joined.hits += part.hits
        joined.binary += part.binary
    return joined


async def _search(query: Query, folder: Path, descriptor: int, files: Sequence[str]) -> Found:
    head = json.dumps({**asdict(query), "literals": required_texts(query.pattern)})
    names = b"".join(os.fsencode(file) + b"\0" for file in files)
    task = head.encode() + b"\n" + names
    finished = await run_on([*_WORKER, str(descriptor)], folder, task, descriptor)
    output = finished.output.whole()
    if finished.outcome is not Outcome.OK or output is None:
        raise ToolFailedError("search_failed", "the search engine broke; search in a subfolder")
    answer = _Answer.model_validate_json(output)
    if answer.error is not None:
        message = f"the pattern is no regular expression: {answer.error}"
        raise ToolFailedError("invalid_arguments", message)
    return Found(
        [(files[place], lines) for place, lines in answer.hits],
        [files[place] for place in answer.binary],
    )
