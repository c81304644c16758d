"""Read benchmark files exactly as they are, and refuse files that are not benchmark data.

At HEAD the HKCanto-Eval release has Git-LFS pointer files in place of its CSVs, proxies answer
with HTML pages and status 200, and data-frame readers turn the option ``None`` into a missing
value and ``007`` into ``7``. Any of these silently changes a score. Here, every cell stays the
string in the file, a file of another sort is an error, and an unreadable row is set aside with the
file, the row and the reason.
"""

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..declarations import TaskDefinition, repeated
from ..errors import DataCorrupt, DataNotFound, on_disk

_FETCH_AGAIN = "Delete the file and fetch it again"

PLAIN = TaskDefinition(
    name="",
    title="",
    kind="",
)
"""A task that declares nothing of a file's form."""

# The endings of files that `read_table` reads.
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet")


# The form of a column's name. The text of a question must not appear in messages.
_COLUMN_NAME = re.compile(r".{0,4}|(?a:[\w #./()-]{0,24})", re.DOTALL)


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row of a file, whatever its format.

    Attributes:
        number: Its number, from 1, not counting a header.
        cells: Column (in lower case) → cell. Every cell of a CSV file is a text.
        file: The file, for messages.
        line: Its number as in a spreadsheet, where a header counts.
    """

    number: int
    cells: Mapping[str, object]
    file: str = ""
    line: int = 0

    @property
    def where(self) -> str:
        """File and row, for messages.

        Examples:
            >>> Row(1, {}, "a.csv", 2).where
            'a.csv, row 2'
        """
        return f"{self.file}, row {self.line or self.number}"

    def find(self, columns: Sequence[str]) -> object:
        """Return the cell in the first of these columns that the row has; None if it has none.

        A path leads into a cell: names of an object's entries, and numbers of a list's from 0. A
        name after a list leads into each of its entries.

        Examples:
            >>> Row(1, {"input": "我哋"}).find(["source", "input"])
            '我哋'
            >>> row = Row(1, {"choices": [{"text": "旺角"}, {"text": "灣仔"}]})
            >>> row.find(["choices.1.text"]), row.find(["choices.text"])
            ('灣仔', ['旺角', '灣仔'])
        """
        cells = self.cells
        for name in columns:
            if name in cells:
                return cells[name]
            if "." in name:
                cell = _inside(cells, name.split("."))
                if cell is not _ABSENT:
                    return cell
        return None

    def has(self, name: str) -> bool:
        """Return whether the row has a column, or the cell to which a path leads."""
        if name in self.cells:
            return True
        return _inside(self.cells, name.split(".")) is not _ABSENT

    def text(
        self,
        columns: Sequence[str],
        role: str,
    ) -> str:
        """Return a required cell as text.

        Args:
            columns: The columns that may have it, in lower case.
            role: The role of the cell, for the message.

        Raises:
            UnreadableRow: The row has none of these columns, or the cell is blank or not a text.
        """
        cell = self.find(columns)
        text = as_text(cell)
        if text and text.strip():
            return text
        if isinstance(cell, list | Mapping):
            raise self.nested(role, columns)
        raise self.lacks(f"text for the {role}", role, columns)

    def nested(
        self,
        role: str,
        columns: Sequence[str],
    ) -> "UnreadableRow":
        """Return the error for a cell with a list or object, where one text is needed."""
        return self.problem(
            f"a list or object in place of a text for the {role} in {' or '.join(columns)}: a path "
            f"names one entry, {columns[0]}.0; a conversation of several turns cannot be declared"
        )

    def lacks(
        self,
        what: str,
        role: str,
        columns: Sequence[str],
    ) -> "UnreadableRow":
        """Return the error for a missing cell, with the columns that there are.

        Args:
            what: The missing part, such as `text for the source`.
            role: The role of the cell, as it is declared.
            columns: The columns that may have it.
        """
        return self.problem(
            f"no {what}: expected one in a column {' or '.join(columns)}, found "
            f'{self.named()} (declare columns = {{ {role} = "…" }} for another)'
        )

    def named(self) -> str:
        """Name the row's columns for a message, unless the "header" is in fact an item.

        Examples:
            >>> Row(1, {"input": "我哋"}).named(), Row(1, {"邊個最高?": ""}).named()
            ('the columns input', 'a first row that is not a header')
        """
        if all(map(_COLUMN_NAME.fullmatch, self.cells)):
            return f"the columns {', '.join(self.cells)}"
        return "a first row that is not a header"

    def problem(self, what: str) -> "UnreadableRow":
        """Return the error for a problem of the row, without quoting the row's text.

        Args:
            what: The problem, after "has", such as "no answer".
        """
        return UnreadableRow(self.where, what)


_ABSENT = object()


def _inside(cell: object, path: Sequence[str]) -> object:
    """Return the entry of a cell to which a path leads; `_ABSENT` if there is none."""
    for position, name in enumerate(path):
        if isinstance(cell, Mapping):
            named = {str(key).lower(): entry for key, entry in cell.items()}
            cell = named.get(name, _ABSENT)
        elif isinstance(cell, list) and name.isdecimal():
            cell = cell[int(name)] if int(name) < len(cell) else _ABSENT
        elif isinstance(cell, list):
            entries = [_inside(entry, path[position:]) for entry in cell]
            return _ABSENT if _ABSENT in entries else entries
        else:
            return _ABSENT
    return cell


class UnreadableRow(DataCorrupt):
    """A row that cannot be read, in a file that can.

    Attributes:
        where: File and row.
        what: The problem, without the row's text.
    """

    def __init__(
        self,
        where: str,
        what: str,
    ) -> None:
        super().__init__(f"{where} has {what}. Correct the row.")
        self.where = where
        self.what = what


class LeftOutRow(UnreadableRow):
    """A row that is right, but that the package cannot score: any number of them is left out."""


@dataclass(frozen=True, slots=True)
class Table:
    """A file of rows.

    Attributes:
        rows: The rows that could be read, in file order.
        bad: The rows that could not.
        columns: The names of all columns, as keys.
    """

    rows: list[Row]
    bad: list[UnreadableRow]
    columns: dict[str, None] = field(default_factory=dict)


def as_text(cell: object) -> str | None:
    """Return a text or number as text; None for NaN and anything else.

    Examples:
        >>> as_text(7), as_text("007"), as_text(["7"])
        ('7', '007', None)
    """
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    return str(cell) if cell == cell else None  # NaN differs from itself


_NOT_DATA = (
    (r"\Z", f"it is empty. {_FETCH_AGAIN}"),
    (
        "version https://git-lfs",
        "it is a Git LFS pointer. Run `git lfs pull`, or fetch the data",
    ),
    (
        r"(?i)<(!doctype|!--|html|head|body|\?xml)",
        f"it is an HTML page, such as the error page of a proxy. {_FETCH_AGAIN}",
    ),
)
"""How a file begins that is not data; what it is, and what to do."""


def refusal(content: bytes) -> str | None:
    """Say why these bytes cannot be benchmark data, whatever their format.

    Args:
        content: A file's content.

    Returns:
        A description of the file and what to do; None if it may be data.

    Examples:
        >>> refusal(b"<!DOCTYPE html><title>Access denied</title>").split(",")[0]
        'it is an HTML page'
    """
    opening = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:200]
    for pattern, reason in _NOT_DATA:
        if re.match(pattern.encode(), opening):
            return reason
    return None


def is_file(path: Path) -> bool:
    """Return whether a path is a regular file, not a folder, pipe or broken link.

    Raises:
        DataNotFound: The operating system refuses access.
    """
    with on_disk(path):
        return path.is_file()


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        DataNotFound: It cannot be read or is not a file. Pipes are refused without waiting.
    """
    with on_disk(path):
        if not path.is_file():
            raise DataNotFound(
                f"{path} {no_file(path)}. Put the data file in its place."
            )
        return path.read_bytes()


