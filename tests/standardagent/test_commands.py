"""Commands of an application: described once, invoked for one Session, closed when they return."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agentslot import Module
from agentslot.interaction import (
    INTERACTION_COMMANDS,
    CancelAction,
    Choice,
    CommandActions,
    CommandDescriptor,
    CommandField,
    CommandInvocation,
    CommandResult,
    CompatibilityError,
    FieldType,
    InProcessChannel,
    InvalidCommand,
    InvokeCommand,
    ModelCommandModule,
    NextAction,
    RunPendingAction,
    SendAction,
    SteerAction,
)
from agentslot.model import MODEL_CATALOG, ExecutionCapabilities, ModelDescriptor
from agentslot.model.provider import StaticCatalog
from agentslot.session import (
    Actor,
    ActorKind,
    AttachmentPart,
    ClassifiedError,
    ErrorKind,
    MessageInput,
    Modality,
    ModelConfig,
    ModelConfigChanged,
    Reasoning,
    RevisionConflictError,
    TextPart,
)
from tests.standardagent.agents import MODEL, ScriptedModel, agent, answer, scripted_application

Do = Callable[[CommandInvocation, CommandActions], Awaitable[CommandResult]]

CAPABLE = ExecutionCapabilities(
    context_window_tokens=8000,
    input_modalities=frozenset({Modality.TEXT, Modality.IMAGE}),
    reasoning=(Reasoning.DEFAULT, Reasoning.HIGH),
)
PERSON = Actor(ActorKind.LOCAL_USER, "ada")


class Command:
    """Does what the test says."""

    def __init__(self, do: Do, key: str = "do") -> None:
        self._do = do
        self._key = key

    def describe(self) -> CommandDescriptor:
        return CommandDescriptor(self._key, "Do")

    async def invoke(self, invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        return await self._do(invocation, actions)


async def nothing(invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
    del invocation, actions
    return CommandResult(1)


def offering(do: Do, key: str = "do") -> list[Module]:
    return [Module("test.command", INTERACTION_COMMANDS.add(key, Command(do, key)))]


def models(*names: str, provider: str = "test") -> Module:
    described = tuple(ModelDescriptor(provider, name, CAPABLE) for name in names)
    return Module(f"test.{provider}-catalog", MODEL_CATALOG.add(provider, StaticCatalog(described)))


async def test_a_command_sees_its_session_and_what_it_was_asked() -> None:
    seen: list[CommandInvocation] = []

    async def look(invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        seen.append(invocation)
        revision, config = await actions.current_model_config()
        assert config == MODEL
        return CommandResult(revision, {"ok": True}, (NextAction("send", "Say more"),))

    async with agent([], modules=offering(look)) as session:
        request = InvokeCommand(session.id, "do", '{"a": 1}', expected_revision=1, actor=PERSON)
        result = await session.access.invoke_command(request)
    (invocation,) = seen
    scope = invocation.scope
    assert (scope.agent, scope.workspace, scope.session_id) == ("tester", "default", session.id)
    assert (invocation.arguments, invocation.expected_revision) == ('{"a": 1}', 1)
    assert invocation.actor == PERSON
    assert result == CommandResult(1, {"ok": True}, (NextAction("send", "Say more"),))


async def test_the_handle_sends_arguments_as_an_object_and_the_revision_it_saw() -> None:
    seen: list[CommandInvocation] = []

    async def look(invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        del actions
        seen.append(invocation)
        return CommandResult(1)

    async with agent([], modules=offering(look)) as session:
        await session.invoke("do", {"b": [1, "x"]})
        await session.invoke("do")
        assert [each.key for each in await session.commands()] == ["do"]
    assert [(i.arguments, i.expected_revision) for i in seen] == [('{"b":[1,"x"]}', 1), ("", 1)]


async def test_a_command_can_do_what_a_caller_can() -> None:
    async def act(invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        if invocation.arguments == "send":
            sent = await actions.apply(SendAction(MessageInput.of("from a command")))
            assert sent.message_id is not None
            assert sent.run_id is not None
            return CommandResult(sent.revision)
        if invocation.arguments == "steer":
            return CommandResult((await actions.apply(SteerAction(MessageInput.of("x")))).revision)
        if invocation.arguments == "cancel":
            return CommandResult((await actions.apply(CancelAction())).revision)
        return CommandResult((await actions.apply(RunPendingAction())).revision)

    async with agent([answer("hello")], modules=offering(act)) as session:
        invoke = session.access.invoke_command
        await invoke(InvokeCommand(session.id, "do", "send", actor=PERSON))
        await session.when_idle()
        view = await session.view()
        for refused, code in (("steer", "no_active_run"), ("pending", "no_pending_work")):
            with pytest.raises(ClassifiedError) as caught:
                await invoke(InvokeCommand(session.id, "do", refused))
            assert caught.value.code == code
        await invoke(InvokeCommand(session.id, "do", "cancel"))
    assert session.executor.requests[0].inputs[0].text == "from a command"
    assert view.recent_history[0].actor == PERSON


async def test_an_action_on_an_older_revision_is_a_conflict() -> None:
    async def act(invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        sent = SendAction(MessageInput.of("x"), expected_revision=invocation.expected_revision)
        return CommandResult((await actions.apply(sent)).revision)

    async with agent([answer("1")], modules=offering(act)) as session:
        await session.send_and_wait("first")
        with pytest.raises(RevisionConflictError):
            await session.access.invoke_command(
                InvokeCommand(session.id, "do", expected_revision=1)
            )


class Keeping(Command):
    """Keeps its actions, and perhaps fails then."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__(nothing)
        self.kept: list[CommandActions] = []
        self._fails = fails

    async def invoke(self, invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        self.kept.append(actions)
        if self._fails:
            raise RuntimeError("secret")
        return await super().invoke(invocation, actions)


def keeping(command: Keeping) -> list[Module]:
    return [Module("test.command", INTERACTION_COMMANDS.add("do", command))]


async def expect_closed(actions: CommandActions) -> None:
    for late in (
        actions.current_model_config,
        actions.available_models,
        lambda: actions.apply(CancelAction()),
    ):
        with pytest.raises(ClassifiedError, match="runtime_closed"):
            await late()


async def test_actions_are_closed_when_the_call_has_returned() -> None:
    command = Keeping()
    async with agent([], modules=keeping(command)) as session:
        await session.invoke("do")
        await expect_closed(command.kept[0])


async def test_a_command_that_fails_says_nothing_of_the_cause_and_is_closed_too() -> None:
    command = Keeping(fails=True)
    async with agent([], modules=keeping(command)) as session:
        with pytest.raises(ClassifiedError) as caught:
            await session.invoke("do")
        await expect_closed(command.kept[0])
    assert (caught.value.kind, caught.value.code) == (ErrorKind.INTERNAL, "command_failed")
    assert "secret" not in str(caught.value)


async def test_an_answer_that_is_none_is_a_failure_of_the_command() -> None:
    async def nonsense(invocation: CommandInvocation, actions: CommandActions) -> Any:
        del invocation, actions
        return "done"

    async with agent([], modules=offering(nonsense)) as session:
        with pytest.raises(ClassifiedError, match="answered with str, not a CommandResult"):
            await session.invoke("do")


async def test_a_command_that_is_not_there_is_not_found() -> None:
    async with agent([], modules=offering(nothing)) as session:
        with pytest.raises(ClassifiedError, match="there are: do") as caught:
            await session.invoke("dont")
        assert caught.value.code == "command_not_found"
        with pytest.raises(ClassifiedError, match="session_not_open"):
            await session.access.invoke_command(InvokeCommand(session.id + "x", "do"))


async def test_commands_are_listed_by_key() -> None:
    modules = [
        Module(
            "test.commands",
            *(INTERACTION_COMMANDS.add(key, Command(nothing, key)) for key in ("b", "c", "a")),
        )
    ]
    async with agent([], modules=modules) as session:
        listed = await session.access.commands()
    assert [each.key for each in listed] == ["a", "b", "c"]


class Mute(Command):
    def describe(self) -> CommandDescriptor:
        raise RuntimeError("cannot speak")


class Vague(Command):
    def describe(self) -> Any:
        return "do"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (Command(nothing, "other"), "calls itself 'other'"),
        (Mute(nothing), "cannot describe itself: cannot speak"),
        (Vague(nothing), "describes itself as 'do'"),
    ],
)
def test_a_command_that_does_not_say_what_it_is_is_refused_at_build(
    command: Any, problem: str
) -> None:
    module = Module("test.command", INTERACTION_COMMANDS.add("do", command))
    application = scripted_application(ScriptedModel([]), InProcessChannel(), modules=[module])
    with pytest.raises(InvalidCommand, match=problem) as caught:
        application.build()
    assert (caught.value.slot, caught.value.key) == ("interaction.command", "do")


