"""What a report is made of: tables, charts and notes, in the same form for every renderer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

CellValue = str | float | int | None
Unit = Literal["text", "percent", "points", "number", "count", "rank", "p"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: Its heading.
        unit: `percent` shows 0.5 as 50.0; `points` is a difference of percentages, 0.5 shown as
            +50.0; `number` is shown to four significant digits; `count` and `rank` are whole;
            `p` is a p-value.
        help: What the figure means, in one sentence.
        lower_is_better: Which way is good, for marking the best; None if neither is.
    """

    name: str
    unit: Unit = "text"
    help: str = ""
    lower_is_better: bool | None = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table.

    Attributes:
        value: A number in the unit of its column, a text, or None where there is none.
        low: Lower end of the 95 % interval, in the same unit.
        high: Upper end.
        note: A remark on this value alone.
    """

    value: CellValue
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: As many as there are columns.
        kind: Whose it is: a `run` of the user, a `published` one, `human`, `random`, or `other`.
    """

    cells: Sequence[Cell]
    kind: Literal["run", "published", "human", "random", "other"] = "other"


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        title: What it shows.
        columns: Its columns; the first one names the row.
        rows: Its rows, in the order to show them in.
        caption: Where the figures are from and what they mean.
        name: Short name, unique in a report, for CSV and JSON: letters, digits, `_`.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, by Vega-Lite.

    Attributes:
        title: What it shows.
        spec: A Vega-Lite specification, from Altair's `to_dict()`; without colours for text, axes
            or background, which the page's theme sets.
        description: What one sees in it, for those who cannot.
    """

    title: str
    spec: Mapping[str, Any]
    description: str


@dataclass(frozen=True, slots=True)
class Note:
    """A remark.

    Attributes:
        text: One or a few sentences, plain text.
        level: `info`, or `warning` where a figure must not be taken at face value.
    """

    text: str
    level: Literal["info", "warning"] = "info"


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One answer for people to look at."""

    model: str
    task: str
    item: str
    subject: str
    prompt: str
    response: str
    answer: str
    target: str
    correct: bool


@dataclass(frozen=True, slots=True)
class ItemView:
    """Answers with their prompts and gold answers; such a report must not be published.

    Attributes:
        rows: The answers.
        left_out: How many more there are that are not shown.
    """

    rows: Sequence[ItemRow]
    left_out: int = 0


Block = Table | Chart | Note | ItemView


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report.

    Attributes:
        title: Its heading.
        blocks: What is in it.
        name: Short name, unique in a report, for links: letters, digits, `-`.
        is_summary: Whether a terminal, which has little room, shows it unasked.
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
        sections: Its parts; the first one is the overview.
        footer: Sources and terms.
    """

    title: str
    created: datetime
    version: str
    sections: Sequence[Section]
    footer: Sequence[str] = field(default_factory=tuple)
