"""How a judge's scores agree with those of people: the report of `hkcanto agreement`."""

from collections.abc import Container, Mapping, Sequence
from math import isnan
from pathlib import Path
from statistics import fmean

from hkcanto_metrics import rates
from hkcanto_metrics.agreement import (
    Agreement,
    Correlation,
    agreement,
    read_human_scores,
)

from .errors import LogError
from .logs.inspect import judge_scores
from .reports.blocks import Column, Estimate, Report, Row, Section, Table
from .reports.report import report_of

_FEW = 10


def agreement_report(log: Path, people: Path) -> Report:
    """Compare the judge's scores in an Inspect log with people's in a CSV file.

    Args:
        log: A log of a task that was run with a judge.
        people: A CSV file with the columns `id` (the sample's id in the log) and one for each
            criterion, in the judge's units: `judged_accuracy` and `judged_score` from 0 to 1, the
            criteria of summaries from 1 to 5. One row for each item and person.

    Returns:
        A report with one row for each criterion of the file.

    Raises:
        LogError: The log has no judge's scores, or the file and the log do not fit together.
    """
    try:
        judge = judge_scores(log)
        human = read_human_scores(people, judge)
    except (OSError, ValueError) as error:
        raise LogError(str(error)) from error
    try:
        rows = agreement(judge, human)
    except ValueError as error:
        raise LogError(f"{log} and {people}: {error}") from error
    columns = [
        Column("Criterion"),
        Column("Items", "count"),
        *(Column(name, "number") for name in ("Pearson", "Spearman", "Kendall")),
        Column("Alpha", "number", "Krippendorff's, of the judge and the mean of the people."),
        Column("People's alpha", "number", "Among the people."),
        Column("Bias", "number", "The judge's mean less that of the people."),
        Column("Corrected mean", "number", "People's mean on all that was judged, estimated."),
    ]
    listed = [
        Row(
            [
                row.criterion,
                row.items,
                *(_correlation(row, kind) for kind in ("pearson", "spearman", "kendall")),
                row.alpha,
                row.human_alpha,
                _figure(row.bias, row.items),
                _figure(
                    row.corrected, row.items, _piled(human[row.criterion], judge[row.criterion])
                ),
            ]
        )
        for row in rows
    ]
    title = "Agreement of the judge with people"
    made = Table("agreement", title, columns, listed)
    return report_of([Section(title, [made], "agreement", True)], title)


def _correlation(row: Agreement, kind: Correlation) -> Estimate:
    return _figure(rates.Estimate(getattr(row, kind), *row.intervals[kind]), row.items)


def _piled(people: Mapping[str, Sequence[float]], judge: Container[str]) -> str:
    """Say so if too few scores are not at an end of the scale for an interval that holds."""
    means = [fmean(scores) for item, scores in people.items() if item in judge]
    piled = max(means.count(end) for end in (min(means), max(means)))
    few = len(means) - piled < _FEW and 2 * piled > len(means)
    return f"too sure: {piled:,} of {len(means):,} at an end of the scale" if few else ""


def _figure(estimate: rates.Estimate, items: int, note: str = "") -> Estimate:
    low, high = (None if isnan(end) else end for end in (estimate.low, estimate.high))
    return Estimate(estimate.value, low, high, items, note)
