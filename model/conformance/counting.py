"""The referee of `model.token-counter/v1`: no part of a request goes uncounted.

```python
from agentslot.model.conformance import TOKEN_COUNTER_SUITE, Counting

@asynccontextmanager
async def counting():
    yield Counting(MyCounter(), ModelConfig("my-provider", "my-model"))

async def test_mine_is_a_token_counter() -> None:
    await TOKEN_COUNTER_SUITE.check(counting)
```
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from agentslot._conformance import Suite, check, demand
from agentslot._json import dumps
from agentslot.model.contract import ModelRequest, TokenCount, TokenCounter
from agentslot.model.transcript import Input, Transcript
from agentslot.session import (
    Message,
    MessageId,
    ModelConfig,
    Role,
    RunId,
    SessionId,
    StepId,
    TextPart,
    ToolCall,
    ToolCallId,
    ToolDefinition,
    ToolResult,
)


@dataclass(frozen=True, slots=True)
class Counting:
    """A counter, and the selection of a model whose requests it counts."""

    counter: TokenCounter
    config: ModelConfig

    async def count(self, request: ModelRequest) -> TokenCount:
        """The tokens of a request."""
        return await self.counter.count_tokens(request)

    async def tokens(self, request: ModelRequest) -> int:
        """How many they are, exact or at most."""
        return (await self.count(request)).tokens

    def request(self, inputs: Iterable[Input] | Transcript = ()) -> ModelRequest:
        """A request that shows a conversation, and nothing else."""
        shown = inputs if isinstance(inputs, Transcript) else Transcript(inputs)
        ids = SessionId("session-1"), RunId("run-1"), StepId("step-1")
        return ModelRequest(*ids, self.config, None, shown)


OpenCounting = Callable[[], AbstractAsyncContextManager[Counting]]
"""Opens a counter; what it returns is entered once, and left when the check is over."""

_WORDS = 500
_TEXT = "time and tide wait for no one " * (_WORDS // 7 + 1)
"""Words that no vocabulary joins: each is a token at least."""

_TEXTS = ("hello", "", "naïve 🍸 你好", "\0\x1b\u2028", '{"a": [1.0, "b"]}', _TEXT)


def _message(number: int, text: str, role: Role = Role.USER) -> Message:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Message(MessageId(f"message-{number}"), role, (TextPart(text),), moment)


def _saying(text: str) -> list[Input]:
    return [_message(1, text)]


def _exchange(*, said: str = "", arguments: str = "", output: str = "") -> list[Input]:
    """A question, a call and its result."""
    answer = _message(2, said or "let me see", Role.ASSISTANT)
    call = ToolCall(
        ToolCallId("call-1"),
        "token-1",
        answer.id,
        RunId("run-1"),
        StepId("step-1"),
        "look",
        dumps({"at": arguments}),
    )
    return [_message(1, "look there"), answer, call, ToolResult.succeeded(call.id, output)]


def whole_request(config: ModelConfig) -> ModelRequest:
    """A request that has some of everything."""
    tool = ToolDefinition("look", "Looks.", {"type": "object", "properties": {}})
    ids = SessionId("session-1"), RunId("run-1"), StepId("step-1")
    return ModelRequest(*ids, config, "Be brief.", Transcript(_exchange()), (tool,))


def each_part_longer(plain: ModelRequest) -> dict[str, ModelRequest]:
    """A whole request with many words more in one of its parts, by what that part is."""
    [tool] = plain.tools
    schema = {"type": "object", "properties": {"at": {"type": "string", "description": _TEXT}}}
    shown = {
        "a message": [*_exchange(), _message(3, _TEXT)],
        "an answer": _exchange(said=_TEXT),
        "the arguments of a call": _exchange(arguments=_TEXT),
        "the output of a call": _exchange(output=_TEXT),
    }
    return {
        "the system prompt": replace(plain, system_prompt=_TEXT),
        **{what: replace(plain, inputs=Transcript(inputs)) for what, inputs in shown.items()},
        "what a tool is for": replace(plain, tools=(replace(tool, description=_TEXT),)),
        "the schema of a tool": replace(plain, tools=(replace(tool, input_schema=schema),)),
    }


def _listed(counts: Iterable[TokenCount]) -> str:
    return ", ".join(map(str, counts))


@check
async def every_request_has_a_number_of_tokens(open_counting: OpenCounting) -> None:
    """Zero or more, exact or at most, as a TokenCount; what is said may be any text."""
    async with open_counting() as counting:
        conversations = [_exchange(output="\0 🍸"), *map(_saying, _TEXTS)]
        for conversation in conversations:
            count = await counting.count(counting.request(conversation))
            demand(type(count) is TokenCount, f"it counts {count!r}, which is no TokenCount")
            demand(
                type(count.tokens) is int and count.tokens >= 0,
                f"it counts {count.tokens!r} tokens",
            )
            demand(type(count.exact) is bool, f"it says that a count is exact with {count.exact!r}")


@check
async def the_same_request_has_the_same_number(open_counting: OpenCounting) -> None:
    """Whatever was counted in between, also for other conversations."""
    async with open_counting() as counting:
        requests = [
            *(counting.request(_saying(text)) for text in _TEXTS),
            counting.request(_exchange()),
        ]
        known = [await counting.count(request) for request in requests]
        again = [await counting.count(request) for request in requests]
        demand(known == again, f"it counts {_listed(again)} after it has counted {_listed(known)}")


@check
async def nothing_of_a_request_is_left_out(open_counting: OpenCounting) -> None:
    """Prompt, messages, calls, results and tools count, with their names and schemas."""
    async with open_counting() as counting:
        plain = whole_request(counting.config)
        longer = each_part_longer(plain)
        count = await counting.tokens(plain)
        for what, request in longer.items():
            more = await counting.tokens(request) - count
            demand(more >= _WORDS, f"{_WORDS} words in {what} count as {more} tokens")


@check
async def a_conversation_that_grows_never_counts_less(open_counting: OpenCounting) -> None:
    """What was counted of its beginning is neither forgotten nor taken for another's."""
    async with open_counting() as counting:
        long, short = Transcript(), Transcript()
        highest = 0
        for number in range(1, 20):
            long = long.appended([_message(number, _TEXT)])
            short = short.appended([_message(number, "hi")])
            count = await counting.tokens(counting.request(long))
            other = await counting.tokens(counting.request(short))
            alone = await counting.tokens(counting.request(Transcript(short)))
            demand(count >= highest + _WORDS, f"{number} messages count as {count} tokens")
            demand(other <= alone, f"beside a longer one it counts {other} tokens, not {alone}")
            highest = count


TOKEN_COUNTER_SUITE: Suite[OpenCounting] = Suite(
    "model.token-counter/v1",
    (
        every_request_has_a_number_of_tokens,
        the_same_request_has_the_same_number,
        nothing_of_a_request_is_left_out,
        a_conversation_that_grows_never_counts_less,
    ),
)
