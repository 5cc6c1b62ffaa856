"""What is recorded of hooks: who was asked and what became of it, and no word of theirs."""

import json
from pathlib import Path

import pytest

from agentslot import Module
from agentslot.interaction import InputGateError
from agentslot.session import ExtensionStatus
from agentslot.standardagent import ExtensionTransition, JsonLinesSinkModule, MetricKind
from agentslot.standardagent.hook import INPUT_GATES, InputGateResult
from tests.standardagent.agents import agent, answer
from tests.standardagent.hooks.hooking import Answer, Hook, fails_safely, note
from tests.standardagent.observe.recording import Recording


def gate(evaluate: Answer) -> Module:
    return Module("hooks", INPUT_GATES.append(Hook("gate", evaluate)))


def transitions(recording: Recording) -> list[ExtensionTransition]:
    return [record for record in recording.audits if isinstance(record, ExtensionTransition)]


async def test_every_durable_step_of_a_hook_is_audited_and_its_reason_is_not() -> None:
    recording = Recording()
    rejects = gate(lambda _: InputGateResult.reject("canary"))
    async with agent([answer("ok")], modules=[rejects, recording.module()]) as session:
        with pytest.raises(InputGateError):
            await session.send("hello")
    steps = transitions(recording)
    assert [(step.diagnostic.status, step.diagnostic.effect) for step in steps] == [
        ("prepared", "none"),
        ("pending", "none"),
        ("succeeded", "pending"),
        ("succeeded", "applied"),
    ]
    assert {step.session_id for step in steps} == {session.id}
    assert {step.diagnostic.invocation.descriptor.key for step in steps} == {"gate"}
    assert steps[-1].diagnostic.decision == "reject"
    assert "canary" not in repr(steps)


async def test_a_hook_that_failed_is_audited_by_its_code_alone() -> None:
    recording = Recording()
    modules = [gate(fails_safely), recording.module()]
    async with agent([answer("ok")], modules=modules) as session:
        with pytest.raises(InputGateError):
            await session.send("hello")
    shown = transitions(recording)[-1].diagnostic
    assert (shown.status, shown.error_code) == (ExtensionStatus.FAILED, "quota_unknown")
    assert shown.error_reason == ""


async def test_the_journal_is_measured_by_its_invocations_and_by_what_waits_in_it() -> None:
    recording = Recording()
    adds = gate(lambda _: InputGateResult.accept(note("remember")))
    async with agent([answer("ok")], modules=[adds, recording.module()]) as session:
        await session.send_and_wait("hello")
    sizes = [
        (record.name.rpartition(".")[2], record.value)
        for record in recording.metrics
        if record.name.startswith("agent.extension.journal.")
    ]
    assert {record.kind for record in recording.metrics if "journal" in record.name} == {
        MetricKind.GAUGE
    }
    entries = [value for what, value in sizes if what == "entries"]
    waiting = [value for what, value in sizes if what == "bytes"]
    assert set(entries) == {1}
    assert max(waiting) > len("remember")
    assert waiting[-1] == 0


async def test_the_log_of_everything_observed_has_the_hooks(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    accepts = gate(lambda _: InputGateResult.accept())
    modules = [accepts, JsonLinesSinkModule(path)]
    async with agent([answer("ok")], modules=modules) as session:
        await session.send_and_wait("hello")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    hooks = [
        each["record"] for each in lines if each["record"].get("kind") == "extension.transition"
    ]
    assert hooks[-1]["diagnostic"]["invocation"]["boundary"] == "input_gate"
    assert hooks[-1]["diagnostic"]["effect"] == "applied"


async def test_without_hooks_nothing_is_recorded_of_them() -> None:
    recording = Recording()
    async with agent([answer("ok")], modules=[recording.module()]) as session:
        await session.send_and_wait("hello")
    assert transitions(recording) == []
    assert not [record for record in recording.metrics if "journal" in record.name]