@pytest.mark.parametrize(
    "make",
    [
        lambda: CommandDescriptor("", "Empty"),
        lambda: CommandDescriptor("two words", "Two"),
        lambda: CommandDescriptor("x", "Twice", fields=(CommandField("a", "A"),) * 2),
        lambda: CommandField("", "Empty"),
        lambda: CommandField("a", "A", FieldType.SINGLE_CHOICE),
        lambda: CommandField("a", "A", choices=(Choice("x"),)),
    ],
)
def test_an_impossible_description_cannot_be_made(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"key|choices"):
        make()


def switching(*catalogs: Module) -> list[Module]:
    return [ModelCommandModule(), *catalogs]


async def test_the_model_command_shows_what_there_is() -> None:
    modules = switching(models("b", "a"), models("z", provider="other"))
    async with agent([], modules=modules) as session:
        result = await session.invoke("model")
    assert result.revision == 1
    assert result.next == (NextAction("update_model_config", "Switch"),)
    assert result.data["current"] == {
        "provider": "test",
        "model": "scripted",
        "reasoning": "default",
    }
    offered = [(each["provider"], each["model"]) for each in result.data["models"]]
    assert offered == [("other", "z"), ("test", "a"), ("test", "b")]
    assert result.data["models"][1]["input"] == ["image", "text"]
    assert result.data["models"][1]["reasoning"] == ["default", "high"]


