"""Hooks at work: one chain engine, and the five boundaries of the Runtime that use it."""
