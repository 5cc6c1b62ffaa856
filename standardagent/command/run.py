"""`agentslot run`: send one prompt to an agent, or run an application until it is stopped."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from functools import partial
from traceback import print_exc
from typing import TextIO

from agentslot import AgentSlotError, Application, Assembly
from agentslot.interaction import GATEWAY_CHANNELS, ChannelLifespan, CliChannel
from agentslot.interaction.cli import read_attachment
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.conversing import converse, leaving, refuse_empty
from agentslot.standardagent.command.failure import UsageError, exit_code
from agentslot.standardagent.command.oneshot import OneShot
from agentslot.standardagent.command.showing import ShowJson, ShowText
from agentslot.standardagent.command.stdout import kept_for_answers
from agentslot.standardagent.command.subcommand import COMMANDS, Subparsers
from agentslot.standardagent.command.target import build, load_application

_EXAMPLE = """\
example:
  $ agentslot run examples.reference:application "What is 2+2?"
  → add a=2 b=2
  ✓ add 0.0 s
  2+2 is 4.

The answer goes to standard output, all else to standard error. Exit code 0: the run completed;
1: it did not; 2: wrong usage; 130: interrupted. Ctrl-C cancels the run, a second one leaves."""


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `run`."""
    parser = subparsers.add_parser(
        "run",
        help=COMMANDS["run"],
        description="Send one prompt to an agent and show what it does. Without a prompt: run the"
        " application until it is stopped.",
    )
    parser.epilog, parser.formatter_class = _EXAMPLE, RawDescriptionHelpFormatter
    parser.add_argument("application", metavar="MODULE:APP", help="where the application is")
    parser.add_argument(
        "prompt", metavar="PROMPT", nargs="?", help="what to send; - reads it from standard input"
    )
    parser.add_argument(
        "--attach",
        metavar="FILE",
        action="append",
        default=[],
        help="a file that goes with the prompt, such as an image; may be given several times",
    )
    parser.add_argument("--session", metavar="ID", help="go on with this session")
    parser.add_argument("--agent", help="agent of a new session (default: the application's name)")
    parser.add_argument("--workspace", help="workspace of a new session (default: default)")
    parser.add_argument("--json", action="store_true", help="events and result as JSON lines")
    parser.add_argument(
        "--approve",
        choices=("ask", "all", "none"),
        default="ask",
        help="calls that need approval (default: ask; where there is no terminal that denies)",
    )
    return parser


def run(options: Namespace) -> int:
    """Send the prompt, or run the application."""
    if options.prompt is None:
        if options.attach:
            raise UsageError("--attach goes with a prompt: give one behind MODULE:APP")
        application = load_application(options.application)
        return run_async(partial(_serve, application, build(application)))
    with kept_for_answers("utf-8" if options.json else None) as answers:
        try:
            return _send(options, answers)
        except BrokenPipeError:
            raise
        except Exception as error:
            if not options.json:
                raise
            if not isinstance(error, AgentSlotError):
                print_exc()  # somebody's mistake; where it was made is for people
            ShowJson(answers).error(error)
            return exit_code(error)


def _send(options: Namespace, answers: TextIO) -> int:
    refuse_empty(options, "session", "agent", "workspace")
    if options.session and (options.agent or options.workspace):
        raise UsageError("--session names the agent and the workspace already: give only one")
    prompt = _read_prompt(options.prompt)
    attachments = [read_attachment(path) for path in options.attach]
    application = load_application(options.application)
    for channel in build(application)[GATEWAY_CHANNELS].values():
        if isinstance(channel, CliChannel):
            channel.stand_back()
    show = ShowJson(answers) if options.json else ShowText(answers, sys.stderr)
    one_shot = OneShot(
        application,
        show,
        session_id=options.session,
        agent=options.agent or application.name,
        workspace=options.workspace or "default",
        approve=options.approve,
        can_ask=options.prompt != "-" and sys.stdin.isatty(),
        attachments=attachments,
    )
    return run_async(partial(one_shot.run, prompt))


def _read_prompt(prompt: str) -> str:
    text = prompt
    if prompt == "-":
        text = sys.stdin.buffer.read().decode(errors="replace").rstrip("\n")
    if not text.strip():
        raise UsageError("the prompt is empty: nothing was sent")
    return text


async def _serve(application: Application, assembly: Assembly) -> int:
    """Run until stopped or, if there is a terminal channel, until the person leaves."""
    channels = assembly[GATEWAY_CHANNELS].values()
    for channel in channels:
        if isinstance(channel, CliChannel):
            with leaving() as leave:
                async with application.start():
                    return await converse(channel, leave)
    if channels and not any(isinstance(channel, ChannelLifespan) for channel in channels):
        raise UsageError(
            f"{application.name!r} has no channel that listens, so it would do nothing: give a"
            f" PROMPT, as in: agentslot run MODULE:APP 'Hello'"
        )
    await application.run()
    return 0
