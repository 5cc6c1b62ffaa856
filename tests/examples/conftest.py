"""The model server, once for all tests, and a fresh copy of the project for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.loopback_model import loopback_model
from tests.examples.workshop import Workshop


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    with loopback_model() as url:
        yield url


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)
