"""`agentslot describe`."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from agentslot.standardagent.command import COMMANDS, main

ROOT = Path(__file__).parents[2]


def test_the_tree_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "greeter:application"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("assembly  2 modules, 2 slots\n├── required by the profile\n")
    assert captured.out.endswith("needs greeting\n")


@pytest.mark.parametrize(
    ("form", "start"),
    [("json", "{\n"), ("mermaid", "flowchart LR\n"), ("svg", "<svg "), ("html", "<!doctype html>")],
)
def test_every_format_goes_to_standard_output(
    form: str, start: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", "greeter:application", "--format", form]) == 0
    assert capsys.readouterr().out.startswith(start)


def test_json_is_what_the_assembly_says_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    main(["describe", "greeter:application", "--format", "json"])
    description = json.loads(capsys.readouterr().out)
    assert description["schema"] == "agentslot.assembly/v0"
    assert [module["id"] for module in description["modules"]] == ["greeting.english", "names"]


def test_the_page_carries_the_name_of_the_application(capsys: pytest.CaptureFixture[str]) -> None:
    main(["describe", "greeter:application", "--format", "html"])
    assert "<title>greeter</title>" in capsys.readouterr().out


def test_a_file_gets_the_result_and_standard_output_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", "greeter:application", "--format", "svg", "--output", "it.svg"]) == 0
    ET.parse(folder / "it.svg")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("wrote it.svg\n")


def test_a_file_that_cannot_be_written_is_a_failure_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["describe", "greeter:application", "--output", "nowhere/it.txt"]) == 1
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith("agentslot: cannot write 'nowhere/it.txt': ")
    )


def test_a_composition_that_does_not_build_prints_every_problem(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["describe", "greeter:incomplete"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "agentslot: 2 problems\n1. " in captured.err
    assert "greeting" in captured.err
    assert "wold" in captured.err
    assert "Traceback" not in captured.err


def test_a_module_that_raises_is_a_failure_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "greeter:unready"]) == 1
    (line,) = capsys.readouterr().err.splitlines()[1:]
    assert "OSError: no such device" in line


def test_several_modules_that_raise_are_told_by_the_type_of_their_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["describe", "greeter:unable_twice"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert "1. OSError: no such device" in lines
    assert "2. KeyError: 'hello'" in lines


def test_with_json_the_problems_are_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "greeter:incomplete", "--format", "json"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    errors = json.loads(captured.err.removeprefix("imported\n"))["errors"]
    assert {error["type"] for error in errors} == {"RequirementUnsatisfied"}
    by_slot = {error["slot"]: error for error in errors}
    assert by_slot["greeting"]["minimum"] == 1
    assert by_slot["name"]["near"] == ["world"]


def test_a_wrong_target_is_wrong_usage_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "greeter:aplication"]) == 2
    assert capsys.readouterr().err.splitlines()[1:] == [
        "agentslot: 'greeter' has no 'aplication'; did you mean 'application'?"
    ]


def test_a_wrong_target_is_json_where_json_was_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["describe", "greeter", "--format", "json"]) == 2
    (error,) = json.loads(capsys.readouterr().err)["errors"]
    assert error["type"] == "UsageError"


@pytest.mark.parametrize(
    "arguments", [[], ["describe"], ["descrbe"], ["describe", "x:y", "--format", "png"]]
)
def test_wrong_words_are_wrong_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: agentslot" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "one"), [([], "doctor"), (["sessions"], "undo"), (["catalog"], "slots")]
)
def test_a_command_without_its_subcommand_says_which_there_are(
    command: list[str], one: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(command)
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"    {one} " in captured.err


def test_help_lists_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert all(f"  {name}" in text for name in COMMANDS)


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("agentslot ")


def command(*arguments: str) -> "subprocess.Popen[bytes]":
    # An unbuffered standard output drops the rest of a cut write without telling.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(
        [sys.executable, "-m", "agentslot", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=inherited | {"PYTHONPATH": str(ROOT)},
    )


def test_a_reader_that_goes_away_leaves_no_traceback() -> None:
    with command("describe", "greeter:wide", "--format", "html") as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b"imported\n"
    assert process.returncode == 141


def test_the_result_is_utf_8_whatever_the_terminal_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    with command("describe", "greeter:application") as process:
        output, _ = process.communicate()
    assert "├── ".encode() in output
    assert process.returncode == 0
