"""For tests of users: executors that play scripts, and real exchanges that are replayed."""

from agentslot.model.testing.exchanges import ExchangePlayer, ExchangeRecorder, exchanges
from agentslot.model.testing.recording import ExchangeMismatch
from agentslot.model.testing.scripted import (
    MemoryRecorder,
    Script,
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
    "ScriptedExecutor",
    "ScriptedStream",
    "calls_answer",
    "exchanges",
    "failing_answer",
    "text_answer",
]
