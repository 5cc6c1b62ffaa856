"""A conversation that grows, and what one request alone shows behind it."""

from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import Transcript
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.session import Message, Role
from tests.model.support import message, request

NOTE = message(77, Role.USER, "a passing note")
URL = "http://127.0.0.1:1/v1"


def said(*numbers: int) -> list[Message]:
    return [message(n, Role.USER, f"text {n}") for n in numbers]


def test_what_one_request_shows_is_behind_the_rest_and_not_in_later_views() -> None:
    transcript = Transcript(said(1, 2))
    shown = transcript.showing([NOTE])
    longer = transcript.appended(said(3))
    assert list(shown) == [*said(1, 2), NOTE]
    assert (len(shown), shown.lasting, shown[-1], shown[2]) == (3, 2, NOTE, NOTE)
    assert list(shown[1:]) == [*said(2), NOTE]
    assert list(shown[::-1]) == [NOTE, *said(2, 1)]
    assert list(longer) == said(1, 2, 3)
    assert longer.ledger is transcript.ledger is shown.ledger


def test_appending_to_a_view_with_a_passing_part_makes_it_last_in_a_ledger_of_its_own() -> None:
    shown = Transcript(said(1)).showing([NOTE])
    longer = shown.appended(said(2))
    assert list(longer) == [*said(1), NOTE, *said(2)]
    assert longer.lasting == 3
    assert longer.ledger is not shown.ledger


@given(st.lists(st.sampled_from(["say", "show", "again"]), max_size=12))
def test_an_encoder_that_keeps_what_it_encoded_is_not_misled(steps: list[str]) -> None:
    wire = OpenAICompletionsWire(URL)
    transcript = Transcript(said(0))
    views = [transcript]
    for number, step in enumerate(steps, 1):
        if step == "say":
            transcript = transcript.appended(said(number))
            views.append(transcript)
        elif step == "show":
            views.append(transcript.showing([NOTE, *said(100 + number)]))
        view = views[-1] if step != "again" else views[len(views) // 2]
        fresh = OpenAICompletionsWire(URL).encode(request(list(view))).body
        assert wire.encode(request(view)).body == fresh
