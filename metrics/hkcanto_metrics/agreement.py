"""How well a judge agrees with people who scored the same items.

The authors of HKCanto-Eval publish human evaluation "for verifying the validity and consistency of
LLM-as-a-judge" (Section 3.6). The figures here measure that consistency.
"""

import csv
import math
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hkcanto_metrics.rates import RateEstimate

Correlation = Literal["pearson", "spearman", "kendall"]
Scores = Sequence[float]
HumanScores = Mapping[str, Mapping[str, Scores]]
JudgeScores = Mapping[str, Mapping[str, float]]
_Array = NDArray[np.float64]
_ScoresByItem = dict[str, dict[str, list[float]]]

_FEWEST_FOR_JACKKNIFE = 5
_PERFECT = 1 - 1e-9
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_LARGEST_SCORE = 1e9  # the squares of larger ones soon overflow


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement between a judge and people on one criterion. NaN where a figure is undefined.

    Attributes:
        criterion: The quality that was scored, e.g. ``fluency``.
        items: Number of items that both scored.
        pearson: Linear correlation of the judge's score with the mean of the people's, -1 to 1.
        spearman: Spearman's rank correlation of the same scores, -1 to 1.
        kendall: Kendall's rank correlation (tau-b) of the same scores, -1 to 1.
        alpha: Krippendorff's alpha of the judge and the mean of the people as two raters. Unlike a
            correlation it drops when the judge is too lenient or too strict.
        human_alpha: Krippendorff's alpha among the people. No judge can be expected to beat it.
        intervals: Correlation → its 95 % interval, see `correlation`.
        bias: The judge's mean minus the people's mean, on the items that both scored.
        corrected: The people's mean on all items that the judge scored, see `corrected_mean`.
    """

    criterion: str
    items: int
    pearson: float
    spearman: float
    kendall: float
    alpha: float
    human_alpha: float
    intervals: Mapping[Correlation, tuple[float, float]]
    bias: RateEstimate
    corrected: RateEstimate


def agreement(judge: JudgeScores, human: HumanScores) -> list[Agreement]:
    """Compare a judge's scores with people's, criterion by criterion.

    Args:
        judge: Criterion → item → the judge's score.
        human: Criterion → item → the scores that people gave it, in the same unit.

    Returns:
        One row for each criterion of ``human``, in its order.

    Raises:
        ValueError: The judge did not score a criterion, or scored other items.

    Examples:
        >>> judge = {"fluency": {"a": 5, "b": 3, "c": 1}}
        >>> [row] = agreement(judge, {"fluency": {"a": [5, 5], "b": [3, 5], "c": [1, 1]}})
        >>> row.items, round(row.pearson, 3), round(row.human_alpha, 3)
        (3, 0.961, 0.828)
    """
    rows = []
    for criterion, scores in human.items():
        if criterion not in judge:
            raise ValueError(
                f"the judge did not score {criterion!r}; it scored {', '.join(judge)}"
            )
        rows.append(_criterion_agreement(criterion, judge[criterion], scores))
    return rows


def _criterion_agreement(
    criterion: str,
    judge: Mapping[str, float],
    human: Mapping[str, Scores],
) -> Agreement:
    shared = [item for item in human if item in judge]
    if not shared:
        ids = f"the judge has {min(judge)!r}, the people have {min(human)!r}"
        raise ValueError(
            f"{criterion}: no item in common; give both the same ids: {ids}"
        )
    judge_scores = [float(judge[item]) for item in shared]
    human_means = [fmean(human[item]) for item in shared]
    unlabelled = [score for item, score in judge.items() if item not in human]
    errors = np.subtract(judge_scores, human_means).tolist()

    correlations = {
        kind: correlation(kind, judge_scores, human_means)
        for kind in get_args(Correlation)
    }
    intervals = {
        kind: (estimate.low, estimate.high) for kind, estimate in correlations.items()
    }
    return Agreement(
        criterion=criterion,
        items=len(shared),
        pearson=correlations["pearson"].value,
        spearman=correlations["spearman"].value,
        kendall=correlations["kendall"].value,
        alpha=krippendorff_alpha(zip(judge_scores, human_means, strict=True)),
        human_alpha=krippendorff_alpha(human[item] for item in shared),
        intervals=intervals,
        bias=corrected_mean(errors, judge_scores),
        corrected=corrected_mean(human_means, judge_scores, unlabelled),
    )


def krippendorff_alpha(units: Iterable[Iterable[float]]) -> float:
    """Return Krippendorff's alpha, the chance-corrected agreement of any number of raters.

    The size of a difference between scores counts (an interval scale), as in the paper, which adds
    points up.

    Krippendorff, *Computing Krippendorff's Alpha-Reliability* (2011). 1 is perfect agreement, 0 is
    chance level, and a negative value is systematic disagreement.

    Args:
        units: For each item, the scores that its raters gave. Items may have different numbers of
            raters; items with fewer than two are left out.

    Returns:
        Alpha; NaN if it is undefined, because no item has two scores or all scores are equal.

    Examples:
        >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 4]]), 3)
        0.878
    """
    pairable = []
    for unit in units:
        scores = list(unit)
        if len(scores) > 1:
            pairable.append(scores)
    if not pairable:
        return math.nan
    pooled = np.concatenate(pairable)
    if not np.ptp(pooled):
        return math.nan
    # Disagreement is the mean squared difference of all pairs, which is twice the variance.
    observed = sum(map(_squared_differences, pairable))
    return 1 - observed / _squared_differences(pooled)


def _squared_differences(scores: Scores | _Array) -> float:
    return len(scores) * float(np.var(scores, ddof=1))


def correlation(
    kind: Correlation,
    judge: Scores,
    people: Scores,
) -> RateEstimate:
    """Return a correlation with its 95 % interval, by a jackknife on Fisher's transformation.

    The standard error comes from how far the transformed correlation moves when each item is left
    out; the interval uses Student's t. Pearson's correlation gets one additional item that moves it
    as far as the most influential one, to allow for outliers. Fisher's own interval and those of
    Bonett and Wright (2000) are too short with outliers and with many ties.

    Args:
        kind: Which correlation.
        judge: The judge's scores.
        people: People's scores of the same items, in the same order.

    Returns:
        The correlation. The ends of its interval are NaN if there are fewer than five items or all
        scores are equal. They are -1 and 1 if leaving out some item makes the correlation perfect
        or undefined.

    Examples:
        >>> judge, people = [5, 4, 4, 3, 2, 2, 1, 1], [5, 5, 3, 3, 3, 1, 2, 1]
        >>> estimate = correlation("pearson", judge, people)
        >>> [round(end, 2) for end in (estimate.low, estimate.high)]
        [0.36, 0.97]
    """
    pairs = np.array([judge, people], float)
    samples = [pairs]
    if len(judge) >= _FEWEST_FOR_JACKKNIFE:
        for item in range(len(judge)):
            samples.append(np.delete(pairs, item, axis=1))
    with warnings.catch_warnings(action="ignore"):  # equal scores give NaN
        value, *without = (_coefficient(kind, sample) for sample in samples)
    return _jackknifed(value, without, outlier=kind == "pearson")


def _coefficient(kind: Correlation, pairs: _Array) -> float:
    from scipy import stats

    if kind == "kendall":
        return float(stats.kendalltau(*pairs).statistic)
    if kind == "spearman":
        pairs = stats.rankdata(pairs, axis=1)
    # Equal scores become exact zeros, so that their correlation is undefined.
    judge, people = pairs - pairs[:, :1]
    return float(np.corrcoef(judge, people)[0, 1])


def _jackknifed(
    value: float,
    without: Scores,
    *,
    outlier: bool = False,
) -> RateEstimate:
    """Return a coefficient with its interval from the coefficients with each item left out.

    With ``outlier``, the one that moves farthest counts twice.
    """
    from scipy import stats

    if len(without) < _FEWEST_FOR_JACKKNIFE or math.isnan(value):
        return RateEstimate(float(value), math.nan, math.nan)
    if not np.abs(without).max() < _PERFECT:  # also if one is undefined
        return RateEstimate(float(value), -1.0, 1.0)
    center = math.atanh(value)
    moves = np.arctanh(without)
    squares = (moves - moves.mean()) ** 2
    if outlier:
        squares = np.append(squares, squares.max())
    freedom = len(without) - 1
    error = math.sqrt(squares.mean() * freedom)
    reach = stats.t.ppf(0.975, freedom) * error
    # Back from Fisher's transformation.
    low, high = np.tanh([center - reach, center + reach]).tolist()
    return RateEstimate(float(value), low, high)


def weighted_kappa(judge: Scores, people: Sequence[Scores]) -> RateEstimate:
    """Return Cohen's kappa between a judge's and people's levels, with quadratic weights.

    1 is perfect agreement, 0 is what two raters with these levels would reach by chance. A
    disagreement by two levels weighs four times as much as one by one level (Cohen 1968). If
    several people rated an item, each of their levels is paired with the judge's. The interval is
    a jackknife over items, as in `correlation`.

    Args:
        judge: The judge's level for each item.
        people: For each item, the levels that people gave it, one or more.

    Returns:
        Kappa with its interval; NaN if it is undefined, because all levels are equal.

    Examples:
        >>> weighted_kappa([0, 1, 2, 3], [[0], [1], [2], [2]]).value
        0.875
    """
    item_sums = np.zeros((len(judge), 5))
    for row, level, levels in zip(
        item_sums,
        judge,
        people,
        strict=True,
    ):
        row[:] = _kappa_sums(level, levels)
    total = item_sums.sum(axis=0)
    # The first row has all items, each other row leaves one of them out.
    sums = np.vstack([total, total - item_sums])
    pairs, judge_sum, people_sum, products, squares = sums.T
    with np.errstate(invalid="ignore"):
        chance = squares - 2 * judge_sum * people_sum / pairs
        chance = np.where(chance > 1e-9, chance, np.nan)
        value, *without = 1 - (squares - 2 * products) / chance
    return _jackknifed(value, without)


def _kappa_sums(judge_level: float, levels: Scores) -> tuple[float, ...]:
    """Return the sums over an item's pairs of levels from which kappa is computed."""
    pairs = len(levels)
    people_sum = sum(levels)
    judge_squares = pairs * judge_level * judge_level
    people_squares = sum(level * level for level in levels)
    return (
        pairs,
        judge_level * pairs,
        people_sum,
        judge_level * people_sum,
        judge_squares + people_squares,
    )


