"""Two runs that do not share their items: the difference of their figures, without pairing.

The interval is put together from the two figures' own intervals (MOVER: Zou and Donner 2008,
"Construction of confidence limits about effect measures"); for shares, whose intervals are
Wilson's, it is Newcombe's hybrid score interval (1998, method 10).
"""

from collections.abc import Iterator
from math import hypot

from ..errors import ComparisonError
from ..records import Metric
from .analyses.presentation import as_share, cell, condition_title, figure_title
from .blocks import Cell, Column, Note, Row, Section, Table
from .comparison import refuse_other_version
from .evaluations import Evaluation
from .figures import Figure, figure


def difference(a: Figure, b: Figure) -> Figure:
    """Return how much b is above a, both measured on items of their own.

    Example:
        >>> # Newcombe (1998), "Interval estimation for the difference", example (a): 56/70, 48/80.
        >>> from hkcanto_tasks.reports.figures import mean_figure
        >>> import numpy as np
        >>> def share(of, n):
        ...     return mean_figure(np.array([1.0] * of + [0.0] * (n - of)), np.arange(n))
        >>> found = difference(share(48, 80), share(56, 70))
        >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
        (0.2, 0.0524, 0.3339)
    """
    value, items = b.value - a.value, a.items + b.items
    ends = (a.low, a.high, b.low, b.high)
    if any(end is None for end in ends):
        return Figure(value, None, None, items)
    low_a, high_a, low_b, high_b = (float(end) for end in ends if end is not None)
    below = hypot(b.value - low_b, high_a - a.value)
    above = hypot(high_b - b.value, a.value - low_a)
    return Figure(value, value - below, value + above, items)


def compare_independent(a: Evaluation, b: Evaluation, metric: str | None = None) -> Section:
    """Compare two runs of a task as independent samples.

    Args:
        a: The one to compare with.
        b: The one that is compared.
        metric: A figure; the task's headline without one.

    Raises:
        ComparisonError: They are of different tasks, or have no such figure.
    """
    if a.named.entry != b.named.entry:
        raise ComparisonError(f"{a.task} and {b.task} are different tasks: give runs of the same.")
    refuse_other_version(a, b)
    name = metric or a.headline.name
    known = a.figures.get(name)
    rows = [row for title, part in _parts(a) if known and (row := _row(title, known, a, b, part))]
    if not known or not rows:
        raise ComparisonError(f"{a.task}: no figure {name!r} in both {a.label} and {b.label}.")
    how = [condition_title(each) for each in (a, b)]
    caption = (
        f"{b.label} ({how[1]}) minus {a.label} ({how[0]}), as independent samples: intervals by "
        "Newcombe's hybrid score method (MOVER)."
    )
    columns = [
        Column("Part"),
        Column(a.label, "percent"),
        Column(b.label, "percent"),
        Column("Difference", "points", "In points, with 95 % interval; significant without 0."),
    ]
    note = Note(
        "The items are not matched. Where both runs have the same items, a paired comparison is "
        "far more sensitive: leave --no-paired out.",
        "warning",
    )
    short = f"independent-{a.task}-{name}".replace("_", "-")
    table = Table(figure_title(a, known), columns, rows, caption, short.replace("-", "_"))
    return Section(
        f"{a.named.entry.title}: {b.label} against {a.label}", [note, table], short, is_summary=True
    )


def _parts(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    yield "All items", ""
    categories = dict.fromkeys(subject.category for subject in evaluation.named.subjects)
    if len(categories) > 1:
        yield from ((evaluation.title_of(category), category) for category in categories)


def _row(title: str, metric: Metric, a: Evaluation, b: Evaluation, category: str) -> Row | None:
    found = [_figure(side, metric, category) for side in (a, b)]
    if found[0] is None or found[1] is None:
        return None
    cells = [cell(found[0]), cell(found[1]), cell(difference(found[0], found[1]))]
    return Row([Cell(title), *cells])


def _figure(side: Evaluation, metric: Metric, category: str) -> Figure | None:
    names = [subject.name for subject in side.subjects if category in ("", subject.category)]
    return as_share(figure(side, metric.name, side.items.of_subjects(names)), metric)
