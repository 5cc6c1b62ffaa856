"""What is said about a place that cannot be opened for writing."""

from pathlib import Path

import pytest

from agentslot.session import ClassifiedError
from agentslot.session.lockfile import opening


def test_the_place_is_named_once(tmp_path: Path) -> None:
    place = tmp_path / "store"
    with pytest.raises(ClassifiedError) as caught, opening(place):
        raise PermissionError(13, "Permission denied", str(place))
    assert caught.value.message.startswith(f"{place} cannot be opened for writing: Permission")


def test_a_folder_above_that_is_to_blame_is_named_too(tmp_path: Path) -> None:
    message = "for writing, /above: Permission denied"
    with pytest.raises(ClassifiedError, match=message), opening(tmp_path):
        raise PermissionError(13, "Permission denied", "/above")
