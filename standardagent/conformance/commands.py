"""The referee of `interaction.command/v1`: commands that every channel can offer.

```python
from agentslot.standardagent.conformance import INTERACTION_COMMAND_SUITE

async def test_mine_is_a_command() -> None:
    await INTERACTION_COMMAND_SUITE.check(lambda: (MyCommand(), {"name": "red"}))
```

What is given beside the command are arguments that it can carry out, several times over; a command
that needs none may come alone. A Module may bring the command, and what it needs, in its place.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import cast, get_args

import anyio

from agentslot import Module
from agentslot._conformance import Broken, Suite, check, demand
from agentslot._json import JsonValue, dumps
from agentslot.interaction import (
    INTERACTION_COMMANDS,
    ActionKind,
    ChannelSession,
    CommandDescriptor,
    CommandField,
    CommandResult,
    FieldType,
    InteractionCommand,
    InvokeCommand,
    NextAction,
)
from agentslot.session import ClassifiedError
from agentslot.standardagent.conformance.asking import (
    expect_end_when_cancelled,
    expect_no_blocking,
)
from agentslot.standardagent.conformance.stage import Stage, staged

Arguments = Mapping[str, JsonValue]

Commanding = InteractionCommand | Module | tuple[InteractionCommand | Module, Arguments]
"""A command, or a Module that brings it; and arguments that it can carry out, if it needs some."""

MakeCommanding = Callable[[], Commanding]

_UNREADABLE = ("not json", "[]", '"text"', "1", "{", '{"no such argument of this command": 1}')


def _made(make: MakeCommanding) -> tuple[Module, Arguments]:
    made, nothing = make(), dict[str, JsonValue]()
    command, arguments = made if isinstance(made, tuple) else (made, nothing)
    if isinstance(command, Module):
        return command, arguments
    key = command.describe().key
    return Module("conformance.subject", INTERACTION_COMMANDS.add(key, command)), arguments


def _command(stage: Stage) -> InteractionCommand:
    commands = stage.assembly[INTERACTION_COMMANDS]
    demand(len(commands) == 1, f"it brings {len(commands)} commands, where one is judged")
    return next(iter(commands.values()))


async def _invoke(stage: Stage, session: ChannelSession, request: InvokeCommand) -> CommandResult:
    """Carry a call out, and look at everything that holds for each answer."""
    result = await stage.channel.access.invoke_command(request)
    revision = await stage.channel.access.revision(session.id)
    known = type(result.revision) is int and 0 < result.revision <= revision
    demand(known, f"it has seen revision {result.revision!r}, and the Session is at {revision}")
    try:
        dumps(result.data)
    except (TypeError, ValueError) as error:
        raise Broken(f"its data is nothing that JSON can say: {error}") from error
    for each in cast("tuple[object, ...]", result.next):
        offered = isinstance(each, NextAction) and each.kind in get_args(ActionKind)
        demand(offered, f"it suggests {each!r}, which nobody can do")
    return result


def _request(
    stage: Stage,
    session: ChannelSession,
    arguments: Arguments | str,
    revision: int | None = None,
) -> InvokeCommand:
    if not isinstance(arguments, str):
        arguments = dumps(dict(arguments)) if arguments else ""
    return InvokeCommand(session.id, _command(stage).describe().key, arguments, revision)


@check
async def it_describes_itself_the_same_each_time(make: MakeCommanding) -> None:
    """It is asked once, and every channel offers what it has said."""
    module, arguments = _made(make)
    async with staged(module) as stage:
        command = _command(stage)
        known = command.describe()
        with suppress(ClassifiedError):
            session = await stage.session()
            await _invoke(stage, session, _request(stage, session, arguments))
        again = command.describe()
        demand(again == known, f"it says {again} after it has said {known}")


@check
async def its_fields_are_the_arguments_that_it_takes(make: MakeCommanding) -> None:
    """Whoever fills them in as they are described, is understood."""
    module, arguments = _made(make)
    async with staged(module) as stage:
        descriptor: CommandDescriptor = _command(stage).describe()
        fields = {field.key: field for field in descriptor.fields}
        unknown = sorted(set(arguments) - set(fields))
        demand(not unknown, f"it takes {', '.join(unknown)}, and has no such field")
        missing = [key for key in fields if fields[key].required and key not in arguments]
        demand(
            not missing, f"it was carried out without {', '.join(missing)}, and that is required"
        )
        for key, value in arguments.items():
            demand(_fits(fields[key], value), f"{value!r} is no value of its field {key!r}")


def _fits(field: CommandField, value: JsonValue) -> bool:
    choices = {choice.value for choice in field.choices}
    match field.type:
        case FieldType.TEXT:
            return isinstance(value, str | int | float) and not isinstance(value, bool)
        case FieldType.BOOLEAN:
            return isinstance(value, bool)
        case FieldType.SINGLE_CHOICE:
            return value in choices
        case FieldType.MULTI_CHOICE:
            return isinstance(value, list) and all(each in choices for each in value)


@check
async def a_call_is_carried_out(make: MakeCommanding) -> None:
    """With an answer that a channel can show: a revision that was, JSON, and what can be done."""
    module, arguments = _made(make)
    async with staged(module) as stage:
        session = await stage.session()
        await _invoke(stage, session, _request(stage, session, arguments))


@check
async def what_it_cannot_read_is_refused(make: MakeCommanding) -> None:
    """As `invalid_arguments`, also if something is missing that is required."""
    module, _ = _made(make)
    async with staged(module) as stage:
        session = await stage.session()
        required = [field.key for field in _command(stage).describe().fields if field.required]
        for text in (*_UNREADABLE, ""):
            refused = await _refusal(stage, session, text)
            demand(refused in ("", "invalid_arguments"), f"{text!r} is refused as {refused!r}")
            demand(bool(refused) or not required, f"{text!r} was carried out without {required}")


async def _refusal(stage: Stage, session: ChannelSession, arguments: str) -> str:
    """The code of the refusal; empty if the call was carried out."""
    try:
        await _invoke(stage, session, _request(stage, session, arguments))
    except ClassifiedError as refusal:
        return refusal.code
    return ""


@check
async def what_cannot_be_done_now_is_refused(make: MakeCommanding) -> None:
    """While a Run goes on, and whatever the refusal is: it never looks like a failure."""
    module, arguments = _made(make)
    async with staged(module) as stage:
        session = await stage.session()
        await session.send("wait hello")
        await stage.model.waiting(session.id)
        try:
            await _invoke(stage, session, _request(stage, session, arguments))
        except ClassifiedError as refusal:
            failed = refusal.code == "command_failed"
            demand(not failed, f"while a Run went on it failed{stage.complained()}")


@check
async def what_was_decided_on_an_older_revision_changes_nothing(make: MakeCommanding) -> None:
    """It hands the caller's revision on to the actions that it applies."""
    module, arguments = _made(make)
    async with staged(module) as stage:
        session = await stage.session()
        seen = session.revision
        await session.send_and_wait("hello")
        before = await stage.channel.access.revision(session.id)
        with suppress(ClassifiedError):
            await _invoke(stage, session, _request(stage, session, arguments, seen))
        after = await stage.channel.access.revision(session.id)
        demand(after == before, f"the caller knew revision {seen}, and it changed {before}")


