"""Read benchmark files exactly as they are, and refuse files that are not benchmark data.

At HEAD the HKCanto-Eval release has Git-LFS pointer files in place of its CSVs, proxies answer
with HTML pages and status 200, and data-frame readers turn the option ``None`` into a missing
value and ``007`` into ``7``. Any of these silently changes a score. Here, every cell stays the
string in the file, a file of another sort is an error, and an unreadable row is set aside with the
file, the row and the reason.
"""

import csv
import gzip
import io
import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..errors import DataCorrupt, DataNotFound, on_disk

_AGAIN = "Delete the file and fetch it again"


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a file, whatever its format.

    Attributes:
        number: The row's number, from 1, not counting a header.
        where: File and row, for messages; rows are counted as in an editor or spreadsheet.
        cells: Column (in lower case) → cell. In a CSV file, every cell is a text.
    """

    number: int
    where: str
    cells: Mapping[str, object]

    @property
    def file(self) -> str:
        """The file that the row is in.

        Examples:
            >>> Record(1, "a.csv, row 2", {}).file
            'a.csv'
        """
        return self.where.rpartition(", row ")[0]

    def find(self, columns: Sequence[str]) -> object:
        """Return the cell in the first of these columns that the row has; None if it has none.

        Examples:
            >>> Record(1, "a.csv, row 2", {"input": "我哋"}).find(["source", "input"])
            '我哋'
        """
        return next((self.cells[name] for name in columns if name in self.cells), None)

    def text(self, columns: Sequence[str], role: str) -> str:
        """Return a required cell as text.

        Args:
            columns: The columns that may have it, in lower case.
            role: The role of the cell, for the message.

        Raises:
            DataCorrupt: The row has none of these columns, or the cell is blank or not a text.
        """
        cell = self.find(columns)
        text = as_text(cell)
        if text is None or not text.strip():
            raise self.problem(
                f"no text for the {role}: expected one in a column {' or '.join(columns)}, found "
                f"{self.named()}{self.elsewhere(role, columns)}"
            )
        return text

    def elsewhere(self, role: str, columns: Sequence[str]) -> str:
        """Say how to declare the column for a role, unless the row has one of these columns.

        Examples:
            >>> Record(1, "", {"input": "我哋"}).elsewhere("source", ["source"])
            ' (declare columns = { source = "…" } for another)'
        """
        there = self.find(columns) is not None
        return "" if there else f' (declare columns = {{ {role} = "…" }} for another)'

    def named(self) -> str:
        """Name the row's columns for a message, unless the "header" is in fact an item.

        Examples:
            >>> Record(1, "", {"input": "我哋"}).named(), Record(1, "", {"邊個最高?": ""}).named()
            ('the columns input', 'a first row that is not a header')
        """
        if all(map(_is_name, self.cells)):
            return f"the columns {', '.join(self.cells)}"
        return "a first row that is not a header"

    def problem(self, what: str) -> "UnreadableRow":
        """Return the error for a problem of the row, without quoting the row's text.

        Args:
            what: The problem, after "has", such as "no answer".
        """
        return UnreadableRow(self.where, what)


class UnreadableRow(DataCorrupt):
    """A row that cannot be read, in a file that can.

    Attributes:
        where: File and row.
        what: The problem, without the row's text.
    """

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where} has {what}. Correct the row.")
        self.where, self.what = where, what


@dataclass(frozen=True, slots=True)
class Table:
    """A file of rows.

    Attributes:
        records: The rows that could be read, in file order.
        bad: The rows that could not.
    """

    records: list[Record]
    bad: list[UnreadableRow]


def as_text(cell: object) -> str | None:
    """Return a text or number as text; None for NaN and anything else.

    Examples:
        >>> as_text(7), as_text("007"), as_text(["7"])
        ('7', '007', None)
    """
    if isinstance(cell, str):
        return cell
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool) and cell == cell
    return str(cell) if is_number else None


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
    if not opening:
        return f"it is empty. {_AGAIN}"
    if opening.startswith(b"version https://git-lfs.github.com/spec/"):
        return (
            "it is a Git LFS pointer, not the data itself. Run `git lfs pull` in the clone,"
            " or unset HKCANTO_DATA_DIR to let hkcanto download the pinned commit"
        )
    if re.match(rb"<(!doctype|!--|html|head|body|\?xml)", opening, re.IGNORECASE):
        return (
            "it is an HTML page, probably the error page of a proxy or a mirror."
            f" {_AGAIN} over a connection that serves the data"
        )
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
            raise DataNotFound(f"{path} {no_file(path)}. Put the data file in its place.")
        return path.read_bytes()


def no_file(path: Path) -> str:
    """Say what a path is if it is not a file."""
    if path.is_dir():
        return "is a folder where a file belongs"
    if path.exists():
        return "is a pipe or a device where a file belongs"
    return "is a broken link" if path.is_symlink() else "does not exist"


ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow")
"""The endings of files that `read_table` reads, also with `.gz` or in a `.zip`."""

_MOST_UNPACKED = 1 << 28


def _is_name(text: str) -> bool:
    """Return whether a heading is a column's name; a question must not appear in messages."""
    return len(text) < 5 or bool(re.fullmatch(r"[\w #./()-]{0,24}", text, re.ASCII))


