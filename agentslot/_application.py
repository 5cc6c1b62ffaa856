"""An application: a name, a list of modules, and what must be there."""

import signal
import sys
import threading
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar, cast

from anyio import CancelScope, create_task_group, open_signal_receiver, sleep_forever
from anyio.abc import TaskStatus

from agentslot._assembly import Assembly, Runtime
from agentslot._builder import assemble
from agentslot._declaration import Requirement
from agentslot._errors import CompositionError, InvalidApplication
from agentslot._module import Module
from agentslot._registry import Registry
from agentslot._text import is_name
from agentslot._typecheck import value_text

T = TypeVar("T")


class Application:
    """Builds its modules into an Assembly, once, and runs that.

    ```python
    application = Application("my-agent", [Catalog(), Bundle()], [GENERATOR.required()])
    async with application.start() as runtime:
        runtime.assembly[GENERATOR]
    ```

    Nothing is found by scanning or by importing: what is in the list is what runs.
    """

    def __init__(
        self, name: str, modules: Iterable[Module], requirements: Iterable[Requirement] = ()
    ) -> None:
        """Name the parts; none is looked at or called before `build`.

        Args:
            name: What errors call this application.
            modules: Its parts. Their order is the order of Many and Chain slots, and the start
                order of modules that do not need each other.
            requirements: What must be there for the whole to make sense.

        Raises:
            InvalidApplication: The modules or the requirements are a single thing, and no list.
        """
        self.name = name
        self.modules = _listed(modules, "modules", name)
        self.requirements = _listed(requirements, "requirements", name)
        self._registry = Registry()
        self._assembly: Assembly | None = None

    def build(self) -> Assembly:
        """Build, or return what was built before.

        After a failure it may be called again: modules up to the first one that was refused stay
        registered, the others register anew, and all constructors run again.

        Raises:
            CompositionError: The one thing that is wrong; the class says which.
            BuildFailed: Several things are wrong; each is a member of this group.
            Exception: What `register` or a constructor of a module raised, if that is all.
        """
        if self._assembly is None:
            accepted, refused = self._mount()
            try:
                self._assembly = assemble(
                    self._registry, self.requirements, application=self.name, refused=refused
                )
            finally:
                self._registry.truncate(accepted)
        return self._assembly

    @asynccontextmanager
    async def start(self) -> AsyncGenerator[Runtime]:
        """Build if needed, and run the lifespans of the modules around a body; once.

        Lifespans are entered in dependency order and left in reverse, even if the body or one of
        them fails; then the error is raised, or an ExceptionGroup of that error and all errors of
        closing, each with its module as a note.

        Raises:
            AssemblyStarted: The application was started before, even if that failed.
            CompositionError: See `build`.
        """
        async with self.build().start() as runtime:
            yield runtime

    async def run(self) -> None:
        """Start, wait until cancelled or told to stop by SIGINT or SIGTERM, and stop in order.

        A signal is a normal end: this returns. During the stop a second signal has its usual
        effect. Signals are received in the main thread only, and not on Windows.

        Raises:
            AssemblyStarted: The application was started before.
            Exception: What kept it from building or starting.
            ExceptionGroup: Errors of lifespans that did not close well.
        """
        failure: Exception | None = None
        try:
            async with create_task_group() as tasks:
                if _has_signals():
                    await tasks.start(_cancel_on_signal, tasks.cancel_scope)
                try:
                    async with self.start():
                        await sleep_forever()
                except Exception as error:  # noqa: BLE001  # raised below, outside the task group
                    failure = error
                tasks.cancel_scope.cancel()
        finally:
            if failure is not None:
                raise failure

    def _mount(self) -> tuple[int, list[Exception]]:
        """Register every module that is not registered yet, and gather what is refused.

        Returns:
            How many modules, from the first on, are registered without a gap; and the errors. The
            modules behind a gap are registered for this build only, to find all that is wrong.
        """
        refused: list[Exception] = []
        if not is_name(self.name):
            refused.append(
                InvalidApplication(
                    f"application name {self.name!r} is not usable",
                    fix="give a name that is text without white space around it",
                )
            )
        registered = len(self._registry.modules)
        accepted = registered
        gap = False
        self._registry.doubtful.clear()
        for number, module in enumerate(self.modules[registered:], registered + 1):
            try:
                self._registry.install(module)
            except Exception as error:  # noqa: BLE001  # `register` may raise anything; it is reported
                if isinstance(error, CompositionError):
                    # The error says where by itself; the frames would be ours.
                    error.with_traceback(None).number = number
                gap = True
                refused.append(error)
            accepted += not gap
        return accepted, refused


def _listed(values: Iterable[T], what: str, name: str) -> tuple[T, ...]:
    given = cast("object", values)  # whatever untyped code passes
    if isinstance(given, Iterable):
        return tuple(values)
    raise InvalidApplication(
        f"the {what} of application {name!r} are {value_text(given)}, which is no list",
        fix="write brackets around it, also around a single one",
    )


def _has_signals() -> bool:
    return sys.platform != "win32" and threading.current_thread() is threading.main_thread()


async def _cancel_on_signal(scope: CancelScope, *, task_status: TaskStatus[None]) -> None:
    with open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()
            return
