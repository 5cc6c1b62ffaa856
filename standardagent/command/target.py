"""MODULE:APP: from what a person types to an Application."""

import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from inspect import iscoroutinefunction, signature
from pathlib import Path
from pkgutil import iter_modules
from traceback import extract_tb
from types import ModuleType

from agentslot import AgentSlotError, Application, Assembly
from agentslot._text import did_you_mean, near
from agentslot.standardagent.command.failure import CommandError, UsageError


def load_application(target: str) -> Application:
    """Import the module and return its application.

    What the module prints while it is imported goes to standard error.

    Args:
        target: `package.module:name`, where `name` is an Application or a function without
            parameters that returns one. The current directory is importable.

    Raises:
        UsageError: there is no such module or name, or it is no application.
        CommandError: the module or the function raised.
    """
    module_name, colon, name = target.partition(":")
    path = Path(module_name)
    if path.suffix == ".py" or len(path.parts) > 1:
        raise UsageError(_wrong_form(target, ".".join(path.with_suffix("").parts), name))
    if not (module_name and colon and name):
        raise UsageError(_wrong_form(target, module_name, name))
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    with redirect_stdout(sys.stderr):
        module = _import(module_name)
        return _application(target, _lookup(module, name))


def build(application: Application) -> Assembly:
    """Build an application; what its modules print meanwhile goes to standard error.

    Raises:
        AgentSlotError: the composition is wrong in one or several ways.
        CommandError: a module raised something of its own.
    """
    with redirect_stdout(sys.stderr):
        try:
            return application.build()
        except AgentSlotError:
            raise
        except Exception as error:
            raise CommandError(_failed(f"building {application.name!r}", error)) from error


def _wrong_form(target: str, module_name: str, name: str) -> str:
    example = f"{module_name or 'examples.reference'}:{name or 'application'}"
    return f"{target!r} is not of the form MODULE:APP; write for example {example}"


def _import(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing != name and not name.startswith(f"{missing}."):
            raise CommandError(_failed(f"importing {name!r}", error)) from error
        parent, _, last = missing.rpartition(".")
        hint = did_you_mean(f"{parent}.{name}".lstrip(".") for name in near(last, _modules(parent)))
        problem = f"there is no module {missing!r}{hint}"
        raise UsageError(problem) from error
    except AgentSlotError:
        raise
    except Exception as error:
        raise CommandError(_failed(f"importing {name!r}", error)) from error


def _modules(parent: str) -> Iterator[str]:
    """Names of the modules in a package, or in the current directory."""
    folders = list(import_module(parent).__path__) if parent else [os.getcwd()]
    for module in iter_modules(folders):
        yield module.name
    for folder in folders:  # namespace packages have no __init__.py and are not listed above
        yield from (entry.name for entry in Path(folder).iterdir() if entry.is_dir())


def _lookup(module: ModuleType, path: str) -> object:
    value: object = module
    for name in path.split("."):
        try:
            value = getattr(value, name)
        except AttributeError as error:
            there = [key for key, item in vars(module).items() if isinstance(item, Application)]
            hint = did_you_mean(near(name, there) or near(name, dir(value)) or there)
            problem = f"{module.__name__!r} has no {path!r}{hint}"
            raise UsageError(problem) from error
    return value


def _application(target: str, value: object) -> Application:
    if callable(value) and not isinstance(value, Application) and not iscoroutinefunction(value):
        try:
            signature(value).bind()
        except (TypeError, ValueError) as error:
            problem = f"{target!r} cannot be called without arguments: {error}"
            raise UsageError(problem) from error
        try:
            value = value()
        except AgentSlotError:
            raise
        except Exception as error:
            raise CommandError(_failed(f"calling {target!r}", error)) from error
    if isinstance(value, Application):
        return value
    problem = (
        f"{target!r} is no application: expected an Application, or a function that returns one,"
        f" and found {type(value).__qualname__}"
    )
    raise UsageError(problem)


def _failed(doing: str, error: Exception) -> str:
    """One line for an error in somebody else's code: what, why and where it was raised."""
    if isinstance(error, SyntaxError):
        place = f"{error.filename}:{error.lineno}"
    else:
        frame = extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename}:{frame.lineno}"
    why = str(error).replace("\n", " ")
    return f"{doing} failed: {type(error).__name__}: {why} ({place})"
