"""Running commands as bounded process groups."""
