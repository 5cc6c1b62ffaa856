"""Slots."""

from typing import Generic, TypeVar

T = TypeVar("T")


class One(Generic[T]):
    def __init__(self, id: str) -> None:
        self.id = id


class Many(Generic[T]):
    def __init__(self, id: str) -> None:
        self.id = id


class Chain(Generic[T]):
    def __init__(self, id: str) -> None:
        self.id = id
