"""What a text delta costs from the socket to a subscriber of the Gateway, beside a raw client.

Both read the same 500 deltas from a server on loopback in a process of its own, in turn and on one
kept connection each. The raw client does what nobody can leave out: it reads, splits and parses.
"""

import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple

import anyio

from agentslot._http import http_library
from agentslot.interaction import (
    ChannelSession,
    InProcessChannel,
    RunFinished,
    TextChunk,
    gateway_channel,
)
from agentslot.model import (
    AnthropicModule,
    GoogleModule,
    ModelConfig,
    OllamaModule,
    OpenAICompatibleModule,
    OpenAIResponsesModule,
)
from agentslot.model.provider import ProviderModule
from agentslot.session import MemoryStoreModule, RunStatus
from agentslot.standardagent import AgentConfig, new_application
from benchmarks import Row
from benchmarks._stream_answers import DELTAS

WARM_UPS, REPEATS = 3, 15


class Sample(NamedTuple):
    """Seconds to the first delta, and to the last one."""

    first: float
    last: float


class Reader(NamedTuple):
    """What reads one of the answers, on either side."""

    module: Callable[[str], ProviderModule]
    """Ours, at a URL."""
    provider: str
    text: Callable[[Any], Any]
    """The text in an event, as the raw client gets at it."""
    end: bytes = b"\n\n"
    """What ends an event."""


def _openai(url: str) -> ProviderModule:
    return OpenAICompatibleModule(base_url=url, api_key_env=None, models=["m"])


def _responses(url: str) -> ProviderModule:
    return OpenAIResponsesModule(["m"], base_url=url, api_key_env=None)


def _anthropic(url: str) -> ProviderModule:
    return AnthropicModule(["m"], base_url=url, api_key_env=None)


def _google(url: str) -> ProviderModule:
    return GoogleModule(["m"], base_url=url, api_key_env=None)


def _ollama(url: str) -> ProviderModule:
    return OllamaModule(["m"], host=url)


def _of_chunk(event: Any) -> Any:  # all of these: what json makes of an event
    choices = event["choices"]
    return choices[0]["delta"].get("content") if choices else None


def _of_response(event: Any) -> Any:
    return event.get("delta")


def _of_message(event: Any) -> Any:
    return event["delta"].get("text") if "delta" in event else None


def _of_candidate(event: Any) -> Any:
    return event["candidates"][0]["content"]["parts"][0]["text"]


def _of_line(line: Any) -> Any:
    return line["message"]["content"]


READERS: Mapping[str, Reader] = {
    "openai": Reader(_openai, "openai", _of_chunk),
    "openai-noisy": Reader(_openai, "openai", _of_chunk),
    "openai-responses": Reader(_responses, "openai", _of_response),
    "anthropic": Reader(_anthropic, "anthropic", _of_message),
    "google": Reader(_google, "google", _of_candidate),
    "ollama": Reader(_ollama, "ollama", _of_line, b"\n"),
}


@contextmanager
def server() -> Generator[str]:
    """The vendors while the block runs; yields the URL that their names are appended to."""
    command = [sys.executable, "-P", "-m", "benchmarks._stream_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        if not port:
            raise RuntimeError("the server of the benchmark did not start")
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


async def raw(client: Any, url: str, reader: Reader) -> Sample:  # of either HTTP library
    """Read all deltas with the HTTP library and json, and nothing else."""
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "go"}]}
    started, first, last, count, rest = time.perf_counter(), 0.0, 0.0, 0, b""
    async with client.stream("POST", f"{url}/", json=body) as response:
        async for piece in response.aiter_bytes():
            *events, rest = (rest + piece).split(reader.end)
            for event in events:
                at = event.find(b"{")
                if at >= 0 and reader.text(json.loads(event[at:])):
                    first = first or time.perf_counter()
                    count += 1
                    if count == DELTAS:
                        last = time.perf_counter()
    return Sample(first - started, last - started)


async def ours(session: ChannelSession) -> Sample:
    """Send a message and hear all deltas of the answer."""
    async with session.events() as events:
        started, first, count = time.perf_counter(), 0.0, 0
        await session.send("go")
        while count < DELTAS:
            event = await events.receive()
            if isinstance(event, RunFinished):
                raise RuntimeError(f"the run ended before all deltas came: {event.message}")
            if isinstance(event, TextChunk):
                first = first or time.perf_counter()
                count += 1
        last = time.perf_counter()
        while not isinstance(end := await events.receive(), RunFinished):
            pass
    if end.status is not RunStatus.COMPLETED:
        raise RuntimeError(f"the run ended as {end.status}: {end.message}")
    return Sample(first - started, last - started)


@asynccontextmanager
async def agent(url: str, reader: Reader) -> AsyncGenerator[ChannelSession]:
    """A Session of an agent whose model is that server."""
    channel = InProcessChannel()
    application = new_application(
        "bench",
        modules=[
            MemoryStoreModule(),
            reader.module(url),
            gateway_channel("bench", channel),
        ],
        config=AgentConfig(),
        default_model=ModelConfig(reader.provider, "m"),
    )
    async with application.start():
        yield await channel.create_session(agent="bench", workspace="bench")


async def measure(url: str, reader: Reader) -> tuple[Sample, Sample]:
    """Medians of ours and of the raw client, taken alternately."""
    mine, theirs = list[Sample](), list[Sample]()
    async with (
        http_library().AsyncClient(trust_env=False) as client,
        agent(url, reader) as session,
    ):
        for number in range(WARM_UPS + REPEATS):
            gc.collect()
            samples = await ours(session), await raw(client, url, reader)
            if number >= WARM_UPS:
                mine.append(samples[0])
                theirs.append(samples[1])
    return _median(mine), _median(theirs)


def _median(samples: list[Sample]) -> Sample:
    return Sample(*(statistics.median(values) for values in zip(*samples, strict=True)))


def rows() -> Iterator[Row]:
    floor = f"raw {http_library().__name__} and json"
    with server() as url:
        for name, reader in READERS.items():
            mine, theirs = anyio.run(measure, f"{url}/{name}", reader)
            of = "" if name == "openai" else f".{name}"
            if not of:
                yield Row(name="raw.first", value=theirs.first * 1e3, unit="ms")
                yield Row(
                    name="ours.first",
                    value=mine.first * 1e3,
                    unit="ms",
                    ratio=mine.first / theirs.first,
                    against=floor,
                )
            yield Row(name=f"raw{of}", value=theirs.last / DELTAS * 1e6, unit="us/delta")
            yield Row(
                name=f"ours{of}",
                value=mine.last / DELTAS * 1e6,
                unit="us/delta",
                ratio=mine.last / theirs.last,
                against=floor,
            )
