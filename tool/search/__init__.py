"""Searching the content of files."""

from agentslot.tool.search.ripgrep import find_ripgrep
from agentslot.tool.search.tool import Searcher

__all__ = ["Searcher", "find_ripgrep"]
