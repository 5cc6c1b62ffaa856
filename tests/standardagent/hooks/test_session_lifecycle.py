"""Session lifecycle hooks: a word to the next Run when a Session opens, and a farewell."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import ForkSession, SessionCommand, StartFromSummary
from agentslot.session import (
    AgentId,
    ClassifiedError,
    FileStoreModule,
    LifecyclePhase,
    Message,
    OpenKind,
    RevisionConflictError,
    RunStatus,
    WorkspaceId,
)
from agentslot.standardagent.hook import (
    SESSION_LIFECYCLES,
    LifecycleScope,
    SessionLifecycleResult,
)
from tests.standardagent.agents import agent, answer, call, calls, kinds
from tests.standardagent.hooks.crashes import image_after
from tests.standardagent.hooks.hooking import FAILURES, Answer, Hook, note, told
from tests.standardagent.test_resume import resumed

NOTHING = SessionLifecycleResult()
OPEN, CLOSE = LifecycleScope((LifecyclePhase.OPEN,)), LifecycleScope((LifecyclePhase.CLOSE,))


def adds(text: str) -> Answer:
    return lambda _: SessionLifecycleResult((note(text),))


def hook(key: str, answer: Answer = lambda _: NOTHING, **options: Any) -> Hook:
    return Hook(key, answer, scope=options.pop("scope", LifecycleScope()), **options)


def installed(*hooks: Hook) -> list[Module]:
    return [Module("hooks", *(SESSION_LIFECYCLES.append(each) for each in hooks))]


def texts(request: Any) -> list[str]:
    return [each.text for each in request.inputs if isinstance(each, Message)]


async def test_what_hooks_add_at_opening_is_shown_in_the_first_step_of_the_next_run() -> None:
    modules = installed(hook("a", adds("n1"), scope=OPEN), hook("b", adds("n2"), scope=OPEN))
    script = [calls(call("gate")), answer("ok"), answer("two")]
    async with agent(script, gated=True, modules=modules) as session:
        before = (await session.view()).recent_extension_diagnostics
        session.gate.open()
        await session.send_and_wait("go")
        await session.send_and_wait("again")
        shown = [texts(request) for request in session.executor.requests]
        view = await session.view()
    assert told(before) == [f"{key} succeeded/applied/pending" for key in "ab"]
    assert shown == [["go", "n1", "n2"], ["go", ""], ["go", "", "ok", "again"]]
    assert told(view.recent_extension_diagnostics) == [
        f"{key} succeeded/applied/consumed" for key in "ab"
    ]


async def test_hooks_know_how_the_session_came_to_be_open(tmp_path: Path) -> None:
    watching = hook("a", scope=OPEN)
    store = partial(FileStoreModule, tmp_path / "sessions")
    async with agent([answer("ok")], modules=installed(watching), store=store) as session:
        await session.send_and_wait("go")
        access = session.access
        agent_id, workspace = AgentId("tester"), WorkspaceId("default")
        await access.fork_session(ForkSession(session.id, "full_history", agent_id, workspace))
        await access.start_from_summary(StartFromSummary(agent_id, workspace, (note("x"),)))
        await access.close_session(SessionCommand(session.id))
        opened = await access.resume_session(session.id)
        again = await access.resume_session(session.id)
    assert [v.open_kind for v in watching.views] == ["create", "fork", "summary", "resume"]
    assert {v.phase for v in watching.views} == {LifecyclePhase.OPEN}
    assert told(opened.diagnostics) == ["a succeeded/applied"]
    assert opened.diagnostics[0].invocation.open_kind is OpenKind.RESUME
    assert again.diagnostics == ()


async def test_an_explicit_close_asks_after_the_run_has_ended_and_answers_with_a_receipt() -> None:
    watching = hook("a", scope=CLOSE)
    async with agent([calls(call("gate"))], gated=True, modules=installed(watching)) as session:
        assert (await session.view()).recent_extension_diagnostics == ()
        await session.send("go")
        await session.gate.entered()
        closed = await session.access.close_session(SessionCommand(session.id))
        opened = await session.access.resume_session(session.id)
        view = await session.view()
    assert [view.phase for view in watching.views] == ["close"]
    assert kinds(view.recent_history)[-1] == "run:canceled"
    assert told(closed.diagnostics) == ["a succeeded/applied"]
    assert closed.revision == opened.revision


async def test_stopping_the_application_is_no_farewell() -> None:
    watching = hook("a", scope=CLOSE)
    async with agent([answer("ok")], modules=installed(watching)) as session:
        await session.send_and_wait("go")
    assert watching.views == []


async def test_closing_on_a_stale_revision_is_a_conflict_and_asks_nobody() -> None:
    watching = hook("a", scope=CLOSE)
    async with agent([answer("ok")], modules=installed(watching)) as session:
        with pytest.raises(RevisionConflictError):
            await session.access.close_session(SessionCommand(session.id, 9))
        assert (await session.send_and_wait("go")).status is RunStatus.COMPLETED
    assert watching.views == []


@pytest.mark.parametrize(("fails", "status", "code"), FAILURES)
async def test_a_failure_ends_the_chain_and_hinders_nothing(
    fails: Answer, status: str, code: str
) -> None:
    modules = installed(hook("a", adds("n1")), hook("b", fails), hook("c"))
    async with agent([answer("ok")], modules=modules) as session:
        opened = (await session.view()).recent_extension_diagnostics
        assert (await session.send_and_wait("go")).status is RunStatus.COMPLETED
        assert texts(session.executor.requests[0]) == ["go"]
        closed = await session.access.close_session(SessionCommand(session.id))
    assert told(opened) == [
        "a succeeded/discarded/discarded",
        f"b {status}/applied {code}",
        "c canceled/discarded session_lifecycle_chain_stopped",
    ]
    # A Session that closes takes no context: the first hook of the farewell breaks its contract.
    assert told(closed.diagnostics)[0] == "a failed/applied extension_failed"


async def test_the_diagnostics_of_a_run_are_not_those_of_its_session() -> None:
    async with agent([answer("ok")], modules=installed(hook("a"))) as session:
        assert (await session.send_and_wait("go")).diagnostics == ()


async def test_a_session_is_not_open_before_its_hooks_have_answered() -> None:
    held = hook("a", adds("n1"))
    async with agent([answer("ok")], modules=installed(held)) as session:
        await session.access.close_session(SessionCommand(session.id))
        held.answers(adds("n2"))
        held.close()
        opened: list[Any] = []

        async def resume() -> None:
            opened.append(await session.access.resume_session(session.id))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(resume)
            tasks.start_soon(resume)
            await held.entered()
            with pytest.raises(ClassifiedError, match="session_not_open"):
                await session.access.view(session.id)
            held.open()
    assert sorted(len(each.diagnostics) for each in opened) == [0, 1]


async def test_an_opener_who_goes_away_leaves_nothing_open() -> None:
    held = hook("b")
    async with agent([answer("ok")], modules=installed(hook("a"), held)) as session:
        await session.access.close_session(SessionCommand(session.id))
        held.close()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.access.resume_session, session.id)
            await held.entered()
            tasks.cancel_scope.cancel()
        held.open()
        await session.access.resume_session(session.id)
        page = await session.access.extension_diagnostics(session.id, limit=4)
    assert told(page.diagnostics) == [
        "a succeeded/discarded",
        "b canceled/applied canceled",
        "a succeeded/applied",
        "b succeeded/applied",
    ]
    assert page.has_more


async def test_who_closes_and_goes_away_leaves_a_session_that_can_be_opened_again() -> None:
    held = hook("a")
    async with agent([answer("ok")], modules=installed(held)) as session:
        held.close()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.access.close_session, SessionCommand(session.id))
            await held.entered()
            tasks.cancel_scope.cancel()
        held.open()
        opened = await session.access.resume_session(session.id)
        assert told(opened.diagnostics) == ["a succeeded/applied"]
        await session.view()
        assert (await session.send_and_wait("go")).status is RunStatus.COMPLETED


async def test_restarts_do_not_pile_up_what_hooks_add(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    store = partial(FileStoreModule, folder)
    hooks = [hook("a", adds("n1"), scope=OPEN), hook("b", adds("m1"), scope=OPEN)]
    async with agent([], modules=installed(*hooks), store=store) as session:
        session_id = session.id
    hooks = [hook("a", adds("n2"), scope=OPEN), hook("b", scope=OPEN)]
    async with resumed(folder, session_id, [answer("ok")], modules=installed(*hooks)) as session:
        await session.send_and_wait("go")
        assert texts(session.executor.requests[0]) == ["go", "m1", "n2"]
        view = await session.view()
    assert told(view.recent_extension_diagnostics) == [
        "a succeeded/applied/discarded",
        "b succeeded/applied/consumed",
        "a succeeded/applied/consumed",
        "b succeeded/applied",
    ]


@pytest.mark.parametrize(
    ("label", "left"),
    [
        (
            "lifecycle-prepare",
            [
                "a canceled/discarded session_lifecycle_recovery_canceled",
                "b canceled/discarded session_lifecycle_recovery_canceled",
            ],
        ),
        (
            "lifecycle-begin",
            [
                "a outcome_unknown/discarded hook_outcome_unknown",
                "b canceled/discarded session_lifecycle_recovery_canceled",
            ],
        ),
        ("lifecycle-applied", ["a succeeded/applied/discarded", "b succeeded/applied"]),
    ],
)
async def test_an_opening_that_a_crash_interrupted_is_settled_before_the_next(
    tmp_path: Path, label: str, left: Sequence[str]
) -> None:
    folder = tmp_path / "sessions"
    store = partial(FileStoreModule, folder)

    def hooks() -> list[Module]:
        return installed(hook("a", adds("n1"), scope=OPEN), hook("b", scope=OPEN))

    async with agent([], modules=hooks(), store=store) as session:
        session_id = session.id
    disk = image_after(folder, label)
    async with resumed(disk, session_id, [answer("ok")], modules=hooks()) as session:
        await session.send_and_wait("go")
        assert texts(session.executor.requests[0]) == ["go", "n1"]
        view = await session.view()
    assert told(view.recent_extension_diagnostics) == [
        *left,
        "a succeeded/applied/consumed",
        "b succeeded/applied",
    ]
