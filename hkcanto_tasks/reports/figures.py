"""Figures of evaluations with their 95 % intervals, each computed as the harness computes it.

Items that are not independent (epochs of one item, questions on one passage) count as clusters
(Miller 2024, "Adding Error Bars to Evals", section 2.2).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..averages import weights
from ..corpus_figures import corpus_errors, corpus_scores, language_of
from ..records import Over
from .evaluations import Evaluation

Mask = NDArray[np.bool_]
_Floats = NDArray[np.float64]
_Z = 1.959963984540054  # two-sided 95 %


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its 95 % interval.

    Attributes:
        value: In the unit of its metric; an accuracy or a rate from 0 to 1.
        low: Lower end of the interval; None where none can be computed.
        high: Upper end.
        items: Number of items behind it.
    """

    value: float
    low: float | None
    high: float | None
    items: int


def figure(evaluation: Evaluation, name: str, where: Mask | None = None) -> Figure | None:
    """Return a figure of an evaluation, or of a part of its items.

    Args:
        evaluation: What was run.
        name: A figure of its task (`acc`, `acc_macro`, `acc_hk_specific`, `cer`, `bleu`), or of a
            judge.
        where: Which items count; all of them without it.

    Returns:
        The figure; None if no item has it. Its interval is Wilson's for shares, with the effective
        number of items where they are clustered, and for averages of subjects put together from
        these; for other means and pooled rates it is normal, from the (clustered, linearised)
        standard error; for figures of a corpus, from bootstrap resamples.
    """
    items = evaluation.items
    mask = np.ones(len(items), np.bool_) if where is None else where
    known = evaluation.figures.get(name)
    if known and known.corpus:
        return _corpus(evaluation, name, mask)
    if known and known.part:
        mask = mask & items.of_part(known.part)
    of_items = items.values.get(known.averages if known else name)
    if of_items is None:
        return None
    mask = mask & ~np.isnan(of_items)
    if not mask.any():
        return None
    values, clusters = of_items[mask], items.clusters[mask]
    if known and known.pooled and name in items.weights:
        return _pooled(values, items.weights[name][mask], clusters)
    if known and known.over != "questions":
        return _of_strata(evaluation, values, mask, known.over)
    return mean_figure(values, clusters)


def mean_figure(values: _Floats, clusters: NDArray[np.int64]) -> Figure:
    """Return the mean of some values: Wilson's interval for shares, else a normal one.

    Args:
        values: One per item; 0 and 1 for shares.
        clusters: Equal numbers mark items that are not independent.

    Example:
        >>> mean_figure(np.array([1.0, 1.0, 0.0, 0.0]), np.arange(4)).value
        0.5
    """
    mean, count = float(values.mean()), len(values)
    error = _standard_error(values - mean, clusters) / count
    if not np.isin(values, (0.0, 1.0)).all():
        floor = 0 if values.min() >= 0 else -np.inf
        ceiling = 1 if floor == 0 and values.max() <= 1 else np.inf
        return _normal(mean, error, count, floor, ceiling)
    from statsmodels.stats.proportion import proportion_confint

    effective = float(count)
    if error > 0 and len(np.unique(clusters)) < count:
        effective = min(effective, mean * (1 - mean) / error**2)
    elif len(np.unique(clusters)) < count:
        effective = float(len(np.unique(clusters)))
    low, high = proportion_confint(mean * effective, effective, method="wilson")
    return Figure(mean, float(low), float(high), count)


def _pooled(rates: _Floats, weights: _Floats, clusters: NDArray[np.int64]) -> Figure:
    """Summed errors over summed length; its error by linearising (Cochran 1977, section 6.4)."""
    total = float(weights.sum())
    errors = errors_of(rates, weights)
    pooled = float(errors.sum()) / (total or 1)
    error = _standard_error(errors - pooled * weights, clusters) / (total or 1)
    return _normal(pooled, error, len(rates), floor=0)


def errors_of(rates: _Floats, weights: _Floats) -> _Floats:
    """Return the number of errors behind each item's rate.

    Args:
        rates: Of the items; over an empty reference a rate is its number of errors.
        weights: Lengths of their references.
    """
    return np.where(weights == 0, rates, rates * weights)


def _of_strata(evaluation: Evaluation, values: _Floats, mask: Mask, over: Over) -> Figure:
    """Return an average in which subjects or categories count alike.

    Its interval is put together from the subjects' own (MOVER; Zou, Huang, Zhang 2009, "A note on
    confidence interval estimation for a linear function of binomial proportions").
    """
    names, codes = evaluation.items.subject_codes
    codes, clusters = codes[mask], evaluation.items.clusters[mask]
    shares = np.array(weights(over, names[codes].tolist(), evaluation.how.categories))
    below = above = 0.0
    for subject in np.unique(codes):
        own = codes == subject
        found, share = mean_figure(values[own], clusters[own]), shares[own].sum()
        low, high = (found.value if end is None else end for end in (found.low, found.high))
        below += (share * (found.value - low)) ** 2
        above += (share * (high - found.value)) ** 2
    mean = float(shares @ values)
    return Figure(mean, mean - below**0.5, mean + above**0.5, len(values))


def _corpus(evaluation: Evaluation, metric: str, mask: Mask) -> Figure | None:
    pairs = [pair for pair, counts in zip(evaluation.items.pairs, mask, strict=False) if counts]
    if not pairs:
        return None
    language = language_of(evaluation.named)
    interval = corpus_errors(pairs, language)[metric]
    value = corpus_scores(pairs, language)[metric]
    return Figure(value, interval.low, interval.high, len(pairs))


def _standard_error(residuals: _Floats, clusters: NDArray[np.int64]) -> float:
    """Standard error of a sum of residuals, summed up by cluster first."""
    _, places = np.unique(clusters, return_inverse=True)
    sums = np.bincount(places, weights=residuals)
    count = len(sums)
    if count < 2:
        return float("nan")
    return float(np.sqrt((sums**2).sum() * count / (count - 1)))


def _normal(
    value: float, error: float, items: int, floor: float = -np.inf, ceiling: float = np.inf
) -> Figure:
    """Return a figure with a normal interval, cut where no value of it can be."""
    if np.isnan(error):
        return Figure(value, None, None, items)
    low, high = max(floor, value - _Z * error), min(ceiling, value + _Z * error)
    return Figure(value, low, high, items)
