"""Read benchmark files exactly as they are, and refuse what only looks like one.

At HEAD the HKCanto-Eval release holds Git-LFS pointer files in place of its CSVs, proxies answer
with HTML pages and status 200, and data-frame readers turn the option ``None`` into a missing
value and ``007`` into ``7``. Any of these changes a score without a sound, so here every cell stays
the string that the file holds, and anything doubtful is an error that names the file and the row.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..errors import DataCorrupt

_T = TypeVar("_T")

_AGAIN = "Delete the file and fetch it again"


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a file, whatever its format.

    Attributes:
        number: Its place among the rows, from 1, without a header.
        where: File and row, for messages; the row as an editor or spreadsheet counts it.
        cells: Column, in lower case → cell. Of a CSV file every cell is the text in it.
    """

    number: int
    where: str
    cells: Mapping[str, object]

    def find(self, columns: Sequence[str]) -> object:
        """Return the cell of the first of some columns that the row has; None without one.

        Example:
            >>> Record(1, "a.csv, row 2", {"input": "我哋"}).find(["source", "input"])
            '我哋'
        """
        return next((self.cells[name] for name in columns if name in self.cells), None)

    def text(self, columns: Sequence[str], role: str) -> str:
        """Return a cell that must be there, as text.

        Args:
            columns: The columns that it may be in, in lower case.
            role: What it is, for the message.

        Raises:
            DataCorrupt: The row has none of these columns, or what is there is blank or no text.
        """
        cell = self.find(columns)
        text = as_text(cell)
        if text is None or not text.strip():
            raise self.problem(
                f"no text for the {role}: expected one in a column {' or '.join(columns)}, found "
                f"the columns {', '.join(self.cells)}"
            )
        return text

    def problem(self, what: str) -> DataCorrupt:
        """Return the error that says what is wrong with the row."""
        return DataCorrupt(f"{self.where} has {what}. Correct the row.")


def as_text(cell: object) -> str | None:
    """Return a cell as text: numbers as they are written; None if it is neither.

    Example:
        >>> as_text(7), as_text("007"), as_text(["7"])
        ('7', '007', None)
    """
    if isinstance(cell, str):
        return cell
    return str(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None


def refusal(content: bytes) -> str | None:
    """Say why these bytes cannot be benchmark data, whatever their format.

    Args:
        content: A file's content.

    Returns:
        What the file is instead and what to do, or None when nothing speaks against it.

    Example:
        >>> refusal(b"<!DOCTYPE html><title>Access denied</title>").split(",")[0]
        'it is an HTML page'
    """
    opening = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:200]
    if not opening:
        return f"it is empty. {_AGAIN}"
    if opening.startswith(b"version https://git-lfs.github.com/spec/"):
        return (
            "it is a Git LFS pointer, not the data it stands for. Run `git lfs pull` in the clone,"
            " or unset HKCANTO_DATA_DIR to let hkcanto download the pinned commit"
        )
    if opening.lower().startswith((b"<!doctype html", b"<html")):
        return (
            "it is an HTML page, probably the error page of a proxy or a mirror."
            f" {_AGAIN} over a connection that serves the data"
        )
    return None


def read_records(path: Path, columns: Sequence[str] = ()) -> list[Record]:
    r"""Read a file of rows: CSV, JSON lines, one JSON list, or Parquet.

    Args:
        path: The file; its ending, and for JSON its first character, tell the format. A JSON list
            of texts is a table with one column, `text`.
        columns: The names of the columns of a CSV file without a header row.

    Returns:
        The rows in file order.

    Raises:
        DataCorrupt: The file is no such data, breaks off, has rows that differ in their number of
            cells, or names a column twice.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "can2man.jsonl")
        ...     _ = path.write_text('{"Input": "我哋"}\n{"Input": "007"}\n', encoding="utf-8")
        ...     [record.cells["input"] for record in read_records(path)]
        ['我哋', '007']
    """
    ending = path.suffix.lower()
    if ending == ".csv":
        return _csv(path, columns)
    rows: Iterator[tuple[int, Any]]
    if ending == ".parquet":
        rows = enumerate(_parquet(path), start=1)
    else:
        text = _text(path)
        if text.lstrip().startswith("["):
            listed = _json(path, text, list[str | dict[str, object]], place="the content")
            rows = enumerate(listed, start=1)
        else:
            # Not splitlines(): U+2028 and U+0085 may stand inside a JSON string.
            lines = enumerate(text.rstrip().split("\n"), start=1)
            rows = (
                (number, _json(path, line, dict[str, object], place=f"row {number}"))
                for number, line in lines
            )
    return [_record(path, number, number, row) for number, row in rows]


def _record(path: Path, number: int, place: int, row: str | Mapping[str, object]) -> Record:
    cells = {"text": row} if isinstance(row, str) else {k.strip().lower(): row[k] for k in row}
    where = f"{path}, row {place}"
    if len(cells) < len(row) and not isinstance(row, str):
        raise DataCorrupt(f"{where}: two of the columns {', '.join(row)} are alike. Rename one.")
    return Record(number, where, cells)


def _csv(path: Path, columns: Sequence[str]) -> list[Record]:
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(reader)
    except csv.Error as error:
        raise DataCorrupt(
            f"{path}: row {len(rows) + 1} (line {reader.line_num}) is not valid CSV: {error}. The"
            f" file may be truncated. {_AGAIN}, or correct the quotes in that row."
        ) from error
    while rows and not rows[-1]:  # blank lines at the end
        rows.pop()
    names = [*columns] or rows[0]
    for place, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]) or len(row) < len(names):
            raise DataCorrupt(
                f"{path}: row {place} has {len(row)} cells and row 1 has {len(rows[0])}; expected "
                f"{len(names)}. The file may be truncated. {_AGAIN}, or correct that row."
            )
    if not columns and len({name.strip().lower() for name in names}) < len(names):
        raise DataCorrupt(
            f"{path}: the header row names a column twice: {', '.join(names)}. Rename one."
        )
    first = 0 if columns else 1
    return [
        _record(path, number, number + first, dict(zip(names, row, strict=False)))
        for number, row in enumerate(rows[first:], start=1)
    ]


def _parquet(path: Path) -> list[dict[str, object]]:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise DataCorrupt(
            f"{path} is a Parquet file, which needs pyarrow: pip install pyarrow."
        ) from error
    try:
        rows: list[dict[str, object]] = pyarrow.parquet.read_table(path).to_pylist()
    except (OSError, ValueError) as error:  # pyarrow's own errors are of both
        raise DataCorrupt(f"{path} is no whole Parquet file: {error}. {_AGAIN}.") from error
    return rows


def _text(path: Path) -> str:
    content = path.read_bytes()
    if reason := refusal(content):
        raise DataCorrupt(f"{path}: {reason}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataCorrupt(
            f"{path}: line {line} is not UTF-8: byte {content[error.start]:#04x} at offset"
            f" {error.start} ({error.reason}). {_AGAIN}, or save it as UTF-8."
        ) from error


def _json(path: Path, text: str, kind: type[_T], *, place: str) -> _T:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError as error:
        raise DataCorrupt(
            f"{path}: {place} is not the JSON expected here: {error}. The file may be truncated."
            f" {_AGAIN}."
        ) from error
