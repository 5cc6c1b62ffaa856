"""Diagnostics of hooks: newest first, in pages, and without content."""

from dataclasses import fields

import pytest

from agentslot.session import (
    ClassifiedError,
    ExtensionBoundary,
    ExtensionDiagnostic,
    MessageId,
    SessionState,
    diagnostics_page,
    run_diagnostics,
)
from tests.session.extensions import ACCEPTED, APPLIED, BEGUN, asked, prepare
from tests.session.scenario import RUN, advance, calling, idle


def gated(count: int) -> SessionState:
    state = idle()
    names = [str(n) for n in range(count)]
    return advance(state, prepare(state, ExtensionBoundary.INPUT_GATE, *names))


def test_pages_give_every_invocation_once_newest_first() -> None:
    journal = gated(7).extensions
    seen: list[int] = []
    more, cursor = True, 0
    while more:
        page, more = diagnostics_page(journal, before_sequence=cursor, limit=3)
        seen += [each.sequence for each in page]
        cursor = page[-1].sequence
    assert seen == [7, 6, 5, 4, 3, 2, 1]


def test_a_page_has_fifty_unless_told_and_a_hundred_at_most() -> None:
    journal = gated(120).extensions
    page, more = diagnostics_page(journal)
    assert (len(page), more) == (50, True)
    assert len(diagnostics_page(journal, limit=100)[0]) == 100
    assert diagnostics_page(journal, before_sequence=1) == ((), False)
    for limit, before in ((101, 0), (-1, 0), (1, -1)):
        with pytest.raises(ClassifiedError) as caught:
            diagnostics_page(journal, limit=limit, before_sequence=before)
        assert caught.value.code == "invalid_limit"


def test_a_diagnostic_tells_everything_but_the_content() -> None:
    state = asked(ExtensionBoundary.INPUT_GATE, BEGUN, ACCEPTED, APPLIED, state=idle())
    (told,), _ = diagnostics_page(state.extensions)
    entry = state.extensions[1]
    names = {field.name for field in fields(ExtensionDiagnostic)}
    assert "context_messages" not in names
    assert all(getattr(told, name) == getattr(entry, name) for name in names)
    assert "a note" not in repr(told)


def test_a_run_has_its_own_invocations_and_those_of_its_message() -> None:
    state = calling("c1")
    state = advance(state, prepare(state, ExtensionBoundary.TOOL_PREFLIGHT, "1", "2"))
    state = advance(state, prepare(state, ExtensionBoundary.SESSION_LIFECYCLE, "3"))
    state = advance(state, prepare(state, ExtensionBoundary.INPUT_GATE, "4", message="u1"))
    state = advance(state, prepare(state, ExtensionBoundary.INPUT_GATE, "5", message="other"))
    told, more = run_diagnostics(state, RUN, MessageId("u1"))
    assert ([each.sequence for each in told], more) == ([4, 2, 1], False)
    state = advance(
        state, prepare(state, ExtensionBoundary.TOOL_PREFLIGHT, *(f"x{n}" for n in range(100)))
    )
    told, more = run_diagnostics(state, RUN, MessageId("u1"))
    assert (len(told), more) == (100, True)
