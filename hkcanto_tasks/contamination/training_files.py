"""Training files: the texts of each line, whatever the format, without holding the file."""

import csv
import gzip
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from ..errors import DataCorrupt, HKCantoError, OptionError, on_disk

_BLOCK, _OVERLAP = 1 << 20, 1 << 13  # characters of a plain text


class Part(NamedTuple):
    """A text of a file, and the line, row or entry where it begins; whether it has `lines` that
    count, as of a plain text."""

    line: int
    text: str
    lines: bool = False


def read(path: Path, progress: Callable[[int], None] = lambda _: None) -> Iterator[Part]:
    """Read the texts of a training file.

    Args:
        path: JSON Lines (all strings of a line, at any depth; a line that is no JSON is a text),
            JSON (of each entry), Parquet, CSV and TSV (of each row), by the name's ending, else
            plain text; with .gz or .zst at the end packed.
        progress: Called now and then with how many bytes are read.

    Returns:
        An iterator. Each part of a plain text begins with the end of the one before.

    Raises:
        DataNotFound: It cannot be opened.
        DataCorrupt: It is not what its name says.
    """
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    packing = endings.pop() if endings and endings[-1] in (".gz", ".zst") else ""
    ending = endings[-1] if endings else ""
    with on_disk(path), path.open("rb") as file:
        try:
            parts = _parquet(file) if ending == ".parquet" else _parts(_text(file, packing), ending)
            for number, part in enumerate(parts):
                if number % 1000 == 0 or part.lines:
                    progress(file.tell())
                yield part
        except (HKCantoError, OSError):
            raise
        except Exception as error:  # each library has its own
            what = f"{path} cannot be read ({type(error).__name__}: {error})"
            raise DataCorrupt(f"{what}: is it {ending}{packing}, and whole?") from error


def _text(file: IO[bytes], packing: str) -> IO[str]:
    unpacked: Any = file
    if packing == ".gz":
        unpacked = gzip.GzipFile(fileobj=file)
    elif packing == ".zst":
        try:
            import zstandard
        except ImportError as error:
            raise OptionError('.zst needs zstandard: pip install "hkcanto[report]".') from error
        unpacked = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return io.TextIOWrapper(unpacked, "utf-8-sig", errors="replace", newline="")


def _parts(file: IO[str], ending: str) -> Iterator[Part]:
    if ending in (".jsonl", ".ndjson"):
        for number, line in enumerate(file, 1):
            try:
                yield Part(number, "\n".join(_strings(msgspec.json.decode(line))))
            except msgspec.DecodeError:
                yield Part(number, line)
    elif ending == ".json":
        entries = msgspec.json.decode(file.read())
        for number, entry in enumerate(entries if isinstance(entries, list) else [entries], 1):
            yield Part(number, "\n".join(_strings(entry)))
    elif ending in (".csv", ".tsv"):
        csv.field_size_limit(1 << 30)
        rows = csv.reader(file, delimiter="\t" if ending == ".tsv" else ",")
        end = 0
        for row in rows:
            yield Part(end + 1, "\n".join(row))
            end = rows.line_num
    else:
        text, at = "", 1
        while block := file.read(_BLOCK):
            kept = text[-_OVERLAP:]
            at += text.count("\n", 0, len(text) - len(kept))
            text = kept + block
            yield Part(at, text, lines=True)


def _parquet(file: IO[bytes]) -> Iterator[Part]:
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise OptionError("Parquet needs pyarrow: pip install pyarrow.") from error
    number = 0
    for batch in ParquetFile(file).iter_batches(1000):
        for row in batch.to_pylist():
            number += 1
            yield Part(number, "\n".join(_strings(row)))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
