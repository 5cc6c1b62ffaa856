"""The referee of tools: ours pass, and it finds what is wrong with others."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentslot import Application
from agentslot.session import MemoryArtifacts, ToolCallId, ToolResult, ToolStatus
from agentslot.tool import (
    TOOLS,
    Effect,
    FilesModule,
    ShellModule,
    Tool,
    ToolDefinition,
    ToolInvocation,
    WebModule,
    artifact_read,
    function_tool,
)
from agentslot.tool.conformance import CHECKS, ConformanceFailure, Trial, check_tool
from tests.tool.webworld import OPEN, PUBLIC, Server, reply, serving

TRIALS: dict[str, Trial] = {
    "file_read": Trial({"path": "a.txt"}),
    "file_write": Trial({"path": "b.txt", "content": "x"}, succeeds=False),
    "file_edit": Trial(
        {"path": "a.txt", "edits": [{"old_string": "absent", "new_string": "x"}]}, succeeds=False
    ),
    "file_list": Trial({"path": "."}),
    "file_find": Trial({"pattern": "*.txt"}),
    "file_search": Trial({"pattern": "text"}),
    "bash": Trial({"command": "seq 1 2000"}),
    "run_command": Trial({"argv": ["echo", "hello"]}),
    "powershell": Trial({"command": "Get-Date"}, succeeds=False),
    "process_list": Trial(),
    "process_read": Trial({"process": 1}, succeeds=False),
    "process_stop": Trial({"process": 1}, succeeds=False),
}


@pytest.mark.parametrize("name", TRIALS)
async def test_our_tools_keep_the_contract(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # where no PowerShell is
    (tmp_path / "a.txt").write_text("text\n" * 500)
    (tmp_path / "b.txt").write_text("there already")
    modules = [FilesModule(tmp_path), ShellModule(tmp_path)]
    async with Application("tools", modules).start() as runtime:
        await check_tool(runtime.assembly[TOOLS][name], TRIALS[name])


async def test_the_tools_of_the_web_keep_the_contract() -> None:
    server = Server(lambda _: reply(b"text " * 1000))
    async with serving(server):
        host = f"{PUBLIC}:{server.port}"
        module = WebModule(allow_http=True, private_networks=OPEN, request_hosts=[host])
        tools = Application("web", [module]).build()[TOOLS]
        for tool in tools.values():
            await check_tool(tool, Trial({"url": f"http://{host}/"}))


async def test_artifact_read_keeps_the_contract() -> None:
    store = MemoryArtifacts()
    metadata = await store.write("text/plain", "a.txt", b"text " * 1000)
    await check_tool(artifact_read, Trial({"artifact": metadata.id}, artifacts=store))


@function_tool(parallel_safe=True, effect=Effect.PURE)
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


ADD = Trial({"a": 1, "b": 2})


async def test_a_function_tool_keeps_the_contract() -> None:
    await check_tool(add, ADD)


class Wrong:
    """`add` with one thing wrong."""

    def __init__(self, **wrong: Any) -> None:
        self._changes: dict[str, Any] = wrong.pop("definition", {})
        self.parallel_safe: Any = wrong.pop("parallel_safe", True)
        self.effect: Any = wrong.pop("effect", Effect.PURE)
        self._result: dict[str, Any] = wrong.pop("result", {})
        self._returns: Any = wrong.pop("returns", None)
        self._raises: Any = wrong.pop("raises", None)

    @property
    def definition(self) -> ToolDefinition:
        return replace(add.definition, **self._changes)

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        if self._raises is not None:
            raise self._raises
        result = await add.invoke(invocation)
        returned: Any = self._returns or replace(result, **self._result)
        return returned  # type: ignore[no-any-return]  # on purpose


SCHEMA = add.definition.input_schema


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (Wrong(definition={"name": "add two"}), "it_has_a_name"),
        (Wrong(definition={"description": " "}), "no description"),
        (Wrong(definition={"input_schema": {**SCHEMA, "additionalProperties": True}}), "closed"),
        (Wrong(definition={"input_schema": {**SCHEMA, "type": "array"}}), "type object"),
        (Wrong(definition={"input_schema": {**SCHEMA, "$schema": "draft-07"}}), "dialect"),
        (
            Wrong(definition={"input_schema": {**SCHEMA, "x": [{"$ref": "https://a.b/c"}]}}),
            "outside of itself",
        ),
        (Wrong(definition={"input_schema": {**SCHEMA, "properties": {"a": {}}}}), "does not name"),
        (Wrong(definition={"input_schema": {**SCHEMA, "required": ["c"]}}), "lacks arguments"),
        (Wrong(effect="write?"), "no Effect"),
        (Wrong(parallel_safe="yes"), "no bool"),
        (Wrong(raises=ZeroDivisionError()), "the tool failed with ZeroDivisionError()"),
        (Wrong(returns="3"), "it returned a str"),
        (Wrong(result={"call_id": ToolCallId("other")}), "its result is for other"),
        (Wrong(result={"status": ToolStatus.OUTCOME_UNKNOWN, "error": None}), "outcome_unknown"),
        (Wrong(result={"output": "{"}), "no JSON value"),
        (Wrong(result={"output": '"' + "x" * 70_000 + '"'}), "70002 bytes where 65536"),
        (Wrong(result={"status": ToolStatus.SUCCEEDED, "error": None}), "it accepted the"),
    ],
)  # fmt: skip
async def test_what_is_wrong_with_a_tool_is_found(wrong: Tool, expected: str) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        await check_tool(wrong, ADD)
    assert expected in str(caught.value)


def test_every_check_says_in_its_name_what_holds() -> None:
    names = [getattr(check, "__name__", "") for check in CHECKS]
    assert len(set(names)) == len(names) == 9
