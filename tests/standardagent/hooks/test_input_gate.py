"""Input gates: what is submitted has passed them all, and what they refuse leaves no message."""

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import InputGateError, QueuedCommand, SendMessage, SessionCommand
from agentslot.session import (
    ClassifiedError,
    Delivery,
    ErrorKind,
    FileStoreModule,
    Message,
    MessageId,
    RevisionConflictError,
    RunStatus,
)
from agentslot.standardagent.hook import INPUT_GATES, InputGateResult, InputOperation
from tests.standardagent.agents import agent, answer, call, calls, kinds
from tests.standardagent.hooks.crashes import image_after
from tests.standardagent.hooks.hooking import FAILURES, Answer, Hook, note, told
from tests.standardagent.test_resume import crash, resumed

ACCEPT = InputGateResult.accept()


def gate(key: str, evaluate: Answer = lambda _: ACCEPT, **options: Any) -> Hook:
    return Hook(key, evaluate, **options)


def adds(text: str) -> Answer:
    return lambda _: InputGateResult.accept(note(text))


def rejects(reason: str) -> Answer:
    return lambda _: InputGateResult.reject(reason)


def installed(*hooks: Hook) -> list[Module]:
    return [Module("hooks", *(INPUT_GATES.append(each) for each in hooks))]


def texts(request: Any) -> list[str]:
    return [each.text for each in request.inputs if isinstance(each, Message)]


async def refused(session: Any, action: Any) -> InputGateError:
    with pytest.raises(InputGateError) as caught:
        await action
    error = caught.value
    assert error.session_id == session.id
    assert error.current_revision == await session.access.revision(session.id)
    assert session.revision <= error.current_revision
    return error


async def test_an_accepted_message_starts_its_run_with_what_the_gates_add() -> None:
    gates = gate("a", adds("n1")), gate("b", adds("n2"))
    script = [calls(call("gate")), answer("ok"), answer("two")]
    async with agent(script, gated=True, modules=installed(*gates)) as session:
        session.gate.open()
        result = await session.send_and_wait("go", client_message_id="mine")
        first, second = session.executor.requests
        assert texts(first) == ["go", "n1", "n2"]
        assert texts(second) == ["go", ""]
    (view,) = gates[0].views
    assert (view.operation, view.input.parts[0].text) == (InputOperation.SEND, "go")
    assert (view.message_id, view.client_message_id) == (result.message_id, "mine")
    assert told(result.diagnostics) == [
        "a succeeded/applied/consumed accept",
        "b succeeded/applied/consumed accept",
    ]
    assert result.diagnostics[-1].invocation.prepared_revision == view.revision == 2


async def test_a_rejected_message_is_not_there_and_its_sender_reads_why() -> None:
    gates = gate("a", adds("n1")), gate("b", rejects("no poems")), gate("c")
    async with agent([answer("ok")], modules=installed(*gates)) as session:
        error = await refused(session, session.send("a poem"))
        view = await session.view()
        gates[1].answers(lambda _: ACCEPT)
        assert (await session.send_and_wait("go")).status is RunStatus.COMPLETED
    assert (error.kind, error.code, error.message) == (
        ErrorKind.FORBIDDEN,
        "input_rejected",
        "no poems",
    )
    assert view.recent_history == ()
    assert view.queue == ()
    assert view.active_run is None
    expected = [
        "a succeeded/discarded/discarded accept",
        "b succeeded/applied reject",
        "c canceled/discarded input_gate_chain_stopped",
    ]
    assert told(error.diagnostics) == told(view.recent_extension_diagnostics) == expected


@pytest.mark.parametrize(("fails", "status", "code"), FAILURES)
async def test_a_gate_that_fails_rejects(fails: Answer, status: str, code: str) -> None:
    modules = installed(gate("a"), gate("b", fails), gate("c"))
    async with agent([answer("ok")], modules=modules) as session:
        error = await refused(session, session.send("go"))
        view = await session.view()
    late = code == "extension_deadline_exceeded"
    assert error.kind is (ErrorKind.DEADLINE_EXCEEDED if late else ErrorKind.UNAVAILABLE)
    assert error.code == (code if late else "extension_failed")
    assert error.message.startswith("input gate 'b' failed: ")
    assert view.recent_history == ()
    assert told(error.diagnostics) == [
        "a succeeded/discarded accept",
        f"b {status}/applied {code}",
        "c canceled/discarded input_gate_chain_stopped",
    ]


