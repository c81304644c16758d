"""Search training files for benchmark items, by n-grams, in either script.

A text is cut into units: Chinese characters, with their script folded, and other words; blanks and
punctuation are dropped. An item is searched for by its n-grams of units (GPT-3: Brown and others
2020, appendix C), and is found where they cover most of it in one place (Llama 2: Touvron and
others 2023, appendix A.6).
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hkcanto_metrics.script import fold_script, is_han

from ..catalogue import benchmarks, chosen_tasks
from ..data.locating import locate
from ..errors import DataCorrupt, DataNotFound
from ..tasks import load_task
from .reports.blocks import (
    Block,
    Note,
    Report,
    Section,
    TableBlock,
    TableColumn,
    TableRow,
    report_of,
)

N, SHARE, FEW = 8, 0.6, 12
"""Units in an n-gram; the share of an item that must be found; the number of units that must be
found, or all of a shorter item. docs/methods.md gives the reasons."""

# Items of a task that may share an n-gram; one in more items is boilerplate.
_MAX_SHARING = 4
_MAX_GAP = 40  # units between two n-grams of one passage
_WORD = re.compile(r"[^\W_]+")


class Item(NamedTuple):
    """An item with one of its texts to search for; at least `at_least` units must be found."""

    task: str
    id: str
    text: str
    at_least: int = 0


class _Target(NamedTuple):
    """A text to search for, the number of its units that can be found, and that must be."""

    item: Item
    known: int
    enough: float


class _Passage(NamedTuple):
    """A passage with n-grams of a text: its first line, and the text's units in it."""

    line: int
    covered: set[int]
    last: int  # the position of its last unit in the searched text


def units(text: str) -> list[str]:
    """Cut a text into units.

    Examples:
        >>> units("裏面，OK！") == units("里面 ok")
        True
    """
    folded = fold_script(unicodedata.normalize("NFKC", text).casefold())
    spaced = "".join(f" {char} " if is_han(char) else char for char in folded)
    return _WORD.findall(spaced)


class Index:
    """An index of items by n-grams, without n-grams that occur in more than four items of a task.

    Examples:
        >>> index = Index([Item("t", "t/1", "香港嘅天星小輪由尖沙咀開去邊度？")])
        >>> [item.id for item, *_ in index.find([(1, "問：香港嘅天星小轮，由尖沙咀开去边度")])]
        ['t/1']
    """

    def __init__(self, items: Sequence[Item]) -> None:
        grams = [_ngrams(item.text) for item in items]
        # An n-gram counts once for all texts of an item.
        distinct = defaultdict[tuple[str, str], set[int]](set)
        for item, hashes in zip(items, grams, strict=True):
            distinct[item.task, item.id].update(hashes)
        counts = Counter[tuple[str, int]]()
        for (task, _), known in distinct.items():
            counts.update((task, gram) for gram in known)
        #: n-gram → the number of the target and the position of the n-gram in it
        self._positions = defaultdict[int, list[tuple[int, int]]](list)
        self._targets = list[_Target]()
        for item, hashes in zip(items, grams, strict=True):
            covered = set[int]()
            for position, gram in enumerate(hashes):
                if counts[item.task, gram] <= _MAX_SHARING:
                    self._positions[gram].append((len(self._targets), position))
                    covered.update(range(position, position + N))
            size = len(covered)
            enough = max(
                SHARE * size,
                min(size, FEW),
                item.at_least,
                1,
            )
            self._targets.append(_Target(item, size, enough))

    @property
    def looked_for(self) -> set[str]:
        """The ids of items that can be found; the others are too short, or all boilerplate."""
        return {
            target.item.id for target in self._targets if target.known >= target.enough
        }

    def find(
        self, lines: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[Item, int, float]]:
        """Find items in a text, each once in a passage.

        Args:
            lines: The text's lines with their numbers.

        Yields:
            An item, the line where it begins, and the share found.
        """
        for number, passage in self._passages(lines):
            target = self._targets[number]
            size = len(passage.covered)
            if size >= target.enough:
                yield target.item, passage.line, size / target.known

    def _passages(
        self, lines: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[int, _Passage]]:
        """Yield passages with n-grams of a target, and the number of the target."""
        recent = deque[str](maxlen=N)
        starts = deque[int](maxlen=N)
        open_passages: dict[int, _Passage] = {}
        numbered = ((line, unit) for line, text in lines for unit in units(text))
        for position, (line, unit) in enumerate(numbered):
            recent.append(unit)
            starts.append(line)
            for number, start in self._positions.get(hash(tuple(recent)), ()):
                passage = open_passages.get(number)
                if passage and position - passage.last > _MAX_GAP:
                    yield number, passage
                    passage = None
                if passage is None:
                    passage = _Passage(starts[0], set(), position)
                passage.covered.update(range(start, start + N))
                open_passages[number] = _Passage(
                    passage.line, passage.covered, position
                )
        yield from open_passages.items()


