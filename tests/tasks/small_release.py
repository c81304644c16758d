"""A small stand-in for HKCanto-Eval's multiple choice: every subject, made-up questions."""

import csv
import zlib
from pathlib import Path

from hkcanto_tasks.catalogue import find_benchmark
from hkcanto_tasks.declarations import TaskDefinition

DEV_ROWS = 5
_POOLED = ("hkcanto_dse", "hkcanto_professional", "hkcanto_law")


def write_hkeval2025(data_dir: Path) -> None:
    """Write a complete release: no subject is missing.

    Tasks whose questions Table 1 pools have the published numbers. The other subjects have few
    questions, in different numbers.
    """
    for entry in find_benchmark("hkcanto").tasks:
        if entry.kind == "multiple_choice":
            for place, subject in enumerate(entry.subjects, start=len(entry.name)):
                rows = subject.rows if entry.name.startswith(_POOLED) else 1 + place % 5
                for split, count in (("dev", DEV_ROWS), ("test", rows)):
                    (declared,) = entry.paths[split]
                    path = data_dir / "hkeval2025" / declared.format(stem=subject.stem)
                    _write(path, entry, count)


def _write(path: Path, entry: TaskDefinition, count: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        for number in range(count):
            question = f"{path.stem} {number}, 邊個啱?"
            answer = entry.letters[zlib.crc32(question.encode()) % len(entry.letters)]
            options = [f"{question} {letter}" for letter in entry.letters]
            csv.writer(file).writerow([question, *options, answer])
