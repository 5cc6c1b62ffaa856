"""One registration: what a module contributes with, and the call of its `register`."""

import inspect
from collections.abc import Callable, Sequence

from agentslot._declaration import Contribution
from agentslot._errors import CompositionError, InvalidModule, RegistrationClosed
from agentslot._module import Module
from agentslot._text import is_name
from agentslot._typecheck import is_asynchronous


class Registrar:
    """Takes the contributions of one module, during one call of its `register`."""

    __slots__ = ("_take",)

    def __init__(self, take: Callable[[Sequence[Contribution]], None]) -> None:
        self._take = take

    def contribute(self, *contributions: Contribution) -> None:
        """Put contributions into their slots, in this order, up to the first that is refused.

        Once one is refused the whole module is: every later call raises the same error.

        Raises:
            CompositionError: A contribution is refused; the class says why.
            RegistrationClosed: The `register` call that this registrar was made for is over.
        """
        self._take(contributions)


class Registration:
    """The one call of a module's `register`.

    Args:
        module: The module to register.
        accept: Checks one contribution and takes it in.
    """

    def __init__(self, module: Module, accept: Callable[[Contribution, Module], None]) -> None:
        self._module = module
        self._accept = accept
        self._attempted: list[object] = []  # not checked yet
        self._failure: CompositionError | None = None
        self._closed = False

    def run(self) -> None:
        """Let the module register; a refusal stands even if the module swallowed it.

        Raises:
            CompositionError: A contribution was refused.
            InvalidModule: `register` is asynchronous.
            Exception: Whatever else `register` raises, with a note that names the module.
        """
        module = self._module
        try:
            result: object = module.register(Registrar(self._take))  # type: ignore[func-returns-value]  # a coroutine does come
        except CompositionError:
            raise
        except Exception as error:
            error.add_note(f"raised by `register` of module {module.id!r} ({module.where()})")
            raise
        finally:
            self._closed = True
        if inspect.iscoroutine(result):
            result.close()
            raise _invalid(module, "has an asynchronous `register`", "write `def register`")
        if self._failure is not None:
            raise self._failure

    def attempted_slots(self) -> set[str]:
        """Return the ids of the slots that the module meant to fill, refused or not."""
        return {each.slot.id for each in self._attempted if isinstance(each, Contribution)}

    def _take(self, contributions: Sequence[Contribution]) -> None:
        if self._closed:
            raise RegistrationClosed(
                "a registrar was used after its `register` call",
                fix="contribute inside `register`; what is known only later goes into `lifespan`",
                module=self._module.id,
                where=self._module.where,
            )
        self._attempted.extend(contributions)
        if self._failure is not None:
            raise self._failure
        try:
            for contribution in contributions:
                self._accept(contribution, self._module)
        except CompositionError as error:
            self._failure = error
            raise


def check_module(module: object) -> None:
    """Refuse what cannot be installed.

    Raises:
        InvalidModule: It is no module, its id is not usable, or its lifespan cannot be entered.
    """
    if not isinstance(module, Module):
        name = module.__qualname__ if isinstance(module, type) else type(module).__qualname__
        if isinstance(module, type) and issubclass(module, Module):
            raise InvalidModule(f"{name} is a class, not a module", fix=f"write {name}()")
        fix = "pass an object of a subclass of agentslot.Module, or Module(id, contributions…)"
        raise InvalidModule(f"{name} is no module", fix=fix)
    if not is_name(module.id):
        fix = 'write `id = "some.name"` in the class body, or Module("some.name", …)'
        raise _invalid(module, f"has the id {module.id!r}", fix)
    if is_asynchronous(module.lifespan):
        fix = "put @asynccontextmanager above it, and `yield` where the application runs"
        raise _invalid(module, "has a `lifespan` that is no context manager", fix)


def _invalid(module: Module, problem: str, fix: str) -> InvalidModule:
    return InvalidModule(
        f"{type(module).__qualname__} {problem}", fix=fix, module=module.id, where=module.where
    )
