"""`agentslot chat`: talk to an agent in the terminal."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from agentslot import Application
from agentslot.interaction import GATEWAY_ACCESS, CliChannel
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.coding import CODING_AGENT, choose_model, coding_agent
from agentslot.standardagent.command.conversing import converse, leaving, refuse_empty
from agentslot.standardagent.command.failure import UsageError
from agentslot.standardagent.command.local import (
    LOCAL_AGENT,
    introduction,
    local_agent,
    local_model,
    model_file,
    waiting,
)
from agentslot.standardagent.command.places import current_folder
from agentslot.standardagent.command.subcommand import COMMANDS, Subparsers
from agentslot.standardagent.command.target import build, load_application

_EXAMPLE = """\
example:
  $ export AGENTSLOT_MODEL=gpt-5.5 AGENTSLOT_API_KEY=...
  $ agentslot chat
  session 6f1c…, revision 1; /help lists the commands
  > Why does tests/test_invoice.py fail?

  $ agentslot chat --local
  fetching SmolLM2-135M-Instruct.Q4_1 (93 MB, once) into /home/ada/.cache/agentslot/models

Without MODULE:APP this is a coding agent for the current folder: it reads files, asks before it
writes or runs something, and keeps its sessions in the state folder of the user.

With --local the model runs on this machine, with neither key nor settings. The one that comes by
itself is very small, often wrong, and only talks. A GGUF file of yours whose model calls tools
makes it the coding agent again."""


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `chat`."""
    parser = subparsers.add_parser(
        "chat",
        help=COMMANDS["chat"],
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
    parser.add_argument(
        "--local",
        metavar="FILE.gguf",
        nargs="?",
        const="",
        help="a model on this machine, and no key; without FILE.gguf a small one, fetched once",
    )
    return parser


def run(options: Namespace) -> int:
    """Make the agent, or load it, and talk."""
    refuse_empty(options, "workspace", "session")
    folder = (current_folder() / (options.workspace or ".")).resolve()
    if options.local is not None:
        if options.application or options.model or options.base_url:
            raise UsageError("--local brings agent and model: give no other")
        file = model_file(options.local)
        return run_async(partial(_talk_locally, file, folder, options))
    if options.application is None:
        application = coding_agent(folder, choose_model(options.model, options.base_url))
        channel = _channel(options, CODING_AGENT, str(folder))
    else:
        if options.model or options.base_url:
            raise UsageError("--model and --base-url are for the built-in agent only")
        application = load_application(options.application)
        channel = _channel(options, application.name, options.workspace or "default")
    build(application)
    return run_async(partial(_talk, application, channel))


def _channel(options: Namespace, agent: str, workspace: str) -> CliChannel:
    if options.session:
        return CliChannel(session_id=options.session)
    return CliChannel(agent=agent, workspace=workspace, latest=options.latest)


async def _talk_locally(file: Path, folder: Path, options: Namespace) -> int:
    async with AsyncExitStack() as stack:
        async with waiting(f"loading {file.stem}"):
            model = await stack.enter_async_context(local_model(file))
        print(introduction(model), file=sys.stderr)
        application = local_agent(folder, model)
        build(application)
        return await _talk(application, _channel(options, LOCAL_AGENT, str(folder)))


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
