"""The terminal: a channel, and the parts that other commands show a Run with."""

from agentslot.interaction.cli.activity import call_details, call_line
from agentslot.interaction.cli.approvals import Approvals, Decision, Questions
from agentslot.interaction.cli.attaching import read_attachment
from agentslot.interaction.cli.channel import CLI_ACTOR, CliChannel
from agentslot.interaction.cli.conversation import Conversation
from agentslot.interaction.cli.follower import Follower
from agentslot.interaction.cli.interrupt import interrupts
from agentslot.interaction.cli.lines import DescriptorLines
from agentslot.interaction.cli.live import LiveView
from agentslot.interaction.cli.printable import printable
from agentslot.interaction.cli.screen import Screen

__all__ = [
    "CLI_ACTOR",
    "Approvals",
    "CliChannel",
    "Conversation",
    "Decision",
    "DescriptorLines",
    "Follower",
    "LiveView",
    "Questions",
    "Screen",
    "call_details",
    "call_line",
    "interrupts",
    "printable",
    "read_attachment",
]
