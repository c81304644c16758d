"""A report in the chosen language, for people; JSON and CSV keep the English texts."""

from dataclasses import replace

from ....messages import Message, spoken
from ...statistics.intervals import Estimate
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
    """Return a report in the chosen language."""
    return replace(
        report,
        title=spoken(report.title),
        sections=[_section(section) for section in report.sections],
        footer=[*map(spoken, report.footer)],
    )


def _section(section: Section) -> Section:
    blocks = [_block(block) for block in section.blocks]
    return replace(section, title=spoken(section.title), blocks=blocks)


def _block(block: Block) -> Block:
    if isinstance(block, Note):
        return replace(block, text=spoken(block.text), label=spoken(block.label))
    return _table(block)


def _table(table: TableBlock) -> TableBlock:
    return replace(
        table,
        title=spoken(table.title),
        caption=spoken(table.caption),
        columns=[*map(_column, table.columns)],
        rows=[*map(_row, table.rows)],
    )


def _column(column: TableColumn) -> TableColumn:
    return replace(
        column,
        title=spoken(column.title),
        help=spoken(column.help),
        under=spoken(column.under),
    )


def _row(row: TableRow) -> TableRow:
    """Return a row in the chosen language; texts that are no messages are names and data."""
    return replace(row, values=[*map(_value, row.values)])


def _value(value: Value) -> Value:
    if isinstance(value, Message):
        return spoken(value)
    if isinstance(value, Estimate):
        return replace(value, note=_note(value.note))
    return value


def _note(note: str) -> str:
    return spoken(note) if isinstance(note, Message) else note
