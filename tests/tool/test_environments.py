"""Where commands run: what each place promises, and what happens when it does not keep it."""

import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import pytest

from agentslot import Application
from agentslot.tool import (
    TOOLS,
    Boundary,
    BubblewrapEnvironment,
    ContainerEnvironment,
    ExecutionEnvironment,
    LocalEnvironment,
    SandboxError,
    SandboxModule,
    ShellModule,
    Tool,
)
from agentslot.tool.environment import Launch, probe, verify
from agentslot.tool.environment.run import run_in
from agentslot.tool.process import Outcome
from tests.tool.invoking import invoke, output

ALL = frozenset(Boundary)


@pytest.fixture(scope="module")
def bubblewrap() -> BubblewrapEnvironment:
    """Bubblewrap, where it is installed and may make namespaces."""
    environment = BubblewrapEnvironment()
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if not anyio.run(_works, environment):
        pytest.skip("bubblewrap may make no namespaces here")
    return environment


async def _works(environment: ExecutionEnvironment) -> bool:
    try:
        await probe(environment, Path.cwd())
    except SandboxError:
        return False
    return True


class Boastful(LocalEnvironment):
    """Promises everything and confines nothing."""

    confines = ALL


async def test_the_machine_itself_promises_nothing_and_keeps_it(tmp_path: Path) -> None:
    report = await probe(LocalEnvironment(), tmp_path)
    assert (report.confines, report.broken) == (frozenset(), frozenset())


async def test_every_broken_promise_is_found(tmp_path: Path) -> None:
    assert (await probe(Boastful(), tmp_path)).broken == ALL
    with pytest.raises(SandboxError, match="confine network, processes, reads, writes, and a test"):
        await verify(Boastful(), tmp_path)


async def test_bubblewrap_keeps_what_it_promises(
    bubblewrap: BubblewrapEnvironment, tmp_path: Path
) -> None:
    report = await probe(bubblewrap, tmp_path)
    assert (report.confines, report.broken) == (ALL, frozenset())
    assert os.listdir(tmp_path) == []


async def test_bubblewrap_with_the_network_does_not_promise_it(
    bubblewrap: BubblewrapEnvironment, tmp_path: Path
) -> None:
    assert bubblewrap.confines == ALL
    open_ = BubblewrapEnvironment(network=True)
    assert (await probe(open_, tmp_path)).confines == ALL - {Boundary.NETWORK}


async def in_bubblewrap(root: Path, tool: str, **arguments: object) -> str:
    modules = [
        ShellModule(root, sandbox="bubblewrap"),
        SandboxModule("bubblewrap", BubblewrapEnvironment()),
    ]
    async with Application("sandboxed", modules).start() as runtime:
        return output(await invoke(runtime.assembly[TOOLS][tool], **arguments))


@pytest.mark.usefixtures("bubblewrap")
async def test_commands_in_bubblewrap_work_in_the_folder_and_nowhere_else(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside.txt"
    root.mkdir()
    outside.write_text("secret")
    command = f"echo made > here.txt; cat {outside}; echo x > {outside}; cat here.txt; pwd"
    text = await in_bubblewrap(root, "bash", command=command)
    assert text.endswith(f"made\n{root}\n[exit code 0]")
    assert (root / "here.txt").read_text() == "made\n"
    assert outside.read_text() == "secret"
    assert "secret" not in text


@pytest.mark.usefixtures("bubblewrap")
async def test_a_server_on_this_machine_is_out_of_reach(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"
        assert "reached" not in await in_bubblewrap(tmp_path, "bash", command=command)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.usefixtures("bubblewrap")
async def test_nothing_outlives_a_time_out_in_bubblewrap(tmp_path: Path) -> None:
    command = "setsid sh -c 'sleep 2; touch late' & sleep 60"
    modules = [
        ShellModule(tmp_path, sandbox="bubblewrap"),
        SandboxModule("bubblewrap", BubblewrapEnvironment()),
    ]
    async with Application("sandboxed", modules).start() as runtime:
        bash = runtime.assembly[TOOLS]["bash"]
        result = await invoke(bash, command=command, timeout_seconds=0.3)
        assert result.error is not None
        assert result.error.code == "timeout"
        # The machine itself would let the process that left its group go on and write.
        await invoke(bash, command="sleep 2.2")
    assert not (tmp_path / "late").exists()


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        (Boastful(), "a test got through"),
        (BubblewrapEnvironment(program="no-bwrap-here"), "install bubblewrap"),
        (ContainerEnvironment("image", program="no-docker-here"), "install a container engine"),
    ],
)
async def test_a_sandbox_that_is_not_there_or_does_not_hold_fails_the_start(
    tmp_path: Path, environment: ExecutionEnvironment, reason: str
) -> None:
    modules = [ShellModule(tmp_path, sandbox="x"), SandboxModule("x", environment)]
    application = Application("sandboxed", modules)
    application.build()
    with pytest.raises(SandboxError, match=reason):
        async with application.start():
            pass


