"""Ask, switch the model, and ask on."""

import argparse
from contextlib import nullcontext

import anyio

from agentslot.interaction import ChannelSession, InProcessChannel, RunResult
from agentslot.session import Fact, Message, ReasoningPart, Role, ToolCall, ToolResult
from examples.five_wires.agent import MODELS, application
from examples.five_wires.server import vendors

CITIES = ("Ulm", "Jena", "Trier", "Siegen", "Hanau")
QUESTION = "How many people live in {}, and how many in all the cities that I asked about?"


def main() -> None:
    """Run the conversation and print it."""
    parser = argparse.ArgumentParser(prog="python -m examples.five_wires")
    parser.add_argument("--live", action="store_true", help="ask the real vendors, with your keys")
    options = parser.parse_args()
    with nullcontext(None) if options.live else vendors() as server:
        anyio.run(converse, server)


async def converse(server: str | None) -> None:
    """Ask about one city over each wire, in one Session."""
    channel = InProcessChannel()
    async with application(channel, server).start():
        session = await channel.create_session(agent="five-wires", workspace="default")
        for (wire, config), city in zip(MODELS.items(), CITIES, strict=True):
            await session.update_model_config(config)
            result = await session.send_and_wait(QUESTION.format(city))
            print(f"{city}? asked {config.model} over {wire}: {result.status}")
            await show(session, result)


async def show(session: ChannelSession, result: RunResult) -> None:
    """Print what the Run did, as the Session has recorded it."""
    for fact in (await session.view()).recent_history:
        if fact.run_id == result.run_id and (line := told(fact)):
            print(f"  {line}")
    if result.termination is not None:
        print(f"  {result.termination.code}: {result.termination.message}")


def told(fact: Fact) -> str:
    """One line for what was thought, called, found out and said; empty for the rest."""
    match fact.payload:
        case Message(role=Role.ASSISTANT, parts=parts, text=text):
            thoughts = "".join(part.text for part in parts if isinstance(part, ReasoningPart))
            return "\n  ".join(filter(None, (f"thought: {thoughts}" if thoughts else "", text)))
        case ToolCall(name=name, arguments=arguments):
            return f"called: {name} {arguments}"
        case ToolResult(output=output):
            return f"found: {output}"
        case _:
            return ""


if __name__ == "__main__":
    main()
