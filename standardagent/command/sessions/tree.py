"""`agentslot sessions tree`: which Session was branched off from which, and where."""

from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from agentslot._text import counted
from agentslot.session import Lineage, SessionDamagedError, SessionId, SessionOverview
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.sessions.output import first_words, print_json, row_record
from agentslot.standardagent.command.sessions.places import (
    Place,
    add_places,
    places,
    tell_that_none_is_there,
)
from agentslot.standardagent.command.subcommand import Subparsers


@dataclass(frozen=True, slots=True)
class Branch:
    """A Session in the tree; a damaged one has no facts, and only its parent is known."""

    row: SessionOverview
    facts: int | None
    lineage: Lineage | None

    @property
    def id(self) -> SessionId:
        """Which Session it is."""
        return self.row.summary.id


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `tree`."""
    parser = subparsers.add_parser(
        "tree",
        help="which session was forked from which, and where",
        description="Draw which session was forked, rewound or retried from which, and at which of"
        " its facts; the words are the first that were said there.",
    )
    add_places(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def run(options: Namespace) -> int:
    """Draw the trees of all places."""
    trees = [run_async(partial(_branches, place)) for place in places(options)]
    if not any(trees):
        tell_that_none_is_there(options)
    for branches in trees:
        if options.json:
            for branch in branches:
                print_json(_record(branch))
        else:
            for line in draw(branches):
                print(line)
    return 0


async def _branches(place: Place) -> list[Branch]:
    async with place.reading():
        return [await _branch(place, row) for row in await place.overview()]


async def _branch(place: Place, row: SessionOverview) -> Branch:
    try:
        state = await place.load(row.summary.id)
    except SessionDamagedError:
        return Branch(row, None, None)
    return Branch(row, len(state.history), state.lineage)


def _record(branch: Branch) -> dict[str, object]:
    lineage = branch.lineage
    return row_record(branch.row) | {
        "facts": branch.facts,
        "branched_at": lineage.copied if lineage else None,
        "parent_revision": lineage.parent_revision if lineage else None,
    }


def draw(branches: Sequence[Branch]) -> Iterator[str]:
    """The lines of the trees; roots as they are given, branches by where they leave the trunk."""
    there = {branch.id: branch for branch in branches}
    children: dict[SessionId | None, list[Branch]] = defaultdict(list)
    for branch in branches:
        parent = branch.row.summary.parent
        children[parent if parent in there else None].append(branch)
    # A stack of our own, since somebody may go back a thousand times.
    stack = [(branch, "", "") for branch in reversed(children[None])]
    while stack:
        branch, lead, indent = stack.pop()
        yield lead + _line(branch, there)
        below = sorted(children[branch.id], key=_where, reverse=True)
        for position, child in enumerate(below):  # the last one first: it is drawn last
            corner, bar = ("└─", "   ") if position == 0 else ("├─", "│  ")
            stack.append((child, f"{indent}{corner} ", f"{indent}{bar}"))


def _where(branch: Branch) -> tuple[int, str]:
    return branch.lineage.copied if branch.lineage else 0, branch.id


def _line(branch: Branch, there: dict[SessionId, Branch]) -> str:
    summary = branch.row.summary
    count = branch.facts
    size = "DAMAGED" if count is None else counted(count, "fact")
    known = [
        branch.id,
        *([] if summary.parent is None else [_origin(branch, there.get(summary.parent))]),
        size,
        first_words(branch.row.first_message),
    ]
    return "  ".join(filter(None, known))


def _origin(branch: Branch, parent: Branch | None) -> str:
    if parent is None:
        return f"from {branch.row.summary.parent}, which is not here"
    if branch.lineage is None:
        return ""
    if branch.lineage.copied == 0:
        return "from the start"
    at = f"at fact {branch.lineage.copied}"
    return at if parent.facts is None else f"{at} of {parent.facts}"
