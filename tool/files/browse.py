"""The tools `file_list` and `file_find`."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Annotated, Literal

import anyio.to_thread
from pydantic import Field

from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.files.containment import FileRoot
from agentslot.tool.files.glob import Glob
from agentslot.tool.files.ignore import IgnoreLayer
from agentslot.tool.files.spelling import shown as shown_name
from agentslot.tool.files.userrules import user_rules
from agentslot.tool.files.walk import Start, start_at, walk
from agentslot.tool.fit import fit
from agentslot.tool.functiontool import FunctionTool

MAX_ENTRIES = 1000
MAX_BYTES = 50 * 1024

_Run = tuple[str, list[str]]
"""What leads from the root to a folder, and entries of it that follow each other."""

Limit = Annotated[int, Field(ge=1, le=MAX_ENTRIES)]


class Browser:
    """Lists and finds files below one root folder; ignored files are left out.

    Attributes:
        root: the folder; no path leads outside of it.
    """

    def __init__(self, root: FileRoot, rules: Callable[[], tuple[IgnoreLayer, ...]] = user_rules):
        """Set up the tools; `rules` gives the ignore rules of the user, and is asked once."""
        self.root = root
        self._ask_rules = rules

    def tools(self) -> tuple[FunctionTool[..., object], ...]:
        """Return `file_list` and `file_find`."""
        return (
            FunctionTool(self._list, name="file_list", parallel_safe=True, effect=Effect.READ),
            FunctionTool(self._find, name="file_find", parallel_safe=True, effect=Effect.READ),
        )

    @cached_property
    def _rules(self) -> tuple[IgnoreLayer, ...]:
        return self._ask_rules()

    @contextmanager
    def start(self, path: str) -> Generator[tuple[Start, str]]:
        """Open the folder `path` to walk it; also give what leads from the root to it.

        Raises:
            ToolFailedError: as `FileRoot.locate`; also if it is no folder.
        """
        with self.root.locate(path) as location:
            descriptor = location.open_folder()
            try:
                folder = self.root.real / location.path
                prefix = "" if location.path == "." else f"{location.path}/"
                yield start_at(descriptor, folder, self.root.real, self._rules), prefix
            finally:
                os.close(descriptor)

    async def _list(
        self,
        invocation: ToolInvocation,
        path: str = ".",
        depth: Annotated[int, Field(ge=1)] = 1,
        limit: Limit = 200,
    ) -> str:
        """List a folder: paths relative to the root folder, folders with a slash at the end.

        What git ignores is left out, and so are links.

        Args:
            path: The folder, relative to the root folder.
            invocation: The call.
            depth: 1 for the folder itself, 2 to look into its folders, and so on.
            limit: Most entries to show.
        """

        def runs() -> Iterator[_Run]:
            with self.start(path) as (start, prefix):
                for folder, names, is_folder in walk(start, hidden=True, max_depth=depth):
                    shown = [f"{name}/" for name in names] if is_folder else names
                    yield prefix + folder, shown

        return await self._shown(runs, limit, invocation)

    async def _find(
        self,
        pattern: str,
        invocation: ToolInvocation,
        path: str = ".",
        kind: Literal["file", "folder"] = "file",
        limit: Limit = 200,
    ) -> str:
        """Find files by a pattern of their name, such as `*.py`, `test_*.{ts,tsx}` or `src/**/a*`.

        A pattern with a slash is compared with the path below the folder, `**` crossing folders;
        one without is compared with the name. Case matters only if it has an upper-case letter.
        What git ignores is left out; hidden files are, unless the pattern has a dot after a slash
        or at its start.

        Args:
            pattern: The pattern.
            invocation: The call.
            path: The folder to look in, relative to the root folder.
            kind: What to find.
            limit: Most entries to show.
        """
        glob = Glob(pattern)
        hidden = "/." in f"/{pattern}"

        def runs() -> Iterator[_Run]:
            with self.start(path) as (start, prefix):
                for folder, names, is_folder in walk(start, hidden=hidden):
                    if is_folder is (kind == "folder"):
                        yield prefix + folder, glob.among(folder, names)

        return await self._shown(runs, limit, invocation)

    async def _shown(
        self, runs: Callable[[], Iterable[_Run]], limit: int, invocation: ToolInvocation
    ) -> str:
        def show() -> str:
            first: list[str] = []
            total = 0
            for folder, names in runs():
                first += [folder + name for name in names[: limit - len(first)]]
                total += len(names)
            most = invocation.max_inline_output_bytes
            return fit(lambda size: _page(first, total, size), MAX_BYTES, most)

        return await anyio.to_thread.run_sync(show)


def _page(first: list[str], total: int, max_bytes: int) -> str:
    """The first entries, one a line, and a line in brackets that says how many there are."""
    shown: list[str] = []
    room = max_bytes
    for entry in first:
        printable = shown_name(entry)
        room -= len(printable.encode()) + 1
        if room < 0:
            break
        shown.append(printable)
    count = len(shown)
    if count == total:
        return "\n".join([*shown, f"[{count} in all]"])
    more = "look into a folder of these, or use a narrower pattern"
    if count == len(first) < min(total, MAX_ENTRIES):
        more = f"continue with limit={min(total, MAX_ENTRIES)}, or {more}"
    return "\n".join([*shown, f"[{count} of {total} shown; {more}]"])
