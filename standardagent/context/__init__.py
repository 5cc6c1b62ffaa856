"""What a request shows beside the conversation, and what it leaves out when it grows too long."""

from agentslot.standardagent.context.contract import (
    CONTEXT_COMPACTOR,
    CONTEXT_SOURCES,
    Compaction,
    ContextCompactor,
    ContextInput,
    ContextSource,
)
from agentslot.standardagent.context.rebuild import rebuilt_request
from agentslot.standardagent.context.tail import TailCompactor, TailCompactorModule

__all__ = [
    "CONTEXT_COMPACTOR",
    "CONTEXT_SOURCES",
    "Compaction",
    "ContextCompactor",
    "ContextInput",
    "ContextSource",
    "TailCompactor",
    "TailCompactorModule",
    "rebuilt_request",
]
