"""What the map says of one slot."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How many values a slot takes: at most one, any number under keys, or any number in order."""

    ONE = "one"
    MANY = "many"
    CHAIN = "chain"


class Maturity(StrEnum):
    """How far a contract has come; each level asks for the evidence of the ones before.

    `mapped`: responsibility, id and kind are reserved, there is no contract yet. `contracted`: a
    public contract, a typed slot and tests. `conformant`: a reusable suite passed. `proven`: by two
    implementations of independent origin. `assembled`: exchanged in production by the slot alone.
    """

    MAPPED = "mapped"
    CONTRACTED = "contracted"
    CONFORMANT = "conformant"
    PROVEN = "proven"
    ASSEMBLED = "assembled"

    @property
    def level(self) -> int:
        """Position on the ladder, from 0."""
        return list(Maturity).index(self)


@dataclass(frozen=True, slots=True)
class Contract:
    """Where the contract of a slot is found in Python.

    Attributes:
        package: what it is imported from, such as `agentslot.session`.
        symbol: the type of the slot's values.
        slot: the constant that holds the slot.
    """

    package: str
    symbol: str
    slot: str


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile that requires a slot to be filled, and with how many values at least."""

    name: str
    minimum: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a slot has the maturity that it has.

    Attributes:
        suite: name and version of the conformance suite, as `agentslot conformance` knows it.
        conformance: what passed it.
        independent: implementations of independent origin that passed it.
        assembly: where they were exchanged in production.
        gaps: what is known to be missing.
    """

    suite: str = ""
    conformance: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    assembly: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Component:
    """One standard slot.

    Attributes:
        domain: the area of the system that it belongs to.
        rule: when the standard agent has to have it, in a few words.
        purpose: what a component in it is responsible for, in one sentence.
    """

    domain: str
    id: str
    kind: Kind
    rule: str
    purpose: str
    maturity: Maturity = Maturity.MAPPED
    contract: Contract | None = None
    profiles: tuple[Profile, ...] = ()
    evidence: Evidence = Evidence()
