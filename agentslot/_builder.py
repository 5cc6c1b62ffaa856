"""From modules to an Assembly."""

from collections.abc import Iterable, Sequence

from agentslot._assembly import Assembly
from agentslot._construction import construct
from agentslot._declaration import Requirement
from agentslot._errors import BuilderFrozen, BuildFailed, CompositionError
from agentslot._module import Module
from agentslot._registry import Registry
from agentslot._wiring import Wiring


class Builder:
    """Takes modules one by one and builds an Assembly of them; `Application` is the easier way.

    A build that fails changes nothing: install what is missing and build again. Constructors may
    therefore run more than once. A build that succeeds freezes the builder.
    """

    def __init__(self) -> None:
        self._registry = Registry()
        self._frozen = False

    def install(self, module: Module) -> None:
        """Register a module; if it is refused, nothing of it stays.

        Raises:
            BuilderFrozen: The builder has built.
            InvalidModule: It is no module, or its id or one of its methods is not usable.
            DuplicateModule: A module with this id is installed.
            CompositionError: One of its contributions is refused; the class says why.
        """
        self._check_open()
        self._registry.install(module)

    def build(self, requirements: Iterable[Requirement] = ()) -> Assembly:
        """Build everything that is installed.

        Args:
            requirements: What must be there for the whole to make sense.

        Raises:
            BuilderFrozen: The builder has built.
            CompositionError: The one thing that is wrong; the class says which.
            BuildFailed: Several things are wrong; each is a member of this group.
        """
        self._check_open()
        assembly = assemble(self._registry, requirements)
        self._frozen = True
        return assembly

    def _check_open(self) -> None:
        if self._frozen:
            raise BuilderFrozen(
                "this builder has built its assembly",
                fix="install everything before `build`, or start with another builder",
            )


def assemble(
    registry: Registry,
    profile: Iterable[Requirement],
    *,
    application: str | None = None,
    refused: Sequence[Exception] = (),
) -> Assembly:
    """Plan, check and construct.

    Args:
        registry: The modules that were taken in.
        profile: What the application itself requires.
        application: Its name, for errors.
        refused: What went wrong before; it is reported with whatever else is found.

    Raises:
        Exception: The one problem there is.
        BuildFailed: All problems, if there are several.
    """
    # What a refused module spoke of may be missing because of it, which is reported already.
    wiring = Wiring(registry, profile, registry.doubtful if refused else frozenset())
    problems = [*refused, *wiring.problems]
    if not problems:
        values, problems = construct(wiring)
        if not problems:
            return Assembly(wiring, values)
    for problem in problems:
        if isinstance(problem, CompositionError):
            problem.application = application
        elif application is not None:
            problem.add_note(f"in application {application!r}")
    if len(problems) == 1:
        raise problems[0]
    subject = "the application" if application is None else f"application {application!r}"
    message = f"{subject} has {len(problems)} problems"
    raise BuildFailed(message, problems)
