"""Mutations stay applicable while the code changes."""

import pytest

from tests.mutations import Mutation
from tests.mutations.__main__ import ROOT, areas, mutated, mutations_of

ALL = [mutation for area in areas() for mutation in mutations_of(area)]


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_a_mutation_fits_the_code_and_names_a_test_that_is_there(mutation: Mutation) -> None:
    source = (ROOT / mutation.file).read_text(encoding="utf-8")
    assert mutated(source, mutation) != source
    file, _, function = mutation.test.partition("::")
    assert f"def {function}" in (ROOT / file).read_text(encoding="utf-8")


def test_a_mutation_that_does_not_fit_is_told() -> None:
    with pytest.raises(ValueError, match="occurs 2 times"):
        mutated("aa", Mutation("twice", "f", "a", "b", "t"))
