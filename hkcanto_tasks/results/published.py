"""The papers' tables of scores, from data files in a benchmark's `published/`.

`tables.toml` declares the tables, and each has a CSV file with the cells as printed. An empty cell
is missing in the paper, or cannot be read with certainty from the paper's text. The files are
checked when they are read.
"""

import csv
import logging
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from hkcanto_metrics.faults import in_words

from ..catalogue import (
    BENCHMARKS,
    benchmarks,
    find_benchmark,
    find_task,
    named_tasks,
    noted,
)
from ..declarations import Declared, TaskVariant, repeated
from ..errors import CatalogueError
from ..figures import Figure
from ..tasks import task_as_run

_log = logging.getLogger("hkcanto")

RowKind = Literal["model", "human", "random", "control", "rule_based", "average"]


class OtherReading(Declared, frozen=True):
    """Another average that a column may be, where the paper does not state its average.

    Attributes:
        title: The unit that it averages, such as `every item counts once`.
        metric: Name of the tasks' figure; empty for the mean over the column's tasks.
    """

    title: str
    metric: str = ""


class PublishedColumn(Declared, frozen=True):
    """A column of scores, and our figure that measures the same.

    Attributes:
        name: Heading.
        unit: `percent` for shares; `score` for figures from 0 to 100 that are not shares, such as
            BLEU; `number` for others.
        lower_is_better: Whether lower values are better.
        tasks: Our tasks and variants that measure the same as the column. The items of several are
            pooled.
        shots: Number of worked examples, if it differs from the task's.
        metric: Name of the tasks' figure.
        category: Category, if the column's score covers one category only.
        subject: Subject, if the column's score covers one subject only.
        mean_of: Columns whose mean this column is, if any.
        other: Another average that the column may be. A run has a rank if it has the same under
            both.
        unmeasured: Why no task of ours measures the column; empty if one does.
        unranked: Why runs are shown in the column without a rank; empty if they are ranked.
        remark: Remark on each run in the column.
        shows_copy: Whether a rank needs that of a copy of the source beside it.
        repeats: Name of another table that prints the same figures, if any. If all columns of a run
            in a table are repeats, its report leaves the table out.
    """

    name: str
    unit: Literal["percent", "score", "number"] = "percent"
    lower_is_better: bool = False
    tasks: tuple[str, ...] = ()
    shots: Annotated[int, msgspec.Meta(ge=0)] | None = None
    metric: str = "acc"
    category: str = ""
    subject: str = ""
    mean_of: tuple[str, ...] = ()
    other: OtherReading | None = None
    unmeasured: str = ""
    unranked: str = ""
    remark: str = ""
    shows_copy: bool = False
    repeats: str = ""

    @property
    def named(self) -> tuple[TaskVariant, ...]:
        """Its tasks."""
        return tuple(map(find_task, self.tasks))

    @property
    def measure(self) -> Figure | None:
        """Our figure that measures the same; None if there is none, or for a mean."""
        for task in self.tasks:
            for figure in task_as_run(task).figures:
                if figure.name == self.metric:
                    return figure
        return None

    @property
    def part(self) -> str:
        """The category, the subject or the group of subjects that it covers; empty for all."""
        if self.category or self.subject:
            return self.category or self.subject
        group = self.metric.removeprefix("acc_")
        for task in self.named:
            if any(group in subject.groups for subject in task.subjects):
                return group
        return ""

    def shots_of(self, task: TaskVariant) -> int:
        """Return the number of worked examples for one of its tasks."""
        return task.shots if self.shots is None else self.shots