def table_ending(file: str) -> str:
    """Return the ending of a file's name, with `.gz`; empty if it is not a table.

    Examples:
        >>> table_ending("test/hk_law.csv.gz"), table_ending("README.md")
        ('.csv.gz', '')
    """
    name = file.lower()
    found = next((each for each in ENDINGS if name.removesuffix(".gz").endswith(each)), "")
    return found + ".gz" * (bool(found) and name.endswith(".gz"))


def is_table(file: str) -> bool:
    """Return whether a file has an ending that `read_table` reads."""
    return bool(table_ending(file))


def with_members(root: Path, files: Sequence[str]) -> list[str]:
    """Replace archives among some files by their members: `data.zip/test/hk_law.csv`.

    Raises:
        DataCorrupt: One of them is not a complete archive.
        DataNotFound: One of them cannot be read.
    """
    found = []
    for file in files:
        if not file.lower().endswith(".zip") or not is_file(root / file):
            found.append(file)
            continue
        with on_disk(root / file):
            try:
                with zipfile.ZipFile(root / file) as archive:
                    names = [each.filename for each in archive.infolist() if not each.is_dir()]
            except zipfile.BadZipFile as error:
                reason = refusal(read_bytes(root / file)) or (
                    f"it is not a complete zip archive: {error}. {_AGAIN}"
                )
                raise DataCorrupt(f"{root / file}: {reason}.") from error
        hidden = re.compile(r"(?:.*/)?(?:\.|__MACOSX/)")
        found += sorted(f"{file}/{name}" for name in names if not hidden.match(name))
    return found


def container(file: str) -> str:
    """Return the file on disk that contains a path from `with_members`.

    Examples:
        >>> container("data.zip/test/hk_law.csv"), container("test/hk_law.csv")
        ('data.zip', 'test/hk_law.csv')
    """
    return re.sub(r"(?<=\.zip)/.*", "", file, flags=re.IGNORECASE)


def _content(path: Path) -> bytes:
    """Return the unpacked content of a file, up to a size limit."""
    place = Path(container(path.as_posix()))
    inside = place != path and place.is_file()
    if not inside and path.suffix.lower() != ".gz":
        return read_bytes(path)
    opened: Any
    with on_disk(place if inside else path), ExitStack() as stack:
        try:
            if inside:
                archive = stack.enter_context(zipfile.ZipFile(place))
                opened = stack.enter_context(archive.open(path.relative_to(place).as_posix()))
            else:
                opened = io.BytesIO(read_bytes(path))
            if path.suffix.lower() == ".gz":
                opened = stack.enter_context(gzip.GzipFile(fileobj=opened))
            content: bytes = opened.read(_MOST_UNPACKED + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, gzip.BadGzipFile, RuntimeError) as error:
            reason = None if inside else refusal(read_bytes(path))
            reason = reason or f"it cannot be unpacked: {error}. {_AGAIN}"
            raise DataCorrupt(f"{path}: {reason}.") from error
    if len(content) > _MOST_UNPACKED:
        raise DataCorrupt(
            f"{path} has more than {_MOST_UNPACKED >> 20} MiB unpacked, too large for a test set."
        )
    return content


