"""The tool `file_search`."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.browse import Browser
from agentslot.tool.files.glob import Glob
from agentslot.tool.files.walk import walk
from agentslot.tool.fit import fit
from agentslot.tool.functiontool import FunctionTool
from agentslot.tool.search.engine import Query, search_files
from agentslot.tool.search.show import MAX_MATCHES, show_found

MAX_BYTES = 50 * 1024
RIPGREP_FILES = 2000
"""From so many files on it is worth its start."""

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_BEYOND = re.compile(r"\(\?(?:[=!>(]|<[=!]|P=)|\\[1-9]")
"""What only a backtracking engine can do."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """Files to search below an open folder, and what leads from the root to it."""

    descriptor: int
    folder: Path
    prefix: str
    files: list[str]


class Searcher:
    """Searches the files that a Browser walks.

    Attributes:
        ripgrep: the program that helps where there are many files; None to do without.
    """

    def __init__(self, browser: Browser, *, ripgrep: str | None = None) -> None:
        self._browser = browser
        self.ripgrep = ripgrep

    def tools(self) -> tuple[FunctionTool[..., object], ...]:
        """Return `file_search`."""
        return (
            FunctionTool(self._search, name="file_search", parallel_safe=True, effect=Effect.READ),
        )

    async def _search(
        self,
        pattern: Annotated[str, Field(min_length=1)],
        invocation: ToolInvocation,
        path: str = ".",
        file_glob: str | None = None,
        context_lines: Annotated[int, Field(ge=0, le=20)] = 0,
        case_sensitive: bool | None = None,
        max_matches: int = MAX_MATCHES,
    ) -> str:
        """Search the text of files for a regular expression, line by line.

        The answer names each file once, relative to the root folder, then its lines: `12:` before
        a matching line, `12-` before one around it. Long lines are cut around the match. Hidden
        files and what git ignores are left out, unless `path` names the file itself.

        Args:
            pattern: The regular expression; it is matched within lines.
            invocation: The call.
            path: The folder or file to search, relative to the root folder.
            file_glob: Search only files whose name or path matches, such as `*.py` or `src/**`.
            context_lines: Lines to show around each match.
            case_sensitive: By default case matters only if the pattern has an upper-case letter.
            max_matches: Most matching lines to show, up to 100.
        """
        if case_sensitive is None:
            case_sensitive = any(c.isupper() for c in _ESCAPED.sub("", pattern))
        most = max_matches if 0 < max_matches < MAX_MATCHES else MAX_MATCHES
        query = Query(_accepted(pattern), not case_sensitive, context_lines, most)
        selection = await anyio.to_thread.run_sync(self._select, path, file_glob)
        try:
            found = await search_files(
                query,
                selection.folder,
                selection.descriptor,
                selection.files,
                ripgrep=self.ripgrep if len(selection.files) >= RIPGREP_FILES else None,
            )
        finally:
            os.close(selection.descriptor)
        return fit(
            lambda size: show_found(found, selection.prefix, len(selection.files), most, size),
            MAX_BYTES,
            invocation.max_inline_output_bytes,
        )

    def _select(self, path: str, file_glob: str | None) -> _Selection:
        glob = Glob(file_glob) if file_glob else None
        root = self._browser.root
        with root.locate(path) as location:
            if location.is_file():
                folder = root.real / Path(location.path).parent
                prefix = location.path.removesuffix(location.name)
                return _Selection(os.dup(location.folder), folder, prefix, [location.name])
        with self._browser.start(path) as (start, prefix):
            files: list[str] = []
            for parent, names, is_folder in walk(start):
                if not is_folder:
                    chosen = glob.among(parent, names) if glob else names
                    files += [parent + name for name in chosen]
            return _Selection(os.dup(start.descriptor), root.real / prefix, prefix, files)


def _accepted(pattern: str) -> str:
    """The pattern, if every engine understands it and it cannot reach beyond a line."""
    if "\n" in pattern or r"\n" in pattern:
        raise ToolFailedError(
            "invalid_arguments", "a pattern is matched within one line; leave out the line end"
        )
    if _BEYOND.search(pattern.replace(r"\\", "")):
        raise ToolFailedError(
            "invalid_arguments",
            "look-around, back references and the like are not supported; write a plainer pattern",
        )
    return pattern
