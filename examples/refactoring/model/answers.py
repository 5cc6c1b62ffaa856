"""What the answers of the search and of the list of files say."""

from collections.abc import Sequence


def found_paths(result: str) -> list[str]:
    """The files in which a search found something."""
    return [block.split("\n", 1)[0] for block in search_blocks(result).split("\n\n") if block]


def search_blocks(result: str) -> str:
    """A block for each file, without the last line, which counts."""
    return result.rpartition("[")[0].removesuffix("\n\n")


def listed_paths(result: str) -> list[str]:
    """The files that were found by their names; the last line counts."""
    return result.split("\n")[:-1]


def written_blocks(hits: Sequence[tuple[str, Sequence[tuple[int, str]]]]) -> str:
    """The blocks that a search writes for these files and lines."""
    return "\n\n".join(_block(path, lines) for path, lines in hits)


def _block(path: str, lines: Sequence[tuple[int, str]]) -> str:
    shown, previous = [path], lines[0][0]
    for number, text in lines:
        if number > previous + 1:
            shown.append("--")
        shown.append(f"{number}:{text}")
        previous = number
    return "\n".join(shown)
