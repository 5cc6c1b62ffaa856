"""Histories in any order that may ever be stored, with answers of every vendor in them."""

from hypothesis import strategies as st

from agentslot.model import Input
from agentslot.session import Continuation, Role, ToolCall, ToolCallId, ToolResult
from tests.model.support import call, message
from tests.model.vendors import VENDORS

STATES = {
    "deepseek": '{"reasoning_content":"of deepseek"}',
    "claude": '[{"type":"thinking","thinking":"of claude","signature":"s"},{"type":"tool_use"},'
    '{"type":"thinking","thinking":"of claude","signature":"t"},{"type":"text"}]',
    "gpt": '[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"of gpt"},'
    '{"type":"message","id":"msg_1"},{"type":"reasoning","id":"rs_2","summary":[],'
    '"encrypted_content":"of gpt"},{"type":"function_call","id":"fc_1"}]',
    "gemini": '[{"type":"part","part":{"text":"of gemini","thought":true}},{"type":"functionCall",'
    '"id":"same","thoughtSignature":"s"},{"type":"text","thoughtSignature":"s"},{"type":"part"}]',
    "ollama": '{"thinking":"of ollama"}',
}
"""What each vendor may want back with a message; its name stands in what is nobody else's."""

OPERATIONS = st.lists(
    st.sampled_from(
        [
            *("user", "blank", "assistant", "call", "call", "result", "stray", "again"),
            *("garbage", *STATES),
        ]
    ),
    max_size=25,
)


def play(names: list[str]) -> list[Input]:
    """Any order of things that a History may hold, legal or not."""
    inputs: list[Input] = []
    owner = message(0, Role.ASSISTANT, "hello")
    calls: list[ToolCall] = []
    for number, name in enumerate(names, 1):
        if name == "assistant":
            owner = message(number, Role.ASSISTANT)
            inputs.append(owner)
        elif name in STATES:
            owner = message(number, Role.ASSISTANT, "so", continuation=_state(name, STATES[name]))
            inputs.append(owner)
        elif name == "garbage":
            owner = message(number, Role.ASSISTANT, "so", continuation=_state("claude", "garbage"))
            inputs.append(owner)
        elif name == "call":
            calls.append(call(owner, number, "ping", "{", token="same"))
            inputs.append(calls[-1])
        elif name == "result" and calls:
            inputs.append(ToolResult.succeeded(calls[-1].id, number))
        elif name == "again" and calls:
            inputs.append(ToolResult.succeeded(calls[0].id, number))
        elif name == "stray":
            inputs.append(ToolResult.succeeded(ToolCallId("nowhere"), number))
        elif name in ("user", "blank"):
            inputs.append(message(number, Role.USER, "hi" if name == "user" else " \n"))
    return inputs


def _state(name: str, state: str) -> Continuation:
    config = VENDORS[name].config
    return Continuation(config.provider, config.model, state)
