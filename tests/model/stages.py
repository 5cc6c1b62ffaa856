"""The executor over each wire, in front of a local vendor that plays the scenes of the referee."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from agentslot.model import (
    MODEL_EXECUTOR,
    MODEL_PROVIDERS,
    AnthropicModule,
    GoogleModule,
    ModelConfig,
    OllamaModule,
    OpenAICompatibleModule,
    OpenAIResponsesModule,
    RetryPolicy,
)
from agentslot.model.conformance import OpenProvider, OpenStage, ProviderStage, Scene, Stage
from agentslot.model.conformance.scene import UNSAFE_MESSAGE
from agentslot.model.provider import ProviderModule
from tests.loopback import Answer, Reply, loopback
from tests.model import formed
from tests.model import test_anthropic_decoder as messages
from tests.model import test_google_decoder as google
from tests.model import test_ollama_decoder as ollama
from tests.model import test_responses_decoder as responses
from tests.model.formed import Formed
from tests.model.support import application

AT_ONCE = RetryPolicy(base_delay_seconds=0)


@dataclass(frozen=True)
class Vendor:
    """How a vendor says things: a whole answer, its beginning, a call, a refusal, a wanted form."""

    module: Callable[[str], ProviderModule]
    config: ModelConfig
    answer: bytes
    beginning: bytes
    call: bytes
    refusal: Callable[[str], Any]
    formed: Formed
    content_type: str = "text/event-stream"

    def plays(self, scene: Scene) -> Reply:
        """What is sent for a scene."""
        match scene:
            case Scene.ANSWER:
                return self._says(self.answer)
            case Scene.CALL:
                return self._says(self.call)
            case Scene.FORM:
                return lambda request: self._as_asked(request.body, cut=False)
            case Scene.FORM_CUT:
                return lambda request: self._as_asked(request.body, cut=True)
            case Scene.CUT_OFF:
                return replace(self._says(self.beginning), drop=True)
            case Scene.ENDS_EARLY:
                return self._says(self.beginning)
            case Scene.SURPLUS:
                return self._says(self.answer + self.answer)
            case Scene.SILENT_AFTER_TEXT:
                return replace(self._says(self.beginning), hang=True)
            case Scene.SILENT:
                return Answer(mute=True)
            case Scene.GARBAGE:
                return Answer(b"<html>welcome</html>", content_type="text/html")
            case Scene.OVERLOADED:
                return self._refuses(503)
            case Scene.WAIT:
                return self._refuses(429, ("retry-after", "30"))
            case Scene.REJECTED:
                return self._refuses(400)

    def _says(self, body: bytes) -> Answer:
        return Answer(body, content_type=self.content_type)

    def _as_asked(self, asked: bytes, *, cut: bool) -> Answer:
        if b"verdict" not in asked:
            return self._says(self.answer)
        return self._says(self.formed("final_answer" if b"final_answer" in asked else "", cut))

    def _refuses(self, status: int, *headers: tuple[str, str]) -> Answer:
        message = UNSAFE_MESSAGE if status == 400 else "busy"
        body = json.dumps(self.refusal(message)).encode()
        return Answer(body, status, "application/json", headers)


def stages(vendor: Vendor) -> OpenStage:
    """How the referee opens a stage in front of that vendor."""

    @asynccontextmanager
    async def opened(*scenes: Scene) -> AsyncGenerator[Stage]:
        async with (
            loopback(*(vendor.plays(scene) for scene in scenes)) as server,
            application(vendor.module(server.url)).start() as runtime,
        ):
            executor = runtime.assembly[MODEL_EXECUTOR]
            yield Stage(executor, vendor.config, lambda: len(server.requests))

    def open_stage(*scenes: Scene) -> AbstractAsyncContextManager[Stage]:
        return opened(*scenes)

    return open_stage


def provider_stages(vendor: Vendor) -> OpenProvider:
    """The same for the provider alone."""

    @asynccontextmanager
    async def opened(*scenes: Scene) -> AsyncGenerator[ProviderStage]:
        async with (
            loopback(*(vendor.plays(scene) for scene in scenes)) as server,
            application(vendor.module(server.url)).start() as runtime,
        ):
            provider = runtime.assembly[MODEL_PROVIDERS][vendor.config.provider]
            yield ProviderStage(provider, vendor.config, lambda: len(server.requests))

    def open_provider(*scenes: Scene) -> AbstractAsyncContextManager[ProviderStage]:
        return opened(*scenes)

    return open_provider


def completions(*deltas: dict[str, Any], finish: str = "") -> bytes:
    chunks: list[dict[str, Any]] = [{"choices": [{"delta": delta}]} for delta in deltas]
    if finish:
        chunks.append({"choices": [{"delta": {}, "finish_reason": finish}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}})
    end = "data: [DONE]\n\n" if finish else ""
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end).encode()


_FUNCTION = {"name": "ping", "arguments": "{}"}
_COMPLETIONS_CALL = {"tool_calls": [{"index": 0, "id": "c1", "function": _FUNCTION}]}
_MESSAGE_START = {
    "type": "message_start",
    "message": {"usage": {"input_tokens": 5, "output_tokens": 1}},
}
_HI = messages.block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "hi"})
_PING: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "ping", "input": {}}
_GEMINI = {"promptTokenCount": 5, "candidatesTokenCount": 7, "totalTokenCount": 12}
_USED = {"input_tokens": 5, "output_tokens": 7}
_FUNCTION_CALL = responses.done(0, "function_call", call_id="c1", name="ping", arguments="{}")
_OLLAMA_DONE = {**ollama.DONE, "prompt_eval_count": 5, "eval_count": 7}

VENDORS = {
    "openai-completions": Vendor(
        lambda url: OpenAICompatibleModule(f"{url}/v1", ["m"], retry=AT_ONCE),
        ModelConfig("openai", "m"),
        answer=completions({"content": "hi"}, finish="stop"),
        beginning=completions({"content": "hi"}),
        call=completions(_COMPLETIONS_CALL, finish="tool_calls"),
        formed=formed.chat,
        refusal=lambda message: {"error": {"message": message}},
    ),
    "anthropic-messages": Vendor(
        lambda url: AnthropicModule(
            ["claude-opus-5"], base_url=url, api_key_env=None, retry=AT_ONCE
        ),
        ModelConfig("anthropic", "claude-opus-5"),
        answer=messages.sse(_MESSAGE_START, *_HI, *messages.stop()),
        beginning=messages.sse(_MESSAGE_START, *_HI[:2]),
        call=messages.sse(_MESSAGE_START, *messages.block(0, _PING), *messages.stop("tool_use")),
        formed=formed.anthropic,
        refusal=lambda message: {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": message},
        },
    ),
    "openai-responses": Vendor(
        lambda url: OpenAIResponsesModule(["gpt-5"], base_url=url, api_key_env=None, retry=AT_ONCE),
        ModelConfig("openai", "gpt-5"),
        answer=responses.sse(
            responses.delta(0, "output_text", "hi"),
            responses.text(0, "hi"),
            responses.end(usage=_USED),
        ),
        beginning=responses.sse(responses.delta(0, "output_text", "hi")),
        call=responses.sse(_FUNCTION_CALL, responses.end("completed", _FUNCTION_CALL, usage=_USED)),
        formed=formed.gpt,
        refusal=lambda message: {"error": {"message": message}},
    ),
    "google-generative-ai": Vendor(
        lambda url: GoogleModule(
            ["gemini-3.8-flash"], base_url=url, api_key_env=None, retry=AT_ONCE
        ),
        ModelConfig("google", "gemini-3.8-flash"),
        answer=google.sse(
            google.chunk("hi"), google.chunk("", finish="STOP", usageMetadata=_GEMINI)
        ),
        beginning=google.sse(google.chunk("hi")),
        call=google.sse(
            google.chunk({"functionCall": {"name": "ping", "args": {}}}),
            google.chunk("", finish="STOP", usageMetadata=_GEMINI),
        ),
        formed=formed.gemini,
        refusal=lambda message: {
            "error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
        },
    ),
    "ollama-chat": Vendor(
        lambda url: OllamaModule(["qwen3"], host=url, retry=AT_ONCE),
        ModelConfig("ollama", "qwen3"),
        answer=ollama.lines(ollama.says(content="hi"), _OLLAMA_DONE),
        beginning=ollama.lines(ollama.says(content="hi")),
        call=ollama.lines(
            ollama.says(tool_calls=[{"function": {"name": "ping", "arguments": {}}}]),
            _OLLAMA_DONE,
        ),
        formed=formed.ollama_chat,
        refusal=lambda message: {"error": message},
        content_type="application/x-ndjson",
    ),
}
"""Each wire that there is."""

gpt = stages(VENDORS["openai-completions"])
"""A target for `agentslot conformance model.executor`."""

gpt_provider = provider_stages(VENDORS["openai-completions"])
"""A target for `agentslot conformance model.provider`."""
