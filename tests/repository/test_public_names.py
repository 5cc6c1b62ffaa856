"""What the packages offer is what they say they offer, and it is documented."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest

import agentslot


def public_packages() -> list[str]:
    """`agentslot` and every package below it whose path has no private part."""
    found = [
        module.name
        for module in pkgutil.walk_packages(agentslot.__path__, "agentslot.")
        if module.ispkg and not any(part.startswith("_") for part in module.name.split("."))
    ]
    return ["agentslot", *found]


def exported(package: ModuleType) -> list[str]:
    """A package that offers nothing of its own needs no `__all__`."""
    return getattr(package, "__all__", [])


def documented_parts(name: str, value: object) -> Iterator[tuple[str, object]]:
    """A public object and, of a class, the public functions that it defines itself."""
    yield name, value
    if isinstance(value, type):
        for attribute, member in vars(value).items():
            function = getattr(member, "__func__", member)
            if not attribute.startswith("_") and (
                inspect.isfunction(function) or isinstance(member, property)
            ):
                # Read through the class, so that an override inherits its contract's words.
                yield f"{name}.{attribute}", getattr(value, attribute)


def has_docstring(value: object) -> bool:
    if not isinstance(value, type):
        return bool(inspect.getdoc(value))
    own = value.__dict__.get("__doc__") or ""
    # A dataclass without a docstring is given its signature as one.
    return bool(own) and not own.startswith(f"{value.__name__}(")


@pytest.mark.parametrize("name", public_packages())
def test_all_names_exactly_what_the_package_offers(name: str) -> None:
    package = importlib.import_module(name)
    listed = exported(package)
    # Some names come late, through the package's `__getattr__`.
    absent = [attribute for attribute in listed if not hasattr(package, attribute)]
    unlisted = [
        attribute
        for attribute, value in vars(package).items()
        if not attribute.startswith("_")
        and not isinstance(value, ModuleType)
        and attribute not in {*listed, "TYPE_CHECKING", "imports_when_used"}
    ]

    # Their order is a rule of the linter.
    assert (absent, unlisted) == ([], [])
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", public_packages())
def test_every_public_class_and_function_has_a_docstring(name: str) -> None:
    package = importlib.import_module(name)
    offered = {attribute: getattr(package, attribute) for attribute in exported(package)}
    missing = [
        place
        for attribute, value in offered.items()
        if isinstance(value, type) or inspect.isroutine(value)
        for place, part in documented_parts(attribute, value)
        if not has_docstring(part)
    ]

    assert package.__doc__
    assert not missing
