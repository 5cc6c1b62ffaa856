"""A Run on the screen, while it goes on and when it has ended."""

from collections.abc import Callable, Iterable

import anyio

from agentslot.interaction.cli.activity import cache_line, call_line, result_line
from agentslot.interaction.cli.screen import Screen, Style
from agentslot.interaction.events import (
    ChunksReset,
    Event,
    PromptCacheLost,
    ReasoningChunk,
    TextChunk,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from agentslot.session import (
    Message,
    MessageId,
    RunStatus,
    RunTermination,
    ToolCallId,
    safe_line,
)


class LiveView:
    """Shows events as they come; `settle` fills in what got lost, as live events may."""

    def __init__(self, screen: Screen, *, clock: Callable[[], float] = anyio.current_time) -> None:
        self._screen = screen
        self._clock = clock
        self._shown: dict[MessageId, list[str]] = {}
        self._thinking: MessageId | None = None
        self._started: dict[ToolCallId, float] = {}

    def show(self, event: Event) -> None:
        """Show what the event says, if it is worth a person's attention."""
        if event.origin.parent_run_id is not None:
            self._show_delegated(event)
            return
        match event:
            case TextChunk():
                self._show_text(event)
            case ReasoningChunk() if event.message_id != self._thinking:
                self._thinking = event.message_id
                self._screen.note("… thinking", "dim")
            case ChunksReset() if self._shown.pop(event.message_id, None):
                self._screen.end_answer()
                self._screen.note("the answer broke off; the model is asked again", "yellow")
            case PromptCacheLost():
                self._screen.note(cache_line(event.loss), "dim")
            case ToolStarted() | ToolProgress() | ToolFinished():
                self._show_tool(event, "")
            case _:
                pass

    def settle(self, messages: Iterable[Message]) -> None:
        """These are the durable messages: show what no event brought of them."""
        for message in messages:
            self._settle_message(message)
        self._screen.end_answer()
        self._shown.clear()
        self._started.clear()

    def run_ended(self, status: RunStatus, termination: RunTermination | None) -> None:
        """Say why a Run ended before it was done."""
        if termination is not None:
            self._screen.note(
                f"run {status}: {safe_line(termination.message)}"
                f" [{termination.source}/{termination.code}]",
                "yellow" if status is RunStatus.CANCELED else "red",
            )

    def _show_text(self, chunk: TextChunk) -> None:
        if chunk.message_id not in self._shown:
            self._screen.end_answer()
        self._shown.setdefault(chunk.message_id, []).append(chunk.text)
        self._screen.answer(chunk.text)

    def _show_delegated(self, event: Event) -> None:
        if isinstance(event, ToolStarted | ToolProgress | ToolFinished):
            self._show_tool(event, "  ")

    def _show_tool(self, event: ToolStarted | ToolProgress | ToolFinished, indent: str) -> None:
        match event:
            case ToolStarted():
                self._started[event.call.id] = self._clock()
                self._screen.note(f"{indent}→ {call_line(event.call)}", "cyan")
            case ToolProgress():
                self._screen.note(f"{indent}  · {safe_line(event.text, 160)}", "dim")
            case ToolFinished():
                started = self._started.pop(event.call.id, None)
                seconds = None if started is None else self._clock() - started
                style: Style = "green" if event.result.status == "succeeded" else "red"
                line = result_line(event.call, event.result, seconds)
                self._screen.note(f"{indent}{line}", style)

    def _settle_message(self, message: Message) -> None:
        shown = "".join(self._shown.pop(message.id, ()))
        if message.text.startswith(shown):
            rest = message.text[len(shown) :]
        else:
            self._screen.note("some of the live text was lost; this is the whole message:", "dim")
            rest = message.text
        if rest:
            if not shown:
                self._screen.end_answer()
            self._screen.answer(rest)