def no_file(path: Path) -> str:
    """Say what a path is if it is not a file."""
    if path.exists() or path.is_symlink():
        return "is a folder, pipe or broken link where a file belongs"
    return "does not exist"


def read_table(
    path: Path,
    columns: Sequence[str] = (),
    form: TaskDefinition = PLAIN,
    content: bytes = b"",
) -> Table:
    r"""Read a file of rows: CSV, JSON Lines, a JSON list or object, or Parquet.

    A row that cannot be read is set aside, and the other rows keep their numbers. Rows of blank
    cells are ignored.

    Args:
        path: The file; its ending decides the format. A file with another ending is CSV if a
            delimiter is declared, and JSON if it begins so. A `.json` file that begins with `[` is a
            list; another one is JSON Lines, or an object if `rows` is given.
        columns: The names of the columns of a CSV file without a header row, if it has as many
            columns; otherwise they are called 1, 2 and so on.
        form: The task that declares the file's `delimiter`, `quotes` and `rows`.
        content: The file's content, if it has been read.

    Raises:
        DataCorrupt: The file is not such data, is truncated, names a column twice, or lacks the
            keys.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "can2man.jsonl")
        ...     _ = path.write_text('{"Input": "我哋"}\n{"Input": "007"}\n', encoding="utf-8")
        ...     [row.cells["input"] for row in read_table(path).rows]
        ['我哋', '007']
    """
    content = content or read_bytes(path)
    if path.suffix.lower() == ".gz":
        content = _decompressed(path, content)
    if reason := refusal(content):
        raise DataCorrupt(f"{path}: {reason}.")
    ending = _ending(path, content, form)
    if form.rows and ending not in (".json", ".jsonl"):
        raise DataCorrupt(
            f"{path}: rows = {form.rows!r} names keys of a JSON object. "
            "Remove `rows`, or name a JSON file."
        )
    if ending == ".parquet":
        return table_of(_parquet(path, content), str(path))
    text = _text(path, content)
    if ending in (".csv", ".tsv"):
        return _csv(
            path,
            text,
            columns,
            form,
        )
    is_whole = form.rows or text.lstrip().startswith("[")
    parse = _json if ending == ".json" and is_whole else _json_lines
    return table_of(_rows_at(path, parse(path, text), form.rows), str(path))


