"""The workload in Haystack: a scripted chat generator, one tool, nothing stored."""

import logging

from _workload import report, think
from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import tool

logging.disable(logging.WARNING)


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@component
class Scripted:
    def __init__(self, turns: int) -> None:
        self.turns, self.turn = turns, 0

    def _answer(self) -> dict[str, list[ChatMessage]]:
        self.turn += 1
        if self.turn >= self.turns:
            return {"replies": [ChatMessage.from_assistant("done")]}
        call = ToolCall("add", {"a": self.turn, "b": 2}, id=f"c{self.turn}")
        return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools=None, **ignored):
        return self._answer()

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], tools=None, **ignored):
        await think()
        return self._answer()


async def turn(turns: int, folder: str) -> str:
    agent = Agent(chat_generator=Scripted(turns), tools=[add], max_agent_steps=turns + 1)
    agent.warm_up()
    result = await agent.run_async(messages=[ChatMessage.from_user("go")])
    return result["last_message"].text


report(turn)
