"""The best of several runs: the runs it does not differ from, and the bias of picking the best.

Among 20 equal runs, the best almost always beats another one at 5 %, and its figure is too good
because the run was picked by that figure. So all pairs are compared at once. As in a paired
permutation test, an item's sign is drawn for all runs together, which keeps the correlation between
runs (max-t: Westfall and Young, 1993; all pairs: Hothorn, Bretz and Westfall, 2008, "Simultaneous
Inference in General Parametric Models"). `performance/simulate_best.py` measures how often it errs.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import NamedTuple

import numpy as np

from ...errors import ComparisonError
from ...figures import pseudo_values
from ..runs import Floats, Run
from .estimates import estimate
from .intervals import CONFIDENCE, Estimate, exchanges
from .matching import SEED, match

_DRAWS = 4_000


class Pairs(NamedTuple):
    """The null distribution of all pairwise differences of several figures."""

    errors: Floats  # runs × runs: standard errors of the differences; 0 if all items are equal
    critical: float  # the critical value of the largest difference, in standard errors
    figures: Floats  # draws × runs: the figures minus their mean, if all runs are truly equal


@dataclass(frozen=True, eq=False)
class Selection:
    """The best of several runs by their headline, on the items that all of them have.

    Attributes:
        best: The run with the best figure.
        picked_from: The number of runs that it was picked from.
        ties: Runs not significantly different from the best, with their difference to it. The
            intervals hold for the differences of all runs at once; they have no ends if all items
            are equal.
        overstated: By how much the best figure is too good on average, if the best run and the ties
            are truly equal; 0 without ties.
        left_out: Runs that are not comparable with the others, and why.
        differences: Each other compared run → the best figure minus its own.
    """

    best: Run
    picked_from: int
    ties: Mapping[Run, Estimate]
    overstated: float
    left_out: Mapping[Run, str]
    differences: Mapping[Run, float]


@lru_cache(maxsize=64)
def selection(
    runs: tuple[Run, ...], confidence: float = CONFIDENCE
) -> Selection | None:
    """Pick the best of runs side by side; None if all of them were interrupted.

    The items are those of most runs: a run on other items is left out, as is an interrupted one.

    Args:
        runs: Runs of one task under one condition.
        confidence: Confidence for all differences at once; above 0.95 if several tasks share the
            5 % error.
    """
    left_out = {run: run.interruption for run in runs if run.interruption}
    found = [
        run for run in runs if run not in left_out and estimate(run, run.headline.name)
    ]
    if not found:
        return None
    items = {run: frozenset(run.items.ids) for run in found}
    counts = Counter(items.values())
    first, paired = (
        max(found, key=lambda run: (counts[items[run]], len(items[run]))),
        {},
    )
    for run in found:
        try:
            paired[run] = match(first, run, None)
        except ComparisonError as error:
            left_out[run] = str(error)
    kept = (
        reduce(np.intersect1d, (pair.positions for pair in paired.values()))
        if paired
        else ()
    )
    if not len(kept):  # no item has a value in all runs
        return None
    names, alike = (
        [*paired],
        [pair.where(np.isin(pair.positions, kept)) for pair in paired.values()],
    )
    rows, statistic = [pair.rows[1] for pair in alike], alike[0].statistic
    parts = np.column_stack(
        [pseudo_values(of_run, statistic) / len(of_run) for of_run in rows]
    )
    pairs = all_pairs(parts, confidence=confidence)
    figures = np.array([pair.figures()[1] for pair in alike])
    sign = -1 if first.headline.higher_is_better is False else 1
    best = int((sign * figures).argmax())
    behind = dict(zip(names, (figures[best] - figures).tolist(), strict=True))
    ties, places = {}, [best]
    for place, run in enumerate(names):
        change, reach = -behind[run], pairs.critical * float(pairs.errors[best, place])
        if place != best and abs(change) <= reach + 1e-12:
            low, high = (change - reach, change + reach) if reach else (None, None)
            ties[run] = Estimate(change, low, high, len(kept))
            places.append(place)
    drawn = sign * pairs.figures[:, places]
    overstated = float((drawn.max(axis=1) - drawn.mean(axis=1)).mean())
    del behind[names[best]]
    return Selection(names[best], len(names), ties, overstated, left_out, behind)


def all_pairs(
    parts: Floats,
    *,
    confidence: float = CONFIDENCE,
    draws: int = _DRAWS,
    seed: int = SEED,
) -> Pairs:
    """Compare all pairs of runs at once.

    Args:
        parts: Units × runs: each independent unit's contribution to each figure; for a mean, its
            value divided by the number of items.
        confidence: Confidence for all differences at once.
        draws: How often the units' signs are drawn; less often if there are fewer exchanges.
        seed: Seed of the draws.

    Examples:
        >>> right = np.array([[1.0, 0.0]] * 12 + [[0.0, 1.0]] * 4)  # McNemar's z is 8 / √16
        >>> found = all_pairs(right / 16)
        >>> round(0.5 / float(found.errors[0, 1]), 6)
        2.0
    """
    centered = parts - parts.mean(axis=1, keepdims=True)
    products = centered.T @ centered
    squares = np.diag(products)
    errors = np.sqrt(np.maximum(0, squares[:, None] + squares - 2 * products))
    errors[errors < 1e-12] = 0
    usable = np.where(errors > 0, errors, np.inf)
    total = centered.sum(axis=0)
    drawn = exchanges(len(centered), draws, seed)
    figures = np.concatenate([2 * (batch @ centered) - total for batch in drawn])
    largest = np.zeros(len(figures))
    for place in range(1, centered.shape[1]):
        moves = (
            np.abs(figures[:, :place] - figures[:, place, None]) / usable[place, :place]
        )
        largest = np.maximum(largest, moves.max(axis=1))
    return Pairs(errors, float(np.quantile(largest, confidence)), figures)