async def test_each_question_has_a_commit_of_its_own_before_and_after() -> None:
    hook = gate("a")
    async with agent([answer("ok")], modules=installed(hook, gate("b"))) as session:
        before = session.revision
        await session.send_and_wait("go")
        (one, two) = reversed((await session.view()).recent_extension_diagnostics)
    assert one.invocation.prepared_revision == two.invocation.prepared_revision == before + 1
    assert one.prepared_at < one.pending_at < one.finished_at < two.pending_at < two.finished_at


async def test_a_stale_revision_is_a_conflict_and_no_gate_is_asked() -> None:
    hook = gate("a")
    async with agent([], modules=installed(hook)) as session:
        stale = SendMessage(session.id, note("go"), expected_revision=9)
        with pytest.raises(RevisionConflictError):
            await session.access.send(stale)
        assert await session.access.revision(session.id) == 1
    assert hook.views == []


async def test_a_queued_message_keeps_what_gates_added_until_it_is_taken_up() -> None:
    hook = gate("a", lambda view: InputGateResult.accept(note(f"on {view.input.parts[0].text}")))
    script = [calls(call("gate")), answer("one"), answer("two")]
    async with agent(script, gated=True, modules=installed(hook)) as session:
        await session.send("first")
        await session.gate.entered()
        await session.send("second")
        await session.steer("third")
        view = await session.view()
        assert told(view.recent_extension_diagnostics)[1:] == [
            "a succeeded/applied/pending accept",
            "a succeeded/applied/pending accept",
        ]
        session.gate.open()
        await session.when_idle()
        shown = [texts(request) for request in session.executor.requests]
        view = await session.view()
    assert shown[0] == ["first", "on first"]
    assert shown[1] == ["first", "", "third", "on third"]
    assert shown[2] == ["first", "", "third", "one", "second", "on second"]
    assert told(view.recent_extension_diagnostics) == ["a succeeded/applied/consumed accept"] * 3
    assert [v.operation for v in hook.views] == ["send", "send", "steer"]


async def test_an_edit_is_asked_about_with_the_digest_of_what_it_replaces() -> None:
    hook = gate("a", lambda view: InputGateResult.accept(note(f"on {view.input.parts[0].text}")))
    script = [calls(call("gate")), answer("one"), answer("two")]
    async with agent(script, gated=True, modules=installed(hook)) as session:
        await session.send("first")
        await session.gate.entered()
        receipt = await session.send("second")
        command = QueuedCommand(session.id, receipt.message_id)
        await session.access.edit_queued(command, note("third"))
        view = await session.view()
        session.gate.open()
        await session.when_idle()
        assert texts(session.executor.requests[2]) == ["first", "", "one", "third", "on third"]
    assert told(view.recent_extension_diagnostics)[1:] == [
        "a succeeded/applied/discarded accept",
        "a succeeded/applied/pending accept",
    ]
    edited = hook.views[2]
    assert (edited.operation, edited.message_id) == ("edit_queued", receipt.message_id)
    assert edited.previous_input_digest.startswith("sha256:")
    assert [v.previous_input_digest for v in hook.views[:2]] == ["", ""]


async def test_a_rejected_edit_changes_nothing() -> None:
    hook = gate("a", adds("n1"))
    async with agent([calls(call("gate"))], gated=True, modules=installed(hook)) as session:
        await session.send("first")
        await session.gate.entered()
        receipt = await session.send("second")
        hook.answers(rejects("no"))
        command = QueuedCommand(session.id, receipt.message_id)
        await refused(session, session.access.edit_queued(command, note("third")))
        view = await session.view()
        missing = QueuedCommand(session.id, MessageId("nobody"))
        with pytest.raises(ClassifiedError) as caught:
            await session.access.edit_queued(missing, note("third"))
        await session.cancel()
    assert caught.value.code == "queue_item_not_found"
    assert [item.message.text for item in view.queue] == ["second"]
    assert told(view.recent_extension_diagnostics)[1:] == [
        "a succeeded/applied/pending accept",
        "a succeeded/applied reject",
    ]


