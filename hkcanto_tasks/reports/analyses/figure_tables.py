"""Tables with a row for each evaluation and a column for each of its figures."""

from collections.abc import Mapping, Sequence

from ..blocks import Cell, Column, Row, Table
from ..evaluations import Evaluation
from ..figures import figure
from .presentation import cell, task_title


def figure_table(
    title: str,
    evaluations: Sequence[Evaluation],
    columns: Mapping[str, Column],
    *,
    name: str,
    caption: str,
    with_task: bool = False,
) -> Table | None:
    """Return a table of figures.

    Args:
        title: What it shows.
        evaluations: What was run.
        columns: Metric → its column. A metric that no evaluation has gets none.
        name: The table's short name.
        caption: What the figures mean.
        with_task: Whether to name the task and its condition, for evaluations of several.

    Returns:
        The table, without the evaluations that have none of the figures; None if none has any.
    """
    figures = [[figure(evaluation, metric) for metric in columns] for evaluation in evaluations]
    used = [any(column) for column in zip(*figures, strict=True)]
    if not any(used):
        return None
    rows = []
    for evaluation, found in zip(evaluations, figures, strict=True):
        if any(found):
            texts = [evaluation.label, *([task_title(evaluation)] if with_task else [])]
            shown = [cell(each) for each, has in zip(found, used, strict=True) if has]
            rows.append(Row([*map(Cell, texts), *shown], kind="run"))
    headings = [
        Column("Model"),
        *([Column("Task")] if with_task else []),
        *(column for column, has in zip(columns.values(), used, strict=True) if has),
    ]
    return Table(title, headings, rows, caption, name)
