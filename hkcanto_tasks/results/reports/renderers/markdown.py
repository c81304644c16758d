"""Rendering a report as GitHub's Markdown."""

import re
from collections.abc import Iterator

from ....messages import say, spoken
from ....printable import one_line
from ..blocks import (
    Note,
    Report,
    TableBlock,
    TableColumn,
)
from .formatting import (
    ShownCell,
    caption,
    heading,
    shown,
)

# All characters with a special meaning to GitHub within a line; `&` and `<` begin HTML.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>&|~#$!])")
# GitHub notifies the person or team of a name after it.
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_LEVELS = {
    "verdict": "**{}**",
    "next": "> {}",
    "info": "> {}",
}


def markdown(report: Report, *, folded: bool = False) -> str:
    r"""Return a report as Markdown.

    With `folded` it is for a pull request: sections other than summaries are folded, and headings
    are small.

    Examples:
        >>> from datetime import datetime
        >>> markdown(Report("A*", datetime(2026, 1, 2), "0.1", (), ["Sources"]))
        '# A\\*\n\n2026-01-02 00:00 · hkcanto 0.1\n\n---\n\nSources\n'
    """
    level = "##" if folded else "#"
    paragraphs = [
        f"{level} {_text(report.title)}",
        f"{report.created:%Y-%m-%d %H:%M} · hkcanto {_text(report.version)}",
    ]
    for section in report.sections:
        is_folded = folded and not section.is_summary
        title = _text(section.title)
        if is_folded:
            paragraphs.append(f"<details><summary>{title}</summary>")
        else:
            paragraphs.append(f"{level}# {title}")
        for block in section.blocks:
            if isinstance(block, Note):
                paragraphs.append(_note(block))
            else:
                paragraphs += _table(block)
        if is_folded:
            paragraphs.append("</details>")
    paragraphs += ["---", *map(_text, report.footer)] if report.footer else []
    return "\n\n".join(paragraphs) + "\n"


def _note(note: Note) -> str:
    if note.level == "warning":
        return f"> **{spoken('Warning.')}** {_text(note.text)}"
    if not note.label:
        return _LEVELS[note.level].format(_text(note.text))
    command = f" `{one_line(note.command)}`" if note.command else ""
    label = spoken(say("{label}:", label=_text(note.label)))
    return f"**{label}** {_text(note.text)}{command}"


def _table(table: TableBlock) -> Iterator[str]:
    yield f"**{_text(table.title)}**"
    about = caption(table)
    if about:
        yield _text(about)
    lines = [
        [*map(_heading, table.columns)],
        ["---:" if column.numeric else "---" for column in table.columns],
    ]
    for row in shown(table):
        cells = [*map(_cell, row.cells)]
        if row.kind == "run":
            cells[0] = f"**{cells[0]}**"
        lines.append(cells)
    yield "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    meanings = [
        f"- *{_text(column.title)}*: {_text(column.help)}"
        for column in table.columns
        if column.help
    ]
    if meanings:
        yield "\n".join(meanings)


def _heading(column: TableColumn) -> str:
    parts = filter(None, (heading(column), column.under))
    return "<br>".join(map(_text, parts))


def _cell(cell: ShownCell) -> str:
    text = _text(cell.text)
    parts = [f"**{text}**" if cell.best else text]
    if cell.interval:
        parts.append(_text(cell.interval))
    if cell.note:
        parts.append(f"({_text(cell.note)})")
    return " ".join(filter(None, parts))


def _text(text: str) -> str:
    escaped = _SPECIAL.sub(r"\\\1", one_line(text))
    return _MENTION.sub("@\N{ZERO WIDTH SPACE}", escaped)
