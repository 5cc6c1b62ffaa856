"""Reading from the web and talking to HTTP services, guarded against leading inward."""

from agentslot.tool.web.addresses import blocked_as
from agentslot.tool.web.fetch import Answer, Fetcher, Query
from agentslot.tool.web.guard import Guard, Resolve, parse_url
from agentslot.tool.web.hosts import HostList
from agentslot.tool.web.tools import PageReader, Requester

__all__ = [
    "Answer",
    "Fetcher",
    "Guard",
    "HostList",
    "PageReader",
    "Query",
    "Requester",
    "Resolve",
    "blocked_as",
    "parse_url",
]
