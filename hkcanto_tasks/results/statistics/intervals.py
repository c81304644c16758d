"""Intervals, bounds and paired tests on arrays.

Every figure is a function of sums over items: a mean is one of (value, 1), a pooled rate one of
(errors, length), BLEU one of n-gram counts. An item is a row of such counts for each model. Results
equal those of scipy, statsmodels and sacreBLEU, which take seconds to import or gigabytes of
memory.

At 30 to 500 items, bootstrap, normal and t intervals cover less often than they claim. They know
only the losses in the sample, so a gate based on them passes a worse run far too often if large
losses are rare. `performance/simulate_intervals.py` measures the coverage; the table "How often
intervals hold" in `docs/methods.md` says where the intervals of this module fall short.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...figures import Figure, sum_clusters
from ..runs import Floats, Ints

Statistic = Callable[[Floats], Floats]
"""Sums (resamples × columns) → the figure of each resample."""

Interval = tuple[float, float]
"""The lower and the upper end."""

CONFIDENCE = 0.95
WORSE_CONFIDENCE = (1 + CONFIDENCE) / 2
"""One-sided confidence that a loss is beyond a gate's tolerance."""

GateAnswer = Literal["passed", "worse", "undecided"]

NORMAL = 1.959963984540054
"""The quantile of the normal distribution for 95 %."""

_ROUNDING = 1e-12
_TINY = 1e-300
_MAX_COPIES = 1e9
_BATCH_NUMBERS = 1 << 22  # numbers held at once: 32 MB
_ADDED_UNITS = 20  # units with the overall variance, added to each stratum
_TRAPEZOID_STEP = 0.05
_NEGLIGIBLE = 1e-15


class _Units(NamedTuple):
    """The independent units (clusters of items) of a stratified mean."""

    strata: NDArray[np.intp]
    weights: Floats
    means: Floats

    sizes: NDArray[np.intp]  # units in each stratum
    stratum_weights: Floats

    def squares(self, centers: Floats | float) -> Floats:
        """Return squared deviations, scaled by the unit's weight in its stratum."""
        scales = (self.sizes / self.stratum_weights)[self.strata]
        deviations = self.weights * scales * (self.means - centers)
        return np.asarray(deviations**2, np.float64)

    def stratum_variances(self, common: float) -> Floats | float:
        """Return each stratum's variance, drawn towards the overall variance."""
        if len(self.sizes) == 1:
            return common
        sums = np.bincount(self.strata, self.weights * self.means)
        centers = sums / self.stratum_weights
        squares = np.bincount(self.strata, self.squares(centers[self.strata]))
        freedom = self.sizes - 1 + _ADDED_UNITS
        return np.asarray((squares + _ADDED_UNITS * common) / freedom, np.float64)


def _units(
    values: Floats,
    shares: Floats,
    clusters: Ints,
    strata: Ints,
) -> _Units:
    _, first, positions = np.unique(
        strata * (int(clusters.max()) + 1) + clusters,
        return_index=True,
        return_inverse=True,
    )
    strata = strata[first]
    weights = np.bincount(positions, shares).astype(np.float64)
    means = np.bincount(positions, shares * values) / weights
    stratum_weights = np.bincount(strata, weights).astype(np.float64)
    return _Units(
        strata,
        weights,
        means,
        np.bincount(strata),
        stratum_weights,
    )


def normal_quantile(confidence: float) -> float:
    """Return half the width of a normal interval, in standard deviations.

    Examples:
        >>> normal_quantile(0.95) == NORMAL
        True
    """
    from scipy.special import ndtri

    if confidence == CONFIDENCE:
        return NORMAL
    return float(ndtri((1 + confidence) / 2))


