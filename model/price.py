"""What an attempt costs: rates of a model, exact to the last digit."""

from dataclasses import dataclass
from decimal import Decimal

from agentslot.session import TokenUsage

_HOUR_FACTOR = 2


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens; None where the source says nothing.

    Attributes:
        input: tokens read anew. It also stands in for the rates of the cache that are None.
        output: tokens written, thinking included.
        cached_input: tokens read from the provider's cache.
        cache_write: tokens written to it.
        cache_write_1h: tokens written to be kept for an hour; twice `input` if None.
    """

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_1h: Decimal | None = None

    def charge(self, usage: TokenUsage) -> Decimal:
        """What that usage costs at these rates, in US dollars."""
        cached = self.input if self.cached_input is None else self.cached_input
        write = self.input if self.cache_write is None else self.cache_write
        hour = self.input * _HOUR_FACTOR if self.cache_write_1h is None else self.cache_write_1h
        fresh = usage.input - usage.cached_input - usage.cache_write
        spent = fresh * self.input + usage.cached_input * cached
        spent += (usage.cache_write - usage.cache_write_1h) * write + usage.cache_write_1h * hour
        return (spent + usage.output * self.output) / 1_000_000


@dataclass(frozen=True, slots=True)
class RatesAbove(Rates):
    """Rates of a whole request that has more than `above` tokens of input, cached ones included."""

    above: int = 0


@dataclass(frozen=True, slots=True)
class Price(Rates):
    """The rates of one model.

    Attributes:
        tiers: rates of long requests; of several that apply, those of the highest bound.
    """

    tiers: tuple[RatesAbove, ...] = ()

    def cost(self, usage: TokenUsage) -> Decimal:
        """What an attempt with that usage costs, in US dollars, exactly."""
        above = [tier for tier in self.tiers if usage.input > tier.above]
        rates = max(above, key=lambda tier: tier.above) if above else self
        return plain(rates.charge(usage))


def plain(amount: Decimal) -> Decimal:
    """The same amount written in one way, so that equal amounts are equal in a record too."""
    shortest = amount.normalize()
    return shortest.quantize(Decimal(1)) if shortest == shortest.to_integral() else shortest
