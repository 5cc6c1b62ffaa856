"""How long the modules and functions are; `python -m tests.repository.sizes` prints it."""

import ast
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.repository.house import ROOT, modules

MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lines of each thing, by its place in the project."""

    what: str
    limit: int
    lines: dict[str, int]

    @property
    def too_long(self) -> dict[str, int]:
        return {place: count for place, count in self.lines.items() if count > self.limit}

    def __str__(self) -> str:
        longest = max(self.lines, key=self.lines.__getitem__)
        return (
            f"{len(self.lines)} {self.what}, median {median(self.lines.values()):g} lines, "
            f"longest {self.lines[longest]} ({longest}), limit {self.limit}"
        )


def measure() -> tuple[Sizes, Sizes]:
    """Counts the lines of every module and of every function."""
    lengths: dict[str, int] = {}
    functions: dict[str, int] = {}
    for path in modules():
        source = path.read_text(encoding="utf-8")
        place = path.relative_to(ROOT).as_posix()
        lengths[place] = source.count("\n")
        functions.update(function_lines(source, Path(place)))
    return (
        Sizes("modules", MAX_MODULE_LINES, {k: v for k, v in lengths.items() if v}),
        Sizes("functions", MAX_FUNCTION_LINES, functions),
    )


def function_lines(source: str, place: Path) -> dict[str, int]:
    """The lines of each function, from `def` to its last line."""
    return {
        f"{place}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


if __name__ == "__main__":
    print(*measure(), sep="\n")
