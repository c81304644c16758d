"""Printing a report on the terminal."""

from collections.abc import Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from ....printable import one_line
from ..blocks import Column, Note, Report, Row, Table
from .formatting import ShownCell, ShownRow, best_of, caption, heading, listed, shown, turned

LONG_TABLE = 20
"""Rows of a table that are shown; among the rest, only the user's runs, human and random rows."""

_NARROWEST = 12  # a column of texts
_LONGEST_MARK = 2  # characters of a note that is shown in a narrow terminal
_FEWEST = 3  # columns to keep before intervals are dropped


def show(report: Report, console: Console, *, full: bool = False) -> None:
    """Print the summary sections of a report, or with `full` all.

    In a narrow terminal, a table loses its last columns, then its intervals, and says so. The table
    of models and tasks has a row for each task, or is summed up. With `full`, long tables are
    complete, columns are explained, and papers are cited.

    Examples:
        >>> from datetime import datetime
        >>> show(Report("Scores", datetime(2026, 1, 2), "0.1", ()), Console(width=40))
        <BLANKLINE>
        Scores
        2026-01-02 00:00 · hkcanto 0.1
    """
    console.print()
    _print(console, report.title, "bold")
    _print(console, f"{report.created:%Y-%m-%d %H:%M} · hkcanto {report.version}", "dim")
    for section in report.sections:
        if full or section.is_summary:
            console.print()
            console.rule(Text(one_line(section.title), style="bold"), align="left", style="dim")
            for block in section.blocks:
                console.print()
                if isinstance(block, Table):
                    _show_table(block, console, full)
                else:
                    show_note(block, console)
    if hidden := [s.title for s in report.sections if not (full or s.is_summary)]:
        console.print()
        _print(console, f"Not shown: {listed(hidden)}. All of it: --full, -o report.html", "dim")
    for line in report.footer if full else ():
        _print(console, line, "dim")


def show_note(note: Note, console: Console) -> None:
    """Print a note of a report."""
    prefix = "Warning: " if note.level == "warning" else ""
    style = "bold" if note.level == "verdict" else ""
    _print_indented(console, note.text, (prefix, "bold yellow"), style)


def _print(console: Console, text: str, style: str) -> None:
    console.print(Text(one_line(text), style=style))


def _print_indented(
    console: Console, text: str, prefix: tuple[str, str] = ("", ""), style: str = ""
) -> None:
    console.print(Padding(Text.assemble(prefix, one_line(text), style=style), (0, 2)))


def _show_table(table: Table, console: Console, full: bool) -> None:
    _print(console, table.title, "bold")
    if told := caption(table):
        _print(console, told, "dim")
    if not table.turnable:
        own = ("run", "human", "random", "best")
        rows = shown(table)
        kept = [row for i, row in enumerate(rows) if full or i < LONG_TABLE or row.kind in own]
        _show_grid(table.columns, kept, console, lost=len(rows) - len(kept))
    elif _fits(_grid(*turned(table), intervals=False), console):
        _show_grid(*turned(table), console)
    else:
        models = [row._replace(cells=row.cells[:2]) for row in shown(table) if row.kind == "run"]
        _show_grid(table.columns[:2], models, console)
        best = (best_of(table, place) for place in range(1, len(table.columns)))
        others = (row for row in table.rows if row.kind != "run")
        first = [table.rows[0], Row(["Best of these", *best], "other"), *others]
        _show_grid(*turned(replace(table, rows=first)), console)
        _print_indented(console, "All scores: -o report.html or --format md", style="dim")
    for column in table.columns:
        if full and column.help:
            _print_indented(console, column.help, (f"{one_line(column.title)}: ", ""), "dim")


def _show_grid(
    columns: Sequence[Column], rows: Sequence[ShownRow], console: Console, lost: int = 0
) -> None:
    """Print a grid that fits the console, and how to see the rows and columns that are left out.

    Notes become `*` first. Then the last columns are left out, then the intervals.
    """
    count = sum(not column.beneath for column in columns) - 1
    fewest, places = min(_FEWEST, count), range(count, -1, -1)
    tries = [(n, True, False) for n in places if n >= fewest]
    tries += [(n, False, False) for n in places if n <= fewest]
    for kept, intervals, notes in [(count, True, True), *tries]:
        grid = _grid(columns, rows, kept, intervals=intervals, notes=notes)
        if _fits(grid, console, whole=notes):
            break
    console.print(grid)
    hints = (
        ["notes"]
        if not notes and any(len(c.note) > _LONGEST_MARK for row in rows for c in row.cells)
        else []
    )
    sign = "*" if hints else "…"
    left_out = [(lost, "row"), (count - kept, "column")]
    hints += [f"{n:,} more {what}{'s' if n > 1 else ''}" for n, what in left_out if n]
    if hints:
        how = f"{sign} {' and '.join(hints)}: -o report.html or --format md"
        _print_indented(console, how, style="dim")


def _fits(grid: Grid, console: Console, *, whole: bool = False) -> bool:
    """Whether a grid fits, with its texts folded or whole."""
    size = console.measure(grid, options=console.options.update(width=10_000))
    return (size.maximum if whole else size.minimum) <= console.width


def _grid(
    columns: Sequence[Column],
    rows: Sequence[ShownRow],
    count: int | None = None,
    *,
    intervals: bool = True,
    notes: bool = True,
) -> Grid:
    """Return the names of rows, with the texts beneath them, and the first columns, by default all.

    Numbers do not wrap, since half a number would mislead.
    """
    places = [place for place, column in enumerate(columns) if place and not column.beneath][:count]
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    beneath = [place for place, column in enumerate(columns) if column.beneath]
    for place in [0, *places]:
        column, title = columns[place], heading(columns[place])
        cells = [_cell(row.cells[place], intervals, notes) for row in rows]
        widest = max((cell.cell_len for cell in cells), default=0)
        word = max(map(cell_len, f"{title} {column.under}".split()), default=0)
        head = Text.assemble(title, (f"\n{column.under}" if column.under else "", "not bold dim"))
        if column.numeric:
            grid.add_column(head, justify="right", width=max(widest, word))
        else:
            grid.add_column(head, overflow="fold", min_width=min(_NARROWEST, max(widest, word)))
    for row in rows:
        cells = [_cell(row.cells[place], intervals, notes) for place in [0, *places]]
        if row.mark:
            cells[0].append(f" ({row.mark})", style="italic")
        for place in beneath:
            cells[0].append(f"\n{row.cells[place].text}", style="dim not bold")
        grid.add_row(*cells, style="bold cyan" if row.kind == "run" else "")
    return grid


def _cell(cell: ShownCell, intervals: bool, notes: bool) -> Text:
    text = Text(cell.text, style="underline" if cell.best else "")
    long = f"({cell.note})" if notes else "*"
    note = long if len(cell.note) > _LONGEST_MARK else cell.note
    for more in (cell.interval if intervals else "", note):
        text.append(f" {more}" if more else "", style="dim not bold")
    return text
