"""`python -m agentslot` is the `agentslot` command."""

import sys

if __name__ == "__main__":
    # The command stands above the core, which does not import it otherwise.
    from agentslot.standardagent.command import main

    sys.exit(main())
