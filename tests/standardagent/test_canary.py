"""A secret is looked for in everything that an agent writes, shows and raises."""

import logging
import traceback
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from agentslot import Application
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import ModelConfig, OpenAICompatibleModule, RetryPolicy
from agentslot.session import FileStoreModule
from agentslot.session.credential import CredentialRef, CredentialsModule, MemoryCredentials
from agentslot.standardagent import new_application
from agentslot.standardagent.observe import JsonLinesSinkModule
from tests.loopback import Answer, Loopback, loopback
from tests.model.test_openai_compatible import HELLO, refusal

CANARY = "sk-canary-7f3e9d52c1b84a06"
DEFAULT = ModelConfig("openai", "m")


def agent(folder: Path, url: str, channel: InProcessChannel) -> Application:
    return new_application(
        "test",
        modules=[
            FileStoreModule(folder / "sessions"),
            JsonLinesSinkModule(folder / "observed.jsonl"),
            CredentialsModule(MemoryCredentials({"vendor": CANARY})),
            OpenAICompatibleModule(
                f"{url}/v1",
                ["m"],
                credential=CredentialRef("vendor"),
                retry=RetryPolicy(base_delay_seconds=0),
            ),
            gateway_channel("test", channel),
        ],
        default_model=DEFAULT,
    )


@asynccontextmanager
async def run_against(
    folder: Path, *answers: Answer
) -> AsyncGenerator[tuple[Loopback, list[str], InProcessChannel]]:
    """Run one message; yields everything that was shown."""
    shown: list[str] = []
    channel = InProcessChannel()
    async with loopback(*answers) as server:
        application = agent(folder, server.url, channel)
        shown.append(application.build().describe().model_dump_json())
        shown.append(repr(application))
        async with application.start(), anyio.create_task_group() as tasks:
            session = await channel.create_session(agent="a", workspace="w")

            async def listen() -> None:
                async with session.events() as events:
                    listening.set()
                    async for event in events:
                        shown.append(repr(event))

            listening = anyio.Event()
            tasks.start_soon(listen)
            await listening.wait()
            result = await session.send_and_wait("hi")
            shown += [repr(result), repr(await session.view()), repr(await session.history())]
            yield server, shown, channel
            tasks.cancel_scope.cancel()


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


LEAKING = [
    [HELLO],
    [refusal(401, f"Incorrect API key provided: {CANARY}")],
    [refusal(429, f"slow down, {CANARY}"), HELLO],
    [Answer(f'data: {{"error":{{"message":"{CANARY}","code":"{CANARY}"}}}}\n\n'.encode())],
    [Answer(CANARY.encode(), 500, "text/plain")],
    [Answer(HELLO.body[:40], drop=True), HELLO],
    [Answer(b"", 302, headers=[("location", f"http://127.0.0.1:1/{CANARY}")])],
    [Answer(HELLO.body, headers=[("x-request-id", CANARY)])],
    [Answer(HELLO.body.replace(b'"m"', b'"%s"' % CANARY.encode()))],
]


@pytest.mark.parametrize("answers", LEAKING, ids=range(len(LEAKING)))
async def test_a_key_stands_in_nothing_that_is_written_shown_or_raised(
    answers: list[Answer], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with run_against(tmp_path, *answers) as (server, shown, _):
        assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"
    written = await anyio.to_thread.run_sync(everything_in, tmp_path)
    # Below INFO the HTTP library writes what a server sent; what was sent to it never.
    ours = [
        r for r in caplog.records if r.name.startswith("agentslot") or r.levelno > logging.DEBUG
    ]
    logged = [record.getMessage() for record in ours]
    for record in ours:
        if record.exc_info and record.exc_info[1]:
            logged += traceback.format_exception(record.exc_info[1])
    assert written
    assert CANARY.encode() not in written
    assert CANARY not in "\n".join([*shown, *logged])
