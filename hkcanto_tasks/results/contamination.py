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
from collections.abc import Iterable, Iterator, Sequence
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

_COMMON = (
    4  # items of a task that may share an n-gram; one in more items is boilerplate
)
_GAP = 40  # most units between two n-grams of one place
_WORD = re.compile(r"[^\W_]+")


class Item(NamedTuple):
    """An item with one of its texts to search for; at least `at_least` units must be found."""

    task: str
    id: str
    text: str
    at_least: int = 0


def units(text: str) -> list[str]:
    """Cut a text into units.

    Examples:
        >>> units("裏面，OK！") == units("里面 ok")
        True
    """
    folded = fold_script(unicodedata.normalize("NFKC", text).casefold())
    spaced = "".join(f" {each} " if is_han(each) else each for each in folded)
    return _WORD.findall(spaced)


class Index:
    """An index of items by n-grams, without n-grams that occur in more than four items of a task.

    Examples:
        >>> index = Index([Item("t", "t/1", "香港嘅天星小輪由尖沙咀開去邊度？")])
        >>> [item.id for item, *_ in index.find([(1, "問：香港嘅天星小轮，由尖沙咀开去边度")])]
        ['t/1']
    """

    def __init__(self, items: Sequence[Item]) -> None:
        grams = []
        for item in items:
            of_text = units(item.text)
            grams.append(
                [
                    hash(tuple(of_text[at : at + N]))
                    for at in range(len(of_text) - N + 1)
                ]
            )
        # An n-gram counts once for all texts of an item.
        of_items = defaultdict[tuple[str, str], set[int]](set)
        for item, of_item in zip(items, grams, strict=True):
            of_items[item.task, item.id].update(of_item)
        times = Counter(
            (task, gram) for (task, _), known in of_items.items() for gram in known
        )
        self._places = defaultdict[int, list[tuple[int, int]]](list)
        self._sizes = []  # items, units to search for, and how many must be found
        for number, (item, of_item) in enumerate(zip(items, grams, strict=True)):
            rare = [
                at
                for at, gram in enumerate(of_item)
                if times[item.task, gram] <= _COMMON
            ]
            for at in rare:
                self._places[of_item[at]].append((number, at))
            known = len({at + step for at in rare for step in range(N)})
            enough = max(SHARE * known, min(known, FEW), item.at_least, 1)
            self._sizes.append((item, known, enough))

    @property
    def looked_for(self) -> set[str]:
        """The ids of items that can be found; the others are too short, or all boilerplate."""
        return {item.id for item, known, enough in self._sizes if known >= enough}

    def find(
        self, lines: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[Item, int, float]]:
        """Find items in a text, each once in a place.

        Args:
            lines: The text's lines with their numbers.

        Yields:
            An item, the line where it begins, and the share found.
        """
        for number, line, covered in self._spots(lines):
            item, known, enough = self._sizes[number]
            if len(covered) >= enough:
                yield item, line, len(covered) / known

    def _spots(
        self, lines: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[int, int, set[int]]]:
        """Yield the places of n-grams of an item: the item, the first line, the units covered."""
        recent, starts = deque[str](maxlen=N), deque[int](maxlen=N)
        spots: dict[
            int, tuple[int, int, set[int]]
        ] = {}  # item → last unit, line, units covered
        every = ((line, unit) for line, text in lines for unit in units(text))
        for at, (line, unit) in enumerate(every):
            recent.append(unit)
            starts.append(line)
            for number, place in self._places.get(hash(tuple(recent)), ()):
                last, first, covered = spots.get(number, (at, starts[0], set()))
                if at - last > _GAP:
                    yield number, first, covered
                    first, covered = starts[0], set()
                covered.update(range(place, place + N))
                spots[number] = at, first, covered
        yield from (
            (number, first, covered) for number, (_, first, covered) in spots.items()
        )


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
    with LocalFileSystem().open(str(path), "rt", compression=packing, **text) as file:
        entries: Iterable[object] = (
            json.loads(line) if line.strip() else "" for line in file
        )
        if ending == ".parquet":
            from pyarrow.parquet import ParquetFile

            batches = ParquetFile(path).iter_batches(1000)
            entries = (row for batch in batches for row in batch.to_pylist())
        elif ending == ".json":
            whole = json.load(file)
            entries = whole if isinstance(whole, list) else [whole]
        elif ending not in (".jsonl", ".ndjson"):
            yield list(enumerate(file, 1))
            return
        yield from (
            [(number, _strings(entry))] for number, entry in enumerate(entries, 1)
        )


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
        items += [Item(task, sample.id, text) for text in texts if text]
        asked = "\n".join(filter(None, (*sample.cells.values(), sample.question)))
        items += [Item(task, sample.id, asked, FEW)] if any(sample.choices) else []
    return items, loaded.revision


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
    notes, chosen = list[str](), list(names or ())
    for benchmark in benchmarks() if names is None else ():
        with suppress(DataNotFound):
            if locate(benchmark).files():
                chosen.append(benchmark.name)
                continue
        notes.append(
            f"Not searched for, because its data is not here: {benchmark.title}."
        )
    every = ((task.name, items_of(task.name)) for task in chosen_tasks(chosen))
    loaded = {task: items for task, items in every if items[0]}
    if not loaded:
        raise DataNotFound(
            "No benchmark's data is here: hkcanto data fetch, or HKCANTO_DATA_DIR."
        )
    if any(data == "sample" for _, data in loaded.values()):
        notes.append("Only the sample data was searched for, not the benchmarks.")
    index = Index([item for items, _ in loaded.values() for item in items])
    shares = dict[tuple[str, int, str], float]()
    for path in files:
        try:
            for item, line, size in (
                hit for text in training_texts(path) for hit in index.find(text)
            ):
                key = item.id, line, str(path)
                shares[key] = max(shares.get(key, 0.0), size)
        except Exception as error:  # each library raises errors of its own
            what = f"{path} cannot be read ({type(error).__name__}: {error})"
            raise DataCorrupt(
                f"{what}: is it in the format of its name, and complete?"
            ) from error
    places, looked_for = {item for item, _, _ in shares}, index.looked_for
    rows = []
    for task, (items, data) in loaded.items():
        ids = {item.id for item in items}
        count = len(ids & places)
        rows.append(
            TableRow(
                [task, len(ids), count, count / len(ids), len(ids - looked_for), data]
            )
        )
    rows.sort(key=lambda row: not row.values[2])  # a terminal shows the first 20
    short = f"Fewer than {N} units, or all boilerplate: not searched for."
    share = TableColumn(
        "Share", "percent", "Share of the items, or of the item, that was found."
    )
    columns = [
        TableColumn("Task"),
        TableColumn("Items", "count"),
        TableColumn("Found", "count"),
        share,
    ]
    columns += [TableColumn("Too short", "count", short), TableColumn("Data")]
    caption = f"Found: {SHARE:.0%} of an item, or of a question without options, is in one place."
    blocks: list[Block] = [
        TableBlock("contamination", "Items found", columns, rows, caption)
    ]
    blocks += [Note(text, "warning") for text in notes]
    columns = [
        TableColumn("Item"),
        TableColumn("Line", "count"),
        TableColumn("File"),
        share,
    ]
    rows = [TableRow([*place, size]) for place, size in shares.items()]
    blocks.append(TableBlock("lines", "Places of the items", columns, rows))
    section = Section("Contamination", blocks, "contamination", is_summary=True)
    return report_of(
        [section], f"Benchmark items in {', '.join(map(str, files))}"
    ), bool(shares)
