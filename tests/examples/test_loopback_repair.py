"""The loopback model repairs the project when its tools are run properly."""

import json

from tests.examples.vendorclient import (
    ask,
    new_messages,
    run_calls,
    tool_message,
    work_to_the_end,
    work_until,
)
from tests.examples.workshop import Workshop

UNKNOWN = "The outcome of this call is unknown: it may or may not have taken effect."


def test_the_project_is_broken_before_anybody_works_on_it(workshop: Workshop) -> None:
    assert not workshop.passes_its_tests()


def test_an_honest_loop_ends_with_green_tests_and_a_report(
    base_url: str, workshop: Workshop
) -> None:
    report = work_to_the_end(base_url, workshop, new_messages())

    assert report.finish_reason == "stop"
    assert "all tests pass" in report.text
    assert workshop.passes_its_tests()
    assert workshop.ran.count("file_edit") == 1


def test_a_turn_may_hold_several_calls(base_url: str, workshop: Workshop) -> None:
    answer = work_until(base_url, workshop, new_messages(), "file_read")

    paths = [json.loads(call["function"]["arguments"])["path"] for call in answer.calls]
    assert paths == ["tests/test_invoice.py", "shop/invoice.py"]


def test_no_call_id_is_used_twice_even_when_a_request_is_repeated(
    base_url: str, workshop: Workshop
) -> None:
    messages = new_messages()
    repeated = [ask(base_url, new_messages()).calls[0]["id"] for _ in range(3)]
    work_to_the_end(base_url, workshop, messages)

    ids = repeated + [call["id"] for each in messages for call in each.get("tool_calls", ())]
    assert len(ids) == len(set(ids))


def test_after_a_test_run_with_unknown_outcome_it_looks_before_it_goes_on(
    base_url: str, workshop: Workshop
) -> None:
    messages = new_messages()
    edit = work_until(base_url, workshop, messages, "file_edit")
    messages += run_calls(workshop, edit)
    killed = ask(base_url, messages).calls[0]
    messages += [tool_message(killed, UNKNOWN), {"role": "user", "content": "Please go on."}]

    check = ask(base_url, messages)

    assert [call["function"]["name"] for call in check.calls] == ["file_read"]
    messages += run_calls(workshop, check)
    assert "all tests pass" in work_to_the_end(base_url, workshop, messages).text
    assert workshop.ran.count("file_edit") == 1


def test_an_edit_with_unknown_outcome_that_was_made_is_not_made_again(
    base_url: str, workshop: Workshop
) -> None:
    messages = new_messages()
    edit = work_until(base_url, workshop, messages, "file_edit").calls[0]
    workshop.run(edit["function"])
    messages.append(tool_message(edit, UNKNOWN))

    report = work_to_the_end(base_url, workshop, messages)

    assert "all tests pass" in report.text
    assert workshop.ran.count("file_edit") == 1


def test_an_edit_with_unknown_outcome_that_was_not_made_is_made(
    base_url: str, workshop: Workshop
) -> None:
    messages = new_messages()
    edit = work_until(base_url, workshop, messages, "file_edit").calls[0]
    messages.append(tool_message(edit, UNKNOWN))

    report = work_to_the_end(base_url, workshop, messages)

    assert "all tests pass" in report.text
    assert workshop.ran.count("file_edit") == 1
    assert workshop.passes_its_tests()


def test_a_test_run_with_unknown_outcome_before_any_change_is_repeated_by_a_new_call(
    base_url: str, workshop: Workshop
) -> None:
    messages = new_messages()
    messages += run_calls(workshop, ask(base_url, messages))
    first = ask(base_url, messages).calls[0]
    messages.append(tool_message(first, UNKNOWN))

    second = ask(base_url, messages).calls[0]

    assert second["function"] == first["function"]
    assert second["id"] != first["id"]
