"""The gate that shows the demonstration when a tool is in the middle of its work."""

import os
import subprocess
from pathlib import Path

from examples.demo.gate import Gate, Run


def shell(folder: Path, command: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        ["bash", "--noprofile", "--norc", "-c", command],
        env={"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_a_run_of_python_waits_until_it_is_let_in(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    seen: list[bool] = []

    command = f'python -c \'open("{mark}", "w")\''
    with (
        Gate(tmp_path / "bin", lambda run: seen.append(mark.exists())).open(),
        shell(tmp_path / "bin", command) as process,
    ):
        assert process.wait() == 0

    assert seen == [False]
    assert mark.exists()


def test_python_gets_its_arguments_input_and_exit_code(tmp_path: Path) -> None:
    def ignore(run: Run) -> None: ...

    with Gate(tmp_path / "bin", ignore).open():
        script = "import sys; print(sys.argv[1:], input()); sys.exit(3)"
        command = f"echo hello | python3 -c '{script}' 'a b' c"
        with shell(tmp_path / "bin", command) as process:
            output, _ = process.communicate()

    assert output == "['a b', 'c'] hello\n"
    assert process.returncode == 3


def test_runs_of_one_command_belong_together_and_those_of_two_do_not(tmp_path: Path) -> None:
    def ignore(run: Run) -> None: ...

    with Gate(tmp_path / "bin", ignore).open() as gate:
        for command in ("python -c 1; python -c 2", "python -c 3"):
            with shell(tmp_path / "bin", command) as process:
                process.wait()

    first, second, third = (run.shell for run in gate.runs)
    assert first == second != third


def test_a_run_goes_on_and_is_waited_for_when_its_starter_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    starter: list[subprocess.Popen[str]] = []

    def kill_the_starter(run: Run) -> None:
        starter[0].kill()

    with Gate(tmp_path / "bin", kill_the_starter).open():
        command = f'python -c \'open("{mark}", "w")\'; exit 7'
        with shell(tmp_path / "bin", command) as process:
            starter.append(process)
            assert process.wait() == -9

    assert mark.exists()


def test_python_runs_all_the_same_when_the_gate_is_closed(tmp_path: Path) -> None:
    def ignore(run: Run) -> None: ...

    with Gate(tmp_path / "bin", ignore).open():
        pass

    with shell(tmp_path / "bin", "python -c 'print(1)'") as process:
        output, _ = process.communicate()
    assert output == "1\n"
