"""A report on the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from ..blocks import Block, ItemView, Note, Report, Table
from .formatting import ShownCell, ShownRow, ShownTable, one_line, shown

LONG_TABLE = 20
"""Rows of a table that are shown; more only if they are the user's runs, human or random."""

_NARROWEST = 12  # a column of texts
_FEWEST = 3  # columns that stay while intervals do


def show(report: Report, console: Console, *, full: bool = False) -> None:
    """Print a report.

    In a narrow terminal a table loses its last columns, then its intervals; it says so. Answers
    are not shown at all.

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
    for section in report.sections:
        if full or section.is_summary:
            console.print()
            console.rule(Text(one_line(section.title), style="bold"), align="left", style="dim")
            for block in section.blocks:
                _show_block(block, console, full)
    left_out = [one_line(part.title) for part in report.sections if not (full or part.is_summary)]
    if left_out:
        rest = f"Not shown: {'; '.join(left_out)}. All of it: --full, -o report.html"
        console.print(Text(f"\n{rest}", style="dim"))
    for line in report.footer:
        console.print(Text(one_line(line), style="dim"))


def _show_block(block: Block, console: Console, full: bool) -> None:
    match block:
        case Table(data_only=True):
            return
        case Table():
            console.print()
            _show_table(block, console, full)
        case Note(text, "warning"):
            _print_indented(console, text, ("\nWarning: ", "bold yellow"))
        case Note(text):
            _print_indented(console, text, ("\n", ""))
        case ItemView(rows, left_out):
            count = f"{len(rows) + left_out:,} answers: read them with -o report.html."
            _print_indented(console, count, ("\n", ""))


def _print_indented(console: Console, text: str, prefix: tuple[str, str], style: str = "") -> None:
    console.print(Padding(Text.assemble(prefix, one_line(text), style=style), (0, 2)))


def _show_table(table: Table, console: Console, full: bool) -> None:
    view = shown(table)
    console.print(Text(one_line(table.title), style="bold"))
    if table.caption:
        console.print(Text(one_line(table.caption), style="dim"))
    own = ("run", "human", "random")
    rows = [row for i, row in enumerate(view.rows) if full or i < LONG_TABLE or row.kind in own]
    total, unbounded = len(view.headings), console.options.update(width=10_000)
    fewest = min(_FEWEST, total)
    tries = [(count, True) for count in range(total, fewest - 1, -1)]
    tries += [(count, False) for count in range(fewest, 0, -1)]
    for count, intervals in tries:
        grid = _grid(view, rows, count, intervals=intervals)
        if console.measure(grid, options=unbounded).minimum <= console.width:
            break
    console.print(grid)
    if full:
        for name, meaning in view.meanings:
            _print_indented(console, meaning, (f"{name}: ", ""), "dim")
    lost = [(len(view.rows) - len(rows), "row"), (total - count, "column")]
    if hint := " and ".join(f"{n:,} more {what}{'s' * (n > 1)}" for n, what in lost if n):
        _print_indented(console, f"… {hint}: -o report.html or --format md", ("", ""), "dim")


def _grid(view: ShownTable, rows: Sequence[ShownRow], count: int, *, intervals: bool) -> Grid:
    """Return the first columns as a grid. Numbers do not wrap: a part of one is worse than none."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for place, heading in enumerate(view.headings[:count]):
        cells = [_cell(row.cells[place], intervals) for row in rows]
        widest = max((cell.cell_len for cell in cells), default=0)
        word = max((cell_len(each) for each in heading.split()), default=0)
        if view.numeric[place]:
            grid.add_column(heading, justify="right", width=max(widest, word))
        else:
            least = max(min(_NARROWEST, widest), min(_NARROWEST, word))
            grid.add_column(Text(heading), overflow="fold", min_width=least)
    for row in rows:
        cells = [_cell(cell, intervals) for cell in row.cells[:count]]
        if row.mark:
            cells[0].append(f" ({row.mark})", style="italic")
        grid.add_row(*cells, style="bold cyan" if row.kind == "run" else "")
    return grid


def _cell(cell: ShownCell, intervals: bool) -> Text:
    shown = cell.text
    if "✓" in shown or "✗" in shown:  # badges: what is wrong, or that nothing is
        bad = [badge for badge in shown.split(" · ") if badge.startswith("✗")]
        shown = ", ".join(bad) or "✓"
    text = Text(shown, style="underline" if cell.best else "")
    if intervals and cell.interval:
        text.append(f" {cell.interval}", style="dim not bold")
    if cell.note:
        text.append(f" ({cell.note})", style="dim not bold")
    return text
