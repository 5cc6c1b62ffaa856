"""The terminal channel, as the person in front of it sees it."""

import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import ANY

import anyio
import pytest

from agentslot.interaction import CliChannel
from agentslot.session import AttachmentPart, Repair, RunStatus, SessionId, TextPart, ToolResult
from tests.interaction.fake_gateway import fake_gateway
from tests.interaction.fake_session import FakeRun, RunFailed, echo
from tests.interaction.terminal import Person


async def write_file(run: FakeRun) -> None:
    """Ask to write a file, and do as one is told."""
    call = run.call("file_write", {"path": "a.txt", "content": "x"})
    answer = await run.ask(call, "it writes files")
    if not answer.approved:
        run.finish(call, ToolResult.failed(call.id, "denied", answer.reason))
        await run.say("I did not write it: ", answer.reason)
        return
    run.start(call)
    run.finish(call, ToolResult.succeeded(call.id, "ok"))
    await run.say("I wrote it.")


async def forever(run: FakeRun) -> None:
    await run.say("working")
    await anyio.sleep_forever()


async def test_an_answer_is_shown_and_the_next_message_asked_for() -> None:
    person = Person()
    async with fake_gateway() as gateway, person.talking_to(gateway):
        await person.types("hello")
        await person.sees("echo: hello\n> ")
        await person.types("and you?")
        await person.sees("echo: and you?\n> ")


async def test_the_header_names_the_session_and_the_way_to_help() -> None:
    person = Person()
    async with fake_gateway() as gateway, person.talking_to(gateway):
        await person.sees("session s1, revision 1; /help lists the commands\n> ")


async def test_a_resumed_session_shows_what_was_mended() -> None:
    person = Person()
    async with fake_gateway() as gateway:
        gateway.stored[SessionId("old")] = (Repair(12, "the last record was torn"),)
        async with person.talking_to(gateway, session_id="old"):
            await person.sees("session old, revision 7")
            await person.sees("mended: the last record was torn")


async def test_tools_are_shown_as_they_start_and_end() -> None:
    async def use_tools(run: FakeRun) -> None:
        await run.say("Let me look.")
        listing = run.call("bash", {"command": "ls -la"})
        run.start(listing)
        run.progress(listing, "half way")
        run.finish(listing, ToolResult.succeeded(listing.id, "a.txt"))
        edit = run.call("file_edit", {"path": "x", "edits": [1]})
        run.start(edit)
        run.finish(edit, ToolResult.failed(edit.id, "not_found", "there is no x"))
        await run.say("Done.")

    person = Person()
    async with fake_gateway(use_tools) as gateway, person.talking_to(gateway):
        await person.types("go")
        await person.sees("Done.\n> ")
        shown = person.screen.getvalue().partition("> ")[2]
        assert re.sub(r"\d+\.\d s", "N s", shown) == (
            "Let me look.\n"
            "→ bash ls -la\n"
            "  · half way\n"
            "✓ bash N s\n"
            "→ file_edit path=x edits=[…]\n"
            "✗ file_edit N s: not_found: there is no x\n"
            "Done.\n"
            "> "
        )


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("y", "I wrote it."),
        ("YES", "I wrote it."),
        ("n", "I did not write it: the user said no"),
        ("use b.txt instead", "I did not write it: use b.txt instead"),
    ],
)
async def test_a_call_that_needs_approval_is_asked_for_and_answered(line: str, answer: str) -> None:
    person = Person()
    async with fake_gateway(write_file) as gateway, person.talking_to(gateway):
        await person.types("go")
        await person.sees("? file_write\n  path: a.txt\n  content: x\n  because it writes files\n")
        await person.sees("say why not: ")
        await person.types(line)
        await person.sees(f"{answer}\n> ")


