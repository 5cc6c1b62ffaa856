"""Tools that work in the workspace of their Session: resolved when it opens, and never left."""

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from agentslot import Application, Module
from agentslot.interaction import ChannelSession, InProcessChannel, gateway_channel
from agentslot.model import MODEL_EXECUTOR, TOKEN_COUNTER
from agentslot.session import (
    SESSION_STORE,
    WORKSPACE_MANAGER,
    AgentId,
    ClassifiedError,
    LocalWorkspaces,
    LocalWorkspacesModule,
    MemoryStore,
    ToolResult,
    WorkspaceBoundary,
    WorkspaceId,
    WorkspaceScope,
)
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import (
    TOOLS,
    BashModule,
    FilesModule,
    LocalEnvironment,
    SandboxModule,
    ShellModule,
    ToolInvocation,
    ToolsModule,
    function_tool,
    workspace_folder,
)
from agentslot.tool.environment.contract import Launch
from agentslot.tool.files import ChangeLog
from tests.standardagent.agents import MODEL, ScriptedModel, answer, call, calls

FILE_TOOLS = ("file_read", "file_write", "file_edit", "file_list", "file_find", "file_search")


class World:
    """Two workspaces, `one` and `two`, and an application over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = MemoryStore()
        self.model = ScriptedModel([])
        self.channel = InProcessChannel()
        for name in ("one", "two"):
            (folder / name).mkdir()
            (folder / name / "name.txt").write_text(f"this is {name}\n", encoding="utf-8")
        self.bound = {("tester", name): folder / name for name in ("one", "two")}

    def application(
        self, tools: Sequence[Module], keys: tuple[str, ...], manager: Module | None = None
    ) -> Application:
        return new_application(
            "workspaces",
            modules=[
                Module("test.store", SESSION_STORE.set(self.store)),
                Module("test.model", MODEL_EXECUTOR.set(self.model), TOKEN_COUNTER.set(self.model)),
                manager or LocalWorkspacesModule(self.bound),
                gateway_channel("test", self.channel),
                *tools,
            ],
            config=AgentConfig(tool_keys=keys),
            default_model=MODEL,
        )

    @asynccontextmanager
    async def running(
        self, *tools: Module, keys: tuple[str, ...] = FILE_TOOLS, manager: Module | None = None
    ) -> AsyncGenerator[None]:
        self.channel = InProcessChannel()
        with anyio.fail_after(20):
            async with self.application(tools or [FilesModule()], keys, manager).start():
                yield

    async def session(self, workspace: str = "one") -> ChannelSession:
        return await self.channel.create_session(agent="tester", workspace=workspace)

    async def called(self, session: ChannelSession, name: str, **arguments: Any) -> ToolResult:
        """What one call in that Session gave."""
        self.model.script(calls(call(name, **arguments)), answer("ok"))
        await session.send_and_wait("go")
        result = self.model.requests[-1].inputs[-1]
        assert isinstance(result, ToolResult)
        return result


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_each_session_reads_and_writes_in_its_own_workspace(world: World) -> None:
    async with world.running():
        for name in ("one", "two"):
            session = await world.session(name)
            read = await world.called(session, "file_read", path="name.txt")
            assert f"this is {name}" in str(read.output)
            await world.called(session, "file_write", path="new.txt", content=name)
            listed = await world.called(session, "file_list")
            assert "new.txt" in str(listed.output)
            found = await world.called(session, "file_search", pattern="this is")
            assert f"this is {name}" in str(found.output)
    assert (world.folder / "one/new.txt").read_text(encoding="utf-8") == "one"
    assert (world.folder / "two/new.txt").read_text(encoding="utf-8") == "two"


@pytest.mark.parametrize("name", ["../two/name.txt", "link/name.txt"])
async def test_no_path_leads_into_another_workspace(world: World, name: str) -> None:
    (world.folder / "one/link").symlink_to(world.folder / "two")
    async with world.running():
        session = await world.session("one")
        outside = str(world.folder / "two/name.txt")
        for path in (name, outside):
            result = await world.called(session, "file_read", path=path)
            assert result.error is not None
            assert result.error.code == "path_not_allowed"


async def test_a_fork_into_another_workspace_works_there(world: World) -> None:
    async with world.running():
        session = await world.session("one")
        await world.called(session, "file_read", path="name.txt")
        forked = await world.channel.fork_session(session.id, agent="tester", workspace="two")
        read = await world.called(forked, "file_read", path="name.txt")
        assert "this is two" in str(read.output)


async def test_a_scope_that_is_not_bound_opens_no_session(world: World) -> None:
    async with world.running():
        with pytest.raises(ClassifiedError, match="workspace_not_found"):
            await world.session("three")
        scope = AgentId("tester"), WorkspaceId("three")
        assert not (await world.store.list_sessions(*scope)).sessions


async def test_a_session_whose_workspace_is_gone_is_not_resumed_nor_changed(world: World) -> None:
    async with world.running():
        session = await world.session("one")
    before = (await world.store.load(session.id)).state.revision
    del world.bound["tester", "one"]
    async with world.running():
        with pytest.raises(ClassifiedError, match="workspace_not_found"):
            await world.channel.resume_session(session.id)
    assert (await world.store.load(session.id)).state.revision == before


async def test_a_resumed_session_works_where_it_did(world: World) -> None:
    async with world.running():
        session = await world.session("two")
    async with world.running():
        resumed = await world.channel.resume_session(session.id)
        read = await world.called(resumed, "file_read", path="name.txt")
        assert "this is two" in str(read.output)


class Swapping:
    """A manager that gives every scope the boundary of workspace `two`, or fails."""

    def __init__(self, folder: Path, *, fails: bool = False) -> None:
        self._inner = LocalWorkspaces({("tester", "two"): folder})
        self._fails = fails

    async def resolve(self, scope: WorkspaceScope) -> WorkspaceBoundary:
        if self._fails:
            raise RuntimeError("the password is 1234")
        return await self._inner.resolve(WorkspaceScope(scope.agent, WorkspaceId("two")))


@pytest.mark.parametrize(
    ("fails", "code"), [(False, "workspace_mismatch"), (True, "workspace_unavailable")]
)
async def test_a_boundary_of_another_scope_or_a_broken_manager_opens_nothing(
    world: World, fails: bool, code: str
) -> None:
    manager = Module("m", WORKSPACE_MANAGER.set(Swapping(world.folder / "two", fails=fails)))
    async with world.running(manager=manager):
        with pytest.raises(ClassifiedError, match=code) as caught:
            await world.session("one")
        assert "1234" not in str(caught.value)


@pytest.mark.parametrize("module", [FilesModule, BashModule, ShellModule])
def test_tools_without_a_folder_need_a_workspace_manager(
    module: type[FilesModule | BashModule | ShellModule],
) -> None:
    with pytest.raises(Exception, match=r"workspace\.manager"):
        Application("no manager", [module()]).build()


async def test_the_definitions_are_those_of_the_tools_with_a_fixed_folder(tmp_path: Path) -> None:
    fixed, free = FilesModule(tmp_path), FilesModule()
    manager = LocalWorkspacesModule({("a", "b"): tmp_path})
    one = Application("fixed", [fixed]).build()[TOOLS]
    other = Application("free", [free, manager]).build()[TOOLS]
    assert {n: (t.definition, t.effect, t.parallel_safe) for n, t in one.items()} == {
        n: (t.definition, t.effect, t.parallel_safe) for n, t in other.items()
    }


async def test_changes_are_recorded_under_the_folder_of_the_workspace(world: World) -> None:
    changes = world.folder / "changes"
    async with world.running(FilesModule(changes=changes)):
        await world.called(await world.session("two"), "file_write", path="a", content="b")
    (recorded,) = await anyio.to_thread.run_sync(list, ChangeLog(changes).newest_first())
    assert (recorded[1].root, recorded[1].path) == (str(world.folder / "two"), "a")


@pytest.mark.skipif(sys.platform == "win32", reason="bash")
@pytest.mark.parametrize("module", [BashModule, ShellModule])
async def test_commands_start_in_the_workspace(
    world: World, module: type[BashModule | ShellModule]
) -> None:
    async with world.running(module(), keys=("bash",)):
        for name in ("one", "two"):
            ran = await world.called(await world.session(name), "bash", command="cat name.txt")
            assert f"this is {name}" in str(ran.output)


async def test_a_sandbox_is_tried_in_a_folder_of_its_own_and_runs_in_the_workspace(
    world: World,
) -> None:
    tried: list[str] = []

    class Noting(LocalEnvironment):
        def launch(
            self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
        ) -> Launch:
            tried.append(str(folder))
            return super().launch(arguments, folder, variables)

    shell = ShellModule(sandbox="noting"), SandboxModule("noting", Noting())
    async with world.running(*shell, keys=("bash",)):
        ran = await world.called(await world.session("two"), "bash", command="cat name.txt")
        assert "this is two" in str(ran.output)
    assert len(tried) == 2
    assert not tried[0].startswith(str(world.folder))
    assert tried[1] == str(world.folder / "two")


async def test_a_tool_of_ones_own_asks_for_its_workspace(world: World) -> None:
    @function_tool
    async def where(invocation: ToolInvocation) -> str:
        """Say where."""
        return str(workspace_folder(invocation))

    async with world.running(ToolsModule(where), keys=("where",)):
        said = await world.called(await world.session("two"), "where")
        assert said.output == f'"{world.folder / "two"}"'
