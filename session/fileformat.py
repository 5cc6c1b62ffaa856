"""The file of one Session: a header line, then one line for each commit.

Each line is one JSON object that ends in the revision it makes, its time and a checksum over all
bytes before it:

    {"type":"session","format":"agentslot.session-file/v1",…,"rev":1,"at":"…","sum":"a1b2c3d4"}
    {"type":"facts","facts":[…],"rev":1,"at":"…","sum":"…"}        what a fork starts with
    {"type":"commit","key":"…","changes":[…],"rev":2,"at":"…","sum":"…"}
    {"type":"format","format":"agentslot.session-file/v2","rev":2,"at":"…","sum":"…"}

So a line proves that it is whole, the end of the file alone says how new the Session is, and state
is what the aggregate makes of the changes in their order. A reader keeps out of files of another
major version; in those of a newer minor version it passes over types and members it does not know.

A file is of version 1 until the first hook is asked: before that commit, in the same write, a
`format` line makes it version 2. The header is never rewritten; the last label counts.
"""

import hashlib
import re
import zlib
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from agentslot.session.changes import Change
from agentslot.session.codec import Decoder, UnreadableError, encode
from agentslot.session.facts import Fact
from agentslot.session.identity import Actor, AgentId, SessionId, WorkspaceId
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.state import Lineage
from agentslot.session.store import CommitRequest, NewSession

FORMAT = "agentslot.session-file/v1"
FORMAT_WITH_EXTENSIONS = "agentslot.session-file/v2"
MINOR = 0
FACTS_PER_LINE = 256
LINES_IN_A_WRITE = 2  # at most, once the Session is created: a label and a commit

RECORDS = frozenset({"session", "facts", "commit", "format"})
"""The types of line that this version knows."""

_TAIL = re.compile(rb',"rev":([0-9]{1,20}),"at":"([0-9T:.+Z-]{20,40})","sum":"[0-9a-f]{8}"\}\n?\Z')
_TYPE = re.compile(rb'\{"type":"([a-z_]{1,40})"')
_FORMAT = re.compile(rb'\{"type":"session","format":"([ -~]{1,80}?)"')
_SUM_LENGTH = len(',"sum":"01234567"}')

