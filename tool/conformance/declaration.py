"""What a tool says of itself."""

from collections.abc import Iterator
from typing import cast

from agentslot._conformance import expect
from agentslot.tool.conformance.calls import Check, Trial
from agentslot.tool.contract import Effect, Tool
from agentslot.tool.declaration import NAME

DIALECT = "https://json-schema.org/draft/2020-12/schema"


async def it_has_a_name_that_every_provider_takes(tool: Tool, _trial: Trial) -> None:
    """Its name has 1 to 64 of the usual characters, and it is described."""
    name = tool.definition.name
    check = "it_has_a_name_that_every_provider_takes"
    expect(check, NAME.fullmatch(name) is not None, f"{name!r} is not 1 to 64 of A-Z a-z 0-9 _ -")
    expect(check, bool(tool.definition.description.strip()), "it has no description")


async def its_schema_is_closed_and_refers_to_itself_alone(tool: Tool, _trial: Trial) -> None:
    """Its schema is a closed object of Draft 2020-12 without references outward."""
    check = "its_schema_is_closed_and_refers_to_itself_alone"
    schema = tool.definition.input_schema
    expect(check, schema.get("type") == "object", "its root is not of type object")
    closed = schema.get("additionalProperties") is False
    expect(check, closed, "its root does not say additionalProperties: false")
    dialect = schema.get("$schema", DIALECT)
    expect(check, dialect == DIALECT, f"its dialect is {dialect!r}, not Draft 2020-12")
    for reference in _references(schema):
        expect(check, reference.startswith("#"), f"it refers to {reference!r}, outside of itself")


async def its_schema_describes_the_trial(tool: Tool, trial: Trial) -> None:
    """A call that succeeds names what the schema requires, and nothing else."""
    check = "its_schema_describes_the_trial"
    schema = tool.definition.input_schema
    known, required = schema.get("properties", {}), schema.get("required", [])
    expect(check, isinstance(known, dict), "its properties are no object")
    expect(check, isinstance(required, list), "its required names are no list")
    if not trial.succeeds:
        return
    unknown = set(trial.arguments) - set(cast("dict[str, object]", known))
    expect(check, not unknown, f"the trial has arguments it does not name: {unknown}")
    missing = set(cast("list[str]", required)) - set(trial.arguments)
    expect(check, not missing, f"the trial lacks arguments it requires: {missing}")


async def it_always_says_the_same_of_itself(tool: Tool, _trial: Trial) -> None:
    """Definition, effect and parallel_safe are of their types and do not change."""
    check = "it_always_says_the_same_of_itself"
    expect(check, tool.definition == tool.definition, "its definition changes between readings")
    effect: object = tool.effect
    expect(check, type(effect) is Effect, f"its effect is {effect!r}, no Effect")
    parallel: object = tool.parallel_safe
    expect(check, type(parallel) is bool, f"parallel_safe is {parallel!r}, no bool")


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        for name, value in cast("dict[str, object]", schema).items():
            if name in {"$ref", "$dynamicRef"} and isinstance(value, str):
                yield value
            yield from _references(value)
    elif isinstance(schema, list):
        for item in cast("list[object]", schema):
            yield from _references(item)


DECLARATION_CHECKS: tuple[Check, ...] = (
    it_has_a_name_that_every_provider_takes,
    its_schema_is_closed_and_refers_to_itself_alone,
    its_schema_describes_the_trial,
    it_always_says_the_same_of_itself,
)
