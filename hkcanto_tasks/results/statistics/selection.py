"""Pick the best of several runs; report ties and the winner's bias.

Among 20 equal runs, the best almost always beats another one at 5 %, and its figure is too good
because the run was picked by that figure. So all pairs are compared at once. As in a paired
permutation test, an item's sign is drawn for all runs together, which keeps the correlation between
runs (max-t: Westfall and Young, 1993; all pairs: Hothorn, Bretz and Westfall, 2008, "Simultaneous
Inference in General Parametric Models"). `performance/simulate_best.py` measures how often it errs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ComparisonError
from ...figures import pseudo_values
from ..runs import Floats, Run
from .estimates import estimate
from .intervals import CONFIDENCE, Estimate, exchanges
from .matching import SEED, Effect, Paired, match, shared_confidence
from .validity import no_verdict, unread_run

_DRAWS = 4_000
_ROUNDING = 1e-12


class PairwiseNull(NamedTuple):
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
            intervals hold for the differences of all runs at once. Of two runs, it is that of
            `hkcanto compare`; of more, it has no ends if all items are equal.
        overstated: By how much the best figure is too good on average, if the best run and the ties
            are truly equal; 0 without ties.
        left_out: Runs that are not comparable with the others, and why.
        differences: Each other compared run → the best figure minus its own.
        ahead: Each compared run → the runs that it is significantly better than.
    """

    best: Run
    picked_from: int
    ties: Mapping[Run, Estimate]
    overstated: float
    left_out: Mapping[Run, str]
    differences: Mapping[Run, float]
    ahead: Mapping[Run, frozenset[Run]]


def why_out_of_selection(run: Run) -> str:
    """Say why a run cannot be the best, whatever the others are; empty if it can."""
    if run.interruption:
        return run.interruption
    unread = unread_run(run)
    return no_verdict([unread])[0] if unread else ""


@lru_cache(maxsize=64)
def selection(runs: tuple[Run, ...], tests: int = 1) -> Selection | None:
    """Pick the best of runs side by side; None if no run can be compared.

    The items are those of most runs: a run on other items is left out, and so is one that was
    interrupted or whose answers could not be read.

    Args:
        runs: Runs of one task under one condition.
        tests: Number of tasks that share the 5 % error. All differences on this task share its part.
    """
    left_out = {run: why for run in runs if (why := why_out_of_selection(run))}
    candidates = []
    for run in runs:
        if run not in left_out and estimate(run, run.headline.name):
            candidates.append(run)
    if not candidates:
        return None

    baseline = _baseline(candidates)
    matched: dict[Run, Paired] = {}
    for run in candidates:
        try:
            matched[run] = match(baseline, run, None)
        except ComparisonError as error:
            left_out[run] = str(error)
    pairs = _on_common_items([*matched.values()])
    if not pairs:
        return None
    return _best([*matched], pairs, left_out, tests)


def _baseline(runs: Sequence[Run]) -> Run:
    """Return the first run with the items of most runs."""
    items = {run: frozenset(run.items.ids) for run in runs}
    counts = Counter(items.values())
    return max(runs, key=lambda run: (counts[items[run]], len(items[run])))


def _on_common_items(pairs: Sequence[Paired]) -> list[Paired]:
    """Restrict pairs with one baseline to the items that have a value in all of them."""
    if not pairs:
        return []
    common = reduce(np.intersect1d, [pair.positions for pair in pairs])
    if not len(common):
        return []
    return [pair.where(np.isin(pair.positions, common)) for pair in pairs]


