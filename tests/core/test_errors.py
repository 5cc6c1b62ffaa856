"""The catalogue of errors."""

import inspect

import pytest

import agentslot
from agentslot import (
    AgentSlotError,
    BuildFailed,
    CompositionError,
    InvalidKey,
    RequirementUnsatisfied,
    _errors,
)

CATALOGUE = {
    "AssemblyStarted",
    "BuilderFrozen",
    "DependencyCycle",
    "DependencyNotReady",
    "DependencyUndeclared",
    "DuplicateKey",
    "DuplicateModule",
    "InvalidApplication",
    "InvalidContribution",
    "InvalidKey",
    "InvalidModule",
    "InvalidRequirement",
    "RegistrationClosed",
    "RequirementUnsatisfied",
    "ResolverClosed",
    "SlotConflict",
    "SlotOccupied",
}


def classes() -> set[str]:
    return {
        name
        for name, value in vars(_errors).items()
        if inspect.isclass(value) and issubclass(value, AgentSlotError)
    }


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_each_error_of_the_catalogue_is_public_and_a_class_of_its_own(name: str) -> None:
    error = getattr(agentslot, name)

    assert issubclass(error, CompositionError)
    assert error.__module__ == "agentslot"


def test_the_tree_at_the_top_of_the_module_draws_every_class() -> None:
    assert _errors.__doc__ is not None
    drawn = {word for word in _errors.__doc__.split() if word in classes()}

    assert drawn == classes()
    assert classes() > CATALOGUE


def test_an_error_prints_what_happened_where_and_what_to_write() -> None:
    error = InvalidKey("key ''", fix="give a key", module="a", where=lambda: "file.py:1")
    error.application = "app"
    error.number = 2

    assert str(error) == (
        "key ''\n  where: module 2 'a' (file.py:1) in application 'app'\n  fix: give a key"
    )


def test_where_is_looked_up_only_when_somebody_reads_it() -> None:
    def never() -> str:
        raise AssertionError("looked up")

    assert InvalidKey("key ''", fix="give a key", where=never).what == "key ''"


def test_a_group_of_problems_stays_one_when_it_is_split() -> None:
    group = BuildFailed("two", [InvalidKey("a", fix="b"), ValueError()])
    keys, rest = group.split(InvalidKey)

    assert isinstance(keys, BuildFailed)
    assert isinstance(rest, BuildFailed)


def test_a_requirement_without_a_module_has_no_path() -> None:
    error = RequirementUnsatisfied("what", fix="fix", required="r", minimum=1, actual=0, slot="s")

    assert str(error) == "what\n  required: r\n  fix: fix"
