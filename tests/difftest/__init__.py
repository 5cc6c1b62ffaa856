"""Our wires beside the vendors' own clients: requests we would send, answers we would read.

`scripts/difftest` runs the comparison; see `compare` for what counts as a difference, and
`ledger.toml` for the differences that are meant, each with its reason.
"""
