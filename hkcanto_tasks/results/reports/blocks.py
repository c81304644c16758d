"""The parts of a report, from which renderers work: tables of values, and notes.

A value of a table is an `Estimate` (a number with its interval), a number, a text, or None. Its
column says how to format it, and each output format does so in one place.
"""

import re
from collections import Counter
from collections.abc import (
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, TypeVar

from ... import __version__
from ...figures import Figure
from ..statistics.intervals import Estimate as Estimate

Record = TypeVar("Record")
Value = Estimate | str | float | int | None
# `percent` shows 0.5 as 50.0; `score` is from 0 to 100; `number` has four significant digits;
# `count` is an integer; `hundredths` are hours or a cost; `points` is a difference of percentages
# (0.5 shown as +50.0), and `score_points` a difference of scores.
DisplayUnit = Literal[
    "text",
    "percent",
    "score",
    "number",
    "count",
    "hundredths",
    "p",
    "points",
    "score_points",
]
# `next` is what to do after the verdict.
NoteLevel = Literal["info", "warning", "verdict", "next"]
TableRowKind = Literal["run", "published", "human", "random", "best", "other"]

_UNITS: Mapping[str, DisplayUnit] = {
    "score": "score",
    "count": "number",
    "number": "number",
}


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table."""

    title: str
    unit: DisplayUnit = "text"
    # The meaning of the figure, in one sentence.
    help: str = ""
    # For marking the best; None if neither good nor bad.
    lower_is_better: bool | None = None
    # On a page, a series of dots with intervals in the table's plot.
    drawn: bool = False
    # On a page, shown in small print beneath the name of the row.
    beneath: bool = False
    # Small text beneath its title, such as the condition.
    under: str = ""
    # On a page, the interval is shown on hovering.
    brief: bool = False
    # On a page, each run's cell has a dot with its interval, on one axis for the column.
    strip: bool = False

    @property
    def key(self) -> str:
        """Its name for programs: `p adjusted` is `p_adjusted`."""
        return re.sub(r"\W+", "_", self.title.casefold()).strip("_") or "value"

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.unit != "text"


def unit_of(figure: Figure) -> DisplayUnit:
    """Return the unit of a column of a figure."""
    return _UNITS.get(figure.unit, "percent")


def units_of(figure: Figure) -> tuple[DisplayUnit, DisplayUnit]:
    """Return the units of columns of a figure, and of its gains in points."""
    unit = unit_of(figure)
    return unit, "number" if unit == "number" else "score_points"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: a value for each column, and the kind of row."""

    values: Sequence[Value]
    kind: TableRowKind = "other"


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table whose first column names the row.

    Its name, for programs, is unique in a report and has only letters, digits and `_`. The caption
    gives the source and meaning of the figures. On a page its `drawn` columns are dots in its rows.
    A terminal turns a `turnable` table: its columns are rows.
    """

    name: str
    title: str
    columns: Sequence[TableColumn]
    rows: Sequence[TableRow]
    caption: str = ""
    turnable: bool = False


def table(
    name: str,
    title: str,
    records: Iterable[Record],
    columns: Sequence[tuple[TableColumn, Callable[[Record], Value]]],
    caption: str = "",
    *,
    kind: TableRowKind = "run",
) -> TableBlock:
    """Return a table with a row of the same kind for each record.

    Each column comes with a function from a record to its value. Columns without values are left
    out.

    Examples:
        >>> columns = [(TableColumn("x"), str), (TableColumn("n", "count"), len)]
        >>> made = table("t", "T", ["a", "bb"], columns)
        >>> [list(row.values) for row in made.rows]
        [['a', 1], ['bb', 2]]
    """
    listed = list(records)
    kept = list[TableColumn]()
    cells = list[list[Value]]()
    for column, value_of in columns:
        values = [value_of(record) for record in listed]
        is_first = not kept
        if is_first or any(value is not None for value in values):
            kept.append(column)
            cells.append(values)
    rows = [TableRow(values, kind) for values in zip(*cells, strict=True)]
    return TableBlock(
        name,
        title,
        kept,
        rows,
        caption,
    )


@dataclass(frozen=True, slots=True)
class Note:
    """A remark in plain text. A `verdict` is shown first and large; a `warning` says that a figure
    must not be taken at face value.

    Its label is the question that it answers. A command is to be pasted; the user's paths take the
    place of `LOGS` in it.
    """

    text: str
    level: NoteLevel = "info"
    label: str = ""
    command: str = ""


def verdict_note(question: str, text: str) -> Note:
    """Return a part of the verdict, which answers a question such as “Who leads”."""
    return Note(text, "verdict", question)


def next_step(text: str, command: str = "") -> Note:
    """Return what to do after the verdict, with the command to paste."""
    return Note(
        text,
        "next",
        "What next",
        command,
    )


Block = TableBlock | Note


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report. Its name, for links, is unique and has only letters, digits and `-`. A
    summary is always shown on a terminal, and unfolded on a page and in a pull request; other
    sections are shown on request."""

    title: str
    blocks: Sequence[Block]
    name: str
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A report by a version of this package. Its first section has the answer, its footer sources
    and terms. `records` are further data for JSON, such as the `gate`. `frame` returns the rows of
    CSV; without it CSV has the rows of the tables."""

    title: str
    created: datetime
    version: str
    sections: Sequence[Section]
    footer: Sequence[str] = ()
    records: dict[str, Any] = field(default_factory=dict)
    frame: Callable[[], Iterable[Mapping[str, Any]]] | None = None

    @property
    def blocks(self) -> list[tuple[str, Block]]:
        """All blocks, each with the name of its section."""
        return [
            (section.name, block)
            for section in self.sections
            for block in section.blocks
        ]

    @property
    def warnings(self) -> Sequence[str]:
        """The reasons not to take some figures at face value."""
        notes = [block for _, block in self.blocks if isinstance(block, Note)]
        return [note.text for note in notes if note.level == "warning"]

    @property
    def answer(self) -> Sequence[Note]:
        """The first section's verdict, warnings and next step, or its first note if it has none."""
        blocks = self.sections[0].blocks if self.sections else ()
        notes = [block for block in blocks if isinstance(block, Note)]
        return [note for note in notes if note.level != "info"] or notes[:1]


def report_of(
    sections: Sequence[Section],
    title: str,
    footer: Sequence[str] = (),
    records: dict[str, Any] | None = None,
    frame: Callable[[], Iterable[Mapping[str, Any]]] | None = None,
) -> Report:
    """Return a report of the given sections, dated now.

    Tables without rows are left out, and so are sections without anything else. Tables of one name
    are numbered.
    """
    counts = Counter[str]()
    kept = list[Section]()
    for section in sections:
        blocks = list[Block]()
        for block in section.blocks:
            if isinstance(block, Note):
                blocks.append(block)
            elif block.rows:
                counts[block.name] += 1
                number = counts[block.name]
                name = block.name if number == 1 else f"{block.name}_{number}"
                blocks.append(replace(block, name=name))
        if blocks:
            kept.append(replace(section, blocks=blocks))
    now = datetime.now().astimezone()
    return Report(
        title,
        now,
        __version__,
        kept,
        footer,
        records or {},
        frame,
    )
