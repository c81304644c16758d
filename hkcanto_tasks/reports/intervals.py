"""Intervals and bounds: means over items and subjects, paired differences, pooled rates, gates.

At 30 to 500 items, bootstrap, normal and t intervals cover less often than they claim: they know
only the losses in the sample, and a gate by them lets a worse run pass far too often if large
losses are rare. `performance/simulate_intervals.py` measures the coverage; the table "How often
intervals hold" in `docs/reports.md` says where these here fall short, too.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .significance import Floats, mcnemar_p_value, sum_clusters

Ints = NDArray[np.int64]
CONFIDENCE = 0.95

_UPPER = (1 + CONFIDENCE) / 2
# With fewer units that differ, no exact test can tell two runs apart at 5 %: 2 / 2⁵ > 0.05.
_FEWEST = 6
_ROUNDING, _TINY = 1e-12, 1e-300
_MOST, _MOST_COPIES = 700.0, 1e9  # exp of the first is a number
_OF_ALL = 20  # units added to each stratum
_STEP, _NEGLIGIBLE = 0.05, 1e-15  # of an integral by the trapezoid rule


class Draws(NamedTuple):
    """The effective sample size: independent, equally weighted items with the same variance."""

    number: float  # NaN with a single unit, which says nothing about how units vary
    quantile: float  # of the test statistic at 97.5 %


def effective_draws(
    values: Floats,
    shares: Floats,
    clusters: Ints,
    variance: float,
    strata: Ints | None = None,
    open_shares: Floats | None = None,
) -> Draws:
    """Return how many independent draws would have the variance of a weighted mean.

    A score interval of so many draws (Wilson's of a mean, Tango's of a paired difference) covers
    where a normal one does not: near 0 and 1 (Korn and Graubard, 1998, "Confidence intervals for
    proportions with small expected number of positive counts"; Franco and others, 2019). The
    variance is that of a stratified mean of clusters (Cochran, 1977, section 5.3). Strata of a few
    items that are all alike say little about themselves: each has 20 more units of the variance of
    all. Where many values are at a limit, few others show how far values reach: one more unit
    times the share of those at a limit has the variance of right and wrong answers, and Student's
    degrees of freedom are those of a variance with the units' kurtosis.
    `performance/simulate_intervals.py` measures how often that covers.

    Args:
        values: From -1 to 1; -1, 0 and 1 are limits.
        shares: Weight of each in the mean, in sum 1; equal within a stratum.
        clusters: Equal numbers mark values of a stratum that are not independent.
        variance: Of one draw, if all values were at the limits.
        strata: Numbers from 0 up, without gaps; one stratum by default.
        open_shares: The share of each stratum that was not drawn; all of it by default.

    Examples:
        >>> right = np.array([1.0, 1.0, 0.0, 0.0])
        >>> effective_draws(right, np.full(4, 0.25), np.arange(4), 0.25).number
        4.0
    """
    from scipy.special import ndtri, stdtrit

    of_items = np.zeros(len(values), np.intp) if strata is None else strata
    _, first, places = np.unique(
        of_items * (int(clusters.max()) + 1) + clusters, return_index=True, return_inverse=True
    )
    group, weight = of_items[first], np.bincount(places, shares)
    means, mean = np.bincount(places, shares * values) / weight, float(shares @ values)
    units, whole = np.bincount(group), np.bincount(group, weight)
    scale, centers = weight * (units / whole)[group], np.bincount(group, weight * means) / whole
    limits, count = float(np.isin(means, (-1, 0, 1)).mean()), len(means)
    # Of all units together, and of each stratum.
    squares = (scale * (means - mean)) ** 2
    spread = np.bincount(group, squares) @ (whole / units)
    freedom = count - 1 + 2 * limits
    common = (count * spread + limits * variance) / freedom if freedom else np.nan
    own = np.bincount(group, (scale * (means - centers[group])) ** 2)
    each = (own + _OF_ALL * common) / (units - 1 + _OF_ALL) if len(units) > 1 else common
    factors = whole**2 / units * (1 if open_shares is None else open_shares)
    error, alike = float((factors * each).sum()), max(_ROUNDING, float(factors.sum()))
    draws = 1 / alike if error <= _ROUNDING * alike else variance / error
    if limits == 1:
        return Draws(draws, float(ndtri(_UPPER)))
    sure = 2 * count * squares.mean() ** 2 / max(_TINY, squares.var())
    return Draws(draws, float(stdtrit(min(count - 1, sure), _UPPER)))


def paired_accuracy_interval(wins: int, losses: int, items: int) -> tuple[float, float]:
    """Return the 95 % interval of the accuracy of B minus that of A, on independent items.

    Tango's score interval for a difference of paired proportions (Tango, 1998, "Equivalence test
    and confidence interval for the difference in proportions for the paired-sample design",
    equations 4 and 9; recommended by Fagerland, Lydersen and Laake, 2014), made to agree with
    McNemar's exact test. B wins what only it has right, and loses what only A has right; without
    either the ends are ± z² / (n + z²).

    Examples:
        >>> low, high = paired_accuracy_interval(16, 6, 161)
        >>> round(low, 4), round(high, 4)
        (0.0, 0.124)
    """
    from scipy.special import ndtri

    ends = tango_interval(wins / items, losses / items, Draws(items, float(ndtri(_UPPER))))
    return agreeing(ends, mcnemar_p_value(wins, losses), wins - losses)


def tango_interval(wins: float, losses: float, draws: Draws) -> tuple[float, float]:
    """Return Tango's interval for the shares of items that B wins and loses, with so many draws."""
    if np.isnan(draws.number):
        return -1.0, 1.0
    up, down = draws.number * wins, draws.number * losses
    return -_largest_loss(down, up, draws), _largest_loss(up, down, draws)


