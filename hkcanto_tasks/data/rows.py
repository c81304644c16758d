"""Find a task's files as its benchmark declares them, and read their rows."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from textwrap import shorten
from types import ModuleType
from typing import Any

from ..declarations import Subject, TaskDefinition, TaskVariant
from ..errors import CatalogueError, DataCorrupt, DataNotFound
from .fetch import DataFolder
from .releases import inside
from .tables import Row, Table, as_text, is_file, read_bytes, read_table, table_of


class ReleaseRows:
    """The rows of a task's subjects, read on demand.

    Args:
        folder: The data, which is downloaded if necessary.
        task: The task.
        headerless: The columns of a CSV file without a header row.

    Attributes:
        subject_columns: The columns that name the subject of a row, if a file has several.

    Raises:
        DataNotFound: Some subjects lack a file, and some files match no subject.
        NetworkUnavailable: A download is needed, and fails or is forbidden.
    """

    def __init__(
        self, folder: DataFolder, task: TaskVariant, headerless: Sequence[str]
    ) -> None:
        self.folder, self._task, self._headerless = folder, task, headerless
        self._hashes: dict[str, str] = {}
        self._configurations: dict[str, Mapping[str, Any]] = {}
        self._tables: dict[tuple[str, ...], tuple[Table, dict[str, list[Row]]]] = {}
        definition = task.definition
        every = definition.subjects
        self._name_of = {
            stem: subject.name for subject in every for stem in subject.stems
        }
        names = {
            subject.name for subject in every
        }  # an alias may be another benchmark's
        given = []
        for text in filter(
            str.strip, re.split(r"[,\n]", os.environ.get("HKCANTO_ALIASES", ""))
        ):
            stem, equals, name = map(str.strip, text.partition("="))
            if not equals:
                raise DataNotFound(
                    f"HKCANTO_ALIASES has {text!r}. Write it as stem=subject,…."
                )
            given.append(stem)
            if name in names and self._name_of.setdefault(stem, name) != name:
                why = f"{stem!r} is already the file of {self._name_of[stem]!r} in {task.name}"
                raise DataNotFound(
                    f"HKCANTO_ALIASES: {why}, not of {name!r}. Remove this alias."
                )
        declared = definition.columns.get("subject", ())
        if definition.reader and any(names):
            declared = declared or "subject"
        columns = (declared,) if isinstance(declared, str) else declared
        self.subject_columns = tuple(name.lower() for name in columns)
        recorded = (
            [*folder.recorded] if folder.kind == "cache" and definition.paths else []
        )
        if folder.kind == "cache" and not recorded:
            folder.fetch()
        self._files: dict[tuple[str, str], list[str]] = {}  # split, subject → files
        self._stems: list[str] = []
        there = recorded or folder.files()
        for split, paths in definition.paths.items():
            self._match(split, paths, there)
        others = {
            stem
            for one in task.benchmark.tasks
            for of in one.subjects
            for stem in of.stems
        }
        known = {*given, *self._name_of, *others}
        unmatched = [stem for stem in dict.fromkeys(self._stems) if stem not in known]
        missing = [
            one.name for one in task.subjects if ("test", one.name) not in self._files
        ]
        if missing and unmatched:
            raise DataNotFound(
                f"{task.name}: in {folder.root}, some subjects have no file, and some files belong "
                f"to no known subject.\n  expected: {' or '.join(definition.paths['test'])}\n"
                f"  subjects: {', '.join(missing)}\n  files: {', '.join(unmatched)}\n"
                f"Match them: HKCANTO_ALIASES='{unmatched[0]}={missing[0]},…', or `aliases`."
            )
        if recorded:
            chosen = {subject.name for subject in task.subjects}
            files = (
                files for (_, name), files in self._files.items() if name in chosen
            )
            folder.fetch([*dict.fromkeys(file for named in files for file in named)])

    # ------------------------------------------------------------------ files

    def _match(self, split: str, paths: Iterable[str], files: Iterable[str]) -> None:
        """Find the files of each subject by the declared paths of a split."""
        for path in paths:
            fixed = path.removeprefix("**/")
            pattern = re.escape(fixed).replace(r"\{stem\}", "(?P<stem>[^/]+)", 1)
            fitting = re.compile(pattern if fixed == path else f"(?:.*/)?{pattern}")
            for match in filter(None, map(fitting.fullmatch, files)):
                if stem := match.groupdict().get("stem"):
                    names = [self._name_of[stem]] if stem in self._name_of else []
                    self._stems += [stem] if split == "test" else []
                else:
                    names = [subject.name for subject in self._task.definition.subjects]
                for name in names:
                    self._files.setdefault((split, name), []).append(match[0])

    def files(self, subject: Subject, split: str) -> tuple[str, ...]:
        """Return the files with a subject's rows of a split, as paths in the folder.

        Raises:
            DataCorrupt: There are two, of which only one can be the release's.
        """
        definition = self._task.definition
        if definition.config or definition.splits:
            return self._of_configuration(subject, split)
        files = self._files.get((split, subject.name), ())
        if len(files) > 1:
            rows = (
                f"{split} rows of {subject.name or subject.title}: {', '.join(files)}"
            )
            what = f"{self._task.name}: {self.folder.root} has {len(files)} files for the {rows}"
            raise DataCorrupt(f"{what}. Keep only the release's in this folder.")
        return tuple(files)

    def missing(self) -> DataNotFound:
        """Return the error for data that has none of the subjects."""
        task, there = self._task, ", ".join(self.folder.files()) or "no files"
        paths, stem = task.definition.paths.get("test", ()), task.subjects[0].stem
        expected = " or ".join(path.replace("{stem}", stem) for path in paths)
        lacks = (
            f"{self.folder.root} has no test file of {task.name}; expected {expected}"
        )
        fix = f"Correct `files` in {task.benchmark.home}/benchmark.toml, or write a reader"
        return DataNotFound(
            f"{lacks}. It has {shorten(there, 300, placeholder=' …')}. {fix}."
        )

    def _of_configuration(self, subject: Subject, split: str) -> tuple[str, ...]:
        """Return the files of a hub data set's split, as `datasets` finds them."""
        from datasets import load_dataset_builder

        definition, root = self._task.definition, self.folder.root
        config = definition.config.replace("{stem}", subject.stem)
        name = definition.splits.get(split, "")
        if not name:
            return ()
        place = root / config if config and (root / config).is_dir() else root
        try:
            if config not in self._configurations:
                named = None if place != root else config or None
                builder = load_dataset_builder(str(place), named)
                self._configurations[config] = builder.config.data_files or {}
            data_files = self._configurations[config]
        except Exception as error:  # of whatever kind the library's versions raise
            why = f"`datasets` finds no configuration {config!r} in {root}: {error}"
            raise DataNotFound(
                f"{why}. Correct `config`, or name the files instead."
            ) from error
        if name not in data_files:
            there = ", ".join(map(str, data_files))
            why = f"the data set in {root} has no split {name!r}; there are {there}"
            raise DataNotFound(
                f'{why}. Declare the right one: splits = {{ {split} = "…" }}.'
            )
        return tuple(
            Path(file).relative_to(root).as_posix() for file in data_files[name]
        )

    # ------------------------------------------------------------------ rows

    def read(self, subject: Subject, split: str) -> Table:
        """Return a subject's rows of a split; an empty table if there are none.

        Raises:
            DataCorrupt: A file holds invalid data, or the subject of a row is unknown.
            CatalogueError: The benchmark's reader fails.
        """
        of = self._task.definition
        by_reader = of.reader
        files = () if by_reader else self.files(subject, split)
        key = (split,) if by_reader else files
        if not key:
            return Table([], [])
        if (
            key not in self._tables
        ):  # only the last file is kept: one of several subjects
            table = self._of_reader(split) if by_reader else Table([], [])
            for file in files:
                path, columns = (
                    self.folder.root / file,
                    () if of.header else self._headerless,
                )
                content = read_bytes(path)
                self._hashes[file] = sha256(content).hexdigest()
                part = read_table(path, columns, of, content)
                table.rows.extend(part.rows)
                table.bad.extend(part.bad)
            rows_of: dict[str, list[Row]] = {}
            for row in table.rows if self.subject_columns else ():
                stem = (as_text(row.find(self.subject_columns)) or "").strip()
                if stem not in self._name_of:
                    what = f"{row.where} belongs to the subject {stem[:40]!r}"
                    fix = f"Declare it in `subjects`, or as HKCANTO_ALIASES='{stem[:40]}=…'."
                    raise DataCorrupt(
                        f"{what}, which {of.name} does not declare. {fix}"
                    )
                rows_of.setdefault(self._name_of[stem], []).append(row)
            self._tables = {key: (table, rows_of)}
        table, rows_of = self._tables[key]
        return (
            Table(rows_of.get(subject.name, []), table.bad)
            if self.subject_columns
            else table
        )

    def _of_reader(self, split: str) -> Table:
        """Return the rows that the benchmark's reader yields."""
        path, function = reader_of(self._task.benchmark.home, self._task.definition)
        name = f"{self._task.benchmark.home}/{self._task.definition.reader}"
        try:
            # Compiled from the source that the signature hashes: a cached .pyc may be an older one.
            module = ModuleType(f"hkcanto_reader_{path.stem}")
            module.__file__ = str(path)
            exec(compile(path.read_bytes(), path, "exec"), module.__dict__)
            return table_of([*getattr(module, function)(self.folder.root, split)], name)
        except DataCorrupt:
            raise
        except Exception as error:
            where, why = (
                self.folder.root,
                f"{type(error).__name__}: {error}. Correct the reader.",
            )
            raise CatalogueError(
                f"{name} fails on the {split} rows in {where}: {why}"
            ) from error

    def revision(self, splits: Mapping[str, Iterable[Subject]]) -> str:
        """Name the version of the files that were read, for the signature of a score.

        Args:
            splits: Split → the subjects whose rows of it were read.
        """
        if self._task.definition.reader:
            return self.folder.revision()
        pairs = (
            (subject, split)
            for split, subjects in splits.items()
            for subject in subjects
        )
        files = {file for pair in pairs for file in self.files(*pair)}
        return self.folder.revision(*files, hashes=self._hashes) if files else ""


def reader_of(home: str, definition: TaskDefinition) -> tuple[Path, str]:
    """Return the file and the function of a task's reader.

    Raises:
        CatalogueError: The file is missing or outside the benchmark's folder.
    """
    file, _, function = definition.reader.partition(":")
    said = f"{home}/benchmark.toml: reader of {definition.name!r}"
    path = inside(Path(home), file, said)
    if not is_file(path):
        raise CatalogueError(f"{said} is {path}, which does not exist. Write it.")
    return path, function
