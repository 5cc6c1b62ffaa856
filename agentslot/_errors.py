"""Errors of the composition core.

AgentSlotError
├── CompositionError             how an application is put together; carries slot, module and key
│   ├── InvalidApplication       its name is not usable, or its modules are no list
│   ├── InvalidModule            not a module, or its id or lifespan is not usable
│   ├── DuplicateModule          two modules with one id
│   ├── RegistrationClosed       a registrar used outside its `register` call
│   ├── InvalidContribution      no value of the right type, or no usable constructor
│   │   └── UnusedOverride       meant to replace a default, and there is none
│   ├── InvalidKey               a key of a Many slot is not usable
│   ├── SlotConflict             one slot id declared in two ways
│   ├── SlotOccupied             a One slot filled twice, or two defaults and nothing explicit
│   ├── DuplicateKey             the same for one key of a Many slot
│   ├── InvalidRequirement       a requirement that makes no sense
│   ├── RequirementUnsatisfied   too few contributions, or a key is missing; carries the path
│   ├── DependencyCycle          modules that need each other; carries the path
│   ├── DependencyUndeclared     a constructor asked for a slot its module does not require
│   ├── DependencyNotReady       a constructor asked for a value that is built after it
│   ├── ResolverClosed           a resolver used after its constructor returned
│   ├── BuilderFrozen            a builder used after it built
│   ├── AssemblyStarted          an assembly started a second time
│   ├── SlotEmpty                a One slot looked up in an assembly that has nothing there
│   └── BuildFailed              several of the above at once: an ExceptionGroup
└── …                            errors of the packages above the core
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

# The names are those of the catalogue: each says what happened, so a suffix would add nothing.
# ruff: noqa: N818


_MAX_PROVIDERS = 10
"""How many of the things that are there an error prints; it carries them all."""

_MAX_PROBLEMS = 10
"""How many problems of a build are printed in the line about all of them."""

Where: TypeAlias = Callable[[], str] | None
"""Finds the line that an error points at, when somebody reads it."""


class AgentSlotError(Exception):
    """Base of every error that AgentSlot raises on its own account."""


class CompositionError(AgentSlotError):
    """Something is wrong with how an application is put together.

    It prints three things: what happened, where, and what to write instead.
    """

    what: str
    """What happened, in one line."""
    fix: str
    """What to write instead."""
    slot: str | None
    """Id of the slot concerned."""
    key: str | None
    """Key concerned, in a Many slot."""
    module: str | None
    """Id of the module at fault."""
    application: str | None
    """Name of the application that was being built, where there is one."""
    number: int | None
    """Place of the module in the list that the application was given, from 1 on."""
    near: tuple[str, ...]
    """Names that come close to one that was not found, the closest first."""

    def __init__(
        self,
        what: str,
        *,
        fix: str,
        slot: str | None = None,
        key: str | None = None,
        module: str | None = None,
        where: Where = None,
        near: Sequence[str] = (),
    ) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix
        self.slot = slot
        self.key = key
        self.module = module
        self._where = where
        self.near = tuple(near)
        self.application = None
        self.number = None

    def __str__(self) -> str:
        lines = [self.what, *self._details()]
        place = self._place()
        if place:
            lines.append(f"  where: {place}")
        lines.append(f"  fix: {self.fix}")
        return "\n".join(lines)

    @property
    def where(self) -> str | None:
        """Where that module is written: its class, file and line, and the line that made it."""
        # Looked up late: reading source costs more than the rest of an error.
        return None if self._where is None else self._where()

    def _details(self) -> list[str]:
        """Lines between what happened and where."""
        return []

    def _place(self) -> str:
        parts: list[str] = []
        if self.module is not None or self.number is not None:
            number = "" if self.number is None else f" {self.number}"
            name = "" if self.module is None else f" {self.module!r}"
            parts.append(f"module{number}{name}")
        if self.where is not None:
            parts.append(f"({self.where})")
        if self.application is not None:
            parts.append(
                f"in application {self.application!r}"
                if parts
                else f"application {self.application!r}"
            )
        return " ".join(parts)


class InvalidApplication(CompositionError):
    """The name of an application is not usable, or its modules or requirements are no list."""


class InvalidModule(CompositionError):
    """Something that is no module, or a module whose id or lifespan is not usable."""


class DuplicateModule(CompositionError):
    """A module with this id is installed already."""


class RegistrationClosed(CompositionError):
    """A registrar was used after the `register` call it was made for."""


class InvalidContribution(CompositionError):
    """A contribution without a usable value, or with a constructor that cannot be called.

    It gives none or one of another type, is asynchronous, or takes no resolver.
    """


class UnusedOverride(InvalidContribution):
    """A contribution is there to replace a default, and nobody contributes one."""


class InvalidKey(CompositionError):
    """A key of a Many slot is empty, has white space around it, or is no string."""


class SlotConflict(CompositionError):
    """One slot id is declared with two kinds or two value types."""


class SlotOccupied(CompositionError):
    """A One slot has two explicit values, or several defaults and no explicit value."""


class DuplicateKey(CompositionError):
    """A key of a Many slot has two explicit values, or several defaults and no explicit value."""


class InvalidRequirement(CompositionError):
    """A requirement that makes no sense: a minimum below one, or a key that is not usable."""


class RequirementUnsatisfied(CompositionError):
    """A slot has fewer contributions than somebody needs, or a key is missing."""

    def __init__(
        self,
        what: str,
        *,
        fix: str,
        required: str,
        minimum: int,
        actual: int,
        providers: Sequence[str] = (),
        slot: str | None = None,
        key: str | None = None,
        module: str | None = None,
        where: Where = None,
        near: Sequence[str] = (),
    ) -> None:
        super().__init__(what, fix=fix, slot=slot, key=key, module=module, where=where, near=near)
        self.required = required
        """The exact requirement, as one writes it."""
        self.minimum = minimum
        """How many contributions are needed."""
        self.actual = actual
        """How many there are."""
        self.path: tuple[str, ...] = ()
        """Module ids that lead to the one in need, the outermost first."""
        self.providers = tuple(providers)
        """What is there instead, one readable line each."""

    def _details(self) -> list[str]:
        path = [name for name in (self.application, *self.path) if name is not None]
        lines = [f"  required: {self.required}"]
        if self.path:
            lines.append(f"  path: {' → '.join([*path, str(self.slot)])}")
        lines.extend(f"  there is: {provider}" for provider in self.providers[:_MAX_PROVIDERS])
        if len(self.providers) > _MAX_PROVIDERS:
            lines.append(f"  and {len(self.providers) - _MAX_PROVIDERS} more")
        return lines


class DependencyCycle(CompositionError):
    """Modules need each other in a circle, so none of them can come first."""

    def __init__(
        self,
        what: str,
        *,
        fix: str,
        path: Sequence[str],
        steps: Sequence[str],
        blocked: Sequence[str],
    ) -> None:
        super().__init__(what, fix=fix, module=path[0])
        self.path = tuple(path)
        """Module ids along the circle; the first stands again at the end."""
        self.steps = tuple(steps)
        """One line for each step: who needs which slot of whom, and where the module stands."""
        self.blocked = tuple(blocked)
        """Every module that cannot be ordered because of it, in installation order."""

    def _details(self) -> list[str]:
        first, *middle, last = self.steps
        return [
            f"  ╭─> {first}",
            *(f"  │   {step}" for step in middle),
            f"  ╰── {last}",
        ]


class DependencyUndeclared(CompositionError):
    """A constructor reached for a slot that its module does not require."""


class DependencyNotReady(CompositionError):
    """A constructor reached for a value whose own constructor has not run yet."""


class ResolverClosed(CompositionError):
    """A resolver was kept and used after its constructor had returned."""


class BuilderFrozen(CompositionError):
    """A builder that has built cannot be changed, and does not build again."""


class AssemblyStarted(CompositionError):
    """An assembly starts once, even if that start failed."""


class SlotEmpty(CompositionError, LookupError):
    """A One slot was looked up in an assembly where nothing fills it."""


class BuildFailed(ExceptionGroup[Exception], AgentSlotError):
    """Several problems found in one build; each member is an instance of its own class.

    It prints a line for each of the first ten; a traceback shows all of them in full.
    """

    def __str__(self) -> str:
        shown = [_in_one_line(each) for each in self.exceptions[:_MAX_PROBLEMS]]
        rest = len(self.exceptions) - len(shown)
        more = [f"{rest} more"] if rest else []
        return "\n".join([f"{self.message}:", *(f"  - {line}" for line in [*shown, *more])])

    def derive(self, excs: Sequence[Exception], /) -> "BuildFailed":  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]  # the members are never wider
        """Return a group of the same class around other members; `split` needs it."""
        return BuildFailed(self.message, excs)


def _in_one_line(problem: Exception) -> str:
    what = str(problem).partition("\n")[0]
    if isinstance(problem, CompositionError):
        return what if problem.module is None else f"{what} (module {problem.module!r})"
    if not isinstance(problem, AgentSlotError):  # its text alone may be as little as `'x'`
        what = f"{type(problem).__name__}: {what}" if what else type(problem).__name__
    raised_by = getattr(problem, "__notes__", [])[:1]
    return " ".join([what, *(f"({note})" for note in raised_by)])
