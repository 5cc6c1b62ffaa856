"""Runnable examples of AgentSlot."""