async def test_what_was_added_to_a_message_goes_with_it() -> None:
    hook = gate("a", adds("n1"))
    async with agent([calls(call("gate")), answer("x")], gated=True, modules=installed(hook)) as s:
        await s.send("first")
        await s.gate.entered()
        receipt = await s.send("second")
        command = QueuedCommand(s.id, receipt.message_id)
        await s.access.reclassify_queued(command, Delivery.HELD)
        await s.access.delete_queued(command)
        view = await s.view()
        s.gate.open()
        await s.when_idle()
    assert told(view.recent_extension_diagnostics)[1] == "a succeeded/applied/discarded accept"
    assert len(hook.views) == 2


async def test_a_held_message_that_is_run_later_brings_its_context() -> None:
    hook = gate("a", adds("n1"))
    async with agent([calls(call("gate")), answer("x")], gated=True, modules=installed(hook)) as s:
        await s.send("first")
        await s.gate.entered()
        await s.send("second")
        await s.cancel()
        await s.when_idle()
        await s.access.run_pending(SessionCommand(s.id))
        await s.when_idle()
        assert texts(s.executor.requests[1])[-2:] == ["second", "n1"]
    assert len(hook.views) == 2


async def test_a_steer_whose_run_has_ended_meanwhile_is_not_made() -> None:
    hook = gate("a", adds("n1"))
    script = [calls(call("gate")), answer("ok"), answer("two")]
    async with agent(script, gated=True, modules=installed(hook)) as session:
        await session.send("first")
        await session.gate.entered()
        hook.close()
        errors: list[InputGateError] = []
        async with anyio.create_task_group() as tasks:

            async def steer() -> None:
                errors.append(await refused(session, session.steer("too late")))

            tasks.start_soon(steer)
            await hook.entered()
            session.gate.open()
            await session.when_idle()
            hook.open()
        view = await session.view()
    (error,) = errors
    assert (error.kind, error.code) == (ErrorKind.CONFLICT, "no_active_run")
    assert isinstance(error.__cause__, ClassifiedError)
    assert view.queue == ()
    assert told(view.recent_extension_diagnostics)[1] == "a succeeded/discarded/discarded accept"


async def test_an_edit_of_a_message_that_changed_meanwhile_is_not_made() -> None:
    hook = gate("a", adds("n1"))
    async with agent([calls(call("gate"))], gated=True, modules=installed(hook)) as session:
        await session.send("first")
        await session.gate.entered()
        receipt = await session.send("second")
        command = QueuedCommand(session.id, receipt.message_id)
        hook.close()
        errors: list[InputGateError] = []
        async with anyio.create_task_group() as tasks:

            async def edit() -> None:
                edited = session.access.edit_queued(command, note("third"))
                errors.append(await refused(session, edited))

            tasks.start_soon(edit)
            await hook.entered()
            await session.access.reclassify_queued(command, Delivery.HELD)
            hook.open()
        view = await session.view()
        await session.cancel()
    assert errors[0].code == "revision_conflict"
    assert [item.message.text for item in view.queue] == ["second"]


async def test_submissions_of_a_session_take_turns_and_its_run_goes_on_meanwhile() -> None:
    hook = gate("a")
    script = [calls(call("gate")), answer("ok"), answer("two"), answer("three")]
    async with agent(script, gated=True, modules=installed(hook)) as session:
        await session.send("first")
        await session.gate.entered()
        hook.close()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send, "second")
            await hook.entered()
            tasks.start_soon(session.send, "third")
            await anyio.wait_all_tasks_blocked()
            assert len(hook.views) == 2
            session.gate.open()
            await session.when_idle()
            assert kinds((await session.view()).recent_history)[-1] == "run:completed"
            hook.open()
        await session.when_idle()
    assert [v.input.parts[0].text for v in hook.views] == ["first", "second", "third"]


