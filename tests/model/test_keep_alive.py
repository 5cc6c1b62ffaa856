"""What keeps a connection alive while a model is thinking, and what does not.

A gateway sends comments until the model begins, one every few seconds for many minutes at worst.
"""

import pytest

from agentslot.model import (
    MODEL_EXECUTOR,
    Completed,
    Failed,
    ModelErrorCode,
    ModelEvent,
    TextDelta,
    Timeouts,
)
from agentslot.model.testing import MemoryRecorder
from agentslot.session import Role, TextPart
from tests import steppedclock
from tests.loopback import Answer, loopback
from tests.model.stages import VENDORS
from tests.model.support import application, case, collect, message, request
from tests.steppedclock import WatchedNetwork

anyio_backend = steppedclock.anyio_backend
IDLE = Timeouts().idle_seconds
SIGNS = {
    "text/event-stream": b": thinking\n\n",
    "application/x-ndjson": b"\n",
}


async def ask(wire: str, network: WatchedNetwork, *answers: Answer) -> list[ModelEvent]:
    """One call over that wire, with the limits that everybody has."""
    vendor = VENDORS[wire]
    asked = request([message(1, Role.USER, "hi")], config=vendor.config)
    async with (
        loopback(*answers) as server,
        application(vendor.module(server.url).over(network)).start() as runtime,
    ):
        return await collect(runtime.assembly[MODEL_EXECUTOR].execute(asked, MemoryRecorder()))


def text_of(events: list[ModelEvent]) -> str:
    last = events[-1]
    assert isinstance(last, Completed)
    return "".join(part.text for part in last.completion.parts if isinstance(part, TextPart))


@pytest.mark.parametrize("wire", VENDORS)
async def test_signs_of_life_keep_a_silent_model_from_timing_out(wire: str) -> None:
    network = WatchedNetwork()
    vendor = VENDORS[wire]
    sign = SIGNS[vendor.content_type]

    async def paced(sent: int) -> None:
        if sent <= 3 * len(sign):
            await network.skipping(IDLE * 0.9)(sent)

    body = 3 * sign + vendor.answer
    answer = Answer(body, content_type=vendor.content_type, chunk=len(sign), after_piece=paced)
    events = await ask(wire, network, answer)
    assert network.skipped > 2 * IDLE
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["hi"]
    assert text_of(events) == "hi"


@pytest.mark.parametrize("wire", VENDORS)
async def test_silence_behind_a_sign_of_life_ends_the_attempt(wire: str) -> None:
    network = WatchedNetwork()
    sign = SIGNS[VENDORS[wire].content_type]
    paced = network.skipping(IDLE * 1.01)
    answer = Answer(sign, content_type=VENDORS[wire].content_type, hang=True, after_piece=paced)
    [failed] = await ask(wire, network, answer)
    assert isinstance(failed, Failed)
    assert failed.error.code is ModelErrorCode.TIMEOUT
    assert failed.error.retryable
    assert network.skipped == pytest.approx(3 * IDLE * 1.01)  # one for each attempt


async def test_comments_of_a_gateway_are_life_in_pieces_of_any_size() -> None:
    """Each piece takes less than a complete answer may wait for its end, all of them far more."""
    network = WatchedNetwork()
    answer = Answer(case("W01/stream.txt"), chunk=7, after_piece=network.skipping(4))
    assert text_of(await ask("openai-completions", network, answer)) == "Hello"
    assert network.skipped > 4 * IDLE
