"""The map, checked when it is first read, and the questions it answers."""

from collections import Counter
from collections.abc import Mapping

from agentslot.componentcatalog.component import Component, Maturity
from agentslot.componentcatalog.rows import ROWS
from agentslot.componentcatalog.validation import validate

CATALOG_VERSION = "agentslot.component-catalog/v1"

validate(ROWS)
_BY_ID = {row.id: row for row in ROWS}


def standard() -> tuple[Component, ...]:
    """All standard slots, by domain."""
    return ROWS


def lookup(component_id: str) -> Component | None:
    """The slot with that id, if it is a standard one."""
    return _BY_ID.get(component_id)


def counts() -> Mapping[Maturity, int]:
    """How many slots have come how far; every maturity is there."""
    found = Counter(row.maturity for row in ROWS)
    return {maturity: found[maturity] for maturity in Maturity}


def at_least_contracted() -> tuple[Component, ...]:
    """The slots that have a public contract."""
    return tuple(row for row in ROWS if row.contract is not None)
