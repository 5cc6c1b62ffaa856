"""AgentSlot: compose an application out of typed slots.

The public names of the composition core stand here; the standard agent lives in
`agentslot.standardagent` and the packages below it.
"""

import os as _os

# In a source checkout without symbolic links the sibling folders (../session, ../model, …) are
# sub-packages of agentslot all the same; in a wheel they already lie inside this folder.
if not _os.path.isdir(_os.path.join(__path__[0], "session")):
    __path__.append(_os.path.dirname(__path__[0]))

from agentslot._errors import AgentSlotError
from agentslot._slot import Chain, Many, One

__all__ = ["AgentSlotError", "Chain", "Many", "One"]
