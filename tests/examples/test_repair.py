"""The reference agent does the whole job over real HTTP, as the loopback model checks."""

import pytest

from agentslot.interaction import InProcessChannel
from agentslot.session import ModelAttempt, RunStatus, ToolResult, ToolStatus
from examples.demo.agent import TASK, application
from examples.loopback_model import MODEL
from tests.examples.workshop import Workshop


async def test_the_agent_repairs_the_project_and_ends_with_green_tests(
    base_url: str,
    workshop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setenv("AGENTSLOT_BASE_URL", base_url)
    monkeypatch.setenv("AGENTSLOT_MODEL", MODEL)
    monkeypatch.setenv("AGENTSLOT_API_KEY", "secret")
    monkeypatch.setenv("AGENTSLOT_WORKSPACE", str(workshop.root))
    monkeypatch.setenv("AGENTSLOT_SESSIONS", str(tmp_path_factory.mktemp("sessions")))
    monkeypatch.setenv("PATH", workshop.path)
    channel = InProcessChannel()

    async with application(channel).start():
        session = await channel.create_session(agent="reference", workspace="w")
        result = await session.send_and_wait(TASK)
        facts = (await session.view()).recent_history

    assert result.status is RunStatus.COMPLETED
    assert "all tests pass" in result.text
    assert workshop.passes_its_tests()
    payloads = [fact.payload for fact in facts]
    results = [payload for payload in payloads if isinstance(payload, ToolResult)]
    assert [each.status for each in results] == [ToolStatus.SUCCEEDED] * 7
    usages = [p.usage for p in payloads if isinstance(p, ModelAttempt) and p.usage is not None]
    assert sum(usage.total for usage in usages) == result.usage.total > 0
    assert not any(usage.estimated for usage in usages)