def _best(
    runs: Sequence[Run],
    pairs: Sequence[Paired],
    left_out: Mapping[Run, str],
    tests: int,
) -> Selection:
    """Select the best run; `pairs` match each run with one baseline on the same items."""
    contributions = np.column_stack([_contributions(pair) for pair in pairs])
    null = all_pairs(contributions, confidence=shared_confidence(tests))
    figures = np.array([pair.figures()[1] for pair in pairs])
    sign = -1 if pairs[0].figure.higher_is_better is False else 1
    best = int((sign * figures).argmax())
    leads = sign * (figures[:, None] - figures)
    # Two runs are compared as in `hkcanto compare`.
    effect = pairs[1].effect(tests=tests) if len(runs) == 2 else None
    ahead = _significant(leads, null, effect)

    others = {position: run for position, run in enumerate(runs) if position != best}
    tied = [position for position in others if not ahead[best, position]]
    drawn = sign * null.figures[:, [best, *tied]]
    ties = dict[Run, Estimate]()
    for position in tied:
        change = float(figures[position] - figures[best])
        reach = null.critical * float(null.errors[best, position])
        ties[runs[position]] = _difference(change, reach, len(pairs[0].positions))
        if effect:
            ties[runs[position]] = effect.difference.times(1 if position else -1)
    return Selection(
        runs[best],
        len(runs),
        ties,
        float((drawn.max(axis=1) - drawn.mean(axis=1)).mean()),
        left_out,
        {run: float(figures[best] - figures[n]) for n, run in others.items()},
        {
            run: frozenset(runs[n] for n in np.flatnonzero(row).tolist())
            for run, row in zip(runs, ahead, strict=True)
        },
    )


def _significant(
    leads: Floats,
    null: PairwiseNull,
    effect: Effect | None,
) -> NDArray[np.bool_]:
    """Return which run is significantly better than which: runs × runs."""
    if effect is not None:
        return (leads > _ROUNDING) & effect.is_certain
    return np.asarray(leads > null.critical * null.errors + _ROUNDING, np.bool_)


def _contributions(pair: Paired) -> Floats:
    """Return each independent unit's contribution to the figure of the second run."""
    _, rows = pair.rows
    return np.asarray(pseudo_values(rows, pair.statistic) / len(rows), np.float64)


def _difference(
    change: float,
    reach: float,
    items: int,
) -> Estimate:
    if not reach:
        return Estimate(change, None, None, items)
    return Estimate(change, change - reach, change + reach, items)


_MOST_COMPARISONS = 2_000_000_000  # of a pair in a draw
_FEWEST_DRAWS = 1_000


def all_pairs(
    parts: Floats,
    *,
    confidence: float = CONFIDENCE,
    draws: int = _DRAWS,
    seed: int = SEED,
) -> PairwiseNull:
    """Compare all pairs of runs at once.

    Args:
        parts: Units × runs: each independent unit's contribution to each figure; for a mean, its
            value divided by the number of items.
        confidence: Confidence for all differences at once.
        draws: How often the units' signs are drawn; less often if there are fewer exchanges.
        seed: Seed of the draws.

    Examples:
        >>> right = np.array([[1.0, 0.0]] * 12 + [[0.0, 1.0]] * 4)  # McNemar's z is 8 / √16
        >>> null = all_pairs(right / 16)
        >>> round(0.5 / float(null.errors[0, 1]), 6)
        2.0
    """
    centered = parts - parts.mean(axis=1, keepdims=True)
    products = centered.T @ centered
    squares = np.diag(products)
    errors = np.sqrt(np.maximum(0, squares[:, None] + squares - 2 * products))
    errors[errors < _ROUNDING] = 0
    # With hundreds of runs, fewer draws: their pairs would take minutes.
    draws = min(draws, max(_FEWEST_DRAWS, _MOST_COMPARISONS // errors.size))
    usable = np.where(errors > 0, errors, np.inf)
    total = centered.sum(axis=0)
    drawn = [
        2 * (batch @ centered) - total
        for batch in exchanges(len(centered), draws, seed)
    ]
    figures = np.concatenate(drawn)
    largest = np.zeros(len(figures))
    for run in range(1, centered.shape[1]):
        moves = np.abs(figures[:, :run] - figures[:, run, None]) / usable[run, :run]
        largest = np.maximum(largest, moves.max(axis=1))
    return PairwiseNull(errors, float(np.quantile(largest, confidence)), figures)
