"""A report for programs: JSON with its records by name, and one long CSV table."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from ..blocks import Estimate, ItemView, Note, Report, Table
from .formatting import encodable

FORMAT_VERSION = 2

COLUMNS = (
    *("section", "table", "row", "label", "kind", "column"),
    *("value", "low", "high", "unit", "note"),
)


def json_document(report: Report) -> str:
    """Return a report as JSON.

    `tables` holds name → title, caption and rows; a row maps its columns' keys to values, one with
    an interval being an object. Beside them stand the report's own records, such as `runs` and the
    `gate`. `format_version` changes when a reader of an older one would misread it.

    Examples:
        >>> made = Report("Scores", datetime(2026, 1, 2), "0.1", (), records={"gate": None})
        >>> json.loads(json_document(made))["gate"] is None
        True
    """
    blocks = [(section.name, block) for section in report.sections for block in section.blocks]
    document = {
        "format_version": FORMAT_VERSION,
        "title": report.title,
        "created": report.created,
        "version": report.version,
        **report.records,
        "tables": {
            block.name: {
                "section": section,
                "title": block.title,
                "caption": block.caption,
                "rows": list(_records(block)),
            }
            for section, block in blocks
            if isinstance(block, Table)
        },
        "notes": [
            {"section": section, "level": block.level, "text": block.text}
            for section, block in blocks
            if isinstance(block, Note)
        ],
        "items": [row for _, block in blocks if isinstance(block, ItemView) for row in block.rows],
        "footer": report.footer,
    }
    return json.dumps(plain(document), ensure_ascii=False, indent=1)


def _records(table: Table) -> Iterator[Mapping[str, Any]]:
    keys: list[str] = []
    for column in table.columns:
        keys.append(f"{column.key}_{len(keys)}" if column.key in keys else column.key)
    for row in table.rows:
        yield {"kind": row.kind, **dict(zip(keys, row.values, strict=True))}


def plain(value: Any, text: Callable[[str], str] = encodable) -> Any:
    """Return a value, which may hold records, as JSON can: NaN and infinities become None.

    `text` is what to make of a string; by default lone surrogates are replaced.

    Examples:
        >>> plain({"a": (float("nan"), 1)})
        {'a': [None, 1]}
    """
    match value._asdict() if hasattr(value, "_asdict") else value:
        case str():
            return text(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case int() | None:
            return value
        case datetime():
            return value.isoformat()
        case Mapping() as entries:
            return {text(str(key)): plain(entry, text) for key, entry in entries.items()}
        case Sequence() as entries:
            return [plain(entry, text) for entry in entries]
    return {field.name: plain(getattr(value, field.name), text) for field in fields(value)}


def tidy_csv(report: Report) -> str:
    """Return the tables of a report as one long table, a value a line, with the columns `COLUMNS`.

    Numbers are as exact as they were computed; `label` joins the texts that say what a row is of.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                for line in _lines(block):
                    writer.writerow([_safe(each) for each in (section.name, block.name, *line)])
    return buffer.getvalue()


def _lines(table: Table) -> Iterator[Sequence[object]]:
    for place, row in enumerate(table.rows, 1):
        label = " · ".join(value for value in row.values if isinstance(value, str))
        for column, value in list(zip(table.columns, row.values, strict=True))[1:]:
            of = (place, label, row.kind, column.title)
            if isinstance(value, Estimate):
                yield *of, value.value, value.low, value.high, column.unit, value.note
            else:
                yield *of, value, None, None, column.unit, ""


def _safe(field: object) -> object:
    if not isinstance(field, str):
        return None if field != field else field
    # A NUL ends the text for many readers of CSV, and a spreadsheet computes formulas.
    text = encodable(field).replace("\0", "␀").replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\n")) else text