def _ending(
    path: Path,
    content: bytes,
    form: TaskDefinition,
) -> str:
    """Return the ending of a file's format."""
    unpacked = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ending = unpacked.suffix.lower()
    if ending in ENDINGS:
        return ending
    if form.delimiter:
        return ".csv"
    if content.lstrip()[:1] in (b"{", b"["):
        return ".json"
    raise DataCorrupt(
        f"{path} has none of the endings {', '.join(ENDINGS)}, and does not begin as JSON. Declare "
        "its delimiter, or write a reader."
    )


def _decompressed(path: Path, content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataCorrupt(
            f"{path} is not a complete gzip file: {error}. {_FETCH_AGAIN}."
        ) from error


def table_of(cells: Iterable[Any], file: str) -> Table:
    """Return a table of rows given as mappings from column to cell.

    Args:
        cells: The cells of each row; a text is the cell of a column `text`, and an error is kept.
        file: Their file, for messages.

    Raises:
        DataCorrupt: Two columns of a row differ only in case.
    """
    table = Table([], [])
    for number, row in enumerate(cells, start=1):
        where = f"{file}, row {number}"
        if isinstance(row, UnreadableRow):
            table.bad.append(row)
            continue
        if isinstance(row, str):
            row = {"text": row}
        if problem := _problem(row):
            table.bad.append(UnreadableRow(where, problem))
            continue
        named = {str(name).strip().lower(): cell for name, cell in row.items()}
        if len(named) < len(row):
            columns = ", ".join(row)
            raise DataCorrupt(
                f"{where}: two of the columns {columns} are alike. Rename one."
            )
        table.rows.append(Row(number, named, file))
        table.columns.update(dict.fromkeys(named))
    return table


def _problem(row: object) -> str:
    """Say why a value is not a row; empty if it is one."""
    if not isinstance(row, Mapping):
        return f"a {type(row).__name__} in place of an object with named cells"
    for cell in row.values():
        if isinstance(cell, str) and "\0" in cell:
            return "a NUL character, which no text contains"
    return ""


# ---------------------------------------------------------------------- formats


def _csv(
    path: Path,
    text: str,
    columns: Sequence[str],
    form: TaskDefinition,
) -> Table:
    rows: Iterator[tuple[int, list[str] | csv.Error]]
    rows = enumerate(_csv_rows(path, text, form), start=1)
    if columns or not form.header:
        numbered = [*rows]
        names = _names_without_header(columns, [row for _, row in numbered], form)
        rows = iter(numbered)
    else:
        names = _header(path, rows)
    file = str(path)
    table = Table([], [], dict.fromkeys(names))
    number = 0  # of the row, without a header and blank rows
    is_cut_off = False  # the last row
    for line, row in rows:
        if isinstance(row, csv.Error):
            problem = f"a stray or missing quote ({row})"
            is_cut_off = "unexpected end" in str(row)
        elif not any(map(str.strip, row)):
            continue
        elif len(row) == len(names):
            number += 1
            is_cut_off = False
            cells = dict(zip(names, row, strict=True))
            table.rows.append(
                Row(
                    number,
                    cells,
                    file,
                    line,
                )
            )
            continue
        else:
            problem = f"{len(row)} cells instead of {len(names)}"
            is_cut_off = len(row) < len(names) and not text.endswith(("\n", "\r"))
        number += 1
        table.bad.append(UnreadableRow(f"{file}, row {line}", problem))
    if is_cut_off:
        last = table.bad[-1]
        raise DataCorrupt(
            f"{last.where}, the last one, has {last.what}. The file may be truncated. "
            f"{_FETCH_AGAIN}, or correct that row."
        )
    return table


def _header(path: Path, rows: Iterator[tuple[int, list[str] | csv.Error]]) -> list[str]:
    """Read the first row that is not blank; return the columns' names."""
    for _, row in rows:
        if isinstance(row, csv.Error):
            raise DataCorrupt(
                f"{path}: its header row is not valid CSV: {row}. {_FETCH_AGAIN}."
            )
        if any(map(str.strip, row)):
            return _column_names(path, row)
    return []


def _column_names(path: Path, header: Sequence[str]) -> list[str]:
    names = [name.strip().lower() for name in header]
    for name in repeated(filter(None, names)):
        raise DataCorrupt(
            f"{path}: the header row names a column twice: column {names.index(name) + 1}. "
            "Rename one, or declare header = false if it is no header."
        )
    return names


def _names_without_header(
    roles: Sequence[str],
    rows: Sequence[list[str] | csv.Error],
    form: TaskDefinition,
) -> list[str]:
    """Return the columns' names in a file without a header row.

    They are numbers, unless there are as many columns as roles, and the task declares no number.
    """
    widths = Counter(len(row) for row in rows if isinstance(row, list) and any(row))
    ((width, _),) = widths.most_common(1) or [(len(roles), 0)]
    numbers = [str(number) for number in range(1, width + 1)]
    if width != len(roles):
        return numbers
    declared = json.dumps([form.columns, form.ignored])
    return [
        number if role.isdecimal() or f'"{number}"' in declared else role
        for number, role in zip(numbers, roles, strict=True)
    ]


def _csv_rows(
    path: Path,
    text: str,
    form: TaskDefinition,
) -> Iterator[list[str] | csv.Error]:
    """Yield each row, or the error of an unreadable row, and go on with the next line."""
    is_tsv = path.name.lower().removesuffix(".gz").endswith(".tsv")
    delimiter = form.delimiter or ("\t" if is_tsv else ",")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if form.quotes else csv.QUOTE_NONE
    lines = [*io.StringIO(text, newline="")]
    start = 0
    while True:
        rest = islice(lines, start, None)
        reader = csv.reader(
            rest,
            delimiter=delimiter,
            quoting=quoting,
            strict=True,
        )
        complete = 0  # lines of the rows before the unreadable one
        try:
            for row in reader:
                complete = reader.line_num
                # Without this, a cell that begins with a mark hides the rows up to the next mark.
                if delimiter == "\t" and any(map(_encloses_rows, row)):
                    yield csv.Error("it encloses rows; is it text? quotes = false")
                else:
                    yield row
            return
        except csv.Error as error:
            yield error
            start += complete + 1


def _encloses_rows(cell: str) -> bool:
    """Return whether a cell of a file with tabs has whole rows in it."""
    return "\n" in cell and "\t" in cell


def _parquet(path: Path, content: bytes) -> list[dict[str, object]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise DataCorrupt(f"{path} needs pyarrow: pip install pyarrow.") from error
    try:
        rows: list[dict[str, object]] = pyarrow.parquet.read_table(
            io.BytesIO(content)
        ).to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise DataCorrupt(
            f"{path} is not a complete Parquet file: {error}. {_FETCH_AGAIN}."
        ) from error
    return rows


def _text(path: Path, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse_encoding(path, content)
        line = content.count(b"\n", 0, error.start) + 1
        byte = f"{content[error.start]:#04x}"
        raise DataCorrupt(
            f"{path}: line {line} is not UTF-8: byte {byte} at offset {error.start} "
            f"({error.reason}). {_FETCH_AGAIN}, or save it as UTF-8."
        ) from error
    if "\0" in text:
        _refuse_encoding(path, content)
        line = text[: text.index("\0")].count("\n") + 1
        raise DataCorrupt(f"{path}: line {line} has a NUL character. {_FETCH_AGAIN}.")
    return text


def _refuse_encoding(path: Path, content: bytes) -> None:
    """Refuse a text in an encoding that can be named; damaged UTF-8 is left to the caller."""
    encoding = likely_encoding(content)
    if encoding:
        raise DataCorrupt(
            f"{path} is in {encoding}, not UTF-8. Convert it: "
            f"iconv -f {encoding} -t UTF-8 OLD > NEW."
        )


def likely_encoding(content: bytes) -> str:
    """Return the encoding that a text seems to have, as iconv calls it; empty if unknown."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    if content.count(0) > 3 + len(content) // 20:  # of ASCII characters
        return (
            "UTF-16LE" if content[1::2].count(0) > content[::2].count(0) else "UTF-16BE"
        )
    damaged = content.decode("utf-8", "replace").count("\ufffd")
    others = len(content.translate(None, bytes(range(128))))
    if 4 * damaged <= others:
        return ""
    # Big5 is hardly ever valid GB 2312, but often valid GB 18030.
    for codec, name in (
        ("gb2312", "GB18030"),
        ("big5hkscs", "BIG5-HKSCS"),
        ("gb18030", "GB18030"),
    ):
        try:
            content.decode(codec)
        except UnicodeDecodeError:
            continue
        return name
    return ""


_ROWS_EXPECTED = "rows are expected here: a list of objects, or an object on each line"


def _json(path: Path, text: str) -> object:
    try:
        return _parsed(text)
    except (ValueError, RecursionError) as error:
        fault = error or "cells nested too deeply"
        raise DataCorrupt(
            f"{path} is truncated or not valid JSON: {fault}. {_FETCH_AGAIN}, or correct it."
        ) from error


def keys_above_rows(path: Path) -> list[str]:
    """Return the keys of a JSON file that is an object with rows in it; empty for other files."""
    if path.suffix.lower() != ".json":
        return []
    try:
        value = _parsed(_text(path, read_bytes(path)))
    except (ValueError, RecursionError):  # JSON Lines
        return []
    nested = isinstance(value, dict) and any(
        isinstance(entry, list | dict) for entry in value.values()
    )
    return [*value] if nested else []


def _rows_at(
    path: Path,
    value: object,
    keys: str,
) -> Iterator[object]:
    """Yield the rows of a JSON value: a list, or what is at the end of a path of keys."""
    parts = keys.split(".") if keys else []
    try:
        yield from _rows_below(value, parts, None)
    except KeyError as error:
        key, present = error.args
        raise DataCorrupt(
            f"{path}: rows = {json.dumps(keys)} finds no {key!r}; there is {present}. "
            "Correct `rows` in the benchmark.toml, or write a reader."
        ) from error
    except TypeError as error:
        raise DataCorrupt(
            f"{path}: it is a JSON {error}, but {_ROWS_EXPECTED}. "
            'If a key leads to the rows, name it: rows = "…"; "*" is every entry.'
        ) from error


def _rows_below(
    value: object,
    keys: Sequence[str],
    shared: Mapping[str, object] | None,
) -> Iterator[object]:
    """Yield the rows at the end of a path, each with the cells of the entries that hold it.

    Args:
        value: The value from which the path leads.
        keys: The path; `*` is every entry of a list or object.
        shared: The cells of the entries above; None before the first `*`.

    Raises:
        KeyError: The value lacks a key; with the key, and what there is in its place.
        TypeError: The value at the end has no rows; with the name of its type.
    """
    if isinstance(value, UnreadableRow):
        yield value
        return
    if keys:
        key, *rest = keys
        for entry, cells in _entries(value, key, shared):
            yield from _rows_below(entry, rest, cells)
        return
    if shared is None and not isinstance(value, list):
        raise TypeError(type(value).__name__)
    for row in value if isinstance(value, list) else [value]:
        yield {**(shared or {}), **row} if isinstance(row, Mapping) else row


def _entries(
    value: object,
    key: str,
    shared: Mapping[str, object] | None,
) -> Iterator[tuple[object, Mapping[str, object] | None]]:
    """Yield the entries that a key of a path leads to, each with the cells above it."""
    above = shared or {}
    if key == "*" and isinstance(value, list):
        for entry in value:
            yield entry, above
    elif key == "*" and isinstance(value, Mapping):
        for name, entry in value.items():
            yield entry, {**above, "key": name}
    elif isinstance(value, Mapping) and key in value:
        if shared is not None:
            shared = {**shared, **value}
            del shared[key]
        yield value[key], shared
    else:
        present = [*value][:5] if isinstance(value, Mapping) else [type(value).__name__]
        raise KeyError(key, ", ".join(present))


def _json_lines(path: Path, text: str) -> list[object]:
    return [*_parsed_lines(path, text)]


def _parsed_lines(path: Path, text: str) -> Iterator[object]:
    # Not splitlines(): U+2028 and U+0085 may occur inside a JSON string.
    lines = [line for line in text.split("\n") if line.strip()]
    for number, line in enumerate(lines, start=1):
        try:
            yield _parsed(line)
        except (ValueError, RecursionError) as error:
            fault = error or "nested too deeply"
            is_cut_off = number == len(lines) and not text.endswith("\n")
            if number == 1 or is_cut_off:
                raise DataCorrupt(
                    f"{path} is not JSON Lines or row {number} is truncated: {fault}; "
                    f"{_ROWS_EXPECTED}. {_FETCH_AGAIN}."
                ) from error
            yield UnreadableRow(
                f"{path}, row {number}", f"no JSON object for one row: {fault}"
            )


def _refuse(name: str) -> object:
    """Refuse `NaN` and `Infinity`, which Python reads and JSON does not have."""
    raise ValueError(f"{name}, which is no JSON")


def _named_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse an object with a key twice: most readers take the last value, others the first."""
    cells = dict(pairs)
    if len(cells) < len(pairs):
        twice = ", ".join(repeated(name for name, _ in pairs))
        raise ValueError(f"an object that names {twice} twice")
    return cells


_parsed = partial(json.loads, object_pairs_hook=_named_once, parse_constant=_refuse)
