"""The calls that this model knows how to make, and the identities that it gives them."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from examples.loopback_model.conversation import Call
from examples.loopback_model.errors import RequestError
from examples.loopback_model.request import Tool

LIST_FILES = "find . -name '*.py' | sort"
RUN_TESTS = "python -m unittest"

_NONCE_LENGTH = 10
_SEAL_LENGTH = 14


def list_files() -> Call:
    """See which files there are."""
    return make_call("bash", {"command": LIST_FILES})


def run_tests() -> Call:
    """Run the project's tests."""
    return make_call("bash", {"command": RUN_TESTS})


def read_file(path: str) -> Call:
    """Read one file."""
    return make_call("file_read", {"path": path})


def edit_file(path: str, *, old: str, new: str, sha256: str) -> Call:
    """Replace the one occurrence of `old` in a file whose content has the given hash."""
    return make_call(
        "file_edit",
        {
            "path": path,
            "edits": [{"old_string": old, "new_string": new}],
            "expected_sha256": sha256,
        },
    )


def edit_of(call: Call) -> tuple[str, str, str]:
    """Path, old and new text of a call that `edit_file` made."""
    match call.arguments:
        case {
            "path": str(path),
            "edits": [{"old_string": str(old), "new_string": str(new)}],
        }:
            return path, old, new
        case _:
            raise ValueError(call)


def is_ours(call: Call) -> bool:
    """Whether this model made the call: name and arguments are what its identity was made for."""
    prefix, _, token = call.id.partition("_")
    nonce, seal = token[:_NONCE_LENGTH], token[_NONCE_LENGTH:]
    return prefix == "call" and seal == _seal(nonce, call.name, call.arguments)


def refuse_unknown_tools(calls: Sequence[Call], tools: Sequence[Tool]) -> None:
    """Check that the tools offered can be called in this way.

    Raises:
        RequestError: A tool is not offered, or its schema does not take the arguments.
    """
    schemas = {tool.function.name: tool.function.parameters for tool in tools}
    for call in calls:
        schema = schemas.get(call.name)
        if schema is None:
            raise RequestError(f"This task needs the tool '{call.name}'.", param="tools")
        missing = set(schema.required) - call.arguments.keys()
        foreign = call.arguments.keys() - schema.properties.keys()
        if missing or foreign:
            raise RequestError(
                f"The schema of the tool '{call.name}' must take {', '.join(call.arguments)}; "
                f"it takes {', '.join(schema.properties)}.",
                param="tools",
            )


def make_call(name: str, arguments: Mapping[str, JsonValue]) -> Call:
    """A call with an identity that only this model can have given it."""
    nonce = secrets.token_hex(_NONCE_LENGTH // 2)
    return Call(f"call_{nonce}{_seal(nonce, name, arguments)}", name, arguments)


def _seal(nonce: str, name: str, arguments: Mapping[str, JsonValue]) -> str:
    text = json.dumps([nonce, name, arguments], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_SEAL_LENGTH]
