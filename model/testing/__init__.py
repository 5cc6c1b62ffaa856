"""For tests of users: models that play scripts, and real exchanges that are replayed."""

from agentslot.model.testing.exchanges import ExchangePlayer, ExchangeRecorder, exchanges
from agentslot.model.testing.module import ScriptedModule
from agentslot.model.testing.recording import ExchangeMismatch
from agentslot.model.testing.scripted import (
    MemoryRecorder,
    Script,
    Scripted,
    ScriptedExecutor,
    ScriptedStream,
    calls_answer,
    failing_answer,
    text_answer,
)

__all__ = [
    "ExchangeMismatch",
    "ExchangePlayer",
    "ExchangeRecorder",
    "MemoryRecorder",
    "Script",
    "Scripted",
    "ScriptedExecutor",
    "ScriptedModule",
    "ScriptedStream",
    "calls_answer",
    "exchanges",
    "failing_answer",
    "text_answer",
]
