"""One conversation over all five wires: each question goes to another vendor's model.

    python -m examples.five_wires           # against vendors on this machine, without a key
    python -m examples.five_wires --live    # against the real ones, and an Ollama here

Every model thinks, calls a tool and answers from all results so far, also those that other models
asked for. The vendors on this machine refuse what the real ones refuse: a call without its result,
and the thinking of another model, or its own thinking lost in the middle of its work.
"""