def paired_mean_interval(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    largest: float = 1.0,
) -> tuple[float, float]:
    """Return the 95 % interval of a (weighted) mean of paired differences, such as of error rates.

    Student's t from the jackknife over clusters, with one more cluster as far from the mean as the
    farthest: without it the interval is too short if few items differ, or some by much. (Agresti
    and Min, 2005, and Bonett and Price, 2012, likewise add observations.) If fewer than six
    clusters differ, or all by the same, the ends are Gaffke's bounds (`loss_bound`).

    Args:
        differences: Of B minus A, by item.
        clusters: As in `sum_clusters`.
        weights: Of each item, above 0: for a corpus rate the lengths.
        largest: The largest possible difference: 1 for rates, 100 for scores.

    Examples:
        >>> low, high = paired_mean_interval([0.0] * 100)
        >>> round(low, 4), round(high, 4)  # 1 - 0.025^(1/100)
        (-0.0362, 0.0362)
    """
    shares = np.asarray(differences, np.float64) / largest
    of_items = np.ones(len(shares)) if weights is None else np.asarray(weights, np.float64)
    rows = sum_clusters(np.column_stack([shares * of_items, of_items]), clusters)
    mean, reach = _jackknife(rows)
    sums, units = rows.T
    if (np.abs(sums) > _ROUNDING * units).sum() < _FEWEST or not reach > _ROUNDING:
        means = np.clip(sums / units, -1, 1)
        low, high = (sign * loss_bound(sign * means, units, _UPPER) for sign in (-1, 1))
    else:
        low, high = max(-1.0, mean - reach), min(1.0, mean + reach)
    return largest * low, largest * high


def ratio_interval(
    numerators: ArrayLike, denominators: ArrayLike, clusters: ArrayLike | None = None
) -> tuple[float, float]:
    """Return the 95 % interval of a pooled rate: all errors over all lengths.

    As `paired_mean_interval`, with the jackknife of a ratio (Cochran, 1977, section 6) and on the
    logarithm of the rate, whose distribution is less skewed. Its upper end is at most 1, or the
    highest rate of an item. Without errors it goes from 0 to the upper end for a single error in
    the longest item; without lengths it raises a `ValueError`.

    Examples:
        >>> low, high = ratio_interval([1, 0, 1, 0], [10, 10, 10, 10])
        >>> round(low, 3), round(high, 3)  # 0.05 times exp(± 3.182 √(1 / 3))
        (0.008, 0.314)
    """
    errors, lengths = (np.asarray(side, np.float64) for side in (numerators, denominators))
    if not lengths.any():
        raise ValueError("All lengths are 0.")
    most = max(1.0, float((errors[lengths > 0] / lengths[lengths > 0]).max()))
    if not errors.any():
        items = np.arange(len(errors)) if clusters is None else np.asarray(clusters)
        return 0.0, ratio_interval(items == items[lengths.argmax()], lengths, clusters)[1]
    rate, reach = _jackknife(sum_clusters(np.column_stack([errors, lengths]), clusters))
    factor = float(np.exp(min(reach / rate, _MOST)))
    return rate / factor, min(most, rate * factor)


def errors_of(rates: Floats, weights: Floats) -> Floats:
    """Return the errors behind each item's rate; over an empty reference a rate is its errors."""
    return np.where(weights == 0, rates, rates * weights)


def agreeing(ends: tuple[float, float], p_value: float, difference: float) -> tuple[float, float]:
    """Return an interval made to agree with a test: 0 is inside unless the test rejects at 5 %."""
    low, high = ends
    if p_value >= 0.05:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, 0.0), high) if difference > 0 else (low, min(high, 0.0))


WIDE = "wider than necessary with one or two wrong answers, or with few passages"
"""When a 95 % interval covers more often than that: docs/reports.md has the figures."""

