"""What attempts cost."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import Price, RatesAbove, TokenUsage

USAGE = TokenUsage(input=1_000, output=100, cached_input=600, cache_write=300, total=1_100)


def test_each_token_of_the_input_is_paid_once_at_its_own_rate() -> None:
    price = Price(Decimal(3), Decimal(15), cached_input=Decimal("0.3"), cache_write=Decimal("3.75"))
    fresh, cached, written, output = Decimal(300), Decimal(180), Decimal(1125), Decimal(1500)
    assert price.cost(USAGE) == (fresh + cached + written + output) / 1_000_000


def test_a_rate_that_is_not_known_is_that_of_the_input() -> None:
    assert Price(Decimal(3), Decimal(15)).cost(USAGE) == Decimal("0.0045")


def test_of_the_tiers_that_a_request_exceeds_the_highest_prices_all_of_it() -> None:
    price = Price(
        Decimal(1),
        Decimal(2),
        tiers=(
            RatesAbove(Decimal(10), Decimal(20), above=100),
            RatesAbove(Decimal(100), Decimal(200), above=1_000),
        ),
    )

    def cost(read: int) -> Decimal:
        return price.cost(TokenUsage(input=read, output=1, total=read + 1)) * 1_000_000

    assert [cost(read) for read in (100, 101, 1_001)] == [Decimal(c) for c in (102, 1_030, 100_300)]


def test_a_service_tier_has_rates_of_its_own_also_for_long_requests() -> None:
    price = Price(
        Decimal(2),
        Decimal(2),
        tiers=(
            RatesAbove(Decimal(4), Decimal(4), above=100),
            RatesAbove(Decimal(1), Decimal(1), service="flex"),
            RatesAbove(Decimal(3), Decimal(3), service="flex", above=100),
        ),
    )

    def cost(read: int, tier: str) -> Decimal:
        usage = TokenUsage(input=read, total=read, service_tier=tier)
        return price.cost(usage) * 1_000_000 / read

    assert [cost(read, "flex") for read in (100, 101)] == [1, 3]
    assert [cost(read, "") for read in (100, 101)] == [2, 4]
    assert [cost(read, "unheard-of") for read in (100, 101)] == [2, 4]


def test_cached_tokens_count_for_the_tier() -> None:
    price = Price(Decimal(1), Decimal(1), tiers=(RatesAbove(Decimal(9), Decimal(9), above=10),))
    assert price.cost(TokenUsage(input=11, cached_input=10, total=11)) == Decimal("0.000099")


def test_what_is_kept_for_an_hour_costs_twice_the_input_unless_a_rate_says_otherwise() -> None:
    usage = TokenUsage(input=10, cache_write=10, total=10, cache_write_1h=4)
    rates = Price(Decimal(3), Decimal(15), cache_write=Decimal(4))
    assert rates.cost(usage) * 1_000_000 == 6 * 4 + 4 * 6
    assert replace(rates, cache_write_1h=Decimal(5)).cost(usage) * 1_000_000 == 6 * 4 + 4 * 5


@given(
    rate=st.decimals("0.0001", "1000", places=4),
    read=st.integers(0, 10**7),
    wrote=st.integers(0, 10**6),
)
def test_a_cost_is_exact(rate: Decimal, read: int, wrote: int) -> None:
    cost = Price(rate, rate * 5).cost(TokenUsage(input=read, output=wrote, total=read + wrote))
    assert Fraction(cost) == Fraction(rate) * (read + 5 * wrote) / 1_000_000


def test_equal_amounts_are_written_alike() -> None:
    million = TokenUsage(input=1_000_000, total=1_000_000)
    costs = [Price(Decimal(rate), Decimal(1)).cost(million) for rate in ("20", "20.00", "2e1")]
    assert [str(cost) for cost in costs] == ["20", "20", "20"]
