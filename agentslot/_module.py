"""A module: what owns contributions, and what lives while the application runs."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Self, TypeAlias, cast

from agentslot._declaration import Contribution, Requirement
from agentslot._where import Location, of_class, user

if TYPE_CHECKING:  # a registrar is made around a module
    from agentslot._registrar import Registrar

Lifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[object]]
"""What a function under `@asynccontextmanager` is, if it takes no arguments."""


class Module:
    """A part of an application: it fills slots, requires others, and may live while it runs.

    A module owns components and is never one itself. Write a class:

    ```python
    class CatalogModule(Module):
        id = "example.catalog"
        requires = (TOOLS.at_least(1),)

        def register(self, registrar: Registrar) -> None:
            registrar.contribute(CATALOG.set_with(lambda resolver: Catalog(resolver[TOOLS])))

        @asynccontextmanager
        async def lifespan(self) -> AsyncGenerator[None]:
            async with create_task_group() as tasks:
                ...
                yield  # here the application runs
    ```

    or declare one without a class: `Module("example.echo", GENERATOR.set(Echo()))`.
    """

    id: str = ""
    """Unique in an application, and stable: it stands in descriptions and errors."""
    requires: Sequence[Requirement] = ()
    """What must be there, and be started, before this module; its constructors see only this."""

    _contributions: tuple[Contribution, ...] = ()
    _lifespan: Lifespan | None = None
    _made_at: Location

    if not TYPE_CHECKING:  # a checker would compare its signature with that of each `__init__`

        def __new__(cls, *_args: object, **_options: object) -> Self:
            """Remember where it is made, also where an `__init__` does not call this class's."""
            module = super().__new__(cls)
            module._made_at = user()
            return module

    def __init__(
        self,
        module_id: str | None = None,
        *contributions: Contribution,
        requires: Sequence[Requirement] | None = None,
        lifespan: Lifespan | None = None,
    ) -> None:
        """Declare a module in place; a subclass that says all this in its body calls nothing.

        Args:
            module_id: Its id.
            contributions: What it puts into slots.
            requires: What its constructors use and what must start before it.
            lifespan: Makes the async context manager that spans the life of the application.
        """
        if module_id is not None:
            self.id = module_id
        if requires is not None:
            # A single requirement, not in a tuple, is reported when the application is built.
            is_several = isinstance(cast("object", requires), Iterable)
            self.requires = tuple(requires) if is_several else requires
        self._contributions = contributions
        self._lifespan = lifespan

    def register(self, registrar: "Registrar") -> None:
        """Contribute to slots. May run again if a build fails, so it must not hold resources."""
        registrar.contribute(*self._contributions)

    def lifespan(self) -> AbstractAsyncContextManager[object]:
        """Return what spans the life of the application, entered after all that this one requires.

        It is entered and left in one task, so it may hold a task group open. It sees the exception
        that ends the application, and is left even then.
        """
        return nullcontext() if self._lifespan is None else self._lifespan()

    def where(self) -> str:
        """Return where the module is written, for people: its class, and the line that made it."""
        if type(self) is Module:
            return str(self._made_at)
        cls: type = type(self)
        return f"{of_class(cls)}, made at {self._made_at}"
