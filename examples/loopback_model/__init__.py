"""A model for demonstrations: a loopback server that speaks a vendor's chat-completions stream.

Its job is repairing `examples/project`, unless it is given another. It decides each turn from the
request that it got. It refuses a request whose tool results are missing, doubled, swapped or not
what the tools give for that project, so whoever reaches the end has run the loop properly.
"""

from examples.loopback_model.process import loopback_model
from examples.loopback_model.server import MODEL

__all__ = ["MODEL", "loopback_model"]
