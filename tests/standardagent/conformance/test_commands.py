"""The referee of commands."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
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
    ModelCommand,
    ModelCommandModule,
    NextAction,
    SendAction,
)
from agentslot.session import ClassifiedError, ErrorKind, MessageInput
from agentslot.standardagent.conformance import INTERACTION_COMMAND_SUITE, MakeCommanding, asking
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import stubborn, unready

ANOTHER = {"provider": "conformance", "model": "another", "temperature": 0.5}


@pytest.mark.parametrize("arguments", [{}, ANOTHER], ids=["shows", "switches"])
async def test_our_command_conforms(arguments: dict[str, Any]) -> None:
    await INTERACTION_COMMAND_SUITE.check(lambda: (ModelCommand(), arguments))
    await INTERACTION_COMMAND_SUITE.check(lambda: (ModelCommandModule(), arguments))


COLOUR = CommandField("colour", "Colour", required=True)
SHADES = CommandField(
    "shades", "Shades", FieldType.MULTI_CHOICE, choices=(Choice("dark"), Choice("light"))
)
LOUD = CommandField("loud", "Loud", FieldType.BOOLEAN)
KIND = CommandField("kind", "Kind", FieldType.SINGLE_CHOICE, choices=(Choice("oil"),))
PAINT = CommandDescriptor("paint", "Paint", "paints", (COLOUR, SHADES, LOUD, KIND))
ARGUMENTS: dict[str, Any] = {"colour": "red", "shades": ["dark"], "loud": True, "kind": "oil"}


class Paint:
    """A good command, to be made worse."""

    descriptor = PAINT

    def describe(self) -> CommandDescriptor:
        return self.descriptor

    def read(self, arguments: str) -> str:
        with suppress(ValueError, AttributeError, KeyError):
            given: dict[str, Any] = json.loads(arguments)
            if given.keys() <= ARGUMENTS.keys():
                return str(given["colour"])
        problem = "paint: give a colour"
        raise ClassifiedError(ErrorKind.INVALID_INPUT, "invalid_arguments", problem)

    def action(self, colour: str, invocation: CommandInvocation) -> SendAction:
        return SendAction(MessageInput.of(f"Paint it {colour}."), invocation.expected_revision)

    def result(self, revision: int) -> CommandResult:
        return CommandResult(revision, {"done": True}, (NextAction("cancel", "Stop"),))

    async def invoke(self, invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        colour = self.read(invocation.arguments)
        sent = await actions.apply(self.action(colour, invocation))
        return self.result(sent.revision)


async def test_a_good_command_conforms() -> None:
    await INTERACTION_COMMAND_SUITE.check(lambda: (Paint(), ARGUMENTS))


async def test_a_command_that_reads_no_arguments_conforms() -> None:
    class Deaf(Paint):
        descriptor = CommandDescriptor("paint", "Paint")

        def read(self, arguments: str) -> str:
            return "red"

    await INTERACTION_COMMAND_SUITE.check(lambda: (Deaf(), {}))


class Numbering(Paint):
    """Changes its mind when it was used."""

    def result(self, revision: int) -> CommandResult:
        self.descriptor = replace(PAINT, title=f"Paint at {revision}")
        return super().result(revision)


class Late(Paint):
    def result(self, revision: int) -> CommandResult:
        return CommandResult(revision + 1000)


class Early(Paint):
    def result(self, revision: int) -> CommandResult:
        return CommandResult(0)


class Unsayable(Paint):
    def result(self, revision: int) -> CommandResult:
        data: Any = {1, 2}
        return CommandResult(revision, data)


class Inviting(Paint):
    def result(self, revision: int) -> CommandResult:
        kind: Any = "celebrate"
        return CommandResult(revision, next=(NextAction(kind, "Celebrate"),))


class Crashing(Paint):
    def read(self, arguments: str) -> str:
        colour: str = json.loads(arguments)["colour"]
        return colour


class Guessing(Paint):
    def read(self, arguments: str) -> str:
        return "red"


class Ashamed(Paint):
    """Fails where it should let a refusal pass."""

    async def invoke(self, invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        revision, _ = await actions.current_model_config()
        if revision > 1 and invocation.expected_revision is None:
            raise RuntimeError("not now")
        return await super().invoke(invocation, actions)


class Careless(Paint):
    def action(self, colour: str, invocation: CommandInvocation) -> SendAction:
        return SendAction(MessageInput.of(f"Paint it {colour}."))


class Blocking(Paint):
    def read(self, arguments: str) -> str:
        enough = time.perf_counter() + 0.01
        while time.perf_counter() < enough:
            pass
        return super().read(arguments)


class Wrapped(Paint):
    """Works in some wrong way."""

    def __init__(self, wrong: Callable[[Any], Any]) -> None:
        async def work(asked: tuple[CommandInvocation, CommandActions]) -> CommandResult:
            return await super(Wrapped, self).invoke(*asked)

        self._work = wrong(work)

    async def invoke(self, invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        result: CommandResult = await self._work((invocation, actions))
        return result


def giving(make: Callable[[], Paint], **arguments: Any) -> MakeCommanding:
    return lambda: (make(), {**ARGUMENTS, **arguments})


def guessing() -> tuple[Paint, dict[str, Any]]:
    return Guessing(), {}


SAME = "it_describes_itself_the_same_each_time"
FIELDS = "its_fields_are_the_arguments_that_it_takes"
CARRIED_OUT = "a_call_is_carried_out"
UNREADABLE = "what_it_cannot_read_is_refused"
BUSY = "what_cannot_be_done_now_is_refused"
OLDER = "what_was_decided_on_an_older_revision_changes_nothing"
TOGETHER = "calls_at_the_same_time_do_not_disturb_each_other"
KEEPS = "it_does_not_keep_the_event_loop"
CANCELLED = "a_call_that_is_cancelled_ends"


@pytest.mark.parametrize(
    ("make", "rule", "said"),
    [
        (giving(Numbering), SAME, "Paint at"),
        (giving(Paint, shades=["dim"]), FIELDS, "['dim'] is no value of its field 'shades'"),
        (giving(Paint, kind="water"), FIELDS, "'water' is no value of its field 'kind'"),
        (giving(Paint, loud="yes"), FIELDS, "'yes' is no value of its field 'loud'"),
        (giving(Paint, colour=True), FIELDS, "True is no value of its field 'colour'"),
        (giving(Paint, size="big"), FIELDS, "it takes size, and has no such field"),
        (guessing, FIELDS, "carried out without colour"),
        (giving(Late), CARRIED_OUT, "it has seen revision 100"),
        (giving(Early), CARRIED_OUT, "it has seen revision 0"),
        (giving(Unsayable), CARRIED_OUT, "its data is nothing that JSON can say"),
        (giving(Inviting), CARRIED_OUT, "which nobody can do"),
        (giving(Crashing), UNREADABLE, "'not json' is refused as 'command_failed'"),
        (giving(Guessing), UNREADABLE, "'not json' was carried out without ['colour']"),
        (giving(Ashamed), BUSY, "while a Run went on it failed"),
        (giving(Careless), OLDER, "the caller knew revision 1, and it changed"),
        (giving(lambda: Wrapped(unready)), TOGETHER, "command_failed"),
        (giving(Blocking), KEEPS, "it keeps the event loop"),
        (giving(lambda: Wrapped(stubborn)), CANCELLED, "goes on"),
    ],
)
async def test_a_broken_command_fails_the_check_that_is_for_it(
    make: MakeCommanding, rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == CANCELLED:
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    if rule == KEEPS:
        monkeypatch.setattr(asking, "STEP_SECONDS", 0.005)
    found = await broken_rules(INTERACTION_COMMAND_SUITE, make)
    assert rule in found
    assert said in found[rule]


def bringing(module: Module) -> tuple[Module, dict[str, Any]]:
    return module, {}


async def test_a_module_brings_one_command() -> None:
    both = Module(
        "both",
        INTERACTION_COMMANDS.add("paint", Paint()),
        INTERACTION_COMMANDS.add("model", ModelCommand()),
    )
    for module in (Module("empty"), both):
        make: MakeCommanding = partial(bringing, module)
        found = await broken_rules(INTERACTION_COMMAND_SUITE, make)
        assert len(found) == len(INTERACTION_COMMAND_SUITE.checks)
        assert "where one is judged" in found[CARRIED_OUT]
