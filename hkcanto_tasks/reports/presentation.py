"""How evaluations are shown: which stand side by side, and what people call them."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from ..records import Figure
from .blocks import Column, Value, column_of
from .evaluations import Evaluation
from .figures import Estimate, figure

FigureColumn = tuple[Column, Callable[[Evaluation], Value]]
MODEL: FigureColumn = (Column("Model"), lambda run: run.label)


class SideBySide(NamedTuple):
    """Evaluations of one task under one condition, one for each model; the name is a short title
    of letters, digits and `_`."""

    title: str
    name: str
    evaluations: Sequence[Evaluation]


def side_by_side(evaluations: Sequence[Evaluation]) -> list[SideBySide]:
    """Sort evaluations by what they share: the task, the shots, the options and the data."""
    groups: dict[Hashable, list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        groups[evaluation.comparable_as].append(evaluation)
    found: list[SideBySide] = []
    for group in groups.values():
        first = group[0]
        name = short_name(first.task, first.condition, "sample" if first.is_sample else "")
        if any(other.name == name for other in found):
            name = f"{name}_{len(found) + 1}"
        found.append(SideBySide(task_title(first), name, tuple(group)))
    return found


def short_name(*parts: str) -> str:
    """Join texts to a name of letters, digits and `_`, such as `hkmmlu_0_shot_prompt_yue`."""
    return re.sub(r"[^A-Za-z0-9]+", "_", " ".join(parts)).strip("_")


def task_title(evaluation: Evaluation) -> str:
    """Return a task's title with its condition."""
    sample = ["sample data"] if evaluation.is_sample else []
    return ", ".join([evaluation.named.definition.title, condition_title(evaluation), *sample])


TASK: FigureColumn = (Column("Task and condition"), task_title)


def condition_title(evaluation: Evaluation) -> str:
    """Return the condition, with what the name of a variant stands for besides its shots."""
    variant = evaluation.named.variant
    words = {
        "chain of thought": variant.cot,
        "Simplified script": variant.script == "sc",
        "log-likelihood": variant.scoring == "loglikelihood",
    }
    return ", ".join([*(word for word, holds in words.items() if holds), evaluation.condition])


def figure_title(evaluation: Evaluation, metric: Figure) -> str:
    """Return what people call a figure of an evaluation, with what it averages."""
    if metric.averages == metric.name:
        return metric.title
    title = metric.title if metric.part else metric.title.lower()
    return f"{evaluation.figures[metric.averages].title}, {title}"


def headline_title(evaluation: Evaluation) -> str:
    """Return what people call the figure to read first, and which way is good if it is down."""
    title = figure_title(evaluation, evaluation.headline)
    return title if evaluation.headline.higher_is_better else f"{title} (lower is better)"


def headline(evaluation: Evaluation) -> Estimate | None:
    """Return the figure to read first."""
    return figure(evaluation, evaluation.headline.name)


def headline_column(evaluation: Evaluation, *, drawn: bool = False) -> Column:
    """Return the column of the figure to read first."""
    return column_of(evaluation.headline, headline_title(evaluation), drawn=drawn)


def figure_columns(evaluations: Sequence[Evaluation], names: Iterable[str]) -> list[FigureColumn]:
    """Return a column for each of some figures that a task of some evaluation has."""
    known = {name: metric for run in evaluations for name, metric in run.figures.items()}
    found = [name for name in names if name in known]
    return [(column_of(known[name]), partial(figure, name=name)) for name in found]
