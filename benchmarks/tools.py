"""The tools beside ripgrep, git and a plain copy, on generated trees and files."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from agentslot.session import (
    AgentId,
    MessageId,
    RunId,
    SessionId,
    StepId,
    ToolCall,
    ToolCallId,
    WorkspaceId,
)
from agentslot.tool import Tool, ToolInvocation, function_tool
from agentslot.tool.files import Browser, FileRoot, FileTools
from agentslot.tool.search import Searcher, find_ripgrep, worker
from agentslot.tool.shell import Shell
from benchmarks import Row

FILES = 20_000
FOLDERS = 400
EDITED_BYTES = 10 * 1024 * 1024
FLOOD_BYTES = 1024 * 1024 * 1024
REPEATS = 15
CALLS = 2000

PATTERN = r"def handle_\w+_77\b"

STATUS = Path("/proc/self/status")  # of Linux
_MEASURED_WORKER = f"""
import os, runpy, sys
del sys.argv[0]
sys.argv[1] = os.open(".", os.O_RDONLY)
runpy.run_path(sys.argv[0], run_name="__main__")
with open("{STATUS}") as status:
    (peak,) = (line.split()[1] for line in status if line.startswith("VmHWM"))
print(peak, file=sys.stderr)
"""


def rows() -> Iterator[Row]:
    """Measure; each is the best of several, taking turns with its peer."""
    with tempfile.TemporaryDirectory(prefix="agentslot-bench-") as folder:
        tree = Path(folder) / "tree"
        make_tree(tree)
        yield from tree_rows(tree)
        yield from file_rows(Path(folder))
        yield from flood_rows(Path(folder))
    yield from dispatch_rows()


def make_tree(tree: Path) -> None:
    """A repository: Python files of a few kilobytes in nested folders, and ignored ones."""
    draw = random.Random(20)
    words = [f"word{n}" for n in range(2000)]
    for number in range(FOLDERS):
        folder = tree / f"area{number % 20}" / f"part{number}"
        folder.mkdir(parents=True)
        for index in range(FILES // FOLDERS):
            lines = [
                f"    {draw.choice(words)} = {draw.choice(words)}({draw.randrange(1000)})"
                for _ in range(draw.randrange(20, 120))
            ]
            name = draw.choice(words)
            text = "\n".join([f"def handle_{name}_{number}():", *lines, ""])
            (folder / f"module{index}.{'py' if index % 5 else 'txt'}").write_text(text, "utf-8")
    (tree / ".gitignore").write_text("build/\n*.pyc\n", "utf-8")
    for name in ("build/out.py", "area0/x.pyc"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text("def handle_ignored_77(): pass\n", "utf-8")
    git = ["git", "-C", str(tree), "-c", "core.autocrlf=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)


def tree_rows(tree: Path) -> Iterator[Row]:
    root = FileRoot(tree)
    browser = Browser(root, rules=tuple)
    search = Searcher(browser).tools()[0]
    listing, finding = browser.tools()
    git = ["git", "-C", str(tree), "ls-files", "--cached", "--others", "--exclude-standard"]
    found = call(search, pattern=PATTERN)
    ripgrep = find_ripgrep()
    if ripgrep is None:
        yield row("search", best(found)[0])
    else:
        peer = command([ripgrep, "--no-config", "--line-number", PATTERN, str(tree)])
        yield from pair("search", found, "ripgrep", peer)
        helped = call(Searcher(browser, ripgrep=ripgrep).tools()[0], pattern=PATTERN)
        yield from pair("search.with-ripgrep", helped, "ripgrep.again", peer)
    if STATUS.exists():
        yield {"name": "search.memory", "value": worker_memory(tree), "unit": "MiB"}
    listed = call(listing, depth=9, limit=1000)
    yield from pair("list", listed, "git-ls-files", command(git))
    matched = call(finding, pattern="*.txt", limit=1000)
    yield from pair("find", matched, "git-ls-files.txt", command([*git, "*.txt"]))


def worker_memory(tree: Path) -> float:
    """Most memory in MiB, Python itself included, of a search engine that reads the whole tree."""
    task: dict[str, object] = {
        "pattern": PATTERN,
        "literals": [],
        "ignore_case": True,
        "context": 0,
        "most": 100,
    }
    paths = [path.relative_to(tree) for path in sorted(tree.glob("area*/*/*"))]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _MEASURED_WORKER, worker.__file__, "0"],
        cwd=tree,
        input=json.dumps(task).encode() + b"\n" + b"".join(b"%b\0" % bytes(path) for path in paths),
        capture_output=True,
        check=True,
    )
    return int(done.stderr) / 1024


def file_rows(folder: Path) -> Iterator[Row]:
    path = folder / "large.txt"
    line = "the same line again and again, for a good while\r\n"
    middle = "here is the one that is replaced\r\n"
    half = line * (EDITED_BYTES // len(line) // 2)
    tools = FileTools(FileRoot(folder)).tools()
    turn = iter(range(1_000_000))

    async def edit() -> None:
        now = next(turn)
        old = f"one {now} that" if now else "the one that"
        change = {"old_string": old, "new_string": f"one {now + 1} that"}
        await call(tools[2], path="large.txt", edits=[change])()

    for name, ends in (("edit", "\n"), ("edit.crlf", "\r\n")):
        turn = iter(range(1_000_000))
        path.write_bytes((half + middle + half).replace("\r\n", ends).encode())
        yield from pair(name, edit, f"copy{name.removeprefix('edit')}", copy(path))
    huge = folder / "huge.txt"
    with huge.open("wb") as file:
        for _ in range(64):
            file.write(b"0123456789abcdef0123456789abcde\n" * (512 * 1024))
    tail = call(tools[0], path="huge.txt", offset=-10, limit=10)
    yield row("read.end-of-1GiB", best(tail)[0])
    huge.unlink()


def flood_rows(folder: Path) -> Iterator[Row]:
    shell = Shell(folder)
    flood = call(shell.tool(), command=f"head -c {FLOOD_BYTES} /dev/zero")
    yield row("shell.1GiB", anyio.run(timed, flood))
    tracemalloc.start()
    anyio.run(flood)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    anyio.run(shell.aclose)
    yield {"name": "shell.1GiB.memory", "value": peak / 1024, "unit": "KiB"}


def dispatch_rows() -> Iterator[Row]:
    @function_tool
    async def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    async def dispatched() -> None:
        invoked = call(add, a=1, b=2)
        for _ in range(CALLS):
            await invoked()

    async def called() -> None:
        for _ in range(CALLS):
            await add(1, 2)

    ours, floor = (seconds / CALLS * 1e6 for seconds in best(dispatched, called))
    yield {"name": "function", "value": floor, "unit": "us"}
    yield {"name": "dispatch", "value": ours, "unit": "us"}


Errand = Callable[[], Awaitable[None]]


def call(tool: Tool, **arguments: object) -> Errand:
    """One call of a tool, which must succeed."""
    name = tool.definition.name
    ids = MessageId("m"), RunId("r"), StepId("s")
    made = ToolCall(ToolCallId("c"), "p", *ids, name, json.dumps(arguments))
    invocation = ToolInvocation(made, SessionId("s"), AgentId("a"), WorkspaceId("w"))

    async def errand() -> None:
        result = await tool.invoke(invocation)
        assert result.error is None, result.error

    return errand


def command(arguments: list[str]) -> Errand:
    """A program, its output read."""

    async def errand() -> None:
        await anyio.run_process(arguments)

    return errand


def copy(path: Path) -> Errand:
    """Read a file and write it durably in its own place, as an edit has to."""

    def copied() -> None:
        content = path.read_bytes()
        other = path.with_suffix(".tmp")
        with other.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.move(other, path)

    return partial(anyio.to_thread.run_sync, copied)


async def timed(errand: Errand) -> float:
    started = time.perf_counter()
    await errand()
    return time.perf_counter() - started


def best(*errands: Errand) -> list[float]:
    """The shortest time of each in seconds; they take turns."""

    async def measure() -> list[list[float]]:
        return [[await timed(errand) for errand in errands] for _ in range(REPEATS)]

    return [min(times) for times in zip(*anyio.run(measure), strict=True)]


def pair(name: str, ours: Errand, peer_name: str, peer: Errand) -> Iterator[Row]:
    seconds, floor = best(ours, peer)
    yield row(peer_name, floor)
    yield {**row(name, seconds), "ratio": seconds / floor, "against": peer_name}


def row(name: str, seconds: float) -> Row:
    return {"name": name, "value": seconds * 1e3, "unit": "ms"}
