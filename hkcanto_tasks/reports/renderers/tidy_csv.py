"""A report as CSV: one long table with a value a line, for spreadsheets and data frames."""

import csv
import io
from collections.abc import Iterator

from ..blocks import ItemView, Note, Report, Section, Table
from .formatting import encodable, number

COLUMNS = (
    "section",
    "table",
    "position",
    "row",
    "row_kind",
    "column",
    "value",
    "low",
    "high",
    "unit",
    "note",
)

_Field = str | float | None


def tidy_csv(report: Report) -> str:
    r"""Return a report as CSV.

    Each line is one value: `position` counts the rows of its table from 1, `row` is the first
    cell of that row, and numbers are as computed, so a percentage is a fraction. A text that a
    spreadsheet would run as a formula gets an apostrophe in front.

    Example:
        >>> from datetime import datetime
        >>> section = Section("Overview", [Note("=1+1")], "overview")
        >>> print(tidy_csv(Report("Scores", datetime(2026, 1, 2), "0.1", [section])))
        section,table,position,row,row_kind,column,value,low,high,unit,note
        overview,,,,,info,'=1+1,,,text,
        <BLANKLINE>
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for section in report.sections:
        for line in _lines(section):
            writer.writerow([_safe(field) for field in line])
    return out.getvalue()


def _lines(section: Section) -> Iterator[tuple[_Field, ...]]:
    for block in section.blocks:
        match block:
            case Table():
                yield from _table_lines(section, block)
            case Note(text, level):
                yield (section.name, "", "", "", "", level, text, None, None, "text", "")
            case ItemView():
                yield from _item_lines(section, block)


def _table_lines(section: Section, table: Table) -> Iterator[tuple[_Field, ...]]:
    name = table.name or table.title
    for position, row in enumerate(table.rows, 1):
        label = str(row.cells[0].value)
        for column, cell in list(zip(table.columns, row.cells, strict=True))[1:]:
            value = number(cell, column)
            if value is None and isinstance(cell.value, str):
                value_field: _Field = cell.value
            else:
                value_field = value
            yield (
                *(section.name, name, position, label, row.kind, column.name),
                *(value_field, cell.low, cell.high, column.unit, cell.note),
            )


def _item_lines(section: Section, view: ItemView) -> Iterator[tuple[_Field, ...]]:
    for position, row in enumerate(view.rows, 1):
        values = {
            "model": row.model,
            "task": row.task,
            "subject": row.subject,
            "prompt": row.prompt,
            "response": row.response,
            "answer": row.answer,
            "target": row.target,
            "correct": "yes" if row.correct else "no",
        }
        for column, value in values.items():
            yield (
                *(section.name, "items", position, row.item, "item", column),
                *(value, None, None, "text", ""),
            )


def _safe(field: _Field) -> _Field:
    if not isinstance(field, str):
        return None if field is None or field != field else field
    # A NUL ends the text for many readers of CSV.
    text = encodable(field).replace("\0", "␀").replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\n")) else text
