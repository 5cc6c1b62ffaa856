"""Searching the content of files."""

from agentslot.tool.search.tool import Searcher

__all__ = ["Searcher"]
