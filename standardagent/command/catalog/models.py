"""`agentslot catalog models`: the models that this release knows, with window, price and date."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from pydantic_core import to_jsonable_python

from agentslot._json import dumps
from agentslot.model import Price
from agentslot.model.catalog import CatalogModel, EmbeddedCatalog, embedded_catalog
from agentslot.standardagent.command.failure import UsageError
from agentslot.standardagent.command.subcommand import Subparsers

_DESCRIPTION = """List the models whose windows, limits and prices are built in. Others work too:
a model that is not listed is taken for one like it, and a warning says so."""

_HEADINGS = ("model", "window", "output", "$ in", "$ cached", "$ out", "efforts")
_Row = tuple[str, ...]


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `models`."""
    parser = subparsers.add_parser(
        "models",
        help="the models that are known, with windows and prices",
        description=_DESCRIPTION,
    )
    parser.add_argument("--vendor", metavar="V", help="only this vendor, such as anthropic")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def run(options: Namespace) -> int:
    """Print the rows, and of which day they are."""
    catalog = embedded_catalog()
    rows = list(_chosen(catalog, options.vendor))
    if options.json:
        for vendor, model, row in rows:
            print(dumps(_plain(catalog, vendor, model, row)))
        return 0
    _print_table([_HEADINGS, *(_cells(f"{vendor}/{model}", row) for vendor, model, row in rows)])
    print(
        f"{len(rows)} models as of {catalog.date:%Y-%m-%d}; US dollars per million tokens,"
        " * more for long requests"
    )
    return 0


def _chosen(
    catalog: EmbeddedCatalog, wanted: str | None
) -> Iterator[tuple[str, str, CatalogModel]]:
    if wanted is not None and wanted not in catalog.vendors:
        known = ", ".join(catalog.vendors)
        raise UsageError(f"there is no vendor {wanted!r} in the catalog; there is {known}")
    for vendor, known_models in catalog.vendors.items():
        if wanted in (None, vendor):
            for model, row in known_models.models.items():
                yield vendor, model, row


def _cells(name: str, row: CatalogModel) -> _Row:
    output = f"{row.output:,}" if row.output else "?"
    return (name, f"{row.window:,}", output, *_dollars(row.price), " ".join(row.reasoning))


def _dollars(price: Price | None) -> _Row:
    if price is None:
        return ("?", "?", "?")
    more = "*" if any(tier.above for tier in price.tiers) else ""
    rates = (price.input, price.cached_input, price.output)
    return tuple("?" if rate is None else f"{rate:f}{more}" for rate in rates)


def _print_table(rows: list[_Row]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *figures, efforts in rows:
        columns = [name.ljust(widths[0])]
        columns += [cell.rjust(width) for cell, width in zip(figures, widths[1:-1], strict=True)]
        print("  ".join([*columns, efforts]).rstrip())


def _plain(
    catalog: EmbeddedCatalog, vendor: str, model: str, row: CatalogModel
) -> dict[str, object]:
    plain: dict[str, object] = to_jsonable_python(row)
    return {"vendor": vendor, "model": model, **plain, "date": catalog.date.isoformat()}
