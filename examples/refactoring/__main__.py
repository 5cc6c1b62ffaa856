"""An agent renames a function of this very repository.

The reference agent works on a copy: it searches the name, reads every place, edits the code, runs
the tests of what it changed. Then its last change is taken back. Without a key and without a
network: the model is a server on this machine. With AGENTSLOT_BASE_URL, AGENTSLOT_MODEL and
AGENTSLOT_API_KEY that model is asked instead.
"""

import argparse
import os
import signal
import sys

import anyio

from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.interaction.cli import Screen
from agentslot.standardagent import PolicyModule, Preset
from agentslot.standardagent.command import main as agentslot
from examples.demo.__main__ import TYPING_SECONDS, heading
from examples.demo.agent import ask
from examples.demo.model import Model, chosen_model
from examples.refactoring.report import findings
from examples.refactoring.stage import Stage, set_up
from examples.reference import NAME, coding_agent

OLD, NEW = "canonical_json", "canonical_form"

TASK = (
    f"Rename the function `{OLD}` to `{NEW}`, in the code and in its tests. Leave files that only"
    " speak of the name. Then run the tests of what you changed."
)


def main() -> int:
    """Play the refactoring; returns 0 if everything came out as promised."""
    options = _options()
    delay = TYPING_SECONDS if sys.stdout.isatty() else 0
    try:
        with (
            set_up(keep=options.keep) as stage,
            chosen_model(
                *("--project", str(stage.project)),
                module="examples.refactoring.model",
                delay_seconds=delay,
            ) as model,
        ):
            os.environ.update(stage.environment(model.environment))
            return 0 if play(Screen(sys.stdout), stage, model) else 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def play(screen: Screen, stage: Stage, model: Model) -> bool:
    """Let the agent work, look at what it did, take the last change back; whether all is well."""
    screen.note("AgentSlot: an agent renames a function of this very repository.", "bold")
    screen.note(f"project  {stage.project}\n         a copy of what git tracks")
    screen.note(f"model    {model.name} at {model.base_url}\n         {model.remark}".rstrip())

    heading(screen, "1 The agent works")
    kept = anyio.run(_work, str(stage.project), screen)

    heading(screen, "2 What came of it")
    for finding in findings(stage, OLD, NEW, model):
        finding.show(screen)
        kept = kept and finding.holds is not False

    heading(screen, "3 The last change is taken back")
    before = stage.differences()
    for arguments in (["--list", "--last", "3"], []):
        command = ["sessions", "undo", *arguments, str(stage.changes)]
        screen.note(f"$ agentslot {' '.join(command)}", "dim")
        kept = agentslot(command) == 0 and kept
    return kept and stage.differences() != before


async def _work(folder: str, screen: Screen) -> bool:
    """Give the reference agent the task; whether it completed it. Nobody is asked."""
    channel = InProcessChannel()
    application = coding_agent(
        PolicyModule(Preset.TRUSTED), gateway_channel("refactoring", channel)
    )
    async with application.start():
        session = await channel.create_session(agent=NAME, workspace=folder)
        return await ask(session, TASK, screen)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/refactoring",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--keep", action="store_true", help="keep the copy")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
