"""Which file of a release is which subject's, what is in it, and what differs from the paper."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..catalogue import Benchmark, Subject, TaskEntry
from ..errors import DataCorrupt
from ..kinds import Kind
from .folders import DataFolder
from .releases import HubDataset
from .tables import Record, read_records

_log = logging.getLogger("hkcanto")


@dataclass(frozen=True)
class ReleaseRows:
    """The rows of a task's subjects.

    Attributes:
        rows: Subject → split → rows, for the subjects that the data has.
        tests: The test files, as paths in the folder.
    """

    rows: Mapping[str, Mapping[str, list[Any]]]
    tests: Sequence[str]


def read_release(folder: DataFolder, kind: Kind[Any]) -> ReleaseRows:
    """Read the files of a task's subjects, downloading them if need be.

    What differs from the published release (subjects that are missing, files that are no subject's,
    other numbers of questions) is logged in one warning; the sample is not expected to be complete.

    Raises:
        DataCorrupt: A file is not what it should be.
        DataNotFound, NetworkUnavailable: A download is needed and cannot be had.
    """
    task = kind.task
    benchmark, entry = task.benchmark, task.entry
    if folder.kind == "cache":
        # A hub data set's file names are known only after it has been fetched.
        hub = isinstance(benchmark.release, HubDataset)
        folder.fetch(None if hub else _first_paths(entry, task.subjects))
    there = folder.files()
    files = _subject_files(there, entry)
    rows = {
        subject.name: splits
        for subject in task.subjects
        if "test" in files.get(subject.name, {})
        and (splits := _splits(folder, kind, subject, files[subject.name]))
    }
    if folder.kind not in ("sample", "own") and rows:
        _report("; ".join(_differences(benchmark, kind, there, rows)), str(folder.root), entry.name)
    return ReleaseRows(rows, list(dict.fromkeys(files[name]["test"] for name in rows)))


def _splits(
    folder: DataFolder, kind: Kind[Any], subject: Subject, files: Mapping[str, str]
) -> dict[str, list[Any]]:
    """Return a subject's rows by split; none where a column names other subjects alone."""
    entry = kind.task.entry
    header = () if entry.header else kind.headerless
    found: dict[str, list[Any]] = {}
    for split, file in files.items():
        records = _of_subject(read_records(folder.root / file, header), entry, subject)
        if split == "test" and not records:
            return {}
        found[split] = kind.rows(records)
    if count := entry.examples_from_test:
        found |= {"dev": found["test"][:count], "test": found["test"][count:]}
    found["dev"] = found.get("dev", [])[: entry.dev_rows]
    return found


def _of_subject(records: list[Record], entry: TaskEntry, subject: Subject) -> list[Record]:
    if "subject" not in entry.columns:
        return records
    declared = entry.columns["subject"]
    columns = [name.lower() for name in ((declared,) if isinstance(declared, str) else declared)]
    stems = _stems(subject)
    kept = []
    for record in records:
        named = record.find(columns)
        if not isinstance(named, str):
            raise DataCorrupt(f"{record.where} names no subject in {' or '.join(columns)}.")
        if _normalized(named) in stems:
            kept.append(record)
    return kept


def _subject_files(there: list[str], entry: TaskEntry) -> dict[str, dict[str, str]]:
    """Subject → split → file, by the stem in the file's name; one without a stem is everybody's."""
    found: dict[str, dict[str, str]] = {}
    by_stem = {stem: subject for subject in entry.subjects for stem in _stems(subject)}
    for split in entry.files:
        for pattern in reversed(entry.paths(split, "{stem}")):
            for file, stem in _matching(there, pattern):
                owners = entry.subjects if stem is None else [by_stem.get(_normalized(stem))]
                for subject in filter(None, owners):
                    found.setdefault(subject.name, {})[split] = file
    return found


def _matching(there: list[str], pattern: str) -> Iterator[tuple[str, str | None]]:
    before, has_stem, after = pattern.partition("{stem}")
    stem = "([^/]+?)" if has_stem else "()"
    # A hub data set may have the release in a folder of its own.
    wanted = re.compile(rf"(?:.*/)?{re.escape(before)}{stem}{re.escape(after)}")
    for file in there:
        if match := wanted.fullmatch(file):
            yield file, match[1] if has_stem else None


def _stems(subject: Subject) -> set[str]:
    return {_normalized(stem) for stem in (subject.stem, *subject.aliases)}


def _normalized(stem: str) -> str:
    words = re.findall(r"[a-z0-9]+", stem.lower().replace("hong_kong", "hk"))
    return "_".join(word for word in words if word not in ("and", "the", "of"))


def _differences(
    benchmark: Benchmark, kind: Kind[Any], there: list[str], rows: Mapping[str, Any]
) -> Iterator[str]:
    entry, subjects = kind.task.entry, kind.task.subjects
    if missing := [subject.name for subject in subjects if subject.name not in rows]:
        yield f"{len(missing)} of {len(subjects)} subjects are missing: {', '.join(missing)}"
    if len(subjects) == len(entry.subjects):
        known = {
            stem for task in benchmark.tasks for each in task.subjects for stem in _stems(each)
        } | set(map(_normalized, entry.extra_stems))
        tests = [item for p in entry.paths("test", "{stem}") for item in _matching(there, p)]
        stems = {stem for _, stem in tests if stem}
        if extra := sorted(stem for stem in stems if _normalized(stem) not in known):
            yield f"{len(extra)} files are no known subject's: {', '.join(extra)}"
    counts = {
        subject: len(rows[subject.name]["test"]) + entry.examples_from_test
        for subject in subjects
        if subject.name in rows
    }
    other = [
        f"{subject.name or subject.title} {count} (published {subject.rows})"
        for subject, count in counts.items()
        if subject.rows and count != subject.rows
    ]
    if other:
        yield f"{len(other)} subjects have another number of questions: {', '.join(other)}"


@cache  # Said once, however many conditions of the task run.
def _report(differences: str, root: str, task: str) -> None:
    if differences:
        _log.warning(
            "%s: the data in %s is not the published release. %s. Scores on it are not comparable "
            "with published ones.",
            task,
            root,
            differences,
        )


def _first_paths(entry: TaskEntry, subjects: Sequence[Subject]) -> list[str]:
    paths = (entry.paths(split, each.stem)[0] for each in subjects for split in entry.files)
    return list(dict.fromkeys(paths))  # one file may be several subjects'
