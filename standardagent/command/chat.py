"""`agentslot chat`: talk to an agent in the terminal."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from functools import partial
from pathlib import Path

from agentslot import Application
from agentslot.interaction import GATEWAY_ACCESS, CliChannel
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.coding import CODING_AGENT, choose_model, coding_agent
from agentslot.standardagent.command.conversing import converse, leaving
from agentslot.standardagent.command.failure import UsageError
from agentslot.standardagent.command.subcommand import Subparsers
from agentslot.standardagent.command.target import build, load_application

_EXAMPLE = """\
example:
  $ export AGENTSLOT_MODEL=gpt-5.5 AGENTSLOT_API_KEY=...
  $ agentslot chat
  session 6f1c…, revision 1; /help lists the commands
  > Why does tests/test_invoice.py fail?

Without MODULE:APP this is a coding agent for the current folder: it reads files, asks before it
writes or runs something, and keeps its sessions in the state folder of the user."""


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `chat`."""
    parser = subparsers.add_parser(
        "chat",
        help="talk to an agent in the terminal",
        description="Talk to an agent in the terminal.",
    )
    parser.epilog, parser.formatter_class = _EXAMPLE, RawDescriptionHelpFormatter
    parser.add_argument(
        "application", metavar="MODULE:APP", nargs="?", help="an agent of yours, not the built-in"
    )
    parser.add_argument("--workspace", help="folder to work in, or the workspace of your agent")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="ID", help="go on with this session")
    which.add_argument(
        "--continue", dest="latest", action="store_true", help="go on with the latest session"
    )
    parser.add_argument("--model", help="model of the built-in agent (AGENTSLOT_MODEL)")
    parser.add_argument("--base-url", help="server of that model (AGENTSLOT_BASE_URL)")
    return parser


def run(options: Namespace) -> int:
    """Make the agent, or load it, and talk."""
    if options.application is None:
        folder = Path(options.workspace or ".").resolve()
        application = coding_agent(folder, choose_model(options.model, options.base_url))
        agent, workspace = CODING_AGENT, str(folder)
    else:
        if options.model or options.base_url:
            raise UsageError("--model and --base-url are for the built-in agent only")
        application = load_application(options.application)
        agent, workspace = application.name, options.workspace or "default"
    channel = (
        CliChannel(session_id=options.session)
        if options.session
        else CliChannel(agent=agent, workspace=workspace, latest=options.latest)
    )
    build(application)
    return run_async(partial(_talk, application, channel))


async def _talk(application: Application, channel: CliChannel) -> int:
    with leaving() as leave:
        async with application.start() as runtime:
            access = runtime.assembly.get(GATEWAY_ACCESS)
            if access is None:
                raise UsageError(
                    f"{application.name!r} is no agent, nobody would answer: make it with"
                    " agentslot.standardagent.new_application"
                )
            channel.bind(access)
            async with channel.lifespan():
                return await converse(channel, leave)