async def test_all_of_a_call_is_shown_before_it_is_approved() -> None:
    async def ask(run: FakeRun) -> None:
        edits = [{"old_string": "a\nb", "new_string": "\x1b[2Jc"}, {"old_string": "", "n": 1}]
        await run.ask(run.call("file_edit", {"path": "p", "edits": edits}), "it writes")

    person = Person()
    async with fake_gateway(ask) as gateway, person.talking_to(gateway):
        await person.types("go")
        await person.sees("say why not: ")
        assert (
            "? file_edit\n"
            "  path: p\n"
            "  edits:\n"
            "    - old_string:\n"
            "        a\n"
            "        b\n"
            "      new_string: c\n"
            "    - old_string: \n"
            "      n: 1\n"
            "  because it writes\n"
        ) in person.screen.getvalue()


async def test_an_empty_answer_decides_nothing() -> None:
    person = Person()
    async with fake_gateway(write_file) as gateway, person.talking_to(gateway):
        await person.types("go")
        await person.sees("say why not: ")
        await person.types("")
        await person.sees("say why not: ", times=2)
        await person.types("y")
        await person.sees("I wrote it.")


async def test_two_calls_that_wait_are_asked_for_one_after_the_other() -> None:
    answers: dict[str, bool] = {}

    async def ask(run: FakeRun, name: str) -> None:
        answers[name] = (await run.ask(run.call(name, {}), "writes")).approved

    async def both(run: FakeRun) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, run, "one")
            tasks.start_soon(ask, run, "two")
        await echo(run)

    person = Person()
    async with fake_gateway(both) as gateway, person.talking_to(gateway):
        await person.types("go")
        await person.sees("say why not: ")
        assert person.screen.getvalue().count("say why not: ") == 1
        await person.types("y")
        await person.sees("say why not: ", times=2)
        await person.types("n")
        await person.sees("echo: go\n> ")
    assert sorted(answers.values()) == [False, True]


async def test_a_call_that_waited_in_a_resumed_session_is_asked_for() -> None:
    person = Person()
    async with fake_gateway(write_file) as gateway:
        async with Person().talking_to(gateway) as first:
            other = CliChannel(session_id="s1")
            assert other.status is first.status is None
            session = gateway.sessions[SessionId("s1")]
            gateway.start(session, "go")
            await anyio.wait_all_tasks_blocked()
        async with person.talking_to(gateway, session_id="s1"):
            await person.sees("say why not: ")
            await person.types("y")
            await person.sees("I wrote it.\n> ")


async def test_canceling_withdraws_the_question() -> None:
    async def ask(run: FakeRun) -> None:
        call = run.call("bash", {"command": "rm -rf build"})
        try:
            await run.ask(call, "runs commands")
        finally:
            run.finish(call, ToolResult.failed(call.id, "canceled", "canceled"))

    person = Person()
    async with fake_gateway(ask) as gateway, person.talking_to(gateway):
        await person.types("go")
        await person.sees("say why not: ")
        await person.types("/cancel")
        await person.sees("run canceled: canceled [runtime/canceled]\n> ")
        gateway.script = echo
        await person.types("y")  # no answer to anything any more
        await person.sees("echo: y\n> ")


async def test_a_message_during_a_run_is_queued_and_runs_next() -> None:
    go_on = anyio.Event()

    async def wait(run: FakeRun) -> None:
        await run.say(f"<{run.prompt}>")
        await go_on.wait()

    person = Person()
    async with fake_gateway(wait) as gateway, person.talking_to(gateway):
        await person.types("one")
        await person.sees("<one>")
        await person.types("two")
        await person.sees("queued; it runs after the run that goes on")
        go_on.set()
        await person.sees("<two>\n> ")


async def test_a_message_left_waiting_runs_with_pending() -> None:
    go_on = anyio.Event()

    async def fail_first(run: FakeRun) -> None:
        if run.prompt == "one":
            await go_on.wait()
            raise RunFailed("overloaded", "the model is overloaded")
        await echo(run)

    person = Person()
    async with fake_gateway(fail_first) as gateway, person.talking_to(gateway) as channel:
        await person.types("one", "two")
        await person.sees("queued")
        go_on.set()
        await person.sees("run failed: the model is overloaded [model/overloaded]\n> ")
        assert channel.status is RunStatus.FAILED
        await person.types("/pending")
        await person.sees("echo: two\n> ")
        await person.types("/pending")
        await person.sees("no message waits [conflict/no_pending_work]\n> ")


