"""Texts before which an answer ends: asked for on each wire, or refused, but never dropped."""

from dataclasses import replace
from typing import Any

import pytest

from agentslot.model import ModelConfig
from agentslot.session import RunStatus
from tests.model.answering import answer
from tests.model.stages import VENDORS
from tests.standardagent.test_structured_output import asking


def asked_for(body: dict[str, Any]) -> Any:
    places = body, body.get("generationConfig", {}), body.get("options", {})
    names = "stop", "stop_sequences", "stopSequences"
    return next(place[name] for place in places for name in names if name in place)


@pytest.mark.parametrize("wire", sorted(VENDORS.keys() - {"openai-responses"}))
async def test_a_stop_sequence_reaches_the_vendor(wire: str) -> None:
    async with asking(wire, answer(wire, "1 2 3")) as (session, server):
        await session.update_model_config(replace(VENDORS[wire].config, stop_sequences=("4", "!")))
        assert (await session.send_and_wait("Count.")).status is RunStatus.COMPLETED
        assert asked_for(server.requests[0].json()) == ["4", "!"]


async def test_a_vendor_that_knows_none_is_not_asked_without_them() -> None:
    wire = "openai-responses"
    async with asking(wire, answer(wire, "1 2 3")) as (session, server):
        await session.update_model_config(replace(VENDORS[wire].config, stop_sequences=("4",)))
        result = await session.send_and_wait("Count.")
        assert server.requests == []
    assert result.termination is not None
    assert result.termination.code == "request_rejected"
    assert "knows no stop sequences" in result.termination.message


@pytest.mark.parametrize("wrong", ["END", ("",)])
def test_a_stop_sequence_that_would_stop_anything_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="stop_sequences"):
        ModelConfig("openai", "m", stop_sequences=wrong)
