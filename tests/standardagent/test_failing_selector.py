"""A model selector that does not do what it should: no Session gets a model from it."""

from functools import partial
from pathlib import Path

import pytest

from agentslot import Module
from agentslot.interaction import InProcessChannel
from agentslot.model import MODEL_SELECTOR
from agentslot.session import (
    AgentId,
    ClassifiedError,
    ErrorKind,
    FileStoreModule,
    ModelConfig,
    WorkspaceId,
)
from agentslot.standardagent import AgentConfig
from tests.standardagent.agents import MODEL, ScriptedModel, agent, scripted_application
from tests.standardagent.test_failing_components import (
    AT_ONCE,
    SECRET,
    Component,
    Misbehave,
    answers_otherwise,
    hangs,
    raises,
)


@pytest.mark.parametrize(
    ("misbehave", "seconds", "kind"),
    [
        (raises, 600, ErrorKind.UNAVAILABLE),
        (answers_otherwise, 600, ErrorKind.UNAVAILABLE),
        (hangs, AT_ONCE, ErrorKind.DEADLINE_EXCEEDED),
    ],
)
async def test_a_selector_that_fails_opens_no_session_and_changes_no_model(
    misbehave: Misbehave,
    seconds: float,
    kind: ErrorKind,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = partial(FileStoreModule, tmp_path)
    async with agent([], store=store) as session:
        session_id = session.id
    channel = InProcessChannel()
    application = scripted_application(
        ScriptedModel([]),
        channel,
        config=AgentConfig(component_timeout_seconds=seconds),
        modules=[Module("broken", MODEL_SELECTOR.set(Component(misbehave)))],
        store=store,
    )
    async with application.start():
        session = await channel.resume_session(session_id)
        with pytest.raises(ClassifiedError) as refused:
            await channel.create_session(agent="tester", workspace="default")
        with pytest.raises(ClassifiedError) as unchanged:
            await session.update_model_config(ModelConfig(provider="test", model="other"))
        assert (await session.view()).model_config == MODEL
        page = await channel.access.list_sessions(AgentId("tester"), WorkspaceId("default"))
    assert [each.id for each in page.sessions] == [session_id]
    for error in (refused.value, unchanged.value):
        assert (error.kind, error.code) == (kind, "model_selection_failed")
        assert SECRET not in str(error)
    assert "the model selector failed" in caplog.text
