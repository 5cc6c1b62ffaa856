"""What an order costs."""

from collections.abc import Iterable

from shop.discounts import volume_discount


def line_total(quantity: int, unit_cents: int) -> int:
    """Price of `quantity` pieces after the volume discount, in cents."""
    gross = quantity * unit_cents
    discount = gross * volume_discount(quantity) // 100
    return gross - discount


def order_total(lines: Iterable[tuple[int, int]]) -> int:
    """Price of a whole order, given as pairs of (quantity, unit price in cents)."""
    return sum(line_total(quantity, unit_cents) for quantity, unit_cents in lines)
