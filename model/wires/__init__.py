"""Provider wires, one package each; see `agentslot.model.wire` for what a wire is."""
