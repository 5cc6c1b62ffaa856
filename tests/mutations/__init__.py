"""Wrong implementations on purpose: each must turn the test red that it names.

`scripts/mutate AREA` puts one after the other into a copy of the project and runs its test there.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """One wrong implementation.

    Attributes:
        name: what is wrong about it.
        file: the file that is changed, from the root of the project.
        old: text in it that occurs once.
        new: what stands there instead.
        test: the test that must fail, as pytest names it.
    """

    name: str
    file: str
    old: str
    new: str
    test: str