def effective_draws(
    values: Floats,
    shares: Floats,
    clusters: Ints,
    variance: float,
    strata: Ints | None = None,
    at_limit: float | None = None,
    confidence: float = CONFIDENCE,
) -> tuple[float, float]:
    """Return how many independent draws would have the variance of a weighted mean.

    Near 0 and 1, a score interval with this many draws (Wilson's for a mean, Tango's for a paired
    difference) covers although a normal one does not (Korn and Graubard, 1998, "Confidence
    intervals for proportions with small expected number of positive counts"; Franco and others,
    2019). The variance is that of a stratified mean of clusters (Cochran, 1977, section 5.3). A
    stratum of a few equal items says little about its variance, so each stratum gets 20 more units
    with the overall variance. If many values are at a limit, the few others hardly show how far
    values reach. So one more unit, times the share of values at a limit, has the variance of right
    and wrong answers, and Student's degrees of freedom are those of a variance with the units'
    kurtosis. `performance/simulate_intervals.py` measures how often the result covers.

    Returns:
        The number of draws, NaN with a single unit, which has no variance; and the quantile of the
        test statistic, 97.5 % for an interval of 95 %.

    Args:
        values: From -1 to 1; -1, 0 and 1 are limits.
        shares: The weight of each value in the mean; they add up to 1 and are equal in a stratum.
        clusters: Equal numbers mark values of a stratum that are not independent.
        variance: The variance of one draw if all values were at the limits.
        strata: Numbers from 0 up, without gaps; one stratum by default.
        at_limit: The share of values at a limit, if the values themselves do not show it.
        confidence: Confidence of the interval that they are for.

    Examples:
        >>> right = np.array([1.0, 1.0, 0.0, 0.0])
        >>> effective_draws(right, np.full(4, 0.25), np.arange(4), 0.25)[0]
        4.0
    """
    from scipy.special import stdtrit

    if strata is None:
        strata = np.zeros(len(values), np.intp)
    units = _units(
        values,
        shares,
        clusters,
        strata,
    )
    count = len(units.means)
    if at_limit is None:
        at_limit = float(np.isin(units.means, (-1, 0, 1)).mean())

    squares = units.squares(float(shares @ values))
    spread = np.bincount(units.strata, squares) @ (units.stratum_weights / units.sizes)
    freedom = count - 1 + 2 * at_limit
    common = float("nan")
    if freedom:
        common = float(count * spread + at_limit * variance) / freedom

    factors = units.stratum_weights**2 / units.sizes
    error = float((factors * units.stratum_variances(common)).sum())
    concentration = max(_ROUNDING, float(factors.sum()))
    is_exact = error <= _ROUNDING * concentration
    draws = 1 / concentration if is_exact else variance / error
    if at_limit == 1:
        return draws, normal_quantile(confidence)
    kurtosis_freedom = 2 * count * squares.mean() ** 2 / max(_TINY, squares.var())
    return draws, float(stdtrit(min(count - 1, kurtosis_freedom), (1 + confidence) / 2))


