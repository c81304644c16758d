"""The overview: every evaluation with its headline, what to know of it, and whether we agree."""

import math
from collections.abc import Sequence

from ..blocks import Block, Cell, Chart, Column, Note, Row, Section, Table
from ..evaluations import Evaluation
from ..figures import figure
from .presentation import (
    Point,
    bar_chart,
    cell,
    condition_title,
    figure_title,
    headline,
    headline_title,
    side_by_side,
    task_title,
)

# The kinds' names for the share of responses that nothing could be read from.
_NAMED = 3  # Examples that a remark gives.
_UNREAD = ("unparsed_rate", "invalid_rate", "empty")
_TOLERANCE = 1e-9


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return the first section of a report: a row for each evaluation, and remarks on them."""
    if not evaluations:
        return []
    groups = side_by_side(evaluations)
    ordered = [evaluation for group in groups for evaluation in group.evaluations]
    blocks: list[Block] = [_headlines(ordered)]
    if len({evaluation.named.entry.name for evaluation in ordered}) > 1:
        blocks.append(_chart(ordered))
    blocks += [*_remarks(ordered), _agreement(ordered), _signatures(ordered)]
    return [Section("Overview", blocks, name="overview", is_summary=True)]


def _headlines(evaluations: Sequence[Evaluation]) -> Table:
    columns = [
        Column("Model"),
        Column("Task"),
        Column("Condition"),
        Column("Measure", help="The figure that the benchmark's paper reports first."),
        Column(
            "Result", "percent", help="That figure, with its 95 % interval.", lower_is_better=None
        ),
        Column("Items", "count", help="How many questions were answered."),
        Column(
            "Unparsed",
            "percent",
            help="Responses that no answer could be read from; they count as wrong.",
            lower_is_better=None,
        ),
        Column("Data", help="Which version of the data."),
    ]
    rows = []
    for evaluation in evaluations:
        entry = evaluation.named.entry
        unread = next((name for name in _UNREAD if name in evaluation.items.values), None)
        rows.append(
            Row(
                [
                    Cell(evaluation.label),
                    Cell(" ".join(filter(None, (entry.title, entry.chinese)))),
                    Cell(condition_title(evaluation)),
                    Cell(headline_title(evaluation)),
                    cell(headline(evaluation)),
                    Cell(len(evaluation.items), note="" if evaluation.complete else "not all"),
                    cell(figure(evaluation, unread) if unread else None),
                    Cell(evaluation.data),
                ],
                kind="run",
            )
        )
    caption = "Rows of one task under one condition are comparable; others are not."
    return Table("Results", columns, rows, caption, name="overview")


def _chart(evaluations: Sequence[Evaluation]) -> Chart:
    points = [
        Point(task_title(evaluation), evaluation.label, found)
        for evaluation in evaluations
        if (found := headline(evaluation)) is not None
    ]
    return Chart(
        "Results by task",
        bar_chart(points, value="Result", series="Model"),
        "A bar for each model's result in each task, with its 95 % interval, as in the table. "
        "Bars of different tasks are different measures, some of which are better when shorter.",
    )


def _remarks(evaluations: Sequence[Evaluation]) -> list[Note]:
    notes = []
    if sample := [evaluation for evaluation in evaluations if evaluation.is_sample]:
        all_of_it = len(sample) == len(evaluations)
        which = "All of this is" if all_of_it else f"Of the rows above, {len(sample)} are"
        notes.append(
            Note(
                f"{which} from the sample data that ships with this package, for trying things "
                "out. Such figures are comparable with nothing, published results least of all.",
                "warning",
            )
        )
    partial = [run for run in evaluations if not run.complete and not run.is_sample]
    if partial:
        counts = "; ".join(_count(evaluation) for evaluation in partial[:_NAMED])
        if len(partial) > _NAMED:
            counts += f"; and {len(partial) - _NAMED} more"
        notes.append(
            Note(
                f"Not all items were run: {counts}. A part of a benchmark is not comparable with "
                "all of it.",
                "warning",
            )
        )
    return notes + [Note(f"{_name(run)}: {text}") for run in evaluations for text in run.notes]


def _count(evaluation: Evaluation) -> str:
    expected = evaluation.expected
    missing = len(evaluation.named.subjects) - len(evaluation.subjects)
    lacking = f" ({missing} subjects are missing)" if missing else ""
    items = len(set(evaluation.items.ids))
    return f"{_name(evaluation)} has {items:,} of {expected:,} items{lacking}"


def _agreement(evaluations: Sequence[Evaluation]) -> Note:
    """Say whether our figures are those that the harnesses report, which nothing else checks."""
    equal, different = 0, []
    for evaluation in evaluations:
        for (subjects, name), reported in evaluation.reported.items():
            where = evaluation.items.of_subjects(subjects) if subjects else None
            ours = None if math.isnan(reported) else figure(evaluation, name, where)
            if ours is None:
                continue
            if math.isclose(ours.value, reported, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
                equal += 1
            else:
                known = evaluation.figures.get(name)
                title = figure_title(evaluation, known) if known else name
                place = f" of {', '.join(subjects)}" if subjects else ""
                different.append(
                    f"{_name(evaluation)}: {title}{place} is {ours.value:.6g} here, "
                    f"{reported:.6g} in {evaluation.harness}"
                )
    if different:
        more = f"; and {len(different) - _NAMED} more" if len(different) > _NAMED else ""
        return Note(
            f"{len(different)} figures differ from those that the harnesses report, {equal} are "
            f"equal. {'; '.join(different[:_NAMED])}{more}. Were logs edited, or made by another "
            "version of this package?",
            "warning",
        )
    if not equal:
        return Note("The logs hold no figures of the harnesses to check these against.")
    return Note(f"{equal:,} figures equal those that the harnesses report.")


def _signatures(evaluations: Sequence[Evaluation]) -> Table:
    columns = [Column("Model"), Column("Harness"), Column("Signature"), Column("Run on")]
    rows = [
        Row(
            [
                Cell(evaluation.label, note=evaluation.model),
                Cell(evaluation.harness),
                Cell(evaluation.signature),
                Cell(f"{evaluation.created:%Y-%m-%d %H:%M}"),
            ],
            kind="run",
        )
        for evaluation in evaluations
    ]
    caption = (
        "How each number was made: only numbers with one signature are comparable, but for `pkg`."
    )
    return Table("Signatures", columns, rows, caption, name="signatures")


def _name(evaluation: Evaluation) -> str:
    return f"{evaluation.label} on {task_title(evaluation)}"
