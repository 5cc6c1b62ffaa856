"""What a provider behind an executor under test is made to do."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum

from agentslot.model.contract import ModelExecutor
from agentslot.session import ModelConfig


class Scene(StrEnum):
    """What the provider does to one request."""

    ANSWER = "answer"
    """It answers with any text, as its protocol has it, and with token figures."""
    CALL = "call"
    """It calls the tool `ping` without arguments."""
    FORM = "form"
    """It answers as it was asked to: with `IN_FORM` if the request says that a `verdict` is wanted,
    as arguments of the tool beside `ping` if there is one, else as its text; with any other text
    if the request says nothing of it."""
    FORM_CUT = "form_cut"
    """The same, but the answer meets the limit of its length before it is complete, and the
    provider says so."""
    CUT_OFF = "cut_off"
    """It sends some text, and the connection breaks before the answer has ended."""
    ENDS_EARLY = "ends_early"
    """It sends some text and ends properly, but without what ends an answer in its protocol."""
    SURPLUS = "surplus"
    """It answers, and then sends the same answer once more on the same connection."""
    OVERLOADED = "overloaded"
    """It refuses with a failure that passes, and asks for no wait."""
    WAIT = "wait"
    """It refuses with a failure that passes, and asks to wait for 30 seconds."""
    REJECTED = "rejected"
    """It refuses for good, in the words of `UNSAFE_MESSAGE`."""
    GARBAGE = "garbage"
    """It says that all is well, and sends what is no answer."""
    SILENT = "silent"
    """It takes the request and sends nothing."""
    SILENT_AFTER_TEXT = "silent_after_text"
    """It sends some text, and then nothing more; the connection stays open."""


IN_FORM = '{"verdict": "yes"}'
"""The answer in the form that the checks ask for."""

UNSAFE_MESSAGE = "bad request\n\x1b[31mred\u202e"
"""Words of a provider that a terminal should not see."""


@dataclass(frozen=True, slots=True)
class Stage:
    """An executor in front of a provider that plays scenes.

    Attributes:
        config: selects a model that the executor knows.
        requests: how many requests the provider has received.
    """

    executor: ModelExecutor
    config: ModelConfig
    requests: Callable[[], int]


OpenStage = Callable[..., AbstractAsyncContextManager[Stage]]
"""Takes `*scenes: Scene`; what it returns is entered once, and left when the check is over."""

Check = Callable[[OpenStage], Awaitable[None]]
"""Raises a ConformanceFailure if the executor does not do what the contract says."""
