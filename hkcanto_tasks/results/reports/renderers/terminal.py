"""Printing a report on the terminal."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group
from rich.containers import Lines
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from ....messages import say, spoken
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
    is_chinese,
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


# A word, or a Chinese character, with the marks that no line begins or ends with.
_PIECE = re.compile(
    "(?:（[^（）\\s]{1,3}）|[\\d,.]+ [\u4e00-\u9fff]|[（「]*(?:[^\\s\u2e80-\uffef]+|[\u2e80-\uffef]))"
    "(?:[，。；：、！？）」]| [%↑↓])*\\s*"
)


class _Prose(Text):
    """A text that may break between Chinese characters, which have no spaces between them."""

    def wrap(
        self,
        console: Console,
        width: int,
        **options: Any,
    ) -> Lines:
        """Return its lines."""
        lines = Lines()
        for paragraph in self.split(allow_blank=True):
            for line in paragraph.divide(_breaks(paragraph.plain, width)):
                lines.extend(line.wrap(console, width, **options))
        return lines

    def __rich_measure__(
        self, console: Console, options: ConsoleOptions
    ) -> Measurement:
        """Return the width of its longest piece, and of its longest line."""
        pieces = _PIECE.findall(self.plain)
        narrowest = max((cell_len(piece.rstrip()) for piece in pieces), default=0)
        widest = max(map(cell_len, self.plain.splitlines()), default=0)
        return Measurement(min(narrowest, widest), widest)


def _breaks(text: str, width: int) -> list[int]:
    """Return the positions in a text at which lines of a width begin.

    Examples:
        >>> _breaks("分數（愈低愈好）", 8), _breaks("8 項任務", 4)
        ([4], [3])
    """
    breaks = list[int]()
    start = 0
    for piece in _PIECE.finditer(text):
        is_first = piece.start() == start
        if not is_first and cell_len(text[start : piece.end()].rstrip()) > width:
            start = piece.start()
            breaks.append(start)
    return breaks


def _text(*parts: str | tuple[str, str], style: str = "") -> Text:
    """Return a text of styled parts."""
    plain = "".join(part if isinstance(part, str) else part[0] for part in parts)
    kind = _Prose if is_chinese(plain) else Text
    return kind.assemble(*parts, style=style)


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
        text = say(
            "Not shown: {sections}. All of it: --full, -o report.html",
            sections=listed(hidden),
        )
        console.print()
        _print(console, spoken(text), "dim")
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
        answer.add_row(_text(one_line(note.label)), _text(one_line(note.text)))
        console.print(answer)
    else:
        style = "bold" if note.level == "verdict" else ""
        _print(
            console,
            note.text,
            style,
            spoken(_PREFIXES.get(note.level, "")),
        )
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
    prose = _text((prefix, "bold yellow"), one_line(text), style=style)
    console.print(Group(prose))  # a text alone would be copied as another kind


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
    hint = _left_out(len(rows) - len(kept), cut)
    if hint:
        _print(console, hint, "dim")
    for column in table.columns:
        if full and column.help:
            text = say("{name}: {meaning}", name=column.title, meaning=column.help)
            _print(console, spoken(text), "dim")


def _left_out(rows: int, columns: Sequence[str]) -> str:
    """Say which rows and columns are left out; empty if none."""
    places = {"rows": rows, "columns": listed(columns, ", ")}
    if rows and columns:
        text = "… rows left out: {rows:,}, columns left out: {columns} (-o report.html or --format md)"
    elif rows:
        text = "… rows left out: {rows:,} (-o report.html or --format md)"
    elif columns:
        text = "… columns left out: {columns} (-o report.html or --format md)"
    else:
        return ""
    return spoken(say(text, **places))


def _without_common(
    columns: Sequence[TableColumn], rows: Sequence[ShownRow], console: Console
) -> tuple[Sequence[TableColumn], Sequence[ShownRow]]:
    """Print once what would be beneath each row, and return the other columns."""
    places = [*range(len(columns))]
    for place, column in enumerate(columns):
        texts = {row.cells[place].text for row in rows}
        if column.beneath and len(rows) > 1 and len(texts) == 1:
            text = say("{name}: {meaning}", name=column.title, meaning=texts.pop())
            _print(console, spoken(text), "dim")
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
    first, *others = positions
    for row in rows:
        texts = [_cell_text(row.cells[first], _texts(row, beneath))]
        texts += [_cell_text(row.cells[position]) for position in others]
        grid.add_row(*texts, style="bold cyan" if row.kind == "run" else "")
    return grid


def _texts(row: ShownRow, positions: Sequence[int]) -> list[str]:
    """Return the texts of some cells that are not empty."""
    texts = [row.cells[position].text for position in positions]
    return [text for text in texts if text not in ("", MISSING)]


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
    head = _text(title, (under, _DIM))
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


def _cell_text(cell: ShownCell, beneath: Sequence[str] = ()) -> Text:
    """Return a cell as text, with texts beneath it."""
    parts: list[str | tuple[str, str]] = [_marked(cell)]
    if cell.interval:
        parts.append((f" {cell.interval}", _DIM))
    if doubt(cell.note):
        parts.append((f" ({doubt(cell.note)})", _DIM))
    parts += [(f"\n{text}", _DIM) for text in beneath]
    return _text(*parts)
