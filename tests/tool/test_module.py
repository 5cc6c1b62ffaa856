"""Tools in an application."""

from pathlib import Path
from typing import Any

import pytest

from agentslot import Application
from agentslot.tool import (
    TOOLS,
    BashModule,
    FilesModule,
    ToolRootError,
    ToolsModule,
    function_tool,
)
from agentslot.tool.process.group import survives
from tests.tool.invoking import invoke, output


@function_tool
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def negate(a: int) -> int:
    """Change the sign."""
    return -a


def test_tools_stand_in_the_slot_under_their_names(tmp_path: Path) -> None:
    application = Application(
        "tools", [ToolsModule(add, negate), FilesModule(tmp_path), BashModule(tmp_path)]
    )
    tools = application.build()[TOOLS]
    files = ["file_read", "file_write", "file_edit", "file_list", "file_find", "file_search"]
    assert list(tools) == ["add", "negate", *files, "bash"]
    assert all(tool.definition.name == name for name, tool in tools.items())


def test_the_class_of_a_tool_is_refused_with_what_to_write() -> None:
    class Counter:
        @property
        def definition(self) -> str:
            raise AssertionError("asked")

    tool: Any = Counter
    with pytest.raises(TypeError, match=r"Counter is a class; pass a tool of it: Counter\(…\)"):
        ToolsModule(tool)


def test_a_list_of_tools_is_refused_with_what_to_write() -> None:
    tools: Any = [add]
    with pytest.raises(TypeError, match=r"list is neither a tool nor a function.*ToolsModule\(add"):
        ToolsModule(tools)


async def test_tools_work_in_a_started_application(tmp_path: Path) -> None:
    application = Application("tools", [FilesModule(tmp_path), BashModule(tmp_path)])
    async with application.start() as runtime:
        tools = runtime.assembly[TOOLS]
        await invoke(tools["bash"], command="echo hello > a.txt")
        assert output(await invoke(tools["file_read"], path="a.txt")).startswith("hello\n")


async def test_background_processes_end_with_the_application(tmp_path: Path) -> None:
    application = Application("tools", [BashModule(tmp_path)])
    async with application.start() as runtime:
        text = output(await invoke(runtime.assembly[TOOLS]["bash"], command="sleep 60 & echo $$"))
        group = int(text.split("\n")[0])
        assert await survives(group)
    assert not await survives(group)


@pytest.mark.parametrize("module", [FilesModule, BashModule])
async def test_a_missing_folder_fails_the_start_and_not_the_build(
    tmp_path: Path, module: type[FilesModule | BashModule]
) -> None:
    application = Application("tools", [module(tmp_path / "absent")])
    application.build()
    with pytest.raises(ToolRootError, match="create it or pass another root"):
        async with application.start():
            pass
