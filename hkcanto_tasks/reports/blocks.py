"""What a report is made of: typed records in tables, and remarks; every renderer reads these alone.

A value of a table is a `Figure` (a number with its interval), a number, a text, or None. What it
looks like is its column's matter, and each form of output writes it once.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar

from ..records import Metric
from .figures import Figure as Figure

R = TypeVar("R")
Value = Figure | str | float | int | None
Unit = Literal[
    "text", "badges", "percent", "score", "number", "count", "p", "points", "score_points"
]
Kind = Literal["run", "published", "human", "random", "other"]

_UNITS: dict[str, Unit] = {
    "share": "percent",
    "rate": "percent",
    "score": "score",
    "count": "number",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its heading.
        unit: `badges` are texts with ` · ` between them; `percent` shows 0.5 as 50.0; `score` is
            from 0 to 100; `number` has four significant digits; `count` is whole; `p` is a p-value;
            `points` is a difference of percentages, 0.5 shown as +50.0, and `score_points` one of
            scores.
        help: What the figure means, in one sentence.
        lower_is_better: Which way is good, for marking the best; None if neither is.
        drawn: Whether a page draws it, as a dot with its interval: a table has one plot, with a
            series for each drawn column.
        shaded: Whether a page shades its cells by their shares.
        beneath: Whether a page shows it in small beneath the name of the row.
    """

    title: str
    unit: Unit = "text"
    help: str = ""
    lower_is_better: bool | None = None
    drawn: bool = False
    shaded: bool = False
    beneath: bool = False

    @property
    def key(self) -> str:
        """Its name for programs: `p by Holm` is `p_by_holm`."""
        return re.sub(r"\W+", "_", self.title.casefold()).strip("_") or "value"


def column_of(metric: Metric, title: str = "", *, drawn: bool = False) -> Column:
    """Return the column of a figure: its title, unit, direction and meaning are the figure's own.

    Args:
        metric: The figure.
        title: Another heading.
        drawn: As in `Column`.
    """
    up = metric.higher_is_better
    lower = None if up is None else not up
    return Column(title or metric.title, _UNITS[metric.unit], metric.help, lower, drawn)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: a value for each column, and whose it is."""

    values: Sequence[Value]
    kind: Kind = "other"


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        name: Short name, unique in a report, for programs: letters, digits, `_`.
        title: What it shows.
        columns: Its columns; the first one names the row.
        rows: Its rows, in the order to show them in.
        caption: Where the figures are from and what they mean.
        data_only: Whether it is for programs alone: in JSON and CSV, not for people.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""
    data_only: bool = False


Of = Callable[[R], Value]


def table(
    name: str,
    title: str,
    records: Iterable[R],
    columns: Sequence[tuple[Column, Of[R]]],
    caption: str = "",
    *,
    kind: Callable[[R], Kind] = lambda _: "run",
    data_only: bool = False,
) -> Table:
    """Return a table with a row for each record; columns without any value are left out.

    Args:
        name: See `Table`, as for title, caption and data_only.
        title: See there.
        records: What the rows are of.
        columns: Each with what a record has in it.
        caption: See there.
        kind: Whose a record is.
        data_only: See there.

    Example:
        >>> made = table("t", "T", ["a", "bb"], [(Column("x"), str), (Column("n", "count"), len)])
        >>> [list(row.values) for row in made.rows]
        [['a', 1], ['bb', 2]]
    """
    listed = list(records)
    found = [(column, [of(record) for record in listed]) for column, of in columns]
    kept = [
        (c, own) for i, (c, own) in enumerate(found) if not i or any(v is not None for v in own)
    ]
    rows = [
        Row([own[place] for _, own in kept], kind(record)) for place, record in enumerate(listed)
    ]
    return Table(name, title, [column for column, _ in kept], rows, caption, data_only)


@dataclass(frozen=True, slots=True)
class Note:
    """A remark: plain text; a `warning` where a figure must not be taken at face value."""

    text: str
    level: Literal["info", "warning"] = "info"


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One answer for people to look at.

    Attributes:
        model: The evaluation's label.
        task: The task and its condition.
        item: The item's id.
        subject: The subject's title.
        prompt: What the model was given, whole.
        response: What it wrote, whole.
        answer: What was read out of the response.
        target: The gold answer.
        reason: How it was read, or why not.
        score: How good it is, from 0 to 1; None where that is not known.
    """

    model: str
    task: str
    item: str
    subject: str
    prompt: str
    response: str
    answer: str
    target: str
    reason: str
    score: float | None


@dataclass(frozen=True, slots=True)
class ItemView:
    """Answers with prompts and gold answers; `left_out` more are not shown. Not to be published."""

    rows: Sequence[ItemRow]
    left_out: int = 0


Block = Table | Note | ItemView


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report.

    Attributes:
        title: Its heading.
        blocks: What is in it.
        name: Short name, unique in a report, for links: letters, digits, `-`.
        is_summary: Whether it is shown where there is little room: on a terminal unasked, and
            unfolded in a pull request.
    """

    title: str
    blocks: Sequence[Block]
    name: str
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A report.

    Attributes:
        title: Its title.
        created: When it was made.
        version: The version of this package.
        sections: Its parts; the first one answers at first sight.
        footer: Sources and terms.
        records: What JSON has besides the tables: name → records (dataclasses), such as the `gate`.
    """

    title: str
    created: datetime
    version: str
    sections: Sequence[Section]
    footer: Sequence[str] = ()
    records: dict[str, Any] = field(default_factory=dict)
