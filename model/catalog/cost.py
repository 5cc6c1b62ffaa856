"""What an attempt cost, at the prices of the model that answered."""

from decimal import Decimal

from agentslot.model.catalog.resolve import find
from agentslot.model.contract import ModelDescriptor
from agentslot.session import TokenUsage


def attempt_cost(
    asked: ModelDescriptor, served_model: str, usage: TokenUsage | None
) -> Decimal | None:
    """What that usage costs in US dollars; None if there is no usage or no price.

    A provider may answer with another model than it was asked for. It is priced by its own row if
    the catalog has one; a price that was written down by hand counts for whatever answers.
    """
    if usage is None:
        return None
    price = asked.price
    if asked.vendor and served_model not in ("", asked.model):
        served = find(asked.vendor, served_model)
        price = served.price if served is not None else price
    return None if price is None else price.cost(usage)
