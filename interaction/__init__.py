"""Imported as `agentslot.interaction`."""

if __name__ == "interaction":
    raise ImportError(
        "import agentslot.interaction instead of interaction: the folder is a part of agentslot"
    )
