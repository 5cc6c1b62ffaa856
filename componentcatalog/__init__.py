"""Imported as `agentslot.componentcatalog`."""

if __name__ == "componentcatalog":
    raise ImportError("import agentslot.componentcatalog instead of the bare folder")
