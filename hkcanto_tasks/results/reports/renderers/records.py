"""Rendering a report for programs: JSON, documented by `report.schema.json`, and a tidy CSV."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from ....printable import valid
from ..blocks import Estimate, Note, Report, Table

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
    tables, notes = dict[str, Any](), list[dict[str, str]]()
    for section, block in report.blocks:
        if isinstance(block, Note):
            notes.append({"section": section, "level": block.level, "text": block.text})
            continue
        rows = [
            {"kind": row.kind, **dict(zip(_keys(block), row.values, strict=True))}
            for row in block.rows
        ]
        about = {"section": section, "title": block.title, "caption": block.caption}
        tables[block.name] = {**about, "rows": rows}
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
    return json.dumps(plain(document), ensure_ascii=False, indent=1)


def _keys(table: Table) -> Sequence[str]:
    keys: list[str] = []
    for column in table.columns:
        keys.append(f"{column.key}_{len(keys)}" if column.key in keys else column.key)
    return keys


def plain(value: Any) -> Any:
    """Return a value, which may contain records, in JSON types; NaN and infinities become None.

    Examples:
        >>> plain({"a": (float("nan"), 1)})
        {'a': [None, 1]}
    """
    match value._asdict() if hasattr(value, "_asdict") else value:
        case str():
            return valid(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case int() | None:
            return value
        case datetime():
            return value.isoformat()
        case Mapping() as entries:
            return {valid(str(key)): plain(entry) for key, entry in entries.items()}
        case Sequence() as entries:
            return [plain(entry) for entry in entries]
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


def tidy_csv(report: Report) -> str:
    """Return a report as one CSV table with one type per column and numbers not rounded.

    It has the report's frame, which for runs has a row for each figure. Without a frame, it has the
    rows of the report's tables, which the first column, `table`, names. A figure with an interval
    has three columns, such as `bias`, `bias_low` and `bias_high`.
    """
    found = list(report.frame() if report.frame else _rows_of_tables(report))
    columns = dict.fromkeys(key for row in found for key in row)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(_safe, columns))
    writer.writerows([_safe(row.get(key)) for key in columns] for row in found)
    return buffer.getvalue()


def _rows_of_tables(report: Report) -> Iterator[Mapping[str, object]]:
    for table in (block for _, block in report.blocks if isinstance(block, Table)):
        for row in table.rows:
            cells: dict[str, object] = {"table": table.name}
            for key, value in zip(_keys(table), row.values, strict=True):
                cells[key] = value.value if isinstance(value, Estimate) else value
                if isinstance(value, Estimate):
                    cells |= {f"{key}_low": value.low, f"{key}_high": value.high}
                    cells |= {f"{key}_note": value.note} if value.note else {}
            yield cells


def _safe(field: object) -> object:
    if not isinstance(field, str):
        return None if field != field else field
    # Many CSV readers end a text at a NUL, and spreadsheets evaluate formulas.
    text = valid(field).replace("\0", "␀").replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\n")) else text