def paired_accuracy_interval(
    wins: int,
    losses: int,
    items: int,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the interval of the accuracy of B minus that of A, on independent items.

    It is Tango's score interval for a difference of paired proportions (Tango, 1998, "Equivalence
    test and confidence interval for the difference in proportions for the paired-sample design",
    equations 4 and 9; recommended by Fagerland, Lydersen and Laake, 2014), adjusted to agree with
    McNemar's exact test. B wins items that only B has right, and loses items that only A has right;
    without wins and losses the ends are ± z² / (n + z²).

    Examples:
        >>> low, high = paired_accuracy_interval(16, 6, 161)
        >>> round(low, 4), round(high, 4)
        (0.0, 0.124)
    """
    draws = items, normal_quantile(confidence)
    ends = tango_interval(wins / items, losses / items, draws)
    p_value = mcnemar_p_value(wins, losses)
    return agreeing(
        ends,
        p_value,
        wins - losses,
        confidence,
    )


def tango_interval(
    wins: float,
    losses: float,
    draws: tuple[float, float],
) -> Interval:
    """Return Tango's interval for the shares of items that B wins and loses.

    The draws are those of `effective_draws`.
    """
    count, quantile = draws
    if np.isnan(count):
        return -1.0, 1.0
    won = count * wins
    lost = count * losses
    low = -_largest_loss(
        lost,
        won,
        count,
        quantile,
    )
    return low, _largest_loss(
        won,
        lost,
        count,
        quantile,
    )


def paired_mean_interval(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    largest: float = 1.0,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the interval of a (weighted) mean of paired differences, such as of error rates.

    It is Student's t interval from the jackknife over clusters, with an added cluster that is as
    far from the mean as the farthest one. Without that, it is too short if few items differ, or
    some differ by much. (Agresti and Min, 2005, and Bonett and Price, 2012, also add observations.)
    If too few clusters differ for an exact test (fewer than six for 95 %), or all by the same, the
    ends are Gaffke's bounds
    (`loss_bound`).

    Args:
        differences: B minus A, by item.
        clusters: As in `sum_clusters`.
        weights: The weight of each item, above 0; for a corpus rate its length.
        largest: The largest possible difference: 1 for rates, 100 for scores.
        confidence: Confidence of the interval.

    Examples:
        >>> low, high = paired_mean_interval([0.0] * 100)
        >>> round(low, 4), round(high, 4)  # 1 - 0.025^(1/100)
        (-0.0362, 0.0362)
    """
    shares = np.asarray(differences, np.float64) / largest
    if weights is None:
        weights = np.ones(len(shares))
    item_weights = np.asarray(weights, np.float64)
    rows = sum_clusters(
        np.column_stack([shares * item_weights, item_weights]), clusters
    )
    sums, units = rows.T
    discordant = (np.abs(sums) > _ROUNDING * units).sum()
    level = (1 + confidence) / 2
    reach = _jackknife_reach(rows, level)
    # With fewer discordant units, no exact test can separate two runs: 2 / 2⁵ > 0.05.
    if 2 ** (1.0 - discordant) > 1 - confidence + _ROUNDING or not reach > _ROUNDING:
        means = np.clip(sums / units, -1, 1)
        low = -loss_bound(-means, units, level)
        high = loss_bound(means, units, level)
    else:
        total, weight = rows.sum(axis=0)
        mean = float(total / weight)
        low = max(-1.0, mean - reach)
        high = min(1.0, mean + reach)
    return largest * low, largest * high


def _jackknife_reach(rows: Floats, level: float) -> float:
    """Return half of Student's interval of a ratio of sums; infinite for a single unit."""
    from scipy.special import stdtrit

    sums, weights = rows.T
    total, weight = rows.sum(axis=0)
    if (weights == weight).any():
        return np.inf
    count = len(rows)
    moves = (sums - total / weight * weights) / (weight - weights)  # without each unit
    squares = moves**2
    variance = (squares.sum() + squares.max()) * (count - 1) / (count + 1)
    return float(stdtrit(count - 1, level) * variance**0.5)


def errors_of(rates: Floats, weights: Floats) -> Floats:
    """Return the number of errors of each item; with an empty reference, it is the rate itself."""
    return np.where(weights == 0, rates, rates * weights)