def read_table(
    path: Path,
    columns: Sequence[str] = (),
    delimiter: str = "",
    *,
    quotes: bool = True,
    rows: str = "",
) -> Table:
    r"""Read a file of rows: CSV, JSON lines, one JSON list or object, Parquet, or Arrow.

    A row that cannot be read is set aside, and the other rows keep their numbers. Rows of blank
    cells are ignored.

    Args:
        path: The file; its ending, and for JSON its first character, decide the format. A JSON list
            of texts is a table with one column, `text`.
        columns: The names of the columns of a CSV file without a header row.
        delimiter: The character between the cells of a CSV file; by default a tab in `.tsv` files
            and a comma in others.
        quotes: Whether quotation marks enclose cells in a CSV file; if not, they are text.
        rows: The keys that lead to the rows in a JSON object, with dots between them. They may pass
            through lists: a row then also has the cells of the objects around it.

    Raises:
        DataCorrupt: The file is not such data, is truncated, names a column twice, or lacks the
            keys.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "can2man.jsonl")
        ...     _ = path.write_text('{"Input": "我哋"}\n{"Input": "007"}\n', encoding="utf-8")
        ...     [record.cells["input"] for record in read_table(path).records]
        ['我哋', '007']
    """
    ending, content = table_ending(path.name).removesuffix(".gz"), _content(path)
    if reason := refusal(content):
        raise DataCorrupt(f"{path}: {reason}.")
    if rows and ending not in (".json", ""):
        raise DataCorrupt(
            f"{path}: rows = {json.dumps(rows)} names the keys of a JSON object, but this is a "
            f"{ending} file. Remove `rows` from the benchmark.toml, or name a JSON file."
        )
    if ending in (".parquet", ".arrow"):
        return _table(path, _columnar(path, content, ending))
    text = _text(path, content)
    if ending in (".csv", ".tsv"):
        delimiter = delimiter or ("\t" if ending == ".tsv" else ",")
        return _csv(path, _csv_rows(text, delimiter, quotes), columns, text)
    if rows:
        return _table(path, _below(path, text, rows))
    if not ending and not text.lstrip().startswith(("[", "{")):
        raise DataCorrupt(
            f"{path} has none of the endings {', '.join(ENDINGS)} and is not JSON. If each of its"
            " lines is a row, declare what the lines are: files = { test = { question = "
            f"{json.dumps(path.name)} }} }}."
        )
    if text.lstrip().startswith("["):
        return _table(path, _json(path, text))
    if (nested := _nested(path, text)) is not None:
        return _table(path, nested)
    # Not splitlines(): U+2028 and U+0085 may occur inside a JSON string.
    lines = [line for line in text.split("\n") if line.strip()]
    decoded: list[_Row | UnreadableRow] = []
    for number, line in enumerate(lines, start=1):
        try:
            decoded.append(_decoded(line, dict[str, object]))
        except _NamedTwiceError as error:
            decoded.append(UnreadableRow(f"{path}, row {number}", str(error)))
        except (msgspec.MsgspecError, RecursionError) as error:
            if number == len(lines) and not text.endswith("\n") and _breaks_off(error):
                raise _unreadable(f"{path}: row {number}", error) from error
            what = f"no JSON object for one row: {error}"
            decoded.append(UnreadableRow(f"{path}, row {number}", what))
    return _table(path, decoded)


