"""Imported as `agentslot.model`."""

if __name__ == "model":
    raise ImportError("import agentslot.model instead of model: the folder is a part of agentslot")
