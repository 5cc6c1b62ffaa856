"""Whether a disk tells upper from lower case: asked without writing, and on any machine."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.tool import ToolFailedError
from agentslot.tool.files import case_matters, path_filter


class Disk:
    """A tree of names, of which a disk takes some cases for each other."""

    def __init__(self, tree: dict[str, list[str]], *, any_case: bool) -> None:
        self._tree = tree
        self._any_case = any_case

    def names(self, folder: Path) -> list[str]:
        if str(folder) not in self._tree:
            raise FileNotFoundError(folder)
        return self._tree[str(folder)]

    def identity(self, path: Path) -> tuple[int, int] | None:
        names = self._tree[str(path.parent)]
        if path.name in names:
            return 1, names.index(path.name)
        low = [name.lower() for name in names]
        if self._any_case and path.name.lower() in low:
            return 1, low.index(path.name.lower())
        return None


@pytest.mark.parametrize(
    "tree",
    [
        {"/srv/root": ["src"]},
        {"/srv/root": ["1.2", "caf\u00e9", "README"]},
        {"/srv/root": [], "/srv": ["root"]},
        {"/srv": ["others"], "/": ["srv"]},
    ],
)
@pytest.mark.parametrize("any_case", [True, False])
@pytest.mark.parametrize("platform", ["darwin", "linux"])
def test_the_disk_is_asked_for_a_name_that_is_there(
    tree: dict[str, list[str]], any_case: bool, platform: str
) -> None:
    disk = Disk(tree, any_case=any_case)
    told = case_matters(
        Path("/srv/root"), names=disk.names, identity=disk.identity, platform=platform
    )
    assert told is not any_case


def test_names_that_stand_side_by_side_are_two_files() -> None:
    disk = Disk({"/srv/root": ["A", "a"], "/srv": []}, any_case=False)
    told = case_matters(
        Path("/srv/root"), names=disk.names, identity=disk.identity, platform="linux"
    )
    assert told


@pytest.mark.parametrize(
    ("platform", "told"), [("linux", True), ("darwin", False), ("win32", False)]
)
def test_where_nothing_can_be_asked_it_is_what_the_system_usually_does(
    platform: str, told: bool
) -> None:
    disk = Disk({}, any_case=False)
    asked = case_matters(
        Path("/srv/root"), names=disk.names, identity=disk.identity, platform=platform
    )
    assert asked is told


def test_a_real_folder_is_asked_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "name").write_text("", encoding="utf-8")
    expected = not (tmp_path / "NAME").exists()
    assert case_matters(tmp_path) is expected
    assert [each.name for each in tmp_path.iterdir()] == ["name"]


@given(st.text("aAbB*?/[]-!{},.", min_size=1, max_size=12), st.text("aAbB/.", min_size=1))
def test_a_filter_for_any_case_lets_nothing_slip_that_an_exact_one_catches(
    pattern: str, path: str
) -> None:
    try:
        exactly = path_filter(pattern)
    except ToolFailedError:
        return
    in_any_case = path_filter(pattern, any_case=True)
    spellings = [path, path.swapcase(), path.lower(), path.upper()]
    if any(exactly(each) for each in spellings) and "!" not in pattern:
        assert all(in_any_case(each) for each in spellings)
    assert len({in_any_case(each) for each in spellings}) == 1


def test_a_rule_holds_for_every_composition_of_a_name() -> None:
    assert path_filter("caf\u00e9/**")("cafe\u0301/menu.txt")
    assert path_filter("cafe\u0301/**")("caf\u00e9/menu.txt")
