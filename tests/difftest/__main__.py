"""The command behind `scripts/difftest [VENDOR …]`."""

import argparse
import sys
from collections.abc import Sequence

from tests.difftest.run import run
from tests.difftest.scenarios import VENDORS


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/difftest",
        description="Compare our wires with the vendors' own clients.",
        epilog="exit status: 0 all as known, 1 an unknown difference, 3 the ledger is stale",
    )
    parser.add_argument("vendors", nargs="*", metavar="VENDOR", help=f"of {', '.join(VENDORS)}")
    chosen: list[str] = parser.parse_args(arguments).vendors or list(VENDORS)
    if unknown := set(chosen) - set(VENDORS):
        parser.error(f"no vendor {sorted(unknown)[0]!r}; there are {', '.join(VENDORS)}")
    try:
        report = run(chosen, whole=set(chosen) == set(VENDORS))
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    for line in report.lines():
        print(line)
    return report.status


if __name__ == "__main__":
    sys.exit(main())
