"""The three kinds of slot."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, final

from agentslot._declaration import ABSENT, Contribution, Requirement, Slot

if TYPE_CHECKING:  # a resolver is indexed with slots
    from agentslot._resolver import Resolver

T = TypeVar("T")


@final
class One(Slot[T]):
    """A slot for at most one value.

    ```python
    GENERATOR = One[TextGenerator]("example.text-generator")
    ```
    """

    __slots__ = ()
    kind = "one"

    def set(self, value: T) -> Contribution:
        """Fill the slot; a second explicit value is an error."""
        return Contribution(self, None, value)

    def set_default(self, value: T) -> Contribution:
        """Fill the slot unless somebody fills it explicitly."""
        return Contribution(self, None, value, None, True)

    def set_with(self, constructor: "Callable[[Resolver], T]") -> Contribution:
        """Fill the slot with what a constructor makes of the slots its module requires."""
        return Contribution(self, None, ABSENT, constructor)

    def set_default_with(self, constructor: "Callable[[Resolver], T]") -> Contribution:
        """Like `set_with`, unless somebody fills the slot explicitly."""
        return Contribution(self, None, ABSENT, constructor, True)

    def required(self) -> Requirement:
        """Require that the slot is filled."""
        return Requirement(self, 1)

    def optional(self) -> Requirement:
        """Use the slot if it is filled."""
        return Requirement(self, 0, optional=True)


@final
class Many(Slot[T]):
    """A slot for any number of values, each under a key of its own, in registration order.

    ```python
    TOOLS = Many[Tool]("example.tool")
    ```
    """

    __slots__ = ()
    kind = "many"

    def add(self, key: str, value: T) -> Contribution:
        """Add a value under a key; a second explicit value for the key is an error."""
        return Contribution(self, key, value)

    def add_default(self, key: str, value: T) -> Contribution:
        """Add a value under a key unless somebody adds one explicitly."""
        return Contribution(self, key, value, None, True)

    def add_with(self, key: str, constructor: "Callable[[Resolver], T]") -> Contribution:
        """Add what a constructor makes of the slots its module requires."""
        return Contribution(self, key, ABSENT, constructor)

    def add_default_with(self, key: str, constructor: "Callable[[Resolver], T]") -> Contribution:
        """Like `add_with`, unless somebody adds an explicit value under the key."""
        return Contribution(self, key, ABSENT, constructor, True)

    def at_least(self, minimum: int) -> Requirement:
        """Require a number of values, at least one."""
        return Requirement(self, minimum)

    def key(self, key: str) -> Requirement:
        """Require the value under one key, and only that."""
        return Requirement(self, 1, key, keyed=True)

    def optional(self) -> Requirement:
        """Use the values, if there are any."""
        return Requirement(self, 0, optional=True)


@final
class Chain(Slot[T]):
    """A slot for any number of values that follow one another, in registration order.

    ```python
    FILTERS = Chain[Filter]("example.filter")
    ```
    """

    __slots__ = ()
    kind = "chain"

    def append(self, value: T) -> Contribution:
        """Put a value at the end of the chain."""
        return Contribution(self, None, value)

    def append_default(self, value: T) -> Contribution:
        """Put a value into the chain that stands if nobody appends an explicit one."""
        return Contribution(self, None, value, None, True)

    def append_with(self, constructor: "Callable[[Resolver], T]") -> Contribution:
        """Append what a constructor makes of the slots its module requires."""
        return Contribution(self, None, ABSENT, constructor)

    def append_default_with(self, constructor: "Callable[[Resolver], T]") -> Contribution:
        """Like `append_with`, in the chain that stands if nobody appends an explicit value."""
        return Contribution(self, None, ABSENT, constructor, True)

    def at_least(self, minimum: int) -> Requirement:
        """Require a number of values, at least one."""
        return Requirement(self, minimum)

    def optional(self) -> Requirement:
        """Use the values, if there are any."""
        return Requirement(self, 0, optional=True)
