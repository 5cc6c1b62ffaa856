"""The workload in LangGraph: a scripted chat model, one tool; checkpointed in SQLite, or not."""

from pathlib import Path
from typing import Any

from _workload import WORKLOAD, report, think
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.prebuilt import create_react_agent


class Scripted(BaseChatModel):
    turns: int
    turn: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **ignored: Any) -> "Scripted":
        return self

    def _generate(self, messages, stop=None, run_manager=None, **ignored) -> ChatResult:
        self.turn += 1
        if self.turn >= self.turns:
            message = AIMessage("done")
        else:
            call = {"name": "add", "args": {"a": self.turn, "b": 2}, "id": f"c{self.turn}"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages, stop=None, run_manager=None, **ignored) -> ChatResult:
        await think()
        return self._generate(messages)


@tool
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


async def invoke(turns: int, saver: Any = None) -> str:
    graph = create_react_agent(Scripted(turns=turns), [add], checkpointer=saver)
    config = {"recursion_limit": 3 * turns + 10, "configurable": {"thread_id": "t"}}
    result = await graph.ainvoke(
        {"messages": [("user", "go")]}, config, durability="sync" if saver else None
    )
    return result["messages"][-1].content


async def turn(turns: int, folder: str) -> str:
    return await invoke(turns)


async def durable(turns: int, folder: str) -> str:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    Path(folder).mkdir(parents=True)
    async with AsyncSqliteSaver.from_conn_string(f"{folder}/langgraph.db") as saver:
        return await invoke(turns, saver)


report({"turn": turn, "concurrent": turn, "durable": durable}[WORKLOAD])
