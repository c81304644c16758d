"""The best path through a lattice of alternatives, exactly and in polynomial time.

A gold answer such as ``(lai4|lei4) (ni1|nei1) dou6`` stands for every combination of its
alternatives, so the strings that it stands for grow exponentially with the number of groups. Here
the response is aligned with the lattice itself. Two ideas keep that exact and fast:

* The measures are ratios (errors per character, errors per syllable). Dinkelbach's method (1967, On
  nonlinear fractional programming, Management Science 13) finds the path of least ratio by a few
  minimisations of ``q * errors - p * length``, where p/q is the best ratio so far; everything stays
  an integer.
* The cost of aligning a lattice prefix with the first j response tokens, less j insertions, never
  rises with j. It is kept as the few places where it falls, so that a response of a million tokens
  costs hardly more than one of a hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Token = TypeVar("Token", bound=Hashable)
Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Target(Generic[Token]):
    """A response, described by where in it each token may be paired, and what errors cost.

    Attributes:
        size: Number of tokens in the response.
        places: For a token, the ascending response positions it may be paired with, one array for
            each entry of ``pair_costs``. An array may repeat positions of an earlier, cheaper one.
        pair_costs: Cost of a pair of each kind, cheapest first; that of an exact match is 0.
        gap_cost: Cost of leaving out a token of the path (deletion) or of a token too many in the
            response (insertion); one error of the ratio that is minimised.
    """

    size: int
    places: Callable[[Token], Sequence[Positions]]
    pair_costs: tuple[int, ...]
    gap_cost: int = 1


def best_path(
    lattice: Sequence[Sequence[Sequence[Token]]],
    target: Target[Token],
    ratio: Callable[[tuple[Sequence[Token], ...]], Fraction],
) -> tuple[Sequence[Token], ...]:
    """Choose one option in each segment so that the ratio of errors to length is least.

    Args:
        lattice: Segments in order; each is a sequence of options, each a sequence of tokens.
        target: The response and the costs of the edit distance.
        ratio: The exact ratio of a path: its edit distance in units of ``gap_cost``, over its
            length plus any constant.

    Returns:
        The chosen option of each segment. Of several best paths, the first in the order in which
        ``itertools.product`` would list them.
    """
    path = tuple(options[0] for options in lattice)
    if all(len(options) == 1 for options in lattice):
        return path
    # Among paths of one length the cheapest has the least ratio, whatever ratio one starts from.
    one_length = all(len(set(map(len, options))) == 1 for options in lattice)
    while True:
        best = ratio(path)
        path = _cheapest_path(lattice, target, best)
        if one_length or ratio(path) == best:
            return path


@dataclass(frozen=True)
class _Front:
    """A falling step function over response positions: from ``starts[i]`` on it is ``costs[i]``."""

    starts: Positions
    costs: Positions


_START = _Front(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))


def _lowest(fronts: Iterable[tuple[Positions, Positions]]) -> _Front:
    """The lower envelope of steps given as (starts, costs), without those that do not fall."""
    parts = tuple(fronts)
    starts = np.concatenate([part[0] for part in parts])
    costs = np.concatenate([part[1] for part in parts])
    order = np.lexsort((costs, starts))
    starts, costs = starts[order], costs[order]
    falls = np.empty(len(costs), dtype=bool)
    falls[0] = True
    np.less(costs[1:], np.minimum.accumulate(costs)[:-1], out=falls[1:])
    return _Front(starts[falls], costs[falls])


class _Reader(Generic[Token]):
    """Extends fronts by lattice tokens, for the objective q * cost - p * gap_cost * length."""

    def __init__(self, target: Target[Token], ratio: Fraction) -> None:
        insertion = ratio.denominator * target.gap_cost
        reward = ratio.numerator * target.gap_cost
        self.places = cache(target.places)
        self.deletion = insertion - reward
        self.pairs = [ratio.denominator * cost - reward - insertion for cost in target.pair_costs]

    def read(self, front: _Front, tokens: Iterable[Token]) -> _Front:
        for token in tokens:
            steps = [(front.starts, front.costs + self.deletion)]
            for positions, cost in zip(self.places(token), self.pairs, strict=True):
                following = positions.searchsorted(front.starts)
                following = following[: following.searchsorted(len(positions))]
                steps.append((positions[following] + 1, front.costs[: len(following)] + cost))
            front = _lowest(steps)
        return front


def _cheapest_path(
    lattice: Sequence[Sequence[Sequence[Token]]], target: Target[Token], ratio: Fraction
) -> tuple[Sequence[Token], ...]:
    forward = _Reader(target, ratio)
    backward = _Reader(_reversed(target), ratio)
    choices = [i for i, options in enumerate(lattice) if len(options) > 1]
    first, last = choices[0], choices[-1]
    rests = [_START]
    for options in reversed(lattice[first + 1 :]):
        read = [backward.read(rests[-1], reversed(option)) for option in options]
        rests.append(_lowest((front.starts, front.costs) for front in read))
    path = [options[0] for options in lattice]
    front = forward.read(_START, chain.from_iterable(path[:first]))
    for i in range(first, last + 1):
        options, rest = lattice[i], rests[len(lattice) - 1 - i]
        read = [forward.read(front, option) for option in options]
        # min() keeps the first of equals: the tie-break promised by best_path.
        chosen = min(range(len(options)), key=lambda i: _joined(read[i], rest, target.size))
        path[i] = options[chosen]
        front = read[chosen]
    return tuple(path)


def _joined(front: _Front, rest: _Front, size: int) -> int:
    """Least cost of a front and the front, read backwards, of all that follows it."""
    steps = rest.starts.searchsorted(size - front.starts, side="right") - 1
    return int((front.costs + rest.costs[steps]).min())


def _reversed(target: Target[Token]) -> Target[Token]:
    def places(token: Token) -> list[Positions]:
        return [target.size - 1 - positions[::-1] for positions in target.places(token)]

    return Target(target.size, places, target.pair_costs, target.gap_cost)