def read_lines(files: Mapping[str, Path]) -> Table:
    """Read text files whose lines belong together: line 7 of each is row 7.

    Lines that are blank in all files are ignored.

    Args:
        files: Column → its file, with one row per line.

    Raises:
        DataCorrupt: A file is not text, or the files have different numbers of lines.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     made = {"source": Path(folder, "dev.yue"), "target": Path(folder, "dev.zho")}
        ...     written = [path.write_text(f"{name} 1\\n") for name, path in made.items()]
        ...     [dict(record.cells) for record in read_lines(made).records]
        [{'source': 'source 1', 'target': 'target 1'}]
    """
    columns: dict[str, list[str]] = {}
    for name, path in files.items():
        content = _content(path)
        if reason := refusal(content):
            raise DataCorrupt(f"{path}: {reason}.")
        # Not splitlines(): U+2028 and U+0085 may occur inside a line.
        lines = _text(path, content).replace("\r\n", "\n").split("\n")
        while not lines[-1].strip():
            lines.pop()
        if odd := next((n for n, line in enumerate(lines, 1) if "\r" in line), 0):
            raise DataCorrupt(f"{path}: line {odd} has a carriage return inside. Remove it.")
        columns[name] = lines
    counts = [f"{path} has {len(columns[name])} lines" for name, path in files.items()]
    if len({*map(len, columns.values())}) > 1:
        raise DataCorrupt(
            f"{' and '.join(counts)}: line 7 of each file must belong to row 7. Fetch them again, "
            "or correct them."
        )
    table, first = Table([], []), next(iter(files.values()))
    for number, cells in enumerate(zip(*columns.values(), strict=True), start=1):
        row = dict(zip(columns, cells, strict=True))
        blank = [name for name, cell in row.items() if not cell.strip()]
        if 0 < len(blank) < len(row):
            what = f"a blank line, but other files have text in that line ({', '.join(row)})"
            table.bad.append(UnreadableRow(f"{files[blank[0]]}, row {number}", what))
        elif not blank:
            table.records.append(Record(number, f"{first}, row {number}", row))
    return table


_Row = str | dict[str, object]


def _table(path: Path, rows: Sequence[str | Mapping[str, object] | UnreadableRow]) -> Table:
    table = Table([], [])
    for number, row in enumerate(rows, start=1):
        where = f"{path}, row {number}"
        if isinstance(row, UnreadableRow):
            table.bad.append(row)
        elif what := _damage(row):
            table.bad.append(UnreadableRow(where, what))
        else:
            named = {"text": row} if isinstance(row, str) else row
            cells = {name.strip().lower(): cell for name, cell in named.items()}
            if len(cells) < len(named):
                alike = ", ".join(named)
                raise DataCorrupt(f"{where}: two of the columns {alike} are alike. Rename one.")
            table.records.append(Record(number, where, cells))
    return table


_DEEPEST = 50
"""The maximum nesting of lists and objects in a row, fixed because Python versions differ."""


def _damage(row: str | Mapping[str, object]) -> str:
    try:
        return "a NUL character, which no text contains" if _has_nul(row, _DEEPEST) else ""
    except RecursionError:
        return "cells nested too deeply for any text"


def _has_nul(cell: object, levels: int) -> bool:
    if isinstance(cell, str):
        return "\0" in cell
    if not levels:
        raise RecursionError
    inside = cell.values() if isinstance(cell, Mapping) else cell if isinstance(cell, list) else ()
    return any(_has_nul(each, levels - 1) for each in inside)


def _csv(
    path: Path, read: Iterator[list[str] | csv.Error], columns: Sequence[str], text: str
) -> Table:
    rows = [
        (place, row)
        for place, row in enumerate(read, start=1)
        if isinstance(row, csv.Error) or any(cell.strip() for cell in row)
    ]
    names = [*columns]
    if not names and rows:
        _, header = rows.pop(0)
        if isinstance(header, csv.Error):
            raise DataCorrupt(f"{path}: its header row is not valid CSV: {header}. {_AGAIN}.")
        names = header
    names = [name.strip().lower() for name in names]
    if twice := [n for n, name in enumerate(names, 1) if name and names.count(name) > 1]:
        called = names[twice[0] - 1]
        alike = [n for n in twice if names[n - 1] == called]
        raise DataCorrupt(
            f"{path}: the header row names a column twice, as the columns "
            f"{' and '.join(map(str, alike))}"
            + f" ({called!r}, in any case)" * _is_name(called)
            + ". Rename one; if the first row is not a header, declare header = false."
        )
    table = Table([], [])
    for number, (place, row) in enumerate(rows, start=1):
        where = f"{path}, row {place}"
        if isinstance(row, csv.Error):
            wrong, broken = f"a stray or missing quote ({row})", "unexpected end" in str(row)
        else:
            while len(row) > len(names) and not row[-1].strip():
                row.pop()
            if len(row) == len(names):
                table.records.append(Record(number, where, dict(zip(names, row, strict=True))))
                continue
            wrong = f"{len(row)} cells instead of {len(names)}"
            broken = len(row) < len(names) and not text.endswith(("\n", "\r"))
        if broken and number == len(rows):
            raise DataCorrupt(
                f"{path}: row {place}, the last one, has {wrong}. The file may be truncated."
                f" {_AGAIN}, or correct that row."
            )
        table.bad.append(UnreadableRow(where, wrong))
    return table


