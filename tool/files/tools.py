"""The tools `file_read`, `file_write` and `file_edit`."""

from contextlib import suppress
from typing import Annotated

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from agentslot._json import JsonError, JsonValue, loads
from agentslot.tool.attachments import Attachment
from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.containment import FileRoot, Location
from agentslot.tool.files.edit import Edit, edit_bytes
from agentslot.tool.files.read import MAX_LINES, MAX_SHOWN_BYTES
from agentslot.tool.files.show import read_image, show_file
from agentslot.tool.files.undo import Change, ChangeLog
from agentslot.tool.files.write import read_whole, replace, require_unchanged, sha256
from agentslot.tool.fit import fit
from agentslot.tool.functiontool import FunctionTool


class Replacement(BaseModel):
    """One replacement of a `file_edit`."""

    model_config = ConfigDict(extra="forbid")

    old_string: str = Field(
        description="The text to replace, exactly as it stands in the file, indentation included. "
        "It must occur exactly once: quote enough lines around the change."
    )
    new_string: str = Field(description="The text to put there, taken literally.")


_HASHED_BYTES = 4 * 1024 * 1024  # hashing a larger file would double the time of an edit
_REPLACEMENT_KEYS = tuple(Replacement.model_fields)
Replacements = Annotated[list[Replacement], Field(min_length=1)]


class FileTools:
    """Reads, writes and edits the files below one root folder.

    Attributes:
        root: the folder; no path leads outside of it.
    """

    def __init__(self, root: FileRoot, *, changes: ChangeLog | None = None) -> None:
        """Set up the tools; each change is recorded in `changes` before it is made."""
        self.root = root
        self._changes = changes

    def tools(self) -> tuple[FunctionTool[..., object], ...]:
        """Return `file_read`, `file_write` and `file_edit`."""
        return (
            FunctionTool(self._read, name="file_read", parallel_safe=True, effect=Effect.READ),
            FunctionTool(self._write, name="file_write", effect=Effect.WRITE),
            FunctionTool(
                self._edit, name="file_edit", effect=Effect.WRITE, prepare=_with_edit_list
            ),
        )

    async def _read(
        self,
        path: str,
        invocation: ToolInvocation,
        offset: int = 1,
        limit: Annotated[int, Field(ge=1, le=MAX_LINES)] = MAX_LINES,
        column: Annotated[int, Field(ge=1)] = 1,
    ) -> str | Attachment:
        """Read a text file, or a range of its lines; an image is shown as an image.

        The last line of the result, in brackets, is not part of the file: it tells which lines
        these are, the sha256 of the file, and how to read on if there is more.

        Args:
            path: Path of the file, relative to the root folder.
            invocation: The call.
            offset: First line to read, counted from 1; a negative one counts from the end.
            limit: Most lines to read.
            column: Byte of that first line to start at; only to read on in a very long line.
        """

        def read(max_bytes: int) -> str:
            with self.root.locate(path) as location:
                return show_file(
                    location, offset=offset, limit=limit, column=column, max_bytes=max_bytes
                )

        def read_any() -> str | Attachment:
            with self.root.locate(path) as location:
                image = read_image(location)
            if isinstance(image, Attachment) and invocation.artifacts is None:
                size = len(image.content)
                return f"[image: {image.media_type}, {size} bytes; images cannot be shown here]"
            return image or fit(read, MAX_SHOWN_BYTES, invocation.max_inline_output_bytes)

        return await anyio.to_thread.run_sync(read_any)

    async def _write(
        self,
        path: str,
        content: str,
        invocation: ToolInvocation,
        expected_sha256: str | None = None,
    ) -> str:
        """Create a file with its missing folders, or replace the whole content of a file.

        To replace a file, read it first and pass the sha256 of that read. To change parts of a
        file, use file_edit.

        Args:
            path: Path of the file, relative to the root folder.
            content: The whole new content.
            invocation: The call.
            expected_sha256: The sha256 of the present content; leave it out to create a file.
        """

        def write() -> str:
            new = content.encode()
            with self.root.locate_exclusively(path, create_folders=not expected_sha256) as location:
                exists = location.status() is not None
                before = None
                if expected_sha256:
                    before = read_whole(location)
                    require_unchanged(location, before, expected_sha256)
                elif exists:
                    raise ToolFailedError(
                        "file_exists",
                        f"{location.path!r} exists; to replace it, read it and pass its sha256 as "
                        "expected_sha256; to change parts of it, use file_edit",
                    )
                self._record(invocation, location, before, new)
                replace(location, new)
            done = "Replaced" if exists else "Created"
            return f"{done} {location.path}: {len(new)} bytes.\n[sha256 {sha256(new)}]"

        return await anyio.to_thread.run_sync(write)

    async def _edit(
        self,
        path: str,
        edits: Replacements,
        invocation: ToolInvocation,
        expected_sha256: str | None = None,
    ) -> str:
        """Replace pieces of text in a file: all of them, or none if one cannot be applied.

        Every old_string is looked up in the file as it is before the call, never in the result of
        another edit, and must occur there exactly once. Line ends of the file are kept.

        Args:
            path: Path of the file, relative to the root folder.
            edits: The replacements; they must not overlap.
            invocation: The call.
            expected_sha256: If given, the edit is refused unless the file still has this sha256.
        """

        def edit() -> str:
            with self.root.locate_exclusively(path) as location:
                before = read_whole(location)
                if expected_sha256:
                    require_unchanged(location, before, expected_sha256)
                after = edit_bytes(before, [Edit(e.old_string, e.new_string) for e in edits])
                self._record(invocation, location, before, after)
                replace(location, after)
            count = "1 replacement" if len(edits) == 1 else f"{len(edits)} replacements"
            return f"Edited {location.path}: {count}.\n{_hash_note(after)}"

        return await anyio.to_thread.run_sync(edit)

    def _record(
        self, invocation: ToolInvocation, location: Location, before: bytes | None, after: bytes
    ) -> None:
        if self._changes is None:
            return
        change = Change(
            root=str(self.root.path),
            path=location.path,
            session_id=invocation.session_id,
            call_id=invocation.call.id,
            created=before is None,
            after=sha256(after),
        )
        try:
            self._changes.record(change, before or b"")
        except OSError as error:
            message = f"the change could not be recorded ({error.strerror}), so it was not made"
            raise ToolFailedError("not_recorded", message) from error


def _hash_note(content: bytes) -> str:
    if len(content) > _HASHED_BYTES:
        return f"[{len(content)} bytes; read the file again if you need its sha256]"
    return f"[sha256 {sha256(content)}]"


def _with_edit_list(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Understand a lone replacement, at the top or without its list, and a list written as text."""
    lone = {key: arguments[key] for key in _REPLACEMENT_KEYS if key in arguments}
    if lone and "edits" not in arguments:
        rest = {key: value for key, value in arguments.items() if key not in lone}
        return {**rest, "edits": [lone]}
    if "edits" not in arguments:
        return arguments
    edits = arguments["edits"]
    if isinstance(edits, str):
        with suppress(JsonError):  # the validation that follows tells the model
            edits = loads(edits)
    return {**arguments, "edits": [edits] if isinstance(edits, dict) else edits}
