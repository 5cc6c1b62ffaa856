"""A tool that some provider would refuse is refused before the application starts."""

from collections.abc import Mapping

import pytest

from agentslot.interaction import InProcessChannel
from agentslot.session import ToolDefinition, ToolResult
from agentslot.tool import Effect, ToolDeclarationError, ToolInvocation
from tests.standardagent.agents import ScriptedModel, scripted_application

OBJECT: Mapping[str, object] = {"type": "object", "additionalProperties": False}


class Written:
    """A tool of somebody's own, which no decorator has looked at."""

    parallel_safe = False
    effect = Effect.READ

    def __init__(self, name: str, schema: Mapping[str, object]) -> None:
        self.definition = ToolDefinition(name, "Does something.", schema)

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        return ToolResult.succeeded(invocation.call.id, None)


@pytest.mark.parametrize(
    ("name", "schema", "said"),
    [
        ("files.read", OBJECT, "'files.read' cannot be a tool: its name"),
        ("a" * 65, OBJECT, "1 to 64"),
        ("look", {}, '"type": "object"'),
        ("look", {"type": ["object", "null"]}, '"type": "object"'),
        ("look", {**OBJECT, "oneOf": [{"required": ["a"]}]}, "'oneOf' at its root"),
    ],
)
def test_it_is_refused_with_what_to_change(
    name: str, schema: Mapping[str, object], said: str
) -> None:
    tool = Written(name, schema)
    application = scripted_application(ScriptedModel([]), InProcessChannel(), tools=[tool])
    with pytest.raises(ToolDeclarationError) as caught:
        application.build()
    assert said in str(caught.value)
    assert caught.value.tool == name


def test_one_that_all_take_is_not() -> None:
    tools = [Written("look-2", OBJECT)]
    application = scripted_application(ScriptedModel([]), InProcessChannel(), tools=tools)
    assert application.build()
