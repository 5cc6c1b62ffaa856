"""Names of tools as the vendor takes them: it wants a letter or an underscore in front."""

import re

from agentslot.model.rendering import sendable_name

_ODD = re.compile(r"_*[^A-Za-z_]")
_SENT = re.compile(r"_+[^A-Za-z_]")


def function_name(name: str) -> str:
    """The name under which the vendor knows a tool; `tool_name` gives the tool's own back."""
    sendable = sendable_name(name)
    return f"_{sendable}" if _ODD.match(sendable) else sendable


def tool_name(name: str) -> str:
    """The tool's own name, of the one that the model called."""
    return name[1:] if _SENT.match(name) else name
