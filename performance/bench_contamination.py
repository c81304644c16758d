"""How fast `hkcanto contamination` reads, and how much memory it takes.

    HKCANTO_DATA_DIR=… python performance/bench_contamination.py FILE

The file is read as often as it takes to make 100 MB; no file is kept. Target: 5 MB/s on one core.
"""

import argparse
import itertools
import resource
from pathlib import Path
from time import perf_counter

from hkcanto_tasks.catalogue import benchmarks
from hkcanto_tasks.contamination.ngrams import Index
from hkcanto_tasks.contamination.report import items_of
from hkcanto_tasks.contamination.training_files import read

ENOUGH, BATCH = 100e6, 1 << 20


def main() -> None:
    """Print seconds, MB/s and MB."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    start = perf_counter()
    tasks = [task.name for benchmark in benchmarks() for task in benchmark.tasks]
    items = [item for task in tasks for item in items_of(task)[0]]
    loaded = perf_counter()
    index = Index(items)
    print(f"{len(items):,} texts of items: {loaded - start:.1f} s to load", end=", ")
    print(f"{perf_counter() - loaded:.1f} s to index")
    start, size, batch, chars, hits = perf_counter(), 0, list[str](), 0, 0
    for _, text in itertools.chain.from_iterable(read(file, {}) for _ in itertools.count()):
        batch.append(text)
        size, chars = size + len(text.encode()), chars + len(text)
        if chars >= BATCH:
            hits += sum(1 for _ in index.find(batch))
            batch, chars = [], 0
            if size >= ENOUGH:
                break
    seconds = perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{size / 1e6:,.0f} MB in {seconds:.1f} s: {size / 1e6 / seconds:.1f} MB/s", end=", ")
    print(f"{hits:,} places found, {memory:,.0f} MB of memory at most")


if __name__ == "__main__":
    main()