def _ngrams(text: str) -> list[int]:
    """Return a hash of each n-gram of a text."""
    cut = units(text)
    return [hash(tuple(cut[i : i + N])) for i in range(len(cut) - N + 1)]


# ---------------------------------------------------------------------- training files


def training_texts(path: Path) -> Iterator[list[tuple[int, str]]]:
    """Yield the texts of a training file, each as its lines with their numbers.

    Args:
        path: The file. Its ending sets the format: JSON Lines, JSON or Parquet; otherwise plain
            text. Files in .gz, .bz2, .xz, .zip and .zst are decompressed. A text has all strings of
            a line, entry or row, at any depth. A plain file is one text.
    """
    from fsspec.implementations.local import LocalFileSystem
    from fsspec.utils import infer_compression

    packing = infer_compression(path.name.lower())
    ending = path.with_suffix("" if packing else path.suffix).suffix.lower()
    text = {"encoding": "utf-8-sig", "errors": "replace", "newline": ""}
    with LocalFileSystem().open(
        str(path),
        "rt",
        compression=packing,
        **text,
    ) as file:
        entries: Iterable[object]
        if ending == ".parquet":
            entries = _parquet_rows(path)
        elif ending == ".json":
            content = json.load(file)
            entries = content if isinstance(content, list) else [content]
        elif ending in (".jsonl", ".ndjson"):
            entries = (json.loads(line) if line.strip() else "" for line in file)
        else:
            yield list(enumerate(file, 1))
            return
        for number, entry in enumerate(entries, 1):
            yield [(number, _strings(entry))]


def _parquet_rows(path: Path) -> Iterator[object]:
    from pyarrow.parquet import ParquetFile

    for batch in ParquetFile(path).iter_batches(1000):
        yield from batch.to_pylist()


