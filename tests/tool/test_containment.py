"""No path, link or race leads a file tool outside its root."""

import os
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentslot.tool import ToolFailedError
from agentslot.tool.files import FileRoot, replace
from tests.shared import shared


@pytest.fixture
def jail(tmp_path: Path) -> FileRoot:
    """The tree of case F07: links out of the root and a sibling that shares its prefix."""
    script = shared("cases/F07/make_tree.sh")
    subprocess.run(["sh", script], cwd=tmp_path, check=True)
    return FileRoot(tmp_path / "jail")


def read(root: FileRoot, path: str) -> bytes:
    with root.locate(path) as location, open(location.open(), "rb") as file:
        return file.read()


def write(root: FileRoot, path: str, content: bytes = b"new", *, folders: bool = True) -> None:
    with root.locate_exclusively(path, create_folders=folders) as location:
        replace(location, content)


def code(root: FileRoot, path: str) -> str:
    with pytest.raises(ToolFailedError) as caught:
        read(root, path)
    return caught.value.code


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("path", ["leak", "dirlink/secret.txt", "sub/../leak", "./dirlink/"])
def test_links_that_leave_the_root_are_refused_for_reading(jail: FileRoot, path: str) -> None:
    assert code(jail, path) == "path_not_allowed"


@pytest.mark.parametrize("path", ["dirlink/new.txt", "newlink", "leak", "../new.txt", "/new.txt"])
def test_nothing_is_created_outside_the_root(jail: FileRoot, tmp_path: Path, path: str) -> None:
    before = everything(tmp_path)
    with pytest.raises(ToolFailedError, match="leads outside the root"):
        write(jail, path)
    assert everything(tmp_path) == before
    assert (tmp_path / "outside/secret.txt").read_text() == "secret\n"


def test_a_link_that_stays_inside_works(jail: FileRoot) -> None:
    assert read(jail, "inside_link") == b"fine\n"


def test_writing_through_an_inside_link_changes_its_target(jail: FileRoot) -> None:
    write(jail, "inside_link", b"changed")
    assert (jail.path / "inside_link").is_symlink()
    assert (jail.path / "ok.txt").read_bytes() == b"changed"


def test_a_link_loop_is_an_error_and_not_a_hang(jail: FileRoot) -> None:
    assert code(jail, "loop") == "link_loop"


def test_a_dangling_link_inside_the_root_is_written_through(jail: FileRoot) -> None:
    (jail.path / "pending").symlink_to("sub/later.txt")
    assert code(jail, "pending") == "not_found"
    write(jail, "pending")
    assert (jail.path / "sub/later.txt").read_bytes() == b"new"


def test_absolute_links_are_followed_only_below_the_root(jail: FileRoot, tmp_path: Path) -> None:
    (jail.path / "absolute").symlink_to(jail.path / "ok.txt")
    (jail.path / "away").symlink_to(tmp_path / "outside/secret.txt")
    (jail.path / "winding").symlink_to(f"{jail.path}/../outside/secret.txt")
    assert read(jail, "absolute") == b"fine\n"
    assert code(jail, "away") == "path_not_allowed"
    assert code(jail, "winding") == "path_not_allowed"


@pytest.mark.parametrize(
    "path", ["../jail-evil/secret.txt", "{0}-evil/secret.txt", "{0}/../jail-evil/secret.txt"]
)
def test_a_sibling_that_shares_the_prefix_is_outside(jail: FileRoot, path: str) -> None:
    assert code(jail, path.format(jail.path)) == "path_not_allowed"


@pytest.mark.parametrize("path", ["../JAIL/ok.txt", "{0}/JAIL/ok.txt", "{0}/jail/../JAIL/ok.txt"])
@pytest.mark.parametrize("same", [True, False], ids=["case-blind", "case-sensitive"])
def test_the_root_in_upper_case_is_outside_be_it_the_same_folder_or_another(
    jail: FileRoot, tmp_path: Path, path: str, same: bool
) -> None:
    if same:  # what a disk would do that is blind to case
        (tmp_path / "JAIL").symlink_to("jail")
    else:
        (tmp_path / "JAIL").mkdir()
        (tmp_path / "JAIL/ok.txt").write_text("another's")
    assert code(jail, path.format(tmp_path)) == "path_not_allowed"


