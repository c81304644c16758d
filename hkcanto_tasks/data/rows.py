"""Find a task's files as its benchmark declares them, and read their rows."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from runpy import run_path
from textwrap import shorten
from typing import Any

from ..declarations import Subject, TaskDefinition, TaskVariant
from ..errors import CatalogueError, DataCorrupt, DataNotFound, OptionError
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
        folder: The data.
        subject_columns: The columns that name the subject of a row, if a file has several.

    Raises:
        DataNotFound: Some subjects lack a file, and some files match no subject.
        NetworkUnavailable: A download is needed, and fails or is forbidden.
    """

    def __init__(
        self,
        folder: DataFolder,
        task: TaskVariant,
        headerless: Sequence[str],
    ) -> None:
        self.folder = folder
        self._task = task
        self._definition = task.definition
        self._headerless = headerless
        self.subject_columns = _subject_columns(task.definition)
        self._subject_of = _subjects_of_stems(task)
        self._hashes: dict[str, str] = {}
        self._configurations: dict[str, Mapping[str, Any]] = {}
        self._source: tuple[str, ...] = ()
        self._tables: Mapping[str, Table] = {}
        # Recorded files are matched with subjects before they are downloaded.
        recorded: list[str] = []
        if folder.kind == "cache" and task.definition.paths:
            recorded = [*folder.recorded]
        if folder.kind == "cache" and not recorded:
            folder.fetch()
        self._files = self._matched(recorded or folder.files())
        if recorded:
            folder.fetch([*dict.fromkeys(chain.from_iterable(self._files.values()))])

    # ------------------------------------------------------------------ files

    def _matched(self, files: Sequence[str]) -> dict[tuple[str, str], list[str]]:
        """Match files with split and subject by the declared paths."""
        matched: dict[tuple[str, str], list[str]] = {}
        # The names of the subjects, in order.
        subjects = dict.fromkeys(subject.name for subject in self._task.subjects)
        fitting = [*_fitting(files, self._definition.paths)]
        for split, file, stem in fitting:
            names = {self._subject_of.get(stem)} if stem else subjects.keys()
            for name in subjects.keys() & names:
                matched.setdefault((split, name), []).append(file)
        missing = [name for name in subjects if ("test", name) not in matched]
        stems = [stem for split, _, stem in fitting if split == "test"]
        if missing:
            self._refuse_unmatched(missing, stems)
        return matched

    def _refuse_unmatched(
        self,
        subjects: Sequence[str],
        stems: Iterable[str],
    ) -> None:
        """Refuse subjects without a file if a file has the name of no known subject."""
        known = {"", *self._subject_of}
        unmatched = [stem for stem in dict.fromkeys(stems) if stem not in known]
        if not unmatched:
            return
        match = f"Match them: HKCANTO_ALIASES='{unmatched[0]}={subjects[0]},…', or `aliases`."
        if not subjects[0]:  # the task has one subject, without a name
            match = "Correct `files`, or declare the name in `aliases`."
        raise DataNotFound(
            f"{self._task.name}: in {self.folder.root}, some subjects lack a file, and some "
            "files belong to no known subject.\n"
            f"  expected: {' or '.join(self._definition.paths['test'])}\n"
            f"  subjects: {', '.join(subjects)}\n  files: {', '.join(unmatched)}\n{match}"
        )

    def files(
        self,
        subject: Subject,
        split: str,
    ) -> tuple[str, ...]:
        """Return the files with a subject's rows of a split, as paths in the folder.

        Raises:
            DataCorrupt: There are two, of which only one can be the release's.
        """
        if self._definition.config or self._definition.splits:
            return self._configured_files(subject, split)
        files = self._files.get((split, subject.name), ())
        if len(files) > 1:
            raise DataCorrupt(
                f"{self._task.name}: {self.folder.root} has {len(files)} files for the {split} "
                f"rows of {subject.name or subject.title}: {', '.join(files)}. "
                "Keep only the release's in this folder."
            )
        return tuple(files)

    def missing(self) -> DataNotFound:
        """Return the error for data that has none of the subjects."""
        task = self._task
        if self._definition.where and self._files:
            return DataNotFound(
                f"{self.folder.root} has no row of {task.name}: `where` in "
                f"{task.benchmark.home}/benchmark.toml names a value that no row has. Correct it."
            )
        present = ", ".join(self.folder.files()) or "no files"
        stem = task.subjects[0].stem
        paths = self._definition.paths.get("test", ())
        expected = " or ".join(path.replace("{stem}", stem) for path in paths)
        return DataNotFound(
            f"{self.folder.root} has no test file of {task.name}; expected {expected}. "
            f"It has {shorten(present, 300, placeholder=' …')}. Correct `files` in "
            f"{task.benchmark.home}/benchmark.toml, or write a reader."
        )

    def _configured_files(
        self,
        subject: Subject,
        split: str,
    ) -> tuple[str, ...]:
        """Return the files of a hub data set's split, as `datasets` finds them."""
        root = self.folder.root
        configured_split = self._definition.splits.get(split, "")
        if not configured_split:
            return ()
        configuration = self._definition.config.replace("{stem}", subject.stem)
        if configuration not in self._configurations:
            self._configurations[configuration] = _data_files(root, configuration)
        data_files = self._configurations[configuration]
        if configured_split not in data_files:
            raise DataNotFound(
                f"the data set in {root} has no split {configured_split!r}; there are "
                f"{', '.join(map(str, data_files))}. "
                f'Declare the right one: splits = {{ {split} = "…" }}.'
            )
        paths = map(Path, data_files[configured_split])
        return tuple(path.relative_to(root).as_posix() for path in paths)

    # ------------------------------------------------------------------ rows

    def table(
        self,
        subject: Subject,
        split: str,
    ) -> Table:
        """Return a subject's rows of a split; an empty table if there are none.

        Raises:
            DataCorrupt: A file holds invalid data, or the subject of a row is unknown.
            CatalogueError: The benchmark's reader fails.
        """
        by_reader = bool(self._definition.reader)
        source = (split,) if by_reader else self.files(subject, split)
        if not source:
            return Table([], [])
        # Only the last source is kept: several subjects may share its files.
        if source != self._source:
            table = self._yielded(split) if by_reader else self._read(source)
            self._tables = self._by_subject(table)
            self._source = source
        return self._tables[subject.name]

    def _read(self, files: Sequence[str]) -> Table:
        """Return the rows of some files."""
        columns = () if self._definition.header else self._headerless
        table = Table([], [])
        for file in files:
            path = self.folder.root / file
            content = read_bytes(path)
            self._hashes[file] = sha256(content).hexdigest()
            part = read_table(
                path,
                columns,
                self._definition,
                content,
            )
            rows = part.rows
            if self._definition.where:
                rows = [row for row in rows if self._is_wanted(row)]
            table.rows.extend(rows)
            table.bad.extend(part.bad)
            table.columns.update(part.columns)
        return table

    def _is_wanted(self, row: Row) -> bool:
        """Return whether a row has the values that the task declares in `where`."""
        for column, values in self._definition.where.items():
            wanted = (values,) if isinstance(values, str) else values
            if not row.has(column.lower()):
                raise row.lacks("value for where", column, [column])
            if as_text(row.find([column.lower()])) not in wanted:
                return False
        return True

    def _by_subject(self, table: Table) -> dict[str, Table]:
        """Return the rows of each subject; all rows, unless a column names the subject."""
        names = [subject.name for subject in self._definition.subjects]
        if not self.subject_columns:
            return dict.fromkeys(names, table)
        tables = {name: Table([], table.bad, table.columns) for name in names}
        for row in table.rows:
            stem = (as_text(row.find(self.subject_columns)) or "").strip()
            name = self._subject_of.get(stem)
            if name is None:
                raise DataCorrupt(
                    f"{row.where} belongs to the subject {stem[:40]!r}, which "
                    f"{self._definition.name} does not declare. Declare it in `subjects`, "
                    f"or as HKCANTO_ALIASES='{stem[:40]}=…'."
                )
            tables[name].rows.append(row)
        return tables

    def _yielded(self, split: str) -> Table:
        """Return the rows that the benchmark's reader yields."""
        home = self._task.benchmark.home
        path, function = reader_of(home, self._definition)
        name = f"{home}/{self._definition.reader}"
        try:
            # Run from the source that the signature hashes: a cached .pyc may be an older one.
            reader = run_path(str(path), run_name=f"hkcanto_reader_{path.stem}")
            if function not in reader:
                raise AttributeError(f"{path.name} has no attribute {function!r}")
            return table_of([*reader[function](self.folder.root, split)], name)
        except DataCorrupt:
            raise
        # A reader that calls `sys.exit` would end the command without a word.
        except (Exception, SystemExit) as error:
            raise CatalogueError(
                f"{name} fails on the {split} rows in {self.folder.root}: "
                f"{type(error).__name__}: {error}. Correct the reader."
            ) from error

    def revision(self, splits: Mapping[str, Iterable[Subject]]) -> str:
        """Name the version of the files that were read, for the signature of a score.

        Args:
            splits: Split → the subjects whose rows of it were read.
        """
        if self._definition.reader:
            return self.folder.revision()
        files: set[str] = set()
        for split, subjects in splits.items():
            for subject in subjects:
                files.update(self.files(subject, split))
        return self.folder.revision(*files, hashes=self._hashes) if files else ""


