"""Processor time of `load_task`, as a multiple of `csv.DictReader` on the same files.

    HKCANTO_DATA_DIR=… python performance/bench_load.py [REPEATS] [--profile]

All multiple-choice tasks of our benchmarks whose data is there are loaded, by default from the
sample data. Both are measured in turn, so that other work on the machine affects both; the figures
are the best of the repeats. With --profile, it also prints what each step of one load takes, which
the clock itself makes a little slower.
"""

import csv
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring import arguments, seconds

from hkcanto_tasks import load_task, loading, tasks
from hkcanto_tasks.catalogue import benchmarks
from hkcanto_tasks.data import rows
from hkcanto_tasks.errors import DataNotFound

STEPS = (
    (rows, "read_bytes"),
    (rows, "read_table"),
    (loading, "read_samples"),
    (loading, "refuse_odd"),
    (loading, "_refuse_media"),
    (tasks, "stratified"),
)


def names_and_files() -> tuple[list[str], list[Path]]:
    """Return the tasks whose data is there, and the files of their scored rows."""
    names: list[str] = []
    files: dict[Path, None] = {}
    for benchmark in benchmarks():
        for task in benchmark.tasks:
            if task.kind != "multiple_choice":
                continue
            try:
                loaded = load_task(task.name)
            except DataNotFound:
                continue
            names.append(task.name)
            for subject in loaded.task.subjects:
                for file in loaded.release.files(subject, "test"):
                    files[loaded.release.folder.root / file] = None
    return names, [*files]


def load(names: Sequence[str]) -> int:
    """Load the tasks; return the number of items."""
    return sum(len(load_task(name).samples) for name in names)


def read(files: Sequence[Path]) -> int:
    """Read the files into dictionaries; return the number of rows."""
    count = 0
    for file in files:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            count += len([*csv.DictReader(lines)])
    return count


def time_step(owner: Any, name: str, spent: dict[str, float]) -> None:
    """Time a function from now on."""
    function: Callable[..., Any] = getattr(owner, name)

    def timed(*given: Any) -> Any:
        results: list[Any] = []
        took = seconds(lambda: results.append(function(*given)))
        spent[name] = spent.get(name, 0.0) + took
        return results[0]

    setattr(owner, name, timed)


def main() -> None:
    """Measure and print."""
    given = arguments(__doc__, {"repeats": 9}, profile=False)
    if not os.environ.get("HKCANTO_DATA_DIR"):
        os.environ["HKCANTO_DATA"] = "sample"
    warnings.simplefilter("ignore")
    names, files = names_and_files()
    items = load(names)
    loads: list[float] = []
    reads: list[float] = []
    for _ in range(given.repeats):
        loads.append(seconds(load, names))
        reads.append(seconds(read, files))
    print(f"{items:,} items of {len(names)} tasks in {len(files)} files")
    print(f"load_task      {min(loads) * 1e6 / items:6.2f} µs an item")
    print(f"csv.DictReader {min(reads) * 1e6 / items:6.2f} µs an item")
    print(f"ratio          {min(loads) / min(reads):6.2f}")
    if given.profile:
        spent: dict[str, float] = {}
        for owner, name in STEPS:
            time_step(owner, name, spent)
        total = seconds(load, names)
        for name, took in spent.items():
            print(f"  {name:14} {took * 1e6 / items:6.2f} µs an item")
        rest = total - sum(spent.values())
        print(f"  {'other':14} {rest * 1e6 / items:6.2f} µs an item")


if __name__ == "__main__":
    main()