@check
async def calls_at_the_same_time_do_not_disturb_each_other(make: MakeCommanding) -> None:
    """One command is invoked for all Sessions."""
    module, arguments = _made(make)
    async with staged(module) as stage, anyio.create_task_group() as tasks:
        for session in [await stage.session() for _ in range(3)]:
            tasks.start_soon(_invoke, stage, session, _request(stage, session, arguments))


@check
async def it_does_not_keep_the_event_loop(make: MakeCommanding) -> None:
    """What takes long waits for it, in a thread if need be."""
    module, arguments = _made(make)
    async with staged(module) as stage:
        session = await stage.session()
        request = _request(stage, session, arguments)
        await expect_no_blocking(partial(stage.channel.access.invoke_command, request))


@check
async def a_call_that_is_cancelled_ends(make: MakeCommanding) -> None:
    """The cancellation of whoever has invoked it is let pass."""
    module, arguments = _made(make)
    async with staged(module) as stage:
        session = await stage.session()
        request = _request(stage, session, arguments)
        await expect_end_when_cancelled(partial(stage.channel.access.invoke_command, request))


INTERACTION_COMMAND_SUITE: Suite[MakeCommanding] = Suite(
    "interaction.command/v1",
    (
        it_describes_itself_the_same_each_time,
        its_fields_are_the_arguments_that_it_takes,
        a_call_is_carried_out,
        what_it_cannot_read_is_refused,
        what_cannot_be_done_now_is_refused,
        what_was_decided_on_an_older_revision_changes_nothing,
        calls_at_the_same_time_do_not_disturb_each_other,
        it_does_not_keep_the_event_loop,
        a_call_that_is_cancelled_ends,
    ),
)
