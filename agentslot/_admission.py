"""Whether a contribution may enter its slot, looked at alone: its shape, its key and its value."""

import inspect

from agentslot._declaration import ABSENT, AnySlot, Contribution
from agentslot._errors import InvalidContribution, InvalidKey, SlotConflict
from agentslot._module import Module
from agentslot._text import is_name
from agentslot._typecheck import (
    accepts,
    assignable,
    declared_result,
    is_asynchronous,
    missing_methods,
    value_text,
)
from agentslot._types import TypeForm, type_text


def check_shape(contribution: object, module: Module) -> None:
    """Refuse what is no contribution, carries nothing, or has a key that is not usable.

    Raises:
        InvalidContribution: It is no contribution, or has neither a value nor a constructor.
        InvalidKey: The key is not usable.
    """
    if not isinstance(contribution, Contribution):
        raise InvalidContribution(
            f"an object of type {value_text(contribution)} is no contribution",
            fix="contribute what a slot makes, such as SLOT.set(value) or SLOT.add(key, value)",
            module=module.id,
            where=module.where,
        )
    if contribution.value is None:
        raise _refused(contribution, module, "is given None", "contribute a value, or nothing")
    if contribution.value is ABSENT and not callable(contribution.constructor):
        found = value_text(contribution.constructor)
        fix = "pass a function that takes a resolver, or use the method without `_with`"
        raise _refused(contribution, module, f"is given {found} as a constructor", fix)
    if contribution.slot.kind == "many" and not is_name(contribution.key):
        raise InvalidKey(
            f"key {contribution.key!r} for slot {contribution.slot.id!r} is not usable",
            fix="give a key that is text without white space around it",
            slot=contribution.slot.id,
            module=module.id,
            where=module.where,
        )


def check_same_slot(slot: AnySlot, known: AnySlot, module: Module | None) -> None:
    """Refuse a slot that shares its id with another one.

    Args:
        slot: The slot that is contributed to, or required.
        known: The slot that was seen first under this id.
        module: Who uses the slot; None for the application itself.

    Raises:
        SlotConflict: The kinds or the value types differ.
    """
    if slot.is_same(known):
        return
    raise SlotConflict(
        f"slot {slot.id!r} is declared in two ways: {known.describe()} and {slot.describe()}",
        fix="import one declaration everywhere, or give one of the two another id",
        slot=slot.id,
        module=None if module is None else module.id,
        where=None if module is None else module.where,
    )


def check_type(contribution: Contribution, module: Module) -> None:
    """Refuse a value, or a constructor, that certainly gives something of another type.

    Raises:
        InvalidContribution: The types do not fit, or the slot has no usable value type.
    """
    try:
        wanted = contribution.slot.value_type
    except TypeError as error:
        fix = "declare the slot with a complete type"
        raise _refused(contribution, module, f"cannot be filled: {error}", fix) from None
    constructor = contribution.constructor
    if constructor is None:
        _check_value(contribution, contribution.value, module)
    elif is_asynchronous(constructor):
        raise _asynchronous(contribution, module)
    else:
        declared = declared_result(constructor)
        if declared is not None and not assignable(declared, wanted):
            raise _mismatch(contribution, module, f"a constructor of {type_text(declared)}", wanted)


def check_takes_resolver(contribution: Contribution, module: Module) -> None:
    """Refuse a constructor, one that has failed, if it cannot be called with a resolver alone.

    Raises:
        InvalidContribution: It takes no argument, or wants more than one.
    """
    constructor = contribution.constructor
    assert constructor is not None
    try:
        signature = inspect.signature(constructor)
    except (TypeError, ValueError):  # some that are written in C tell nothing
        return
    try:
        signature.bind("a resolver")
    except TypeError as error:
        problem = f"has a constructor that cannot be called with a resolver: {error}"
        fix = "write a function of one argument, such as `lambda resolver: …`"
        raise _refused(contribution, module, problem, fix) from None


def check_constructed(contribution: Contribution, value: object, module: Module) -> None:
    """Refuse what a constructor made, if it certainly does not belong in the slot.

    Raises:
        InvalidContribution: None, a coroutine, an instance of something else, a missing method.
    """
    if value is None:
        fix = "return the value from the constructor"
        raise _refused(contribution, module, "got None from its constructor", fix)
    if inspect.iscoroutine(value):
        value.close()
        raise _asynchronous(contribution, module)
    _check_value(contribution, value, module)


def _check_value(contribution: Contribution, value: object, module: Module) -> None:
    wanted = contribution.slot.value_type
    if not accepts(wanted, value):
        missing = missing_methods(wanted, value)
        lacks = f", which has no {' and no '.join(missing)}" if missing else ""
        if isinstance(value, type) and assignable(value, wanted):
            found, fix = value_text(value), f"give an object of the class: {value.__qualname__}(…)"
            raise _mismatch(contribution, module, found, wanted, fix)
        raise _mismatch(contribution, module, f"{value_text(value)}{lacks}", wanted)


def _asynchronous(contribution: Contribution, module: Module) -> InvalidContribution:
    return _refused(
        contribution,
        module,
        "has an asynchronous constructor",
        "construct the object without opening it, and open it in the `lifespan` of the module",
    )


def _mismatch(
    contribution: Contribution, module: Module, found: str, wanted: TypeForm, fix: str = ""
) -> InvalidContribution:
    wanted_text = type_text(wanted)
    return _refused(
        contribution,
        module,
        f"holds {wanted_text}, and was given {found}",
        fix or f"give a value of type {wanted_text}, or declare the slot with the other type",
    )


def _refused(
    contribution: Contribution, module: Module, problem: str, fix: str
) -> InvalidContribution:
    key = "" if contribution.key is None else f" key {contribution.key!r}"
    return InvalidContribution(
        f"slot {contribution.slot.id!r}{key} {problem}",
        fix=fix,
        slot=contribution.slot.id,
        key=contribution.key,
        module=module.id,
        where=module.where,
    )
