"""A conversation with a Session, line by line."""

from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from agentslot.interaction.cli.approvals import Approvals, Decision, Questions
from agentslot.interaction.cli.arguments import shown_lines, typed_arguments, usage
from agentslot.interaction.cli.attaching import read_attachment
from agentslot.interaction.cli.follower import Follower
from agentslot.interaction.cli.goals import GOAL_HELP, GoalTalk
from agentslot.interaction.cli.lines import DescriptorLines
from agentslot.interaction.cli.live import LiveView
from agentslot.interaction.cli.screen import Screen
from agentslot.interaction.command import CommandDescriptor
from agentslot.interaction.errors import LineTooLong
from agentslot.interaction.events import Event
from agentslot.interaction.gateway import PendingApproval, SessionView
from agentslot.interaction.handle import ChannelSession
from agentslot.session import (
    AttachmentPart,
    ClassifiedError,
    Message,
    RevisionConflictError,
    Role,
    RunFact,
    RunStatus,
    safe_line,
)

_COMMANDS = """\
/cancel      end the run that goes on
/steer TEXT  let the run that goes on know
/pending     run the next message that waits
/attach FILE send a file along with the next message
/quit        leave; the session stays and can be resumed"""

_BUILT_IN = frozenset({"/help", "/cancel", "/steer", "/pending", "/attach", "/quit", "/goal"})

_ELSE = "Anything else is a message. Ctrl-C ends the run, a second one leaves."

_NOBODY_TO_ASK = "nobody can be asked here: the input is no terminal"


