"""The tool `session_history` as a module."""

from agentslot import Module, Resolver
from agentslot.session import SESSION_STORE
from agentslot.tool.contract import TOOLS, Tool
from agentslot.tool.history.tool import SessionHistory


class SessionHistoryModule(Module):
    """The tool `session_history`, which reads the Session that calls it and no other."""

    def __init__(self, *, module_id: str = "tool.session-history") -> None:
        """Declare the tool."""

        def made(resolver: Resolver) -> Tool:
            return SessionHistory(resolver[SESSION_STORE]).tool()

        super().__init__(
            module_id,
            TOOLS.add_with("session_history", made),
            requires=(SESSION_STORE.required(),),
        )
