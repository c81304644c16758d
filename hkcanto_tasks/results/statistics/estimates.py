"""Figures of runs with 95 % intervals; their values are computed as the harness does.

Items that are not independent (epochs of one item, questions on one passage) count as clusters
(Miller 2024, "Adding Error Bars to Evals", section 2.2).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import figures
from ...figures import Figure, pseudo_values, sum_clusters, weights
from ..runs import Floats, Ints, Run, once_a_run
from .intervals import (
    CONFIDENCE,
    NORMAL,
    UNSEEN,
    Estimate,
    Statistic,
    effective_draws,
    errors_of,
)

_TOLERANCE = 1e-9
_FEW_ANSWERS = 3.5  # three right, or three wrong, answers, with room for rounding


class Disagreement(NamedTuple):
    """A figure for which we and the harness compute different values; no subjects means all."""

    subjects: tuple[str, ...]
    name: str
    ours: float
    reported: float


class HarnessAgreement(NamedTuple):
    """The number of the harness's figures that equal ours, and the figures that differ."""

    equal: int
    different: Sequence[Disagreement]


@once_a_run
def harness_agreement(run: Run) -> HarnessAgreement:
    """Recompute the figures that the harness reports for a run, and compare."""
    equal = 0
    different: list[Disagreement] = []
    for part in run.parts:
        of_part = harness_agreement(part)
        equal += of_part.equal
        different += of_part.different
    for (subjects, name), reported in run.reported.items():
        if math.isnan(reported):
            continue
        ours = estimate(run, name, subjects or None)
        if ours is None:
            continue
        if math.isclose(
            ours.value,
            reported,
            rel_tol=_TOLERANCE,
            abs_tol=_TOLERANCE,
        ):
            equal += 1
        else:
            different.append(
                Disagreement(
                    subjects,
                    name,
                    ours.value,
                    reported,
                )
            )
    return HarnessAgreement(equal, different)


def value_of(
    run: Run,
    name: str,
    part: str = "",
) -> Estimate | None:
    """Return a figure of a run, of its task or of one category or subject."""
    if not part:
        return estimate(run, name)
    subjects = tuple(subject.name for subject in run.subjects_of(part))
    return estimate(run, name, subjects)


@once_a_run
def estimate(
    run: Run,
    name: str,
    subjects: tuple[str, ...] | None = None,
) -> Estimate | None:
    """Return a figure of a run, over all items or those of some subjects.

    It is a figure of the task (`acc`, `acc_macro`, `acc_hk_specific`, `cer`, `bleu`) or of a judge,
    and None if no item has it. The interval is Wilson's for the `effective_draws`, of the items'
    values (weighted by length for a pooled rate) or of a corpus figure's pseudo-values; that of
    macro-F1 combines its labels.
    """
    items = run.items
    mask = np.ones(len(items), np.bool_)
    if subjects is not None:
        mask = items.subject_mask(subjects)
    # A judge's figure is a plain mean of its values.
    figure = run.figures.get(name) or Figure(
        name,
        name,
        "number",
        None,
        "",
    )
    if figure.form == "corpus":
        return _corpus_figure(run, figure, mask)

    values = items.values.get(figure.averages)
    if values is None:
        return None
    mask &= ~np.isnan(values)
    if figure.part:
        mask &= items.part_mask(figure.part)
    if not mask.any():
        return None

    clusters = items.clusters[mask]
    if figure.form == "rate" and name in items.weights:
        result = rate_estimate(values[mask], items.weights[name][mask], clusters)
    elif figure.over == "questions":
        result = mean_estimate(values[mask], clusters)
    else:
        result = _mean_of_means(
            run,
            figure,
            values,
            mask,
        )
    return replace(result, note=UNSEEN if figure.unlimited else "")


