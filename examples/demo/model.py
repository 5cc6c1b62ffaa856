"""Which model the demonstration asks: the one that the environment names, or the loopback model."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal

from agentslot.model import Price
from examples.loopback_model import MODEL, loopback_model

EXAMPLE_PRICE = Price(input=Decimal("0.25"), output=Decimal(2))
"""What a small model costs at a vendor; the loopback model asks for nothing."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model and where it is asked.

    Attributes:
        remark: what a person should know about it.
        price: what it costs, or None if that is not known.
    """

    name: str
    base_url: str
    api_key: str = field(repr=False)
    remark: str = ""
    price: Price | None = None

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that the reference agent reads."""
        return {
            "AGENTSLOT_BASE_URL": self.base_url,
            "AGENTSLOT_MODEL": self.name,
            "AGENTSLOT_API_KEY": self.api_key,
        }


@contextmanager
def chosen_model(
    *arguments: str, module: str = "examples.loopback_model", delay_seconds: float
) -> Generator[Model]:
    """The model that all three variables of the environment name, else a loopback model.

    Args:
        arguments: what that module wants to be told.
        module: serves the loopback model.
        delay_seconds: pause of the loopback model before each piece of an answer.
    """
    name, base_url, api_key = (
        os.environ.get(variable, "")
        for variable in ("AGENTSLOT_MODEL", "AGENTSLOT_BASE_URL", "AGENTSLOT_API_KEY")
    )
    if name and base_url and api_key:
        yield Model(name, base_url, api_key)
        return
    with loopback_model(*arguments, module=module, delay_seconds=delay_seconds) as base_url:
        remark = "a server on this machine: no key, no network"
        yield Model(MODEL, base_url, "none", remark, EXAMPLE_PRICE)
