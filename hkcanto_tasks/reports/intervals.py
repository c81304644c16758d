"""Intervals that cover as often as they say, of paired differences and of pooled rates.

At 30 to 500 items the usual ones do not: percentile bootstraps and normal intervals know only the
spread that they saw. `performance/simulate_intervals.py` shows how often each covers.
"""

import numpy as np
from numpy.typing import ArrayLike

from .gates import loss_bound
from .significance import CONFIDENCE, Floats, mcnemar_p_value, sum_clusters

# With fewer units that differ, no exact test can tell two runs apart at 5 %: 2 / 2⁵ > 0.05.
_FEWEST = 6
_ROUNDING = 1e-12
_MOST = 700.0  # exp of it is a number


def paired_accuracy_interval(
    wins: int, losses: int, items: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the interval of the accuracy of B minus that of A, on independent items.

    Tango's score interval for a difference of paired proportions (Tango, 1998, "Equivalence test
    and confidence interval for the difference in proportions for the paired-sample design",
    equations 4 and 9; recommended by Fagerland, Lydersen and Laake, 2014). It reaches to 0 where
    McNemar's exact test does not reject, so that the two never contradict each other.

    Args:
        wins: Items that only B has right.
        losses: Items that only A has right.
        items: All items, from 1 up.
        confidence: How often it is to cover, between 0 and 1.

    Returns:
        Its ends, from -1 to 1. With no discordant item they are ± z² / (n + z²).

    Example:
        >>> low, high = paired_accuracy_interval(16, 6, 161)
        >>> round(low, 4), round(high, 4)
        (0.0, 0.124)
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    low, high = -_largest_loss(losses, wins, items, z), _largest_loss(wins, losses, items, z)
    return _agreeing(low, high, mcnemar_p_value(wins, losses), wins - losses, confidence)


def paired_mean_interval(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    largest: float = 1.0,
    p_value: float | None = None,
) -> tuple[float, float]:
    """Return the 95 % interval of a (weighted) mean of paired differences, such as of error rates.

    Student's t from the jackknife over clusters, as if there were one more cluster, as far from the
    mean as the farthest of these: without it the interval is too short where few items differ or
    some differ by much. (Agresti and Min, 2005, and Bonett and Price, 2012, likewise add
    observations that speak against the result.)

    Where fewer than six clusters differ, or all by the same, their spread says nothing, and the
    ends are Gaffke's bounds (`gates.loss_bound`), which hold for any differences up to `largest`:
    of n equal runs ± (1 - 0.025^(1/n)).

    Args:
        differences: Of B minus A, by item.
        clusters: Equal numbers mark items that are not independent.
        weights: Weight of each item, above 0: for a rate of a corpus the lengths.
        largest: The largest difference there can be: 1 for rates, 100 for scores.
        p_value: Of the test that is reported beside it: 0 is in the interval if it is above 5 %,
            and else at an end at most.

    Example:
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
        means, one_sided = np.clip(sums / units, -1, 1), (1 + CONFIDENCE) / 2
        low, high = (sign * loss_bound(sign * means, units, one_sided) for sign in (-1, 1))
    else:
        low, high = max(-1.0, mean - reach), min(1.0, mean + reach)
    if p_value is not None:
        low, high = _agreeing(low, high, p_value, mean, CONFIDENCE)
    return largest * low, largest * high


def ratio_interval(
    numerators: ArrayLike, denominators: ArrayLike, clusters: ArrayLike | None = None
) -> tuple[float, float]:
    """Return the 95 % interval of a pooled rate: all errors over all lengths.

    As `paired_mean_interval`, with the jackknife of a ratio (Cochran, 1977, section 6) and on the
    logarithm of the rate, whose distribution is less skewed.

    Args:
        numerators: Number of errors of each item, from 0 up.
        denominators: Length of each item, from 0 up; not all 0.
        clusters: Equal numbers mark items that are not independent.

    Returns:
        Its ends, from 0 to 1, or to the highest rate of an item if that is above 1. Without errors
        it goes from 0 to where that of a single one in the longest item would end.

    Raises:
        ValueError: All lengths are 0.

    Example:
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


def _largest_loss(losses: int, wins: int, items: int, z: float) -> float:
    """Return the largest loss of accuracy that Tango's test does not reject."""
    from scipy.optimize import brentq

    def excess(loss: float) -> float:
        """How far the observed loss is above the lowest that `loss` allows: falling, 0 at it."""
        linear = (2 * items + wins - losses) * loss - losses - wins
        root = np.sqrt(max(0.0, linear**2 + 8 * items * wins * loss * (1 - loss)))
        only_b = (root - linear) / (4 * items)
        variance = max(0.0, items * (2 * only_b + loss * (1 - loss)))
        return float(losses - wins - items * loss + z * np.sqrt(variance))

    # At the observed loss itself the variance may be 0, which would look like a bound.
    start = (losses - wins) / items + _ROUNDING
    return float(brentq(excess, start, 1.0)) if start < 1 else 1.0


def _agreeing(
    low: float, high: float, p_value: float, difference: float, confidence: float
) -> tuple[float, float]:
    """Return the interval with 0 in it if the test does not reject, else at its end at most."""
    if p_value > 1 - confidence:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, 0.0), high) if difference > 0 else (low, min(high, 0.0))


def _jackknife(rows: Floats) -> tuple[float, float]:
    """Return the ratio of the sums of two columns, and how far its 95 % interval reaches.

    One more unit is counted in it; it is infinite if there is but one unit.
    """
    from scipy.special import stdtrit

    (total, size), count = rows.sum(axis=0), len(rows)
    ratio = float(total / size)
    if (rows[:, 1] == size).any():
        return ratio, np.inf
    moves = (rows[:, 0] - ratio * rows[:, 1]) / (size - rows[:, 1])  # by leaving each unit out
    variance = ((moves**2).sum() + (moves**2).max()) * (count - 1) / (count + 1)
    return ratio, float(stdtrit(count - 1, (1 + CONFIDENCE) / 2) * variance**0.5)
