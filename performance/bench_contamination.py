"""Throughput and memory of `hkcanto contamination`.

    HKCANTO_DATA_DIR=… python performance/bench_contamination.py [FILE]

The file is read repeatedly, up to 100 MB; no file is kept. Target: 5 MB/s on one core.
"""

import itertools
from pathlib import Path

from measuring import arguments, memory, seconds, timed

from hkcanto_tasks.catalogue import benchmarks
from hkcanto_tasks.results.contamination.ngrams import Index
from hkcanto_tasks.results.contamination.report import items_of
from hkcanto_tasks.results.contamination.training_files import read

ENOUGH, BATCH = 100e6, 1 << 20


def main() -> None:
    """Print seconds, MB/s and MB."""
    file = arguments(__doc__, {"file": Path("README.md")}).file
    tasks = [task.name for benchmark in benchmarks() for task in benchmark.tasks]
    items = timed("loading", lambda: [item for task in tasks for item in items_of(task)[0]])
    index = timed(f"index of {len(items):,} texts", lambda: Index(items))
    size, hits = 0, 0

    def look() -> None:
        nonlocal size, hits
        batch, chars = list[str](), 0
        for _, text in itertools.chain.from_iterable(read(file, {}) for _ in itertools.count()):
            batch.append(text)
            size, chars = size + len(text.encode()), chars + len(text)
            if chars >= BATCH:
                hits += sum(1 for _ in index.find(batch))
                batch, chars = [], 0
            if size >= ENOUGH:
                return

    took = seconds(look)
    print(f"{size / 1e6:,.0f} MB in {took:.1f} s: {size / 1e6 / took:.1f} MB/s", end=", ")
    print(f"{hits:,} places found, {memory():,.0f} MB of memory at most")


if __name__ == "__main__":
    main()
