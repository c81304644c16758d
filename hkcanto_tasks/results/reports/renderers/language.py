"""A report in the chosen language, for people; JSON and CSV keep the English names."""

from collections.abc import Sequence
from dataclasses import replace

from ....messages import say
from ..blocks import (
    Block,
    Note,
    Report,
    Section,
    TableBlock,
    TableColumn,
    TableRow,
    Value,
)


def translated(report: Report) -> Report:
    """Return a report whose fixed texts are in the chosen language.

    Texts with values in them were said in it when they were made, and are in no catalogue.
    """
    return replace(
        report,
        title=say(report.title),
        sections=[_section(section) for section in report.sections],
        footer=[say(line) for line in report.footer],
    )


def _section(section: Section) -> Section:
    blocks = [_block(block) for block in section.blocks]
    return replace(section, title=say(section.title), blocks=blocks)


def _block(block: Block) -> Block:
    if isinstance(block, Note):
        return replace(block, text=say(block.text), label=say(block.label))
    return _table(block)


def _table(table: TableBlock) -> TableBlock:
    return replace(
        table,
        title=say(table.title),
        caption=say(table.caption),
        columns=[_column(column) for column in table.columns],
        rows=[_row(row, table.columns) for row in table.rows],
    )


def _column(column: TableColumn) -> TableColumn:
    return replace(
        column,
        title=say(column.title),
        help=say(column.help),
        under=say(column.under),
    )


def _row(row: TableRow, columns: Sequence[TableColumn]) -> TableRow:
    """Return a row with its texts translated, but for the names of models."""
    values = list[Value]()
    for column, value in zip(columns, row.values, strict=True):
        is_name = column.title == "Model" and row.kind in ("run", "published")
        values.append(value if is_name else _value(value))
    return replace(row, values=values)


def _value(value: Value) -> Value:
    return say(value) if isinstance(value, str) else value