def agreeing(
    ends: Interval,
    p_value: float,
    difference: float,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return an interval adjusted to a test: 0 is inside unless the test rejects."""
    low, high = ends
    if p_value >= 1 - confidence - _ROUNDING:
        return min(low, 0.0), max(high, 0.0)
    if difference > 0:
        return max(low, 0.0), high
    return low, min(high, 0.0)


WIDE = "wider than necessary with one or two wrong answers, or with few passages"
"""When a 95 % interval covers in more than 95 %; docs/methods.md has the figures."""

UNSEEN = "knows of no runaway responses but those seen: up to 3 in n may be missing from n items"
"""The note of a figure that one response can change without limit (the rule of three).

Published records contain this text, and are recognised by it: keep it as it is.
"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float  # in the unit of its figure; accuracies and rates from 0 to 1
    low: float | None  # None if no interval can be computed
    high: float | None
    items: int  # the number of items behind it
    note: str = ""  # a remark for readers, such as `not all items`

    def times(self, factor: float) -> "Estimate":
        """Return the estimate in another unit, or with the other sign."""
        low = None if self.low is None else factor * self.low
        high = None if self.high is None else factor * self.high
        if factor <= 0:
            low, high = high, low
        return replace(
            self,
            value=factor * self.value,
            low=low,
            high=high,
        )


def published_estimate(
    value: float,
    items: int,
    figure: Figure,
) -> Estimate:
    """Return the estimate of a figure that is known without its items, such as a published one.

    A share or a rate has Wilson's interval, as if answers were independent and right or wrong. That
    is wide for a rate. Other figures, and shares of an unknown number of items, have no interval.

    Examples:
        >>> acc = Figure("acc", "Accuracy", "share", True, "")
        >>> estimate = published_estimate(0.625, 8, acc)
        >>> round(estimate.low, 3), round(estimate.high, 3)
        (0.306, 0.863)
    """
    if not items or value > 1 or figure.unit not in ("share", "rate"):
        return Estimate(
            value,
            None,
            None,
            items,
        )
    extra = NORMAL**2 / items
    half = (extra * (value * (1 - value) + extra / 4)) ** 0.5
    low = (value + extra / 2 - half) / (1 + extra)
    high = (value + extra / 2 + half) / (1 + extra)
    return Estimate(
        value,
        max(0.0, low),
        min(1.0, high),
        items,
    )


def is_above(first: Estimate, second: Estimate) -> bool:
    """Return whether the first of two figures is significantly above the second.

    It is if the 95 % interval of their difference is above 0 (Newcombe, 1998, "Interval estimation
    for the difference between independent proportions", method 10). That is cautious for figures on
    the same items. A figure without an interval counts as exact.

    Examples:
        >>> is_above(Estimate(0.8, 0.7, 0.9, 50), Estimate(0.6, 0.5, 0.7, 50))  # 0.2 > √0.02
        True
    """
    below = 0 if first.low is None else first.value - first.low
    above = 0 if second.high is None else second.high - second.value
    return bool(first.value - second.value > (below**2 + above**2) ** 0.5)


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """The outcome of a non-inferiority test of B against A: its answer, and the bounds of the loss.

    The bound is the largest loss of B that is plausible, in the unit of the losses; the test passes
    if it is below δ. It is negative if B is surely better. The lower bound is the smallest plausible
    loss; B is worse if it is above δ. Otherwise the test is undecided.

    `needed_items` is the number of items, with the same kind of weights and clusters, at which a run
    equal to A in every item passes:
    ln(0.05) / ln(1 - δ), rounded up, without weights and clusters. It is None if the present items
    suffice, or δ is 0.
    """

    passed: bool
    bound: float
    confidence: float  # one-sided confidence of the bound
    method: str  # how the bounds were computed
    needed_items: int | None
    answer: GateAnswer
    lower: float  # the lower bound of the loss
    lower_confidence: float  # one-sided confidence of the lower bound

    def bounded(
        self,
        bound: float,
        lower: float,
        delta: float,
    ) -> "NonInferiority":
        """Return the outcome with other bounds, and a tolerance in their unit."""
        return replace(
            self,
            passed=bound < delta,
            bound=bound,
            answer=gate_answer(bound, lower, delta),
            lower=lower,
        )


def gate_answer(
    bound: float,
    lower: float,
    delta: float,
) -> GateAnswer:
    """Return what the bounds of a loss say about a tolerance.

    Examples:
        >>> gate_answer(1.5, -0.5, 2), gate_answer(9.0, 2.1, 2), gate_answer(3.0, 1.0, 2)
        ('passed', 'worse', 'undecided')
    """
    if bound < delta:
        return "passed"
    return "worse" if lower > delta else "undecided"


def non_inferiority(
    a: ArrayLike,
    b: ArrayLike,
    *,
    delta: float,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    largest: float | None = None,
    confidence: float = CONFIDENCE,
    worse_confidence: float = WORSE_CONFIDENCE,
) -> NonInferiority:
    """Test whether B loses less than a tolerance δ against A, or more, paired by item.

    The bound is `loss_bound` of the (weighted) mean over items, and the lower bound is that of the
    gains. A run that loses δ passes in at most 5 % of cases; one that loses at most δ is called
    worse in at most 2.5 %. Their units are clusters, taken as
    independent draws from a population without a unit heavier than `largest`. Making B worse or A
    better on an item can never lower the bound.

    Args:
        a: Loss of A on each item, from 0 to 1 (1 for a wrong answer; an error rate is cut off at
            1).
        b: Loss of B on the same items.
        delta: Tolerance δ from 0 to 1, in the unit of the losses.
        clusters: As in `sum_clusters`.
        weights: Weight of each item, above 0; for a corpus rate its length. Equal by default.
        largest: Weight of the heaviest unit (cluster or item) that could have been drawn. It is
            required if units have unequal weights: a sample may lack the heavy ones, and a worse
            run would pass.
        confidence: Confidence of the bound; above 0.95 if several tests share the error of 5 %.
        worse_confidence: Confidence of the lower bound; above 0.975 if several tests share the
            error of 2.5 %.

    Raises:
        ValueError: The arguments do not fit, or units have unequal weights and `largest` is not
            given.

    Examples:
        >>> non_inferiority([0, 1, 0, 0], [0, 1, 0, 0], delta=0.02).needed_items
        149
    """
    losses_a = np.asarray(a, np.float64)
    losses_b = np.asarray(b, np.float64)
    items = len(losses_a)
    if weights is None:
        weights = np.ones(items)
    item_weights = np.asarray(weights, np.float64)
    _check_losses(
        losses_a,
        losses_b,
        item_weights,
        delta,
    )
    weighted = item_weights * (losses_b - losses_a)
    losses, units = sum_clusters(np.column_stack([weighted, item_weights]), clusters).T
    if largest is None and np.ptp(units) > _ROUNDING * units.max():
        raise ValueError(
            f"Units weigh {units.min():g} to {units.max():g}. "
            "Give `largest`: the heaviest of the population."
        )
    heaviest = max(units.max(), largest or 0.0)
    bound = loss_bound(
        losses / units,
        units,
        confidence,
        largest=heaviest,
    )
    lower = -loss_bound(
        -losses / units,
        units,
        worse_confidence,
        largest=heaviest,
    )
    copies = _passing_copies(units / heaviest, delta, confidence)
    needed = None
    if 1 < copies < _MAX_COPIES:
        needed = int(np.ceil(copies * items))
    return NonInferiority(
        passed=bound < delta,
        bound=bound,
        confidence=confidence,
        method="Gaffke's bound",
        needed_items=needed,
        answer=gate_answer(bound, lower, delta),
        lower=lower,
        lower_confidence=worse_confidence,
    )


def _check_losses(
    losses_a: NDArray[np.float64],
    losses_b: NDArray[np.float64],
    weights: NDArray[np.float64],
    delta: float,
) -> None:
    """Check that the losses of two runs fit each other, their weights and the tolerance.

    Raises:
        ValueError: They do not.
    """
    if not 0 < len(losses_a) == len(losses_b) == len(weights):
        raise ValueError("A, B and the weights must be equally many, and at least one.")
    bounded = np.concatenate([losses_a, losses_b, [delta]])
    is_bounded = (bounded >= 0) & (bounded <= 1)
    if not is_bounded.all() or not (weights > 0).all():
        raise ValueError(
            "Losses and the tolerance must be from 0 to 1, and weights above 0."
        )


def _passing_copies(
    weights: Floats,
    delta: float,
    confidence: float,
) -> float:
    """Return how many copies of units pass a gate δ if two runs are equal in every item.

    It solves P(w E > δ / (1 - δ) Σ wᵢ Eᵢ) = 1 - confidence, with exponential variables E and w the
    heaviest weight; the weights are relative to it.
    """
    odds = delta / max(1 - delta, _TINY)
    evidence = max(float(np.log1p(odds * weights).sum()), _TINY)
    return float(-np.log(1 - confidence) / evidence)


def loss_bound(
    differences: Floats,
    weights: Floats,
    confidence: float = CONFIDENCE,
    copies: Floats | None = None,
    largest: float | None = None,
) -> float:
    """Return the upper bound of a weighted mean of independent values of at most 1.

    Each value occurs once, or as often as `copies` says, which need not be an integer. `largest` is
    the weight of the heaviest value that could have been drawn, by default the heaviest here.

    The bound is from Gaffke (2005), "Three test statistics for a nonparametric one-sided hypothesis
    on the mean of a nonnegative variable". It is the quantile of the mean with one more unit that
    has the largest weight and loses everything, where units are weighted by independent exponential
    variables. For 0s and 1s it is Clopper and Pearson's bound; for n items without a difference, it
    is 1 - 0.05^(1/n) ("rule of three").

    Vlassis and Thomas (2026, arXiv:2607.08415, a preprint) prove that it holds at any size, here
    for 1 - w (d - δ) / (w_max (1 - δ)). There, w_max must be the largest weight in the population:
    the bound does not hold with the largest weight of a sample that lacks the heavy units. With
    many units it is as narrow as a normal bound. It is inadmissible: some other valid bound is
    never wider and sometimes narrower (Ming and others, 2026, arXiv:2607.18661, also a preprint).

    Examples:
        >>> round(loss_bound(np.zeros(100), np.ones(100)), 4)  # 1 - 0.05^(1/100)
        0.0295
    """
    from scipy.optimize import brentq

    distinct, positions = np.unique(differences + 1j * weights, return_inverse=True)
    heaviest = max(weights.max(), largest or 0.0)
    # The added unit is the first.
    counts = np.append(1.0, np.bincount(positions, copies))
    values = np.append(1.0, distinct.real)
    sizes = np.append(heaviest, distinct.imag)

    def excess(mean: float) -> float:
        tail = max(_tail(sizes * (values - mean), counts), _TINY)
        return float(np.log(tail / (1 - confidence)))

    start = float(np.average(values, weights=counts * sizes))
    if start >= 1 - 1e-9:
        return 1.0
    squares = counts * (sizes * (values - start)) ** 2
    width = float(squares.sum()) ** 0.5 / (counts * sizes).sum()
    while excess(min(1.0, start + width)) > 0:
        width *= 2
    return float(
        brentq(
            excess,
            start,
            min(1.0, start + width),
            xtol=1e-12,
        )
    )


def _largest_loss(
    losses: float,
    wins: float,
    items: float,
    quantile: float,
) -> float:
    """Return the largest loss of accuracy that Tango's test does not reject."""
    from scipy.optimize import brentq

    def excess(loss: float) -> float:
        """Return by how much the observed loss exceeds the lowest that `loss` allows.

        It decreases in `loss`, and is 0 at the result.
        """
        linear = (2 * items + wins - losses) * loss - losses - wins
        root = np.sqrt(max(0.0, linear**2 + 8 * items * wins * loss * (1 - loss)))
        only_b = (root - linear) / (4 * items)
        variance = max(0.0, items * (2 * only_b + loss * (1 - loss)))
        return float(losses - wins - items * loss + quantile * np.sqrt(variance))

    # At the observed loss the variance may be 0, which would look like a bound.
    start = (losses - wins) / items + _ROUNDING
    return float(brentq(excess, start, 1.0)) if start < 1 else 1.0


def _tail(terms: Floats, counts: Floats) -> float:
    """Return the probability that a sum of terms × Gamma(counts) variables is not negative.

    The moment generating function is inverted along the line through the saddle point (Helstrom,
    1983), by the trapezoid rule in the arsinh of the distance. The first term must be the largest.
    A probability above 1 / e may be returned as 1.
    """
    from scipy.optimize import brentq

    if terms[0] <= 0:
        return 0.0
    terms = terms / terms[0]

    # Sums, not @: for long vectors, @ starts threads, which takes longer than the product itself.
    def slope(point: float) -> float:
        return float((counts * terms / (1 - point * terms)).sum())

    if slope(0.0) >= 0:  # it is at least 1 / e (Grünbaum, 1960)
        return 1.0
    spread = float((counts * terms**2).sum()) ** 0.5
    saddle = max(brentq(slope, 0.0, 1 - 1e-15), 0.5 / (1 + spread))
    ratios = terms / (1 - saddle * terms)
    scale = float((counts * ratios**2).sum()) ** -0.5
    height = np.exp(-float((counts * np.log1p(-saddle * terms)).sum()))
    total = 0.5 / saddle
    steps = _TRAPEZOID_STEP * np.arange(1, 33)
    while True:
        distances = scale * np.sinh(steps)
        turns = np.outer(distances, ratios)
        decay = np.exp(-0.5 * (counts * np.log1p(turns**2)).sum(axis=1))
        sizes = decay * np.cosh(steps)
        phases = np.exp(1j * (counts * np.arctan(turns)).sum(axis=1))
        total += float((sizes * phases / (saddle + 1j * distances)).real.sum())
        if sizes[-1] < _NEGLIGIBLE:
            return min(1.0, float(height * scale * total * _TRAPEZOID_STEP / np.pi))
        steps = steps + len(steps) * _TRAPEZOID_STEP


# ---------------------------------------------------------------------- tests


def ratio(sums: Floats) -> Floats:
    """Return the first column divided by the second: a mean or a pooled rate.

    Examples:
        >>> ratio(np.array([[3.0, 4.0]]))
        array([0.75])
    """
    return np.divide(sums[:, 0], np.where(sums[:, 1] == 0, 1, sums[:, 1]))


def randomization_p_value(
    a: Floats,
    b: Floats,
    statistic: Statistic,
    *,
    resamples: int,
    seed: int,
) -> float:
    """Test whether two models differ, by exchanging their answers item by item.

    This is approximate randomisation, two-sided (Noreen, 1989; Riezler and Maxwell, 2005, section
    4.2, as in sacreBLEU); for a mean it is the paired permutation test. The observed difference
    counts as one of the draws (Phipson and Smyth, 2010); equal runs have p = 1. The test is exact
    if there are at most `resamples` exchanges.

    Args:
        a: Rows of A, one for each independent unit.
        b: Rows of B for the same units.
        statistic: The figure of sums of rows.
        resamples: The largest number of exchanges.
        seed: Seed of the exchanges.

    Examples:
        >>> wrong, right = np.array([[0.0, 1.0]] * 4), np.array([[1.0, 1.0]] * 4)
        >>> randomization_p_value(wrong, right, ratio, resamples=100, seed=0)  # 2 of 2⁴
        0.125
    """
    moves = (a - b)[(a != b).any(axis=1)]
    if not len(moves):
        return 1.0
    total_a = a.sum(axis=0, keepdims=True)
    total_b = b.sum(axis=0, keepdims=True)
    figure_a = float(statistic(total_a)[0])
    figure_b = float(statistic(total_b)[0])
    threshold = abs(figure_b - figure_a) - _ROUNDING * (abs(figure_a) + abs(figure_b))
    extreme = 0
    drawn = 0
    for exchanged in exchanges(len(moves), resamples, seed):
        moved = exchanged.astype(np.float64) @ moves
        differences = statistic(total_b + moved) - statistic(total_a - moved)
        extreme += int((np.abs(differences) >= threshold).sum())
        drawn += len(exchanged)
    if drawn == 2 ** len(moves):
        return extreme / drawn
    return (extreme + 1) / (drawn + 1)


def mcnemar_p_value(wins: int, losses: int) -> float:
    """Return the two-sided p-value of McNemar's exact test from the discordant items.

    Examples:
        >>> mcnemar_p_value(0, 6)  # 2 / 2⁶
        0.03125
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5)))


def exchanges(
    count: int,
    resamples: int,
    seed: int,
) -> Iterator[NDArray[np.bool_]]:
    """Yield batches of exchanges of the items: all exchanges if they are few, random ones otherwise."""
    if count < 63 and 2**count <= resamples:
        yield (np.arange(2**count)[:, None] >> np.arange(count)) % 2 == 1
        return
    generator = np.random.default_rng(seed)
    # In batches of a multiple of 32, random bits equal those that sacreBLEU draws all at once.
    batch = max(32, _BATCH_NUMBERS // max(count, 1) // 32 * 32)
    for start in range(0, resamples, batch):
        size = min(batch, resamples - start), count
        yield generator.integers(2, size=size, dtype=np.bool_)
