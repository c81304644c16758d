"""The rows of a task in a release: which file is which subject's, and what the paper has else."""

import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

from ..catalogue import Subject, TaskDefinition
from ..errors import DataCorrupt, DataNotFound
from ..setup import Setup
from .folders import DataFolder
from .layouts import Split, find_splits
from .releases import HubDataset
from .stems import match_stems, words
from .tables import Record, Table, UnreadableRow, read_table

_log = logging.getLogger("hkcanto")

_BAD_SHARE = 0.01
"""The share of a task's rows that may be unreadable; with more, it is not the release."""

_FEW_ROWS = 10
"""By how many rows a subject may differ from the paper's table where the total is right."""

_SUBJECT_COLUMNS = ("subject", "subject_name", "subject_en", "科目", "task", "topic", "category")


@dataclass(frozen=True)
class Differences:
    """What a folder has other than the published release, for one task.

    Attributes:
        asked: The number of subjects asked for.
        missing: Those of them that have no file.
        extra: Test files that are no subject's, by what they are called.
        counts: Subject → its rows and the published number, where these differ.
        total: Whether there are as many rows as published in all.
        guessed: What a file is called → its subject, where that is another name.
        bad: The rows set aside.
    """

    asked: int
    missing: Sequence[str] = ()
    extra: Sequence[str] = ()
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    total: bool = True
    guessed: Mapping[str, str] = field(default_factory=dict)
    bad: Sequence[UnreadableRow] = ()

    @property
    def matter(self) -> bool:
        """Whether scores are not comparable with published ones."""
        small = all(abs(rows - published) <= _FEW_ROWS for rows, published in self.counts.values())
        return bool(self.missing or (self.counts and not (self.total and small)))

    def summary(self) -> str:
        """Say all of it in one line."""
        parts = [
            f"{len(self.missing)} of {self.asked} subjects are missing" * bool(self.missing),
            f"{len(self.extra)} files are no known subject's" * bool(self.extra),
            f"{len(self.counts)} have another number of questions" * bool(self.counts),
            f"{len(self.bad)} unreadable rows were set aside" * bool(self.bad),
        ]
        return ", ".join(filter(None, parts))

    def lines(self) -> Iterator[str]:
        """Say each of them, in lines that can be long."""
        if self.missing:
            yield f"missing subjects: {', '.join(self.missing)}"
        if self.extra:
            yield f"files of no known subject: {', '.join(self.extra)}"
        if self.counts:
            counted = (f"{name} {n} (paper: {of})" for name, (n, of) in self.counts.items())
            total = " (the total is as published)" if self.total else ""
            yield f"other numbers of questions{total}: {', '.join(counted)}"
        if self.guessed:
            taken = (f"{stem} as {subject}" for stem, subject in self.guessed.items())
            yield f"taken by their words or numbers: {', '.join(taken)}"
        if self.bad:
            yield f"rows set aside: {'; '.join(f'{row.where}: {row.what}' for row in self.bad)}"


