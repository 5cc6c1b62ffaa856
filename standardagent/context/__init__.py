"""What a request shows beside the conversation, and what it leaves out when it grows too long."""

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
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
