"""A report as Markdown, as GitHub reads it."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ..blocks import Block, ItemView, Note, Report, Section, Table
from .formatting import ITEMS_NOTICE, ShownCell, ShownRow, one_line, shorten, shown

# Everything that GitHub gives a meaning to inside a line; `&` and `<` would begin HTML.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>&|~#$!])")

_CELL_LENGTH = 300


def markdown(report: Report, *, folded: bool = False) -> str:
    r"""Return a report as Markdown; of long answers only the beginning is shown.

    Args:
        report: What to render.
        folded: For a pull request: sections that are no summary are folded, and headings small.

    Example:
        >>> from datetime import datetime
        >>> print(markdown(Report("A*", datetime(2026, 1, 2), "0.1", (), ["Sources"])))
        # A\*
        <BLANKLINE>
        2026-01-02 00:00 · hkcanto 0.1
        <BLANKLINE>
        ---
        <BLANKLINE>
        Sources
        <BLANKLINE>
    """
    return "\n\n".join(_paragraphs(report, folded)) + "\n"


def _paragraphs(report: Report, folded: bool) -> Iterator[str]:
    level = "##" if folded else "#"
    yield f"{level} {_text(report.title)}"
    yield f"{report.created:%Y-%m-%d %H:%M} · hkcanto {_text(report.version)}"
    for section in report.sections:
        if folded and not section.is_summary:
            yield f"<details><summary>{_text(section.title)}</summary>"
            yield from _blocks(section)
            yield "</details>"
        else:
            yield f"{level}# {_text(section.title)}"
            yield from _blocks(section)
    if report.footer:
        yield "---"
        yield from map(_text, report.footer)


def _blocks(section: Section) -> Iterator[str]:
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Table():
            yield from _table(block)
        case Note(text, "warning"):
            yield f"> **Warning.** {_text(text)}"
        case Note(text):
            yield f"> {_text(text)}"
        case ItemView():
            yield from _items(block)


def _table(table: Table) -> Iterator[str]:
    if table.data_only:
        return
    view = shown(table)
    yield f"**{_text(table.title)}**"
    if table.caption:
        yield _text(table.caption)
    aligned = ["---:" if numeric else "---" for numeric in view.numeric]
    yield _grid([_text(name) for name in view.headings], aligned, map(_row, view.rows))
    if view.meanings:
        yield "\n".join(f"- *{_text(name)}*: {_text(meaning)}" for name, meaning in view.meanings)


def _row(row: ShownRow) -> list[str]:
    name, *values = [_cell(cell) for cell in row.cells]
    name = f"**{name}**" if row.kind == "run" else name
    return [f"{name} ({row.mark})" if row.mark else name, *values]


def _cell(cell: ShownCell) -> str:
    text, note = _text(cell.text), f"({_text(cell.note)})" if cell.note else ""
    parts = [f"**{text}**" if cell.best else text, _text(cell.interval), note]
    return " ".join(filter(None, parts))


def _items(view: ItemView) -> Iterator[str]:
    yield f"> **Warning.** {ITEMS_NOTICE}"
    headings = ["Item", "Model", "Task", "Subject", "Answer", "Gold", "Read as", "Response"]
    rows = [
        [
            *(row.item, row.model, row.task, row.subject),
            *(row.answer, row.target, row.reason, row.response),
        ]
        for row in view.rows
    ]
    yield _grid(headings, ["---"] * len(headings), [[_short(text) for text in row] for row in rows])
    if view.left_out:
        yield f"… {view.left_out:,} more answers are not shown."


def _grid(headings: Sequence[str], aligned: Sequence[str], rows: Iterable[list[str]]) -> str:
    lines = [headings, aligned, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _short(text: str) -> str:
    return _text(shorten(text, _CELL_LENGTH))


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text))