def _mean_of_means(
    run: Run,
    figure: Figure,
    values: Floats,
    mask: NDArray[np.bool_],
) -> Estimate:
    """Return a mean over subjects or categories, which have equal weight."""
    names, codes = run.items.subject_codes
    codes = codes[mask]
    shares = weights(figure.over, names[codes].tolist(), run.kind.categories)
    strata = np.unique(codes, return_inverse=True)[1]
    clusters = run.items.clusters[mask]
    return weighted_estimate(
        values[mask],
        np.array(shares),
        clusters,
        strata,
    )


def mean_estimate(values: Floats, clusters: Ints) -> Estimate:
    """Return the mean of values that are independent between clusters.

    The interval is Wilson's for the `effective_draws`.

    Examples:
        >>> mean_estimate(np.array([1.0, 1.0, 0.0, 0.0]), np.arange(4)).value
        0.5
    """
    shares = np.full(len(values), 1 / len(values))
    result = weighted_estimate(values, shares, clusters)
    return replace(result, value=float(values.mean()))


def rate_estimate(
    rates: Floats,
    lengths: Floats,
    clusters: Ints,
) -> Estimate:
    """Return a pooled rate, all errors over all lengths, with its interval.

    It is a mean of the items' rates with their lengths as weights. Items without a length count in
    the value, but not in the interval.

    Args:
        rates: The rate of each item.
        lengths: The length of each item's reference.
        clusters: As in `sum_clusters`.

    Examples:
        >>> result = rate_estimate(np.ones(30), np.full(30, 4.0), np.arange(30))
        >>> round(result.low, 3), result.high  # Wilson's: 1 / (1 + 1.96² / 30)
        (0.886, 1.0)
    """
    total = float(lengths.sum())
    known = lengths > 0
    value = float(errors_of(rates, lengths).sum()) / (total or 1)
    if not total:
        return Estimate(
            value,
            None,
            None,
            len(rates),
        )
    result = weighted_estimate(rates[known], lengths[known] / total, clusters[known])
    return replace(result, value=value, items=len(rates))


def weighted_estimate(
    values: Floats,
    shares: Floats,
    clusters: Ints,
    strata: Ints | None = None,
    limits: tuple[float, float] | None = None,
    at_limit: float | None = None,
) -> Estimate:
    """Return a weighted mean of values between two limits, with Wilson's interval.

    The limits are by default 0 and 1, or the lowest and the highest value if these are farther
    apart. The other arguments are those of `effective_draws`.

    Examples:
        >>> values, shares, strata = np.array([1.0, 0, 1]), np.array([0.5, 0.25, 0.25]), [0, 1, 1]
        >>> weighted_estimate(values, shares, np.arange(3), np.array(strata)).value
        0.75
    """
    low, high = limits or (min(0.0, float(values.min())), max(1.0, float(values.max())))
    reach = high - low
    scaled = (values - low) / reach
    share = min(1.0, max(0.0, float(shares @ scaled)))
    mean = low + reach * share
    variance = share * (1 - share)
    draws = effective_draws(
        scaled,
        shares,
        clusters,
        variance,
        strata,
        at_limit,
    )
    if math.isnan(draws[0]):
        return Estimate(
            mean,
            None,
            None,
            len(values),
        )
    below, above = _wilson(share, *draws)
    return Estimate(
        mean,
        low + reach * below,
        low + reach * above,
        len(values),
    )


def _wilson(
    share: float,
    count: float,
    quantile: float,
) -> tuple[float, float]:
    """Return Wilson's score interval (Wilson 1927; Newcombe 1998, method 3).

    It covers too seldom if at most three answers are right (or wrong), and at most one in nine. In
    that case one end is Poisson's (Brown, Cai and DasGupta, 2001, "Interval estimation for a
    binomial proportion", section 4.1.1).
    """
    from scipy.special import gammaincinv

    z2 = quantile**2 / count
    center = share + z2 / 2
    reach = (z2 * share * (1 - share) + z2**2 / 4) ** 0.5
    low = (center - reach) / (1 + z2)
    high = (center + reach) / (1 + z2)
    few = count * min(share, 1 - share)
    if 0 < few < min(_FEW_ANSWERS, count / 9):
        end = float(gammaincinv(few, 1 - CONFIDENCE)) / count
        if share < 0.5:
            low = min(low, end)
        else:
            high = max(high, 1 - end)
    return max(0.0, min(share, low)), min(1.0, max(share, high))


