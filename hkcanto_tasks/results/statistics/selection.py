"""Pick the best of several runs; report ties and the winner's bias.

Among 20 equal runs, the best almost always beats another one at 5 %, and its figure is too good
because the run was picked by that figure. So all pairs are compared at once. As in a paired
permutation test, an item's sign is drawn for all runs together, which keeps the correlation between
runs (max-t: Westfall and Young, 1993; all pairs: Hothorn, Bretz and Westfall, 2008, "Simultaneous
Inference in General Parametric Models"). `performance/simulate_best.py` measures how often it errs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from itertools import compress
from math import ceil, comb
from typing import NamedTuple

import numpy as np

from ...errors import ComparisonError
from ...figures import pseudo_values
from ..runs import Floats, Run
from .estimates import estimate
from .intervals import CONFIDENCE, Estimate, agreeing, exchanges
from .matching import (
    SEED,
    Effect,
    Paired,
    Resampling,
    match,
    shared_confidence,
)
from .validity import no_verdict, unread_run

_DRAWS = 4_000
_ROUNDING = 1e-12


class PairwiseNull(NamedTuple):
    """The null distribution of all pairwise differences of several figures."""

    errors: Floats  # runs × runs: standard errors of the differences; 0 if all items are equal
    largest: (
        Floats  # draws: the largest difference of a pair, in standard errors; sorted
    )
    critical: float  # a larger difference than this is significant, in standard errors
    figures: Floats  # draws × runs: the figures minus their mean, if all runs are truly equal

    def p_value(self, distance: float) -> float:
        """Return how often the largest difference is at least so many standard errors."""
        below = np.searchsorted(self.largest, distance - _ROUNDING)
        return 1 - float(below) / len(self.largest)


@dataclass(frozen=True, eq=False)
class Selection:
    """The best of several runs by a figure, on the items that all of them have.

    Attributes:
        items: Each compared run, matched with one baseline; the second side is the run.
        left_out: Runs that are not comparable with the others, and why.
        tests: Number of tasks that share the 5 % error.
    """

    items: Mapping[Run, Paired]
    left_out: Mapping[Run, str]
    tests: int

    @cached_property
    def figures(self) -> Mapping[Run, float]:
        """The figure of each compared run."""
        return {run: pair.figures()[1] for run, pair in self.items.items()}

    @cached_property
    def best(self) -> Run:
        """The run with the best figure."""
        return max(self.items, key=lambda run: self._sign * self.figures[run])

    @property
    def picked_from(self) -> int:
        """The number of runs that the best was picked from."""
        return len(self.items)

    @cached_property
    def differences(self) -> Mapping[Run, float]:
        """Each other compared run → the best figure minus its own."""
        best = self.figures[self.best]
        others = (run for run in self.items if run is not self.best)
        return {run: best - self.figures[run] for run in others}

    @cached_property
    def ties(self) -> Mapping[Run, Estimate]:
        """Runs not significantly different from the best, with their difference to it.

        The intervals hold for the differences of all runs at once. Of two runs, it is that of
        `hkcanto compare`; of more, it has no ends if all items are equal.
        """
        tied = (run for run in self.differences if run not in self.ahead[self.best])
        return {run: self._difference(self.best, run) for run in tied}

    @cached_property
    def overstated(self) -> float:
        """By how much the best figure is too good on average, if it and the ties are truly equal."""
        runs = [*self.items]
        tied = [runs.index(run) for run in (self.best, *self.ties)]
        drawn = self._sign * self._null.figures[:, tied]
        return float((drawn.max(axis=1) - drawn.mean(axis=1)).mean())

    @cached_property
    def ahead(self) -> Mapping[Run, frozenset[Run]]:
        """Each compared run → the runs that it is significantly better than."""
        runs = [*self.items]
        figures = np.array([*self.figures.values()])
        leads = self._sign * (figures[:, None] - figures)
        if len(runs) == 2:
            first, second = runs
            is_ahead = (leads > _ROUNDING) & self.effect(first, second).is_certain
        else:
            is_ahead = leads > self._null.critical * self._null.errors + _ROUNDING
        rows = zip(runs, is_ahead, strict=True)
        return {run: frozenset(compress(runs, row)) for run, row in rows}

    def effect(
        self,
        a: Run,
        b: Run,
        resampling: Resampling | None = None,
    ) -> Effect:
        """Return how run B differs from run A, with an interval that holds for all pairs at once."""
        first = self.items[a]
        second = self.items[b]
        pair = replace(
            second,
            a=first.b,
            losses=np.column_stack([first.losses[:, 1], second.losses[:, 1]]),
            resampling=resampling or second.resampling,
        )
        if len(self.items) == 2 or not self._error(a, b):
            # The interval of equal runs is that of so many items, for each pair (Bonferroni).
            return pair.effect(tests=self.tests * comb(len(self.items), 2))
        return replace(
            pair.effect(),
            difference=self._difference(a, b),
            p_adjusted=self._p_value(a, b),
            confidence=shared_confidence(self.tests),
        )

    def _difference(
        self,
        a: Run,
        b: Run,
    ) -> Estimate:
        """Return the figure of run B minus that of run A."""
        if len(self.items) == 2:
            return self.effect(a, b).difference
        change = self.figures[b] - self.figures[a]
        reach = self._null.critical * self._error(a, b)
        items = len(self.items[a].positions)
        if not reach:
            return Estimate(
                change,
                None,
                None,
                items,
            )
        ends = (change - reach, change + reach)
        return Estimate(change, *agreeing(ends, self._p_value(a, b), change), items)

    def _p_value(
        self,
        a: Run,
        b: Run,
    ) -> float:
        """Return the p-value of a difference, for all pairs and tasks at once."""
        distance = abs(self.figures[b] - self.figures[a]) / self._error(a, b)
        return min(1.0, self.tests * self._null.p_value(distance))

    def _error(
        self,
        a: Run,
        b: Run,
    ) -> float:
        runs = [*self.items]
        return float(self._null.errors[runs.index(a), runs.index(b)])

    @property
    def _sign(self) -> int:
        figure = self.items[next(iter(self.items))].figure
        return -1 if figure.higher_is_better is False else 1

    @cached_property
    def _null(self) -> PairwiseNull:
        parts = [_contributions(pair) for pair in self.items.values()]
        return all_pairs(
            np.column_stack(parts), confidence=shared_confidence(self.tests)
        )


def why_out_of_selection(run: Run) -> str:
    """Say why a run cannot be the best, whatever the others are; empty if it can."""
    if run.interruption:
        return run.interruption
    unread = unread_run(run)
    return no_verdict([unread])[0] if unread else ""


@lru_cache(maxsize=64)
def selection(
    runs: tuple[Run, ...],
    tests: int = 1,
    metric: str | None = None,
) -> Selection | None:
    """Pick the best of runs side by side; None if no run can be compared.

    The items are those of most runs: a run on other items is left out, and so is one that was
    interrupted or whose answers could not be read.

    Args:
        runs: Runs of one task under one condition.
        tests: Number of tasks that share the 5 % error. All differences on this task share its part.
        metric: A figure of the task; by default its headline.
    """
    left_out = {run: why for run in runs if (why := why_out_of_selection(run))}
    candidates = []
    for run in runs:
        if run not in left_out and estimate(run, metric or run.headline.name):
            candidates.append(run)
    if not candidates:
        return None

    baseline = _baseline(candidates)
    matched: dict[Run, Paired] = {}
    for run in candidates:
        try:
            matched[run] = match(baseline, run, metric)
        except ComparisonError as error:
            left_out[run] = str(error)
    items = _on_common_items(matched)
    return Selection(items, left_out, tests) if items else None


def _baseline(runs: Sequence[Run]) -> Run:
    """Return the first run with the items of most runs."""
    items = {run: frozenset(run.items.ids) for run in runs}
    counts = Counter(items.values())
    return max(runs, key=lambda run: (counts[items[run]], len(items[run])))


def _on_common_items(matched: Mapping[Run, Paired]) -> dict[Run, Paired]:
    """Restrict runs matched with one baseline to the items that have a value in all of them."""
    if not matched:
        return {}
    common = reduce(np.intersect1d, [pair.positions for pair in matched.values()])
    if not len(common):
        return {}
    return {
        run: pair.where(np.isin(pair.positions, common))
        for run, pair in matched.items()
    }


def _contributions(pair: Paired) -> Floats:
    """Return each independent unit's contribution to the figure of the second run."""
    _, rows = pair.rows
    return np.asarray(pseudo_values(rows, pair.statistic) / len(rows), np.float64)


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
    largest.sort()
    # As many draws may be larger as are less than the error.
    rejecting = ceil((1 - confidence) * len(largest) - _ROUNDING) - 1
    return PairwiseNull(
        errors,
        largest,
        float(largest[-1 - rejecting]),
        figures,
    )
