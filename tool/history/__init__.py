"""The tool `session_history`: an agent reads on in its own past."""

from agentslot.tool.history.module import SessionHistoryModule

__all__ = ["SessionHistoryModule"]
