"""What a person types behind a slash: goals, and the commands of the application."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentslot import Module
from agentslot.interaction import (
    INTERACTION_COMMANDS,
    Choice,
    CommandActions,
    CommandDescriptor,
    CommandField,
    CommandInvocation,
    CommandResult,
    FieldType,
    ModelCommandModule,
    NextAction,
    SendAction,
)
from agentslot.interaction.cli.arguments import shown_lines, typed_arguments, usage
from agentslot.model import MODEL_CATALOG, ExecutionCapabilities, ModelDescriptor
from agentslot.model.provider import StaticCatalog
from agentslot.session import ClassifiedError, GoalReason, MessageInput
from agentslot.standardagent.goal import GoalEvaluation
from tests.interaction.terminal import Person
from tests.standardagent.agents import Answer, agent, answer
from tests.standardagent.goals.pursuing import DONE, MORE, HeldJudge, Judge, goals

WIPE = CommandDescriptor(
    "wipe",
    "Wipe it",
    "wipes what you name",
    (
        CommandField("what", "What", required=True),
        CommandField("hard", "Hard", FieldType.BOOLEAN),
        CommandField("how", "How", FieldType.MULTI_CHOICE, choices=(Choice("wet"), Choice("dry"))),
        CommandField("why", "Why"),
    ),
    confirm=True,
)


class Wipe:
    """Does what cannot be taken back."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def describe(self) -> CommandDescriptor:
        return WIPE

    async def invoke(self, invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        del actions
        self.asked.append(invocation.arguments)
        return CommandResult(1, {"wiped": True}, (NextAction("send", "Say sorry"),))


class Poem:
    """Begins a Run."""

    def describe(self) -> CommandDescriptor:
        return CommandDescriptor("poem", "Ask for a poem")

    async def invoke(self, invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        del invocation
        sent = await actions.apply(SendAction(MessageInput.of("A poem, please.")))
        return CommandResult(sent.revision)


def commands(wipe: Wipe) -> list[Module]:
    filled = INTERACTION_COMMANDS.add("wipe", wipe), INTERACTION_COMMANDS.add("poem", Poem())
    return [Module("test.commands", *filled)]


@asynccontextmanager
async def talking(
    *script: Answer, modules: list[Module], interactive: bool = True
) -> AsyncGenerator[Person]:
    person = Person(interactive=interactive)
    async with (
        agent(script, modules=modules) as session,
        person.talking_to(session.access),
    ):
        await person.sees("revision 1")
        yield person


async def test_help_lists_the_commands_of_the_application() -> None:
    async with talking(modules=[*commands(Wipe()), *goals(Judge(DONE))]) as person:
        await person.types("/help")
        await person.sees("/goal TEXT   work until that is achieved\n")
        await person.sees("/poem  Ask for a poem\n/wipe WHAT [HARD] [HOW] …  wipes what you name\n")


async def test_help_is_silent_about_what_the_application_lacks() -> None:
    async with talking(modules=[]) as person:
        await person.types("/help")
        await person.sees("Anything else is a message.")
        assert "/goal" not in person.screen.getvalue()
        await person.types("/goal win", "/nothing")
        await person.sees("this application keeps no goals: add FileGoalsModule")
        await person.sees("'/nothing' is no command; /help lists them")


async def test_a_goal_is_pursued_as_soon_as_it_is_typed() -> None:
    judge = Judge(MORE, DONE)
    async with talking(answer("half"), answer("whole"), modules=goals(judge)) as person:
        await person.types("/goal")
        await person.sees("no goal is set; /goal TEXT sets one")
        await person.types("/goal all of it")
        await person.sees("goal active, 0 of 10 follow-ons: all of it\n")
        await person.sees("whole\ngoal completed (objective met), 1 of 10 follow-ons: all of it\n")
    assert [question.goal.objective for question in judge.questions] == ["all of it"] * 2


async def test_a_goal_can_be_paused_resumed_and_canceled() -> None:
    judge = HeldJudge(MORE)
    async with talking(answer("half"), modules=goals(judge)) as person:
        await person.types("/goal all of it")
        await judge.entered()
        await person.types("/goal pause")
        await person.sees("goal paused, 0 of 10 follow-ons: all of it\n")
        judge.open()
        await person.sees("half\n")
        await person.types("/goal resume")
        await person.sees("goal active, 0 of 10 follow-ons: all of it\n", 2)
        await person.types("/goal cancel", "/goal resume")
        await person.sees("goal canceled, 0 of 10 follow-ons: all of it\n")
        await person.sees("a goal that is canceled cannot become active: set a new one")


async def test_a_goal_that_is_set_while_a_run_goes_on_measures_that_run() -> None:
    judge = HeldJudge(MORE, DONE)
    async with talking(answer("half"), answer("whole"), modules=goals(judge)) as person:
        await person.types("/goal half of it")
        await judge.entered()
        await person.types("/goal all of it")
        await person.sees("goal active, 0 of 10 follow-ons: all of it\n")
        judge.open()
        await person.sees("goal completed (objective met), 0 of 10 follow-ons: all of it\n> ")
        assert "queued" not in person.screen.getvalue()


async def test_a_person_is_told_why_a_goal_is_blocked() -> None:
    judge = Judge(GoalEvaluation.blocked(GoalReason.NEEDS_INPUT))
    async with talking(answer("which?"), modules=goals(judge)) as person:
        await person.types("/goal all of it")
        await person.sees("which?\ngoal paused (needs input), 0 of 10 follow-ons: all of it\n")


async def test_a_person_is_told_how_to_go_on_when_the_follow_ons_are_used_up() -> None:
    script = [answer(str(n)) for n in range(12)]
    async with talking(*script, modules=goals(Judge(MORE))) as person:
        await person.types("/goal all of it")
        await person.sees("goal paused (follow on limit), 10 of 10 follow-ons: all of it\n")
        await person.sees("its follow-ons are used up; /goal TEXT sets it anew\n")


async def test_a_session_that_is_resumed_shows_its_goal() -> None:
    person = Person()
    async with agent([], modules=goals(Judge(DONE))) as session:
        await session.set_goal("all of it")
        async with person.talking_to(session.access, session_id=session.id):
            await person.sees("goal active, 0 of 10 follow-ons: all of it\n> ")


async def test_a_command_is_invoked_with_what_is_typed_behind_it() -> None:
    wipe = Wipe()
    async with talking(modules=commands(wipe)) as person:
        await person.types("/wipe 'the floor' hard=yes how=wet,dry")
        await person.sees("? Wipe it: /wipe {")
        await person.types("y")
        await person.sees("wiped: true\nnext: Say sorry\n> ")
    assert wipe.asked == ['{"what":"the floor","hard":true,"how":["wet","dry"]}']


@pytest.mark.parametrize("said", ["n", "not now"])
async def test_a_command_that_is_not_confirmed_is_not_carried_out(said: str) -> None:
    wipe = Wipe()
    async with talking(modules=commands(wipe)) as person:
        await person.types("/wipe floor")
        await person.sees("? Wipe it: /wipe {")
        await person.types(said)
        await person.sees("/wipe was not carried out\n> ")
    assert wipe.asked == []


async def test_where_nobody_can_be_asked_nothing_is_confirmed() -> None:
    wipe = Wipe()
    async with talking(modules=commands(wipe), interactive=False) as person:
        await person.types("/wipe floor")
        await person.sees("/wipe was not carried out: nobody can be asked here")
    assert wipe.asked == []


async def test_a_run_that_a_command_begins_is_followed() -> None:
    async with talking(answer("Roses are red."), modules=commands(Wipe())) as person:
        await person.types("/poem")
        await person.sees("Roses are red.\n> ")


async def test_the_model_is_shown_and_switched() -> None:
    capable = ExecutionCapabilities(context_window_tokens=8000)
    catalog = StaticCatalog((ModelDescriptor("test", "other", capable, "The other"),))
    modules = [ModelCommandModule(), Module("catalog", MODEL_CATALOG.add("test", catalog))]
    async with talking(modules=modules) as person:
        await person.types("/model")
        await person.sees("current: provider=test model=scripted reasoning=default\nmodels:\n")
        await person.sees("  - provider=test model=other title=The other input=text output=text")
        await person.types("/model other")
        await person.sees("current: provider=test model=other reasoning=default\n> ")
        await person.types("/model third")
        await person.sees("no provider in the catalog has the model 'third'")


@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("", ""),
        ("  ", ""),
        ("floor", '{"what":"floor"}'),
        ("floor no", '{"what":"floor","hard":false}'),
        ("why='it is dirty' floor", '{"why":"it is dirty","what":"floor"}'),
        ("a=b", '{"what":"a=b"}'),
        (' {"what": 1} ', '{"what": 1}'),
    ],
)
def test_words_fill_the_fields_of_a_command(typed: str, arguments: str) -> None:
    assert typed_arguments(WIPE, typed) == arguments


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("floor maybe", "hard is true or false, not 'maybe'"),
        ("what=a what=b", "what is given twice"),
        ("a yes wet b c", "'c' is one value too many"),
        ("'open", "No closing quotation"),
        ("{", "JSON"),
        ("{} {}", "JSON"),
    ],
)
def test_what_does_not_fit_the_fields_is_explained(typed: str, complaint: str) -> None:
    with pytest.raises(ClassifiedError, match=f"/wipe: .*{complaint}") as caught:
        typed_arguments(WIPE, typed)
    assert caught.value.code == "invalid_arguments"


def test_the_usage_of_a_command_names_its_first_fields() -> None:
    assert usage(CommandDescriptor("x", "X")) == "/x"
    assert usage(WIPE) == "/wipe WHAT [HARD] [HOW] …"


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (None, []),
        ("text", ["text"]),
        (1.5, ["1.5"]),
        ({}, []),
        ({"a": True, "b": None}, ["a: true", "b: null"]),
        ({"a": {"b": 1, "c": ""}}, ["a: b=1"]),
        ({"a": [1, 2]}, ["a: 1,2"]),
        ({"a": [{"b": 1}, {"b": 2}]}, ["a:", "  - b=1", "  - b=2"]),
        (["x", {"y": ["z"]}], ["- x", "- y=z"]),
    ],
)
def test_what_a_command_answers_is_shown_in_lines(data: Any, lines: list[str]) -> None:
    assert shown_lines(data) == lines
