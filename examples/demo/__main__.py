"""The main job of AgentSlot on a real small task.

An agent repairs a project, is killed with SIGKILL while it runs the tests, is started again and
goes on in the same Session. Without a key and without a network: the model is a server on this
machine. With AGENTSLOT_BASE_URL, AGENTSLOT_MODEL and AGENTSLOT_API_KEY that model is asked instead.
"""

import argparse
import signal
import sys
from pathlib import Path

from agentslot.interaction.cli import Screen
from agentslot.standardagent.command import main as agentslot
from examples.demo.model import Model, chosen_model
from examples.demo.record import read_records
from examples.demo.report import findings
from examples.demo.stage import AGENT, ROOT, Stage, set_up

TYPING_SECONDS = 0.01
"""Pause between two pieces of an answer, where a person looks on."""

WIDTH = 76


def main() -> int:
    """Play the demonstration; returns 0 if everything came out as promised."""
    options = _options()
    try:
        with (
            chosen_model(delay_seconds=TYPING_SECONDS if sys.stdout.isatty() else 0) as model,
            set_up(options.sessions.resolve(), model.environment, keep=options.keep) as stage,
        ):
            return 0 if play(Screen(sys.stdout), stage, model) else 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def play(screen: Screen, stage: Stage, model: Model) -> bool:
    """Show the agent, let it work, kill it, let it go on; returns whether all is well."""
    screen.note("AgentSlot: an agent repairs a project, is killed, and goes on.", "bold")
    screen.note(f"project  {stage.project}\n         a copy of a small one whose tests fail")
    screen.note(f"model    {model.name} at {model.base_url}\n         {model.remark}".rstrip())

    heading(screen, "1 What runs: modules that fill slots")
    screen.note(f"$ agentslot describe {AGENT}:application", "dim")
    agentslot(["describe", f"{AGENT}:application"])

    heading(screen, "2 The agent works")
    screen.note(f"$ python -m {AGENT}", "dim")
    code = stage.run_agent()
    if stage.killed is None:
        screen.note(f"It ended with code {code} and never ran Python after an edit.", "red")
        return False

    heading(screen, "3 Killed with SIGKILL while that command ran, and started again")
    screen.note(f"$ python -m {AGENT}", "dim")
    finished = stage.run_agent() == 0

    heading(screen, "4 What came of it")
    kept = True
    for finding in findings(stage, read_records(stage.sessions, stage.project), model.price):
        finding.show(screen)
        kept = kept and finding.holds is not False
    return finished and kept


def heading(screen: Screen, title: str) -> None:
    """Start a part of what is shown."""
    screen.note("")
    screen.note(f"━━ {title} ".ljust(WIDTH, "━"), "bold")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/demo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--keep", action="store_true", help="keep the copy of the project")
    parser.add_argument(
        "--sessions",
        type=Path,
        metavar="FOLDER",
        default=ROOT / ".demo" / "sessions",
        help="where the Session is kept (default: %(default)s)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