async def test_a_sandbox_that_goes_away_while_running_runs_nothing(tmp_path: Path) -> None:
    class Leaving(LocalEnvironment):
        gone = False

        def launch(
            self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
        ) -> Launch:
            if self.gone:
                raise SandboxError("leaving", "it was uninstalled")
            return super().launch(arguments, folder, variables)

    place = Leaving()
    modules = [ShellModule(tmp_path, sandbox="x"), SandboxModule("x", place)]
    async with Application("sandboxed", modules).start() as runtime:
        place.gone = True
        result = await invoke(runtime.assembly[TOOLS]["bash"], command="touch ran")
    assert result.error is not None
    assert result.error.code == "sandbox_unavailable"
    assert not (tmp_path / "ran").exists()


def test_a_shell_needs_the_place_that_it_names(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"execution\.environment"):
        Application("sandboxed", [ShellModule(tmp_path, sandbox="absent")]).build()


@pytest.fixture
def engine(tmp_path: Path) -> str:
    """A client that notes what it is asked; `run` runs the command here, confined by nothing."""
    program = tmp_path / "engine"
    program.write_text(
        f"""#!/bin/bash
printf '%s\\n' "$*" >> {tmp_path}/asked
[ "$1" = run ] || exit 0
while [ "$1" != image ]; do shift; done
shift
exec "$@"
"""
    )
    program.chmod(0o755)
    return str(program)


def asked(tmp_path: Path) -> list[str]:
    return (tmp_path / "asked").read_text().splitlines()


async def test_a_container_is_fresh_has_no_network_and_sees_one_folder(
    tmp_path: Path, engine: str
) -> None:
    environment = ContainerEnvironment("image", program=engine, variables=["LANG"])
    launch = environment.launch(["echo", "a b"], tmp_path, {"LANG": "C", "SECRET": "x"})
    command = " ".join(launch.arguments)
    for part in (
        "--rm --pull never",
        "--cap-drop ALL --security-opt no-new-privileges",
        "--read-only",
        "--network none",
        f"--volume {tmp_path}:{tmp_path} --workdir {tmp_path}",
        "--env LANG image echo a b",
    ):
        assert part in command
    assert "SECRET" not in command


async def test_an_engine_that_does_not_confine_is_found_out(tmp_path: Path, engine: str) -> None:
    report = await probe(ContainerEnvironment("image", program=engine), tmp_path)
    assert report.broken == ALL


async def test_a_container_is_removed_when_its_time_is_over(tmp_path: Path, engine: str) -> None:
    tool = contained(tmp_path, engine)
    result = await invoke(tool, command="sleep 60", timeout_seconds=1)
    assert result.error is not None
    run, removal = asked(tmp_path)
    name = run.split("--name ")[1].split(" ")[0]
    assert removal == f"rm --force {name}"


def contained(root: Path, engine: str) -> Tool:
    modules = [
        ShellModule(root, sandbox="container"),
        SandboxModule("container", ContainerEnvironment("image", program=engine)),
    ]
    return Application("contained", modules).build()[TOOLS]["bash"]


async def test_a_command_that_removed_its_folder_is_still_stopped(tmp_path: Path) -> None:
    folder, stopped = tmp_path / "work", tmp_path / "stopped"
    folder.mkdir()
    program, stop = shutil.which("sh") or "", (shutil.which("touch") or "", str(stopped))
    arguments = [program, "-c", f"rmdir {folder}; sleep 60"]

    finished = await run_in(Launch(arguments, dict(os.environ), folder, stop), timeout_seconds=0.3)

    assert finished.outcome is Outcome.TIMEOUT
    assert stopped.exists()