UNSEEN = "knows of no runaway responses but those seen: up to 3 in n may be missing from n items"
"""The note of a figure that one response can move without limit (the rule of three).

Published records hold it: with other words, theirs would no longer be recognised.
"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float  # in the unit of its figure; an accuracy or a rate from 0 to 1
    low: float | None  # None where no interval can be computed
    high: float | None
    items: int  # how many it is computed from
    note: str = ""  # a remark for readers, such as `not all items`


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """The outcome of a test that B is not inferior to A: whether it passed, and by which bound.

    The bound is the most that B may lose, in the unit of the losses; the test passes if it is below
    δ. It is negative if B is surely better. `needed_items` is how many items of such weights and
    clusters a run needs to pass if it equals A in every item, ln(0.05) / ln(1 - δ) rounded up
    without weights and clusters; None if the items at hand suffice, or δ is 0.
    """

    passed: bool
    bound: float
    confidence: float  # of the bound, one-sided
    method: str  # how the bound was found
    needed_items: int | None


def non_inferiority(
    a: ArrayLike,
    b: ArrayLike,
    *,
    delta: float,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    largest: float | None = None,
    confidence: float = CONFIDENCE,
) -> NonInferiority:
    """Test that B loses less than a tolerance δ against A, paired by item, at 5 %.

    The bound is `loss_bound` of the (weighted) mean over items, with clusters as units: independent
    draws from a population with no unit heavier than `largest`. No item on which B does worse, or A
    better, can lower the bound.

    Args:
        a: Loss of A on each item, from 0 to 1 (wrong: 1; an error rate, cut off at 1).
        b: Loss of B on the same items.
        delta: Tolerance δ from 0 to 1, in the unit of the losses.
        clusters: As in `sum_clusters`.
        weights: Weight of each item, above 0; for a corpus rate the lengths. Equal by default.
        largest: Weight of the heaviest unit (cluster or item) that could have been drawn. Units of
            unequal weight need it: a sample may lack the heavy ones, and a worse run then passes.
        confidence: Of the bound; above 0.95 if several tests share the error of 5 %.

    Raises:
        ValueError: The arguments do not fit, or units have unequal weights and `largest` is not
            given.

    Examples:
        >>> non_inferiority([0, 1, 0, 0], [0, 1, 0, 0], delta=0.02).needed_items
        149
    """
    before, after = (np.asarray(side, np.float64) for side in (a, b))
    units = np.ones(len(before)) if weights is None else np.asarray(weights, np.float64)
    if not 0 < len(before) == len(after) == len(units):
        raise ValueError("A, B and the weights must be equally many, and at least one.")
    bounded = np.concatenate([before, after, [delta]])
    if not ((bounded >= 0) & (bounded <= 1)).all() or not (units > 0).all():
        raise ValueError("Losses and the tolerance must be from 0 to 1, and weights above 0.")
    losses, units = sum_clusters(np.column_stack([units * (after - before), units]), clusters).T
    if largest is None and np.ptp(units) > _ROUNDING * units.max():
        raise ValueError(
            f"Units weigh from {units.min():g} to {units.max():g}: largest must be given, the "
            "weight of the heaviest unit of the whole population and not of this sample alone."
        )
    heaviest = max(units.max(), largest or 0.0)
    bound = loss_bound(losses / units, units, confidence, largest=heaviest)
    # For equal runs: P(w E > δ / (1 - δ) Σ wᵢ Eᵢ), with E exponential variables, w the heaviest.
    odds = delta / max(1 - delta, _TINY)
    evidence = float(np.log1p(odds * units / heaviest).sum())
    copies = -np.log(1 - confidence) / max(evidence, _TINY)
    needed = int(np.ceil(copies * len(before))) if 1 < copies < _MOST_COPIES else None
    return NonInferiority(bound < delta, bound, confidence, "Gaffke's bound", needed)


def loss_bound(
    differences: Floats,
    weights: Floats,
    confidence: float = CONFIDENCE,
    copies: Floats | None = None,
    largest: float | None = None,
) -> float:
    """Return the upper bound of a weighted mean of independent values that are 1 at most.

    Each value occurs once, or as often as `copies` say, which need not be whole numbers. The
    heaviest that could have been drawn weighs `largest`, by default as much as the heaviest here.

    Gaffke (2005), "Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable": the quantile of the mean with one more unit, of the largest weight, that
    loses everything, and units weighted by independent exponential variables. For 0s and 1s it is
    Clopper and Pearson's bound; for n items without a difference, 1 - 0.05^(1/n) ("rule of three").

    Vlassis and Thomas (2026, arXiv:2607.08415, a preprint) prove that it holds at any size, here of
    1 - w (d - δ) / (w_max (1 - δ)), where w_max must be the largest weight of the population: with
    the largest weight of a sample that lacks the heavy units it does not hold. With many units it
    is as narrow as a normal bound, and yet inadmissible: some valid bound is never wider and
    sometimes narrower (Ming and others, 2026, arXiv:2607.18661, a preprint too).

    Examples:
        >>> round(loss_bound(np.zeros(100), np.ones(100)), 4)  # 1 - 0.05^(1/100)
        0.0295
    """
    from scipy.optimize import brentq

    kinds, places = np.unique(differences + 1j * weights, return_inverse=True)
    counts = np.append(1.0, np.bincount(places, copies))  # the added unit is the first
    heaviest = max(weights.max(), largest or 0.0)
    values, sizes = np.append(1.0, kinds.real), np.append(heaviest, kinds.imag)

    def excess(mean: float) -> float:
        p_value = _tail(sizes * (values - mean), counts)
        return float(np.log(max(p_value, _TINY) / (1 - confidence)))

    start = float(np.average(values, weights=counts * sizes))
    if start >= 1 - 1e-9:
        return 1.0
    width = float((counts * (sizes * (values - start)) ** 2).sum()) ** 0.5 / (counts * sizes).sum()
    while excess(min(1.0, start + width)) > 0:
        width *= 2
    return float(brentq(excess, start, min(1.0, start + width), xtol=1e-12))


def _largest_loss(losses: float, wins: float, draws: Draws) -> float:
    """Return the largest loss of accuracy that Tango's test does not reject."""
    from scipy.optimize import brentq

    items = draws.number

    def excess(loss: float) -> float:
        """How far the observed loss is above the lowest that `loss` allows: falling, 0 at it."""
        linear = (2 * items + wins - losses) * loss - losses - wins
        root = np.sqrt(max(0.0, linear**2 + 8 * items * wins * loss * (1 - loss)))
        only_b = (root - linear) / (4 * items)
        variance = max(0.0, items * (2 * only_b + loss * (1 - loss)))
        return float(losses - wins - items * loss + draws.quantile * np.sqrt(variance))

    # At the observed loss itself the variance may be 0, which would look like a bound.
    start = (losses - wins) / items + _ROUNDING
    return float(brentq(excess, start, 1.0)) if start < 1 else 1.0


