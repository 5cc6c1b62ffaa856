"""What an attempt cost, at the prices of the model that answered."""

from decimal import Decimal

from agentslot.model.catalog.resolve import find
from agentslot.model.contract import ModelDescriptor
from agentslot.model.price import plain_amount
from agentslot.session import TokenUsage

_FACTORS = {"flex": Decimal("0.5"), "priority": Decimal(2)}
"""What the tiers of OpenAI cost of the ordinary price, where the price does not list them."""


def attempt_cost(
    asked: ModelDescriptor, served_model: str, usage: TokenUsage | None
) -> Decimal | None:
    """What that usage costs in US dollars; None if there is no usage or no price.

    A provider may answer with another model than it was asked for. It is priced by its own row if
    the catalog has one; a price that was written down by hand counts for whatever answers. The
    service tier that the provider reports counts, not the one that was asked for.
    """
    if usage is None:
        return None
    price = asked.price
    if asked.vendor and served_model not in ("", asked.model):
        served = find(asked.vendor, served_model)
        price = served.price if served is not None else price
    if price is None:
        return None
    cost, tier = price.cost(usage), usage.service_tier
    if asked.vendor in ("", "openai") and tier in _FACTORS and not price.lists(tier):
        return plain_amount(cost * _FACTORS[tier])
    return cost
