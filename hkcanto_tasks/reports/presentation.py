"""How evaluations are shown: which stand side by side, and what people call them."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from ..figures import Figure
from ..runs import Run
from .blocks import Column, Value, column_of
from .estimates import Estimate, estimate

FigureColumn = tuple[Column, Callable[[Run], Value]]
MODEL: FigureColumn = (Column("Model"), lambda run: run.label)


class SideBySide(NamedTuple):
    """Evaluations of one task under one condition, one for each model; the name is a short title
    of letters, digits and `_`."""

    title: str
    name: str
    evaluations: Sequence[Run]


def side_by_side(evaluations: Sequence[Run]) -> list[SideBySide]:
    """Sort evaluations by what they share: the task, the shots, the options and the data."""
    groups: dict[Hashable, list[Run]] = defaultdict(list)
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


def task_title(evaluation: Run) -> str:
    """Return a task's title with its condition."""
    sample = ["sample data"] if evaluation.is_sample else []
    return ", ".join([evaluation.setup.task.definition.title, condition_title(evaluation), *sample])


TASK: FigureColumn = (Column("Task and condition"), task_title)


def condition_title(evaluation: Run) -> str:
    """Return the condition, with what the name of a variant stands for besides its shots."""
    variant = evaluation.setup.task.variant
    words = {
        "chain of thought": variant.cot,
        "Simplified script": variant.script == "sc",
        "log-likelihood": variant.scoring == "loglikelihood",
    }
    return ", ".join([*(word for word, holds in words.items() if holds), evaluation.condition])


def figure_title(evaluation: Run, metric: Figure) -> str:
    """Return what people call a figure of an evaluation, with what it averages."""
    if metric.averages == metric.name:
        return metric.title
    title = metric.title if metric.part else metric.title.lower()
    return f"{evaluation.figures[metric.averages].title}, {title}"


def headline_title(evaluation: Run) -> str:
    """Return what people call the figure to read first, and which way is good if it is down."""
    title = figure_title(evaluation, evaluation.headline)
    return title if evaluation.headline.higher_is_better else f"{title} (lower is better)"


def headline(evaluation: Run) -> Estimate | None:
    """Return the figure to read first."""
    return estimate(evaluation, evaluation.headline.name)


def headline_column(evaluation: Run, *, drawn: bool = False) -> Column:
    """Return the column of the figure to read first."""
    return column_of(evaluation.headline, headline_title(evaluation), drawn=drawn)


def figure_columns(evaluations: Sequence[Run], names: Iterable[str]) -> list[FigureColumn]:
    """Return a column for each of some figures that a task of some evaluation has."""
    known = {name: metric for run in evaluations for name, metric in run.figures.items()}
    found = [name for name in names if name in known]
    return [(column_of(known[name]), partial(estimate, name=name)) for name in found]
