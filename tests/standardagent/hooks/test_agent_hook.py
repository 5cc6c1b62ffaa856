"""Agent hooks: best effort proposals before a Run completes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from agentslot import Module
from agentslot.session import FileStoreModule, Message, MessageInput, RunStatus
from agentslot.standardagent.hook import AGENT_HOOKS, COMPLETION_GATES, AgentHookView
from tests.standardagent.agents import agent, answer, kinds
from tests.standardagent.hooks.hooking import Hook, note
from tests.standardagent.hooks.test_completion_gate import goes_on


class Proposes:
    """Proposes the next of its texts each time it is asked."""

    def __init__(self, *proposals: Any) -> None:
        self.views: list[AgentHookView] = []
        self._proposals = list(proposals)

    async def before_run_complete(self, view: AgentHookView) -> Sequence[MessageInput]:
        self.views.append(view)
        proposed: Any = self._proposals.pop(0) if self._proposals else ()
        if isinstance(proposed, Exception):
            raise proposed
        return cast("Sequence[MessageInput]", proposed)


def installed(*hooks: Proposes) -> list[Module]:
    return [Module("hooks", *(AGENT_HOOKS.append(each) for each in hooks))]


def texts(request: Any) -> list[str]:
    return [each.text for each in request.inputs if isinstance(each, Message)]


async def test_a_proposal_keeps_the_run_going_as_a_message_of_its_own() -> None:
    hook = Proposes([note("and the tests?")])
    async with agent([answer("1"), answer("2")], modules=installed(hook)) as session:
        result = await session.send_and_wait("go")
        assert texts(session.executor.requests[1]) == ["go", "1", "and the tests?"]
        view = await session.view()
    assert result.status is RunStatus.COMPLETED
    assert kinds(view.recent_history).count("run:started") == 1
    assert [[m.text for m in v.messages] for v in hook.views] == [
        ["go", "1"],
        ["go", "1", "and the tests?", "2"],
    ]
    assert view.recent_extension_diagnostics == ()


async def test_all_hooks_are_asked_and_one_that_fails_is_passed_over() -> None:
    hooks = (
        Proposes([note("x")]),
        Proposes(RuntimeError()),
        Proposes([5, note("y")]),
        Proposes("no"),
    )
    async with agent([answer("1"), answer("2")], modules=installed(*hooks)) as session:
        result = await session.send_and_wait("go")
        assert texts(session.executor.requests[1]) == ["go", "1", "x", "y"]
    assert result.status is RunStatus.COMPLETED


async def test_a_proposal_that_no_store_can_keep_is_passed_over_like_one_that_is_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = Proposes([note("half \ud800"), note("whole")]), Proposes("no message")
    store = partial(FileStoreModule, tmp_path)
    modules = installed(*hooks)
    async with agent([answer("1"), answer("2")], modules=modules, store=store) as session:
        result = await session.send_and_wait("go")
        assert texts(session.executor.requests[1]) == ["go", "1", "whole"]
    assert result.status is RunStatus.COMPLETED
    said = [entry.getMessage() for entry in caplog.records if "agent hook" in entry.getMessage()]
    assert len(said) == 2
    assert "half a surrogate pair" in said[0]
    assert "a str, which is no message" in said[1]


async def test_gates_are_asked_only_when_no_hook_goes_on() -> None:
    gate = Hook("gate", goes_on(0))
    modules = [
        *installed(Proposes([note("x")])),
        Module("gates", COMPLETION_GATES.append(gate)),
    ]
    async with agent([answer("1"), answer("2")], modules=modules) as session:
        await session.send_and_wait("go")
    assert [view.parts[0].text for view in gate.views] == ["2"]


async def test_a_steer_wins_over_a_proposal() -> None:
    class Steers(Proposes):
        async def before_run_complete(self, view: AgentHookView) -> Sequence[MessageInput]:
            if not self.views:
                await sessions[0].steer("wait")
            return await super().before_run_complete(view)

    sessions: list[Any] = []
    modules = installed(Steers([note("x")]))
    async with agent([answer("1"), answer("2")], modules=modules) as session:
        sessions.append(session)
        await session.send_and_wait("go")
        assert texts(session.executor.requests[1]) == ["go", "1", "wait"]