def _corpus_figure(
    run: Run,
    figure: Figure,
    mask: NDArray[np.bool_],
) -> Estimate | None:
    # A run without texts has no pairs.
    chosen = zip(run.items.pairs, mask, strict=False)
    pairs = [pair for pair, is_chosen in chosen if is_chosen]
    if not pairs:
        return None
    language = figures.language_of(run.kind.task)
    rows, statistic = figures.corpus_rows(figure, pairs, language)
    units = sum_clusters(rows, run.items.clusters[mask])
    note = ""
    if figure.labels:
        result = macro_f1_estimate(units, len(rows))
        unused = {*figure.labels} - {pair.reference for pair in pairs}
        if unused:
            labels = ", ".join(sorted(unused))
            note = f"no item has the label {labels}, whose F1 counts as 0"
    else:
        result = corpus_estimate(units, statistic, len(rows))
    value = figures.corpus_value(figure, pairs, language)
    return replace(result, value=value, note=note)


def corpus_estimate(
    units: Floats,
    statistic: Statistic,
    items: int,
) -> Estimate:
    """Return a figure of texts, from 0 to 100, with its interval.

    The interval is that of the mean of the jackknife's `pseudo_values`. A unit counts as at a limit
    if the figure is 0 or 100 on it alone. A percentile bootstrap covers in only 60 to 90 % with 17
    items.

    Args:
        units: The summed counts of each independent unit.
        statistic: The figure of sums of units.
        items: The number of items behind them.
    """
    value = float(statistic(units.sum(axis=0, keepdims=True))[0])
    count = len(units)
    if count == 1:
        return Estimate(
            value,
            None,
            None,
            items,
        )
    values = pseudo_values(units, statistic)
    values += value - values.mean()
    alone = statistic(units)
    at_limit = float(((alone < _TOLERANCE) | (alone > 100 - _TOLERANCE)).mean())
    shares = np.full(count, 1 / count)
    result = weighted_estimate(
        values,
        shares,
        np.arange(count),
        limits=(0, 100),
        at_limit=at_limit,
    )
    return replace(result, value=value, items=items)


def macro_f1_estimate(units: Floats, items: int) -> Estimate:
    """Return macro-F1 with its interval; the arguments are those of `corpus_estimate`.

    The F1 of a label is 2J / (1 + J), where J is the share of right items among those that have
    the label or were given it. So it has the ends of J's Wilson interval. They are combined as by
    Zou, Huang and Zhang (2009), with √2 times the width: the labels' F1 depend on each other, but a
    wrong answer changes at most two of them, so their sum has at most twice the variance of
    independent ones. A label that occurs in neither items nor answers counts as 0. Its F1 can be up to
    1, which is added to the upper end.
    """
    right, answered, labelled = np.split(units.sum(axis=0), 3)
    union = answered + labelled - right
    known = union > 0
    jaccard = right[known] / union[known]
    draws = union[known] * len(units) / items
    f1 = 2 * right / np.maximum(answered + labelled, 1)
    squares = (_f1_ends(jaccard, draws) - f1[known][:, None]) ** 2
    below, above = (2 * squares.sum(axis=0)) ** 0.5 / len(f1)
    value = float(f1.mean())
    low = max(0.0, value - below)
    high = min(1.0, value + above + float((~known).mean()))
    return Estimate(
        value,
        low,
        high,
        items,
    )


def _f1_ends(jaccard: Floats, draws: Floats) -> Floats:
    """Return both ends of the interval of each label's F1."""
    spans = [_wilson(j, n, NORMAL) for j, n in zip(jaccard, draws, strict=True)]
    ends = np.array(spans, np.float64).reshape(-1, 2)
    return 2 * ends / (1 + ends)
