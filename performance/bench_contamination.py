"""Throughput and memory of `hkcanto contamination`.

    HKCANTO_DATA_DIR=… python performance/bench_contamination.py [FILE]

The file is read once. Target: 1 MB/s on one core.
"""

from pathlib import Path

from measuring import arguments, memory, seconds, timed

from hkcanto_tasks.catalogue import benchmarks
from hkcanto_tasks.results.contamination import Index, items_of, training_texts


def main() -> None:
    """Print seconds, MB/s and MB."""
    file = arguments(__doc__, {"file": Path("README.md")}).file
    tasks = [task.name for benchmark in benchmarks() for task in benchmark.tasks]
    items = timed(
        "loading", lambda: [item for task in tasks for item in items_of(task)[0]]
    )
    index = timed(f"index of {len(items):,} texts", lambda: Index(items))
    hits = 0

    def look() -> None:
        nonlocal hits
        hits += sum(1 for text in training_texts(file) for _ in index.find(text))

    took, size = seconds(look), file.stat().st_size
    print(
        f"{size / 1e6:,.0f} MB in {took:.1f} s: {size / 1e6 / took:.1f} MB/s", end=", "
    )
    print(f"{hits:,} places found, {memory():,.0f} MB of memory at most")


if __name__ == "__main__":
    main()
