"""What a slot is, and the two things that are said of one: a contribution and a requirement."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar, final, get_args

from agentslot._text import is_name
from agentslot._types import TypeForm, canonical, type_text
from agentslot._where import Location, caller

if TYPE_CHECKING:  # both need slots themselves
    from agentslot._description import SlotKind
    from agentslot._resolver import Resolver

T = TypeVar("T")


class Slot(Generic[T]):
    """A named, typed place in an application; `One`, `Many` and `Chain` are its three kinds.

    A slot is identified by its id, its kind and its value type. Declaring one has no effect: it
    exists in an assembly once somebody contributes to it.
    """

    __slots__ = ("__orig_class__", "_value_type", "declared_at", "filled_by", "id")

    kind: ClassVar["SlotKind"]

    def __init__(self, slot_id: str, *, filled_by: str = "") -> None:
        """Declare a slot; write `One[T]("id")`, with the type of its values in the brackets.

        Args:
            slot_id: The id, such as `example.text-generator`.
            filled_by: What usually fills it, for the error of an application without it.

        Raises:
            ValueError: The id is empty or has white space around it.
        """
        if not is_name(slot_id):
            raise ValueError(
                f"slot id {slot_id!r} is not usable: write text without white space around it"
            )
        self.id: Final = slot_id
        self.filled_by: Final = filled_by
        self.declared_at: Final[Location | None] = caller()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    @property
    def value_type(self) -> TypeForm:
        """The type between the brackets, in the one form that all its spellings share.

        Raises:
            TypeError: There is none, or it holds a free type variable or text.
        """
        # Read late: Python tells a generic object its parameters only after `__init__`.
        try:
            return self._value_type
        except AttributeError:
            self._value_type: TypeForm = self._read_value_type()
            return self._value_type

    def _read_value_type(self) -> TypeForm:
        kind = type(self).__name__
        arguments = get_args(getattr(self, "__orig_class__", None))
        if not arguments:
            raise TypeError(
                f"slot {self.id!r} has no value type: write {kind}[SomeType]({self.id!r})"
            )
        try:
            return canonical(arguments[0])
        except TypeError as error:
            raise TypeError(f"the value type of slot {self.id!r} is not usable: {error}") from None

    def is_same(self, other: "AnySlot") -> bool:
        """Tell whether two declarations mean one slot: the same id, kind and value type."""
        return self is other or (
            self.id == other.id and self.kind == other.kind and self.value_type == other.value_type
        )

    def describe(self) -> str:
        """Return the slot as an error names it, with its type and where it is declared."""
        place = "" if self.declared_at is None else f" ({self.declared_at})"
        return f"{type(self).__name__}[{type_text(self.value_type)}]({self.id!r}){place}"


AnySlot: TypeAlias = Slot[Any]
"""A slot whose value type does not matter to the code at hand."""

ABSENT: Final = object()
"""Stands for a value that was not given, since None is a mistake worth reporting."""


@final
@dataclass(frozen=True, slots=True)
class Contribution:
    """What a module puts into a slot. Only the methods of slots make one, such as `One.set`."""

    slot: AnySlot
    key: str | None = None
    value: object = ABSENT
    constructor: "Callable[[Resolver], object] | None" = None
    default: bool = False
    overrides: bool = False

    def replacing_default(self) -> "Contribution":
        """Return it as one that is meant to replace a default: if none is there, that is an error.

        Every explicit contribution replaces defaults; this one has to. So a default that is gone,
        or a key with a typing error in it, does not go unnoticed.

        Raises:
            ValueError: It is a default itself.
        """
        if self.default:
            raise ValueError(f"a default for slot {self.slot.id!r} cannot replace another default")
        return replace(self, overrides=True)


@final
@dataclass(frozen=True, slots=True)
class Requirement:
    """What a module or an application needs of a slot. Made by slots, such as `One.required`.

    It is checked when the application is built, not when it is made.
    """

    slot: AnySlot
    minimum: int
    """How many contributions must be there; 0 when optional."""
    key: str | None = None
    keyed: bool = False
    """Whether one key is asked for, rather than the whole slot."""
    optional: bool = False