@pytest.mark.parametrize(
    "path",
    ["ok.txt", "./ok.txt", "sub/../ok.txt", "sub//../ok.txt/", "{0}/ok.txt", "file://{0}/ok.txt"],
)
def test_every_spelling_of_a_path_inside_works(jail: FileRoot, path: str) -> None:
    assert read(jail, path.format(jail.path)) == b"fine\n"


def test_a_home_path_means_the_home_folder(jail: FileRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(jail.path))
    assert read(jail, "~/ok.txt") == b"fine\n"
    monkeypatch.setenv("HOME", "/")
    assert code(jail, "~/etc/passwd") == "path_not_allowed"


def test_a_root_that_is_reached_through_a_link_accepts_both_spellings(
    jail: FileRoot, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to("jail")
    root = FileRoot(tmp_path / "alias")
    assert read(root, f"{tmp_path}/alias/ok.txt") == b"fine\n"
    assert read(root, f"{jail.path}/ok.txt") == b"fine\n"


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_is_none_is_refused(jail: FileRoot, path: str) -> None:
    assert code(jail, path) == "invalid_path"


def test_pipes_sockets_and_folders_are_not_opened(jail: FileRoot) -> None:
    os.mkfifo(jail.path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(jail.path)  # a socket's path must be short
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        assert code(jail, "socket") == "not_regular"
    assert code(jail, "pipe") == "not_regular"
    assert code(jail, "sub") == "is_a_folder"
    assert code(jail, ".") == "is_a_folder"


def test_devices_are_not_opened() -> None:
    assert code(FileRoot("/dev"), "null") == "not_regular"


def test_a_missing_root_is_named_as_the_reason(tmp_path: Path) -> None:
    assert code(FileRoot(tmp_path / "absent"), "a.txt") == "root_unavailable"


def test_no_descriptor_is_left_open(jail: FileRoot) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in ("ok.txt", "leak", "loop", "sub/deep/../x", "dirlink/secret.txt"):
        try:
            read(jail, path)
        except ToolFailedError:
            continue
    assert len(os.listdir("/proc/self/fd")) == before


def test_swapping_a_folder_for_a_link_never_opens_a_way_out(tmp_path: Path) -> None:
    inside, outside = tmp_path / "jail/data", tmp_path / "outside"
    inside.mkdir(parents=True)
    outside.mkdir()
    (inside / "file.txt").write_text("fine")
    (outside / "file.txt").write_text("secret")
    spare, link = tmp_path / "jail/spare", tmp_path / "jail/link"
    link.symlink_to(outside)
    root = FileRoot(tmp_path / "jail")
    finished = threading.Event()

    def swap() -> None:
        while not finished.is_set():
            os.rename(inside, spare)
            os.rename(link, inside)
            os.rename(inside, link)
            os.rename(spare, inside)

    attacker = threading.Thread(target=swap)
    attacker.start()
    refused = 0
    try:
        for _ in range(1000):
            try:
                assert read(root, "data/file.txt") == b"fine"
                write(root, "data/written.txt", folders=False)
            except ToolFailedError:
                refused += 1
    finally:
        finished.set()
        attacker.join()
    assert everything(outside) == {"file.txt"}
    assert refused < 2000


@pytest.mark.parametrize("spelling", ["sub/../inside_link", "OK.TXT", "o\N{KELVIN SIGN}.txt"])
def test_one_file_has_one_writer_at_a_time_whatever_its_spelling(
    jail: FileRoot, spelling: str
) -> None:
    """Also where a disk does not tell upper and lower case apart."""
    order: list[str] = []
    waiting = threading.Event()

    def second() -> None:
        waiting.set()
        with jail.locate_exclusively(spelling):
            order.append("second")

    with jail.locate_exclusively("ok.txt"):
        other = threading.Thread(target=second)
        other.start()
        waiting.wait()
        with jail.locate_exclusively("another.txt"):
            order.append("another file")
        order.append("first")
    other.join()
    assert order == ["another file", "first", "second"]


def test_folders_that_others_make_at_the_same_time_are_used(tmp_path: Path) -> None:
    root = FileRoot(tmp_path)
    start = threading.Barrier(8)

    def make(name: str) -> None:
        start.wait()
        for number in range(50):
            with root.locate(f"{number}/a/b/{name}", create_folders=True):
                """The folders are there."""

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(make, "abcdefgh"))
