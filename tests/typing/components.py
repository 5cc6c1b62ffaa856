"""Components as users write them, whatever they call what they are given, fit their slots."""

from collections.abc import Sequence

from agentslot import Module
from agentslot.session import ExtensionDescriptor, MessageInput
from agentslot.standardagent import (
    AGENT_LOOP,
    COMMIT_OBSERVERS,
    CONTEXT_COMPACTOR,
    CONTEXT_SOURCES,
    POLICY_GUARDS,
    USAGE_RECORDERS,
    Action,
    CommitNotice,
    Compaction,
    ContextInput,
    Decision,
    Outcome,
    PolicyEffect,
    RunHandle,
    ToolAction,
    UsageRecord,
)
from agentslot.standardagent.hook import INPUT_GATES, InputGateResult, InputGateView


class Component:
    key = "typing.component"

    async def contribute(self, asked: ContextInput) -> list[MessageInput]:
        return [MessageInput.of(f"for {asked.workspace}")]

    async def compact(self, too_long: ContextInput) -> Compaction:
        return Compaction(len(too_long.inputs))

    async def run(self, handle: RunHandle) -> Outcome:
        await handle.act(Action.REQUEST_MODEL)
        return await handle.finish(Outcome.COMPLETED)

    async def observe_session_commit(self, told: CommitNotice) -> None:
        self.key = f"typing.component.{told.revision}"

    async def record_usage(self, used: UsageRecord) -> None:
        self.key = f"typing.component.{used.workspace}"


class Guard:
    async def evaluate(self, call: ToolAction) -> Decision:
        return Decision(PolicyEffect.ALLOW, f"{call.workspace} may do it")


class Gate:
    def descriptor(self) -> ExtensionDescriptor:
        return ExtensionDescriptor.of("typing.gate", "1")

    async def evaluate(self, asked: InputGateView) -> InputGateResult:
        texts: Sequence[object] = asked.input.parts
        return InputGateResult.accept() if texts else InputGateResult.reject("it is empty")


COMPONENTS = Module(
    "typing.components",
    CONTEXT_SOURCES.append(Component()),
    CONTEXT_COMPACTOR.set(Component()),
    AGENT_LOOP.set(Component()),
    COMMIT_OBSERVERS.append(Component()),
    USAGE_RECORDERS.append(Component()),
    POLICY_GUARDS.append(Guard()),
    INPUT_GATES.append(Gate()),
)