async def test_a_sender_who_goes_away_leaves_nothing_open() -> None:
    hook = gate("b", hold=True)
    modules = installed(gate("a", adds("n1")), hook, gate("c"))
    async with agent([answer("ok")], modules=modules) as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send, "go")
            await hook.entered()
            tasks.cancel_scope.cancel()
        view = await session.view()
        hook.open()
        assert (await session.send_and_wait("again")).status is RunStatus.COMPLETED
    assert view.recent_history == ()
    assert told(view.recent_extension_diagnostics) == [
        "a succeeded/discarded/discarded accept",
        "b canceled/applied canceled",
        "c canceled/discarded canceled",
    ]


async def test_closing_the_session_ends_what_is_being_submitted() -> None:
    hook, errors = gate("a", hold=True), list[InputGateError]()
    async with agent([], modules=installed(hook)) as session:

        async def send() -> None:
            with pytest.raises(InputGateError) as caught:
                await session.send("go")
            errors.append(caught.value)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send)
            await hook.entered()
            closed = await session.access.close_session(SessionCommand(session.id))
            assert closed.diagnostics == ()
        with pytest.raises(ClassifiedError):
            await session.view()
    (error,) = errors
    assert (error.kind, error.code) == (ErrorKind.UNAVAILABLE, "runtime_closed")
    assert told(error.diagnostics) == ["a canceled/applied canceled"]


async def test_run_pending_and_moving_messages_ask_no_gate() -> None:
    hook = gate("a")
    script = [calls(call("gate")), answer("x")]
    async with agent(script, gated=True, modules=installed(hook)) as session:
        await session.send("first")
        await session.gate.entered()
        receipt = await session.send("second")
        command = QueuedCommand(session.id, receipt.message_id)
        await session.access.reclassify_queued(command, Delivery.HELD)
        await session.access.reclassify_queued(command, Delivery.NORMAL)
        await session.cancel()
        await session.when_idle()
        await session.access.run_pending(SessionCommand(session.id))
        await session.when_idle()
    assert len(hook.views) == 2


@pytest.mark.parametrize(
    ("label", "number", "left"),
    [
        (
            "input-gates-prepare",
            1,
            [
                "a failed/discarded extension_input_unavailable",
                "b failed/discarded extension_input_unavailable",
            ],
        ),
        (
            "input-gates-begin",
            1,
            [
                "a outcome_unknown/discarded hook_outcome_unknown",
                "b failed/discarded extension_input_unavailable",
            ],
        ),
        (
            "input-gates-end",
            1,
            [
                "a succeeded/discarded/discarded accept",
                "b failed/discarded extension_input_unavailable",
            ],
        ),
        (
            "input-gates-end",
            2,
            ["a succeeded/discarded/discarded accept", "b succeeded/discarded accept"],
        ),
    ],
)
async def test_a_submission_that_a_crash_interrupted_is_not_made(
    tmp_path: Path, label: str, number: int, left: list[str]
) -> None:
    folder = tmp_path / "sessions"
    store = partial(FileStoreModule, folder)
    modules = installed(gate("a", adds("n1")), gate("b"))
    async with agent([answer("ok")], modules=modules, store=store) as session:
        await session.send_and_wait("go")
        session_id = session.id
    again = gate("a"), gate("b")
    disk = image_after(folder, label, number)
    async with resumed(disk, session_id, [answer("ok")], modules=installed(*again)) as session:
        view = await session.view()
        assert view.recent_history == ()
        assert told(view.recent_extension_diagnostics) == left
        assert not again[0].views
        await session.send_and_wait("again")
        assert texts(session.executor.requests[0]) == ["again"]


async def test_what_waits_beside_a_queued_message_survives_a_crash(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    store = partial(FileStoreModule, folder)
    script = [calls(call("gate"))]
    modules = installed(gate("a", adds("n1")))
    async with agent(script, gated=True, modules=modules, store=store) as session:
        await session.send("first")
        await session.gate.entered()
        await session.send("second")
        image, session_id = crash(folder), session.id
    async with resumed(image, session_id, [answer("ok")]) as session:
        view = await session.view()
        assert told(view.recent_extension_diagnostics)[1] == "a succeeded/applied/pending accept"
        await session.access.run_pending(SessionCommand(session.id))
        await session.when_idle()
        assert texts(session.executor.requests[0])[-2:] == ["second", "n1"]
