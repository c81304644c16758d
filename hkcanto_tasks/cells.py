"""Columns of a release that a prompt shows, besides those that the kind reads.

A template can name any column of the file: `{passage}`. An unfilled placeholder is an error. A
column that looks like context but is in no template is reported, since questions without their
passage measure something else.
"""

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import msgspec

from .data.options import decoded
from .data.stems import names, words
from .data.tables import Record, UnreadableRow, as_text
from .errors import CatalogueError
from .prompts import OF_EXAMPLES, NoSuchPlace, places
from .samples import Sample
from .setup import Setup

# Matches the whole name of a column: `Reading_Passage`, `contextText`, 背景資料.
CONTEXT = re.compile(
    r"(?:(?:the|full|reading|source|input|閱讀|阅读)[\W_]*)?"
    r"(?:passage|context|article|premise|paragraph|story|background|document|excerpt|scenario"
    r"|dialog(?:ue)?|conversation|narrative|material|text"
    r"|文章|背景|材料|段落|短文|篇章|語境|语境|上下文|前提|情境|故事|對話|对话|文本|原文|課文|课文)s?"
    r"(?:[\W_]*(?:text|body|content|zh|en|yue|tc|sc|hk|資料|资料|內容|内容|\d))?"
)
"""The names of columns that look like context."""


@dataclass(frozen=True, slots=True)
class ReadRows:
    """The rows of a file with the cells that the prompt names.

    Attributes:
        rows: Each row of the file, or an error if it cannot be read.
        unshown: The columns that look like context but are neither read nor shown.
    """

    rows: list[Sample | UnreadableRow]
    unshown: Sequence[str] = ()


def read_rows(
    setup: Setup, records: Sequence[Record], release: Callable[[], Sequence[Record]] = tuple
) -> ReadRows:
    """Read the rows of a file.

    Args:
        setup: The setup that reads and renders them.
        records: The rows.
        release: Returns the rows of all subjects, for use if one file alone is ambiguous.

    Raises:
        CatalogueError: The prompt has a placeholder that neither the kind nor a column fills.
        DataCorrupt: The file as a whole cannot be read.
    """
    rows = setup.rows(records, release)
    first = next((row for row in rows if not isinstance(row, UnreadableRow)), None)
    if first is None:
        return ReadRows(rows)
    columns = [*dict.fromkeys(chain.from_iterable(record.cells for record in records))]
    own = [*setup.values(first), *setup.names(setup.task.subjects[0])]
    taken = setup.reads(columns)
    taken |= {each for each in columns if "." in each and each.partition(".")[0] in taken}
    shown: dict[str, str] = {}
    for place in chain.from_iterable(map(places, setup.template.texts)):
        there = [name for name in setup.columns(place) if name in columns and name not in taken]
        if there and place in own:
            _refuse_two_meanings(setup, records, place, there[0])
        elif there and place not in OF_EXAMPLES:
            shown[place] = there[0]
    pairs = zip(records, rows, strict=True)
    rows = [_with_cells(record, row, shown) for record, row in pairs] if shown else rows
    for row in [row for row in rows if not isinstance(row, UnreadableRow)][:1]:
        _refuse_unfilled(setup, row, records[0], own, taken)
    unread = [each for each in columns if each not in taken and each not in shown.values()]
    suspect = [each for each in unread if CONTEXT.fullmatch(each)]
    filled = (each for each in suspect if any(_is_filled(record, each) for record in records))
    return ReadRows(rows, [*filled])


def with_nested(records: Sequence[Record], paths: Collection[str]) -> list[Record]:
    """Add a column for each path into a cell, unless the row has a column of that name.

    Args:
        records: The rows.
        paths: Keys, or indices in a list from 0, with dots between them, in lower case.

    Examples:
        >>> row = Record(1, "", {"choices": {"A": "大澳", "B": "中環"}})
        >>> with_nested([row], {"choices.b"})[0].cells["choices.b"]
        '中環'
    """
    return [replace(each, cells={**_reached(each, paths), **each.cells}) for each in records]