# Time and checksum are put behind what is encoded; to the reader they are members like others.
UNSEALED = datetime.min


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line: whose Session this is, and what it starts with.

    Attributes:
        facts: how many facts the lines behind it bring before the first commit.
    """

    type: Literal["session"]
    format: str
    minor: int
    id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    model_config: ModelConfig
    lineage: Lineage | None = None
    facts: int = 0
    rev: int
    at: datetime = UNSEALED
    sum: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsLine:
    """Some of the facts that a new Session starts with."""

    type: Literal["facts"]
    facts: tuple[Fact, ...]
    rev: int
    at: datetime = UNSEALED
    sum: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitLine:
    """One commit. All but its time and checksum is what its fingerprint covers."""

    type: Literal["commit"]
    key: str
    actor: Actor | None = None
    changes: tuple[Annotated[Change, Field(discriminator="kind")], ...]
    rev: int
    at: datetime = UNSEALED
    sum: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatLine:
    """From here on the file is of this format; it makes no revision."""

    type: Literal["format"]
    format: str
    rev: int
    at: datetime = UNSEALED
    sum: str = ""


COMMIT_MEMBERS = frozenset(field.name for field in fields(CommitLine))

# Made at first use: a decoder takes milliseconds to build.
read_header = cache(lambda: Decoder(Header))
read_facts = cache(lambda: Decoder(FactsLine))
read_commit = cache(lambda: Decoder(CommitLine))
read_format = cache(lambda: Decoder(FormatLine))


def header_of(new: NewSession) -> Header:
    """The header of a new Session."""
    return Header(
        type="session",
        format=FORMAT,
        minor=MINOR,
        id=new.id,
        agent=new.agent,
        workspace=new.workspace,
        model_config=new.model_config,
        lineage=new.lineage,
        facts=len(new.facts),
        rev=1,
    )


def creation(new: NewSession, at: datetime) -> bytes:
    """The lines that create a Session."""
    bodies = [encode(header_of(new))]
    for start in range(0, len(new.facts), FACTS_PER_LINE):
        facts = new.facts[start : start + FACTS_PER_LINE]
        bodies.append(encode(FactsLine(type="facts", facts=facts, rev=1)))
    return b"".join(seal(body, at) for body in bodies)


def commit_body(request: CommitRequest) -> bytes:
    """A commit without time and checksum: equal requests give equal bytes."""
    line = CommitLine(
        type="commit",
        key=request.idempotency_key,
        actor=request.actor,
        changes=request.changes,
        rev=request.expected_revision + 1,
    )
    return encode(line)


def upgrade(revision: int, at: datetime) -> bytes:
    """The line that lets a file of version 1 hold what hooks were asked."""
    line = FormatLine(type="format", format=FORMAT_WITH_EXTENSIONS, rev=revision)
    return seal(encode(line), at)


def fingerprint(body: bytes) -> bytes:
    """What tells two commits under one key apart."""
    return hashlib.sha256(body).digest()


def seal(body: bytes, at: datetime) -> bytes:
    """The line of an encoded record: with its time, its checksum and a line feed."""
    timed = b'%b,"at":"%b"' % (body[:-1], _utc(at))
    return b'%b,"sum":"%08x"}\n' % (timed, zlib.crc32(timed))


def _utc(at: datetime) -> bytes:
    return at.isoformat().replace("+00:00", "Z").encode()


def unseal(line: bytes) -> bytes:
    """The encoded record in a line."""
    return line[: line.rindex(b',"at":"')] + b"}"


def type_of(line: bytes) -> str:
    """The type of a line (given without its line feed) that is proved to be whole.

    Raises:
        UnreadableError: it is not what a writer of this format has written.
    """
    cut = len(line) - _SUM_LENGTH
    if cut < 0 or line[cut : cut + 8] != b',"sum":"':
        raise UnreadableError("this is no record")
    if line[cut + 8 :] != b'%08x"}' % zlib.crc32(memoryview(line)[:cut]):
        raise UnreadableError("the checksum does not match the bytes")
    found = _TYPE.match(line)
    if found is None:
        raise UnreadableError("the record has no type")
    return found[1].decode()


def format_of(line: bytes) -> str:
    """The format that a header names."""
    found = _FORMAT.match(line)
    return found[1].decode() if found else ""


def begin(line: bytes) -> tuple[Header, bool]:
    """The header in the first line, and whether a newer writer made the file.

    What such a writer added is passed over.

    Raises:
        UnreadableError: it is no header of a format that this version reads.
    """
    if type_of(line) != "session":
        raise UnreadableError("the file does not begin with a Session's header")
    if format_of(line) != FORMAT:
        raise UnreadableError(
            f"the file is of format {format_of(line)!r}, this version reads {FORMAT!r}"
        )
    header = read_header()(line, lenient=True)
    is_newer = header.minor > MINOR
    return (header if is_newer else read_header()(line)), is_newer


def relabelled(line: bytes, revision: int, *, lenient: bool) -> str:
    """The format that a `format` line gives to a file whose Session is at `revision`.

    Raises:
        UnreadableError: this version does not know it, or the line stands in the wrong place.
    """
    label = read_format()(line, lenient=lenient)
    if label.format != FORMAT_WITH_EXTENSIONS or label.rev != revision:
        raise UnreadableError(
            f"the file becomes format {label.format!r} at revision {label.rev}: this version "
            f"knows {FORMAT_WITH_EXTENSIONS!r}, and the Session is at {revision}"
        )
    return label.format


def revision_and_time(tail: bytes) -> tuple[int, datetime] | None:
    """The revision and time of the last line, from the last bytes of a file; None if it is torn."""
    found = _TAIL.search(tail)
    if found is None:
        return None
    return int(found[1]), datetime.fromisoformat(found[2].decode())