def corrected_mean(
    human: Scores,
    judge: Scores,
    unlabelled: Scores = (),
    weight: float | None = None,
) -> RateEstimate:
    """Estimate people's mean score on all items if people scored some and a judge scored all.

    Prediction-powered inference: the judge's mean on many items is corrected by its mean error on
    the items that people scored, too (Angelopoulos et al. 2023, arXiv 2301.09633). The less the
    judge follows the people, the less weight it gets (PPI++, arXiv 2311.01453). The interval uses
    Student's t in place of the normal distribution, with one degree of freedom fewer if the weight
    is estimated, and fewer still if the errors' kurtosis is high. With about 30 human-scored items
    or more, 93 to 95 of 100 intervals cover the true mean, if about five or more of these items are
    not at an end of the scale; with only one or two of them, about 80 of 100 do.

    Args:
        human: People's scores of some items, drawn at random from all.
        judge: The judge's scores of the same items, in the same order.
        unlabelled: The judge's scores of the other items.
        weight: The judge's weight, from 0 to 1; by default the one with the least variance. The
            unlabelled items may come from a different population only if the weight is 1, and then
            the judge must err alike on both.

    Returns:
        The estimated mean with its 95 % interval.

    Raises:
        ValueError: ``human`` and ``judge`` have different lengths, or are empty.

    Examples:
        >>> estimate = corrected_mean([0.5, 0.7, 0.9], [0.6, 0.8, 1.0], [0.4, 0.6], weight=1)
        >>> round(estimate.value, 3)  # 0.5 minus the 0.1 by which the judge scores too high
        0.4
    """
    from scipy import stats

    truth = np.asarray(human, float)
    guess = np.asarray(judge, float)
    rest = np.asarray(unlabelled, float)
    if not len(truth) or len(truth) != len(guess):
        raise ValueError(
            f"{len(truth)} human scores and {len(guess)} of the judge: give pairs"
        )
    freedom: float = len(truth) - 1
    if weight is None:
        weight = 0.0
        if len(rest):
            # Estimating the weight takes a degree of freedom.
            weight = _least_variance_weight(truth, guess, rest)
            freedom -= 1
    errors = truth - weight * guess
    mean = float(errors.mean())
    variance = math.nan
    if freedom > 0:
        variance = errors.var(ddof=len(truth) - freedom) / len(truth)
        squares = (errors - mean) ** 2
        spread = squares.var()
        if spread:
            # Outliers make the variance itself uncertain.
            from_kurtosis = 2 * len(truth) * squares.mean() ** 2 / spread
            freedom = min(freedom, from_kurtosis)
    if len(rest):
        mean += weight * float(rest.mean())
        variance += weight**2 * rest.var() / len(rest)
    error = math.sqrt(variance)
    reach = float(stats.t.ppf(0.975, freedom)) * error
    return RateEstimate(
        mean,
        mean - reach,
        mean + reach,
        error,
    )


