"""Imported as `agentslot.standardagent`."""

if __name__ == "standardagent":
    raise ImportError(
        "import agentslot.standardagent instead of standardagent: the folder is a part of agentslot"
    )
