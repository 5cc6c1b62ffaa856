"""Stores in an application."""

from pathlib import Path

import pytest

from agentslot import Application
from agentslot.session import (
    SESSION_STORE,
    ClassifiedError,
    FileStoreModule,
    MemoryStoreModule,
    SessionId,
)
from tests.session.scenario import new_session


async def test_the_memory_module_fills_the_slot() -> None:
    application = Application("app", [MemoryStoreModule()], [SESSION_STORE.required()])
    async with application.start() as runtime:
        store = runtime.assembly[SESSION_STORE]
        assert (await store.create(new_session())).revision == 1


async def test_the_file_module_owns_its_directory_while_the_application_runs(
    tmp_path: Path,
) -> None:
    directory = tmp_path / "sessions"
    application = Application("app", [FileStoreModule(str(directory))], [SESSION_STORE.required()])
    store = application.build()[SESSION_STORE]
    assert not directory.exists()
    with pytest.raises(ClassifiedError, match="not open"):
        await store.create(new_session())
    async with application.start():
        await store.create(new_session())
        assert directory.stat().st_mode & 0o777 == 0o700
        assert {f.stat().st_mode & 0o777 for f in directory.iterdir()} == {0o600}
    assert (await store.load(SessionId("s1"))).state.revision == 1