def _jackknife(rows: Floats) -> tuple[float, float]:
    """Return the ratio of the sums of two columns, and the half-width of its 95 % interval.

    The interval counts one more unit; its half-width is infinite with a single unit.
    """
    from scipy.special import stdtrit

    (total, size), count = rows.sum(axis=0), len(rows)
    ratio = float(total / size)
    if (rows[:, 1] == size).any():
        return ratio, np.inf
    moves = (rows[:, 0] - ratio * rows[:, 1]) / (size - rows[:, 1])  # by leaving each unit out
    variance = ((moves**2).sum() + (moves**2).max()) * (count - 1) / (count + 1)
    return ratio, float(stdtrit(count - 1, _UPPER) * variance**0.5)


def _tail(terms: Floats, counts: Floats) -> float:
    """Return the probability that a sum of terms × Gamma(counts) variables is not negative.

    Its generating function is inverted along the line through the saddle point (Helstrom, 1983), by
    the trapezoid rule in the arsinh of the distance. The first term must be the largest. A
    probability above 1 / e may be returned as 1.
    """
    from scipy.optimize import brentq

    if terms[0] <= 0:
        return 0.0
    terms = terms / terms[0]

    # Sums, not @: for long vectors @ starts threads, which takes longer than the product itself.
    def slope(at: float) -> float:
        return float((counts * terms / (1 - at * terms)).sum())

    if slope(0.0) >= 0:  # it is at least 1 / e (Grünbaum, 1960)
        return 1.0
    spread = float((counts * terms**2).sum()) ** 0.5
    saddle = max(brentq(slope, 0.0, 1 - 1e-15), 0.5 / (1 + spread))
    ratios = terms / (1 - saddle * terms)
    scale = float((counts * ratios**2).sum()) ** -0.5
    height = np.exp(-float((counts * np.log1p(-saddle * terms)).sum()))
    total, places = 0.5 / saddle, _STEP * np.arange(1, 33)
    while True:
        distances = scale * np.sinh(places)
        turns = np.outer(distances, ratios)
        sizes = np.exp(-0.5 * (counts * np.log1p(turns**2)).sum(axis=1)) * np.cosh(places)
        turned = np.exp(1j * (counts * np.arctan(turns)).sum(axis=1))
        total += float((sizes * turned / (saddle + 1j * distances)).real.sum())
        if sizes[-1] < _NEGLIGIBLE:
            return min(1.0, float(height * scale * total * _STEP / np.pi))
        places = places + len(places) * _STEP
