"""Which values certainly do not belong in a slot.

A type checker proves that a value fits; at run time only the contrary can be proved, and only that
is refused: an instance of another class, a container with a wrong element, a missing method.
What cannot be decided passes.
"""

import inspect
import typing
from collections.abc import Collection, Iterable
from functools import lru_cache, partial
from types import CodeType, FunctionType, UnionType
from typing import Any, Literal, NewType, TypeGuard, Union, get_args

from typing_extensions import is_typeddict

from agentslot._types import TypeForm, canonical, origin_of, type_text

_PROMOTED: dict[type, tuple[type, ...]] = {float: (float, int), complex: (complex, float, int)}
"""An int does where a float is asked for, as it does for type checkers."""

_ABOUT_ELEMENTS = frozenset({"builtins", "collections.abc"})
"""Where the generic classes come from whose parameters speak of the elements."""

_ASYNCHRONOUS = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_NO_CONTRACT = frozenset({"__init__", "__new__", "__subclasshook__", "__init_subclass__"})
"""Functions in the body of a Protocol that ask nothing of a value; `typing` adds some itself."""


def accepts(wanted: TypeForm, value: object) -> bool:
    """Tell whether a value may belong where `wanted` is asked for; False is certain."""
    wanted = _instantiable(wanted)
    if wanted is Any:
        return True
    if isinstance(wanted, type) and not _is_protocol(wanted):
        return isinstance(value, _PROMOTED.get(wanted, wanted))
    origin = origin_of(wanted)
    if origin in {Union, UnionType}:
        return any(accepts(member, value) for member in get_args(wanted))
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in get_args(wanted))
    if isinstance(wanted, NewType):
        return accepts(canonical(wanted.__supertype__), value)
    cls = origin or wanted
    if not isinstance(cls, type):
        return True
    if _is_protocol(cls):
        methods = required_methods(cls)
        return all(_has(value, name) for name in methods) and not _needs_instance(value, methods)
    parameters = get_args(wanted)
    return isinstance(value, _PROMOTED.get(cls, cls)) and (
        not parameters or _accepts_parts(cls, parameters, value)
    )


def _accepts_parts(cls: type, parameters: tuple[TypeForm, ...], value: object) -> bool:
    """Look into a container, or at the parameters that a generic object was made with."""
    if _is_tuple(value) and cls is tuple:
        if len(parameters) == 2 and parameters[1] is ...:
            return all(accepts(parameters[0], each) for each in value)
        return len(value) == len(parameters) and all(map(accepts, parameters, value))
    if cls.__module__ in _ABOUT_ELEMENTS:
        if _is_dict(value) and len(parameters) == 2:
            key, item = parameters
            return all(accepts(key, k) and accepts(item, v) for k, v in value.items())
        if _is_container(value) and len(parameters) == 1:
            return all(accepts(parameters[0], each) for each in value)
    made_as = getattr(value, "__orig_class__", None)
    found = get_args(made_as) if origin_of(made_as) is cls else _inherited(type(value), cls)
    return _compatible(found, parameters)


def assignable(found: TypeForm, wanted: TypeForm) -> bool:
    """Tell whether what is declared as `found` may belong where `wanted` is asked for.

    False is certain. A wider type passes (`-> object`), since the value itself decides later.
    """
    if found == wanted or found is Any or wanted is Any:
        return True
    if origin_of(found) in {Union, UnionType}:
        return all(assignable(member, wanted) for member in get_args(found))
    if origin_of(wanted) in {Union, UnionType}:
        return any(assignable(found, member) for member in get_args(wanted))
    if origin_of(found) is Literal:
        return all(accepts(wanted, each) for each in get_args(found))
    found, wanted = _instantiable(_supertype(found)), _instantiable(_supertype(wanted))
    lower, upper = origin_of(found) or found, origin_of(wanted) or wanted
    if not isinstance(lower, type) or not isinstance(upper, type) or _is_protocol(lower):
        return True
    if _is_protocol(upper):
        return all(hasattr(lower, name) for name in required_methods(upper))
    if issubclass(lower, _PROMOTED.get(upper, upper)):
        return _parts_assignable(found, lower, wanted, upper)
    return issubclass(upper, lower)


def _parts_assignable(found: TypeForm, lower: type, wanted: TypeForm, upper: type) -> bool:
    parameters = get_args(wanted)
    if not parameters:
        return True
    if found in (list, dict, set, frozenset, tuple):
        return False  # a bare container promises nothing about its elements
    if lower is upper or lower.__module__ == "builtins":
        return _compatible(get_args(found), parameters)
    return _compatible(_inherited(lower, upper), parameters)


