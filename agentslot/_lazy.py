"""Packages whose public names are imported when they are first used.

A package of many parts would otherwise load all of them for whoever wants one. Its `__init__` has
one list of names, which type checkers read as well:

    if TYPE_CHECKING or not imports_when_used(__name__):
        from agentslot.model.anthropic import AnthropicModule

No public name may be that of a module of the package: importing the module would put itself in its
place.
"""

import re
import sys
from importlib import import_module
from types import ModuleType

# The list is formatted code of ours, so this finds all of it, in a tenth of the time of `ast`.
_IMPORT = re.compile(r"^    from ([\w.]+) import (?:\(([^)]+)\)|(.+))$", re.MULTILINE)


def imports_when_used(package: str) -> bool:
    """Give a package a `__getattr__` that imports the names below its `if TYPE_CHECKING or …`.

    Returns:
        Whether it was done; a program that was frozen without its source files imports them all.
    """
    module = sys.modules[package]
    places = _places(module)
    if not places:
        return False
    names = sorted(places)

    def imported(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(places[name]), name)
        setattr(module, name, value)  # from here on it is found without asking
        return value

    vars(module).update(__getattr__=imported, __dir__=lambda: names)
    return True


def _places(package: ModuleType) -> dict[str, str]:
    """Module of each name that the block imports; none if there is no source."""
    get_source = getattr(package.__loader__, "get_source", None)
    source = None if get_source is None else get_source(package.__name__)
    return {
        name: module
        for module, several, one in _IMPORT.findall(source or "")
        for name in re.findall(r"\w+", several or one)
    }
