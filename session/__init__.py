"""Imported as `agentslot.session`."""

if __name__ == "session":
    raise ImportError("import agentslot.session instead of session: the folder is a part of agentslot")
