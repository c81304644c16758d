"""Paired statistics on arrays: what two models did on the same items.

Every figure here is a function of sums over items: a mean of (value, 1), a pooled rate of (errors,
length), BLEU of its counts of n-grams. An item is a row of such counts for each model; rows of
items that are not independent are summed first (`sum_clusters`), so that they are drawn and
exchanged together. Results equal those of scipy, statsmodels and sacreBLEU. The resampling is ours,
because sacreBLEU's holds every resample in memory, and scipy's takes half a minute for 26,368
items; only scipy.special is imported, because scipy.stats and statsmodels take three seconds.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Sums (resamples × columns) → the figure of each resample."""

Seed = int | Sequence[int]

CONFIDENCE = 0.95

# Numbers held at once: 32 MB.
_BATCH = 1 << 22
# Drawing one of few kinds of rows costs about as much as drawing this many single rows.
_MULTINOMIAL_COST = 4
_ROUNDING = 1e-12


def ratio(sums: Floats) -> Floats:
    """Return the first column divided by the second: a mean or a pooled rate.

    Example:
        >>> ratio(np.array([[3.0, 4.0]]))
        array([0.75])
    """
    return np.divide(sums[:, 0], np.where(sums[:, 1] == 0, 1, sums[:, 1]))


def sum_clusters(rows: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Sum up the rows of each cluster, in the order in which the clusters appear.

    Args:
        rows: Items × columns.
        clusters: Equal numbers mark items that are not independent: epochs of one question, or
            questions on one passage.

    Example:
        >>> sum_clusters(np.array([[1.0], [2.0], [3.0]]), np.array([7, 5, 7]))
        array([[4.],
               [2.]])
    """
    _, first, places = np.unique(clusters, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return rows
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    sums = np.zeros((len(first), rows.shape[1]))
    np.add.at(sums, rank[places], rows)
    return sums


def bootstrap_differences(
    a: Floats, b: Floats, statistic: Statistic, *, resamples: int, seed: Seed
) -> Floats:
    """Return the figure of B minus that of A on each of many resamples of the items.

    Paired: both models are scored on the same resample (Koehn, 2004, "Statistical Significance
    Tests for Machine Translation Evaluation", section 4). Where the items are of few kinds, as
    right and wrong answers are, it is the number of each kind that is drawn, from a multinomial
    distribution: the same bootstrap, at a fraction of the work. Memory does not grow with the
    number of resamples.

    Args:
        a: Rows of A: independent items × columns.
        b: Rows of B for the same items.
        statistic: What makes a figure of summed rows.
        resamples: How many, from 1 up.
        seed: Of the random numbers. A and B exchanged give the same numbers negated.

    Example:
        >>> one, other = np.array([[0.0, 1.0]] * 4), np.array([[1.0, 1.0]] * 4)
        >>> bootstrap_differences(one, other, ratio, resamples=3, seed=0)
        array([1., 1., 1.])
    """
    generator = np.random.default_rng(seed)
    both = np.hstack([a, b])
    kinds, counts = _kinds(both)
    few = len(kinds) * _MULTINOMIAL_COST <= len(both)
    rows = kinds if few else both
    differences = []
    for size in _batches(resamples, len(rows)):
        if few:
            weights = generator.multinomial(len(both), counts / len(both), size=size)
        else:
            weights = _drawn(generator, len(both), size)
        sums = weights.astype(np.float64) @ rows
        differences.append(statistic(sums[:, a.shape[1] :]) - statistic(sums[:, : a.shape[1]]))
    return np.concatenate(differences)


def interval(resampled: Floats, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the percentile interval of a bootstrap distribution (Efron, 1979).

    Example:
        >>> interval(np.arange(101.0), confidence=0.5)
        (25.0, 75.0)
    """
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return float(low), float(high)


def bootstrap_p_value(resampled: Floats, observed: float) -> float:
    """Return how often resampling moves the size of a difference by as much as was observed.

    sacreBLEU's p-value of a paired bootstrap (`sacrebleu.significance`, after Moses), where two
    runs that are the same in every item get 1 instead of its smallest value.

    Args:
        resampled: Differences on the resamples.
        observed: The difference on the items themselves.

    Example:
        >>> bootstrap_p_value(np.array([1.0, 2.0, 3.0]), 2.0)
        0.25
    """
    sizes = np.abs(resampled)
    extreme = int((sizes - sizes.mean() >= abs(observed)).sum())
    return (extreme + 1) / (len(resampled) + 1)


def randomization_p_value(
    a: Floats, b: Floats, statistic: Statistic, *, resamples: int, seed: Seed
) -> float:
    """Test whether it matters which model gave which answer, by exchanging them item by item.

    Approximate randomisation, two-sided (Noreen, 1989; Riezler and Maxwell, 2005, section 4.2, as
    in sacreBLEU). For a mean this is the paired permutation test by flipping signs. Exact, over all
    exchanges, if there are no more than `resamples` of them.

    Args:
        a: Rows of A: independent items × columns.
        b: Rows of B for the same items.
        statistic: What makes a figure of summed rows.
        resamples: How many exchanges to draw, from 1 up.
        seed: Of the random numbers.

    Returns:
        The p-value: the share of exchanges with a difference as large as the observed one, which
        counts as one of them (Phipson and Smyth, 2010); 1 for equal runs.

    Example:
        >>> one, other = np.array([[0.0, 1.0]] * 4), np.array([[1.0, 1.0]] * 4)
        >>> randomization_p_value(one, other, ratio, resamples=100, seed=0)  # 2 of 2⁴
        0.125
    """
    moves = (a - b)[(a != b).any(axis=1)]
    count = len(moves)
    if not count:
        return 1.0
    totals = a.sum(axis=0, keepdims=True), b.sum(axis=0, keepdims=True)
    figure_a, figure_b = (float(statistic(total)[0]) for total in totals)
    threshold = abs(figure_b - figure_a) - _ROUNDING * (abs(figure_a) + abs(figure_b))
    is_exact = count < 63 and 2**count <= resamples
    extreme = 0
    for exchanged in _all(count) if is_exact else _random(count, resamples, seed):
        moved = exchanged.astype(np.float64) @ moves
        differences = statistic(totals[1] + moved) - statistic(totals[0] - moved)
        extreme += int((np.abs(differences) >= threshold).sum())
    return extreme / 2**count if is_exact else (extreme + 1) / (resamples + 1)


def mcnemar_p_value(wins: int, losses: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided.

    Args:
        wins: Items that only B has right.
        losses: Items that only A has right.

    Example:
        >>> mcnemar_p_value(0, 6)  # 2 / 2⁶
        0.03125
    """
    # Not scipy.stats.binomtest, which says the same: scipy.stats takes two seconds to import.
    from scipy.special import bdtr

    fewer, discordant = min(wins, losses), wins + losses
    return min(1.0, 2 * float(bdtr(fewer, discordant, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several tests so that all of them err with 5 % at most (Holm, 1979).

    Example:
        >>> holm([0.01, 0.04])
        [0.02, 0.04]
    """
    # Not statsmodels.stats.multitest.multipletests, which says the same, for the same reason.
    values = np.asarray(p_values, np.float64)
    order = np.argsort(values)
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(values[order] * factors))
    return [float(p) for p in adjusted]


def loss_bound(losses: int, wins: int, items: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided upper bound of B's loss of accuracy against A.

    Tango's score interval for a difference of paired proportions (Tango, 1998, "Equivalence test
    and confidence interval for the difference in proportions for the paired-sample design",
    equations 4 and 9; the test of non-inferiority that Liu and others, 2002, recommend). Neither
    scipy nor statsmodels has one for paired proportions. It keeps its level in small samples where
    Wald's does not, and with no discordant item at all it is z² / (n + z²), not 0.

    Args:
        losses: Items that only A has right.
        wins: Items that only B has right.
        items: All items, from 1 up.
        confidence: Probability that the loss is below the bound.

    Returns:
        The bound as a fraction, between -1 and 1; negative if B is surely better.

    Example:
        >>> round(loss_bound(losses=6, wins=16, items=161, confidence=0.975), 4)
        -0.0054
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    z = float(ndtri(confidence))

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


def loss_bound_of_equals(items: int, confidence: float = CONFIDENCE) -> float:
    """Return the upper bound of the share of items that differ, where none of them does.

    Clopper and Pearson's, about 3 / n at 95 % ("rule of three"): as large as a loss of values from
    0 to 1 can be. A bootstrap, which only sees equal items, would say 0.

    Example:
        >>> round(loss_bound_of_equals(300), 3)
        0.01
    """
    return float(1 - (1 - confidence) ** (1 / items))


def _kinds(rows: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct rows and how often each occurs, in the order of their appearance.

    An order by value would depend on which model is A.
    """
    kinds, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return kinds[order], counts[order]


def _batches(total: int, width: int) -> Iterator[int]:
    # In batches of a multiple of 32, random bits come as they would all at once, as in sacreBLEU.
    size = max(32, _BATCH // max(width, 1) // 32 * 32)
    for start in range(0, total, size):
        yield min(size, total - start)


def _drawn(generator: np.random.Generator, count: int, size: int) -> NDArray[np.int64]:
    """Return how often each of `count` rows was drawn, for `size` resamples."""
    weights = np.empty((size, count), np.int64)
    for row in weights:
        row[:] = np.bincount(generator.integers(count, size=count), minlength=count)
    return weights


def _all(count: int) -> Iterator[NDArray[np.bool_]]:
    numbers = np.arange(2**count)
    yield (numbers[:, None] >> np.arange(count)) % 2 == 1


def _random(count: int, resamples: int, seed: Seed) -> Iterator[NDArray[np.bool_]]:
    generator = np.random.default_rng(seed)
    for size in _batches(resamples, count):
        yield generator.integers(2, size=(size, count), dtype=np.bool_)
