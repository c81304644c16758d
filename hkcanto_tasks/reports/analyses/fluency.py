"""Fluency: whether texts that were to be in Cantonese are, wherever a task asks for Cantonese."""

from collections.abc import Sequence

from hkcanto_metrics.rubric import CRITERIA

from ..blocks import Block, Chart, Column, Section
from ..evaluations import Evaluation
from ..figures import figure
from .figure_tables import figure_table
from .presentation import Point, SideBySide, bar_chart, figure_columns, side_by_side

_FIGURES = (
    "fluent",
    "cantonese_ratio",
    "simplified_ratio",
    "degenerate",
    "empty",
    "n_characters",
    "length_penalty",
)
_JUDGED = {
    "judged_score": Column(
        "Judged score", "percent", "Points as a share of those to be had, less for length."
    ),
    **{
        criterion: Column(criterion.capitalize(), "number", "Mean points, 5, 3 or 1.")
        for criterion in CRITERIA
    },
    "fluency_disagreement_rate": Column(
        "Disagrees on fluency",
        "percent",
        "Judgements whose verdict on fluency is not that of `fluent`.",
    ),
    "judge_failure_rate": Column(
        "Failed judgements",
        "percent",
        "Judgements that could not be used; an item without any is unscored.",
        lower_is_better=True,
    ),
}


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on how Cantonese the texts are.

    Args:
        evaluations: All that was run; what has no figure `fluent` is not looked at.
    """
    written = [each for each in evaluations if "fluent" in each.items.values]
    groups = side_by_side(written)
    ordered = [each for group in groups for each in group.evaluations]
    table = figure_table(
        "Texts that were to be in Cantonese",
        ordered,
        figure_columns(ordered, _FIGURES),
        name="fluency",
        caption="Judged by the words used, as cantonesedetect (Lau, Lau and To 2024) sorts them; "
        "whether a text says the right thing is not judged. Quotations do not count.",
        with_task=True,
    )
    if table is None:
        return []
    judged = figure_table(
        "Summaries as a judge sees them",
        [each for each in ordered if "judged_score" in each.items.values],
        _JUDGED,
        name="summaries_judged",
        caption="A model gave points by the rubric of HKCanto-Eval (Appendix G.1), for which the "
        "paper had people: figures of different judges are not comparable.",
        with_task=True,
    )
    blocks: list[Block | None] = [table, _chart(groups), judged]
    return [Section("Fluency", [block for block in blocks if block], name="fluency")]


def _chart(groups: Sequence[SideBySide]) -> Chart:
    points = [
        Point(row, each.label, found)
        for group, row in zip(groups, _rows(groups), strict=True)
        for each in group.evaluations
        if (found := figure(each, "fluent"))
    ]
    return Chart(
        "Texts that pass as Cantonese",
        bar_chart(points, value="share of the texts", series="model"),
        "A bar for each model's share of texts that pass as Cantonese in each task, with its 95 % "
        "interval; the figures are those of the table above.",
    )


def _rows(groups: Sequence[SideBySide]) -> list[str]:
    """Name the rows after the tasks, whose titles are too long for a chart."""
    tasks = [group.evaluations[0].task for group in groups]
    return tasks if len(set(tasks)) == len(tasks) else [group.name for group in groups]
