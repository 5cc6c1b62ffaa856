"""Running commands for a model."""

from agentslot.tool.shell.bash import Shell
from agentslot.tool.shell.commands import Commands
from agentslot.tool.shell.jobs import Job, Jobs

__all__ = ["Commands", "Job", "Jobs", "Shell"]
