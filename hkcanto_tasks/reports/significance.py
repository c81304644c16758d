"""Paired statistics on arrays: what two models did on the same items.

Every figure here is a function of sums over items: a mean of (value, 1), a pooled rate of (errors,
length), BLEU of its counts of n-grams. An item is a row of such counts for each model; rows of
items that are not independent are summed first (`sum_clusters`), so that they are drawn and
exchanged together. Results equal those of scipy, statsmodels and sacreBLEU, of which sacreBLEU
holds every resample in memory, and the other two take three seconds to import.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Sums (resamples × columns) → the figure of each resample."""

Seed = int | Sequence[int]

CONFIDENCE = 0.95

# Numbers held at once: 32 MB.
_BATCH = 1 << 22
_ROUNDING = 1e-12


def ratio(sums: Floats) -> Floats:
    """Return the first column divided by the second: a mean or a pooled rate.

    Example:
        >>> ratio(np.array([[3.0, 4.0]]))
        array([0.75])
    """
    return np.divide(sums[:, 0], np.where(sums[:, 1] == 0, 1, sums[:, 1]))


def sum_clusters(rows: Floats, clusters: ArrayLike | None) -> Floats:
    """Sum up the rows of each cluster, in the order in which the clusters appear.

    Args:
        rows: Items × columns.
        clusters: Equal numbers mark items that are not independent: epochs of one question, or
            questions on one passage. Without it every item is a cluster.

    Example:
        >>> sum_clusters(np.array([[1.0], [2.0], [3.0]]), np.array([7, 5, 7]))
        array([[4.],
               [2.]])
    """
    if clusters is None:
        return rows
    _, first, places = np.unique(np.asarray(clusters), return_index=True, return_inverse=True)
    sums = np.zeros((len(first), rows.shape[1]))
    np.add.at(sums, np.argsort(np.argsort(first))[places], rows)
    return sums


def bootstrap_differences(
    a: Floats, b: Floats, statistic: Statistic, *, resamples: int, seed: Seed
) -> Floats:
    """Return the figure of B minus that of A on each of many resamples of the items.

    Paired: both models are scored on the same resample (Koehn, 2004, "Statistical Significance
    Tests for Machine Translation Evaluation", section 4). Memory does not grow with the number of
    resamples.

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
    count, differences = len(a), []
    for size in _batches(resamples, count):
        drawn = (generator.integers(count, size=count) for _ in range(size))
        weights = np.array([np.bincount(places, minlength=count) for places in drawn], np.float64)
        differences.append(statistic(weights @ b) - statistic(weights @ a))
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
    extreme = drawn = 0
    for exchanged in _exchanges(count, resamples, seed):
        moved = exchanged.astype(np.float64) @ moves
        differences = statistic(totals[1] + moved) - statistic(totals[0] - moved)
        extreme += int((np.abs(differences) >= threshold).sum())
        drawn += len(exchanged)
    return extreme / drawn if drawn == 2**count else (extreme + 1) / (drawn + 1)


def mcnemar_p_value(wins: int, losses: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided.

    Args:
        wins: Items that only B has right.
        losses: Items that only A has right.

    Example:
        >>> mcnemar_p_value(0, 6)  # 2 / 2⁶
        0.03125
    """
    from scipy.special import bdtr

    fewer, discordant = min(wins, losses), wins + losses
    return min(1.0, 2 * float(bdtr(fewer, discordant, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several tests so that all of them err with 5 % at most (Holm, 1979).

    Example:
        >>> holm([0.01, 0.04])
        [0.02, 0.04]
    """
    values = np.asarray(p_values, np.float64)
    order = np.argsort(values)
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(values[order] * factors))
    return [float(p) for p in adjusted]


def _batches(total: int, width: int) -> Iterator[int]:
    # In batches of a multiple of 32, random bits come as they would all at once, as in sacreBLEU.
    size = max(32, _BATCH // max(width, 1) // 32 * 32)
    for start in range(0, total, size):
        yield min(size, total - start)


def _exchanges(count: int, resamples: int, seed: Seed) -> Iterator[NDArray[np.bool_]]:
    """Return all exchanges of so many items if they are few enough, else random ones, in parts."""
    if count < 63 and 2**count <= resamples:
        yield (np.arange(2**count)[:, None] >> np.arange(count)) % 2 == 1
        return
    generator = np.random.default_rng(seed)
    for size in _batches(resamples, count):
        yield generator.integers(2, size=(size, count), dtype=np.bool_)