class ReleaseRows:
    """The rows of a task's subjects, in whatever layout a folder has them.

    Args:
        folder: Where the data is; downloaded if need be.
        setup: What reads a row.

    Attributes:
        rows: Subject → its scored rows, for the subjects that the data has.
        tests: The files that these are in, as paths in the folder.
        differences: What is other than in the published release.

    Raises:
        DataCorrupt: A file is not what it should be, or too many of its rows are not.
        DataNotFound: Some subjects have no file, and some files are no known subject's.
        NetworkUnavailable: A download is needed and cannot be had.
    """

    def __init__(self, folder: DataFolder, setup: Setup) -> None:
        self._folder, self._setup = folder, setup
        self._tables: dict[Split, Table] = {}
        task = setup.task
        if folder.kind == "cache":
            # A hub data set's file names are known only after it has been fetched.
            hub = isinstance(task.benchmark.release, HubDataset)
            folder.fetch(None if hub else _first_paths(task.definition, task.subjects))
        self._splits, extra, guessed = self._assigned()
        self.rows: dict[str, list[Any]] = {}
        bad: dict[str, UnreadableRow] = {}
        for subject in task.subjects:
            if split := self._splits.get(subject.name, {}).get("test"):
                rows, unreadable = self._read(split)
                if not split.column:
                    self._tables.clear()  # the rows say all of it
                bad |= {row.where: row for row in unreadable}
                if rows:
                    self.rows[subject.name] = rows[task.definition.examples_from_test :]
        self.tests = _distinct(
            file for name in self.rows for file in self._splits[name]["test"].files
        )
        self._refuse_too_many([*bad.values()])
        self.differences = self._compared(extra, guessed, [*bad.values()])
        self._tables.clear()

    def examples(self, subject: Subject) -> list[Any]:
        """Return the rows of a subject that are its worked examples; none without a dev file.

        Raises:
            DataCorrupt: The file is not what it should be, or one of its rows is not.
        """
        entry, splits = self._setup.task.definition, self._splits.get(subject.name, {})
        if count := entry.examples_from_test:
            return self._read(splits["test"])[0][:count]
        if "dev" not in splits:
            return []
        rows, bad = self._read(splits["dev"])
        if bad:
            raise bad[0]
        return rows[: entry.dev_rows]

    # ------------------------------------------------------------------ whose is it

    def _assigned(self) -> tuple[dict[str, dict[str, Split]], list[str], dict[str, str]]:
        """Return subject → split → where it is; stems of no subject; stems matched by a guess."""
        task = self._setup.task
        entry, files = task.definition, self._folder.files()
        if entry.files:
            among = entry.subjects
            others = self._known(task.benchmark.tasks) - self._known([entry])
            splits = [
                split for split in _declared(files, entry) if self._words(split.stem) not in others
            ]
        else:
            splits = [*find_splits(self._folder.root, tuple(files))]
            found_alike = (each for each in task.benchmark.tasks if not each.files)
            among = tuple(subject for each in found_alike for subject in each.subjects)
        whose = self._match(splits, among)
        loose = [split for split in splits if split.stem not in whose and self._fits(split)]
        parts = [part for split in loose for part in self._by_column(split)]
        named = self._match(parts, among)
        divided = {part.files for part in parts if part.stem in named}
        parts = [part for part in parts if part.files in divided]
        whose |= named
        found: dict[str, dict[str, Split]] = {}
        for split in (*parts, *splits):  # a file of its own wins over rows among others'
            if (subject := whose.get(split.stem)) in entry.subjects:
                found.setdefault(subject.name, {})[split.name] = split
        if len(entry.subjects) == 1 and not found:
            nameless = {split.name: split for split in loose if not self._words(split.stem)}
            found = {entry.subjects[0].name: nameless} if "test" in nameless else {}
        known = {self._words(stem) for stem in entry.extra_stems}
        extra = _distinct(
            split.stem
            for split in (*parts, *(each for each in loose if each.files not in divided))
            if split.name == "test"
            and split.stem not in whose
            and self._words(split.stem) not in {(), *known}
        )
        missing = [each for each in task.subjects if "test" not in found.get(each.name, {})]
        if extra and missing:
            raise self._unmatched(missing, extra)
        guessed = {
            stem: subject.name
            for stem, subject in whose.items()
            if self._words(stem) not in map(self._words, (subject.stem, *subject.aliases))
            and subject in entry.subjects
        }
        return found, extra, guessed

    def _match(self, splits: Sequence[Split], among: Sequence[Subject]) -> dict[str, Subject]:
        tests = {split.stem: split for split in splits if split.name == "test"}

        @cache
        def rows(stem: str) -> int:
            split = tests.get(stem)
            try:
                return len(self._records(split)) if split and self._fits(split) else -1
            except DataCorrupt:
                return -1

        return match_stems({split.stem for split in splits}, among, self._folder.name, rows)

    def _known(self, entries: Sequence[TaskDefinition]) -> set[tuple[str, ...]]:
        subjects = (subject for entry in entries for subject in entry.subjects)
        return {self._words(name) for each in subjects for name in (each.stem, *each.aliases)}

    def _words(self, stem: str) -> tuple[str, ...]:
        return words(stem, self._folder.name)

    def _fits(self, split: Split) -> bool:
        """Whether it looks as the kind's rows do; what cannot be read at all may be anything."""
        if self._setup.task.definition.files:
            return True
        try:
            records = self._records(split)[:3]
            return any(not isinstance(row, UnreadableRow) for row in self._setup.rows(records))
        except DataCorrupt:
            return True

    def _by_column(self, split: Split) -> Iterator[Split]:
        """Divide the rows of a file by the subjects that a column of it names."""
        entry = self._setup.task.definition
        declared = self._setup.columns("subject") if "subject" in entry.columns else ()
        records = self._records(split)
        for column in declared or _SUBJECT_COLUMNS:
            named = {self._words(cell): cell for each in records if (cell := _cell(each, column))}
            if named:
                yield from (replace(split, stem=cell, column=column) for cell in named.values())
                return

    def _unmatched(self, missing: Sequence[Subject], extra: Sequence[str]) -> DataNotFound:
        subjects = [subject.name or subject.stem for subject in missing]
        return DataNotFound(
            f"{self._setup.task.name}: in {self._folder.root}, {len(subjects)} subjects have no "
            f"file, and {len(extra)} files are of no known subject.\n"
            f"  subjects: {', '.join(subjects)}\n  files: {', '.join(extra)}\n"
            f"Say which is which: HKCANTO_ALIASES='{extra[0]}={subjects[0]},…', or the path of a "
            "file with such lines."
        )

    # ------------------------------------------------------------------ what is in it

    def _table(self, split: Split) -> Table:
        key = replace(split, stem="", column="")
        if key not in self._tables:
            header = () if self._setup.task.definition.header else self._setup.headerless
            whole = Table([], [])
            for file in split.files:
                table = read_table(self._folder.root / file, header, split.delimiter)
                first = len(whole.records) + len(whole.bad)
                whole.records.extend(
                    replace(each, number=first + each.number) if first else each
                    for each in table.records
                )
                whole.bad.extend(table.bad)
            self._tables[key] = whole
        return self._tables[key]

    def _records(self, split: Split) -> list[Record]:
        records = self._table(split).records
        if not split.column:
            return records
        asked = self._words(split.stem)
        return [each for each in records if self._words(_cell(each, split.column)) == asked]

    def _read(self, split: Split) -> tuple[list[Any], list[UnreadableRow]]:
        """Return the rows, and those set aside."""
        read = self._setup.rows(self._records(split), self._every_record)
        rows = [row for row in read if not isinstance(row, UnreadableRow)]
        bad = [*self._table(split).bad, *(row for row in read if isinstance(row, UnreadableRow))]
        if bad and self._folder.kind in ("sample", "own"):
            raise bad[0]
        if len(bad) > len(rows):
            raise DataCorrupt(
                f"{', '.join(split.files)} in {self._folder.root}: {len(bad)} of "
                f"{len(bad) + len(rows)} rows cannot be read. The first: {bad[0]}"
            ) from bad[0]
        self._setup.check(rows, str(self._folder.root / split.files[0]))
        return rows, bad

    def _every_record(self) -> list[Record]:
        """Return the rows of all subjects, for what the file of one leaves open."""
        splits = (split for each in self._splits.values() for split in each.values())
        return [record for split in splits for record in self._records(split)]

    def _refuse_too_many(self, bad: Sequence[UnreadableRow]) -> None:
        total = len(bad) + sum(map(len, self.rows.values()))
        if len(bad) > ceil(_BAD_SHARE * total):
            named = "\n".join(f"  {row.where}: {row.what}" for row in bad[:5])
            raise DataCorrupt(
                f"{self._setup.task.name}: {len(bad)} of {total} rows cannot be read, more than "
                f"{_BAD_SHARE:.0%}:\n{named}\nCorrect them, or fetch the data again."
            )

    def _compared(
        self, extra: Sequence[str], guessed: Mapping[str, str], bad: Sequence[UnreadableRow]
    ) -> Differences:
        task = self._setup.task
        if self._folder.kind in ("sample", "own"):
            return Differences(len(task.subjects))
        skipped = task.definition.examples_from_test
        files = {name: self._splits[name]["test"].files for name in self.rows}
        counts = {
            subject: len(self.rows[subject.name])
            + skipped
            + sum(row.where.startswith(_places(self._folder, files[subject.name])) for row in bad)
            for subject in task.subjects
            if subject.name in self.rows
        }
        published = sum(subject.rows for subject in task.subjects)
        return Differences(
            len(task.subjects),
            [subject.name for subject in task.subjects if subject not in counts],
            extra,
            {
                subject.name or subject.title: (count, subject.rows)
                for subject, count in counts.items()
                if subject.rows and count != subject.rows
            },
            sum(counts.values()) == published,
            guessed,
            bad,
        )


