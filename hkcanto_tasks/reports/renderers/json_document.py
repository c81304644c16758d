"""A report as JSON: the blocks as they are, for programs."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from ..blocks import Block, Report
from .formatting import encodable

FORMAT_VERSION = 1


def json_document(report: Report) -> str:
    """Return a report as JSON.

    The fields are those of `blocks`; a block also has its `type` (`table`, `chart`, `note`,
    `itemview`). A figure that is not a number is null. `format_version` changes when a reader of
    an older one would misread it.

    Example:
        >>> document = json_document(Report("Scores", datetime(2026, 1, 2), "0.1", ()))
        >>> json.loads(document)["created"]
        '2026-01-02T00:00:00'
    """
    return json.dumps(
        {"format_version": FORMAT_VERSION, **plain(report)}, ensure_ascii=False, indent=1
    )


def plain(value: object, text: Callable[[str], str] = encodable) -> Any:
    """Return a value as JSON can hold it: NaN and infinities become None.

    Args:
        value: Strings, numbers, datetimes, mappings, sequences and dataclasses of them.
        text: What to make of a string; by default lone surrogates are replaced.

    Raises:
        TypeError: The value has something else in it.

    Example:
        >>> plain({"a": (float("nan"), 1)})
        {'a': [None, 1]}
    """
    match value:
        case str():
            return text(value)
        case bool() | int() | None:
            return value
        case float():
            return float(value) if math.isfinite(value) else None
        case datetime():
            return value.isoformat()
        case Mapping():
            return {text(str(key)): plain(entry, text) for key, entry in value.items()}
        case Sequence():
            return [plain(entry, text) for entry in value]
    if not is_dataclass(value):
        raise TypeError(f"{value!r} is a {type(value).__name__}, which JSON does not have.")
    kind = {"type": type(value).__name__.lower()} if isinstance(value, Block) else {}
    return kind | {field.name: plain(getattr(value, field.name), text) for field in fields(value)}