async def test_the_model_command_switches() -> None:
    modules = switching(models("a", "b"))
    async with agent([answer("1")], modules=modules) as session:
        chosen = {"model": "b", "reasoning": "high", "temperature": 0.5, "max_tokens": 100}
        result = await session.invoke("model", chosen)
        assert result.data == {"current": {"provider": "test", **chosen}}
        current = await session.access.model_config(session.id)
        await session.send_and_wait("go")
        view = await session.view()
    assert current.revision == result.revision == 2
    assert current.config == ModelConfig("test", "b", Reasoning.HIGH, 0.5, 100)
    assert session.executor.requests[0].config == current.config
    assert isinstance(view.recent_history[0].payload, ModelConfigChanged)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ('{"model": "c"}', "no provider in the catalog has"),
        ('{"model": "both"}', "other, test have the model 'both'"),
        ('{"accept_compatibility_loss": true}', "model: Field required"),
        ('{"model": "a", "colour": "red"}', "colour: "),
        ('{"model": "a", "reasoning": "much"}', "reasoning: "),
        ('{"model": "a", "temperature": -1}', "temperature must be"),
        ('{"model": "a"} x', "model: invalid JSON"),
        ('"a"', "model: Input should be"),
    ],
)
async def test_the_model_command_explains_what_it_cannot_read(
    arguments: str, complaint: str
) -> None:
    modules = switching(models("a", "both"), models("both", provider="other"))
    async with agent([], modules=modules) as session:
        with pytest.raises(ClassifiedError, match="model: ") as caught:
            await session.invoke("model", arguments)
        assert complaint in str(caught.value)
        assert (caught.value.kind, caught.value.code) == ("invalid_input", "invalid_arguments")
        assert session.revision == 1


@pytest.mark.parametrize("catalog", [models("a", "a"), "misplaced"])
async def test_a_catalog_that_contradicts_itself_is_an_error(catalog: Any) -> None:
    if catalog == "misplaced":
        described = (ModelDescriptor("test", "a", CAPABLE),)
        catalog = Module("c", MODEL_CATALOG.add("elsewhere", StaticCatalog(described)))
    async with agent([], modules=switching(catalog)) as session:
        with pytest.raises(ClassifiedError, match="invalid_model_catalog"):
            await session.invoke("model")


class Sighted(ScriptedModel):
    """Only the model `sighted` sees pictures."""

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        return CAPABLE if config.model == "sighted" else super().inspect(config)


async def test_a_model_that_cannot_read_what_is_attached_is_taken_only_if_that_is_accepted() -> (
    None
):
    picture = AttachmentPart("0" * 64, "image/png", "cat.png")
    archive = AttachmentPart("1" * 64, "application/zip")
    modules = switching(models("blind", "sighted"))
    async with agent([answer("a cat")], modules=modules, model=Sighted) as session:
        await session.send_and_wait([TextPart("What is it?"), picture, archive])
        await session.invoke("model", {"model": "sighted"})
        with pytest.raises(CompatibilityError, match="1 image attachment") as caught:
            await session.invoke("model", {"model": "blind"})
        assert caught.value.code == "compatibility_confirmation_required"
        assert caught.value.lost == {Modality.IMAGE: 1}
        await session.view()
        await session.invoke("model", {"model": "blind", "accept_compatibility_loss": True})
        assert (await session.access.model_config(session.id)).config.model == "blind"
        await session.update_model_config(ModelConfig("test", "sighted"))
        with pytest.raises(CompatibilityError):
            await session.update_model_config(ModelConfig("test", "blind"))
