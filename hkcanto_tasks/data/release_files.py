"""Find and read a task's rows in a folder, and compare them with the published release."""

import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import groupby, product
from math import ceil
from pathlib import Path
from typing import Any

import msgspec

from hkcanto_metrics.script import is_han

from ..catalogue import Subject
from ..cells import read_rows, with_nested
from ..errors import DataCorrupt, DataNotFound
from ..samples import Sample
from ..setup import Setup
from .declared import declared_splits, wanted
from .fetch import DataFolder
from .layouts import SPLITS, Split, find_splits, named_splits, shards_expected
from .releases import HubDataset
from .scripts import TITLES, script_in_text, script_named, script_of
from .stems import match_stems, names, words
from .tables import (
    Record,
    Table,
    UnreadableRow,
    container,
    read_lines,
    read_table,
    table_ending,
    with_members,
)

_log = logging.getLogger("hkcanto")

_BAD_SHARE = 0.01
"""The share of a task's rows that may be unreadable; a file with more is not the release."""

_ODD_SHARE = 0.1
"""The share of a file's rows that may be odd: 6 of 424 in HKMMLU's law are in Simplified script,
78 of 1,534 in MMLU's have broken quotation marks, 2 of 125 on insurance contradict each other."""

_ENOUGH = 10
"""Files with fewer rows may have no Chinese row, or rows that are all the same."""

_DAMAGED = re.compile("[\ufffd\x80-\x84\x86-\x9f]")

_FEW_ROWS = 10
"""The number of rows by which a subject may differ from the paper's table if the total is right."""

_SUBJECT_COLUMNS = (
    *("subject", "subject_name", "subject_en", "科目", "學科", "学科", "subset", "config"),
    *("task", "topic", "category", "domain"),
)
_OF_SUBJECT = 6  # the first six of these columns only ever name a subject
_MOST_SUBJECTS = 500
_LONGEST_SCRIPT = 30  # characters of a script's name in a cell

# A shard with a name unlike the others of its set: more rows of its subject are in other files.
_PART = re.compile(r"(?:^|[\W_])(?:part|shard|chunk)[\W_]?\d|\d-of-\d", re.IGNORECASE)

