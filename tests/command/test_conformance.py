"""`agentslot conformance`: somebody's component before the referee of its contract."""

import json
from pathlib import Path

import pytest

from agentslot.session.conformance import CHECKS, DURABILITY_CHECKS
from agentslot.standardagent.command import main
from agentslot.standardagent.command.suites import SUITES

STORES = """
from contextlib import asynccontextmanager

import anyio

from agentslot.session import FileStore, MemoryStore


class Eager(MemoryStore):
    async def load(self, session_id):
        return await self.recover(session_id)


class Hanging(MemoryStore):
    async def create(self, new):
        await anyio.sleep_forever()


@asynccontextmanager
async def opened(path):
    async with FileStore(path) as store:
        yield store


def needy(path, size):
    return FileStore(path)


def failing(path):
    print("noise")
    raise ValueError("no database here")


store = MemoryStore()
"""


@pytest.fixture(autouse=True)
def stores(folder: Path) -> None:
    (folder / "parts" / "stores.py").write_text(STORES, encoding="utf-8")


def judged(
    capsys: pytest.CaptureFixture[str], code: int, target: str, *options: str
) -> dict[str, tuple[str, str]]:
    assert main(["conformance", "session.store", target, "--json", *options]) == code
    record = json.loads(capsys.readouterr().out)
    assert (record["contract"], record["target"]) == ("session.store/v2", target)
    assert record["ok"] is (code == 0)
    return {each["check"]: (each["status"], each["reason"]) for each in record["checks"]}