async def test_steer_reaches_the_run() -> None:
    person = Person()
    async with fake_gateway(forever) as gateway, person.talking_to(gateway):
        await person.types("go")
        await person.sees("working")
        await person.types("/steer in French, please", "/cancel")
        await person.sees("run canceled")
        assert "in French, please" in gateway.calls[0]


async def test_help_lists_the_commands_and_a_wrong_one_is_named() -> None:
    person = Person()
    async with fake_gateway() as gateway, person.talking_to(gateway):
        await person.types("/help", "/hlep", "/cancel now")
        await person.sees("/quit        leave")
        await person.sees("'/hlep' is no command; /help lists them")
        await person.sees("'/cancel now' is no command")
        assert not gateway.sent


async def test_quit_ends_the_conversation() -> None:
    person = Person()
    async with fake_gateway() as gateway, person.talking_to(gateway) as channel:
        await person.types("/quit")
        with anyio.fail_after(20):
            await channel.finished()
        assert not channel.interrupted


async def test_control_c_cancels_the_run_and_asks_for_the_next_message() -> None:
    person = Person()
    async with fake_gateway(forever) as gateway, person.talking_to(gateway) as channel:
        await person.types("go")
        await person.sees("working")
        await channel.interrupt()
        await person.sees("run canceled: canceled [runtime/canceled]\n> ")
        gateway.script = echo
        await person.types("again")
        await person.sees("echo: again\n> ")
        assert not channel.interrupted


async def test_control_c_at_the_prompt_leaves() -> None:
    person = Person()
    async with fake_gateway() as gateway, person.talking_to(gateway) as channel:
        await person.sees("> ")
        await channel.interrupt()
        with anyio.fail_after(20):
            await channel.finished()
        assert channel.interrupted
        await person.sees("> \n")


async def test_the_end_of_the_input_leaves_the_line_of_the_prompt() -> None:
    person = Person()
    async with fake_gateway() as gateway, person.talking_to(gateway) as channel:
        await person.sees("> ")
        person.leaves()
        with anyio.fail_after(20):
            await channel.finished()
        await person.sees("> \n")


async def test_control_c_twice_leaves_though_the_run_takes_its_time() -> None:
    async def stubborn(run: FakeRun) -> None:
        await run.say("working")
        with anyio.CancelScope(shield=True):
            await let_go.wait()

    let_go = anyio.Event()
    person = Person()
    async with fake_gateway(stubborn) as gateway, person.talking_to(gateway) as channel:
        await person.types("go")
        await person.sees("working")
        await channel.interrupt()
        await person.sees("Ctrl-C again leaves at once")
        await channel.interrupt()
        with anyio.fail_after(20):
            await channel.finished()
        let_go.set()
        assert channel.interrupted


async def test_a_conflict_is_shown_and_the_next_message_goes_through() -> None:
    person = Person()
    async with fake_gateway() as gateway, person.talking_to(gateway):
        await person.sees("> ")
        gateway.foreign_change("s1")
        await person.types("hello")
        await person.sees("[conflict/revision_conflict]\n> ")
        await person.types("hello again")
        await person.sees("echo: hello again\n> ")


async def test_text_that_came_in_no_event_is_shown_in_the_end() -> None:
    async def quiet(run: FakeRun) -> None:
        run.commit("m1", "I say it only once.")
        run.chunk("m2", "Beginning")
        run.commit("m2", "Beginning and end")
        run.chunk("m3", "a lost")
        run.commit("m3", "one that lost its start")

    person = Person()
    async with fake_gateway(quiet) as gateway, person.talking_to(gateway):
        await person.types("go")
        await person.sees("one that lost its start\n> ")
        text = person.screen.getvalue()
        assert text.count("I say it only once.") == 1
        assert " and end" in text
        assert "this is the whole message:\none that lost its start\n" in text