def _subject_columns(definition: TaskDefinition) -> tuple[str, ...]:
    """Return the columns that name the subject of a row, in lower case."""
    declared = definition.columns.get("subject", ())
    if definition.reader and any(subject.name for subject in definition.subjects):
        declared = declared or "subject"
    names = (declared,) if isinstance(declared, str) else declared
    return tuple(name.lower() for name in names)


def _user_aliases() -> list[tuple[str, str]]:
    """Return the user's names for files: pairs of a stem and its subject."""
    aliases = []
    for text in re.split(r"[,\n]", os.environ.get("HKCANTO_ALIASES", "")):
        if not text.strip():
            continue
        stem, equals, name = map(str.strip, text.partition("="))
        if not equals:
            raise DataNotFound(
                f"HKCANTO_ALIASES has {text!r}. Write it as stem=subject,…."
            )
        aliases.append((stem, name))
    return aliases


def _subjects_of_stems(task: TaskVariant) -> dict[str, str | None]:
    """Return the subject of each name that a file may have; None for those of other tasks."""
    subject_of: dict[str, str | None] = {}
    for subject in task.definition.subjects:
        subject_of.update(dict.fromkeys(subject.stems, subject.name))
    names = set(subject_of.values())
    aliases = _user_aliases()
    for stem, name in aliases:
        # An alias may be for a subject of another benchmark.
        if name in names and subject_of.setdefault(stem, name) != name:
            raise DataNotFound(
                f"HKCANTO_ALIASES: {stem!r} is already the file of {subject_of[stem]!r} in "
                f"{task.name}, not of {name!r}. Remove this alias."
            )
    others = [stem for stem, _ in aliases]
    for definition in task.benchmark.tasks:
        for subject in definition.subjects:
            others.extend(subject.stems)
    return dict.fromkeys(others) | subject_of


