"""Read benchmark files exactly as they are, and refuse what only looks like one.

At HEAD the HKCanto-Eval release holds Git-LFS pointer files in place of its CSVs, proxies answer
with HTML pages and status 200, and data-frame readers turn the option ``None`` into a missing
value and ``007`` into ``7``. Any of these changes a score without a sound, so here every cell stays
the string that the file holds, and anything doubtful is an error that names the file and the row.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from .errors import DataCorrupt

_T = TypeVar("_T")

_AGAIN = "Delete the file and fetch it again"


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a CSV file.

    Attributes:
        columns: The names in the header row, ``()`` when the file has none.
        rows: The rows under the header, all of one length.

    Example:
        >>> Table(columns=("Question", "Answer"), rows=[("1 + 1 = ?", "2")]).row_number(0)
        2
    """

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def row_number(self, index: int) -> int:
        """Return the place in the file, from 1 and header included, of ``rows[index]``."""
        return index + (2 if self.columns else 1)


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


def read_csv(path: Path, *, header: bool) -> Table:
    r"""Read a comma-separated file in UTF-8 (with or without a byte order mark).

    Args:
        path: The file.
        header: Whether the first row holds the column names.

    Returns:
        Every cell as the string in the file: ``None``, ``NA``, ``0.10``, blanks at either end and
        line breaks inside quotes are kept.

    Raises:
        DataCorrupt: The file is no such data, breaks off inside quotes, or has rows that differ in
            their number of cells.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "anatomy_dev.csv")
        ...     _ = path.write_text('有幾多塊骨？,206,"None\nof these",007,NA,A', encoding="utf-8")
        ...     read_csv(path, header=False).rows
        [('有幾多塊骨？', '206', 'None\nof these', '007', 'NA', 'A')]
    """
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    rows: list[tuple[str, ...]] = []
    try:
        rows.extend(map(tuple, reader))
    except csv.Error as error:
        raise DataCorrupt(
            f"{path}: row {len(rows) + 1} (line {reader.line_num}) is not valid CSV: {error}. The"
            f" file may be truncated. {_AGAIN}, or correct the quotes in that row."
        ) from error
    while not rows[-1]:  # blank lines at the end
        rows.pop()
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise DataCorrupt(
                f"{path}: row {number} has {len(row)} cells and row 1 has {width}: {row!r:.200}."
                f" The file may be truncated. {_AGAIN}, or correct that row."
            )
    if not header:
        return Table(columns=(), rows=rows)
    columns = rows.pop(0)
    if len(set(columns)) < len(columns):
        raise DataCorrupt(f"{path}: the header row names a column twice: {columns}. Rename one.")
    return Table(columns=columns, rows=rows)


def read_json_lines(path: Path) -> list[dict[str, object]]:
    r"""Read a file that holds one JSON object per line, in UTF-8.

    Args:
        path: The file.

    Returns:
        The objects in file order.

    Raises:
        DataCorrupt: The file is no such data, or a line is not a whole JSON object.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "can2man.jsonl")
        ...     _ = path.write_text('{"input": "我哋", "output": "我们"}\n', encoding="utf-8")
        ...     read_json_lines(path)
        [{'input': '我哋', 'output': '我们'}]
    """
    # Not splitlines(): U+2028 and U+0085 may stand inside a JSON string.
    lines = _text(path).rstrip().split("\n")
    return [
        _json(path, line, dict[str, object], place=f"row {number}")
        for number, line in enumerate(lines, start=1)
    ]


def read_json_list(path: Path) -> list[str]:
    """Read a file that holds one JSON list of texts, in UTF-8.

    Args:
        path: The file.

    Returns:
        The texts in file order.

    Raises:
        DataCorrupt: The file is no such data, or not a whole JSON list of texts.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "summarization.json")
        ...     _ = path.write_text('["一", "二"]', encoding="utf-8")
        ...     read_json_list(path)
        ['一', '二']
    """
    return _json(path, _text(path), list[str], place="the content")


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
