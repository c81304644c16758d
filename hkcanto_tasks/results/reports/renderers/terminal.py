"""Printing a report on the terminal."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from ....printable import one_line
from ..blocks import (
    Note,
    NoteLevel,
    Report,
    Section,
    TableBlock,
    TableColumn,
    TableRow,
)
from .formatting import (
    BEST,
    MISSING,
    TIED,
    ShownCell,
    ShownRow,
    caption,
    doubt,
    heading,
    listed,
    shown,
    turned,
)

LONG_TABLE = 20
"""Rows of a table that are shown; among the rest, only the user's runs, human and random rows."""

_NARROWEST = 12  # a column of texts
_NARROWEST_HEADING = (
    8  # of a column of numbers; the name of a model is broken after hyphens
)
_DIM = "dim not bold"
_LABELS = 12  # the width of the labels of a verdict
_PREFIXES: Mapping[NoteLevel, str] = {"warning": "Warning: "}


def show(
    report: Report,
    console: Console,
    *,
    full: bool = False,
) -> None:
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
    hidden = list[str]()
    for section in report.sections:
        if full or section.is_summary:
            _show_section(section, console, full)
        else:
            hidden.append(section.title)
    if hidden:
        text = f"Not shown: {listed(hidden)}. All of it: --full, -o report.html"
        console.print()
        _print(console, text, "dim")
    if full:
        for line in report.footer:
            _print(console, line, "dim")


def _show_section(
    section: Section,
    console: Console,
    full: bool,
) -> None:
    title = Text(one_line(section.title), style="bold")
    console.print()
    console.rule(
        title,
        align="left",
        style="dim",
    )
    label = ""
    for block in section.blocks:
        last_label = label
        label = block.label if isinstance(block, Note) else ""
        # The answers to the questions are one paragraph.
        if not (label and last_label):
            console.print()
        if isinstance(block, Note):
            show_note(block, console)
        else:
            _show_table(block, console, full)


def show_note(note: Note, console: Console) -> None:
    """Print a note of a report; its label is on the left, and its command has its own line."""
    if note.label:
        answer = Grid.grid(padding=(0, 2, 0, 0))
        answer.add_column(width=max(_LABELS, cell_len(note.label)), style="bold")
        answer.add_column(overflow="fold")
        answer.add_row(one_line(note.label), one_line(note.text))
        console.print(answer)
    else:
        style = "bold" if note.level == "verdict" else ""
        _print(console, note.text, style, _PREFIXES.get(note.level, ""))
    if note.command:
        # A terminal breaks it, so that it can be copied as one line.
        text = Text(f"  {one_line(note.command)}", style="cyan")
        console.print(text, soft_wrap=True)


def _print(
    console: Console,
    text: str,
    style: str,
    prefix: str = "",
) -> None:
    prefix_style = "bold yellow" if prefix == _PREFIXES["warning"] else "bold"
    console.print(Text.assemble((prefix, prefix_style), one_line(text), style=style))


def _show_table(
    table: TableBlock,
    console: Console,
    full: bool,
) -> None:
    """Print a table without the last columns that do not fit, and say what is left out."""
    _print(console, table.title, "bold")
    about = caption(table)
    if about:
        _print(console, about, "dim")
    columns, rows = turned(table) if table.turnable else (table.columns, shown(table))
    kept = rows if full else [*_most_important(rows)]
    columns, kept = _without_common(columns, kept, console)
    grid, cut = _fitting_grid(columns, kept, console)
    if cut and table.turnable:
        columns, names = _numbered(columns, table.rows)
        _print(console, names, "")
        grid, cut = _fitting_grid(columns, kept, console)
    console.print(grid)
    hints = list[str]()
    if len(kept) < len(rows):
        hints.append(f"rows left out: {len(rows) - len(kept):,}")
    if cut:
        hints.append(f"columns left out: {listed(cut, ', ')}")
    if hints:
        _print(console, f"… {', '.join(hints)} (-o report.html or --format md)", "dim")
    for column in table.columns:
        if full and column.help:
            _print(console, f"{column.title}: {column.help}", "dim")


def _without_common(
    columns: Sequence[TableColumn], rows: Sequence[ShownRow], console: Console
) -> tuple[Sequence[TableColumn], Sequence[ShownRow]]:
    """Print once what would be beneath each row, and return the other columns."""
    places = [*range(len(columns))]
    for place, column in enumerate(columns):
        texts = {row.cells[place].text for row in rows}
        if column.beneath and len(rows) > 1 and len(texts) == 1:
            _print(console, f"{column.title}: {texts.pop()}", "dim")
            places.remove(place)
    kept = [row._replace(cells=[row.cells[place] for place in places]) for row in rows]
    return [columns[place] for place in places], kept


