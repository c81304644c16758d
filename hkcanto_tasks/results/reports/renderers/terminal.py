"""Printing a report on the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from ....printable import one_line
from ..blocks import Note, Report, TableBlock, TableColumn
from .formatting import ShownRow, caption, heading, listed, shown, turned

LONG_TABLE = 20
"""Rows of a table that are shown; among the rest, only the user's runs, human and random rows."""

_NARROWEST = 12  # a column of texts
_DIM = "dim not bold"


def show(report: Report, console: Console, *, full: bool = False) -> None:
    """Print the summary sections of a report, or with `full` all.

    A table loses its last columns in a narrow terminal, and says so. The table of models and tasks
    has a row for each task. With `full`, long tables are complete, columns are explained, and
    papers are cited.

    Examples:
        >>> from datetime import datetime
        >>> show(Report("Scores", datetime(2026, 1, 2), "0.1", ()), Console(width=40))
        <BLANKLINE>
        Scores
        2026-01-02 00:00 · hkcanto 0.1
    """
    console.print()
    _print(console, report.title, "bold")
    _print(
        console, f"{report.created:%Y-%m-%d %H:%M} · hkcanto {report.version}", "dim"
    )
    for section in report.sections:
        if full or section.is_summary:
            console.print()
            console.rule(
                Text(one_line(section.title), style="bold"), align="left", style="dim"
            )
            for block in section.blocks:
                console.print()
                if isinstance(block, TableBlock):
                    _show_table(block, console, full)
                else:
                    show_note(block, console)
    if hidden := [s.title for s in report.sections if not (full or s.is_summary)]:
        console.print()
        _print(
            console,
            f"Not shown: {listed(hidden)}. All of it: --full, -o report.html",
            "dim",
        )
    for line in report.footer if full else ():
        _print(console, line, "dim")


def show_note(note: Note, console: Console) -> None:
    """Print a note of a report."""
    prefix = "Warning: " if note.level == "warning" else ""
    _print(console, note.text, "bold" if note.level == "verdict" else "", prefix)


def _print(console: Console, text: str, style: str, prefix: str = "") -> None:
    console.print(Text.assemble((prefix, "bold yellow"), one_line(text), style=style))


def _show_table(table: TableBlock, console: Console, full: bool) -> None:
    """Print a table without the last columns that do not fit, and say what is left out."""
    _print(console, table.title, "bold")
    if told := caption(table):
        _print(console, told, "dim")
    columns, rows = turned(table) if table.turnable else (table.columns, shown(table))
    cut = () if full else ("published", "other")
    kept = [
        row
        for place, row in enumerate(rows)
        if place < LONG_TABLE or row.kind not in cut
    ]
    places = [place for place, column in enumerate(columns) if not column.beneath]
    count, unlimited = len(places), console.options.update(width=10_000)
    grid = _grid(columns, kept, places)
    while (
        console.measure(grid, options=unlimited).minimum > console.width
        and len(places) > 1
    ):
        places.pop()
        grid = _grid(columns, kept, places)
    console.print(grid)
    left_out = {"rows": len(rows) - len(kept), "columns": count - len(places)}
    if hints := [
        f"{what} left out: {count:,}" for what, count in left_out.items() if count
    ]:
        _print(console, f"… {', '.join(hints)} (-o report.html or --format md)", "dim")
    for column in table.columns:
        if full and column.help:
            _print(console, f"{column.title}: {column.help}", "dim")


def _grid(
    columns: Sequence[TableColumn], rows: Sequence[ShownRow], places: Sequence[int]
) -> Grid:
    """Return some columns, the first with the texts beneath it.

    Numbers and intervals do not wrap, since half a number would mislead; notes do.
    """
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    beneath = [place for place, column in enumerate(columns) if column.beneath]
    for place in places:
        column, title = columns[place], heading(columns[place])
        cells = [
            f"{row.cells[place].text} {row.cells[place].interval}".strip()
            for row in rows
        ]
        widest = max(
            map(cell_len, [*cells, *f"{title} {column.under}".split()]), default=0
        )
        head = Text.assemble(title, (f"\n{column.under}" if column.under else "", _DIM))
        if column.numeric:
            grid.add_column(head, justify="right", overflow="fold", width=widest)
        else:
            grid.add_column(head, overflow="fold", min_width=min(_NARROWEST, widest))
    for row in rows:
        texts = []
        for cell in (row.cells[place] for place in places):
            more = [cell.interval, f"({cell.note})" if cell.note else ""]
            text = Text(cell.text, style="underline" if cell.best else "")
            texts.append(
                text.append("".join(f" {part}" for part in more if part), style=_DIM)
            )
        for place in beneath:
            texts[0].append(f"\n{row.cells[place].text}", style=_DIM)
        grid.add_row(*texts, style="bold cyan" if row.kind == "run" else "")
    return grid
