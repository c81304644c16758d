"""Power analysis of paired items: the smallest detectable difference, and the items a gate needs.

Power is 80 %. As in `hkcanto compare`, a difference is tested at 5 %, two-sided, and a gate at 5 %,
one-sided. Each item gives one difference between two runs, and only the spread of the differences
matters. For right and wrong answers, their variance is the discordance: the share of items on which
exactly one of the two runs is right. (The squared mean is not subtracted: this is the variance if
there is no difference, which is conservative.)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import norm

from ...figures import sum_clusters
from ..runs import Floats
from .estimates import mean_estimate
from .intervals import CONFIDENCE, Estimate, loss_bound
from .matching import Paired

_POWER_QUANTILE = float(norm.ppf(0.80))
_TEST_QUANTILE = float(norm.ppf((1 + CONFIDENCE) / 2)) + _POWER_QUANTILE
_MAX_TILT = 300.0  # the square of exp(_MAX_TILT) does not overflow
_MIN_VALUE = 1e-3
_MAX_EXPONENT = 40.0  # of a number of items, 2e17


@dataclass(frozen=True, eq=False)
class Spread:
    """The spread of the differences between two runs if neither is better.

    Differences are from -1 to 1; 1 is 100 points.
    """

    deviation: Estimate  # standard deviation of the difference on one item
    discordance: Estimate | None  # for right and wrong answers; otherwise None
    values: Floats  # differences of independent units, each with its negative
    weights: Floats  # their weights in a mean
    copies: Floats  # how many of each there are per item


def spread_of_discordance(share: Estimate) -> Spread:
    """Return the spread of right and wrong answers with a given discordance (0 to 1).

    Examples:
        >>> spread_of_discordance(Estimate(0.25, None, None, 0)).deviation.value
        0.5
    """
    return Spread(
        deviation=applied(math.sqrt, share),
        discordance=share,
        values=np.array([-1.0, 0.0, 1.0]),
        weights=np.ones(3),
        copies=np.array([share.value / 2, 1 - share.value, share.value / 2]),
    )


def spread_of_deviation(deviation: float) -> Spread:
    """Return a normal spread with a standard deviation (0 to 1), clipped to -1 and 1."""
    quantiles = norm.ppf((np.arange(99) + 0.5) / 99)
    values = np.clip(deviation * quantiles, -1, 1)
    ones = np.ones(len(values))
    estimate = Estimate(
        deviation,
        None,
        None,
        0,
    )
    return Spread(
        estimate,
        None,
        values,
        ones,
        ones / len(values),
    )


def spread_of_losses(
    losses: Floats,
    weights: Floats,
    clusters: ArrayLike,
    questions: int,
) -> Spread:
    """Return the spread of observed differences.

    The standard deviation is that of a weighted mean of independent clusters, expressed per item:
    it includes the design effect of passages and the gain from epochs.

    Args:
        losses: The loss of B against A on each item and epoch, from -1 to 1.
        weights: The weight of each loss, above 0.
        clusters: The cluster of each loss; losses in one cluster are not independent.
        questions: The number of items, each counted once for all its epochs.

    Examples:
        >>> spread = spread_of_losses(np.array([0.5, -0.5]), np.ones(2), [0, 1], 2)
        >>> round(spread.deviation.value, 4)  # √(2 (0.5² + 0.5²) / (2 - 1) / 2)
        0.7071
    """
    rows = np.column_stack([weights * losses, weights])
    sums, units = sum_clusters(rows, clusters).T
    total = units.sum()
    count = len(units)
    residuals = sums - units * (sums.sum() / total)
    squares = residuals**2 * questions * (count / total) ** 2 / max(1, count - 1)
    values = np.clip(residuals / units, -1, 1)
    return Spread(
        deviation=applied(math.sqrt, mean_estimate(squares, np.arange(count))),
        discordance=None,
        values=np.concatenate([values, -values]),
        weights=np.tile(units, 2),
        copies=np.full(2 * count, 0.5 / questions),
    )


def observed_spread(paired: Paired) -> Spread:
    """Return the spread of the differences that two runs have on their common items."""
    losses_a, losses_b = np.clip(paired.losses, 0, 1).T
    losses = losses_b - losses_a
    discordance = None
    plain = replace(paired, figure=replace(paired.figure, over="questions"))
    if plain.is_right_or_wrong:
        discordance = mean_estimate(abs(losses), paired.clusters)
    if discordance and paired.is_right_or_wrong:
        return spread_of_discordance(discordance)
    spread = spread_of_losses(
        losses,
        paired.sizes,
        paired.clusters,
        paired.questions,
    )
    return replace(spread, discordance=discordance)


def weighted(
    spread: Spread,
    weights: ArrayLike,
    shares: ArrayLike,
) -> Spread:
    """Return the spread of differences in a mean over items with unequal weights.

    Args:
        spread: The spread with equal weights.
        weights: The weight of an item of each subject, relative to the mean weight.
        shares: The share of the items in each subject; they add up to 1.

    Examples:
        >>> two = weighted(spread_of_discordance(Estimate(0.25, None, None, 0)), [0.5, 3], [0.8, 0.2])
        >>> two.deviation.value  # 0.5 times √(0.8 · 0.25 + 0.2 · 9)
        0.7071067811865476
    """
    sizes = np.asarray(weights, np.float64)
    parts = np.asarray(shares, np.float64)
    factor = math.sqrt(float(parts @ sizes**2))
    return Spread(
        deviation=spread.deviation.times(factor),
        discordance=spread.discordance,
        values=np.tile(spread.values, len(sizes)),
        weights=np.outer(sizes, spread.weights).ravel(),
        copies=np.outer(parts, spread.copies).ravel(),
    )


def applied(function: Callable[[float], float], figure: Estimate) -> Estimate:
    """Apply an increasing function to a figure and to the ends of its interval.

    Examples:
        >>> applied(math.sqrt, Estimate(0.25, 0.16, 0.36, 9)).high
        0.6
    """
    low = None if figure.low is None else function(figure.low)
    high = None if figure.high is None else function(figure.high)
    return Estimate(
        function(figure.value),
        low,
        high,
        figure.items,
    )


def smallest_difference(deviation: float, items: int) -> float:
    """Return the smallest difference (0 to 1) that this many paired items show in 80 of 100 cases.

    It is (z₀.₉₇₅ + z₀.₈) σ / √n: Miller 2024, "Adding Error Bars to Evals", section 5, with one
    answer to each item. For right and wrong answers, σ² is the discordance, and the formula is that
    of Connor 1987, "Sample size for testing differences in proportions for the paired-sample
    design", and Lachin 1992, without the squared difference.

    Examples:
        >>> round(smallest_difference(0.293**0.5, 250), 3)
        0.096
    """
    return _TEST_QUANTILE * deviation / math.sqrt(items)


def items_to_show(deviation: float, difference: float) -> int:
    """Return how many paired items show a difference in 80 of 100 cases.

    Examples:
        >>> items_to_show(1 / 3, 0.03)
        969
    """
    return math.ceil((_TEST_QUANTILE * deviation / difference) ** 2)


def items_for_bound(
    spread: Spread,
    delta: float,
    loss: float = 0.0,
    confidence: float = CONFIDENCE,
) -> int | None:
    """Return how many items pass the gate δ of `hkcanto compare` in 80 of 100 cases.

    None if the gate cannot be passed with any number of items: δ is at most the loss, or each
    loss in the spread is too small.

    Args:
        spread: The spread of the differences if neither run is better.
        delta: The tolerance, from 0 to 1.
        loss: The true loss of the second run.
        confidence: The confidence of the bound.

    Examples:
        >>> equal = spread_of_discordance(Estimate(0.0, None, None, 0))
        >>> items_for_bound(equal, 0.02)  # ln 0.05 / ln 0.98
        149
    """
    worst = float(spread.values[spread.copies > 0].max())
    if delta <= loss or abs(loss) > worst or loss == worst > 0:
        return None

    def excess(exponent: float) -> float:
        """Return how far the bound of an unlucky run is above δ."""
        items = math.exp(exponent)
        return (
            unlucky_bound(
                spread,
                items,
                loss,
                confidence,
                delta,
            )
            - delta
        )

    high = math.log(2)
    while excess(high) > 0:
        high += math.log(2)
        if high > _MAX_EXPONENT:
            return None
    return math.ceil(
        math.exp(
            brentq(
                excess,
                0.0,
                high,
                xtol=1e-5,
            )
        )
    )


def unlucky_bound(
    spread: Spread,
    items: float,
    loss: float = 0.0,
    confidence: float = CONFIDENCE,
    limit: float = 1.0,
) -> float:
    """Return the bound of the loss, from 0 to 1, that 80 of 100 runs with this many items are below.

    It is Gaffke's bound (`loss_bound`) of an unlucky run, whose loss is at the 80 % quantile. Its
    losses are those of the spread, tilted exponentially to that mean. A loss of `limit` or more is
    not examined further: the bound is then 1 + limit.

    Examples:
        >>> equal = spread_of_discordance(Estimate(0.0, None, None, 0))
        >>> round(unlucky_bound(equal, 149), 3)
        0.02
    """
    worst = float(spread.values[spread.copies > 0].max())
    mean = loss + _POWER_QUANTILE * spread.deviation.value / items**0.5
    if mean >= min(limit, worst or limit):
        return 1.0 + limit
    copies = items * spread.copies.sum() * _tilted(spread, mean)
    return loss_bound(
        spread.values,
        spread.weights,
        confidence,
        copies,
    )


def _tilted(spread: Spread, mean: float) -> Floats:
    """Return the shares of a spread's values, tilted exponentially to a mean."""
    largest = spread.values.max()
    max_slope = _MAX_TILT / max(largest, _MIN_VALUE)

    def shares(slope: float) -> Floats:
        factors = np.exp(slope * spread.values - abs(slope) * largest)
        copies = spread.copies * factors
        return np.asarray(copies / (spread.copies @ factors), np.float64)

    if not mean:
        return shares(0.0)
    # The tilted sum of the deviations from this mean is 0.
    deviations = spread.weights * (spread.values - mean)
    slope = brentq(lambda slope: shares(slope) @ deviations, -max_slope, max_slope)
    return shares(slope)