def _fitting(
    files: Iterable[str], declared: Mapping[str, Iterable[str]]
) -> Iterator[tuple[str, str, str]]:
    """Yield split, file and stem of the files that fit a declared path.

    The stem is empty if the path has no `{stem}`.
    """
    for split, paths in declared.items():
        for path in paths:
            fixed = path.removeprefix("**/")
            pattern = re.escape(fixed).replace(r"\{stem\}", "(?P<stem>[^/]+)", 1)
            fitting = re.compile(pattern if fixed == path else f"(?:.*/)?{pattern}")
            for match in filter(None, map(fitting.fullmatch, files)):
                yield split, match[0], match.groupdict().get("stem", "")


_DATASETS_WITHOUT_SCRIPTS = 4


def _data_files(root: Path, configuration: str) -> Mapping[str, Any]:
    """Return the files of each split of a hub data set's configuration or folder."""
    import datasets

    # Earlier versions run a Python file that is named after the folder.
    if int(datasets.__version__.partition(".")[0]) < _DATASETS_WITHOUT_SCRIPTS:
        raise OptionError(
            f"datasets {datasets.__version__} would run scripts of {root}: "
            "pip install -U 'datasets>=4'"
        )
    load_dataset_builder = datasets.load_dataset_builder
    try:
        if configuration and (root / configuration).is_dir():
            builder = load_dataset_builder(str(root / configuration), None)
        else:
            builder = load_dataset_builder(str(root), configuration or None)
        return builder.config.data_files or {}
    except Exception as error:  # the types depend on the library's version
        raise DataNotFound(
            f"`datasets` finds no configuration {configuration!r} in {root}: {error}. "
            "Correct `config`, or name the files instead."
        ) from error


def reader_of(home: str, definition: TaskDefinition) -> tuple[Path, str]:
    """Return the file and the function of a task's reader.

    Raises:
        CatalogueError: The file is missing or outside the benchmark's folder.
    """
    file, _, function = definition.reader.partition(":")
    entry = f"{home}/benchmark.toml: reader of {definition.name!r}"
    path = inside(Path(home), file, entry)
    if not is_file(path):
        raise CatalogueError(f"{entry} is {path}, which does not exist. Write it.")
    return path, function
