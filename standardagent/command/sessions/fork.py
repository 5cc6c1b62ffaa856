"""`agentslot sessions fork`: a new Session with the past of another, or the head of it."""

from argparse import ArgumentParser, Namespace
from functools import partial

from agentslot.session import (
    ForkMode,
    Message,
    NewSession,
    SessionId,
    SessionState,
    fork,
    is_completed_boundary,
    rewind_cutoff,
)
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.failure import CommandError
from agentslot.standardagent.command.sessions.output import print_json
from agentslot.standardagent.command.sessions.places import Place, add_places, find
from agentslot.standardagent.command.subcommand import Subparsers
from agentslot.standardagent.runtime.ids import Ids


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `fork`."""
    parser = subparsers.add_parser(
        "fork",
        help="a new session with the past of another",
        description="Copy the past of a session, or the head of it, into a new one, and print its"
        " id. The session itself stays as it is. `show` prints the numbers, --json the steps.",
    )
    add_places(parser)
    parser.add_argument("--session", metavar="ID", help="this one, not the latest")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--at", type=int, metavar="N", help="up to fact N; 0 copies nothing")
    where.add_argument("--before", type=int, metavar="N", help="up to what came before message N")
    where.add_argument("--step", metavar="ID", help="up to the end of this step")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the id")
    return parser


def run(options: Namespace) -> int:
    """Fork one Session."""
    place, source = find(options)
    child = run_async(partial(_create, place, _forked(source, Ids().session(), options)))
    if options.json:
        print_json({"session_id": child.id, "parent": source.id, "facts": len(child.history)})
    else:
        print(child.id)
    return 0


async def _create(place: Place, new: NewSession) -> SessionState:
    async with place.writing():
        return await place.store.create(new)


def _forked(source: SessionState, session_id: SessionId, options: Namespace) -> NewSession:
    cutoff = _cutoff(source, options)
    if cutoff is None:
        return fork(source, session_id)
    if cutoff != 0 and not is_completed_boundary(source, cutoff):
        raise CommandError(_no_boundary(source, cutoff))
    return fork(source, session_id, mode=ForkMode.HISTORY_PREFIX, cutoff=cutoff)


def _cutoff(source: SessionState, options: Namespace) -> int | None:
    """Sequence of the last fact to copy; None for all."""
    if options.before is not None:
        return _before(source, options.before)
    if options.step is not None:
        facts = (f.sequence for f in source.history if f.step_id == options.step)
        last = max(facts, default=None)
        if last is None:
            raise CommandError(f"session {source.id} has no step {options.step!r}")
        return last
    at: int | None = options.at
    return at


def _before(source: SessionState, number: int) -> int:
    if 1 <= number <= len(source.history):
        message = source.history[number - 1].payload
        if isinstance(message, Message):
            cutoff = rewind_cutoff(source.history, message.id)
            if cutoff is not None:
                return cutoff
    raise CommandError(f"fact {number} of session {source.id} is no message of a person")


def _no_boundary(source: SessionState, cutoff: int) -> str:
    last = len(source.history)
    before = next((n for n in range(cutoff, 0, -1) if is_completed_boundary(source, n)), 0)
    after = next((n for n in range(cutoff, last + 1) if is_completed_boundary(source, n)), None)
    problem = f"fact {cutoff} is not the end of a finished step or run: fork at {before}"
    return problem if after is None else f"{problem} or at {after}"
