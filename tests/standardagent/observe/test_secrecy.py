"""No record holds what anybody said, whatever path the text takes."""

import dataclasses
from typing import Any, cast

from agentslot.session import ToolDefinition, ToolResult
from agentslot.standardagent import AgentConfig, PolicyModule, Preset
from agentslot.tool import Effect, Tool, ToolFailedError, ToolInvocation, function_tool
from tests.standardagent.agents import agent, answer, call, calls
from tests.standardagent.observe.recording import Recording

CANARY = "canary"


@function_tool(effect=Effect.READ)
async def reveal(secret: str) -> str:
    """Say a canary."""
    return f"{CANARY} {secret}"


@function_tool(effect=Effect.READ)
async def crash(secret: str) -> str:
    """Raise a canary."""
    raise RuntimeError(f"{CANARY} {secret}")


@function_tool(effect=Effect.READ)
async def refuse(secret: str) -> str:
    """Refuse with a canary where a code belongs."""
    raise ToolFailedError(f"the {CANARY} is\n{secret}", f"{CANARY} {secret}")


@function_tool(effect=Effect.WRITE)
async def write(secret: str) -> str:
    """Write a canary."""
    return secret


class Foreign:
    """A tool that breaks its contract and puts a canary into everything that it returns."""

    definition = ToolDefinition("foreign", CANARY, reveal.definition.input_schema)
    parallel_safe = True
    effect = Effect.READ

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        invocation.report(CANARY)
        return ToolResult.failed(invocation.call.id, f"{CANARY} text", CANARY, CANARY)


async def test_no_record_holds_a_text_of_prompt_message_argument_or_result() -> None:
    recording = Recording()
    tools: list[Tool] = [reveal, crash, refuse, write, Foreign()]
    config = AgentConfig(
        system_prompt=f"the {CANARY} prompt",
        tool_keys=tuple(tool.definition.name for tool in tools),
    )
    requested = [call(tool.definition.name, secret=CANARY) for tool in tools]
    script = [
        calls(*requested, call(f"{CANARY}_tool", secret=CANARY), call("reveal", f'"{CANARY}')),
        answer(f"the {CANARY} answer"),
    ]
    modules = [PolicyModule(Preset.READ_ONLY), recording.module()]
    async with agent(script, tools=tools, config=config, modules=modules) as session:
        await session.send_and_wait(f"the {CANARY} question")
    records = [*recording.traces, *recording.metrics, *recording.audits, *recording.usage]
    assert len(recording.completed_tools) == len(requested) + 2
    assert len(records) > 20
    codes = {record.error_code for record in recording.completed_tools}
    assert {"", "other", "tool_internal", "policy_denied", "tool_not_found"} <= codes
    for record in records:
        assert CANARY not in repr(record)
        assert_only_words(dataclasses.asdict(record))


def assert_only_words(values: dict[str, Any]) -> None:
    """Every text is an identity, a name or a code: nothing with a space or a line break in it."""
    for value in values.values():
        if isinstance(value, dict):
            assert_only_words(cast("dict[str, Any]", value))
        elif isinstance(value, str):
            assert value == "".join(value.split())
