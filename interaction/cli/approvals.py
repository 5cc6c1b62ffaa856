"""Deciding on calls that wait for a person, one at a time, while the Run goes on."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from agentslot.interaction.cli.activity import call_details
from agentslot.interaction.cli.screen import Screen
from agentslot.interaction.events import ApprovalRequested, Event, ToolFinished
from agentslot.interaction.gateway import PendingApproval
from agentslot.interaction.handle import ChannelSession
from agentslot.session import ClassifiedError, ToolCallId, safe_line


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a waiting call; the model reads the reason of a denial."""

    approved: bool
    reason: str = ""


Decide = Callable[[PendingApproval], Awaitable[Decision]]


class Approvals:
    """Takes each waiting call to `decide`, and its decision to the Session."""

    def __init__(
        self, session: ChannelSession, decide: Decide, on_error: Callable[[ClassifiedError], None]
    ) -> None:
        self._session = session
        self._decide = decide
        self._on_error = on_error
        self._turn = anyio.Lock()
        self._considered: dict[ToolCallId, anyio.CancelScope] = {}

    def notice(self, event: Event, tasks: TaskGroup) -> None:
        """Begin to decide on a call that asks; stop when it has its result and waits no more."""
        match event:
            case ApprovalRequested():
                pending = PendingApproval(event.call, event.reason, event.digest)
                tasks.start_soon(self._consider, pending)
            case ToolFinished() if scope := self._considered.get(event.call.id):
                scope.cancel()
            case _:
                pass

    def notice_all(self, waiting: Iterable[PendingApproval], tasks: TaskGroup) -> None:
        """Begin to decide on calls that wait already."""
        for pending in waiting:
            tasks.start_soon(self._consider, pending)

    async def _consider(self, pending: PendingApproval) -> None:
        call_id = pending.call.id
        if call_id in self._considered:
            return
        with anyio.CancelScope() as scope:
            self._considered[call_id] = scope
            try:
                async with self._turn:
                    decision = await self._decide(pending)
                await self._answer(pending, decision)
            finally:
                del self._considered[call_id]

    async def _answer(self, pending: PendingApproval, decision: Decision) -> None:
        try:
            if decision.approved:
                await self._session.approve(pending.digest)
            else:
                await self._session.deny(pending.digest, decision.reason)
        except ClassifiedError as error:
            self._on_error(error)


class Questions:
    """Asks on a screen and takes the answer from whoever reads the lines."""

    def __init__(self, screen: Screen, before_asking: Callable[[], None]) -> None:
        self._screen = screen
        self._before_asking = before_asking
        self._turn = anyio.Lock()
        self._answered: anyio.Event | None = None
        self._decision: Decision | None = None

    @property
    def is_open(self) -> bool:
        """Whether the next line answers a question."""
        return self._answered is not None

    async def ask(self, pending: PendingApproval) -> Decision:
        """Show the call and wait for `answer`."""
        because = f"  because {safe_line(pending.reason)}"
        return await self._ask(call_details(pending.call), because)

    async def confirm(self, what: str) -> Decision:
        """Show what is about to be done, and wait for `answer`."""
        return await self._ask(what, "")

    async def _ask(self, what: str, because: str) -> Decision:
        async with self._turn:
            self._before_asking()
            self._decision = None
            self._answered = anyio.Event()
            self._screen.note(f"? {what}", "yellow")
            if because:
                self._screen.note(because, "dim")
            self._ask_again()
            try:
                while self._decision is None:
                    await self._answered.wait()
                return self._decision
            finally:
                self._answered = None

    def answer(self, line: str) -> None:
        """Take a line as the answer: yes, no, or the reason why not."""
        text = safe_line(line)
        if self._answered is None or self._decision is not None:
            return
        match text.lower():
            case "":
                self._ask_again()
                return
            case "y" | "yes":
                self._decision = Decision(approved=True)
            case "n" | "no":
                self._decision = Decision(approved=False, reason="the user said no")
            case _:
                self._decision = Decision(approved=False, reason=text)
        self._answered.set()

    def _ask_again(self) -> None:
        self._screen.prompt("  allow it? [y]es, [n]o, or say why not: ")
