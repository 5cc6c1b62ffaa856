"""The map of the standard slots: what each is for, and how far its contract has come.

Pure data. Nothing that builds or runs an application reads it; `agentslot catalog slots` shows it,
and the page docs/components.md is made from it.
"""

if __name__ == "componentcatalog":
    raise ImportError("import agentslot.componentcatalog instead of the bare folder")

from agentslot.componentcatalog.catalog import (
    CATALOG_VERSION,
    at_least_contracted,
    counts,
    lookup,
    standard,
)
from agentslot.componentcatalog.component import (
    Component,
    Contract,
    Evidence,
    Kind,
    Maturity,
    Profile,
)
from agentslot.componentcatalog.document import components_page
from agentslot.componentcatalog.validation import CatalogInvalid, validate

__all__ = [
    "CATALOG_VERSION",
    "CatalogInvalid",
    "Component",
    "Contract",
    "Evidence",
    "Kind",
    "Maturity",
    "Profile",
    "at_least_contracted",
    "components_page",
    "counts",
    "lookup",
    "standard",
    "validate",
]
