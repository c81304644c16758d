"""Paired tests on arrays: randomisation, McNemar, and Holm's adjustment.

Every figure is a function of sums over items: a mean is one of (value, 1), a pooled rate one of
(errors, length), BLEU one of n-gram counts. An item is a row of such counts for each model. Results
equal those of scipy, statsmodels and sacreBLEU, which take seconds to import or gigabytes of
memory.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Sums (resamples × columns) → the figure of each resample."""

_BATCH, _ROUNDING = 1 << 22, 1e-12  # numbers held at once: 32 MB


def ratio(sums: Floats) -> Floats:
    """Return the first column divided by the second: a mean or a pooled rate.

    Examples:
        >>> ratio(np.array([[3.0, 4.0]]))
        array([0.75])
    """
    return np.divide(sums[:, 0], np.where(sums[:, 1] == 0, 1, sums[:, 1]))


def randomization_p_value(
    a: Floats, b: Floats, statistic: Statistic, *, resamples: int, seed: int
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
        >>> one, other = np.array([[0.0, 1.0]] * 4), np.array([[1.0, 1.0]] * 4)
        >>> randomization_p_value(one, other, ratio, resamples=100, seed=0)  # 2 of 2⁴
        0.125
    """
    moves = (a - b)[(a != b).any(axis=1)]
    if not len(moves):
        return 1.0
    totals = a.sum(axis=0, keepdims=True), b.sum(axis=0, keepdims=True)
    figure_a, figure_b = (float(statistic(total)[0]) for total in totals)
    threshold = abs(figure_b - figure_a) - _ROUNDING * (abs(figure_a) + abs(figure_b))
    extreme = drawn = 0
    for exchanged in exchanges(len(moves), resamples, seed):
        moved = exchanged.astype(np.float64) @ moves
        differences = statistic(totals[1] + moved) - statistic(totals[0] - moved)
        extreme += int((np.abs(differences) >= threshold).sum())
        drawn += len(exchanged)
    return extreme / drawn if drawn == 2 ** len(moves) else (extreme + 1) / (drawn + 1)


def mcnemar_p_value(wins: int, losses: int) -> float:
    """Return the two-sided p-value of McNemar's exact test from the discordant items.

    Examples:
        >>> mcnemar_p_value(0, 6)  # 2 / 2⁶
        0.03125
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of several tests for their number (Holm, 1979).

    Examples:
        >>> holm([0.01, 0.04])
        [0.02, 0.04]
    """
    values = np.asarray(p_values, np.float64)
    order, factors = np.argsort(values), np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(values[order] * factors))
    return list(map(float, adjusted))


def exchanges(count: int, resamples: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Yield all exchanges of the items if they are few; otherwise random ones. Both in batches."""
    if count < 63 and 2**count <= resamples:
        yield (np.arange(2**count)[:, None] >> np.arange(count)) % 2 == 1
        return
    generator = np.random.default_rng(seed)
    # In batches of a multiple of 32, random bits equal those that sacreBLEU draws all at once.
    most = max(32, _BATCH // max(count, 1) // 32 * 32)
    for start in range(0, resamples, most):
        yield generator.integers(2, size=(min(most, resamples - start), count), dtype=np.bool_)
