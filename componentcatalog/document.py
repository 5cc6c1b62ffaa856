"""The map as a page for people."""

from collections.abc import Iterator
from itertools import groupby

from agentslot.componentcatalog.catalog import at_least_contracted, counts, standard
from agentslot.componentcatalog.component import Component

_INTRODUCTION = """\
# The standard slots

What a standard agent is made of, slot by slot. *One* takes at most one value, *many* any number
under keys, *chain* any number in order. A slot that is *mapped* has its name and its purpose
reserved, and no contract yet; *contracted* ones have a type to implement. What stands in brackets
is the contract that `agentslot conformance` judges an implementation by; of a *conformant* one
there are implementations that come along and have passed.

This page is written by `agentslot catalog slots --format markdown`.
"""


def components_page() -> str:
    """The page docs/components.md."""
    known = ", ".join(f"{count} {maturity}" for maturity, count in counts().items() if count)
    total = f"{len(standard())} slots, {len(at_least_contracted())} with a contract: {known}."
    tables = (
        "\n".join(_table(domain, list(rows)))
        for domain, rows in groupby(standard(), key=lambda row: row.domain)
    )
    return "\n".join([_INTRODUCTION, total, "", *tables])


def _table(domain: str, rows: list[Component]) -> Iterator[str]:
    yield f"## {domain.capitalize()}\n"
    yield "| slot | kind | contract | standard agent | maturity | what it is for |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in rows:
        contract = f"`{row.contract.package}.{row.contract.symbol}`" if row.contract else ""
        cells = (f"`{row.id}`", row.kind, contract, row.rule, _maturity(row), row.purpose)
        yield f"| {' | '.join(cells)} |"
    yield ""


def _maturity(row: Component) -> str:
    return f"{row.maturity} (`{row.evidence.suite}`)" if row.evidence.suite else str(row.maturity)