def _strings(value: object) -> str:
    """Return all strings of a value, at any depth."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    inner = value.values() if isinstance(value, dict) else value
    return " ".join(map(_strings, inner)) if isinstance(inner, Iterable) else ""


# ---------------------------------------------------------------------- the report


def items_of(task: str) -> tuple[Sequence[Item], str]:
    """Return the texts to search for in a task's items, and the revision of the data.

    Translation and summarization items have two texts: the source and the gold answer. Other items
    are searched for with their options and without them.
    """
    loaded = load_task(task, allow_absent=True)
    items = []
    for sample in loaded.samples:
        texts = (sample.source, sample.target) if sample.source else (sample.text,)
        for text in texts:
            if text:
                items.append(Item(task, sample.id, text))
        if any(sample.choices):
            shown = filter(None, (*sample.cells.values(), sample.question))
            items.append(
                Item(
                    task,
                    sample.id,
                    "\n".join(shown),
                    FEW,
                )
            )
    return items, loaded.revision


class _SearchedTask(NamedTuple):
    """A task, the texts to search for, and the revision of its data."""

    name: str
    items: Sequence[Item]
    revision: str


class _Hit(NamedTuple):
    """A line of a file on which an item begins."""

    item: str
    line: int
    file: str


def report(
    files: Sequence[Path], names: Sequence[str] | None = None
) -> tuple[Report, bool]:
    """Search training files for benchmark items.

    Args:
        files: See `training_texts`.
        names: Benchmarks or tasks; by default all benchmarks whose data is available.

    Returns:
        The report of hits by task and by line, and whether there are any.

    Raises:
        DataNotFound: A file or the data of a benchmark does not exist.
        DataCorrupt: A file is not what its name says.
    """
    notes: list[str] = []
    if names is None:
        names = _available_benchmarks(notes)
    searched = _searched_tasks(names)
    if not searched:
        raise DataNotFound(
            "No benchmark's data is here: hkcanto data fetch, or HKCANTO_DATA_DIR."
        )
    if any(task.revision == "sample" for task in searched):
        notes.append("Only the sample data was searched for, not the benchmarks.")
    index = Index([item for task in searched for item in task.items])
    shares = _found_shares(index, files)

    blocks: list[Block] = [_task_table(searched, index.looked_for, shares)]
    blocks += [Note(note, "warning") for note in notes]
    blocks.append(_hit_table(shares))
    section = Section(
        "Contamination",
        blocks,
        "contamination",
        is_summary=True,
    )
    title = f"Benchmark items in {', '.join(map(str, files))}"
    return report_of([section], title), bool(shares)


def _searched_tasks(names: Sequence[str]) -> list[_SearchedTask]:
    tasks = []
    for task in chosen_tasks(names):
        items, revision = items_of(task.name)
        if items:
            tasks.append(_SearchedTask(task.name, items, revision))
    return tasks


def _available_benchmarks(notes: list[str]) -> list[str]:
    """Return the benchmarks whose data is here, and note the others."""
    available = []
    for benchmark in benchmarks():
        with suppress(DataNotFound):
            if locate(benchmark).files():
                available.append(benchmark.name)
                continue
        notes.append(
            f"Not searched for, because its data is not here: {benchmark.title}."
        )
    return available


def _found_shares(index: Index, files: Sequence[Path]) -> dict[_Hit, float]:
    """Return the largest share of an item that was found in each place."""
    shares = dict[_Hit, float]()
    for path in files:
        try:
            for text in training_texts(path):
                for item, line, share in index.find(text):
                    hit = _Hit(item.id, line, str(path))
                    shares[hit] = max(shares.get(hit, 0.0), share)
        except Exception as error:  # each library raises errors of its own
            raise DataCorrupt(
                f"{path} cannot be read ({type(error).__name__}: {error}): "
                "is it in the format of its name, and complete?"
            ) from error
    return shares


_SHARE_COLUMN = TableColumn(
    "Share", "percent", "Share of the items, or of the item, that was found."
)


def _task_table(
    searched: Sequence[_SearchedTask],
    looked_for: Set[str],
    shares: Mapping[_Hit, float],
) -> TableBlock:
    hits = {hit.item for hit in shares}
    short = f"Fewer than {N} units, or all boilerplate: not searched for."
    columns = [
        TableColumn("Task"),
        TableColumn("Items", "count"),
        TableColumn("Found", "count"),
        _SHARE_COLUMN,
        TableColumn("Too short", "count", short),
        TableColumn("Data"),
    ]
    rows = []
    for task in searched:
        ids = {item.id for item in task.items}
        count = len(ids & hits)
        share = count / len(ids)
        too_short = len(ids - looked_for)
        rows.append(
            TableRow([task.name, len(ids), count, share, too_short, task.revision])
        )
    rows.sort(key=lambda row: not row.values[2])  # a terminal shows the first 20
    caption = f"Found: {100 * SHARE:.0f} % of an item, or of a question without options, is in one place."
    return TableBlock(
        "contamination",
        "Items found",
        columns,
        rows,
        caption,
    )


def _hit_table(shares: Mapping[_Hit, float]) -> TableBlock:
    columns = [
        TableColumn("Item"),
        TableColumn("Line", "count"),
        TableColumn("File"),
        _SHARE_COLUMN,
    ]
    rows = [TableRow([*hit, share]) for hit, share in shares.items()]
    return TableBlock(
        "lines",
        "Places of the items",
        columns,
        rows,
    )