def _numbered(
    columns: Sequence[TableColumn], rows: Sequence[TableRow]
) -> tuple[list[TableColumn], str]:
    """Return the columns of models with numbers as titles, and the numbers with the names.

    The last columns of a turned table are the rows of the table.
    """
    numbered = [*columns]
    names = list[str]()
    for place, row in enumerate(rows, len(columns) - len(rows)):
        if row.kind == "run":
            names.append(f"{len(names) + 1} {columns[place].title}")
            numbered[place] = replace(columns[place], title=str(len(names)))
    return numbered, " · ".join(names)


def _most_important(rows: Sequence[ShownRow]) -> Iterator[ShownRow]:
    """Yield the first rows, and the user's runs, human and random rows among the rest."""
    for position, row in enumerate(rows):
        if position < LONG_TABLE or row.kind not in ("published", "other"):
            yield row


_NARROWEST_COLUMN = 2  # a character and the space before the next column


def _fitting_grid(
    columns: Sequence[TableColumn],
    rows: Sequence[ShownRow],
    console: Console,
) -> tuple[Grid, list[str]]:
    """Return as many columns as fit, at least the first, and the titles of those left out."""
    # How wide a grid would be if nothing limited it.
    options = console.options.update(width=10_000)
    positions = [n for n, column in enumerate(columns) if not column.beneath]
    most = min(len(positions), max(1, console.width // _NARROWEST_COLUMN))
    for count in range(most, 0, -1):
        grid = _grid(columns, rows, positions[:count])
        if console.measure(grid, options=options).minimum <= console.width:
            break
    return grid, [heading(columns[position]) for position in positions[count:]]


def _grid(
    columns: Sequence[TableColumn],
    rows: Sequence[ShownRow],
    positions: Sequence[int],
) -> Grid:
    """Return some columns, the first with the texts beneath it."""
    grid = Grid(
        box=SIMPLE_HEAD,
        pad_edge=False,
        header_style="bold",
        show_edge=False,
    )
    beneath = [n for n, column in enumerate(columns) if column.beneath]
    for position in positions:
        cells = [row.cells[position] for row in rows]
        _add_column(grid, columns[position], cells)
    for row in rows:
        texts = [_cell_text(row.cells[position]) for position in positions]
        for position in beneath:
            if row.cells[position].text not in ("", MISSING):
                texts[0].append(f"\n{row.cells[position].text}", style=_DIM)
        grid.add_row(*texts, style="bold cyan" if row.kind == "run" else "")
    return grid


def _broken(heading: str, width: int) -> list[str]:
    """Return a heading in lines that are broken after spaces, hyphens and slashes.

    Examples:
        >>> _broken("Qwen2.5-7B-Instruct %", 9), _broken("tojyutping", 8)
        (['Qwen2.5-', '7B-', 'Instruct', '%'], ['tojyutping'])
    """
    first, *pieces = re.split(r"(?<=[-/ ])", heading)
    lines = [first]
    for piece in pieces:
        if cell_len(lines[-1] + piece.rstrip()) <= width:
            lines[-1] += piece
        else:
            lines.append(piece)
    return [line.rstrip() for line in lines]


def _add_column(
    grid: Grid,
    column: TableColumn,
    cells: Sequence[ShownCell],
) -> None:
    """Add a column. Numbers and intervals do not wrap, since half a number would mislead."""
    texts = [f"{_marked(cell)} {cell.interval}".strip() for cell in cells]
    widest = max(map(cell_len, [*texts, *column.under.split()]), default=0)
    title = heading(column)
    if column.numeric:
        lines = _broken(title, max(widest, _NARROWEST_HEADING))
        title = "\n".join(lines)
        widest = max(widest, *map(cell_len, lines))
    under = f"\n{column.under}" if column.under else ""
    head = Text.assemble(title, (under, _DIM))
    if column.numeric:
        grid.add_column(
            head,
            justify="right",
            overflow="fold",
            width=widest,
        )
    else:
        grid.add_column(
            head,
            overflow="fold",
            min_width=min(_NARROWEST, widest),
        )


def _marked(cell: ShownCell) -> str:
    """Return the text of a cell, with a mark if it is the best or ties with it."""
    if cell.best:
        return f"{cell.text}{BEST}"
    return f"{cell.text}{TIED}" if TIED in cell.note else cell.text


def _cell_text(cell: ShownCell) -> Text:
    text = Text(_marked(cell))
    if cell.interval:
        text.append(f" {cell.interval}", style=_DIM)
    if doubt(cell.note):
        text.append(f" ({doubt(cell.note)})", style=_DIM)
    return text
