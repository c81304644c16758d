"""The table of models × tasks: every model's headline on every task, with published models.

Numbers share a column only if nothing differs except the model. A cell's colour is its place
between chance and the best published score.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..published import PublishedColumn, PublishedTable, tables_of
from ..results import Result
from .blocks import Column, Row, Table, Value, column_of
from .presentation import (
    SideBySide,
    condition_title,
    figure_title,
    headline,
    side_by_side,
)
from .standings import Beside, Standing, measures, why_incomparable

_MOST = {"share": 1.0, "rate": 1.0, "score": 100.0}


@dataclass(frozen=True, eq=False)
class Contest:
    """A column: the results of several models on a task under one condition.

    Attributes:
        results: Model → its result.
        published: The paper's model → its score.
        chance: The score of random answers; for a rate, the worst value.
        best: The best published score, or else the best possible one.
        guessed: The score of random answers; None if unknown.
    """

    title: str
    condition: str
    results: Mapping[str, Result]
    published: Mapping[str, float]
    chance: float
    best: float
    guessed: float | None

    @property
    def some(self) -> Result:
        """One of the results: all have its task, figure and condition."""
        return next(iter(self.results.values()))

    @property
    def column(self) -> Column:
        """The column of the table, with the headline's unit, direction, meaning and colours."""
        some = self.some
        arrow = "↑" if some.headline.higher_is_better else "↓"
        made = column_of(some.headline, self.title)
        under = f"{figure_title(some, some.headline)} {arrow}, {self.condition}"
        return replace(made, under=under, scale=(self.chance, self.best))


def contests(results: Iterable[Result]) -> list[Contest]:
    """Return the columns of some results, one for each task, condition and data."""
    return [_contest(group) for group in side_by_side(results)]


def _contest(group: SideBySide[Result]) -> Contest:
    some = group.runs[0]
    published: dict[str, float] = {}
    chance = None
    for table, column in columns_of(some):
        for row in table.rows:
            value = row.values[column.name]
            if value is not None and row.kind == "model":
                published.setdefault(row.model, value)
            elif value is not None and row.kind == "random":
                chance = value
    up, unit = some.headline.higher_is_better, some.headline.unit
    most = _MOST.get(unit, 1.0)
    letters = some.definition.letters if some.definition.kind == "multiple_choice" else ""
    if chance is None and letters:
        chance = 1 / len(letters)
    worst = max([*published.values(), most]) if up is False else 0.0
    limit = most if up else 0.0
    best = (max if up else min)(published.values(), default=limit)
    start = worst if chance is None else chance
    if (best > start) != bool(up):  # otherwise colours would be reversed
        best = limit
    sample = ", sample data" * some.is_sample
    condition = f"{condition_title(some)}{sample}"
    own = {each.label: each for each in group.runs}
    title = some.definition.title
    return Contest(title, condition, own, published, start, best, chance)


def columns_of(some: Result) -> list[tuple[PublishedTable, PublishedColumn]]:
    """Return the papers' columns with the headline of a result under its condition."""
    if why_incomparable(some):
        return []
    return [
        (table, column)
        for table in tables_of(some.task)
        for column in table.columns
        if len(column.tasks) == 1 and not (column.category or column.subject or column.mean_of)
        if not column.unmeasured and column.metric == some.headline.name
        if any(measures(some, task, column.shots_of(task)) for task in column.named)
    ]


def matrix(
    results: Sequence[Result],
    beside: Sequence[Beside] = (),
    name: str = "matrix",
    figure: Callable[[Result], Value] = headline,
) -> Table:
    """Return the table of models × tasks, the papers' averages first.

    Args:
        results: Runs or records, in the order of the rows.
        beside: Their ranks in the papers' tables; averages of these tables are columns too.
        name: The table's name.
        figure: Returns the cell of a result: its headline, with a note if there are doubts.

    Returns:
        A row for each model, one for the best published scores, one for chance, and the papers'
        models. Cells are figures with intervals; a note says why one does not cover all items.
    """
    found, averages = contests(results), averages_of(beside)
    runs_of = {each.table.name: each.runs for each in beside}
    columns = [Column("Model")]
    columns += [_average(table, column) for table, column in averages]
    columns += [contest.column for contest in found]
    rows = []
    for label in dict.fromkeys(result.label for result in results):
        own: list[Value] = [
            _standing(runs_of[table.name], column, label) for table, column in averages
        ]
        for contest in found:
            result = contest.results.get(label)
            own.append(figure(result) if result else None)
        rows.append(Row([label, *own], "run"))
    best: list[Value] = [_best(table, column) for table, column in averages]
    best += [contest.best if contest.published else None for contest in found]
    none: list[Value] = [None for _ in averages]
    chance = [contest.guessed for contest in found]
    rows.append(Row(["Best published", *best], "best"))
    rows.append(Row(["Chance", *none, *chance], "random"))
    names = dict.fromkeys(name for contest in found for name in contest.published)
    for model in names:
        scores: list[Value] = [_score(table, column, model) for table, column in averages]
        rows.append(Row([model, *scores, *(c.published.get(model) for c in found)], "published"))
    rows = [row for row in rows if row.kind == "run" or any(v is not None for v in row.values[1:])]
    caption = "Each task's headline, on all of its items unless a note says otherwise."
    return Table(name, "Models and tasks", columns, rows, caption, turnable=True)


def averages_of(beside: Sequence[Beside]) -> list[tuple[PublishedTable, PublishedColumn]]:
    """Return the columns of averages for which there are results, with their tables."""
    return [
        (each.table, column)
        for each in beside
        for column in each.table.columns
        if column.mean_of and any(column.name in own for own in each.runs.values())
    ]


def _average(table: PublishedTable, column: PublishedColumn) -> Column:
    about = f"Mean of {', '.join(column.mean_of)}, as in {table.source}."
    best = _best(table, column)
    arrow = "↓" if column.lower_is_better else "↑"
    scale = None if best is None else (1.0 if column.lower_is_better else 0.0, best)
    title = column.name
    return Column(
        title,
        column.unit,
        about,
        column.lower_is_better,
        under=f"{table.source} {arrow}",
        scale=scale,
    )


def _best(table: PublishedTable, column: PublishedColumn) -> float | None:
    scores = [row.values[column.name] for row in table.rows if row.kind == "model"]
    known = [score for score in scores if score is not None]
    return (min if column.lower_is_better else max)(known, default=None)


def _score(table: PublishedTable, column: PublishedColumn, model: str) -> float | None:
    return next((row.values[column.name] for row in table.rows if row.model == model), None)


def _standing(
    runs: Mapping[str, Mapping[str, Standing]], column: PublishedColumn, label: str
) -> Value:
    """Return the average of a model that was run as in the paper."""
    standing = runs.get(label, {}).get(column.name)
    return standing.figure if standing else None