class PublishedNote(Declared, frozen=True):
    """A remark on cells of a row, shown with each of them.

    Attributes:
        row: Row, as printed.
        text: Remark.
        columns: Columns of these cells; all by default.
        ranked: Whether the cells are ranked, and count in the ranks of others.
    """

    row: str
    text: str
    columns: tuple[str, ...] = ()
    ranked: bool = True


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row of a published table.

    Attributes:
        model: The row's name, as printed.
        kind: `model`, `human` for people, `random` for random answers, `control` for answers by
            professionals, `rule_based` for a program, or `average` for the mean of other rows.
        values: Column → score; shares from 0 to 1, others as printed; None if missing.
        notes: Column → remark on its score.
        scores: Column → the score that is ranked: a model's, unless the table excludes it.
    """

    model: str
    kind: RowKind
    values: Mapping[str, float | None]
    notes: Mapping[str, str]
    scores: Mapping[str, float]


class PublishedTable(Declared, frozen=True):
    """A table of scores in a paper: its declaration in `tables.toml`, and its rows.

    Attributes:
        number: Number in the paper; 0 for results that were published later.
        title: Title in our words.
        columns: Columns, without the column of names.
        part: Part of the paper's table, if that has several parts.
        headline: Column to read first; empty for a table of subjects.
        protocol: How the paper's measurement differs from ours, and other remarks on it.
        transposed: Whether the paper prints these columns as rows.
        kinds: Row → what it is, if it is not a model.
        notes: Remarks on cells, and the cells that are not ranked.
        two_protocols: Whether the release asks differently from the paper's text, so that the rows
            may follow either.
        name: Short name: benchmark, number and part.
        benchmark: Name of the benchmark in the catalogue.
        source: Paper and number of the table; for later results, where they were published.
        rows: Rows, in the paper's order.
    """

    title: str
    columns: Annotated[tuple[PublishedColumn, ...], msgspec.Meta(min_length=1)]
    number: int = 0
    part: str = ""
    headline: str = ""
    protocol: str = ""
    transposed: bool = False
    kinds: dict[str, RowKind] = msgspec.field(default_factory=dict)
    notes: tuple[PublishedNote, ...] = ()
    two_protocols: bool = False
    name: str = ""
    benchmark: str = ""
    source: str = ""
    rows: tuple[PublishedRow, ...] = ()

    def column(self, name: str) -> PublishedColumn:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)

    def row(self, model: str) -> PublishedRow:
        """Return a row by its name."""
        return next(row for row in self.rows if row.model == model)


class _File(Declared, frozen=True):
    benchmark: str
    paper: str
    tables: tuple[PublishedTable, ...]


def published_tables() -> tuple[PublishedTable, ...]:
    """Return every published table, by benchmark and number.

    Raises:
        CatalogueError: A data file is wrong.

    Examples:
        >>> table = next(table for table in published_tables() if table.name == "hkcanto_7")
        >>> table.source, table.row("Human").values["Average"]
        ('HKCanto-Eval (Cheng et al., 2025), Table 7', 0.756)
    """
    tables: list[PublishedTable] = []
    for benchmark in benchmarks():
        tables += _tables(Path(benchmark.home))
    return tuple(tables)


@cache
def _tables(home: Path) -> tuple[PublishedTable, ...]:
    """Return the tables of one benchmark; empty if a file from outside this package is broken."""
    path = home / "published" / "tables.toml"
    if not path.is_file():
        return ()
    if home.parent == BENCHMARKS:
        return read_tables(path)
    problems: list[str] = []
    with noted(problems, path):
        return read_tables(path)
    _log.warning("Published tables are left out: %s", *problems)
    return ()


def tables_of(task: str) -> tuple[PublishedTable, ...]:
    """Return the published tables with a column for a task.

    Args:
        task: The name of a task, a variant or a subject in lm-eval.

    Raises:
        CatalogueError: The task does not exist.

    Examples:
        >>> [table.name for table in tables_of("hkcanto_g2p")]
        ['hkcanto_3']
        >>> [table.name for table in tables_of("tmmluplus_gen_economics_sc")]
        ['tmmluplus_4']
    """
    wanted = find_task(task).whole
    names: set[str] = set()
    for name, variant in named_tasks(with_sets=True).items():
        if variant.whole == wanted:
            names.add(name)
    tables: list[PublishedTable] = []
    for table in published_tables():
        measured = chain.from_iterable(column.tasks for column in table.columns)
        if not names.isdisjoint(measured):
            tables.append(table)
    return tuple(tables)


@cache
def read_tables(path: Path) -> tuple[PublishedTable, ...]:
    """Read and check the tables of one benchmark.

    Args:
        path: A TOML file in the form of `benchmarks/hkcanto/published/tables.toml`. The cells of
            its table 1 are beside it, in `1.csv`.

    Raises:
        CatalogueError: A file contradicts itself or the catalogue; the message says where.
    """
    short = "/".join(path.parts[-3:])
    declared: dict[str, Any] = {}
    try:
        declared = tomllib.loads(path.read_text("utf-8"))
        file = msgspec.convert(declared, _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        problem = in_words(error, declared)
        raise CatalogueError(f"{short}: {problem}. Fix this entry.") from error
    find_benchmark(file.benchmark)
    tables: list[PublishedTable] = []
    for table in file.tables:
        try:
            tables.append(_completed(table, file, path))
        except ValueError as error:
            what = f"{short}, table {table.number}: {error}"
            raise CatalogueError(f"{what}. Fix this entry.") from error
    return tuple(tables)


def _completed(
    table: PublishedTable,
    file: _File,
    path: Path,
) -> PublishedTable:
    """Return a checked table with its rows, its name and its source."""
    _check(table)
    number = "_".join(filter(None, (str(table.number or ""), table.part)))
    rows = _rows(path.with_name(f"{number}.csv"), table)
    return msgspec.structs.replace(
        table,
        name=f"{file.benchmark}_{number}",
        benchmark=file.benchmark,
        source=table.source or f"{file.paper}, Table {table.number}",
        protocol=table.protocol.strip(),
        rows=tuple(rows),
    )


def _check(table: PublishedTable) -> None:
    """Raise a ValueError if a table's columns contradict each other or the catalogue."""
    names = {column.name for column in table.columns}
    headline = table.headline
    # A transposed table may be one of subjects, which has no headline.
    if headline not in names and (headline or not table.transposed):
        raise ValueError(f"there is no column {headline!r} for its headline")
    named: set[str] = set()
    for note in table.notes:
        named.update(note.columns)
    for column in table.columns:
        named.update(column.mean_of)
    if unknown := sorted(named - names):
        raise ValueError(f"notes or means name columns that do not exist: {unknown}")
    for column in table.columns:
        if problem := _contradiction(column):
            raise ValueError(f"column {column.name!r} {problem}")


