"""Rendering a report for programs: JSON, documented by `report.schema.json`, and a tidy CSV."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import chain
from typing import Any

from hkcanto_metrics.reasoning import valid

from ..blocks import (
    Estimate,
    Note,
    Report,
    TableBlock,
    TableRow,
    Value,
)

FORMAT_VERSION = 3


def json_document(report: Report) -> str:
    """Return a report as JSON.

    `tables` maps names to title, caption and rows; a row maps its columns' keys to values, and a
    value with an interval is an object. Beside the tables are the report's own records, such as
    `runs` and the `gate`. `report.schema.json` describes all of it; `format_version` changes if
    readers of the older version would misread the file.

    Examples:
        >>> made = Report("Scores", datetime(2026, 1, 2), "0.1", (), records={"gate": None})
        >>> json.loads(json_document(made))["gate"] is None
        True
    """
    tables = dict[str, Any]()
    notes = list[dict[str, str]]()
    for section, block in report.blocks:
        if isinstance(block, Note):
            notes.append(
                {
                    "section": section,
                    "level": block.level,
                    "label": block.label,
                    "text": block.text,
                    "command": block.command,
                }
            )
        else:
            tables[block.name] = {
                "section": section,
                "title": block.title,
                "caption": block.caption,
                "rows": [
                    {"kind": row.kind, **_by_key(block, row)} for row in block.rows
                ],
            }
    document = {
        "format_version": FORMAT_VERSION,
        "title": report.title,
        "created": report.created,
        "version": report.version,
        **report.records,
        "tables": tables,
        "notes": notes,
        "footer": report.footer,
    }
    return valid(
        json.dumps(
            _plain(document),
            ensure_ascii=False,
            indent=1,
        )
    )


def _by_key(table: TableBlock, row: TableRow) -> dict[str, Value]:
    """Return the values of a row by the keys of their columns; equal keys are numbered."""
    values = dict[str, Value]()
    for column, value in zip(table.columns, row.values, strict=True):
        key = column.key
        if key in values:
            key = f"{key}_{len(values)}"
        values[key] = value
    return values


def _plain(value: Any) -> Any:
    """Return a value, which may contain records, in JSON types; NaN and infinities become None.

    Examples:
        >>> _plain({"a": (float("nan"), 1)})
        {'a': [None, 1]}
    """
    match value:
        case float():
            return float(value) if math.isfinite(value) else None
        case str() | int() | None:
            return value
        case datetime():
            return value.isoformat()
        case Mapping():
            return {str(key): _plain(entry) for key, entry in value.items()}
        case Sequence():
            return [_plain(entry) for entry in value]
    return _plain(asdict(value))


def tidy_csv(report: Report) -> str:
    """Return a report as one CSV table with one type per column and numbers not rounded.

    It has the report's frame, which for runs has a row for each figure. Without a frame, it has the
    rows of the report's tables, which the first column, `table`, names. A figure with an interval
    has three columns, such as `bias`, `bias_low` and `bias_high`.
    """
    rows = list(report.frame() if report.frame else _rows_of_tables(report))
    columns = dict.fromkeys(chain.from_iterable(rows))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(_safe, columns))
    writer.writerows([_safe(row.get(key)) for key in columns] for row in rows)
    return buffer.getvalue()


def _rows_of_tables(report: Report) -> Iterator[Mapping[str, object]]:
    for _, block in report.blocks:
        if isinstance(block, Note):
            continue
        for row in block.rows:
            cells: dict[str, object] = {"table": block.name}
            for key, value in _by_key(block, row).items():
                cells[key] = value
                if isinstance(value, Estimate):
                    cells[key] = value.value
                    cells[f"{key}_low"] = value.low
                    cells[f"{key}_high"] = value.high
                    if value.note:
                        cells[f"{key}_note"] = value.note
            yield cells


def _safe(field: object) -> object:
    if not isinstance(field, str):
        is_nan = field != field
        return None if is_nan else field
    # Many CSV readers end a text at a NUL, and spreadsheets evaluate formulas.
    text = valid(field).replace("\0", "␀").replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\n")) else text