def _reached(record: Record, paths: Collection[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in paths:
        first, *keys = path.split(".")
        inner: list[object] = [record.cells[first]] if first in record.cells else []
        for key in keys:
            cell = decoded(inner[0]) if len(inner) == 1 else None
            if isinstance(cell, list):
                cell = {str(place): each for place, each in enumerate(cell)}
            named = cell.items() if isinstance(cell, Mapping) else ()
            inner = [each for name, each in named if str(name).lower() == key]
        if len(inner) == 1:  # keys that differ only in case are ambiguous
            found[path] = inner[0]
    return found


def _refuse_two_meanings(setup: Setup, records: Sequence[Record], place: str, column: str) -> None:
    """Refuse a placeholder that both the kind and a column can fill, except for the subject."""
    benchmark = setup.task.benchmark
    subjects = [names(each, benchmark.folder) for each in setup.task.definition.subjects]
    cells = {as_text(record.cells.get(column)) or "" for record in records}
    if not {words(cell, benchmark.folder) for cell in cells} <= {()}.union(*subjects):
        file = records[0].file
        raise CatalogueError(
            f"{benchmark.home}/benchmark.toml: [prompts.{setup.prompt_name}] has the placeholder "
            f"{{{place}}}, which the kind {setup.task.definition.kind!r} fills itself, but {file} "
            f"has a column {column!r}. If the column is meant, use another placeholder and declare "
            f'it: {{of_row}} and columns = {{ of_row = "{column}" }}. If not, rename the column.'
        )


def _is_filled(record: Record, column: str) -> bool:
    return bool(str(record.cells.get(column) or "").strip())  # also a list of paragraphs


def _text(record: Record, column: str) -> str:
    return as_text(record.cells.get(column)) or ""


def _with_cells(
    record: Record, row: Sample | UnreadableRow, shown: Mapping[str, str]
) -> Sample | UnreadableRow:
    """Add the cells that the prompt shows to a row; a blank cell stays blank."""
    if isinstance(row, UnreadableRow):
        return row
    for place, column in shown.items():
        if column not in record.cells:
            return record.problem(f"no column {column!r}, which the prompt shows as {{{place}}}")
        cell = record.cells[column]
        if cell is not None and as_text(cell) is None:
            return record.problem(f"no text in {column!r}, which the prompt shows as {{{place}}}")
    cells = {place: _text(record, column) for place, column in shown.items()}
    return msgspec.structs.replace(row, cells=cells)


def _refuse_unfilled(
    setup: Setup, row: Sample, record: Record, own: Sequence[str], taken: set[str]
) -> None:
    """Render a row with and without worked examples, and refuse unfilled placeholders."""
    subject = setup.task.subjects[0]
    row = msgspec.structs.replace(row, subject=subject.name)
    try:
        for shots in {0, setup.shots or 1} if setup.task.definition.has_examples else {0}:
            each = setup.at(shots=shots)
            each.prompt(row)
            if shots:
                each.example(subject, row, 1)
    except NoSuchPlace as error:
        file, place = record.file, error.name
        columns = setup.columns(place)
        free = [*own, *(each for each in record.cells if each not in taken)]
        near = difflib.get_close_matches(place.lower(), free, n=1)
        hint = f"Did you mean {{{near[0]}}}? " if near else ""
        if used := taken.intersection(columns):
            hint = f"The kind reads the column {used.pop()!r}, so no prompt can show it by name. "
        elif (place,) != columns:
            hint = f"No column is called {' or '.join(columns)}, as declared for it. {hint}"
        fills, more = (", ".join(f"{{{each}}}" for each in some) for some in (own, OF_EXAMPLES))
        raise CatalogueError(
            f"{setup.task.benchmark.home}/benchmark.toml: [prompts.{setup.prompt_name}] has the "
            f"placeholder {{{place}}}, but nothing fills it. The kind "
            f"{setup.task.definition.kind!r} fills {fills} and, in worked examples, {more}; {file} "
            f"has {record.named()}. {hint}Correct the placeholder, or write {{{{{place}}}}} if "
            "these characters are meant."
        ) from error
