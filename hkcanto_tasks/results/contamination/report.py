"""The report of `hkcanto contamination`: benchmark items found in training files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from itertools import islice
from pathlib import Path

from ...catalogue import benchmarks
from ...choosing import chosen_tasks
from ...data.locating import locate
from ...errors import DataNotFound
from ...loading import load_task
from ..reports.blocks import (
    ITEMS_NOTICE,
    Block,
    Column,
    Note,
    Report,
    Row,
    Section,
    Table,
)
from .ngrams import FEW, SHARE, Hit, Index, Item, N
from .training_files import Part, Problems, read

_BATCH = 1 << 20  # characters that are searched together
_LISTED = 10_000  # places in the report


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
        if any(sample.choices):
            asked = (*sample.cells.values(), sample.question)
            items.append(Item(task, sample.id, "\n".join(filter(None, asked)), FEW))
    return items, loaded.revision


def report(
    files: Sequence[Path], names: Sequence[str] | None = None, *, with_items: bool = False
) -> tuple[Report, bool]:
    """Search training files for benchmark items.

    Args:
        files: See `training_files.read`.
        names: Benchmarks or tasks; by default all benchmarks whose data is available.
        with_items: Whether to show the items' texts.

    Returns:
        The report of hits by task and by line, and whether there are any.

    Raises:
        DataNotFound: A file or the data of a benchmark does not exist.
        DataCorrupt: A file is not what its name says.
    """
    from ..reports.report import report_of

    warnings, chosen = list[str](), list(names or ())
    for benchmark in benchmarks() if names is None else ():
        with suppress(DataNotFound):
            if locate(benchmark).files():
                chosen.append(benchmark.name)
                continue
        warnings.append(f"Not searched for, because its data is not here: {benchmark.title}.")
    every = {task.name: items_of(task.name) for task in chosen_tasks(chosen)}
    loaded = {task: items for task, items in every.items() if items[0]}
    if not loaded:
        raise DataNotFound("No benchmark's data is here: hkcanto data fetch, or HKCANTO_DATA_DIR.")
    if any(data == "sample" for _, data in loaded.values()):
        warnings.append("Only the sample data was searched for, not the benchmarks.")
    index = Index([item for items, _ in loaded.values() for item in items])
    places, problems = dict[tuple[str, str, int], Hit](), Problems()
    for path in files:
        for batch in _batches(read(path, problems)):
            for hit in index.find([text for _, text in batch]):
                line, text = batch[hit.text]
                key = hit.item.id, str(path), line + text.count("\n", 0, hit.place)
                places[key] = max(places.get(key, hit), hit, key=lambda each: each.share)
    found = {item for item, _, _ in places}
    warnings += [f"{what}: {n:,}; the first is {line:,}." for what, (line, n) in problems.items()]
    blocks: list[Block] = [_by_task(loaded, found, index.looked_for)]
    blocks += [Note(text, "warning") for text in warnings]
    sections = [Section("Contamination", blocks, "contamination", is_summary=True)]
    if found:
        listed = list[Block]([Note(ITEMS_NOTICE, "warning")] if with_items else [])
        listed.append(_by_line(places, with_items))
        if (more := len(places) - _LISTED) > 0:
            listed.append(Note(f"{more:,} more places are not listed."))
        sections.append(Section("Lines", listed, "lines", is_summary=True))
    return report_of(sections, f"Benchmark items in {', '.join(map(str, files))}"), bool(found)


def _batches(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Yield parts in batches of about a million characters."""
    batch, size = list[Part](), 0
    for part in parts:
        batch.append(part)
        size += len(part[1])
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    yield batch


def _by_task(
    loaded: Mapping[str, tuple[Sequence[Item], str]], found: Set[str], looked_for: Set[str]
) -> Block:
    rows = []
    for task, (items, data) in loaded.items():
        ids = {item.id for item in items}
        own = len(ids & found)
        rows.append(Row([task, len(ids), own, own / len(ids), len(ids - looked_for), data]))
    rows.sort(key=lambda row: not row.values[2])  # tasks with hits first
    short = Column(
        "Too short", "count", f"Fewer than {N} units, or all boilerplate: not searched for."
    )
    counts = Column("Items", "count"), Column("Found", "count"), Column("Share", "percent")
    caption = (
        f"An item counts as found if {SHARE:.0%} of it is in one place, in either script and with "
        "any punctuation; a question also without its options."
    )
    columns = [Column("Task"), *counts, short, Column("Data")]
    return Table("contamination", "Items found", columns, rows, caption)


def _by_line(places: Mapping[tuple[str, str, int], Hit], with_items: bool) -> Block:
    share = Column("Share", "percent", "Share of the item that was found there.")
    columns = [Column("Item"), Column("Line", "count"), share, Column("File")]
    columns += [Column("Text")] * with_items
    rows = [
        Row([item, line, hit.share, file, *[hit.item.text] * with_items])
        for (item, file, line), hit in islice(places.items(), _LISTED)
    ]
    return Table("lines", "Places of the items", columns, rows)
