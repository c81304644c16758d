"""Agreement of a judge's scores with people's: the report of `hkcanto agreement`."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import get_args

import numpy as np

from hkcanto_metrics import rates
from hkcanto_metrics.agreement import (
    Agreement,
    Correlation,
    agreement,
    read_human_scores,
    weighted_kappa,
)

from ..errors import LogError
from ..kinds.judged import Judged
from .logs import read_runs
from .logs.inspect import judge_scores
from .reports.blocks import (
    Estimate,
    Report,
    Section,
    TableBlock,
    TableColumn,
    TableRow,
    Value,
    report_of,
)
from .runs import Run
from .statistics.estimates import mean_estimate

_MIN_SPREAD = 5  # items away from the commonest end of the scale
_LEVEL_COLUMNS = (
    TableColumn("Exact", "percent", "Share of people's levels that equal the judge's."),
    TableColumn(
        "Weighted kappa", "number", "Cohen's, quadratic weights, of judge and person."
    ),
)
_SCORE_COLUMNS = (
    *(TableColumn(kind.title(), "number") for kind in get_args(Correlation)),
    TableColumn(
        "Alpha", "number", "Krippendorff's, of the judge and the mean of the people."
    ),
    TableColumn("People's alpha", "number", "Among the people."),
    TableColumn("Bias", "number", "The judge's mean minus the people's mean."),
    TableColumn(
        "Corrected mean", "number", "Estimate of people's mean on all judged items."
    ),
)


def agreement_report(log: Path, people: Path) -> Report:
    """Compare the judge's scores in an Inspect log with people's in a CSV file.

    Args:
        log: A log of a task with a judge, or a log from `hkcanto rescore --grader`.
        people: A CSV file with a column `id` (the item's id in the log) and a column for each
            criterion, in the judge's units: `judged_accuracy` and `judged_score` from 0 to 1, the
            criteria of summaries from 1 to 5, `level` by the rubric's own scale. It has one row
            for each item and person.

    Returns:
        A report with one row for each criterion of the file.

    Raises:
        LogError: The log lacks a judge's scores, or the file and the log disagree, for example
            because its levels are not on the rubric's scale.
    """
    run = _rubric_run(log)
    try:
        judge = {"level": _levels(run)} if run else judge_scores(log)
        human = read_human_scores(people, judge)
        criteria = agreement(judge, human)
    except (OSError, ValueError) as error:
        raise LogError(f"{log} and {people}: {error}") from error
    if run and isinstance(run.kind, Judged):
        _check_scale(human["level"], run.kind, people)

    columns = [TableColumn("Criterion"), TableColumn("Items", "count")]
    if run:
        columns += _LEVEL_COLUMNS
    columns += _SCORE_COLUMNS
    rows = []
    for criterion in criteria:
        name = criterion.criterion
        pairs = _pairs(judge[name], human[name])
        values = _values(criterion, pairs, has_levels=run is not None)
        rows.append(TableRow(values))
    title = "Agreement of the judge with people"
    block = TableBlock(
        "agreement",
        title,
        columns,
        rows,
    )
    return report_of(
        [
            Section(
                title,
                [block],
                "agreement",
                is_summary=True,
            )
        ],
        title,
    )


def _values(
    criterion: Agreement,
    pairs: Sequence["_ItemScores"],
    *,
    has_levels: bool,
) -> list[Value]:
    """Return the row of a criterion."""
    values: list[Value] = [criterion.criterion, criterion.items]
    if has_levels:
        values += _level_values(pairs)
    means = [fmean(scores) for _, scores in pairs]
    return [*values, *_score_values(criterion, means)]


def _rubric_run(log: Path) -> Run | None:
    runs: list[Run] = []
    with suppress(LogError):
        runs = [run for run in read_runs(log) if isinstance(run.kind, Judged)]
    if len(runs) > 1:
        raise LogError(
            f"{log} has {len(runs)} runs with a rubric. Give the log of one of them."
        )
    return runs[0] if runs else None


def _levels(run: Run) -> dict[str, float]:
    """Return the judge's level of each item."""
    source = run.sources[0]
    if len(set(run.items.ids)) < len(run.items):
        raise LogError(
            f"{source} has several answers to an item, and people's levels do not say "
            "which one they rate. Run it with one epoch."
        )
    unknown = np.full(len(run.items), np.nan)
    levels = run.items.values.get("mean_level", unknown).tolist()
    ratings = zip(run.items.ids, levels, strict=True)
    judged = {item: level for item, level in ratings if not isnan(level)}
    if not judged:
        raise LogError(
            f"{source}: no answer has a level. Judge them: "
            f"hkcanto rescore {source} --grader openai/gpt-4o -o judged."
        )
    return judged


def _check_scale(
    human: Mapping[str, Sequence[float]],
    kind: Judged,
    people: Path,
) -> None:
    scale = {level.number: level.name for level in kind.rubric.levels}
    for item, levels in human.items():
        for level in levels:
            if level not in scale:
                named = ", ".join(f"{n} ({name})" for n, name in scale.items())
                raise LogError(
                    f"{people}: {item} has the level {level:g}, but the scale of "
                    f"{kind.task.name} is {named}. Give people's levels on the same scale."
                )


_ItemScores = tuple[
    float, Sequence[float]
]  # of an item: the judge's score, and people's


def _pairs(
    judge: Mapping[str, float], human: Mapping[str, Sequence[float]]
) -> list[_ItemScores]:
    return [(judge[item], scores) for item, scores in human.items() if item in judge]


def _level_values(pairs: Sequence[_ItemScores]) -> list[Value]:
    exact = []
    for judged, levels in pairs:
        exact.append(fmean(level == judged for level in levels))
    kappa = weighted_kappa(*zip(*pairs, strict=True))
    return [
        mean_estimate(np.array(exact), np.arange(len(exact))),
        _estimate(kappa, len(pairs)),
    ]


def _score_values(criterion: Agreement, means: Sequence[float]) -> list[Value]:
    """Return the values of a criterion's columns; `means` are people's mean scores of items."""
    items = criterion.items
    values: list[Value] = []
    for kind in get_args(Correlation):
        ends = criterion.intervals[kind]
        correlation = rates.RateEstimate(getattr(criterion, kind), *ends)
        values.append(_estimate(correlation, items))
    values += [criterion.alpha, criterion.human_alpha, _estimate(criterion.bias, items)]
    # The interval is too narrow if most items are at one end of the scale.
    at_end = max(means.count(min(means)), means.count(max(means)))
    note = ""
    if len(means) - at_end < _MIN_SPREAD and 2 * at_end > len(means):
        note = f"too sure: {at_end:,} of {len(means):,} at an end of the scale"
    return [*values, _estimate(criterion.corrected, items, note)]


def _estimate(
    estimate: rates.RateEstimate,
    items: int,
    note: str = "",
) -> Estimate:
    low = None if isnan(estimate.low) else estimate.low
    high = None if isnan(estimate.high) else estimate.high
    return Estimate(
        estimate.value,
        low,
        high,
        items,
        note,
    )