async def test_a_failed_attempt_is_told_from_the_one_that_counts() -> None:
    async def retry(run: FakeRun) -> None:
        run.chunk("m1", "I thi")
        run.reset("m1")
        run.chunk("m1", "I think so.")
        run.commit("m1", "I think so.")

    person = Person()
    async with fake_gateway(retry) as gateway, person.talking_to(gateway):
        await person.types("go")
        await person.sees("I thi\nthe answer broke off; the model is asked again\nI think so.\n> ")


async def test_an_overflow_loses_nothing_that_counts() -> None:
    async def flood(run: FakeRun) -> None:
        for number in range(50):
            run.chunk("m1", f"{number} ")
        run.commit("m1", "".join(f"{number} " for number in range(50)))

    person = Person()
    async with fake_gateway(flood, capacity=10) as gateway, person.talking_to(gateway):
        await person.types("count")
        await person.sees("48 49 \n> ")
        assert "the output fell behind" in person.screen.getvalue()


async def test_a_piped_conversation_goes_message_by_message_and_denies_approvals() -> None:
    person = Person(interactive=False)
    async with fake_gateway(write_file) as gateway, person.talking_to(gateway) as channel:
        await person.types("one", "two")
        person.leaves()
        with anyio.fail_after(20):
            await channel.finished()
        text = person.screen.getvalue()
        assert ">" not in text
        assert text.count("I did not write it: nobody can be asked here") == 2
        assert gateway.sent[0].expected_revision == 1


async def test_no_input_ends_cleanly() -> None:
    person = Person(interactive=False)
    person.leaves()
    async with fake_gateway() as gateway, person.talking_to(gateway) as channel:
        with anyio.fail_after(20):
            await channel.finished()
        assert not gateway.sent


async def test_control_c_ends_a_piped_conversation_after_its_run() -> None:
    person = Person(interactive=False)
    async with fake_gateway(forever) as gateway, person.talking_to(gateway) as channel:
        await person.types("one", "two")
        await person.sees("working")
        await channel.interrupt()
        with anyio.fail_after(20):
            await channel.finished()
        assert channel.interrupted
        assert len(gateway.sent) == 1
        assert channel.status is RunStatus.CANCELED


async def test_a_closed_session_ends_the_conversation() -> None:
    person = Person()
    async with fake_gateway() as gateway, person.talking_to(gateway) as channel:
        await person.sees("> ")
        for stream in gateway.sessions[SessionId("s1")].streams:
            await stream.aclose()
        with anyio.fail_after(20):
            await channel.finished()
        await person.sees("the session was closed")


@pytest.mark.parametrize(
    "make",
    [
        CliChannel,
        lambda: CliChannel(agent="bot"),
        lambda: CliChannel(session_id="s1", agent="bot", workspace="default"),
    ],
)
def test_the_session_is_named_in_exactly_one_way(make: Callable[[], CliChannel]) -> None:
    with pytest.raises(ValueError, match="either session_id, or agent and workspace"):
        make()


async def test_a_file_is_attached_to_the_next_message_and_to_no_other(tmp_path: Path) -> None:
    notes = anyio.Path(tmp_path / "notes.txt")
    await notes.write_text("blue", encoding="utf-8")
    person = Person()
    async with fake_gateway() as gateway, person.talking_to(gateway):
        await person.types(f"/attach {tmp_path / 'gone.txt'}")
        await person.sees("cannot be read: No such file or directory")
        await person.types(f"/attach {notes}")
        await person.sees("notes.txt goes with your next message")
        await person.types("look")
        await person.sees("echo: look\n> ")
        await person.types("and?")
        await person.sees("echo: and?\n> ")
        first, second = [request.input.parts for request in gateway.sent]
    assert first == (TextPart("look"), AttachmentPart(ANY, "text/plain", "notes.txt"))
    assert second == (TextPart("and?"),)
