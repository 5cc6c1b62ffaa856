"""What a kill, a power cut or a bad disk leaves of a Session file, and what becomes of it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agentslot.session import (
    AppendMessage,
    AppendToolCall,
    AppendToolResult,
    AttemptStatus,
    ClassifiedError,
    FileStore,
    MessageId,
    ReasoningPart,
    SessionDamagedError,
    SessionId,
    ToolCallId,
    ToolResult,
)
from tests.session.files import append, load, reseal, sealed, write_session
from tests.session.scenario import (
    assistant,
    attempt,
    call,
    new_session,
    pending,
    run_started,
    user,
)


async def test_a_record_cut_at_any_byte_is_dropped_reported_once_and_never_fused(
    tmp_path: Path,
) -> None:
    path, _ = await write_session(tmp_path / "whole")
    whole = path.read_bytes()
    last = whole[:-1].rindex(b"\n") + 1
    for cut in range(last + 1, len(whole) - 1):
        directory = tmp_path / str(cut)
        directory.mkdir()
        torn = directory / path.name
        torn.write_bytes(whole[:cut])
        found = await FileStore(directory).load(SessionId("s1"))
        assert [item.message.id for item in found.state.queue] == ["q1"]
        assert [repair.line for repair in found.repairs] == [3]
        assert torn.read_bytes() == whole[:cut], "loading must not write"
        appended = await append(directory, "q3")
        again = await FileStore(directory).load(SessionId("s1"))
        assert again.repairs == ()
        assert again.state == appended
        assert [item.message.id for item in again.state.queue] == ["q1", "q3"]
        shutil.rmtree(directory)


async def test_a_whole_record_that_lacks_only_its_newline_is_kept(tmp_path: Path) -> None:
    path, state = await write_session(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    found = await FileStore(tmp_path).load(SessionId("s1"))
    assert found.state == state
    assert len(found.repairs) == 1
    appended = await append(tmp_path, "q3")
    assert await load(tmp_path) == appended
    assert [item.message.id for item in appended.queue] == ["q1", "q2", "q3"]


@pytest.mark.parametrize("tail", [b"\0" * 4096, b'{"type":"com\0\0\0\0'])
async def test_a_tail_that_never_reached_the_disk_is_dropped(tmp_path: Path, tail: bytes) -> None:
    path, state = await write_session(tmp_path)
    with path.open("ab") as file:
        file.write(tail)
    found = await FileStore(tmp_path).load(SessionId("s1"))
    assert found.state == state
    assert len(found.repairs) == 1
    assert await load(tmp_path) == state
    assert await append(tmp_path, "q3") == await load(tmp_path)


async def test_damage_in_the_middle_is_refused_with_its_line_and_nothing_is_rewritten(
    tmp_path: Path,
) -> None:
    path, _ = await write_session(tmp_path)
    header, first, second = path.read_bytes().splitlines(keepends=True)
    damaged = {
        "a run of NULs": b"\0" * len(first),
        "half a line": first[:40] + b"\n",
        "another letter": first.replace(b"hello", b"hallo"),
        "no JSON": b"oops\n",
        "nothing": b"\n",
    }
    for what, line in damaged.items():
        content = header + line + second
        path.write_bytes(content)
        with pytest.raises(SessionDamagedError) as caught:
            await FileStore(tmp_path).load(SessionId("s1"))
        assert (caught.value.path, caught.value.line) == (path, 2), what
        with pytest.raises(SessionDamagedError):
            await append(tmp_path, "q3")
        assert path.read_bytes() == content, what


async def test_a_lost_or_doubled_record_is_noticed(tmp_path: Path) -> None:
    path, _ = await write_session(tmp_path)
    header, first, second = path.read_bytes().splitlines(keepends=True)
    for content, line in ((header + second, 2), (header + first + first, 3)):
        path.write_bytes(content)
        with pytest.raises(SessionDamagedError, match="revision") as caught:
            await load(tmp_path)
        assert caught.value.line == line


async def test_a_damaged_last_record_that_was_finished_is_not_taken_for_a_torn_one(
    tmp_path: Path,
) -> None:
    path, _ = await write_session(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"q2", b"q9"))
    with pytest.raises(SessionDamagedError, match="line 3: the checksum"):
        await load(tmp_path)


async def test_a_tail_cut_inside_a_character_is_dropped_and_the_next_append_is_written(
    tmp_path: Path,
) -> None:
    emoji = AppendMessage(user("u1", "caf\u00e9 \U0001f378", run=None))
    path, _ = await write_session(tmp_path, [AppendMessage(user("u0", run=None))], [emoji])
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index("\U0001f378".encode()) + 2])
    appended = await append(tmp_path, "q1")
    assert await load(tmp_path) == appended
    assert [fact.payload for fact in appended.history] == [user("u0", run=None)]


async def test_line_separators_inside_text_do_not_end_a_record(tmp_path: Path) -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\r\ng"
    output = ToolResult.succeeded(ToolCallId("c1"), text)
    _, state = await write_session(
        tmp_path,
        [run_started(1), AppendMessage(user("u1", text))],
        [attempt("t1")],
        [
            attempt("t1", AttemptStatus.SUCCEEDED),
            AppendMessage(assistant("a1")),
            AppendToolCall(call("c1")),
        ],
        [pending("c1")],
        [AppendToolResult(output)],
    )
    assert await load(tmp_path) == state
    assert state.history.result(ToolCallId("c1")) == output


async def test_arguments_and_numbers_come_back_as_they_were_written(tmp_path: Path) -> None:
    arguments = '{"n": 1.0, "big":123456789012345678901234567890,  "e": 1e400, "s":"\\u00e9"}'
    odd = replace(call("c1"), arguments=arguments)
    await write_session(
        tmp_path,
        [run_started(1)],
        [AppendMessage(assistant("a1", "")), AppendToolCall(odd)],
    )
    assert (await load(tmp_path)).history.call(ToolCallId("c1")) == odd


async def test_a_session_that_died_while_thinking_is_listed_and_goes_on(tmp_path: Path) -> None:
    thought = replace(assistant("a1"), parts=(ReasoningPart("half a thought"),))
    _, state = await write_session(
        tmp_path, [run_started(1), AppendMessage(user("u1"))], [AppendMessage(thought)]
    )
    page = await FileStore(tmp_path).list_sessions(state.agent, state.workspace)
    assert [session.revision for session in page.sessions] == [3]
    appended = await append(tmp_path, "q1")
    assert appended.active_run is None
    assert appended.history.message(MessageId("a1")) == thought


async def test_a_torn_session_is_listed_as_it_would_load(tmp_path: Path) -> None:
    path, state = await write_session(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    page = await FileStore(tmp_path).list_sessions(state.agent, state.workspace)
    assert [session.revision for session in page.sessions] == [2]


async def test_a_damaged_session_does_not_hide_the_others(tmp_path: Path) -> None:
    path, state = await write_session(tmp_path)
    path.write_bytes(b"oops\n" + path.read_bytes())
    async with FileStore(tmp_path) as store:
        await store.create(new_session("s2"))
        page = await store.list_sessions(state.agent, state.workspace)
    assert [session.id for session in page.sessions] == ["s2"]


async def test_what_only_looks_like_a_session_file_does_not_hide_the_others(tmp_path: Path) -> None:
    _, state = await write_session(tmp_path)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    page = await FileStore(tmp_path).list_sessions(state.agent, state.workspace)
    assert [session.id for session in page.sessions] == ["s1"]


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClassifiedError, match=r"nowhere could not be read") as caught:
        await FileStore(tmp_path / "nowhere").overview()
    assert caught.value.code == "unreadable"


async def test_a_header_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    path, _ = await write_session(tmp_path)
    path.write_bytes(reseal(path.read_bytes(), 0, format="agentslot.session-file/v9"))
    with pytest.raises(SessionDamagedError, match=r"session-file/v9.*reads.*session-file/v1"):
        await load(tmp_path)


async def test_records_and_members_of_a_newer_minor_version_are_passed_over(
    tmp_path: Path,
) -> None:
    path, state = await write_session(tmp_path)
    content = reseal(path.read_bytes(), 0, minor=7, new_member={"x": 1})
    content = reseal(content, 1, another=True)
    lines = content.splitlines(keepends=True)
    note = sealed({"type": "note", "text": "of a later version", "rev": 2})
    path.write_bytes(b"".join([*lines[:2], note, *lines[2:]]))
    found = await FileStore(tmp_path).load(SessionId("s1"))
    assert found.state == state
    assert any("note" in repair.description for repair in found.repairs)
    await append(tmp_path, "q3")
    assert note in path.read_bytes()


@pytest.mark.parametrize("line", [0, 1])
async def test_unknown_members_of_this_version_are_refused(tmp_path: Path, line: int) -> None:
    path, _ = await write_session(tmp_path)
    path.write_bytes(reseal(path.read_bytes(), line, surprise=1))
    with pytest.raises(SessionDamagedError, match="surprise"):
        await load(tmp_path)


async def test_a_file_under_another_sessions_name_is_refused(tmp_path: Path) -> None:
    path, _ = await write_session(tmp_path)
    other, _ = await write_session(tmp_path / "other", session_id="s2")
    shutil.copy(path, other)
    with pytest.raises(SessionDamagedError, match="holds session 's1'"):
        await load(tmp_path / "other", "s2")