def _csv_rows(text: str, delimiter: str, quotes: bool) -> Iterator[list[str] | csv.Error]:
    """Yield each row, or the error of an unreadable row, and go on with the next line."""
    lines = list(io.StringIO(text, newline=""))
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    start = 0
    while start < len(lines):
        rest = islice(lines, start, None)
        reader = csv.reader(rest, delimiter=delimiter, quoting=quoting, strict=True)
        done = 0
        try:
            for row in reader:
                done = reader.line_num
                yield row
            return
        except csv.Error as error:
            yield error
            start += done + 1


_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"  # Arrow takes a truncated stream for a shorter one


def _columnar(path: Path, content: bytes, ending: str) -> list[dict[str, object]]:
    """Read Parquet, or Arrow's file or stream format, which `datasets` writes."""
    kind = "Parquet" if ending == ".parquet" else "Arrow"
    try:
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise DataCorrupt(
            f"{path} is a {kind} file, which needs pyarrow: pip install pyarrow."
        ) from error
    try:
        if ending == ".parquet":
            table = pyarrow.parquet.read_table(io.BytesIO(content))
        elif content.startswith(b"ARROW1"):
            table = pyarrow.ipc.open_file(content).read_all()
        elif content.endswith(_END_OF_STREAM):
            table = pyarrow.ipc.open_stream(content).read_all()
        else:
            raise ValueError("its end is missing")
        rows: list[dict[str, object]] = table.to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise DataCorrupt(f"{path} is not a complete {kind} file: {error}. {_AGAIN}.") from error
    return rows


