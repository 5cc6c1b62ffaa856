"""Finding a model by what people write: an id, or a vendor and an id."""

import difflib
import re
from dataclasses import dataclass

from agentslot.model.catalog.data import CatalogModel, EmbeddedCatalog, embedded_catalog
from agentslot.model.contract import ModelDescriptor
from agentslot.model.price import Price
from agentslot.session import ClassifiedError, ErrorKind

_SNAPSHOT = re.compile(r"(.+?)(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2})|-latest)")


class UnknownModelError(ClassifiedError):
    """No model is meant, or several could be.

    Attributes:
        candidates: `vendor/model` of those that are meant or near, at most five.
    """

    def __init__(self, message: str, candidates: tuple[str, ...]) -> None:
        super().__init__(ErrorKind.INVALID_INPUT, "model_not_supported", message)
        self.candidates = candidates


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model with its row in the catalog, or with that of a sibling.

    Attributes:
        vendor: key of the vendor, such as `anthropic`.
        model: the vendor's id of the model.
        row: what is known of it.
        cloned_from: the id whose row this is, if the model has none of its own; else empty.
    """

    vendor: str
    model: str
    row: CatalogModel
    cloned_from: str = ""

    @property
    def price(self) -> Price | None:
        """Its price. That of a sibling counts only for a dated form of it."""
        same = self.cloned_from in ("", _base_of(self.model))
        return self.row.price if same else None

    @property
    def warning(self) -> str:
        """What is assumed, for people; empty if nothing is."""
        if not self.cloned_from:
            return ""
        priced = "" if self.price else ", of unknown price"
        rows = embedded_catalog().vendors[self.vendor].models
        near = difflib.get_close_matches(self.model, rows, n=1, cutoff=0.8)
        meant = f" (or do you mean {near[0]!r}?)" if near and near[0] != self.cloned_from else ""
        return (
            f"the catalog has no model {self.vendor}/{self.model}: it is taken for one like"
            f" {self.cloned_from!r}{priced}{meant}; a ModelDescriptor says it exactly"
        )

    def descriptor(self, provider: str = "") -> ModelDescriptor:
        """The model as it can be chosen from a provider, by default under the vendor's key."""
        return ModelDescriptor(
            provider or self.vendor,
            self.model,
            self.row.capabilities,
            price=self.price,
            vendor=self.vendor,
        )


def resolve(spec: str) -> ResolvedModel:
    """Find a model by `vendor/model`, or by its id alone if only one vendor has it.

    A model that a known vendor does not list is not refused: it gets the row of the model that it
    is a dated form of, else that of the vendor's default, and `warning` says so.

    Args:
        spec: such as `anthropic/claude-opus-5-5`. What stands before the first slash is a vendor
            only if there is one of that name.

    Raises:
        UnknownModelError: nothing is meant, or several are.
    """
    catalog = embedded_catalog()
    vendor, _, model = spec.partition("/")
    if vendor in catalog.vendors and model:
        return resolve_at(vendor, model)
    owners = [name for name, rows in catalog.vendors.items() if spec in rows.models]
    if len(owners) == 1:
        return ResolvedModel(owners[0], spec, catalog.vendors[owners[0]].models[spec])
    if owners:
        candidates = tuple(f"{owner}/{spec}" for owner in owners)
        raise UnknownModelError(
            f"several vendors have a model {spec!r}: write {' or '.join(candidates)}", candidates
        )
    near = _near(catalog, spec)
    raise UnknownModelError(
        f"no vendor has a model {spec!r}; the nearest are {', '.join(near)}", near
    )


def resolve_at(vendor: str, model: str) -> ResolvedModel:
    """That vendor's model, or its sibling's row under its id; the vendor must be a known one."""
    if found := find(vendor, model):
        return found
    rows = embedded_catalog().vendors[vendor]
    return ResolvedModel(vendor, model, rows.models[rows.default], rows.default)


def find(vendor: str, model: str) -> ResolvedModel | None:
    """That model if the vendor lists it, or lists what it is a dated form of."""
    known = embedded_catalog().vendors.get(vendor)
    if known is None:
        return None
    if row := known.models.get(model):
        return ResolvedModel(vendor, model, row)
    base = _base_of(model)
    row = known.models.get(base)
    return ResolvedModel(vendor, model, row, base) if row else None


def _base_of(model: str) -> str:
    snapshot = _SNAPSHOT.fullmatch(model)
    return snapshot[1] if snapshot else ""


def _near(catalog: EmbeddedCatalog, spec: str) -> tuple[str, ...]:
    known = {f"{name}/{model}" for name, rows in catalog.vendors.items() for model in rows.models}
    bare = {full.partition("/")[2]: full for full in sorted(known)}
    near = [bare[name] for name in difflib.get_close_matches(spec, bare, n=3, cutoff=0.5)]
    near += difflib.get_close_matches(spec, known, n=3, cutoff=0.5)
    return (
        tuple(dict.fromkeys(near))[:5]
        or tuple(f"{name}/{rows.default}" for name, rows in catalog.vendors.items())[:5]
    )