def _contradiction(column: PublishedColumn) -> str:
    """Return how a column contradicts itself or the catalogue; empty if it does not."""
    if bool(column.tasks) + bool(column.mean_of) != 1 and not column.unmeasured:
        return "must have either tasks or mean_of, or say why in unmeasured"
    if absent := sorted(set(column.tasks) - named_tasks(with_sets=True).keys()):
        return f"has tasks that do not exist: {absent}"
    for task in column.named:
        if mismatch := _mismatch(column, task):
            return mismatch
    return ""


def _mismatch(column: PublishedColumn, task: TaskVariant) -> str:
    """Return how a column contradicts one of its tasks; empty if it does not."""
    units = {figure.name: figure.unit for figure in task_as_run(task.name).figures}
    if not column.unmeasured and column.metric not in units:
        return f"has a metric {column.metric!r} that {task.name} has not"
    if (column.unit == "score") != (units.get(column.metric) == "score"):
        return f"has the unit {column.unit!r}, but `score` is for figures of a corpus"
    wanted = {column.category, column.subject} - {""}
    if any(wanted.issubset(subject.sets) for subject in task.subjects):
        return ""
    part = f"category {column.category!r} and subject {column.subject!r}"
    return f"is restricted to {part}, which {task.name} does not have"


def _rows(path: Path, table: PublishedTable) -> Iterator[PublishedRow]:
    lines = _lines(path)
    if table.transposed:
        lines = [*map(list, zip(*lines, strict=True))]
    (_, *header), *rows = lines
    names = [column.name for column in table.columns]
    if header != names:
        what = f"its columns are {header}, but {names} are declared"
        raise ValueError(f"{path.name}: {what}")
    _check_models([model for model, *_ in rows], table, path)
    for model, *cells in rows:
        values: dict[str, float | None] = {}
        for column, cell in zip(table.columns, cells, strict=True):
            where = f"{path.name}, row {model!r}, column {column.name!r}"
            values[column.name] = _value(cell, column, where)
        yield _row(model, values, table)


def _check_models(
    models: Sequence[str],
    table: PublishedTable,
    path: Path,
) -> None:
    """Raise a ValueError if a row occurs twice, or if a declared row does not exist."""
    for model in repeated(models):
        raise ValueError(f"{path.name}, row {model!r} occurs twice")
    named = {*table.kinds, *(note.row for note in table.notes)}
    if unknown := sorted(named.difference(models)):
        what = f"rows that {path.name} does not have: {unknown}"
        raise ValueError(f"kinds or notes name {what}")


def _lines(path: Path) -> list[list[str]]:
    """Return the cells of a CSV file, whose lines must have one length."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, strict=True))
    for number, line in enumerate(lines, start=1):
        if len(line) != len(lines[0]):
            counts = f"{len(line)} cells, but the header has {len(lines[0])}"
            raise ValueError(f"{path.name}, row {number} ({line[:1]}): it has {counts}")
    return lines


def _value(
    cell: str,
    column: PublishedColumn,
    where: str,
) -> float | None:
    """Return the score in a cell; None if it is empty."""
    if not cell:
        return None
    highest = math.inf if column.unit == "number" else 100
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value <= highest:
        raise ValueError(f"{where}: {cell!r} is not a number from 0 to {highest:g}")
    return round(value / 100, 6) if column.unit == "percent" else value


def _row(
    model: str,
    values: Mapping[str, float | None],
    table: PublishedTable,
) -> PublishedRow:
    notes: dict[str, str] = {}
    unranked: set[str] = set()
    for note in table.notes:
        if note.row == model:
            columns = note.columns or values
            notes |= dict.fromkeys(columns, note.text)
            if not note.ranked:
                unranked.update(columns)
    kind = table.kinds.get(model, "model")
    scores: dict[str, float] = {}
    for column, value in values.items():
        if kind == "model" and value is not None and column not in unranked:
            scores[column] = value
    return PublishedRow(
        model,
        kind,
        values,
        notes,
        scores,
    )
