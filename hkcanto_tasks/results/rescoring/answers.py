"""Answers in a file of another tool, one JSON object per line."""

import codecs
from collections.abc import Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import msgspec

from hkcanto_metrics.reasoning import response_as_text

from ...data.tables import likely_encoding
from ...errors import LogError, OptionError, on_disk
from ..logs.items import UNREADABLE, decode, reason

COLUMNS = ("id", "question", "choices", "response", "reasoning")
"""The columns of a file. The file uses these names, or declares its own."""

_ROW = msgspec.json.Decoder(dict[str, Any])
_MOST_COLUMNS = 20  # in a message
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BAD_REQUEST = 400  # and above: HTTP statuses of failed requests
_ENDING_KEYS = ("error", "status", "status_code", "finish_reason")


class Answer(msgspec.Struct, frozen=True):
    """One response in a file."""

    line: int  # from 1
    id: str = ""  # of the item, such as `hkmmlu/hk_law/3`
    question: str = ""  # the item's, alone or followed by its options
    choices: Mapping[str, str] = {}  # the options by letter, if they are separate
    response: str = ""
    reasoning: str = ""  # if it is separate
    finish: str = ""  # why the response ended, such as `length`
    failure: str = ""  # why the request failed


def columns_of(text: str) -> dict[str, str]:
    """Parse the names of columns.

    Args:
        text: Such as `response=output,id=qid`; dots reach into a value: `response=body.text`.

    Raises:
        OptionError: The text has another form.

    Examples:
        >>> columns_of("response=output, id=qid")
        {'response': 'output', 'id': 'qid'}
    """
    columns = {}
    for part in filter(None, map(str.strip, text.split(","))):
        role, _, column = map(str.strip, part.partition("="))
        if role not in COLUMNS or not column:
            raise OptionError(
                f"--columns {part!r}: give WHAT=COLUMN, such as response=output; "
                f"WHAT is one of {', '.join(COLUMNS)}."
            )
        columns[role] = column
    return columns


def read_answers(
    path: Path,
    declared: Mapping[str, str],
    encoding: str = "utf-8",
) -> list[Answer]:
    """Read a file of answers with one JSON object per line.

    Args:
        path: The file.
        declared: The names of columns that are not those of `COLUMNS`.
        encoding: The encoding of the file.

    Raises:
        OptionError: The encoding does not exist.
        LogError: It is in another encoding, has no answers, lacks the columns, or a line has
            another form.
        DataNotFound: It cannot be read.
    """
    rows = _rows(path, encoding)
    columns = {role: role for role in COLUMNS} | dict(declared)
    for role in ("response", *declared):
        column = columns[role]
        if all(cell_at(row, column) is None for row in rows.values()):
            names = [*dict.fromkeys(name for row in rows.values() for name in row)]
            shown = ", ".join(names[:_MOST_COLUMNS]) or "none"
            raise LogError(
                f"{path} has no {role} in a column {column!r}; its columns are {shown}. "
                f"Name the right one: --columns {role}=NAME."
            )
    return [
        _answer(
            path,
            line,
            row,
            columns,
        )
        for line, row in rows.items()
    ]


def _rows(path: Path, encoding: str) -> dict[int, dict[str, Any]]:
    """Return the rows of a file by their lines, from 1."""
    with on_disk(path):
        content = _in_utf8(path, path.read_bytes(), encoding)
    lines = content.removeprefix(_BYTE_ORDER_MARK).splitlines()
    rows = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows[number] = decode(line, _ROW)
        except UNREADABLE as error:
            raise LogError(
                f"{path}, line {number}: it is not JSONL, one JSON object per line "
                f"({reason(error)})."
            ) from error
    return rows


def _in_utf8(
    path: Path,
    content: bytes,
    encoding: str,
) -> bytes:
    """Return the content of a file in UTF-8.

    Raises:
        OptionError: The encoding does not exist.
        LogError: The content is in another encoding.
    """
    try:
        # Python writes halves of surrogate pairs, which `decode` replaces.
        is_utf8 = codecs.lookup(encoding).name == "utf-8"
        text = content.decode(encoding, "surrogatepass" if is_utf8 else "strict")
    except LookupError as error:
        raise OptionError(
            f"--encoding {encoding} is unknown. Give one such as big5 or gb18030."
        ) from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        likely = likely_encoding(content)
        advice = f"Give its encoding: --encoding {likely or 'NAME, such as big5'}."
        raise LogError(
            f"{path}, line {line}: byte {content[error.start]:#04x} is not {encoding}. "
            f"{advice}"
        ) from error
    return text.encode("utf-8", "surrogatepass")


def _answer(
    path: Path,
    line: int,
    row: Mapping[str, Any],
    columns: Mapping[str, str],
) -> Answer:
    ending = _ending(row, columns["response"])
    cells = {role: cell_at(row, column) for role, column in columns.items()}
    failure = _failure(ending, cells["response"])
    if failure:
        return Answer(line, failure=failure)
    choices = cells.pop("choices")
    texts = {}
    if isinstance(cells["response"], list):  # of parts
        cells["response"] = response_as_text(cells["response"])
    for role, cell in cells.items():
        if isinstance(cell, dict | list):
            raise LogError(
                f"{path}, line {line}: its {role} is a {type(cell).__name__}, no text."
            )
        if cell is not None:
            texts[role] = str(cell)
    options = _options(row, choices)
    if options is None:
        raise LogError(
            f"{path}, line {line}: its choices are neither a list nor an object."
        )
    finish = str(ending.get("finish_reason", ""))
    return Answer(
        line,
        choices=options,
        finish=finish,
        **texts,
    )


def _ending(row: Mapping[str, Any], column: str) -> dict[str, Any]:
    """Return how a request ended.

    Batch APIs say it in the row, or in an object on the path to the response.
    """
    ending = {}
    for value in _values_on_path(row, column)[:-1]:
        if isinstance(value, dict):
            for key in _ENDING_KEYS:
                if value.get(key):
                    ending[key] = value[key]
    return ending


def _failure(ending: Mapping[str, Any], response: object) -> str:
    """Return why a request failed; empty if it did not."""
    status = ending.get("status_code", ending.get("status"))
    if isinstance(status, int) and status >= _BAD_REQUEST:
        return f"status {status}"
    if "error" in ending and not response:
        return "error"
    return ""


def _options(row: Mapping[str, Any], choices: object) -> dict[str, str] | None:
    """Return the options by letter; None if they are neither a list nor an object.

    Args:
        row: The row, which may have a column for each letter.
        choices: The cell with the options, if there is one.
    """
    if not choices:
        choices = [row[letter] for letter in ascii_uppercase if letter in row]
    if isinstance(choices, list):
        choices = dict(zip(ascii_uppercase, choices, strict=False))
    if not isinstance(choices, dict):
        return None
    return {
        str(letter): str(option)
        for letter, option in choices.items()
        if option is not None
    }


def cell_at(row: Mapping[str, Any], column: str) -> Any:
    """Return the cell of a column with dots; None if it is missing."""
    return _values_on_path(row, column)[-1]


def _values_on_path(row: Mapping[str, Any], column: str) -> list[Any]:
    """Return the row, the values on the dotted path of a column, and last its cell or None."""
    parts = [column] if column in row else column.split(".")
    values: list[Any] = [row]
    for part in parts:
        inner = values[-1]
        if isinstance(inner, list):
            inner = {str(position): value for position, value in enumerate(inner)}
        values.append(inner.get(part) if isinstance(inner, dict) else None)
    return values
