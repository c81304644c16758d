"""Which file of a release belongs to which subject, and what differs from the published release."""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .catalogue import Benchmark, Subject, TaskEntry, find_benchmark
from .folders import DataFolder
from .kinds import kinds
from .releases import HubDataset

_log = logging.getLogger("hkcanto")

_State = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class ReleaseFiles:
    """The rows of a task's subjects.

    Attributes:
        rows: Subject → split → rows, for the subjects that have a file in every split.
        tests: Subject → path of its test file in the folder.
    """

    rows: Mapping[str, Mapping[str, list[Any]]]
    tests: Mapping[str, str]


def read_release(folder: DataFolder, benchmark: Benchmark, entry: TaskEntry) -> ReleaseFiles:
    """Read all files of a task, downloading them if need be.

    What differs from the published release (subjects that are missing, files that are no subject's,
    other numbers of questions) is logged in one warning; the sample is not expected to be complete.

    Raises:
        DataCorrupt: A file is not what it should be.
        DataNotFound, NetworkUnavailable: A download is needed and cannot be had.
    """
    if folder.kind == "cache":
        # A hub data set's file names are known only after it has been fetched.
        folder.fetch(None if isinstance(benchmark.release, HubDataset) else _first_paths(entry))
    files = _subject_files(folder.files(), entry)
    # A group asks once for each of its subjects; the files are read once, until one changes.
    state = tuple((file, *_changed(folder.root / file)) for file in sorted(_all_paths(files)))
    return _read(
        folder.root, folder.kind in ("sample", "package"), benchmark.name, entry.name, state
    )


@lru_cache(maxsize=8)
def _read(root: Path, is_ours: bool, benchmark: str, task: str, state: _State) -> ReleaseFiles:
    del state
    found = find_benchmark(benchmark)
    entry = next(entry for entry in found.tasks if entry.name == task)
    there = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    files = _subject_files(there, entry)
    kind = kinds()[entry.kind]
    complete = {name: splits for name, splits in files.items() if {"dev", "test"} <= splits.keys()}
    read = {path: kind.read(root / path, entry) for path in dict.fromkeys(_all_paths(complete))}
    rows = {
        name: {split: read[path] for split, path in of_split.items()}
        for name, of_split in complete.items()
    }
    if not is_ours and rows:
        _report(list(_differences(found, entry, there, rows)), root, task)
    return ReleaseFiles(rows, {name: files[name]["test"] for name in rows})


def _subject_files(there: list[str], entry: TaskEntry) -> dict[str, dict[str, str]]:
    """Subject → split → file, by the stem in the file's name."""
    found: dict[str, dict[str, str]] = {}
    by_stem = {stem: subject for subject in entry.subjects for stem in _stems(subject)}
    for split in entry.files:
        for pattern in reversed(entry.paths(split, "{stem}")):
            for file, stem in _matching(there, pattern):
                if subject := by_stem.get(_normalized(stem)):
                    found.setdefault(subject.name, {})[split] = file
    return found


def _matching(there: list[str], pattern: str) -> Iterator[tuple[str, str]]:
    before, _, after = pattern.partition("{stem}")
    # A hub data set may have the release in a folder of its own.
    wanted = re.compile(rf"(?:.*/)?{re.escape(before)}([^/]+?){re.escape(after)}")
    for file in there:
        if match := wanted.fullmatch(file):
            yield file, match[1]


def _stems(subject: Subject) -> set[str]:
    return {_normalized(stem) for stem in (subject.stem, *subject.aliases)}


def _normalized(stem: str) -> str:
    words = re.findall(r"[a-z0-9]+", stem.lower().replace("hong_kong", "hk"))
    return "_".join(word for word in words if word not in ("and", "the", "of"))


def _differences(
    benchmark: Benchmark, entry: TaskEntry, there: list[str], rows: Mapping[str, Any]
) -> Iterator[str]:
    names = {subject.name: subject.title for subject in entry.subjects}
    if missing := [subject.name for subject in entry.subjects if subject.name not in rows]:
        yield (
            f"{len(missing)} of {len(entry.subjects)} subjects are missing: {', '.join(missing)}"
        )
    known = {
        stem for task in benchmark.tasks for subject in task.subjects for stem in _stems(subject)
    } | set(map(_normalized, entry.extra_stems))
    tests = [item for p in entry.paths("test", "{stem}") for item in _matching(there, p)]
    if extra := sorted({stem for _, stem in tests if _normalized(stem) not in known}):
        yield f"{len(extra)} files are no known subject's: {', '.join(extra)}"
    published = {subject.name: subject.rows for subject in entry.subjects}
    counts = {name: len(splits["test"]) for name, splits in rows.items()}
    if other := {name: count for name, count in counts.items() if count != published[name]}:
        listed = ", ".join(
            f"{name or names[name]} {count} (published {published[name]})"
            for name, count in other.items()
        )
        yield f"{len(other)} subjects have another number of questions: {listed}"


def _report(differences: list[str], root: Path, task: str) -> None:
    if differences:
        _log.warning(
            "%s: the data in %s is not the published release. %s. Scores on it are not comparable "
            "with published ones.",
            task,
            root,
            "; ".join(differences),
        )


def _first_paths(entry: TaskEntry) -> list[str]:
    paths = (
        entry.paths(split, subject.stem)[0] for subject in entry.subjects for split in entry.files
    )
    return list(dict.fromkeys(paths))  # one file may be both splits


def _all_paths(files: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [path for of_split in files.values() for path in of_split.values()]


def _changed(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size
