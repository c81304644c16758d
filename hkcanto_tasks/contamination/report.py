"""Which benchmark items stand in training files: the report of `hkcanto contamination`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from ..catalogue import benchmarks as all_benchmarks
from ..catalogue import find_benchmark, find_task
from ..data.locating import locate
from ..errors import DataNotFound, on_disk
from ..loading import load_task
from ..reports.blocks import ITEMS_NOTICE, Block, Column, Note, Report, Row, Section, Table
from ..samples import Sample
from .ngrams import SHARE, Hit, Index, Item, N
from .training_files import Part, read

_BATCH = 1 << 20  # characters that are looked at together
_LISTED = 10_000  # places in the report


def items_of(task: str) -> tuple[Sequence[Item], str]:
    """Return what to look for of a task's items, and which data they are from.

    It is the text to translate or to sum up, and its gold answer; else the question with its
    options, of which the question is enough.
    """
    loaded = load_task(task, allow_absent=True)

    def of(sample: Sample) -> Iterator[Item]:
        for text in filter(None, (sample.source, sample.target)) if sample.source else ():
            yield Item(task, sample.id, text)
        if not sample.source:
            options = "".join(f"\n{choice}" for choice in filter(None, sample.choices))
            yield Item(task, sample.id, sample.text, len(sample.text) - len(options))

    return [item for sample in loaded.samples for item in of(sample)], loaded.revision


def report(
    files: Sequence[Path],
    names: Sequence[str] | None = None,
    *,
    with_items: bool = False,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> tuple[Report, bool]:
    """Look for benchmark items in training files.

    Args:
        files: See `training_files.read`.
        names: Benchmarks or tasks; without them all benchmarks whose data is there.
        with_items: Whether to show the items' texts.
        progress: Called with how many bytes are read, and of how many.

    Returns:
        What was found by task and by line, and whether anything was.

    Raises:
        DataNotFound: A file or the data of a benchmark is not there.
    """
    from ..reports.report import report_of

    sizes = list(map(_size, files))
    tasks, absent = _tasks(names)
    loaded = {task: items_of(task) for task in tasks}
    loaded = {task: found for task, found in loaded.items() if found[0]}
    if not loaded:
        raise DataNotFound("No benchmark's data is here: hkcanto data fetch, or HKCANTO_DATA_DIR.")
    index = Index([item for items, _ in loaded.values() for item in items])
    places: dict[tuple[str, int, str], Hit] = {}
    found, more = set[str](), 0
    for path, before in zip(files, accumulate([0, *sizes]), strict=False):

        def advance(size: int, before: int = before) -> None:
            progress(before + size, sum(sizes))

        for part, hit in _found(index, read(path, advance)):
            line = part.line + (part.text.count("\n", 0, hit.place) if part.lines else 0)
            key = str(path), line, hit.item.id
            found.add(hit.item.id)
            if key in places or len(places) < _LISTED:
                places[key] = max(hit, places.get(key, hit), key=lambda each: each.share)
            else:
                more += 1
    rows = [_row(task, *loaded[task], found, index) for task in loaded]
    rows.sort(key=lambda row: not row.values[2])  # those with something first
    columns = [
        Column("Task"),
        Column("Items", "count"),
        Column("Found", "count"),
        Column("Share", "percent"),
        Column("Too short", "count", f"Of fewer than {N} units, or all formula: not looked for."),
        Column("Data"),
    ]
    caption = (
        f"Found is an item of which {SHARE:.0%} stand in one place, in either script, whatever the "
        "punctuation; a question also without its options."
    )
    blocks: list[Block] = [
        Table("contamination", "Items found", columns, rows, caption),
        *(Note(f"Not looked for, as no data is here: {each}.", "warning") for each in absent),
    ]
    if any(data == "sample" for _, data in loaded.values()):
        blocks.append(Note("Looked for were the sample data, not the benchmarks.", "warning"))
    sections = [Section("Contamination", blocks, "contamination", is_summary=True)]
    if places:
        sections.append(_lines(places, more, with_items))
    return report_of(sections, f"Benchmark items in {', '.join(map(str, files))}"), bool(found)


def _size(path: Path) -> int:
    with on_disk(path, remedy="Correct the name."), path.open("rb"):
        return path.stat().st_size


def _tasks(names: Sequence[str] | None) -> tuple[Sequence[str], Sequence[str]]:
    """Return the tasks to look for, and the titles of benchmarks whose data is not there."""
    if names is not None:
        known = {benchmark.name for benchmark in all_benchmarks()}
        chosen = [
            [task.name for task in find_benchmark(name).tasks] if name in known else [name]
            for name in names
        ]
        return [find_task(task).name for tasks in chosen for task in tasks], []
    there, absent = list[str](), list[str]()
    for benchmark in all_benchmarks():
        try:
            here = bool(locate(benchmark).files())
        except DataNotFound:
            here = False
        if here:
            there += [task.name for task in benchmark.tasks]
        else:
            absent.append(benchmark.title)
    return there, absent


def _found(index: Index, parts: Iterable[Part]) -> Iterator[tuple[Part, Hit]]:
    """Look at about a million characters at a time."""
    batch, size = list[Part](), 0
    for part in parts:
        batch.append(part)
        size += len(part.text)
        if size >= _BATCH:
            yield from ((batch[hit.text], hit) for hit in index.find([each.text for each in batch]))
            batch, size = [], 0
    yield from ((batch[hit.text], hit) for hit in index.find([each.text for each in batch]))


def _row(task: str, items: Sequence[Item], data: str, found: set[str], index: Index) -> Row:
    ids = {item.id for item in items}
    short = ids - index.looked_for
    own = len(ids & found)
    return Row([task, len(ids), own, own / len(ids), len(short), data])


def _lines(places: Mapping[tuple[str, int, str], Hit], more: int, with_items: bool) -> Section:
    columns = [
        Column("Item"),
        Column("Line", "count"),
        Column("Share", "percent", "Of the item, that stands there."),
        Column("File"),
        *([Column("Text")] if with_items else []),
    ]
    rows = [
        Row([item, line, hit.share, file, *([hit.item.text] if with_items else [])])
        for (file, line, item), hit in places.items()
    ]
    blocks: list[Block] = [Table("lines", "Where they stand", columns, rows)]
    if more:
        blocks.append(Note(f"{more:,} more places are not listed."))
    if with_items:
        blocks.insert(0, Note(ITEMS_NOTICE, "warning"))
    return Section("Lines", blocks, "lines", is_summary=True)