@pytest.mark.parametrize(
    "target",
    ["agentslot.session:FileStore", "agentslot.session:SqliteStore", "parts.stores:opened"],
)
def test_a_store_on_a_path_passes_all_checks(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = judged(capsys, 0, target)
    assert list(outcomes) == [check.__name__ for check in (*CHECKS, *DURABILITY_CHECKS)]
    assert set(outcomes.values()) == {("passed", "")}


def test_a_store_without_a_path_is_not_asked_to_remember(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcomes = judged(capsys, 0, "agentslot.session:MemoryStore")
    assert outcomes["a_new_session_is_at_revision_1"] == ("passed", "")
    assert outcomes["a_restart_loses_nothing"] == (
        "not_checked",
        "it takes no path, so it cannot be opened again",
    )


def test_each_check_is_shown_with_the_reason_why_it_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["conformance", "session.store/v2", "parts.stores:Eager"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert "✓ a new session is at revision 1" in shown
    assert "✗ recovery settles once and loading never: loading changed the Session" in shown
    assert any(line.startswith("- a restart loses nothing: ") for line in shown)
    failed = sum(line.startswith("✗") for line in shown)
    total = len(CHECKS) + len(DURABILITY_CHECKS)
    assert shown[-1] == f"session.store/v2: {total} checks, {failed} failed"


def test_a_store_that_raises_fails_with_what_it_raised(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = judged(capsys, 1, "parts.stores:failing")
    status, reason = outcomes["a_new_session_is_at_revision_1"]
    assert status == "failed"
    assert "ValueError: no database here" in reason


def test_a_check_that_hangs_fails_when_its_time_is_over(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcomes = judged(capsys, 1, "parts.stores:Hanging", "--timeout", "0.01")
    assert set(outcomes.values()) >= {("failed", "it did not end within 0.01 s")}
    assert outcomes["a_missing_session_is_not_found"] == ("passed", "")


@pytest.mark.parametrize(
    ("contract", "target", "problem"),
    [
        ("session.stor", "parts.stores:Eager", "did you mean 'session.store'?"),
        (
            "clock",
            "parts.stores:Eager",
            "no checks for a contract 'clock'; see `agentslot",
        ),
        ("session.store", "parts.stores:needy", "makes no store: it must take a path, or nothing"),
        ("session.store", "parts.stores:store", "makes no store: it must take a path, or nothing"),
        ("session.store", "parts.stores:gone", "'parts.stores' has no 'gone'"),
        ("session.store", "parts/stores.py", "write for example parts.stores:name"),
    ],
)
def test_what_cannot_be_judged_is_wrong_usage(
    contract: str, target: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conformance", contract, target]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "soon"])
def test_a_check_is_given_some_time(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["conformance", "tool", "parts.stores:Eager", f"--timeout={seconds}"])
    assert caught.value.code == 2
    assert "argument --timeout: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("contract", "target"), [("model.executor", "gpt"), ("model.provider", "gpt_provider")]
)
def test_what_needs_a_server_is_judged_on_a_stage_of_its_owner(
    contract: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conformance", contract, f"tests.model.stages:{target}", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["contract"] == f"{contract}/v1"
    assert {each["status"] for each in record["checks"]} == {"passed"}


PARTS = """
from contextlib import asynccontextmanager

from agentslot import Application, Module
from agentslot.interaction import InProcessChannel, ModelCommandModule
from agentslot.model import ExecutionCapabilities, ModelConfig, ModelDescriptor, TokenCount
from agentslot.model.conformance import Counting
from agentslot.session import ClassifiedError, ErrorKind, LocalWorkspaces, WorkspaceScope
from agentslot.session.credential import BearerToken, CredentialRef, MemoryCredentials
from agentslot.standardagent import (
    POLICY_GUARDS,
    ApprovalAnswer,
    ApprovalDesk,
    Decision,
    EffectPolicy,
    PolicyEffect,
    Preset,
    TailCompactor,
)
from agentslot.standardagent.conformance import Approver, Calling, Resolving
from agentslot.standardagent.goal import GoalEvaluation
from agentslot.tool import TOOLS, Boundary, FilesModule, LocalEnvironment, function_tool
from agentslot.tool.conformance import Trial


def read_only():
    return Module("mine", POLICY_GUARDS.append(EffectPolicy(Preset.READ_ONLY)))


class Yes:
    async def evaluate(self, action, *_):
        return "yes"


class Deaf:
    async def attempt_started(self, attempt_id, request):
        pass

    async def attempt_finished(self, attempt_id, outcome):
        pass


class Catalog:
    def models(self):
        return [ModelDescriptor("mine", "m", ExecutionCapabilities(context_window_tokens=1))]


class Boastful(LocalEnvironment):
    confines = frozenset({Boundary.READS})


class Strict:
    async def select(self, config):
        if config.model != "m":
            raise ClassifiedError(ErrorKind.FORBIDDEN, "model_not_allowed", "take m")
        return config


def models():
    return ModelCommandModule(), {"provider": "mine", "model": "m"}


def models_without_words():
    return ModelCommandModule(), {"provider": "mine"}


def strict():
    return Strict(), ModelConfig("mine", "m")


def careless():
    return Content(), ModelConfig("mine", "m")


def folders(path):
    scope = WorkspaceScope("agent", "here")
    return LocalWorkspaces({("agent", "here"): path.parent}), scope


class Content:
    async def evaluate(self, question, record):
        return GoalEvaluation.done()


class Counter:
    async def count_tokens(self, request):
        return TokenCount(-1)


def adding():
    async def add(a: int, b: int) -> int:
        "Add two integers."
        return a + b

    return function_tool(add), Trial({"a": 1, "b": 2})


def reading(path):
    application = Application("files", [FilesModule(path.parent)])
    return application.build()[TOOLS]["file_list"], Trial({"path": "."})


def wordy():
    tool, _ = adding()
    return tool, Trial({"a": "many", "b": 2})


class Leaving:
    def execute(self, request, recorder, proceed):
        return Unclosed(proceed(request, recorder))


class Unclosed:
    def __init__(self, stream):
        self.receive = stream.receive

    async def aclose(self):
        pass


class Twice:
    async def invoke(self, invocation, proceed):
        await proceed()
        return await proceed()


@asynccontextmanager
async def counting():
    yield Counting(Counter(), ModelConfig("mine", "m"))


@asynccontextmanager
async def calling():
    channel = InProcessChannel()

    async def say(text):
        session = await channel.create_session(agent="mine", workspace="default")
        return (await session.send_and_wait(text)).text

    yield Calling(channel, say)


@asynccontextmanager
async def hearing_nothing():
    async with calling() as caller:

        async def say(text):
            await caller.say(text)
            return "?"

        yield Calling(caller.channel, say)


@asynccontextmanager
async def keys():
    yield Resolving(MemoryCredentials({"mine": "key"}), CredentialRef("mine"), BearerToken("key"))


@asynccontextmanager
async def lost_keys():
    yield Resolving(MemoryCredentials({}), CredentialRef("mine"), BearerToken("key"))


@asynccontextmanager
async def desk():
    desk = ApprovalDesk()

    async def answer(request, approved):
        desk.answer(request.action.session_id, request.digest, ApprovalAnswer(approved))

    yield Approver(desk, answer)
"""


@pytest.fixture
def parts(folder: Path) -> None:
    (folder / "parts" / "components.py").write_text(PARTS, encoding="utf-8")


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("contract", "target"),
    [
        ("agent.loop", "agentslot.standardagent:StandardLoop"),
        ("policy.guard", "parts.components:read_only"),
        ("approval.service", "parts.components:desk"),
        ("model.attempt.observer", "parts.components:Deaf"),
        ("goal.evaluator", "parts.components:Content"),
        ("model.catalog", "parts.components:Catalog"),
        ("execution.environment", "agentslot.tool:LocalEnvironment"),
        ("gateway.channel", "parts.components:calling"),
        ("interaction.command", "parts.components:models"),
        ("interaction.command", "agentslot.interaction:ModelCommandModule"),
        ("model.middleware", "agentslot.model.middleware:RequestCache"),
        ("model.selector", "parts.components:strict"),
        ("workspace.manager", "parts.components:folders"),
        ("credential.resolver", "parts.components:keys"),
        ("audit.sink", "agentslot.standardagent:JsonLinesSinkModule"),
        ("tool", "parts.components:adding"),
        ("tool", "parts.components:reading"),
        ("tool.middleware", "agentslot.tool.middleware:ResultCache"),
        ("artifact.store", "agentslot.session:FileArtifacts"),
        ("artifact.store", "agentslot.session:MemoryArtifacts"),
    ],
)
def test_a_component_that_keeps_its_contract_passes_every_check(
    contract: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conformance", contract, target]) == 0
    *checks, last = capsys.readouterr().out.splitlines()
    assert all(line.startswith("✓ ") for line in checks)
    assert last == f"{contract}/v1: {len(checks)} checks, none failed"


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("contract", "target", "said"),
    [
        (
            "policy.guard",
            "parts.components:Yes",
            "✗ every call gets a decision: 4 of 4 calls got none (the log: a policy guard failed",
        ),
        (
            "model.token-counter",
            "parts.components:counting",
            "✗ every request has a number of tokens: it counts -1 tokens",
        ),
        (
            "goal.evaluator",
            "parts.components:Yes",
            "✗ every conversation gets a judgement: it gave a str, which is no evaluation",
        ),
        (
            "model.middleware",
            "parts.components:Leaving",
            "✗ a call that is cancelled ends: a request that was left is recorded as without",
        ),
        (
            "execution.environment",
            "parts.components:Boastful",
            "✗ it confines what it promises: a command got through: reads",
        ),
        (
            "gateway.channel",
            "parts.components:hearing_nothing",
            "✗ a message gets its answer: the model said 'Done.', and '?' was shown",
        ),
        (
            "interaction.command",
            "parts.components:models_without_words",
            "✗ a call is carried out: it failed: model: model: Field required",
        ),
        (
            "model.selector",
            "parts.components:careless",
            "✗ an allowed choice gets a model: it failed with AttributeError",
        ),
        (
            "credential.resolver",
            "parts.components:lost_keys",
            "✗ a reference leads to its credential: it failed: there is no credential 'mine'",
        ),
        ("trace.sink", "parts.components:Yes", "it failed: slot 'trace.sink' holds "),
        (
            "tool",
            "parts.components:wordy",
            "✗ the trial gives a result: it failed instead of succeeded: invalid_arguments",
        ),
        ("tool", "parts.components:Counter", "made a Counter, not a tool and a Trial"),
        (
            "tool.middleware",
            "parts.components:Twice",
            "✗ a success comes back: it ran the tool 2 times",
        ),
        (
            "artifact.store",
            "parts.stores:MemoryStore",
            "✗ content comes back: the store failed with AttributeError",
        ),
    ],
)
def test_what_is_wrong_with_a_component_is_told_with_the_rule(
    contract: str, target: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conformance", contract, target]) == 1
    captured = capsys.readouterr()
    assert said in captured.out
    assert captured.err == ""


@pytest.mark.usefixtures("parts")
def test_a_component_that_needs_more_than_a_path_cannot_be_made(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["conformance", "context.compactor", "parts.components:TailCompactor"]) == 2
    assert "must take no argument, or `path` alone" in capsys.readouterr().err


def test_all_contracts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["conformance", "--list"])
    assert ended.value.code == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed == [SUITES[name].contract for name in sorted(SUITES)]
    assert {"agent.loop/v1", "hook.input_gate/v1", "session.store/v2"} < set(listed)


@pytest.mark.parametrize("contract", ["model.executor", "model.provider"])
def test_what_takes_no_scenes_opens_no_stage(
    contract: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conformance", contract, "parts.stores:MemoryStore"]) == 2
    assert "any number of scenes" in capsys.readouterr().err
