"""Rendering a report as GitHub's Markdown."""

import re
from collections.abc import Iterator

from ....printable import one_line
from ..blocks import Report, TableBlock
from .formatting import ShownCell, caption, heading, shown

# All characters with a special meaning to GitHub within a line; `&` and `<` would begin HTML.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>&|~#$!])")
_LEVELS = {"verdict": "**{}**", "warning": "> **Warning.** {}", "info": "> {}"}


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
        is_folded, title = folded and not section.is_summary, _text(section.title)
        head = (
            f"<details><summary>{title}</summary>" if is_folded else f"{level}# {title}"
        )
        paragraphs.append(head)
        for block in section.blocks:
            if isinstance(block, TableBlock):
                paragraphs += _table(block)
            else:
                paragraphs.append(_LEVELS[block.level].format(_text(block.text)))
        paragraphs += ["</details>"] if is_folded else []
    paragraphs += ["---", *map(_text, report.footer)] if report.footer else []
    return "\n\n".join(paragraphs) + "\n"


def _table(table: TableBlock) -> Iterator[str]:
    yield f"**{_text(table.title)}**"
    if told := caption(table):
        yield _text(told)
    lines = [
        [
            "<br>".join(map(_text, filter(None, (heading(c), c.under))))
            for c in table.columns
        ],
        ["---:" if column.numeric else "---" for column in table.columns],
    ]
    for row in shown(table):
        name, *values = map(_cell, row.cells)
        lines.append([f"**{name}**" if row.kind == "run" else name, *values])
    yield "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    if meanings := [
        f"- *{_text(c.title)}*: {_text(c.help)}" for c in table.columns if c.help
    ]:
        yield "\n".join(meanings)


def _cell(cell: ShownCell) -> str:
    text, note = _text(cell.text), f"({_text(cell.note)})" if cell.note else ""
    parts = [f"**{text}**" if cell.best else text, _text(cell.interval), note]
    return " ".join(filter(None, parts))


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text))
