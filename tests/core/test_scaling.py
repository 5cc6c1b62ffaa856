"""What a build costs, counted in steps rather than seconds."""

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from agentslot import Application, Builder, Chain, Many, Module, One, Requirement, SlotOccupied
from tests.core.catalog import COUNT, NAMES


def modules(count: int) -> list[Module]:
    """Modules with three contributions and three requirements each."""
    ones = [One[int](f"one.{n}") for n in range(count)]
    many = [Many[int](f"many.{n}") for n in range(count)]
    chains = [Chain[int](f"chain.{n}") for n in range(count)]

    def requires(n: int) -> list[Requirement]:
        if n == 0:
            return []
        return [ones[n - 1].required(), many[n // 2].key("k"), chains[n // 3].at_least(1)]

    return [
        Module(
            str(n),
            ones[n].set(n),
            many[n].add("k", n),
            chains[n].append_with(lambda _: 0),
            requires=requires(n),
        )
        for n in range(count)
    ]


def calls(function: Callable[[], object]) -> int:
    """How many functions are called, C functions included.

    A garbage collection runs the callbacks of whoever asked for them (Hypothesis does), so none
    may fall into the count.
    """
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    gc.disable()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


def test_the_calls_of_a_build_grow_with_the_number_of_modules() -> None:
    hundred = calls(Application("test", modules(100)).build)
    thousand = calls(Application("test", modules(1000)).build)

    assert thousand < 10.5 * hundred


def test_a_registration_costs_what_it_adds_however_much_is_registered_already() -> None:
    empty, full = Builder(), Builder()
    for module in modules(1000):
        full.install(module)
    late = Module("late", *(NAMES.add(str(n), "x") for n in range(10)))
    Builder().install(late)  # its slot has read its value type now

    assert calls(lambda: full.install(late)) == calls(lambda: empty.install(late))


def test_a_refused_registration_is_undone_without_touching_the_others() -> None:
    empty, full = Builder(), Builder()
    for module in modules(1000):
        full.install(module)

    def refuse(builder: Builder) -> None:
        with pytest.raises(SlotOccupied):
            builder.install(Module("late", NAMES.add("x", "1"), COUNT.set(1), COUNT.set(2)))

    refuse(empty)
    assert calls(lambda: refuse(full)) == calls(lambda: refuse(empty))


def test_looking_up_a_slot_calls_nothing_but_itself() -> None:
    assembly = Application("test", [Module("a", COUNT.set(1))]).build()

    assert calls(lambda: assembly[COUNT]) <= 4
