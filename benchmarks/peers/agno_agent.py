"""The workload in Agno: a scripted model, one tool; stored with each batch of tools, or not."""

import logging
from dataclasses import dataclass
from pathlib import Path

from _workload import WORKLOAD, report, think
from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse

logging.disable(logging.WARNING)


@dataclass
class Scripted(Model):
    id: str = "scripted"
    turns: int = 0
    turn: int = 0

    def _answer(self) -> ModelResponse:
        self.turn += 1
        if self.turn >= self.turns:
            return ModelResponse(role="assistant", content="done")
        function = {"name": "add", "arguments": f'{{"a":{self.turn},"b":2}}'}
        call = {"id": f"c{self.turn}", "type": "function", "function": function}
        return ModelResponse(role="assistant", tool_calls=[call])

    def invoke(self, *args, **kwargs):
        return self._answer()

    async def ainvoke(self, *args, **kwargs):
        await think()
        return self._answer()

    def invoke_stream(self, *args, **kwargs):
        yield self._answer()

    async def ainvoke_stream(self, *args, **kwargs):
        yield self._answer()

    def _parse_provider_response(self, response, **kwargs):
        return response

    def _parse_provider_response_delta(self, response):
        return response


async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def agent(turns: int, **stored: object) -> Agent:
    return Agent(model=Scripted(turns=turns), tools=[add], telemetry=False, **stored)


async def turn(turns: int, folder: str) -> str:
    return (await agent(turns).arun("go")).content


async def durable(turns: int, folder: str) -> str:
    from agno.db.sqlite import SqliteDb

    Path(folder).mkdir(parents=True)
    database = SqliteDb(db_file=f"{folder}/agno.db")
    try:
        stored = agent(turns, db=database, checkpoint="tool-batch")
        return (await stored.arun("go", session_id="s")).content
    finally:
        database.db_engine.dispose()


report({"turn": turn, "concurrent": turn, "durable": durable}[WORKLOAD])
