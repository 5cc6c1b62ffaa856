"""Volume discounts.

Rates are basis points, hundredths of one per cent, since 2.5 % is no whole number of per cent.
"""

VOLUME_DISCOUNTS = ((100, 1000), (50, 500), (10, 250))
"""Pairs of (pieces from which the rate holds, rate in basis points), highest first."""


def volume_discount(quantity: int) -> int:
    """Discount for ordering `quantity` pieces of one article, in basis points."""
    for pieces, rate in VOLUME_DISCOUNTS:
        if quantity >= pieces:
            return rate
    return 0
