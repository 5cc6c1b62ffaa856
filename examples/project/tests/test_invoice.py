"""What lines and orders cost."""

import unittest

from shop.invoice import line_total, order_total


class InvoiceTest(unittest.TestCase):
    """Prices with and without a discount."""

    def test_few_pieces_cost_the_full_price(self) -> None:
        """Nine pieces are one short of the first discount."""
        self.assertEqual(line_total(quantity=9, unit_cents=250), 2250)

    def test_ten_pieces_are_two_and_a_half_per_cent_cheaper(self) -> None:
        """The first discount; its half cent is rounded in the shop's favour."""
        self.assertEqual(line_total(quantity=10, unit_cents=250), 2438)

    def test_each_line_of_an_order_has_its_own_discount(self) -> None:
        """Three pieces at the full price, a hundred at ten per cent less."""
        self.assertEqual(order_total([(3, 1000), (100, 10)]), 3000 + 900)


if __name__ == "__main__":
    unittest.main()