def _cell(record: Record, column: str) -> str:
    return str(record.cells.get(column) or "").strip()


def _places(folder: DataFolder, files: Collection[str]) -> tuple[str, ...]:
    return tuple(f"{folder.root / file}, " for file in files)


def _distinct(names: Any) -> list[str]:
    return list(dict.fromkeys(names))


def _declared(files: Sequence[str], entry: TaskDefinition) -> Iterator[Split]:
    """Find the splits by the paths that the catalogue declares."""
    for name in entry.files:
        found = {}
        for pattern in reversed(entry.paths(name, "{stem}")):
            before, has_stem, after = pattern.partition("{stem}")
            stem = "([^/]+?)" if has_stem else "()"
            # A hub data set may have the release in a folder of its own.
            wanted = re.compile(rf"(?:.*/)?{re.escape(before)}{stem}{re.escape(after)}")
            for file in files:
                if match := wanted.fullmatch(file):
                    found[match[1]] = Split(match[1], name, (file,))
        yield from found.values()


def _first_paths(entry: TaskDefinition, subjects: Sequence[Subject]) -> list[str]:
    paths = (entry.paths(split, each.stem)[0] for each in subjects for split in entry.files)
    return _distinct(paths)  # one file may be several subjects'


@cache  # Said once, however many conditions of the task run.
def report(summary: str, matter: bool, root: Path, task: str, benchmark: str) -> None:
    """Warn of differences from the release.

    Args:
        summary: The differences; nothing is said without any.
        matter: Whether they make scores incomparable.
        root: The folder.
        task: The task's name.
        benchmark: Its benchmark's.
    """
    if summary:
        _log.warning(
            "%s: %s, in %s%s. `hkcanto doctor %s` lists them.",
            task,
            summary,
            root,
            ": not comparable with published scores" if matter else "",
            benchmark,
        )
