"""Server-sent events, cut anywhere."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot._sse import MAX_EVENT_BYTES, EventTooLargeError, SseDecoder
from tests.shared import shared


def feed(decoder: SseDecoder, chunk: bytes) -> list[tuple[bytes, str]]:
    return [(data, name) for data, name in decoder.feed(chunk)]


def decode(
    stream: bytes, size: int | None = None, max_event_bytes: int = MAX_EVENT_BYTES
) -> list[tuple[bytes, str]]:
    decoder = SseDecoder(max_event_bytes)
    step = size or max(len(stream), 1)
    return [
        event
        for start in range(0, len(stream), step)
        for event in feed(decoder, stream[start : start + step])
    ]


STREAMS: list[tuple[bytes, list[tuple[bytes, str]]]] = [
    (b"data: a\n\ndata: b\n\n", [(b"a", "message"), (b"b", "message")]),
    (b"data:a\n\n", [(b"a", "message")]),
    (b"data:  a \n\n", [(b" a ", "message")]),
    (b"data: a\r\n\r\ndata: b\r\n\r\n", [(b"a", "message"), (b"b", "message")]),
    (b"data: a\r\rdata: b\r\r", [(b"a", "message"), (b"b", "message")]),
    (b"data: a\n\r\ndata: b\r\n\n", [(b"a", "message"), (b"b", "message")]),
    (b"\xef\xbb\xbfdata: a\n\n", [(b"a", "message")]),
    (b"data: a\ndata:\ndata: b\n\n", [(b"a\n\nb", "message")]),
    (b"data\n\n", [(b"", "message")]),
    (b"event: error\ndata: x\n\ndata: y\n\n", [(b"x", "error"), (b"y", "message")]),
    (b"event: ping\n\ndata: y\n\n", [(b"y", "message")]),
    (b": comment\n:\n\ndata: a\nid: 7\nretry: 1\nfoo\n\n\n\n", [(b"a", "message")]),
    (
        "data: a\u2028b\u0085c\x0b\x0c\x1c\n\n".encode(),
        [("a\u2028b\u0085c\x0b\x0c\x1c".encode(), "message")],
    ),
    (b"data: a\n\ndata: cut off\n", [(b"a", "message")]),
    (b"data: a\n\ndata: cut off", [(b"a", "message")]),
    (b" data: no field\n\n", []),
    (b"", []),
]


@pytest.mark.parametrize(("stream", "expected"), STREAMS)
def test_a_stream_gives_its_events_however_it_is_cut(
    stream: bytes, expected: list[tuple[bytes, str]]
) -> None:
    for size in (None, 1, 2, 3, 5):
        assert decode(stream, size) == expected


@given(
    stream=st.lists(
        st.sampled_from(
            [
                b"data: a",
                b"data:",
                b"event: e",
                b":",
                b"\r",
                b"\n",
                b"\r\n",
                b"\n\n",
                "é\u2028".encode(),
                b"\xef\xbb\xbf",
            ]
        ),
        max_size=25,
    ).map(b"".join),
    cuts=st.lists(st.integers(0, 80)),
)
def test_any_cut_into_chunks_gives_the_same_events(stream: bytes, cuts: list[int]) -> None:
    borders = [0, *sorted(cuts), len(stream)]
    decoder = SseDecoder()
    events = [
        event
        for start, end in itertools.pairwise(borders)
        for event in feed(decoder, stream[start:end])
    ]
    assert events == decode(stream)


def test_an_event_is_delivered_with_the_bytes_that_complete_it() -> None:
    decoder = SseDecoder()
    assert feed(decoder, b"data: first\n") == []
    assert feed(decoder, b"\n") == [(b"first", "message")]
    assert feed(decoder, b"data: second\r") == []
    assert feed(decoder, b"\r") == [(b"second", "message")]
    assert feed(decoder, b"\ndata: third\n\n") == [(b"third", "message")]


def test_closing_tells_whether_an_event_was_cut_off() -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: a\n\n: note\n")
    assert not decoder.close()
    decoder = SseDecoder()
    decoder.feed(b"data: a\n")
    assert decoder.close()


def test_a_line_or_an_event_beyond_the_limit_is_refused_before_it_is_kept() -> None:
    whole = SseDecoder(max_event_bytes=20)
    assert feed(whole, b"data: " + b"x" * 14 + b"\n\n") == [(b"x" * 14, "message")]
    streams = (
        *(b"data: " + b"x" * 20 + b"\n\n", b":" + b"x" * 30 + b"\n"),
        *(b"data: 1234\n" * 5, b"data:\n" * 21),
    )
    for stream in streams:
        for size in (1, 7):
            with pytest.raises(EventTooLargeError) as caught:
                decode(stream, size, max_event_bytes=20)
            assert caught.value.max_bytes == 20


def test_a_very_long_line_is_delivered_whole() -> None:
    shared("cases/W24/make.py")
    line = b"x" * (3 * 1024 * 1024)
    assert decode(b"data: " + line + b"\n\n", 1400) == [(line, "message")]


@pytest.mark.heavy
def test_a_line_of_many_pieces_takes_time_in_proportion_to_its_length() -> None:
    def seconds(mebibytes: int) -> float:
        line = b"x" * (mebibytes * 1024 * 1024)
        stream = b"data: " + line + b"\n\n"
        begin = time.perf_counter()
        assert decode(stream, 1400) == [(line, "message")]
        return time.perf_counter() - begin

    small, large = min(seconds(3) for _ in range(3)), min(seconds(12) for _ in range(3))
    assert large < 8 * small + 0.05


def test_every_recorded_stream_gives_the_same_events_byte_by_byte() -> None:
    recordings = sorted(shared("captures").glob("*/*.response.txt"))
    assert len(recordings) > 90
    for recording in recordings:
        stream = recording.read_bytes()[:20_000]
        assert decode(stream, 1) == decode(stream), recording
