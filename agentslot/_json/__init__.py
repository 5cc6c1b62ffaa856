"""Strict JSON for every byte that AgentSlot did not write itself.

Providers, session files, MCP peers and tool arguments are read through `loads`, so that no two
parts of the product can understand one document differently. What the usual readers let pass
(the last of two equal members, NaN, infinities, half surrogates, unbounded nesting) is refused
here with the path of the offending value.
"""

from agentslot._json.canonical import canonical_json, json_equal
from agentslot._json.limits import DEFAULT_LIMITS, JsonError, JsonLimits, JsonValue
from agentslot._json.read import loads
from agentslot._json.write import dumps, replace_lone_surrogates

__all__ = [
    "DEFAULT_LIMITS",
    "JsonError",
    "JsonLimits",
    "JsonValue",
    "canonical_json",
    "dumps",
    "json_equal",
    "loads",
    "replace_lone_surrogates",
]
