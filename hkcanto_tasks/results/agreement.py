"""Agreement of a judge's scores with people's: the report of `hkcanto agreement`."""

from contextlib import suppress
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import get_args

import numpy as np

from hkcanto_metrics import rates
from hkcanto_metrics.agreement import (
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

_FEW = 5
_OF_LEVELS = (
    TableColumn("Exact", "percent", "Share of people's levels that equal the judge's."),
    TableColumn(
        "Weighted kappa", "number", "Cohen's, quadratic weights, of judge and person."
    ),
)
_OF_SCORES = (
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
    runs: list[Run] = []
    with suppress(LogError):
        runs = [run for run in read_runs(log) if isinstance(run.kind, Judged)]
    if len(runs) > 1:
        raise LogError(
            f"{log} has {len(runs)} runs with a rubric. Give the log of one of them."
        )
    run = next(iter(runs), None)
    try:
        judge = {"level": _levels(run)} if run else judge_scores(log)
        human = read_human_scores(people, judge)
        rows = agreement(judge, human)
    except (OSError, ValueError) as error:
        raise LogError(f"{log} and {people}: {error}") from error
    if run and isinstance(run.kind, Judged):
        scale = {each.number: each.name for each in run.kind.rubric.levels}
        for item, levels in human["level"].items():
            if odd := [level for level in levels if level not in scale]:
                named = ", ".join(
                    f"{number} ({name})" for number, name in scale.items()
                )
                what = f"{item} has the level {odd[0]:g}, but the scale of {run.task} is {named}"
                raise LogError(
                    f"{people}: {what}. Give people's levels on the same scale."
                )
    listed = []
    for row in rows:
        of_judge, of_people = judge[row.criterion], human[row.criterion]
        pairs = [
            (of_judge[item], each)
            for item, each in of_people.items()
            if item in of_judge
        ]
        values: list[Value] = [row.criterion, row.items]
        if run:
            exact = [
                fmean(level == judged for level in levels) for judged, levels in pairs
            ]
            values.append(mean_estimate(np.array(exact), np.arange(len(exact))))
            values.append(
                _figure(weighted_kappa(*zip(*pairs, strict=True)), len(pairs))
            )
        for kind in get_args(Correlation):
            correlation = rates.RateEstimate(getattr(row, kind), *row.intervals[kind])
            values.append(_figure(correlation, row.items))
        means = [fmean(scores) for _, scores in pairs]
        at_end = max(means.count(end) for end in (min(means), max(means)))
        is_piled = len(means) - at_end < _FEW and 2 * at_end > len(means)
        # The interval is too narrow.
        note = (
            f"too sure: {at_end:,} of {len(means):,} at an end of the scale"
            if is_piled
            else ""
        )
        values += [row.alpha, row.human_alpha, _figure(row.bias, row.items)]
        listed.append(TableRow([*values, _figure(row.corrected, row.items, note)]))
    title = "Agreement of the judge with people"
    columns = [
        TableColumn("Criterion"),
        TableColumn("Items", "count"),
        *(_OF_LEVELS if run else ()),
    ]
    made = TableBlock("agreement", title, [*columns, *_OF_SCORES], listed)
    return report_of([Section(title, [made], "agreement", True)], title)


def _levels(run: Run) -> dict[str, float]:
    where = run.sources[0]
    if len(set(run.items.ids)) < len(run.items):
        what = "several answers to an item, and people's levels do not say which one they rate"
        raise LogError(f"{where} has {what}. Run it with one epoch.")
    values = run.items.values.get(
        "mean_level", np.full(len(run.items), np.nan)
    ).tolist()
    levels = zip(run.items.ids, values, strict=True)
    if judged := {name: level for name, level in levels if not isnan(level)}:
        return judged
    command = f"hkcanto rescore {where} --grader openai/gpt-4o -o judged"
    raise LogError(f"{where}: no answer has a level. Judge them: {command}.")


def _figure(estimate: rates.RateEstimate, items: int, note: str = "") -> Estimate:
    low, high = (None if isnan(end) else end for end in (estimate.low, estimate.high))
    return Estimate(estimate.value, low, high, items, note)
