"""From MODULE:APP to an application."""

import pytest

from agentslot.standardagent.command.failure import CommandError, UsageError
from agentslot.standardagent.command.target import load_application


def test_an_application_is_found_by_its_name() -> None:
    assert load_application("greeter:application").name == "greeter"


def test_a_function_without_parameters_is_called() -> None:
    assert load_application("greeter:factory").name == "greeter"


def test_what_a_module_prints_is_kept_out_of_the_result(
    capsys: pytest.CaptureFixture[str],
) -> None:
    load_application("greeter:factory")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "imported\ncalled\n"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "greeter",
            "'greeter' is not of the form MODULE:APP; write for example greeter:application",
        ),
        (":application", "write for example examples.reference:application"),
        ("greeter:", "write for example greeter:application"),
        ("./parts/raising.py", "write for example parts.raising:application"),
        ("greeter.py:factory", "write for example greeter:factory"),
        ("greter:application", "there is no module 'greter'; did you mean 'greeter'?"),
        ("part.raising:x", "there is no module 'part'; did you mean 'parts'?"),
        ("parts.rising:x", "there is no module 'parts.rising'; did you mean 'parts.raising'?"),
        ("greeter:aplication", "'greeter' has no 'aplication'; did you mean 'application'?"),
        ("greeter:factory.name", "'greeter' has no 'factory.name'"),
        ("greeter:GREETING", "'greeter:GREETING' is no application"),
        ("greeter:later", "expected an Application, or a function that returns one"),
        ("greeter:of", "'greeter:of' cannot be called without arguments"),
        ("greeter:print", "'greeter' has no 'print'"),
    ],
)
def test_a_target_that_cannot_work_is_wrong_usage(target: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_application(target)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "parts.raising:x",
            r"importing 'parts.raising' failed: ZeroDivisionError: .*raising.py:2\)",
        ),
        ("parts.mistaken:x", r"importing 'parts.mistaken' failed: TypeError: .*mistaken.py:2\)"),
        ("parts.broken:x", r"importing 'parts.broken' failed: SyntaxError: .*broken.py:1\)"),
        (
            "parts.lonely:x",
            r"importing 'parts.lonely' failed: ModuleNotFoundError: .*lonely.py:1\)",
        ),
        ("parts.needy:x", r"importing 'parts.needy' failed: ModuleNotFoundError: .*needy.py:1\)"),
        ("greeter:failing", r"calling 'greeter:failing' failed: ValueError: no key in the environ"),
    ],
)
def test_code_that_raises_is_a_failure_in_one_line_with_its_place(
    target: str, message: str
) -> None:
    with pytest.raises(CommandError, match=message) as caught:
        load_application(target)
    assert not isinstance(caught.value, UsageError)
    assert "\n" not in str(caught.value)