class Conversation:
    """Reads lines, shows what happens, asks for approval.

    With a person at the other end (`interactive`) lines are read all the time: while a Run goes on
    a message is queued, a command acts at once and an answer decides on the call that waits.
    Otherwise the next line is read when the Session is idle again, and approvals are denied.

    Attributes:
        status: how the last Run ended that was not completed; None while all were.
        interrupted: whether Ctrl-C ended the conversation.
    """

    def __init__(
        self,
        session: ChannelSession,
        screen: Screen,
        lines: AsyncIterator[str],
        *,
        interactive: bool,
    ) -> None:
        self.status: RunStatus | None = None
        self.interrupted = False
        self._session = session
        self._screen = screen
        self._lines = lines
        self._interactive = interactive
        self._live = LiveView(screen)
        self._follower = Follower(session, self._on_event, self._on_view)
        self._questions = Questions(screen, self._discard_typed_ahead)
        self._approvals = Approvals(session, self._decide, self._show_error)
        self._goal = GoalTalk(session, screen)
        self._tasks: TaskGroup | None = None
        self._settled = -1  # last fact that was shown; -1 before the first look
        self._run_active = False
        self._run_started_since = False
        self._idle = anyio.Event()
        self._canceling = False
        self._attached: list[AttachmentPart] = []  # what goes with the next message
        self._confirming = False  # whether a person is asked before a command is carried out

    async def run(self) -> None:
        """Talk until the person leaves, the input ends or the Session is closed."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            await tasks.start(self._follow)
            with self._errors_shown():
                await self._goal.notice()
            await self._read()
            tasks.cancel_scope.cancel()

    async def interrupt(self) -> None:
        """What Ctrl-C does: cancel the Run; leave if that was asked already, or none goes on."""
        if not self._run_active or self._canceling:
            self.interrupted = True
            self._leave_line()
            if self._tasks is not None:
                self._tasks.cancel_scope.cancel()
            return
        self._canceling = True
        self._screen.note("canceling; Ctrl-C again leaves at once", "yellow")
        with self._errors_shown():
            await self._session.cancel()

    # Reading

    async def _read(self) -> None:
        self._prompt()
        while not self.interrupted:
            try:
                line = await anext(self._lines)
            except StopAsyncIteration:
                self._leave_line()
                return
            except LineTooLong as error:
                self._show_error(error)
                continue
            if line.strip() == "/quit":
                return
            with self._errors_shown():
                await self._handle(line)
            if not self._interactive and self._run_active:
                await self._idle.wait()
            self._prompt()

    async def _handle(self, line: str) -> None:
        if line.startswith("/"):
            await self._command(line)
        elif self._questions.is_open:
            self._questions.answer(line)
        elif line.strip():
            await self._submit(line)

    async def _command(self, line: str) -> None:
        name, _, argument = line.strip().partition(" ")
        match name, argument.strip():
            case "/help", "":
                await self._help()
            case "/cancel", "":
                await self._session.cancel()
            case "/pending", "":
                await self._session.run_pending()
                self._watch_run()
            case "/steer", text if text:
                await self._session.steer(text)
            case "/attach", path if path:
                await self._attach(path.strip())
            case "/goal", text:
                begin = await self._goal.command(text)
                if begin is not None and not self._run_active:
                    await self._submit(begin)
            case _:
                await self._invoke(line.strip())

    async def _help(self) -> None:
        lines = [_COMMANDS]
        if await self._goal.is_offered():
            lines.append(GOAL_HELP)
        offered = await self._session.commands()
        lines += [f"{usage(each)}  {each.description or each.title}" for each in offered]
        self._screen.note("\n".join([*lines, _ELSE]))

    async def _invoke(self, line: str) -> None:
        key, _, typed = line.removeprefix("/").partition(" ")
        offered = {each.key: each for each in await self._session.commands()}
        descriptor = offered.get(key)
        if descriptor is None or f"/{key}" in _BUILT_IN:
            self._screen.note(f"{line!r} is no command; /help lists them", "red")
            return
        arguments = typed_arguments(descriptor, typed)
        if not descriptor.confirm:
            await self._carry_out(key, arguments)
        elif self._interactive and self._tasks is not None:
            # The answer is a line like others: whoever reads the lines must not wait for it.
            self._confirming = True
            self._tasks.start_soon(self._confirmed, descriptor, arguments)
        else:
            self._screen.note(f"/{key} was not carried out: {_NOBODY_TO_ASK}", "red")

    async def _confirmed(self, descriptor: CommandDescriptor, arguments: str) -> None:
        what = f"/{descriptor.key} {arguments}".rstrip()
        decision = await self._questions.confirm(f"{descriptor.title}: {safe_line(what)}")
        self._confirming = False
        with self._errors_shown():
            if decision.approved:
                await self._carry_out(descriptor.key, arguments)
            else:
                self._screen.note(f"/{descriptor.key} was not carried out", "dim")
        self._prompt()

    async def _carry_out(self, key: str, arguments: str) -> None:
        result = await self._session.invoke(key, arguments)
        for line in shown_lines(result.data):
            self._screen.note(line)
        for following in result.next:
            self._screen.note(f"next: {safe_line(following.title)}", "dim")
        view = await self._session.view()
        if view.active_run is not None or _last_sequence(view) > self._settled:
            self._watch_run()  # it may be over already, and is to be shown all the same

    async def _attach(self, path: str) -> None:
        attachment = await anyio.to_thread.run_sync(read_attachment, path)
        self._attached.append(await self._session.attach(attachment))
        self._screen.note(f"{attachment.name} goes with your next message", "dim")

    async def _submit(self, text: str) -> None:
        try:
            receipt = await self._session.send([text, *self._attached])
        except RevisionConflictError:
            await self._session.view()  # having been told, the person decides on what is there now
            raise
        self._attached.clear()
        if receipt.run_id is None:
            self._screen.note("queued; it runs after the run that goes on", "dim")
        self._watch_run()

    def _leave_line(self) -> None:
        """What the shell writes next does not belong behind our prompt."""
        if self._interactive:
            self._screen.note("")

    def _prompt(self) -> None:
        if self._interactive and not self._run_active and not self._confirming:
            self._screen.prompt("> ")

    # Following

    async def _follow(self, *, task_status: TaskStatus[None]) -> None:
        await self._follower.run(task_status=task_status)
        self._screen.note("the session was closed", "dim")
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()

    def _on_view(self, view: SessionView) -> None:
        if self._settled < 0:
            self._settled = _last_sequence(view)
        else:
            self._screen.note("the output fell behind and lost a piece; the run goes on", "dim")
        if self._tasks is not None:
            self._approvals.notice_all(view.approvals, self._tasks)
        if view.active_run is not None:
            self._watch_run()

    def _on_event(self, event: Event) -> None:
        self._live.show(event)
        if self._tasks is not None:
            self._approvals.notice(event, self._tasks)

    def _watch_run(self) -> None:
        self._run_started_since = True
        if not self._run_active and self._tasks is not None:
            self._run_active = True
            self._idle = anyio.Event()
            self._tasks.start_soon(self._until_idle)

    async def _until_idle(self) -> None:
        with self._errors_shown():
            while self._run_started_since:
                self._run_started_since = False
                revision = await self._session.when_idle()
                await self._follower.caught_up(revision)
                self._settle(await self._session.view())
                await self._goal.settle()
        self._run_active = self._canceling = False
        self._idle.set()
        self._prompt()

    def _settle(self, view: SessionView) -> None:
        new = [f.payload for f in view.recent_history if f.sequence > self._settled]
        self._settled = _last_sequence(view)
        self._live.settle(p for p in new if isinstance(p, Message) and p.role is Role.ASSISTANT)
        for end in new:
            if isinstance(end, RunFact) and end.termination is not None:
                self._live.run_ended(end.status, end.termination)
                self.status = end.status
        self.interrupted = self._canceling and not self._interactive

    # Approving

    async def _decide(self, pending: PendingApproval) -> Decision:
        if self._interactive:
            return await self._questions.ask(pending)
        return Decision(approved=False, reason=_NOBODY_TO_ASK)

    def _discard_typed_ahead(self) -> None:
        if isinstance(self._lines, DescriptorLines):
            self._lines.discard_typed_ahead()

    # Errors

    @contextmanager
    def _errors_shown(self) -> Generator[None]:
        try:
            yield
        except ClassifiedError as error:
            self._show_error(error)

    def _show_error(self, error: ClassifiedError) -> None:
        self._screen.note(str(error), "red")


def _last_sequence(view: SessionView) -> int:
    return view.recent_history[-1].sequence if view.recent_history else 0
