"""MODULE:APP: from what a person types to an Application."""

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from inspect import iscoroutinefunction, signature
from pathlib import Path
from pkgutil import iter_modules
from traceback import walk_tb
from types import FrameType, ModuleType

from agentslot import AgentSlotError, Application, Assembly
from agentslot._text import counted, did_you_mean, near
from agentslot._where import is_ours
from agentslot.standardagent.command.failure import CommandError, UsageError
from agentslot.standardagent.command.places import current_folder


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
    value = load_object(target, "MODULE:APP", "examples.reference:application")
    return _application(target, value)


def load_object(
    target: str, form: str = "MODULE:NAME", example: str = "my_package.my_module:name"
) -> object:
    """Import the module and return what `target` names in it; see `load_application`.

    Args:
        target: `package.module:name`.
        form: what a person was asked to write.
        example: what such a thing looks like.

    Raises:
        UsageError: there is no such module or name.
        CommandError: the module raised.
    """
    module_name, colon, name = target.partition(":")
    path = Path(module_name)
    example_module, _, example_name = example.partition(":")
    wrong_form = f"{target!r} is not of the form {form}; write for example"
    if path.suffix == ".py" or len(path.parts) > 1:
        module_name = ".".join(path.with_suffix("").parts)
        raise UsageError(f"{wrong_form} {module_name}:{name or example_name}")
    if not (module_name and colon and name):
        example = f"{module_name or example_module}:{name or example_name}"
        raise UsageError(f"{wrong_form} {example}")
    folder = str(current_folder())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    with redirect_stdout(sys.stderr):
        return _lookup(_import(module_name), name)


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


def _import(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing != name and not name.startswith(f"{missing}."):
            raise CommandError(_failed(f"importing {name!r}", error)) from error
        parent, _, last = missing.rpartition(".")
        hint = did_you_mean(f"{parent}.{name}".lstrip(".") for name in near(last, _modules(parent)))
        where = "" if hint or parent else f" in {current_folder()}, nor is one installed"
        problem = f"there is no module {missing!r}{where}{hint}"
        raise UsageError(problem) from error
    except AgentSlotError:
        raise
    except Exception as error:
        raise CommandError(_failed(f"importing {name!r}", error)) from error


def _modules(parent: str) -> Iterator[str]:
    """Names of the modules in a package, or in the current directory."""
    folders = list(import_module(parent).__path__) if parent else [str(current_folder())]
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
            hint = did_you_mean(near(name, there) or _near_names(name, value) or there)
            problem = f"{module.__name__!r} has no {path!r}{hint}"
            raise UsageError(problem) from error
    return value


def _near_names(name: str, value: object) -> list[str]:
    """Public names that a person may have meant; in short ones of another thing it is chance."""
    public = [each for each in dir(value) if each[0] != "_"]
    return [each for each in near(name, public) if abs(len(each) - len(name)) <= len(name) // 2]


def call_target(target: str, value: object, *arguments: object) -> object:
    """Call what `load_object` found for `target`; what it prints goes to standard error.

    Raises:
        UsageError: it cannot be called with these arguments.
        CommandError: it raised.
    """
    if not callable(value):
        raise UsageError(f"{target!r} cannot be called: it is of type {type(value).__qualname__}")
    try:
        signature(value).bind(*arguments)
    except (TypeError, ValueError) as error:
        how = f"with {counted(len(arguments), 'argument')}" if arguments else "without arguments"
        raise UsageError(f"{target!r} cannot be called {how}: {error}") from error
    try:
        with redirect_stdout(sys.stderr):
            return value(*arguments)
    except AgentSlotError:
        raise
    except Exception as error:
        raise CommandError(_failed(f"calling {target!r}", error)) from error


def _application(target: str, value: object) -> Application:
    if callable(value) and not isinstance(value, Application) and not iscoroutinefunction(value):
        value = call_target(target, value)
    if isinstance(value, Application):
        return value
    problem = (
        f"{target!r} is no application: expected an Application, or a function that returns one,"
        f" and found {type(value).__qualname__}"
    )
    raise UsageError(problem)


def _failed(doing: str, error: Exception) -> str:
    """One line for an error in somebody else's code: what, why and where it was raised."""
    why = str(error).replace("\n", " ")
    return f"{doing} failed: {type(error).__name__}: {why} ({_place(error)})"


def _place(error: Exception) -> str:
    """Where it was raised: the innermost line that is not ours, for that is the one to change."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    lines = list(walk_tb(error.__traceback__))
    frame, number = next((line for line in reversed(lines) if _is_theirs(line[0])), lines[-1])
    return f"{frame.f_code.co_filename}:{number}"


def _is_theirs(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__") or ""
    return not is_ours(frame) and name.partition(".")[0] != "importlib"
