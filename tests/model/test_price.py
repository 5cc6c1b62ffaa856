"""What attempts cost."""

from decimal import Decimal

from agentslot.model import Price, TokenUsage

USAGE = TokenUsage(input=1_000, output=100, cached_input=600, cache_write=300, total=1_100)


def test_each_token_of_the_input_is_paid_once_at_its_own_rate() -> None:
    price = Price(Decimal(3), Decimal(15), cached_input=Decimal("0.3"), cache_write=Decimal("3.75"))
    fresh, cached, written, output = Decimal(300), Decimal(180), Decimal(1125), Decimal(1500)
    assert price.cost(USAGE) == (fresh + cached + written + output) / 1_000_000


def test_a_rate_that_is_not_known_is_that_of_the_input() -> None:
    assert Price(Decimal(3), Decimal(15)).cost(USAGE) == Decimal("0.0045")
