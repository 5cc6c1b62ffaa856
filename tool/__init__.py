"""Imported as `agentslot.tool`."""

if __name__ == "tool":
    raise ImportError("import agentslot.tool instead of tool: the folder is a part of agentslot")
