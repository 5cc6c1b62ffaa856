"""When a Claude model may be asked to think, after other models have called tools."""

import json

from agentslot.model import Input, ModelConfig, Reasoning, Transcript
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire
from agentslot.session import Continuation, Role, ToolResult
from tests.model.support import call, message, request


def test_a_model_with_a_budget_does_not_think_between_calls_that_it_did_not_think_before() -> None:
    """The server wants thinking before the first call since the user spoke, or none at all."""
    config = ModelConfig("anthropic", "claude-opus-4-5", Reasoning.HIGH)
    thought = Continuation(
        "anthropic",
        config.model,
        '[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"tool_use"}]',
    )

    def step(number: int, continuation: Continuation | None = None) -> list[Input]:
        made = message(number, Role.ASSISTANT, continuation=continuation)
        asked = call(made, 1, "ping", "{}")
        return [made, asked, ToolResult.succeeded(asked.id, "pong")]

    def thinks(*history: Input) -> bool:
        grown = Transcript()
        wire = AnthropicMessagesWire()
        for each in history:
            grown = grown.appended([each])
            wire.encode(request(grown, config=config))
        return "thinking" in json.loads(wire.encode(request(grown, config=config)).body)

    start, more = message(1, Role.USER, "ping"), message(9, Role.USER, "again")
    said = message(8, Role.ASSISTANT, "done")
    assert thinks(start)
    assert thinks(start, *step(2, thought))
    assert thinks(start, *step(2, thought), *step(3))
    assert not thinks(start, *step(2))
    assert not thinks(start, *step(2), *step(3, thought))
    assert not thinks(start, *step(2), more)
    assert thinks(start, *step(2), said, more)
    assert not thinks(start, *step(2, thought), said, more, *step(10))
    newer = ModelConfig("anthropic", "claude-opus-5", Reasoning.HIGH)
    asked = AnthropicMessagesWire().encode(request([start, *step(2)], config=newer))
    assert "thinking" in json.loads(asked.body)
