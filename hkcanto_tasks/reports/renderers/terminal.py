"""A report on the terminal."""

from collections.abc import Sequence
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from ..blocks import Block, Chart, ItemView, Note, Report, Table
from .formatting import ShownCell, ShownRow, ShownTable, one_line, shown

LONG_TABLE = 20
"""Rows of a table that are shown; more only if they are the user's runs, human or random."""

_WIDE_TEXT, _NARROW_TEXT = 30, 12
"""Columns that a text keeps of its width: before intervals are left out, and after."""


def show(report: Report, console: Console, *, full: bool = False) -> None:
    """Print a report.

    In a narrow terminal a table loses its intervals first, then its last columns; it says so.
    Charts are given as their descriptions, and answers not at all.

    Args:
        report: What to print.
        console: Where to.
        full: Whether to print all sections, long tables whole, and what their columns mean.

    Example:
        >>> from datetime import datetime
        >>> show(Report("Scores", datetime(2026, 1, 2), "0.1", ()), Console(width=40))
        <BLANKLINE>
        Scores
        2026-01-02 00:00 · hkcanto 0.1
    """
    console.print()
    console.print(Text(one_line(report.title), style="bold"))
    made = f"{report.created:%Y-%m-%d %H:%M} · hkcanto {one_line(report.version)}"
    console.print(Text(made, style="dim"))
    shown = report.sections if full else [part for part in report.sections if part.is_summary]
    for section in shown:
        console.print()
        console.rule(Text(one_line(section.title), style="bold"), align="left", style="dim")
        for block in section.blocks:
            console.print()
            _show_block(block, console, full)
    if left_out := [part.title for part in report.sections if part not in shown]:
        console.print()
        rest = f"Not shown: {'; '.join(map(one_line, left_out))}. All of it: --full, -o report.html"
        console.print(Text(rest, style="dim"))
    if report.footer:
        console.print()
    for line in report.footer:
        console.print(Text(one_line(line), style="dim"))


def _show_block(block: Block, console: Console, full: bool) -> None:
    match block:
        case Table():
            _show_table(block, console, full)
        case Chart(title, _, description):
            _print_indented(console, (f"Chart: {one_line(title)}. ", "italic"), description, "dim")
        case Note(text, "warning"):
            _print_indented(console, ("Warning: ", "bold yellow"), text)
        case Note(text):
            _print_indented(console, ("", ""), text)
        case ItemView(rows, left_out):
            count = f"{len(rows) + left_out:,} answers: read them with -o report.html."
            _print_indented(console, ("", ""), count)


def _print_indented(console: Console, prefix: tuple[str, str], text: str, style: str = "") -> None:
    line = Text.assemble(prefix, one_line(text), style=style)
    console.print(Padding(line, (0, 2)))


def _show_table(table: Table, console: Console, full: bool) -> None:
    view = shown(table)
    console.print(Text(one_line(table.title), style="bold"))
    if table.caption:
        console.print(Text(one_line(table.caption), style="dim"))
    rows = [
        row
        for place, row in enumerate(view.rows)
        if full or place < LONG_TABLE or row.kind in ("run", "human", "random")
    ]
    grid, lost = _fitting(view, rows, console)
    console.print(grid)
    for letter, note in view.notes:
        if any(cell.marker == letter for row in rows for cell in row.cells):
            _print_indented(console, (f"({letter}) ", ""), note, "dim")
    if full:
        for name, meaning in view.meanings:
            _print_indented(console, (f"{name}: ", ""), meaning, "dim")
    if len(rows) < len(view.rows):
        lost = [_more(len(view.rows) - len(rows), "row"), *lost]
    if lost:
        hint = f"… {' and '.join(lost)}: -o report.html or --format md"
        _print_indented(console, ("", ""), hint, "dim")


def _more(count: int, thing: str) -> str:
    return f"{count:,} more {thing}{'' if count == 1 else 's'}"


def _fitting(
    view: ShownTable, rows: Sequence[ShownRow], console: Console
) -> tuple[Grid, Sequence[str]]:
    """Return as much of a table as the terminal is wide enough for, and what that leaves out."""

    def fitted(columns: int, text_width: int, intervals: bool) -> Grid | None:
        return _grid(view, rows, columns, text_width, intervals, console.width)

    total = len(view.headings)
    for intervals in (True, False):
        if grid := fitted(total, _WIDE_TEXT, intervals):
            return grid, []
    for columns in range(total, 2, -1):
        if grid := fitted(columns, _NARROW_TEXT, False):
            left_out = total - columns
            return grid, [_more(left_out, "column")] if left_out else []
    grid = _grid(view, rows, min(total, 2), 1, False, 10_000)
    assert grid is not None
    return grid, [_more(total - 2, "column")] if total > 2 else []


def _grid(
    view: ShownTable,
    rows: Sequence[ShownRow],
    columns: int,
    text_width: int,
    intervals: bool,
    room: int,
) -> Grid | None:
    """Return the first columns as a grid; None if there is not room for them.

    The widths are set here: rich's own way to make a table narrower also cuts numbers, and part of
    a number is worse than none.
    """
    cells = [[_cell(cell, intervals) for cell in row.cells[:columns]] for row in rows]
    for row, (name, *_) in zip(rows, cells, strict=True):
        if row.mark:
            name.append(f" ({row.mark})", style="italic")
    headings = [Text(heading) for heading in view.headings[:columns]]
    widths, least = [], []
    for place, heading in enumerate(headings):
        longest_word = max(word.cell_len for word in heading.split(" "))
        width = max((row[place].cell_len for row in cells), default=0)
        is_number = view.numeric[place]
        widths.append(max(width, longest_word if is_number else heading.cell_len))
        least.append(max(width if is_number else min(width, text_width), longest_word))
    room -= 3 * columns - 1  # A space on both sides of each column, and one between two.
    if sum(least) > room:
        return None
    while sum(widths) > room:
        spare = [place for place in range(columns) if widths[place] > least[place]]
        widths[max(spare, key=widths.__getitem__)] -= 1
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for heading, width, is_number in zip(headings, widths, view.numeric, strict=False):
        justify: Literal["left", "right"] = "right" if is_number else "left"
        grid.add_column(heading, justify=justify, overflow="fold", width=width)
    for row, texts in zip(rows, cells, strict=True):
        grid.add_row(*texts, style="bold cyan" if row.kind == "run" else "")
    return grid


def _cell(cell: ShownCell, intervals: bool) -> Text:
    text = Text(cell.text, style="underline" if cell.best else "")
    if cell.marker:
        text.append(f" ({cell.marker})", style="dim")
    if intervals and cell.interval:
        text.append(f" {cell.interval}", style="dim not bold")
    return text