def _compatible(found: tuple[TypeForm, ...], wanted: tuple[TypeForm, ...]) -> bool:
    """Compare parameters; a pair related in neither direction is wrong under any variance."""
    if len(found) != len(wanted) or ... in (*found, *wanted):
        return True
    return all(assignable(f, w) or assignable(w, f) for f, w in zip(found, wanted, strict=True))


def _inherited(cls: type, generic: type) -> tuple[TypeForm, ...]:
    """Return the parameters with which a class inherits a generic one, if it fixes them."""
    for ancestor in cls.__mro__:
        for base in ancestor.__dict__.get("__orig_bases__", ()):
            if origin_of(base) is generic:
                try:
                    return get_args(canonical(base))
                except TypeError:  # a free type variable: nothing is fixed here
                    continue
    return ()


def _supertype(form: TypeForm) -> TypeForm:
    return canonical(form.__supertype__) if isinstance(form, NewType) else form


def _instantiable(form: TypeForm) -> TypeForm:
    """Return what a TypedDict is at run time, since it allows no instance checks itself."""
    return dict[str, Any] if is_typeddict(form) else form


def _is_protocol(cls: type) -> bool:
    return bool(getattr(cls, "_is_protocol", False))


def _is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    return isinstance(value, tuple)


def _is_dict(value: object) -> TypeGuard[dict[object, object]]:
    return isinstance(value, dict)


def _is_container(value: object) -> TypeGuard[Collection[object]]:
    """Tell whether the elements may be looked at: that changes nothing and cannot fail."""
    return isinstance(value, (list, tuple, set, frozenset))


@lru_cache(maxsize=1024)
def required_methods(protocol: type) -> tuple[str, ...]:
    """Return the methods that a Protocol asks for; data members may still appear later."""
    return tuple(
        name
        for cls in protocol.__mro__
        if _is_protocol(cls) and cls.__module__ != "typing"
        for name, member in vars(cls).items()
        if isinstance(member, FunctionType) and name not in _NO_CONTRACT
    )


def _has(value: object, name: str) -> bool:
    """Look for an attribute without running a property; what answers by itself may have any."""
    cls = type(value)
    answers = hasattr(cls, "__getattr__") or isinstance(cls.__getattribute__, FunctionType)
    if answers or hasattr(cls, name):
        return True
    return inspect.getattr_static(value, name, None) is not None


def _needs_instance(value: object, methods: Iterable[str]) -> bool:
    """Tell whether this is a class, and not an object of it: a method of it still wants `self`."""
    if not isinstance(value, type):
        return False
    members = (inspect.getattr_static(value, name, None) for name in methods)
    return any(
        isinstance(member, FunctionType) and member.__code__.co_varnames[:1] == ("self",)
        for member in members
    )


def missing_methods(wanted: TypeForm, value: object) -> tuple[str, ...]:
    """Return the methods that a value lacks for a Protocol; empty for every other type."""
    cls = origin_of(wanted) or wanted
    if not isinstance(cls, type) or not _is_protocol(cls):
        return ()
    return tuple(name for name in required_methods(cls) if not _has(value, name))


def is_asynchronous(function: object) -> bool:
    """Tell whether a function is written `async def`, with or without `yield`."""
    code = getattr(function, "__code__", None)  # much faster than asking `inspect` twice
    return isinstance(code, CodeType) and bool(code.co_flags & _ASYNCHRONOUS)


def declared_result(constructor: object) -> TypeForm | None:
    """Return what a constructor says it returns, or None if it does not say."""
    function = constructor.func if isinstance(constructor, partial) else constructor
    try:
        if "return" not in getattr(function, "__annotations__", ()):
            return None
        return canonical(typing.get_type_hints(function)["return"])
    except Exception:  # noqa: BLE001  # an annotation that cannot be evaluated says nothing
        return None


def value_text(value: object) -> str:
    """Return the type of a value as one would write it: `list[app.Doc]`, not `list`."""
    if _is_dict(value) and value:
        return f"{type_text(type(value))}[{_union(value)}, {_union(value.values())}]"
    if _is_container(value) and value:
        return f"{type_text(type(value))}[{_union(value)}]"
    if isinstance(value, type):
        return f"type[{type_text(value)}]"
    return type_text(getattr(value, "__orig_class__", type(value)))


def _union(values: Iterable[object]) -> str:
    return " | ".join(dict.fromkeys(value_text(value) for value in values))
