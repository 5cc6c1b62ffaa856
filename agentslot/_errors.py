"""Errors of the composition core."""


class AgentSlotError(Exception):
    """Base of every error that AgentSlot raises."""
