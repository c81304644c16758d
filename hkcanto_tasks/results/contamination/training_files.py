"""Reading training files of several formats as a stream of texts with line numbers."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from rich import progress

from ...console import err
from ...errors import DataCorrupt, HKCantoError, OptionError, on_disk

LONGEST = 1 << 22
"""Characters of a line, row or entry; longer ones are left out, to limit memory."""

_BLOCK, _OVERLAP = 1 << 20, 1 << 13  # characters of a plain text
_TOO_LONG = f"lines left out, longer than {LONGEST:,} characters"

Part = tuple[int, str]
_Problem = Callable[[int, str], None]
Problems = dict[str, tuple[int, int]]


def read(path: Path, problems: Problems) -> Iterator[Part]:
    """Read the texts of a training file, with a progress bar.

    Args:
        path: The file. Its ending sets the format: JSON Lines, JSON, Parquet, CSV or TSV, else
            plain text; .gz and .zst are decompressed. A text holds all strings of a line, entry or
            row, at any depth. A line of JSON Lines that is not JSON is a text itself.
        problems: Filled with problems and their handling → the first such line, and how many.

    Returns:
        An iterator of texts, each with the number of the line, row or entry where it begins. Only
        texts of a plain file have line breaks; each repeats the end of the one before.

    Raises:
        DataNotFound: The file cannot be opened.
        DataCorrupt: It does not have the format that its name says.
        OptionError: A package for its format is not installed.
    """

    def problem(line: int, what: str) -> None:
        first, count = problems.get(f"{path}: {what}", (line, 0))
        problems[f"{path}: {what}"] = first, count + 1

    *_, ending, packing = ["", "", *(each.lower() for each in path.suffixes)]
    if packing not in (".gz", ".zst"):
        ending, packing = packing, ""
    with on_disk(path), progress.open(path, "rb", console=err, transient=True) as file:
        try:
            for line, text in _parts(file, ending, packing, problem):
                if len(text) > LONGEST:
                    problem(line, _TOO_LONG)
                else:
                    yield line, text
        except ImportError as error:
            raise OptionError(f"{path} needs {error.name}: pip install {error.name}.") from error
        except (HKCantoError, OSError, MemoryError):
            raise
        except Exception as error:  # each library raises errors of its own
            what = f"{path} cannot be read ({type(error).__name__}: {error})"
            raise DataCorrupt(f"{what}: is it {ending}{packing}, and complete?") from error


def _parts(file: BinaryIO, ending: str, packing: str, problem: _Problem) -> Iterator[Part]:
    if ending == ".parquet":
        from pyarrow.parquet import ParquetFile

        rows = (row for batch in ParquetFile(file).iter_batches(1000) for row in batch.to_pylist())
        yield from enumerate(map(_text, rows), 1)
        return
    unpacked: Any = gzip.GzipFile(fileobj=file) if packing == ".gz" else file
    if packing == ".zst":
        import zstandard

        unpacked = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    opened = io.TextIOWrapper(unpacked, "utf-8-sig", errors="replace", newline="")
    if ending in (".jsonl", ".ndjson"):
        for number, line in enumerate(_lines(opened, problem), 1):
            try:
                yield number, _text(json.loads(line))
            except (ValueError, RecursionError):
                if line.strip():
                    problem(number, "lines read as plain text, not JSON")
                    yield number, line
    elif ending == ".json":
        entries = json.load(opened)
        yield from enumerate(map(_text, entries if isinstance(entries, list) else [entries]), 1)
    elif ending in (".csv", ".tsv"):
        csv.field_size_limit(LONGEST)
        records = csv.reader(_lines(opened, problem), delimiter="\t" if ending == ".tsv" else ",")
        row, end = cast("list[str] | None", []), 0
        while row is not None:
            yield end + 1, _text(row)
            end = records.line_num
            try:
                row = next(records, None)
            except csv.Error as error:
                problem(end + 1, f"rows left out, damaged ({error})")
                row = []
    else:
        part, at = "", 1
        while block := opened.read(_BLOCK):
            kept = part[-_OVERLAP:]
            at += part.count("\n", 0, len(part) - len(kept))
            part = kept + block
            yield at, part


def _lines(file: IO[str], problem: _Problem) -> Iterator[str]:
    """Yield the lines of a file, with a blank line in place of one that is too long."""
    number = 0
    while line := file.readline(LONGEST):
        number += 1
        if len(line) == LONGEST and line[-1] not in "\r\n":
            problem(number, _TOO_LONG)
            while line and line[-1] not in "\r\n":
                line = file.readline(LONGEST)
            line = "\n"
        yield line


def _text(value: object) -> str:
    """Return all strings of a value, at any depth, as one line."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value.replace("\n", " ")
    inner = value.values() if isinstance(value, dict) else value
    return " ".join(map(_text, inner)) if isinstance(inner, Iterable) else ""
