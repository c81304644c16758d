"""Gates: whether a run is not inferior to another one, by a bound that holds at any size.

A bootstrap or a t statistic sees only the losses that occurred. Where large losses are rare, most
samples hold none of them, and such a gate lets a worse run pass far more often than it says. The
bound here is Gaffke's, which needs nothing but that no item can lose more than 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .significance import CONFIDENCE, Floats, sum_clusters

_STEP, _NEGLIGIBLE = 0.05, 1e-15
_MOST_COPIES = 1e9


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """The outcome of a test that B is not inferior to A.

    Attributes:
        passed: Whether B is not inferior: `bound` is below the tolerance δ.
        bound: Upper bound of what B loses, in the unit of the losses, up to 1; negative if B is
            surely better. It is the δ at which the verdict changes.
        method: How the bound was found.
        needed_items: How many items it takes, of these weights and in clusters of these sizes, for
            a run that is the same as A in every item to pass; without weights and clusters
            ln(0.05) / ln(1 - δ), rounded up. None if these are as many, or if δ is 0.
        projected_items: How many items it takes for B itself to pass, if further ones turn out as
            these did. None if it passes, or loses δ or more.
    """

    passed: bool
    bound: float
    method: str
    needed_items: int | None
    projected_items: int | None


def non_inferiority(
    a: ArrayLike,
    b: ArrayLike,
    *,
    delta: float,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> NonInferiority:
    """Test that B loses less than a tolerance δ against A, paired by item, at 5 %.

    The bound holds at any number of items and for any distribution of the losses (`loss_bound` has
    its source). It depends on neither the order of the items nor random numbers, and no item on
    which B does worse, or A better, can lower it.

    Clusters are the units, each with the (weighted) mean of its items and the sum of their weights:
    what is bounded is the mean over items, also where clusters differ in size. Units are taken to
    be independent draws, and none of those that might be drawn to weigh more than the heaviest one
    here.

    Args:
        a: Loss of A on each item, from 0 to 1 (wrong: 1; an error rate, cut off at 1).
        b: Loss of B on the same items.
        delta: Tolerance δ from 0 to 1, in the unit of the losses.
        clusters: Equal numbers mark items that are not independent: epochs of one question, or
            questions on one passage. Without it all are.
        weights: Weight of each item, above 0; for a rate of a corpus the lengths. Equal without it.

    Raises:
        ValueError: No items, sides of unequal length, or a value that is out of its range.

    Example:
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
    differences = losses / units
    bound = loss_bound(differences, units)
    copies = [_copies(own, units, delta) for own in (0 * differences, differences)]
    needed, projected = (
        None if each is None else int(np.ceil(each * len(before))) for each in copies
    )
    return NonInferiority(bound < delta, bound, "Gaffke's bound", needed, projected)


def loss_bound(differences: Floats, weights: Floats, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided upper bound of a weighted mean of values that are 1 at most.

    Gaffke (2005), "Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable": add one unit that loses everything, weigh the units by independent
    exponential variables, and take the quantile of the mean. Of 0s and 1s it is Clopper and
    Pearson's bound, of n equal runs 1 - 0.05^(1/n) ("rule of three"). That it holds at any size is
    the theorem of Vlassis and Thomas (2026), "An exact distribution-free test for means of
    nonnegative random variables" (arXiv:2607.08415), here of 1 - w (d - δ) / (w_max (1 - δ)), which
    is not negative and has a mean of 1 at most if δ or more is lost. With ever more units it
    becomes as narrow as a normal bound (Ming and others, 2026, arXiv:2607.18661), and bounds by
    betting (Waudby-Smith and Ramdas, 2024) do not.

    Args:
        differences: Loss of B minus that of A, by independent unit; 1 at most.
        weights: Weight of each unit, above 0.
        confidence: Probability that the mean is below the bound, from 0.7 below 1.

    Example:
        >>> round(loss_bound(np.zeros(100), np.ones(100)), 4)  # 1 - 0.05^(1/100)
        0.0295
    """
    from scipy.optimize import brentq

    def excess(mean: float) -> float:
        p_value = _tail(*_terms(differences, weights, mean))
        return float(np.log(max(p_value, 1e-300) / (1 - confidence)))

    heaviest = float(weights.max())
    total = heaviest + float(weights.sum())
    start = (heaviest + float((weights * differences).sum())) / total
    if start >= 1 - 1e-9:
        return 1.0
    terms, counts = _terms(differences, weights, start)
    width = float((counts * terms**2).sum()) ** 0.5 / total
    while excess(min(1.0, start + width)) > 0:
        width *= 2
    return float(brentq(excess, start, min(1.0, start + width), xtol=1e-12))


def _terms(differences: Floats, weights: Floats, mean: float) -> tuple[Floats, Floats]:
    """Return what each kind of unit adds if the loss is `mean`, and how many are of the kind.

    The first one is the added unit.
    """
    kinds, counts = np.unique(differences + 1j * weights, return_counts=True)
    heights = np.append(1.0, kinds.real) - mean
    return np.append(weights.max(), kinds.imag) * heights, np.append(1.0, counts)


def _tail(terms: Floats, counts: Floats) -> float:
    """Return the probability that a sum of terms × Gamma(counts) variables is not negative.

    Its generating function is inverted along the line through the saddle point (Helstrom, 1983), by
    the trapezoid rule in the arsinh of the distance. The first term must be the largest. What is
    above 1 / e may be returned as 1.
    """
    from scipy.optimize import brentq

    if terms[0] <= 0:
        return 0.0
    terms = terms / terms[0]

    # Sums, not @: a matrix product of long vectors starts threads, which take longer than it does.
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


def _copies(differences: Floats, weights: Floats, delta: float) -> float | None:
    """Return how many times as many such units pass; None if these do, or no number does."""
    from scipy.optimize import brentq

    terms, counts = _terms(differences, weights, delta)

    def excess(log_copies: float) -> float:
        copies = np.append(1.0, counts[1:] * np.exp(log_copies))
        return _tail(terms, copies) - (1 - CONFIDENCE)

    most = np.log(_MOST_COPIES)
    if excess(0.0) <= 0 or excess(most) > 0:
        return None
    return float(np.exp(brentq(excess, 0.0, most, xtol=1e-9)))
