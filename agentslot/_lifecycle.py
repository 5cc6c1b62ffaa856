"""Entering the lifespans of modules in order, and leaving them in reverse, whatever happens.

All of it happens in one task and properly nested, so a lifespan may hold a task group open.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias, TypeGuard, cast

from anyio import CancelScope, get_cancelled_exc_class
from anyio.lowlevel import checkpoint_if_cancelled

from agentslot._errors import InvalidModule
from agentslot._module import Module

_Open: TypeAlias = list[tuple[Module, AbstractAsyncContextManager[object]]]


@asynccontextmanager
async def living(modules: Sequence[Module]) -> AsyncGenerator[None]:
    """Enter the lifespan of each module, then leave them in reverse order.

    An error of the body reaches every lifespan on its way out, as in nested `async with`
    statements. One that fails to close does not keep the others from closing. Closing is shielded
    from cancellation.

    Raises:
        Exception: What the body raised, or a lifespan as it was entered, if the others closed well.
        ExceptionGroup: That error, if any, and each error of closing with the module as a note.
    """
    open_lifespans: _Open = []
    started = False
    cause: BaseException | None = None
    pending: BaseException | None = None
    errors: list[Exception] = []
    # One scope around them all, since scopes must nest: a scope opened later, to shield the
    # closing, would sit inside those that the lifespans hold. It shields once closing begins.
    with CancelScope() as scope:
        try:
            await _enter(modules, open_lifespans)
            started = True
            yield
        except BaseException as error:  # noqa: BLE001  # raised again below, when all is closed
            cause = error
        scope.shield = True
        pending, errors = await _leave(open_lifespans, cause, scope)
    if not started:
        pending = await _failed_start(cause, pending, errors)
    _raise_all(pending, errors)


async def _enter(modules: Sequence[Module], open_lifespans: _Open) -> None:
    for module in modules:
        await checkpoint_if_cancelled()
        try:
            lifespan = module.lifespan()
            _check_lifespan(lifespan, module)
            await lifespan.__aenter__()
        except Exception as error:
            error.add_note(f"raised as module {module.id!r} started ({module.where()})")
            raise
        open_lifespans.append((module, lifespan))


def _check_lifespan(lifespan: object, module: Module) -> None:
    if not isinstance(lifespan, AbstractAsyncContextManager):
        raise InvalidModule(
            f"the `lifespan` of {type(module).__qualname__} is no asynchronous context manager",
            fix="put @asynccontextmanager above it, and `yield` where the application runs",
            module=module.id,
            where=module.where,
        )


async def _leave(
    open_lifespans: _Open, cause: BaseException | None, shield: CancelScope
) -> tuple[BaseException | None, list[Exception]]:
    """Leave every lifespan; return what is still on its way out, and the errors of closing."""
    pending, errors = cause, list[Exception]()
    for module, lifespan in reversed(open_lifespans):
        try:
            if await _exit(lifespan, pending):
                is_cancellation = isinstance(pending, get_cancelled_exc_class())
                pending = await _cancellation(shield) if is_cancellation else None
        except BaseException as raised:  # noqa: BLE001  # the others must close; it is kept
            pending = _after(raised, pending, module, errors)
    return pending, errors


async def _cancellation(shield: CancelScope) -> BaseException | None:
    """The cancellation from outside that a lifespan has taken for its own, if it was one.

    On trio a task group does so: it cannot see through the shield where a cancellation came from.
    """
    shield.shield = False
    try:
        await checkpoint_if_cancelled()
    except get_cancelled_exc_class() as cancelled:
        return cancelled
    finally:
        shield.shield = True
    return None


async def _exit(
    lifespan: AbstractAsyncContextManager[object], pending: BaseException | None
) -> bool | None:
    if pending is None:
        return await lifespan.__aexit__(None, None, None)
    return await lifespan.__aexit__(type(pending), pending, pending.__traceback__)


def _after(
    raised: BaseException, pending: BaseException | None, module: Module, errors: list[Exception]
) -> BaseException | None:
    """Return what the next lifespan sees, after one that has raised; note what went wrong."""
    if raised is pending:
        return pending
    if not isinstance(raised, Exception):
        # A cancellation, which a lifespan further out has begun and will take.
        if isinstance(pending, Exception) and pending not in errors:
            errors.append(pending)
        return raised
    error = _without(raised, pending)
    if error is None:
        return pending
    error.add_note(f"raised as module {module.id!r} stopped ({module.where()})")
    errors.append(error)
    # A cancellation that was pending was taken by a scope of this lifespan.
    return error if isinstance(pending, get_cancelled_exc_class()) else pending


def _without(raised: Exception, pending: BaseException | None) -> Exception | None:
    """Take the pending error out of the group in which a task group has wrapped it.

    On trio a group that is pending comes back as a copy, of the same errors.
    """
    if pending is None or not _is_group(raised):
        return raised
    known = _single(pending)
    _, rest = raised.split(lambda each: any(each is one for one in known))
    return rest


def _single(error: BaseException) -> list[BaseException]:
    """The errors in a group, or the one that is no group."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    group = cast("BaseExceptionGroup[BaseException]", error)
    return [one for member in group.exceptions for one in _single(member)]


def _is_group(error: Exception) -> TypeGuard[ExceptionGroup[Exception]]:
    return isinstance(error, ExceptionGroup)


async def _failed_start(
    cause: BaseException | None, pending: BaseException | None, errors: list[Exception]
) -> BaseException | None:
    """Return the reason why the application did not start; no lifespan can take that back.

    Raises:
        BaseException: The cancellation that ended the start, with errors of closing as notes.
    """
    try:
        await checkpoint_if_cancelled()
    except get_cancelled_exc_class() as cancelled:
        for error in errors:
            cancelled.add_note(f"while it was cancelled: {_told(error)}")
        raise
    if pending is not None or errors:
        return pending
    if isinstance(cause, Exception):
        return cause
    return RuntimeError("a lifespan cancelled the start of the modules after it")


def _raise_all(pending: BaseException | None, errors: list[Exception]) -> None:
    if errors and (pending is None or isinstance(pending, Exception)):
        if pending is not None and pending not in errors:
            errors.insert(0, pending)
        raise ExceptionGroup("the application did not stop cleanly", errors)
    if pending is not None:
        for error in errors:
            pending.add_note(f"moreover: {_told(error)}")
        raise pending


def _told(error: Exception) -> str:
    """The error and where it comes from; what the application raised while it ran has no note."""
    return ", ".join([repr(error), *getattr(error, "__notes__", [])[-1:]])
