"""The type argument of a slot at run time: one canonical form for each type, and its text."""

from collections.abc import Iterable, Sequence
from types import GenericAlias, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ForwardRef,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeGuard,
    TypeVar,
    TypeVarTuple,
    Union,
    get_args,
    get_origin,
)

TypeForm: TypeAlias = Any
"""What may stand between the brackets of a slot; Python 3.11 has no narrower name for it."""


def origin_of(form: TypeForm) -> TypeForm | None:
    """Return `list` for `list[int]`, and None for a type without parameters."""
    return get_origin(form)


def canonical(form: TypeForm, *, _inside: tuple[object, ...] = ()) -> TypeForm:
    """Return the form that compares equal for every spelling of one type.

    Aliases and `Annotated` are resolved, `List[int]` becomes `list[int]`, and parameters are kept:
    `Repo[User]` and `Repo[Order]` stay two types.

    Raises:
        TypeError: The form holds a free type variable, or text instead of a type.
    """
    if isinstance(form, type):
        return form
    if form is None:
        return NoneType
    problem = _unusable(form)
    if problem:
        raise TypeError(problem)
    if _is_alias(form):
        # An alias that speaks of itself stands for itself, or this would never end.
        return form if form in _inside else canonical(form.__value__, _inside=(*_inside, form))
    origin, arguments = origin_of(form), get_args(form)
    if origin is None or origin is Literal:
        return form
    if origin is Annotated:
        return canonical(arguments[0], _inside=_inside)
    if _is_alias(origin):
        return canonical(origin.__value__[arguments], _inside=_inside)
    if not arguments and not isinstance(form, GenericAlias):
        return origin  # a bare `typing.List`, unlike `tuple[()]`
    resolved = tuple(_argument(argument, _inside) for argument in arguments)
    if origin in {Union, UnionType}:
        return Union[resolved]  # noqa: UP007  # `|` takes no tuple
    return origin[resolved]


def _argument(argument: TypeForm, inside: tuple[object, ...]) -> TypeForm:
    """Resolve one parameter; that of a callable may be a list of types or an ellipsis."""
    if argument is ...:
        return ...
    if _is_list(argument):
        return [canonical(each, _inside=inside) for each in argument]
    return canonical(argument, _inside=inside)


def _is_list(form: TypeForm) -> TypeGuard[Sequence[TypeForm]]:
    return isinstance(form, (list, tuple))


def _unusable(form: TypeForm) -> str | None:
    if isinstance(form, (TypeVar, ParamSpec, TypeVarTuple)):
        return f"type variable {form} is free; write the type that it stands for"
    if isinstance(form, (str, ForwardRef)):
        text = form if isinstance(form, str) else form.__forward_arg__
        return f"{text!r} is text; write the type itself, without quotes"
    return None


def _is_alias(form: TypeForm) -> bool:
    # By name, since Python 3.11 has this class only in typing_extensions.
    return type(form).__name__ == "TypeAliasType"


def type_text(form: TypeForm) -> str:
    """Return the readable name of a type: module and qualified name, parameters in brackets."""
    if form is NoneType:
        return "None"
    if form is ...:
        return "..."
    if _is_list(form):
        return f"[{_joined(form)}]"
    origin, arguments = origin_of(form), get_args(form)
    if origin in {Union, UnionType}:
        return " | ".join(type_text(argument) for argument in arguments)
    if origin is Literal:
        return f"Literal[{', '.join(repr(argument) for argument in arguments)}]"
    if origin is not None:
        return f"{type_text(origin)}[{_joined(arguments) or '()'}]"
    name = getattr(form, "__qualname__", None) or getattr(form, "__name__", None) or repr(form)
    module = getattr(form, "__module__", "builtins")
    return name if module == "builtins" else f"{module}.{name}"


def _joined(forms: Iterable[TypeForm]) -> str:
    return ", ".join(type_text(form) for form in forms)
