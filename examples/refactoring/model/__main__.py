"""Serve the model: `python -m examples.refactoring.model --project FOLDER` prints its base URL."""

from collections.abc import Sequence
from pathlib import Path

from examples.loopback_model.conversation import Exchange
from examples.loopback_model.policy import Turn
from examples.loopback_model.referee import load_project
from examples.loopback_model.serve import make_parser, serve
from examples.loopback_model.server import Job
from examples.refactoring.model.knowledge import learn
from examples.refactoring.model.policy import next_turn
from examples.refactoring.model.referee import Referee
from examples.refactoring.model.renaming import read_task


def rename(project: Path) -> Job:
    """The job of renaming a name in a project, which is looked at once, before the work."""
    texts = load_project(project)

    def next_step(task: str, exchanges: Sequence[Exchange]) -> Turn:
        renaming = read_task(task)
        Referee(texts).check(exchanges)
        return next_turn(renaming, learn(exchanges))

    return next_step


def main() -> None:
    """Serve until interrupted, or until standard input closes if that is asked for."""
    parser = make_parser("examples.refactoring.model", __doc__)
    parser.add_argument("--project", type=Path, required=True, help="what the agent works on")
    options = parser.parse_args()
    serve(options, rename(options.project))


if __name__ == "__main__":
    main()
