"""The command behind `scripts/bench NAME [--json] [--plot FILE.svg]`."""

import argparse
import contextlib
import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import benchmarks
from benchmarks import Benchmark, Row
from benchmarks._plot import plot


def names() -> list[str]:
    """The benchmarks there are: the public modules of this package."""
    return sorted(
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if not module.name.startswith("_")
    )


def measure(name: str) -> Iterator[Row]:
    """Runs a benchmark; what it prints itself goes to stderr, where progress belongs."""
    with contextlib.redirect_stdout(sys.stderr):
        benchmark = cast("Benchmark", importlib.import_module(f"benchmarks.{name}"))
        rows = iter(benchmark.rows())
    while True:
        with contextlib.redirect_stdout(sys.stderr):
            row = next(rows, None)
        if row is None:
            return
        yield row


def table(rows: Sequence[Row]) -> str:
    """The rows for a person: aligned, with the ratio in words."""
    cells = [
        (
            row["name"],
            str(row["turns"]) if "turns" in row else "",
            f"{row['value']:,.4g}" if abs(row["value"]) < 1000 else f"{row['value']:,.0f}",
            row["unit"],
            f"{row['ratio']:.2f} x {row['against']}" if "ratio" in row and "against" in row else "",
        )
        for row in rows
    ]
    cells.insert(0, ("name", "turns", "value", "unit", "against"))
    # A column that no row fills is left out.
    columns = [column for column in zip(*cells, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in columns]
    numeric = [column[0] in {"turns", "value"} for column in columns]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in zip(*columns, strict=True)
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure one benchmark.")
    parser.add_argument("name", metavar="NAME", help=f"one of: {', '.join(names()) or 'none yet'}")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE.svg", help="draw cost against turns into this file"
    )
    options = parser.parse_args(arguments)
    if options.name not in names():
        parser.error(f"no benchmark {options.name!r}; there are: {', '.join(names()) or 'none'}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    rows: list[Row] = []
    for row in measure(options.name):
        rows.append(row)
        print(f"{options.name}: {row['name']} measured", file=sys.stderr, flush=True)
        if options.json:
            print(json.dumps(row), flush=True)
    if not options.json:
        print(table(rows))
    if options.plot is not None:
        drawn = plot(rows, title=options.name)
        if drawn is None:
            print(f"nothing to plot: no row of {options.name} has turns", file=sys.stderr)
            return 1
        options.plot.write_text(drawn, encoding="utf-8")
        print(f"wrote {options.plot}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
