"""The command behind `scripts/mutate AREA [WORD]`."""

import argparse
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import tests.mutations
from tests.mutations import Mutation

ROOT = Path(__file__).parents[2]

_FAILED = 1  # pytest: tests ran and some failed


def areas() -> list[str]:
    """The areas there are mutations for."""
    modules = pkgutil.iter_modules(tests.mutations.__path__)
    return sorted(module.name for module in modules if not module.name.startswith("_"))


def mutations_of(area: str) -> Sequence[Mutation]:
    """The mutations of an area."""
    found: Sequence[Mutation] = importlib.import_module(f"tests.mutations.{area}").MUTATIONS
    return found


def mutated(source: str, mutation: Mutation) -> str:
    """The content of a file with the mutation in it.

    Raises:
        ValueError: what it replaces does not occur exactly once.
    """
    times = source.count(mutation.old)
    if times != 1:
        raise ValueError(f"{mutation.name}: {mutation.old!r} occurs {times} times")
    return source.replace(mutation.old, mutation.new)


def copy_project(folder: Path) -> None:
    """Copy what git knows, links as links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True,
    ).stdout  # fmt: skip
    for name in map(os.fsdecode, listed.split(b"\0")[:-1]):
        if os.path.lexists(ROOT / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def turns_red(folder: Path, mutation: Mutation) -> bool:
    """Whether the test of a mutation fails with it; the copy is as before afterwards."""
    path = folder / mutation.file
    source = path.read_text(encoding="utf-8")
    path.write_text(mutated(source, mutation), encoding="utf-8")
    try:
        return run_test(folder, mutation.test) == _FAILED
    finally:
        path.write_text(source, encoding="utf-8")


def run_test(folder: Path, test: str) -> int:
    """The exit code of pytest for one test in the copy."""
    shared = os.environ.get("AGENTSLOT_SHARED") or str(ROOT.parent / "shared")
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "--timeout=60", test]
    finished = subprocess.run(
        [*command, "--inline-snapshot=disable", "-p", "no:cacheprovider"],
        cwd=folder, check=False, capture_output=True,
        env={**os.environ, "AGENTSLOT_SHARED": shared, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    return finished.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/mutate",
        description="Put wrong implementations into a copy of the project, one after the other; "
        "each must turn the test red that it names.",
    )
    parser.add_argument("area", choices=areas())
    parser.add_argument("word", nargs="?", default="", help="only those with this in their name")
    options = parser.parse_args(arguments)
    survived: list[str] = []
    chosen = [mutation for mutation in mutations_of(options.area) if options.word in mutation.name]
    with tempfile.TemporaryDirectory(prefix="agentslot-mutate-") as folder:
        copy_project(Path(folder))
        for mutation in chosen:
            started = time.monotonic()
            try:
                red = turns_red(Path(folder), mutation)
            except ValueError as error:
                print(f"GONE      {error}", flush=True)
                survived.append(mutation.name)
                continue
            seconds = time.monotonic() - started
            print(
                f"{'red ' if red else 'SURVIVED'}  {mutation.name}  ({seconds:.1f} s)", flush=True
            )
            if not red:
                survived.append(mutation.name)
                print(f"          {mutation.test} should fail", flush=True)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} turned their test red")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
