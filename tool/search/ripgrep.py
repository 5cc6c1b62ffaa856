"""Ripgrep, to choose quickly the files that are worth a look."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentslot.tool.search.child import run_on

_BATCH_BYTES = 500_000  # of arguments; systems take about a megabyte
_OPTIONS = [
    "--files-with-matches", "--null", "--no-config", "--no-messages", "--binary", "--crlf",
    "--max-filesize=64M",
]  # fmt: skip


def find_ripgrep() -> str | None:
    """The program: on the PATH, or beside this Python, where the extra `search` puts it."""
    return shutil.which("rg") or shutil.which("rg", path=str(Path(sys.executable).parent))


async def files_with_matches(
    ripgrep: str, pattern: str, folder: Path, files: Sequence[str], *, ignore_case: bool
) -> Sequence[str]:
    """Those of `files` in which ripgrep finds the pattern; all of them where it cannot tell.

    Args:
        ripgrep: the program.
        pattern: a regular expression; one that ripgrep does not know chooses every file.
        folder: where the paths of the files begin.
        files: paths of files, which are searched even if they are hidden or ignored.
        ignore_case: whether case does not matter.
    """
    case = "--ignore-case" if ignore_case else "--case-sensitive"
    matching: set[str] = set()
    for batch in _batches(files):
        arguments = [ripgrep, *_OPTIONS, case, "--regexp", pattern, "--", *batch]
        try:
            finished = await run_on(arguments, folder)
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
