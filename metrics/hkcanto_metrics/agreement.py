"""How well a judge agrees with people who scored the same items.

The authors of HKCanto-Eval publish human evaluation "for verifying the validity and consistency of
LLM-as-a-judge" (Section 3.6); these are the figures to verify it with.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

import numpy as np

Level = Literal["interval", "ordinal"]
HumanScores = Mapping[str, Mapping[str, Sequence[float]]]
JudgeScores = Mapping[str, Mapping[str, float]]

_ID = "id"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement between a judge and people on one criterion. NaN where a figure is undefined.

    Attributes:
        criterion: What was scored, e.g. ``fluency``.
        items: Number of items that both scored.
        pearson: Linear correlation of the judge's score with the mean of the people's, -1 to 1.
        spearman: Their rank correlation.
        kendall: Their rank correlation by pairs, tau-b.
        alpha: Krippendorff's alpha of the judge and the mean of the people as two raters. Unlike a
            correlation it drops when the judge is too lenient or too strict.
        human_alpha: Krippendorff's alpha among the people, which no judge can be expected to beat.
    """

    criterion: str
    items: int
    pearson: float
    spearman: float
    kendall: float
    alpha: float
    human_alpha: float


def agreement(judge: JudgeScores, human: HumanScores, level: Level = "interval") -> list[Agreement]:
    """Compare a judge's scores with people's, criterion by criterion.

    Args:
        judge: Criterion → item → the judge's score.
        human: Criterion → item → the scores that people gave it, in the same unit.
        level: How Krippendorff's alpha reads the scores, see `krippendorff_alpha`.

    Returns:
        One row for each criterion of ``human``, in its order.

    Raises:
        ValueError: The judge has no scores for a criterion, or none for any of its items.

    >>> judge = {"fluency": {"a": 5, "b": 3, "c": 1}}
    >>> [row] = agreement(judge, {"fluency": {"a": [5, 5], "b": [3, 5], "c": [1, 1]}})
    >>> row.items, round(row.pearson, 3), round(row.human_alpha, 3)
    (3, 0.961, 0.828)
    """
    return [_agreement(criterion, judge, items, level) for criterion, items in human.items()]


def krippendorff_alpha(units: Iterable[Iterable[float]], level: Level = "interval") -> float:
    """Return Krippendorff's alpha, the chance-corrected agreement of any number of raters.

    Krippendorff, *Computing Krippendorff's Alpha-Reliability* (2011). 1 is perfect agreement, 0
    what chance would give, less is systematic disagreement.

    Args:
        units: For each item the scores that its raters gave; items may have different numbers of
            raters, and those with fewer than two are left out.
        level: ``interval``: differences between scores mean what their size says, as in the paper,
            which adds points up; ``ordinal``: only their order counts.

    Returns:
        Alpha; NaN where it is undefined, because no item has two scores or all scores are equal.

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 4]]), 3)
    0.878
    """
    pairable = [scores for unit in units if len(scores := list(unit)) > 1]
    if not pairable:
        return math.nan
    if level == "ordinal":
        pairable = _mid_ranks(pairable)
    pooled = np.concatenate(pairable)
    if not np.ptp(pooled):
        return math.nan
    # Disagreement is the mean squared difference of all pairs, which is twice the variance.
    observed = sum(len(scores) * float(np.var(scores, ddof=1)) for scores in pairable)
    expected = len(pooled) * float(np.var(pooled, ddof=1))
    return 1 - observed / expected


def read_human_scores(
    path: str | Path, criteria: Collection[str]
) -> dict[str, dict[str, list[float]]]:
    """Read people's scores from a CSV file.

    Its header has ``id`` and one column for each criterion scored. There is a row for each item and
    rater. A blank cell is a score not given; other columns, such as comments, are not read.

    Args:
        path: The file, in UTF-8.
        criteria: The criteria that there are.

    Returns:
        Criterion → item → scores, for the criteria that the file has.

    Raises:
        ValueError: The file has no ``id`` or no criterion, or a score is no number.
    """
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        columns = rows.fieldnames or []
        found = [column for column in columns if column in criteria]
        if _ID not in columns or not found:
            raise ValueError(
                f"{path}: the header is {', '.join(columns) or 'empty'}; it must have {_ID!r} and "
                f"at least one of {', '.join(criteria)}"
            )
        scores: dict[str, dict[str, list[float]]] = {criterion: {} for criterion in found}
        for row in rows:
            for criterion in found:
                if cell := (row[criterion] or "").strip():
                    value = _number(cell, f"{path}, line {rows.line_num}, {criterion!r}")
                    scores[criterion].setdefault(row[_ID].strip(), []).append(value)
    return scores


def _agreement(
    criterion: str, judge: JudgeScores, human: Mapping[str, Sequence[float]], level: Level
) -> Agreement:
    from scipy import stats

    if criterion not in judge:
        raise ValueError(f"the judge did not score {criterion!r}; it scored {', '.join(judge)}")
    shared = [item for item in human if item in judge[criterion]]
    if not shared:
        raise ValueError(
            f"{criterion}: the judge and the people have no item in common; the ids must be the "
            f"same. The judge has {min(judge[criterion])!r}, the people have {min(human)!r}"
        )
    by_judge = [float(judge[criterion][item]) for item in shared]
    by_people = [fmean(human[item]) for item in shared]
    varied = len(set(by_judge)) > 1 and len(set(by_people)) > 1

    def correlation(measure: str) -> float:
        result = getattr(stats, measure)(by_judge, by_people) if varied else None
        return math.nan if result is None else float(result.statistic)

    return Agreement(
        criterion=criterion,
        items=len(shared),
        pearson=correlation("pearsonr"),
        spearman=correlation("spearmanr"),
        kendall=correlation("kendalltau"),
        alpha=krippendorff_alpha(zip(by_judge, by_people, strict=True), level),
        human_alpha=krippendorff_alpha([human[item] for item in shared], level),
    )


def _mid_ranks(units: list[list[float]]) -> list[list[float]]:
    """Replace each score by the middle of the ranks that its value takes up among all scores.

    The ordinal difference of two scores is then their interval difference.
    """
    values, counts = np.unique(np.concatenate(units), return_counts=True)
    middle = dict(zip(values.tolist(), (np.cumsum(counts) - counts / 2).tolist(), strict=True))
    return [[middle[score] for score in scores] for scores in units]


def _number(cell: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{where}: {cell!r} is no number; leave a missing score blank")
    return value
