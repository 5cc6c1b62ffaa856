"""Histories in any order that may ever be stored, with answers of every vendor in them."""

from hypothesis import strategies as st

from agentslot.model import Input, ModelConfig
from agentslot.session import Continuation, Role, ToolCall, ToolCallId, ToolResult
from tests.model.support import call, message

CLAUDE = ModelConfig("anthropic", "claude-opus-5")
GPT = ModelConfig("openai", "gpt-5")
GEMINI = ModelConfig("google", "gemini-3.8-flash")
QWEN = ModelConfig("ollama", "qwen3")

STATES = {
    "chat": Continuation("deepseek", "m", '{"reasoning_content":"foreign"}'),
    "claude": Continuation(
        CLAUDE.provider,
        CLAUDE.model,
        '[{"type":"thinking","thinking":"own","signature":"s"},{"type":"tool_use"},'
        '{"type":"thinking","thinking":"own","signature":"t"},{"type":"text"}]',
    ),
    "gpt": Continuation(
        GPT.provider,
        GPT.model,
        '[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"own"},'
        '{"type":"message","id":"msg_1"},{"type":"reasoning","id":"rs_2","summary":[],'
        '"encrypted_content":"own"},{"type":"function_call","id":"fc_1"}]',
    ),
    "gemini": Continuation(
        GEMINI.provider,
        GEMINI.model,
        '[{"type":"part","part":{"text":"own","thought":true}},{"type":"functionCall","id":"same",'
        '"thoughtSignature":"own"},{"type":"text","thoughtSignature":"own"},{"type":"part"}]',
    ),
    "qwen": Continuation(QWEN.provider, QWEN.model, '{"thinking":"own"}'),
    "garbage": Continuation(CLAUDE.provider, CLAUDE.model, "garbage"),
}
OPERATIONS = st.lists(
    st.sampled_from(
        ["user", "blank", "assistant", "call", "call", "result", "stray", "again", *STATES]
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
            owner = message(number, Role.ASSISTANT, "so", continuation=STATES[name])
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