def _text(path: Path, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataCorrupt(
            f"{path}: line {line} is not UTF-8: byte {content[error.start]:#04x} at offset"
            f" {error.start} ({error.reason}). {_AGAIN}, or save it as UTF-8."
        ) from error
    if (place := text.find("\0")) >= 0:
        line = text.count("\n", 0, place) + 1
        what = "NUL characters, as after disk damage" if "\0\0" in text else "a NUL character"
        raise DataCorrupt(f"{path}: line {line} has {what}, which no text contains. {_AGAIN}.")
    return text


def _nested(path: Path, text: str) -> list[_Row] | None:
    """Return the rows of one JSON object with lists of rows by subject, by split, or by both.

    Returns:
        The rows; None if each line may be a row.

    Raises:
        DataCorrupt: The file is one JSON value of another form, or is truncated.
    """
    one_line = "\n" not in text.strip()
    try:
        given = _decoded(text, object)
    except _NamedTwiceError as error:
        if one_line:
            return None
        raise DataCorrupt(f"{path} has {error}. Rename one.") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        if _breaks_off(error) and not one_line:
            raise _unreadable(str(path), error) from error
        return None
    if not isinstance(given, dict):
        raise DataCorrupt(f"{path}: it is one JSON {type(given).__name__}, but {_EXPECTED}.")
    only = [key for key in ("data", "rows", "questions", "examples") if key in given]
    rows = _lists(given) if len(only) != 1 else _lists(given[only[0]], (only[0],))
    if rows:
        return rows
    nested = any(isinstance(value, list | dict) for value in given.values())
    if one_line and (path.suffix != ".json" or (len(given) > 1 and not nested)):
        return None  # the only line of JSON Lines
    raise DataCorrupt(
        f"{path}: it is one JSON object, with {_keys(given)}, but {_EXPECTED}. If a key leads to "
        f'the rows, name it: rows = "…".'
    )


def _lists(value: object, keys: tuple[str, ...] = ()) -> list[_Row] | None:
    """Return the rows of an object of lists; None for another value.

    The keys become the cells `subject` and `split` of the rows, unless the rows have such cells.
    """
    if isinstance(value, list) and keys and all(isinstance(each, dict) for each in value):
        named = {("split" if each.lower() in _SPLITS else "subject"): each for each in keys}
        return [{**named, **each} for each in value]
    if not isinstance(value, dict) or len(keys) > 1:
        return None
    found = [_lists(each, (*keys, str(key))) for key, each in value.items()]
    whole = [each for each in found if each is not None]
    return [row for each in whole for row in each] if len(whole) == len(found) else None


def _below(path: Path, text: str, keys: str) -> list[_Row]:
    """Return the rows at the end of a path of keys in a JSON object."""
    declared = f"rows = {json.dumps(keys, ensure_ascii=False)}"
    try:
        value = _decoded(text, object)
    except _NamedTwiceError as error:
        raise DataCorrupt(f"{path} has {error}. Rename one.") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _unreadable(f"{path}, read with {declared},", error) from error
    return [*_led_to(value, keys, f"{path}: {declared}")]


def _led_to(
    value: object, rest: str, says: str, above: str = "", around: Mapping[str, object] | None = None
) -> Iterator[_Row]:
    """Yield the rows that keys lead to, with the cells of the objects around their lists."""
    if rest and isinstance(value, list):
        for place, each in enumerate(value):
            yield from _led_to(each, rest, says, f"{above}[{place}]", around or {})
    elif rest:
        inside = _dict(value)
        fitting = (key for key in inside if f"{rest}.".startswith(f"{key}."))
        here = max(fitting, key=len, default=rest.partition(".")[0])
        if here not in inside:
            there = f"the keys {_keys(inside)}" if inside else f"a {type(value).__name__}"
            raise DataCorrupt(
                f"{says} finds no {here!r}: {above or 'the file'} has {there}. Correct `rows` in "
                "the benchmark.toml."
            )
        if around is not None:
            around = {key: cell for key, cell in {**around, **inside}.items() if key != here}
        yield from _led_to(
            inside[here], rest[len(here) + 1 :], says, f"{above}.{here}".lstrip("."), around
        )
    else:
        for row in _rows_in(value, says):
            yield {**around, **({"text": row} if isinstance(row, str) else row)} if around else row


def _rows_in(value: object, says: str) -> list[_Row]:
    if isinstance(value, dict):
        if rows := _lists(value):
            return rows
        what = f"an object with {_keys(value)}"
    else:
        try:
            return msgspec.convert(value, list[_Row])
        except msgspec.ValidationError as error:
            what = str(error)
    raise DataCorrupt(
        f"{says} does not lead to rows (a list of objects, or such lists by subject): {what}."
    )


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _keys(value: Mapping[str, object]) -> str:
    return ", ".join(list(value)[:_FEW_KEYS]) + ", …" * (len(value) > _FEW_KEYS) or "no keys"


class _NamedTwiceError(ValueError):
    """A JSON object has a key twice: most readers take the last value, others the first."""


def _decoded(text: str, sort: Any) -> Any:
    value = msgspec.json.decode(text, type=sort)
    json.loads(text, object_pairs_hook=_named_once)
    return value


def _named_once(pairs: list[tuple[str, object]]) -> None:
    if twice := [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]:
        raise _NamedTwiceError(f"an object that names {', '.join(twice)} twice")


_SPLITS = ("test", "dev", "train", "val", "valid", "validation")


def _json(path: Path, text: str) -> list[_Row]:
    try:
        rows: list[_Row] = _decoded(text, list[_Row])
    except _NamedTwiceError as error:
        raise DataCorrupt(f"{path} has {error}. Rename one.") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _unreadable(str(path), error) from error
    return rows


_EXPECTED = "rows are expected here: a list of objects, or an object on each line"
_FEW_KEYS = 5


def _breaks_off(error: Exception) -> bool:
    return "truncated" in str(error)


def _unreadable(where: str, error: Exception) -> DataCorrupt:
    """Return the error for JSON that is truncated, damaged, or of another form."""
    if isinstance(error, msgspec.ValidationError):
        return DataCorrupt(f"{where} is valid JSON, but {_EXPECTED}; {error}.")
    if _breaks_off(error):
        return DataCorrupt(f"{where} breaks off: the file is truncated. {_AGAIN}.")
    return DataCorrupt(f"{where} is not valid JSON: {error}. {_AGAIN}.")
