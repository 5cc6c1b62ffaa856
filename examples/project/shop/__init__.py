"""Prices of a small mail-order shop, in whole cents."""
