"""Where things lie in this repository."""

import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("session", "model", "tool", "interaction", "standardagent", "componentcatalog")
SOURCES = ("agentslot", *PACKAGES, "tests", "benchmarks", "examples")


def files(*folders: str) -> Iterator[Path]:
    """Every file below these folders; the links inside `agentslot` are not followed."""
    for folder in folders:
        for parent, children, names in os.walk(ROOT / folder):
            children[:] = sorted(set(children) - {"__pycache__"})
            yield from (Path(parent, name) for name in sorted(names))


def modules() -> Iterator[Path]:
    """Every Python file of the project."""
    yield from (path for path in files(*SOURCES) if path.suffix == ".py")
