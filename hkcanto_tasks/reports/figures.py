"""Figures of evaluations with their 95 % intervals, each computed as the harness computes it.

Items that are not independent (epochs of one item, questions on one passage) count as clusters
(Miller 2024, "Adding Error Bars to Evals", section 2.2).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..averages import weights
from ..corpus_figures import corpus_errors, corpus_scores, language_of
from ..records import Over
from .evaluations import Evaluation
from .items import Floats, Ints

Mask = NDArray[np.bool_]
_Z = 1.959963984540054  # two-sided 95 %
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its 95 % interval.

    Attributes:
        value: In the unit of its metric; an accuracy or a rate from 0 to 1.
        low: Lower end of the interval; None where none can be computed.
        high: Upper end.
        items: Number of items behind it.
        note: What a reader should know of it, such as `not all`.
    """

    value: float
    low: float | None
    high: float | None
    items: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A figure that we compute otherwise than the harness did; no subjects stand for all."""

    subjects: tuple[str, ...]
    name: str
    ours: float
    reported: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many of the figures that the harness reports we compute equally, and the others."""

    equal: int
    different: Sequence[Disagreement]


@lru_cache(maxsize=256)
def agreement(evaluation: Evaluation) -> Agreement:
    """Compute again what the harness reports of an evaluation."""
    equal, different = 0, list[Disagreement]()
    for (subjects, name), reported in evaluation.reported.items():
        where = evaluation.items.of_subjects(subjects) if subjects else None
        ours = None if math.isnan(reported) else figure(evaluation, name, where)
        if ours and math.isclose(ours.value, reported, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
            equal += 1
        elif ours:
            different.append(Disagreement(subjects, name, ours.value, reported))
    return Agreement(equal, different)


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
        these; for pooled rates it is `ratio_interval`; for other means it is normal, from the
        clustered standard error; for figures of a corpus, from bootstrap resamples.
    """
    return _whole(evaluation, name) if where is None else _of(evaluation, name, where)


@lru_cache(maxsize=4096)
def _whole(evaluation: Evaluation, name: str) -> Figure | None:
    return _of(evaluation, name, np.ones(len(evaluation.items), np.bool_))


def _of(evaluation: Evaluation, name: str, mask: Mask) -> Figure | None:
    items = evaluation.items
    known = evaluation.figures.get(name)
    if known and known.corpus:
        return _corpus(evaluation, name, mask)
    of_items = items.values.get(known.averages if known else name)
    if of_items is None:
        return None
    mask = mask & ~np.isnan(of_items)
    if known and known.part:
        mask &= items.of_part(known.part)
    if not mask.any():
        return None
    values, clusters = of_items[mask], items.clusters[mask]
    if known and known.pooled and name in items.weights:
        return _pooled(values, items.weights[name][mask], clusters)
    if known and known.over != "questions":
        return _of_strata(evaluation, values, mask, known.over)
    return mean_figure(values, clusters)


def mean_figure(values: Floats, clusters: Ints) -> Figure:
    """Return the mean of some values: Wilson's interval for shares, else a normal one.

    Args:
        values: One per item; 0 and 1 for shares.
        clusters: Equal numbers mark items that are not independent.

    Example:
        >>> mean_figure(np.array([1.0, 1.0, 0.0, 0.0]), np.arange(4)).value
        0.5
    """
    mean, count = float(values.mean()), len(values)
    _, places = np.unique(clusters, return_inverse=True)
    sums = np.bincount(places, weights=values - mean)
    independent = len(sums)
    if independent > 1:
        error = float((sums**2).sum() * independent / (independent - 1)) ** 0.5 / count
    else:
        error = math.nan
    if ((values == 0) | (values == 1)).all():
        effective = float(count)
        if independent < count:
            effective = min(effective, mean * (1 - mean) / error**2) if error > 0 else independent
        return Figure(mean, *_wilson(mean, effective), count)
    if math.isnan(error):
        return Figure(mean, None, None, count)
    floor = 0 if values.min() >= 0 else -math.inf
    ceiling = 1 if floor == 0 and values.max() <= 1 else math.inf
    return Figure(mean, max(floor, mean - _Z * error), min(ceiling, mean + _Z * error), count)


def _wilson(share: float, count: float) -> tuple[float, float]:
    """Return Wilson's score interval (Wilson 1927; Newcombe 1998, method 3)."""
    z2 = _Z**2 / count
    center, reach = share + z2 / 2, (z2 * share * (1 - share) + z2**2 / 4) ** 0.5
    low, high = (center - reach) / (1 + z2), (center + reach) / (1 + z2)
    return max(0.0, min(share, low)), min(1.0, max(share, high))


def _pooled(rates: Floats, weights: Floats, clusters: Ints) -> Figure:
    """Return summed errors over summed length."""
    from .intervals import ratio_interval

    errors, total = errors_of(rates, weights), float(weights.sum())
    low, high = ratio_interval(errors, weights, clusters) if total else (None, None)
    return Figure(float(errors.sum()) / (total or 1), low, high, len(rates))


def errors_of(rates: Floats, weights: Floats) -> Floats:
    """Return the errors behind each item's rate; over an empty reference a rate is its errors."""
    return np.where(weights == 0, rates, rates * weights)


def _of_strata(evaluation: Evaluation, values: Floats, mask: Mask, over: Over) -> Figure:
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
