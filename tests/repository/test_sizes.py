"""A module is one idea and a function fits on a screen."""

from pathlib import Path

from tests.repository.sizes import function_lines, measure


def test_no_module_and_no_function_is_over_its_limit() -> None:
    for sizes in measure():
        assert not sizes.too_long, f"split these {sizes.what}, the limit is {sizes.limit} lines"


def test_a_function_counts_from_its_def_to_its_last_line() -> None:
    source = "@decorated\nasync def outer():\n    def inner():\n        return 1\n\n    return 2\n"

    assert function_lines(source, Path("m.py")) == {"m.py:2 outer": 5, "m.py:3 inner": 2}
