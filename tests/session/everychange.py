"""Sessions in which every kind of change happens, for what reads Sessions back."""

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from agentslot.session import (
    AppendBudgetExceeded,
    AppendContextContribution,
    AppendLimitExceeded,
    ContextContribution,
    EditQueued,
    ExtensionBoundary,
    ModelConfig,
    RunBudgetExceeded,
    RunLimit,
    RunLimitExceeded,
    SetModelConfig,
    TextPart,
    text_digest,
)
from tests.session.extensions import BEGUN, DISCARDED, FAILED, prepare, step
from tests.session.scenario import MODEL, STEP, context, user
from tests.session.test_aggregate_properties import Sessions, has_queued, is_idle, is_running


def has_used_tokens(machine: Sessions) -> bool:
    run = machine.state.active_run
    return run is not None and run.tokens > 0 and not run.budget_exceeded


class EveryChange(Sessions):
    """What `Sessions` does, and the rest."""

    @precondition(is_idle)
    @rule()
    def switch_the_model_and_back(self) -> None:
        self.commit(SetModelConfig(ModelConfig("openai", self.new("gpt"))))
        self.commit(SetModelConfig(MODEL))

    @precondition(has_queued)
    @rule(n=st.integers(0, 10))
    def edit_the_queue(self, n: int) -> None:
        message = self.state.queue[n % len(self.state.queue)].message
        self.commit(EditQueued(message.id, (TextPart(self.new("said")),)))

    @precondition(is_running)
    @rule()
    def contribute(self) -> None:
        messages = (user(self.new("m"), run=self.run),)
        added = ContextContribution(self.run, STEP, self.new("source"), messages)
        self.commit(AppendContextContribution(added))

    @precondition(has_used_tokens)
    @rule()
    def exceed_the_budget(self) -> None:
        run = self.state.active_run
        assert run is not None
        self.commit(AppendBudgetExceeded(RunBudgetExceeded(run.id, run.tokens, run.tokens)))

    @precondition(is_running)
    @rule()
    def exceed_a_limit(self) -> None:
        run = self.state.active_run
        assert run is not None
        exceeded = RunLimitExceeded(
            run.id, STEP, RunLimit.TOOL_CALLS, run.tool_calls, run.tool_calls + 1, 2
        )
        self.commit(AppendLimitExceeded(exceeded))

    @precondition(is_running)
    @rule(retain=st.booleans())
    def project_with_a_prompt(self, *, retain: bool) -> None:
        version = self.state.context.version + 1 if self.state.context else 1
        text = self.new("prompt")
        change = context(self.state, version)
        view = replace(change.context, run_id=self.run, prompt=text_digest(text))
        texts = ((text_digest(text), text),)
        self.commit(replace(change, context=view, texts=texts, retain_previous=retain))

    @rule(settle=st.integers(0, 3))
    def ask_a_hook(self, settle: int) -> None:
        boundary = ExtensionBoundary.SESSION_LIFECYCLE
        self.commit(*prepare(self.state, boundary, self.new("hook")))
        sequence = len(self.state.extensions)
        for each in (BEGUN, FAILED, DISCARDED)[:settle]:
            self.commit(*step(sequence, each))
