"""The embedded catalog: windows, limits, modalities, efforts and prices of known models."""

from agentslot.model.catalog.cost import attempt_cost
from agentslot.model.catalog.data import (
    CatalogDamaged,
    CatalogModel,
    CatalogVendor,
    EmbeddedCatalog,
    embedded_catalog,
)
from agentslot.model.catalog.resolve import (
    ResolvedModel,
    UnknownModelError,
    find,
    resolve,
    resolve_at,
)

__all__ = [
    "CatalogDamaged",
    "CatalogModel",
    "CatalogVendor",
    "EmbeddedCatalog",
    "ResolvedModel",
    "UnknownModelError",
    "attempt_cost",
    "embedded_catalog",
    "find",
    "resolve",
    "resolve_at",
]
