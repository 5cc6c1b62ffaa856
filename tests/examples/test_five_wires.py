"""The conversation over all five wires, and the vendors that refuse what real ones refuse."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot.interaction import InProcessChannel
from agentslot.session import RunStatus
from examples.five_wires.agent import MODELS, application
from examples.five_wires.dialects import DIALECTS
from examples.five_wires.server import Refused, answer, vendors

ROOT = Path(__file__).parents[2]
MESSAGES, *_ = DIALECTS


def test_it_prints_what_the_guide_shows() -> None:
    guide = (ROOT / "docs/guide-providers.md").read_text(encoding="utf-8")
    shown = re.search(r"examples\.five_wires\n(.*?)```", guide, re.DOTALL)
    assert shown is not None
    run = [sys.executable, "-m", "examples.five_wires"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == shown[1]
    for wire in MODELS:
        assert f"over {wire}: completed" in done.stdout


async def test_any_order_of_the_models_will_do_and_each_may_come_back() -> None:
    channel = InProcessChannel()
    order = [*reversed(MODELS.values()), *MODELS.values()]
    said = ""
    with vendors() as server, anyio.fail_after(20):
        async with application(channel, server).start():
            session = await channel.create_session(agent="five-wires", workspace="w")
            for config in order:
                await session.update_model_config(config)
                result = await session.send_and_wait("How many people live in Ulm?")
                assert result.status is RunStatus.COMPLETED, result.termination
                said = result.text
    assert said == f"Ulm has 129,000 people; together it is {129_000 * len(order):,}."


def asked(*blocks: dict[str, Any]) -> bytes:
    """A request to the Messages API whose assistant said these blocks, and what came of them."""
    question = {"type": "text", "text": "How many people live in Ulm?"}
    found = {"type": "tool_result", "tool_use_id": "t", "content": "129000"}
    said = [("user", [question]), ("assistant", list(blocks)), ("user", [found])]
    messages = [{"role": role, "content": content} for role, content in said]
    return json.dumps({"messages": messages}).encode()


CALL: dict[str, Any] = {"type": "tool_use", "id": "t", "name": "population", "input": {}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": MESSAGES.proof}
FOREIGN = {"type": "thinking", "thinking": "Hm.", "signature": "signed-by-google"}


def test_a_vendor_takes_its_own_thinking_back() -> None:
    assert b"Ulm has 129,000 people" in answer(MESSAGES, asked(THOUGHT, CALL))


@pytest.mark.parametrize(
    ("blocks", "problem"),
    [
        ([THOUGHT, CALL, CALL], "2 calls have 1 results"),
        ([FOREIGN, THOUGHT, CALL], "thinking of another model"),
        ([CALL], "the thinking before the call is missing"),
    ],
)
def test_a_vendor_refuses_what_is_not_as_it_was(blocks: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        answer(MESSAGES, asked(*blocks))