# Folders and files with the answers of models.
_OF_A_MODEL = ("model", "model_name", "model_id")
_OF_MODELS = re.compile(
    r"(?:^|[/_.\W])(baselines?|pred(?:iction)?s?|outputs?|results?|responses?|generations?"
    r"|completions?|submissions?|model_answers?"
    r"|(?:gpt|claude|llama|qwen|gemini|deepseek|mistral)[\w.-]*)(?=[/_.\W]|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Differences:
    """How a folder differs from the published release, for one task.

    Attributes:
        asked: The number of requested subjects.
        missing: Requested subjects without a file.
        extra: Names of test files that belong to no subject.
        counts: Subject → its number of rows and the published number, if these differ.
        total: Whether the total number of rows is as published.
        guessed: Name of a file → its subject, if the names differ.
        bad: The rows set aside.
        unshown: Columns that look like context but are not in the prompt.
        alone: The release's name for its only split, if that is taken as the test split.
    """

    asked: int
    missing: Sequence[str] = ()
    extra: Sequence[str] = ()
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    total: bool = True
    guessed: Mapping[str, str] = field(default_factory=dict)
    bad: Sequence[UnreadableRow] = ()
    unshown: Sequence[str] = ()
    alone: Sequence[str] = ()

    @property
    def breaks_comparability(self) -> bool:
        """Whether scores are not comparable with published ones."""
        small = all(abs(rows - published) <= _FEW_ROWS for rows, published in self.counts.values())
        return bool(self.missing or (self.counts and not (self.total and small)))

    def summary(self) -> str:
        """Sum up all differences in one line."""
        parts = [
            f"{len(self.missing)} of {self.asked} subjects are missing" * bool(self.missing),
            f"{len(self.extra)} files belong to no known subject" * bool(self.extra),
            f"{len(self.counts)} have another number of items" * bool(self.counts),
            f"{len(self.bad)} unreadable rows were set aside" * bool(self.bad),
            unshown(self.unshown),
            *self._taken(),
        ]
        return ", ".join(filter(None, parts))

    def lines(self) -> Iterator[str]:
        """List the differences, one a line; lines can be long."""
        if self.missing:
            yield f"missing subjects: {', '.join(self.missing)}"
        if self.extra:
            yield f"files that belong to no known subject: {', '.join(self.extra)}"
        if self.counts:
            counted = (f"{name} {n} (paper: {of})" for name, (n, of) in self.counts.items())
            total = " (the total is as published)" if self.total else ""
            yield f"other numbers of items{total}: {', '.join(counted)}"
        if self.guessed:
            taken = (f"{stem} as {subject}" for stem, subject in self.guessed.items())
            yield f"matched by words or numbers of rows: {', '.join(taken)}"
        if self.bad:
            yield f"rows set aside: {'; '.join(f'{row.where}: {row.what}' for row in self.bad)}"
        if self.unshown:
            yield unshown(self.unshown)
        yield from self._taken()

    def _taken(self) -> Iterator[str]:
        for name in self.alone:
            yield (
                f"the only split, {name!r}, was taken as the test split: if it is, declare splits "
                f'= {{ test = "{name}" }}'
            )


def unshown(columns: Sequence[str]) -> str:
    """Warn of columns that look like context but are not in the prompt; else an empty text.

    Examples:
        >>> unshown(["passage"])
        'the prompt lacks columns that look like context: name them in the template, {passage}'
    """
    named = ", ".join(f"{{{each}}}" for each in columns)
    what = f"the prompt lacks columns that look like context: name them in the template, {named}"
    return what if columns else ""


class ReleaseRows:
    """The rows of a task's subjects, read from a folder of any supported layout.

    Args:
        folder: The data, which is downloaded if necessary.
        setup: The setup that reads the rows.

    Attributes:
        rows: Subject → its scored rows, for the subjects in the data.
        tests: The files with these rows, as paths in the folder.
        differences: How the data differs from the published release.

    Raises:
        DataCorrupt: A file, or too many of its rows, are not valid data.
        DataNotFound: Some subjects have no file while some files belong to no known subject.
        NetworkUnavailable: A download is needed, and fails or is forbidden.
    """

    def __init__(self, folder: DataFolder, setup: Setup) -> None:
        self._folder, self._setup = folder, setup
        self._tables: dict[Split, Table] = {}
        self._taken: dict[tuple[str, str], Split] = {}
        self._scripts: dict[Split, str] = {}
        self._unshown: dict[str, None] = {}
        task = setup.task
        if folder.kind == "cache":
            # A hub data set's file names are known only after it has been fetched.
            hub = isinstance(task.benchmark.release, HubDataset)
            folder.fetch(None if hub else wanted(folder.recorded, task.definition, task.subjects))
        self._splits, extra, guessed = self._assigned()
        self.rows: dict[str, list[Any]] = {}
        bad: dict[str, UnreadableRow] = {}
        for subject in task.subjects:
            if split := self._chosen(subject, "test"):
                rows, unreadable = self._read(split)
                if not split.column:
                    self._tables.clear()  # from here on, only the rows are needed
                bad |= {row.where: row for row in unreadable}
                if rows:
                    self.rows[subject.name] = rows[task.definition.examples_from_test :]
        self.tests = _distinct(
            container(file) for name in self.rows for file in self._taken[name, "test"].files
        )
        self._refuse_too_many([*bad.values()])
        self.differences = self._compared(extra, guessed, [*bad.values()])
        self._tables.clear()

    def examples(self, subject: Subject) -> list[Any]:
        """Return the rows of a subject's worked examples; none without a dev file.

        Raises:
            DataCorrupt: The file or one of its rows is not valid data.
        """
        entry = self._setup.task.definition
        if count := entry.examples_from_test:
            return self._read(self._taken[subject.name, "test"])[0][:count]
        if not (split := self._chosen(subject, "dev")):
            return []
        rows, bad = self._read(split)
        if bad:
            raise bad[0]
        return rows[: entry.dev_rows]

    def is_own_script(self, subject: Subject, name: str = "test") -> bool:
        """Return whether a split of a subject is already in Simplified script, as requested."""
        split = self._chosen(subject, name) if self._wanted == "sc" else None
        return split is not None and self._script(split) == "sc"

    # ------------------------------------------------------------------ matching files to subjects

    def _assigned(self) -> tuple[dict[str, dict[str, list[Split]]], list[str], dict[str, str]]:
        """Return subject → split → possible locations; stems without a subject; guessed stems."""
        task, known = self._setup.task, self._known
        entry, files = task.definition, with_members(self._folder.root, self._folder.files())
        if entry.files:
            others = self._named(each for of in task.benchmark.tasks for each in of.subjects)
            declared = declared_splits(files, entry)
            splits = [each for each in declared if self._words(each.stem) not in others - known]
        elif entry.is_located:
            one = not any(each.name for each in entry.subjects)
            splits = named_splits(self._folder.root, entry.config, entry.splits, one=one)
        else:
            splits = [*find_splits(self._folder.root, tuple(files))]
        splits = [self._without_script(split) for split in splits]
        whose = self._match(splits)
        loose = [split for split in splits if split.stem not in whose and self._fits(split)]
        whole = [split for split in loose if not self._is_part(split)]
        parts = [part for split in whole for part in self._by_column(split)]
        named = self._match(parts)
        divided = {part.files for part in parts if part.stem in named}
        parts = [part for part in parts if part.files in divided]
        whose |= named
        if len(entry.subjects) == 1 and entry.subjects[0] not in whose.values():
            nameless = (split.stem for split in loose if not self._words(split.stem))
            whose |= dict.fromkeys(nameless, entry.subjects[0])
        found: dict[str, dict[str, dict[Split, Split]]] = {}
        for split in (*splits, *parts):
            if (subject := whose.get(split.stem)) in entry.subjects:
                places = found.setdefault(subject.name, {}).setdefault(split.name, {})
                key = replace(split, stem="", values=()) if split.column else split
                also = places[key].values if key in places else ()  # a name with two spellings
                places[key] = replace(split, values=(*also, *split.values))
        silent = {(), *map(self._words, entry.extra_stems)}
        extra = _distinct(
            split.stem
            for split in (*parts, *(each for each in loose if each.files not in divided))
            if split.name == "test"
            and split.stem not in whose
            and self._words(split.stem) not in silent
        )
        missing = [
            each.name or each.stem
            for each in task.subjects
            if "test" not in found.get(each.name, {})
        ]
        if extra and missing:
            raise DataNotFound(
                f"{task.name}: in {self._folder.root}, {len(missing)} subjects have no file, and "
                f"{len(extra)} files belong to no known subject.\n"
                f"  subjects: {', '.join(missing)}\n  files: {', '.join(extra)}\n"
                f"Match them: HKCANTO_ALIASES='{extra[0]}={missing[0]},…', or the path of a file "
                "with such lines."
            )
        guessed = {
            stem: subject.name
            for stem, subject in whose.items()
            if self._words(stem) not in map(self._words, ("", subject.stem, *subject.aliases))
            and subject in entry.subjects
        }
        every = {
            name: {split: [*places.values()] for split, places in splits.items()}
            for name, splits in found.items()
        }
        return every, extra, guessed

    @cached_property
    def _among(self) -> Sequence[Subject]:
        """The subjects that files may belong to: the task's, or all tasks' without paths."""
        task = self._setup.task
        alike = [each for each in task.benchmark.tasks if not each.is_located]
        entries = [task.definition] if task.definition.is_located else alike
        return [subject for entry in entries for subject in entry.subjects]

    def _named(self, subjects: Iterable[Subject]) -> set[tuple[str, ...]]:
        return {name for each in subjects for name in names(each, self._folder.name)}

    @cached_property
    def _known(self) -> set[tuple[str, ...]]:
        return self._named(self._among)

    def _match(self, splits: Sequence[Split]) -> dict[str, Subject]:
        tests = {split.stem: split for split in reversed(splits) if split.name == "test"}

        @cache
        def rows(stem: str) -> int:
            split = tests.get(stem)
            try:
                return len(self._records(split)) if split and self._fits(split) else -1
            except DataCorrupt:
                return -1

        stems = {each.stem for each in splits if not self._is_part(each)}
        return match_stems(stems, self._among, self._folder.name, rows)

    def _is_part(self, split: Split) -> bool:
        """Return whether a split's name is that of one shard of several."""
        return bool(_PART.search(split.stem)) and self._words(split.stem) not in self._known

    def _words(self, stem: str) -> tuple[str, ...]:
        return words(stem, self._folder.name)

    def _fits(self, split: Split) -> bool:
        """Return whether a split looks like the kind's rows; an unreadable one might."""
        if self._setup.task.definition.is_located:
            return True
        try:
            records = self._records(split)[:3]
            return any(not isinstance(row, UnreadableRow) for row in self._setup.rows(records))
        except DataCorrupt:
            return True

    def _without_script(self, split: Split) -> Split:
        """Remove the script from a stem, unless the catalogue has a stem with the script."""
        rest, script = script_named(split.stem)
        extra = map(self._words, self._setup.task.definition.extra_stems)
        if not script or self._words(split.stem) in {*self._known, *extra}:
            return split
        return replace(split, stem=rest, script=script if script != "zh" else split.script or "zh")

    def _refuse_others(self, split: Split, subject: Subject) -> None:
        """Refuse a file named after one subject if one of its columns names others."""
        declared = "subject" in self._setup.task.definition.columns
        columns = self._setup.columns("subject") if declared else _SUBJECT_COLUMNS[:_OF_SUBJECT]
        others = self._known - names(subject, self._folder.name)
        records = [] if split.column else self._records(split)
        for column, record in product(columns, records):
            if column in record.cells and self._words(cell := _cell(record, column)) in others:
                raise DataCorrupt(
                    f"{record.where} belongs to {cell!r} by its column {column!r}, but the file's "
                    f"name is that of {subject.name or subject.title!r}. Correct the wrong one."
                )

    def _by_column(self, split: Split) -> Iterator[Split]:
        """Divide the rows of a file by the subjects that a column names."""
        entry, known = self._setup.task.definition, self._known
        declared = self._setup.columns("subject") if "subject" in entry.columns else ()
        records = self._records(split)
        found: dict[str, dict[tuple[str, ...], str]] = {}
        for column in declared or dict.fromkeys(name for each in records for name in each.cells):
            cells = {cell for each in records if (cell := _cell(each, column))}
            if len(cells) <= _MOST_SUBJECTS:
                found[column] = {self._words(script_named(cell)[0]): cell for cell in sorted(cells)}
                found[column] |= {
                    self._words(cell): cell for cell in sorted(cells) if self._words(cell) in known
                }
        usual = [column for column in (declared or _SUBJECT_COLUMNS) if found.get(column)]
        others = [name for name, named in found.items() if name not in usual and len(named) > 1]
        hits = {name: len(known & found[name].keys()) for name in (*usual, *others)}
        others = [name for name in others if 1 < hits[name] >= len(found[name]) / 2]
        if best := max(
            (*usual, *others), key=lambda name: (hits[name], len(found[name]) > 1), default=""
        ):
            for cell in {_cell(each, best): None for each in records if _cell(each, best)}:
                part = replace(split, stem=cell, column=best, values=(cell,))
                yield self._without_script(part)

    # ------------------------------------------------------------------ reading files

    def _table(self, split: Split) -> Table:
        key = Split("", "", split.files, split.delimiter, lines=split.lines)
        if key not in self._tables:
            self._tables[key] = self._read_lines(split) if split.lines else self._whole(split)
        return self._tables[key]

    def _read_lines(self, split: Split) -> Table:
        files = zip(split.lines, split.files, strict=True)
        return read_lines({name: self._folder.root / file for name, file in files})

    def _whole(self, split: Split) -> Table:
        task = self._setup.task.definition
        header = () if task.header else self._setup.headerless
        whole, seen = Table([], []), set[str]()
        if expected := shards_expected(split.files):
            raise DataNotFound(
                f"{self._folder.root} has {len(split.files)} of the {expected} parts of "
                f"{split.files[0]}; one is missing or occurs twice: "
                f"{', '.join(split.files)}. Fetch them again."
            )
        for file in split.files:
            path = self._folder.root / file
            delimiter = task.delimiter or split.delimiter
            table = read_table(path, header, delimiter, quotes=task.quotes, rows=task.rows)
            self._drop_second_header(table)
            own = {str(each.cells) for each in table.records if len(split.files) > 1}
            if len(own & seen) > max(1, _ODD_SHARE * len(own)):
                raise DataCorrupt(
                    f"{self._folder.root / file}: {len(own & seen)} of its {len(own)} rows are "
                    "also in another part of the same set. Fetch its parts again."
                )
            seen |= own
            first = len(whole.records) + len(whole.bad)
            paths = self._setup.nested
            records = with_nested(table.records, paths) if paths else table.records
            whole.records.extend(
                replace(each, number=first + each.number) if first else each for each in records
            )
            whole.bad.extend(table.bad)
        return whole

    def _drop_second_header(self, table: Table) -> None:
        """Remove a first row that names the columns again, perhaps in another language."""
        known = {name.lower() for names in self._setup.COLUMNS.values() for name in names}
        for record in table.records[:1]:
            cells = {name: _cell(record, name).lower() for name in record.cells}
            if len({each for each in cells.values() if len(each) > 1} & known) > 1:
                if any(cell in cells and cell != name for name, cell in cells.items()):
                    raise DataCorrupt(
                        f"{record.where} names the columns in another order than they are read in:"
                        f" {', '.join(cells)}: declare header = true, or remove that row."
                    )
                del table.records[0]

    def _records(self, split: Split) -> list[Record]:
        records = self._table(split).records
        if split.written[0]:
            column, cell = split.written
            records = [each for each in records if _cell(each, column) == cell]
        if split.column:
            records = [each for each in records if _cell(each, split.column) in split.values]
        column, roles = self._roles(split)
        return (
            [each for each in records if roles.get(_cell(each, column)) == split.name]
            if len({*roles.values()}) > 1
            else records
        )

    def _roles(self, split: Split) -> tuple[str, dict[str, str]]:
        """Return the column that names the splits of a file's rows, and the split of each value."""
        records = self._table(split).records
        for column in records[0].cells if records else ():
            if column != "split" and _cell(records[0], column).lower() not in SPLITS:
                continue
            cells = {_cell(each, column) for each in records}
            known = {cell: SPLITS[cell.lower()] for cell in cells if cell.lower() in SPLITS}
            if column == "split" and len(known) < len(cells) > 1:
                raise DataCorrupt(
                    f"{self._folder.root}: the column split of {', '.join(split.files)} has "
                    f"{', '.join(sorted(map(repr, cells)))}: name its rows test, dev and so on, or "
                    "rename that column."
                )
            if len({*known.values()}) > 1 and len(known) == len(cells):
                return column, known
            said = re.split(r"[/_.\s-]", split.files[0].lower())
            odd = column == "split" and known and split.name not in known.values()
            if odd and split.name in map(SPLITS.get, said):
                raise DataCorrupt(
                    f"{self._folder.root}: {split.files[0]} is {split.name} by its name, but "
                    f"{', '.join(sorted(known))} by its column split. Correct the wrong one."
                )
        return "", {}

    # ------------------------------------------------------------------ choosing among several

    def _chosen(self, subject: Subject, name: str) -> Split | None:
        """Return the location of a subject's split; None if there is none.

        Raises:
            DataCorrupt: Two locations have different rows, or none is in the requested script.
        """
        if (subject.name, name) not in self._taken:
            places = self._splits.get(subject.name, {})
            found = places.get(name, [])
            if not found and name == "dev":  # a column may mark the example rows
                found = [
                    replace(each, name=name)
                    for each in places.get("test", [])
                    if name in self._roles(each)[1].values()
                ]
            best = min((each.rank for each in found), default=0)
            found = [each for each in found if each.rank == best]
            if found:
                self._taken[subject.name, name] = self._one_of(found, subject, name)
        return self._taken.get((subject.name, name))

    def _one_of(self, found: list[Split], subject: Subject, name: str) -> Split:
        what = " ".join(filter(None, (subject.name or subject.title, name)))
        if wanted := self._wanted:
            found = [part for split in found for part in self._by_script_column(split)]
            scripts: dict[str, list[Split]] = {}
            for split in found:
                script = self._script(split, guess=len(found) > 1)
                scripts.setdefault("" if script == "zh" else script, []).append(split)
            order = {"tc": ("tc", ""), "sc": ("sc", "tc", ""), "en": ("en", "")}[wanted]
            fitting = next((scripts[each] for each in order if each in scripts), [])
            has_both = any(each.script == "sc" for each in self._setup.task.definition.variants)
            named = "sc" in scripts or any(each.script for each in found)
            if not fitting and (len(scripts) > 1 or (has_both and named)):
                there = "; ".join(
                    f"{', '.join(split.files[0] for split in each)} ({TITLES[script]})"
                    for script, each in scripts.items()
                )
                ask = " Run it with script=sc, or add the other." if "sc" in scripts else ""
                raise DataNotFound(
                    f"{self._setup.task.name}: {self._folder.root} has the rows of {what} not in "
                    f"{TITLES[wanted]} script, only {there}.{ask}"
                )
            found = fitting or found
        first, *others = sorted(found, key=lambda each: bool(_OF_MODELS.search(each.files[0])))
        rows = self._content(first) if others else []
        for other in others:
            if self._content(other) != rows:
                raise DataCorrupt(
                    f"{self._setup.task.name}: two files in {self._folder.root} have rows of {what}"
                    f" that differ: {', '.join(first.files)} and {', '.join(other.files)}. Remove "
                    "the one that is not the release's, or move it out of this folder. (Names such "
                    "as tc and sc mark scripts.)"
                )
        self._refuse_outputs(first, what)
        self._refuse_others(first, subject)
        return first

    def _refuse_outputs(self, split: Split, what: str) -> None:
        declared = self._setup.task.definition.is_located
        for file in split.files:
            beside = split.above if declared else file[: -len(table_ending(file)) or None]
            if match := _OF_MODELS.search(beside):
                raise DataCorrupt(
                    f"{self._setup.task.name}: the only rows of {what} in {self._folder.root} are "
                    f"in {file}, but {match[1]!r} in its name means a model's answers. Put the "
                    "release's file there, or rename this one."
                )
        columns = {name for each in self._records(split)[:1] for name in each.cells}
        named = sorted(columns & {*_OF_A_MODEL})
        if named and "answer" not in self._setup.task.definition.columns:
            raise DataCorrupt(
                f"{self._folder.root}: {', '.join(split.files)} has a column {named[0]!r}: its "
                "answers may be a model's. Remove that column, or declare the one of the right "
                'answers: columns = { answer = "…" }.'
            )

    def _by_script_column(self, split: Split) -> Sequence[Split]:
        """Divide a file with rows in two scripts, if a column names the script."""
        records = self._records(split)
        for column in records[0].cells if records else ():
            if script_named(_cell(records[0], column)[:_LONGEST_SCRIPT])[1]:
                cells = {_cell(each, column): None for each in records}
                named = {cell: script_named(cell) for cell in cells}
                if len(named) > 1 and all(not rest and script for rest, script in named.values()):
                    return [
                        replace(split, script=script, written=(column, cell))
                        for cell, (_, script) in named.items()
                    ]
        return [split]

    @property
    def _wanted(self) -> str:
        """The script that the task needs; an empty text if any script will do."""
        options = self._setup.options
        if not hasattr(options, "script"):
            return ""
        return "en" if self._setup.task.definition.language == "en" else str(options.script)

    def _script(self, split: Split, *, guess: bool = True) -> str:
        """Return the script of a split by its name or else its text; refuse a contradiction."""
        if split not in self._scripts:
            told = any(each.script == "sc" for each in self._setup.task.definition.variants)
            if not self._wanted or not (guess or told or split.script in ("sc", "tc")):
                return split.script
            by_file = groupby(self._records(split), lambda each: each.where.rpartition(",")[0])
            texts = [script_in_text([*each]) for _, each in by_file]
            if {"tc", "sc"} <= {*texts}:
                raise DataCorrupt(
                    f"{self._folder.root}: {', '.join(split.files)} are parts of one file, but not "
                    "in the same script. Fetch the data again."
                )
            text = texts[0] if len(texts) == 1 else script_in_text(self._records(split))
            if {text, split.script} == {"tc", "sc"}:
                raise DataCorrupt(
                    f"{self._folder.root / split.files[0]} is called {TITLES[split.script]}, but "
                    f"its text is {TITLES[text]}. Correct its name, or fetch the data again."
                )
            usual = "" if text == "en" and (split.script or not guess) else text
            self._scripts[split] = split.script if split.script not in ("", "zh") else usual
        return self._scripts[split]

    def _content(self, split: Split) -> list[Any]:
        """Return the content of a split's rows, to compare it with another split."""
        return [
            row
            if isinstance(row, UnreadableRow)
            else msgspec.structs.replace(
                row,
                id="",
                reasoning="",
                choices=tuple((each or "").strip() for each in row.choices),
            )
            for row in read_rows(self._setup, self._records(split), self._every_record).rows
        ]

    # ------------------------------------------------------------------ checking the rows

    def _read(self, split: Split) -> tuple[list[Any], list[UnreadableRow]]:
        """Return the readable rows, and those set aside."""
        found = read_rows(self._setup, self._records(split), self._every_record)
        read = found.rows
        self._unshown |= dict.fromkeys(found.unshown)
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
        self._refuse_odd(rows, split)
        return rows, bad

    def _refuse_odd(self, rows: Sequence[Sample], split: Split) -> None:
        """Refuse rows that cannot all be from the release: damaged, repeated, in another script."""
        where = f"{self._folder.root}: {', '.join(split.files)}"
        told = any(each.script == "sc" for each in self._setup.task.definition.variants)
        texts = [row.text for row in rows]
        few = max(1, _ODD_SHARE * len(rows))
        if (damaged := sum(map(bool, map(_DAMAGED.search, texts)))) > few:
            raise DataCorrupt(
                f"{where} has characters that no text contains (U+FFFD, control characters) in "
                f"{damaged} of {len(rows)} rows: it was once read in a wrong encoding. Fetch it "
                "again."
            )
        if (
            told
            and len(rows) >= _ENOUGH
            and not any(map(is_han, "".join(r.question for r in rows)))
        ):
            raise DataCorrupt(
                f"{where} has no Chinese character in any question: it is in another language, or "
                "was once saved in an encoding without Chinese. Fetch it again."
            )
        scripts = Counter(map(script_of, texts if told else ()))
        written = sorted((scripts["tc"], scripts["sc"]))
        odd = written[0] + scripts["both"]
        if odd > max(1, _ODD_SHARE * (odd + written[1])):
            raise DataCorrupt(
                f"{where} has rows in two scripts, by their text: {scripts['tc']} Traditional, "
                f"{scripts['sc']} Simplified, {scripts['both']} with both. Put each script into a "
                "file of its own with the script in its name (tc, sc), or name the script of each "
                "row in a column."
            )
        answers: dict[object, Counter[str]] = {}
        for row in rows if rows and rows[0].choices else ():
            item = row.question, row.choices, tuple(row.cells.items())
            answers.setdefault(item, Counter())[row.target] += 1
        contrary = sum(each.total() for each in answers.values() if len(each) > 1)
        again = sum(each.total() - len(each) for each in answers.values())
        if contrary > max(few, _ENOUGH) or (len(answers) > _ENOUGH and again >= len(rows) / 2):
            what = f"{contrary} rows with other answers" if contrary else f"{again} repeated rows"
            raise DataCorrupt(
                f"{where} asks the same questions several times: {what} of {len(rows)}. Remove "
                "the rows that are not the release's."
            )

    def _every_record(self) -> list[Record]:
        """Return the rows of all subjects, for when one subject's file alone is ambiguous."""
        lists = (each for splits in self._splits.values() for each in splits.values())
        splits = (split for each in lists for split in each)
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
            return Differences(len(task.subjects), unshown=[*self._unshown])
        skipped = task.definition.examples_from_test
        files = {name: self._taken[name, "test"].files for name in self.rows}
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
            [*self._unshown],
            _distinct(alone for name in self.rows if (alone := self._taken[name, "test"].alone)),
        )


def _cell(record: Record, column: str) -> str:
    return str(record.cells.get(column) or "").strip()


def _places(folder: DataFolder, files: Collection[str]) -> tuple[str, ...]:
    return tuple(f"{folder.root / file}, " for file in files)


def _distinct(names: Any) -> list[str]:
    return list(dict.fromkeys(names))


@cache  # logged once, however many conditions of the task run
def report(summary: str, breaks_comparability: bool, root: Path, task: str, benchmark: str) -> None:
    """Warn of differences from the release.

    Args:
        summary: The differences; nothing is logged if it is empty.
        breaks_comparability: Whether they make scores incomparable.
        root: The folder.
        task: The task's name.
        benchmark: Its benchmark's name.
    """
    if summary:
        _log.warning(
            "%s: %s, in %s%s. `hkcanto doctor %s` lists them.",
            task,
            summary,
            root,
            ": not comparable with published scores" if breaks_comparability else "",
            benchmark,
        )
