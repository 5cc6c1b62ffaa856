"""What has to hold for the map as a whole."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from agentslot.componentcatalog.component import Component, Kind, Maturity

_ID = re.compile(r"[a-z][a-z0-9._-]*")


class CatalogInvalid(ValueError):  # noqa: N818 - the catalog is, not the error
    """The map contradicts itself.

    Attributes:
        problems: each contradiction, with the slot that it is about.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def validate(components: Iterable[Component]) -> None:
    """Check every row, and that no id stands twice.

    Raises:
        CatalogInvalid: all that is wrong.
    """
    rows = list(components)
    problems = [f"{row.id!r}: {problem}" for row in rows for problem in _problems(row)]
    repeated = [name for name, count in Counter(row.id for row in rows).items() if count > 1]
    problems += [f"{name!r}: stands more than once" for name in repeated]
    if problems:
        raise CatalogInvalid(problems)


def _problems(row: Component) -> Iterator[str]:
    if not _ID.fullmatch(row.id):
        yield "is no id of a slot"
    if not (row.domain and row.rule and row.purpose):
        yield "has no domain, rule or purpose"
    if (row.contract is None) is not (row.maturity is Maturity.MAPPED):
        yield f"is {row.maturity}, so it has {'a' if row.contract is None else 'no'} contract"
    for profile in row.profiles:
        if profile.minimum < 1 or (row.kind is Kind.ONE and profile.minimum != 1):
            yield f"profile {profile.name!r} cannot require {profile.minimum} of it"
    yield from _missing_evidence(row)


def _missing_evidence(row: Component) -> Iterator[str]:
    level, evidence = row.maturity.level, row.evidence
    if level >= Maturity.CONFORMANT.level and not (evidence.suite and evidence.conformance):
        yield f"is {row.maturity} without a suite and what passed it"
    if level >= Maturity.PROVEN.level and len(set(evidence.independent)) < 2:
        yield f"is {row.maturity} without two independent implementations"
    if level >= Maturity.ASSEMBLED.level and not evidence.assembly:
        yield f"is {row.maturity} without a place where it was exchanged"
