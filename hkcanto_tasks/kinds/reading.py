"""Read the rows of a file as items, in the way of their task's kind."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ..data.tables import Row, UnreadableRow, as_text
from ..declarations import Subject
from ..errors import CatalogueError, did_you_mean
from ..figures import parts_of
from ..prompts import OF_EXAMPLES, NoSuchPlace
from ..samples import Sample
from .base import Kind

_Shown = Mapping[str, Sequence[str]]
"""Placeholder → the columns of a cell that the prompt shows."""


def read_samples(
    kind: Kind,
    rows: Sequence[Row],
    subject: Subject,
) -> tuple[list[Sample], list[UnreadableRow]]:
    """Return the items of a subject's rows, and the rows that cannot be read.

    Raises:
        CatalogueError: The prompt has a placeholder that neither the kind nor a column fills.
    """
    samples: list[Sample] = []
    unreadable: list[UnreadableRow] = []
    task = kind.definition.name
    prefix = f"{task}/{subject.name}/" if subject.name else f"{task}/"
    parts = parts_of(kind.task, subject)
    prefixes = kind.definition.prefixes
    has_ids = bool(kind.definition.reader) or "id" in kind.definition.columns
    shown: _Shown | None = None
    for row in rows:
        try:
            if prefixes:
                row = _without_prefixes(kind, row, prefixes)
            sample = kind.row(row)
            if shown is None:
                shown = _shown(
                    kind,
                    sample,
                    row,
                    subject,
                )
            cells = _cells(row, shown) if shown else {}
        except UnreadableRow as error:
            unreadable.append(error)
            continue
        name = as_text(row.find(kind.columns("id"))) if has_ids else None
        samples.append(
            msgspec.structs.replace(
                sample,
                id=prefix + (name or sample.id),
                subject=subject.name,
                category=sample.category or subject.category,
                parts=parts + sample.parts,
                cells=cells,
            )
        )
    return samples, unreadable


def unread_columns(kind: Kind, columns: Iterable[str]) -> list[str]:
    """Return the columns of a file that neither the kind reads nor the prompt shows."""
    declared = (*kind.definition.ignored, *kind.definition.where)
    known = {*kind.reads, *(name.lower() for name in declared)}
    for place in kind.placeholders:
        known.update(kind.columns(place))
    known |= {name.partition(".")[0] for name in known}  # a path begins with a column
    return [name for name in columns if name and name not in known]


def _without_prefixes(
    kind: Kind,
    row: Row,
    prefixes: Mapping[str, str],
) -> Row:
    """Return a row without the declared texts before its cells.

    Raises:
        UnreadableRow: A cell does not begin with the text.
    """
    cells = dict(row.cells)
    for role, prefix in prefixes.items():
        columns = kind.columns(role)
        text = row.text(columns, role)
        if not text.startswith(prefix):
            raise row.problem(
                f"no {prefix!r} before its {role}, which `prefixes` declares"
            )
        cells[columns[0]] = text.removeprefix(prefix)
    return msgspec.structs.replace(row, cells=cells)


def _shown(
    kind: Kind,
    sample: Sample,
    row: Row,
    subject: Subject,
) -> _Shown:
    """Return placeholder → columns for the cells that the prompt shows; refuse others.

    Raises:
        CatalogueError: Nothing fills a placeholder, or both the kind and a column do.
    """
    filled = {*kind.values(sample), *kind.names(subject)}
    shown: dict[str, Sequence[str]] = {}
    for place in kind.placeholders:
        columns = set(filter(row.has, kind.columns(place)))
        if place in filled and not columns <= kind.reads:
            raise _filled_twice(
                kind,
                place,
                row,
                columns.difference(kind.reads).pop(),
            )
        if columns and place not in filled and place not in OF_EXAMPLES:
            shown[place] = kind.columns(place)
    # The names of a subject have the same placeholders for all subjects.
    if tuple(shown) in kind.filled:
        return shown
    blank = msgspec.structs.replace(
        sample, subject=subject.name, cells=dict.fromkeys(shown, "")
    )
    rows = [blank] if kind.definition.has_examples else []
    try:
        kind.prompt(blank, kind.examples(subject, rows))
    except NoSuchPlace as error:
        raise _unfilled(
            kind,
            error.name,
            row,
            filled,
        ) from error
    kind.filled.add(tuple(shown))
    return shown


def _filled_twice(
    kind: Kind,
    place: str,
    row: Row,
    column: str,
) -> CatalogueError:
    return CatalogueError(
        f"{_where(kind)} {{{place}}}, which the kind {kind.definition.kind!r} fills itself, but "
        f"{row.file} has a column {place!r}. Rename the column, or to show it, write {{of_row}} "
        f'and declare columns = {{ of_row = "{column}" }}.'
    )


def _unfilled(
    kind: Kind,
    place: str,
    row: Row,
    filled: set[str],
) -> CatalogueError:
    known = filled.union(row.cells).difference(OF_EXAMPLES)
    hint = did_you_mean(place.lower(), known, "{{{}}}")
    fills = ", ".join(f"{{{name}}}" for name in sorted(filled))
    columns = " or ".join(kind.columns(place))
    return CatalogueError(
        f"{_where(kind)} {{{place}}}, but nothing fills it. The kind {kind.definition.kind!r} fills "
        f"{fills}; {row.file} has {row.named()}, and none is called {columns}. {hint}"
        f"Correct it, or write {{{{{place}}}}} if these characters are meant."
    )


def _where(kind: Kind) -> str:
    file = f"{kind.task.benchmark.home}/benchmark.toml"
    return f"{file}: [prompts.{kind.prompt_name}] has the placeholder"


def _cells(row: Row, shown: _Shown) -> dict[str, str]:
    return {place: _cell(row, place, columns) for place, columns in shown.items()}


def _cell(
    row: Row,
    place: str,
    columns: Sequence[str],
) -> str:
    """Return the text of a cell that the prompt shows; a blank cell stays blank."""
    cell = row.find(columns)
    if cell is None and any(map(row.has, columns)):
        return ""
    text = as_text(cell)
    if isinstance(cell, list | Mapping):
        raise row.nested(f"placeholder {{{place}}}", columns)
    if text is None:
        where = f"no text in a column {' or '.join(columns)}"
        raise row.problem(f"{where}, which the prompt shows as {{{place}}}")
    return text