def _least_variance_weight(
    truth: _Array,
    guess: _Array,
    rest: _Array,
) -> float:
    variance = np.var([*guess, *rest], ddof=1)
    variance *= 1 + len(truth) / len(rest)
    if not variance:
        return 0.0
    covariance = np.cov(truth, guess, bias=True)[0, 1]
    # A judge that contradicts people is ignored, not inverted.
    return float(np.clip(covariance / variance, 0, 1))


def read_human_scores(
    path: str | Path, criteria: Collection[str]
) -> dict[str, dict[str, list[float]]]:
    """Read people's scores from a CSV file.

    The header has ``id`` and one column for each criterion scored. There is one row for each item
    and rater. A blank cell means no score was given; other columns, such as comments, are ignored.

    Args:
        path: The file, in UTF-8.
        criteria: The names of columns to read as criteria.

    Returns:
        Criterion → item → scores, for the criteria that the file has.

    Raises:
        ValueError: The file is not a CSV in UTF-8, lacks ``id``, a criterion or a score, or a
            row or a score is malformed. The message names the file, line and column.
    """
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, strict=True)
        try:
            header = [name.strip() for name in next(rows, [])]
            columns = _criterion_columns(header, criteria)
            scores: _ScoresByItem = {criterion: {} for criterion in columns}
            for cells in rows:
                _add_row(scores, header, cells)
            if not any(scores.values()):
                raise ValueError(
                    f"there are no scores in the columns {', '.join(columns)}"
                )
        except (csv.Error, ValueError) as error:
            line = max(1, rows.line_num)
            raise ValueError(f"{path}, line {line}: {error}") from error
    return {criterion: by_item for criterion, by_item in scores.items() if by_item}


