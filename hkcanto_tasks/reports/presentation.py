"""How evaluations are shown: which stand side by side, and what people call them."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..records import Metric
from .blocks import Column, Value, column_of
from .evaluations import Evaluation
from .figures import Figure, Mask, figure

FigureColumn = tuple[Column, Callable[[Evaluation], Value]]
MODEL: FigureColumn = (Column("Model"), lambda run: run.label)


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Evaluations of one task under one condition, which differ in model.

    Attributes:
        title: The task and the condition.
        name: The same as a short name: letters, digits and `_`.
        evaluations: One per model.
    """

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
    """Join texts to a name of letters, digits and `_`.

    Example:
        >>> short_name("hkmmlu", "0-shot, prompt:yue+scaffold")
        'hkmmlu_0_shot_prompt_yue_scaffold'
    """
    return re.sub(r"[^A-Za-z0-9]+", "_", " ".join(parts)).strip("_")


def task_title(evaluation: Evaluation) -> str:
    """Return a task's title with its condition."""
    sample = ["sample data"] if evaluation.is_sample else []
    return ", ".join([evaluation.named.entry.title, condition_title(evaluation), *sample])


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


def figure_title(evaluation: Evaluation, metric: Metric) -> str:
    """Return what people call a figure of an evaluation, with what it averages."""
    if metric.averages == metric.name:
        return metric.title
    title = metric.title if metric.part else metric.title.lower()
    return f"{evaluation.figures[metric.averages].title}, {title}"


def headline_title(evaluation: Evaluation) -> str:
    """Return what people call the figure to read first, and which way is good if it is down."""
    title = figure_title(evaluation, evaluation.headline)
    return title if evaluation.headline.higher_is_better else f"{title} (lower is better)"


def headline(evaluation: Evaluation, where: Mask | None = None) -> Figure | None:
    """Return the figure to read first."""
    return figure(evaluation, evaluation.headline.name, where)


def headline_column(evaluation: Evaluation, title: str = "", *, drawn: bool = False) -> Column:
    """Return the column of the figure to read first."""
    title = title or headline_title(evaluation)
    return column_of(evaluation.headline, title, drawn=drawn)


def category_figure(evaluation: Evaluation) -> str:
    """Return the figure of a category: TMMLU+ averages its subjects, others its questions."""
    return "acc_macro" if evaluation.headline.over == "categories" else "acc"


def categories(evaluation: Evaluation) -> Mapping[str, Sequence[str]]:
    """Return category → the names of its subjects that the evaluation has items of."""
    found: dict[str, list[str]] = defaultdict(list)
    for subject in evaluation.subjects:
        if subject.category:
            found[subject.category].append(subject.name)
    return found


def figure_columns(evaluations: Sequence[Evaluation], names: Iterable[str]) -> list[FigureColumn]:
    """Return a column for each of some figures that a task of some evaluation has."""
    known = {name: metric for run in evaluations for name, metric in run.figures.items()}

    def of(name: str) -> Callable[[Evaluation], Value]:
        return lambda run: figure(run, name)

    return [(column_of(known[name]), of(name)) for name in names if name in known]
