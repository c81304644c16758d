"""The path through a lattice is the best of all paths, and the first of the best."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Indel, Levenshtein

from hkcanto_metrics.lattice import Positions, Target, best_path

first_segments = st.lists(st.text("ab1", min_size=1, max_size=2), min_size=1, max_size=2)
segments = st.lists(st.text("ab1 ", max_size=3), min_size=1, max_size=3)
lattices = st.tuples(first_segments, st.lists(segments, max_size=4)).map(lambda x: [x[0], *x[1]])
responses = st.text("ab1 ", max_size=10)


def target(response: str, pair_costs: tuple[int, ...]) -> Target[str]:
    def places(character: str) -> Sequence[Positions]:
        equal = np.array([i for i, c in enumerate(response) if c == character], dtype=np.int64)
        return (equal, np.arange(len(response)))[: len(pair_costs)]

    return Target(len(response), places, pair_costs)


@settings(max_examples=200, deadline=None)
@given(lattices, responses)
def test_indel_similarity_is_that_of_the_first_best_of_all_paths(
    lattice: list[list[str]], response: str
) -> None:
    def distance(path: Sequence[Sequence[str]]) -> Fraction:
        text = "".join(chain.from_iterable(path))
        return Fraction(Indel.distance(text, response), len(text) + len(response))

    assert best_path(lattice, target(response, (0,)), distance) == min(
        product(*lattice), key=distance
    )


@settings(max_examples=200, deadline=None)
@given(lattices, responses)
def test_error_rate_is_that_of_the_first_best_of_all_paths(
    lattice: list[list[str]], response: str
) -> None:
    def error_rate(path: Sequence[Sequence[str]]) -> Fraction:
        text = "".join(chain.from_iterable(path))
        return Fraction(Levenshtein.distance(text, response), len(text))

    assert best_path(lattice, target(response, (0, 1)), error_rate) == min(
        product(*lattice), key=error_rate
    )