def _criterion_columns(header: list[str], criteria: Collection[str]) -> list[str]:
    columns = [name for name in header if name in criteria]
    has_repeats = len({*columns}) < len(columns)
    if header.count("id") != 1 or not columns or has_repeats:
        names = ", ".join(header) or "empty"
        wanted = f"'id' and at least one of {', '.join(criteria)}, none twice"
        raise ValueError(f"the header is {names}; it must have {wanted}")
    return columns


def _add_row(
    scores: _ScoresByItem,
    header: list[str],
    cells: list[str],
) -> None:
    stripped = [cell.strip() for cell in cells]
    if not any(stripped):
        return
    if len(stripped) != len(header):
        raise ValueError(
            f"a row has more or fewer cells than the header's {len(header)}; "
            "leave missing scores empty, quote texts with commas"
        )
    row = dict(zip(header, stripped, strict=True))
    for criterion, by_item in scores.items():
        cell = row[criterion]
        if not cell:
            continue
        is_number = _NUMBER.fullmatch(cell) is not None
        if not row["id"] or not is_number or abs(float(cell)) > _LARGEST_SCORE:
            raise ValueError(
                f"{criterion!r}: {cell!r:.80} is not a number, or lacks 'id'; "
                "leave missing scores blank"
            )
        by_item.setdefault(row["id"], []).append(float(cell))
