"""The models that this release knows, as the vendors describe and price them on its date."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pkgutil import get_data
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from agentslot import AgentSlotError
from agentslot.model.contract import ExecutionCapabilities
from agentslot.model.price import Price
from agentslot.session import Modality, OutputStrategy, Reasoning

_FILE = "models.json"


class CatalogDamaged(AgentSlotError):  # noqa: N818 - named after what is the matter
    """The catalog that came with this installation cannot be read."""


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """One model of a vendor.

    Attributes:
        window: tokens of input and output together.
        output: most tokens of one answer; 0 if unknown.
        reasoning: efforts that may be asked for, beside the default.
        tools: whether it can call tools.
        structured: whether its server holds it to a schema.
        price: None if it is not known.
    """

    window: int
    output: int = 0
    inputs: tuple[Modality, ...] = (Modality.TEXT,)
    outputs: tuple[Modality, ...] = (Modality.TEXT,)
    reasoning: tuple[Reasoning, ...] = ()
    tools: bool = False
    structured: bool = False
    price: Price | None = None

    @property
    def capabilities(self) -> ExecutionCapabilities:
        """What can be asked of it."""
        return ExecutionCapabilities(
            context_window_tokens=self.window,
            max_output_tokens=self.output,
            input_modalities=frozenset(self.inputs),
            output_modalities=frozenset(self.outputs),
            tool_calling=self.tools,
            reasoning=(Reasoning.DEFAULT, *self.reasoning),
            structured_output=tuple(self._strategies()),
        )

    def _strategies(self) -> Iterator[OutputStrategy]:
        if self.structured:
            yield OutputStrategy.NATIVE
        if self.tools:
            yield OutputStrategy.TOOL
        yield OutputStrategy.PROMPTED


@dataclass(frozen=True, slots=True)
class CatalogVendor:
    """The models of one vendor.

    Attributes:
        hosts: where its servers are; servers below these names are its own too.
        default: the model that stands for those that are not listed yet.
    """

    hosts: tuple[str, ...]
    default: str
    models: Mapping[str, CatalogModel]


@dataclass(frozen=True, slots=True)
class EmbeddedCatalog:
    """All vendors by their keys, such as `anthropic`.

    Attributes:
        date: the day on which the sources were read.
        sources: packages with their versions.
        notice: the licences of the sources.
    """

    format: str
    date: date
    sources: tuple[str, ...]
    notice: str
    vendors: Mapping[str, CatalogVendor]

    def vendor_at(self, base_url: str) -> str | None:
        """The vendor that owns the host of that URL."""
        host = urlsplit(base_url).hostname or ""
        for name, vendor in self.vendors.items():
            if any(host == own or host.endswith((f".{own}", f"-{own}")) for own in vendor.hosts):
                return name
        return None


@cache
def embedded_catalog() -> EmbeddedCatalog:
    """The catalog of this release; read at first use, as a module is that is imported late.

    Raises:
        CatalogDamaged: the installation is broken.
    """
    try:
        return TypeAdapter(EmbeddedCatalog).validate_json(get_data(__name__, _FILE) or b"")
    except (OSError, ValidationError) as error:
        raise CatalogDamaged(
            f"the model catalog {_FILE!r} cannot be read: install agentslot again"
        ) from error
