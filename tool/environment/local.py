"""Running commands as this process does, confined by nothing."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agentslot.tool.environment.contract import Boundary, Launch


class LocalEnvironment:
    """The machine itself: a command has the rights of this process."""

    confines: frozenset[Boundary] = frozenset()

    def launch(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> Launch:
        """Run the command as it stands."""
        return Launch(arguments, variables, folder)
