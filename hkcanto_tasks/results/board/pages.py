"""The pages of a board: models × tasks in tiers, and each task with all of its results."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.resources import files
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from jinja2 import Template

from ... import __version__
from ...catalogue import benchmarks, named_tasks
from ...declarations import Benchmark, TaskDefinition
from ...kinds.base import Kind
from ...signing import signature_of
from ...tasks import task_as_run
from ..published import PublishedColumn, published_tables
from ..publishing.runs import DEPARTURE
from ..reports.blocks import unit_of
from ..reports.renderers.formatting import interval_text, value_text
from ..reports.renderers.page import code, environment, marks_style
from ..reports.renderers.plots import Mark, strip
from ..statistics.intervals import is_above, published_estimate
from .records import PublishedResult, Standing, published_item_count

Results = Sequence[PublishedResult]

STANDINGS: Mapping[Standing, str] = {
    "checked": "Checked: figures computed from the logs",
    "not compared": "Not compared: figures computed from logs, without the release to compare them",
    "self-reported": "Self-reported: records without logs, which nobody could check",
    "published": "Published in papers",
}
_TRUSTED: Sequence[Standing] = ("checked", "published")
_HASHES = ("sent", "read", "metric", "pkg")
_PAPERS_DATA = "release"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
# `Model-1O` looks like `model_l0`.
_LOOK_ALIKES = str.maketrans("01i", "oll", "-_.")
# A paper's score may be beside results that differ from it in these parts of a signature.
_IGNORED_BESIDE_PAPERS = ("data", "turns", "rationale")


# ---------------------------------------------------------------------- columns


@dataclass(frozen=True, eq=False)
class BoardColumn:
    """Results that differ only in the model.

    Attributes:
        results: The newest of each model, also the papers'.
        tiers: Result → tier, 1 for the best; none for a result without an interval.
        setting: Its shots, its differences from the task's default setup, and its data.
    """

    results: Results
    tiers: Mapping[PublishedResult, int]
    setting: str

    @property
    def kind(self) -> Kind:
        """The task as it was run."""
        return self.results[0].kind

    @property
    def marks(self) -> Mapping[PublishedResult, Sequence[Mark]]:
        """Each result's headline as a dot with its interval, on one axis."""
        is_lower_better = self.kind.headline.higher_is_better is False
        rows = strip([result.headline for result in self.results], is_lower_better)
        return dict(zip(self.results, rows, strict=True))


Columns = Sequence[BoardColumn]


def columns(results: Results) -> list[BoardColumn]:
    """Return the columns of results and of the papers' scores, in the order of the catalogue."""
    groups: dict[str, list[PublishedResult]] = defaultdict(list)
    for result in _labelled(results):
        groups[result.key()].append(result)
    _add_papers(groups)
    board_columns = []
    for key in sorted(groups):
        newest = _newest(groups[key])
        setting = _setting(groups[key][0])
        board_columns.append(BoardColumn(newest, tiers(newest), setting))
    order = {
        name: position for position, name in enumerate(named_tasks(with_sets=True))
    }
    board_columns.sort(key=lambda column: order[column.kind.task.whole])
    return board_columns


def _newest(results: Results) -> Results:
    """Return the newest result of each model and standing, in the order of the results."""
    by_age = sorted(results, key=lambda run: (run.created or _LONG_AGO, run.source))
    newest = {(result.standing, result.model): result for result in by_age}.values()
    return [result for result in results if result in newest]


def _setting(result: PublishedResult) -> str:
    """Return a result's shots, how it differs from its task's default setup, and its data."""
    data = result.signature.data
    default_kind = task_as_run(result.kind.task.definition.name)
    default = signature_of(default_kind, data)
    settings = [f"{result.signature.shots}-shot"]
    for part, (_, text) in default.differs(result.signature).items():
        if part not in ("shots", *_HASHES):
            settings.append(f"{part} {text or 'none'}")
    if data != _PAPERS_DATA:
        settings.append(f"data {data or 'none'}")
    return ", ".join(settings)


# ---------------------------------------------------------------------- the papers' scores


def _add_papers(groups: dict[str, list[PublishedResult]]) -> None:
    """Add the papers' scores to the groups that measure the same, or to groups of their own."""
    groups_by_measure: dict[str, list[list[PublishedResult]]] = defaultdict(list)
    for group in groups.values():
        groups_by_measure[group[0].key(*_IGNORED_BESIDE_PAPERS)].append(group)
    for score in _papers_scores():
        measured = groups_by_measure[score.key(*_IGNORED_BESIDE_PAPERS)]
        for group in measured or [groups.setdefault(score.key(), [])]:
            group.append(score)


def _papers_scores() -> Iterable[PublishedResult]:
    """Return the papers' headlines of whole tasks; of a model's scores, that of the first table."""
    scores: dict[tuple[str, str], PublishedResult] = {}
    for table in published_tables():
        for column in table.columns:
            kind = _kind_of_headline(column)
            if kind is None:
                continue
            signature = signature_of(kind, _PAPERS_DATA)
            items = published_item_count(kind)
            for row in table.rows:
                score = row.scores.get(column.name)
                if score is None:
                    continue
                value = published_estimate(score, items, kind.headline)
                result = PublishedResult(
                    standing="published",
                    model=row.model,
                    kind=kind,
                    signature=signature,
                    values={column.metric: value},
                    by=table.source,
                )
                key = result.key(*_IGNORED_BESIDE_PAPERS), row.model
                scores.setdefault(key, result)
    return scores.values()


def _kind_of_headline(column: PublishedColumn) -> Kind | None:
    """Return the task whose headline a paper's column is; None if it is something else."""
    is_part = column.category or column.subject
    unlike = column.unmeasured or column.unranked
    if len(column.tasks) != 1 or is_part or unlike:
        return None
    (task,) = column.named
    kind = task_as_run(task.name, shots=column.shots_of(task))
    return kind if column.metric == kind.headline.name else None


# ---------------------------------------------------------------------- names of models


def _labelled(results: Results) -> Iterator[PublishedResult]:
    """Yield results under names that tell apart similar models and the runs of a model."""
    models_by_look: dict[str, list[str]] = defaultdict(list)
    for model in sorted({result.model for result in results}):
        models_by_look[_look(model)].append(model)
    runs_by_model: dict[tuple[str, str], list[PublishedResult]] = defaultdict(list)
    for result in results:
        model = _model_name(result, models_by_look[_look(result.model)])
        settings = {"by": result.by, **result.settings}
        for name in ("revision", DEPARTURE):  # They are in the name.
            settings.pop(name, None)
        run = replace(result, model=model, settings=settings)
        runs_by_model[result.standing, model].append(run)
    for runs in runs_by_model.values():
        names = _distinguishing_settings(runs)
        for run in runs:
            remarks = [
                f"{name} {run.settings.get(name) or 'unknown'}" for name in names
            ]
            if remarks:
                run = replace(run, model=f"{run.model} ({', '.join(remarks)})")
            yield run


def _look(model: str) -> str:
    """Return a text that is equal for names that look alike."""
    return model.casefold().translate(_LOOK_ALIKES)


def _model_name(result: PublishedResult, look_alikes: Sequence[str]) -> str:
    """Return a model's name with its revision and decoding, and which model it is not."""
    name = result.model
    revision = result.settings.get("revision", "main")
    if revision != "main":
        name += f"@{revision}"
    if departure := result.settings.get(DEPARTURE):
        name += f" ({departure})"
    others = [model for model in look_alikes if model != result.model]
    if others:
        name += f" (not {', not '.join(others)})"
    return name


def _distinguishing_settings(runs: Results) -> list[str]:
    """Return the settings that differ between runs of one model under one setup."""
    setups = {run.key() for run in runs}
    distinguishing = []
    for name in dict.fromkeys(chain.from_iterable(run.settings for run in runs)):
        setups_and_values = {(run.key(), run.settings.get(name)) for run in runs}
        if len(setups_and_values) > len(setups):
            distinguishing.append(name)
    return distinguishing


# ---------------------------------------------------------------------- tiers


def tiers(results: Results) -> dict[PublishedResult, int]:
    """Return the tiers of results on one task under one setup; 1 is the best.

    A tier ends where a result is significantly worse than the tier's best: where the 95 % interval
    of their difference (Newcombe, 1998, method 10, as for independent samples) is below 0. This is
    cautious, since the models answered the same items. Results that nobody compared with the
    release open no tier if others are there. Results without an interval have none.
    """
    ranked = [result for result in results if result.headline.low is not None]
    ranked.sort(key=_rank)
    checked = [result for result in ranked if result.standing in _TRUSTED]
    leaders = list[PublishedResult]()
    tier_of = dict[PublishedResult, int]()
    for result in checked or ranked:
        if not leaders or _is_behind(result, leaders[-1]):
            leaders.append(result)
        tier_of[result] = len(leaders)
    for result in ranked:
        better = sum(_is_behind(result, leader) for leader in leaders)
        tier_of.setdefault(result, 1 + better)
    return tier_of


def _rank(result: PublishedResult) -> tuple[float, str]:
    """Return a key that sorts the best result first, and equal ones by model."""
    value = result.headline.value
    higher_is_better = result.kind.headline.higher_is_better
    return (-value if higher_is_better else value), result.model


def _is_behind(result: PublishedResult, leader: PublishedResult) -> bool:
    """Return whether a result is significantly worse than a tier's best."""
    if result.kind.headline.higher_is_better:
        return is_above(leader.headline, result.headline)
    return is_above(result.headline, leader.headline)


# ---------------------------------------------------------------------- pages


@dataclass
class ModelRow:
    """A model's row in a benchmark's table.

    Attributes:
        standing: The standing of its results.
        model: The model.
        rank: A number that is smaller for a better model.
        results: Column → result.
    """

    standing: Standing
    model: str
    rank: float
    results: dict[BoardColumn, PublishedResult] = field(default_factory=dict)


class BenchmarkTable(NamedTuple):
    """A benchmark, its tasks with their columns, all columns, and rows by standing."""

    benchmark: Benchmark
    tasks: Sequence[tuple[TaskDefinition, Columns]]
    columns: Columns
    rows: Mapping[Standing, Sequence[ModelRow]]


def pages(
    results: Results,
    refused: Mapping[str, Sequence[str]],
    title: str,
) -> dict[str, str]:
    """Return the pages of a board: path → HTML. Equal results make equal pages.

    Args:
        results: The results to show, besides the papers'.
        refused: The files left out, by reason.
        title: Title of the site.
    """
    columns_by_task: dict[str, list[BoardColumn]] = defaultdict(list)
    for column in columns(results):
        columns_by_task[column.kind.task.definition.name].append(column)
    tables = [*_tables(columns_by_task)]
    template = _template(results)
    index = template.render(
        title=title,
        up="",
        tables=tables,
        refused=refused,
    )
    texts = {"index.html": index}
    for name, task_columns in columns_by_task.items():
        heading = task_columns[0].kind.task.definition.title
        texts[f"tasks/{name}.html"] = template.render(
            title=heading,
            up="../",
            columns=task_columns,
            board=title,
        )
    return texts


def _template(results: Results) -> Template:
    page, style, script = (
        files(__package__).joinpath(f"board.{ending}").read_text("utf-8")
        for ending in ("html.j2", "css", "js")
    )
    pages_environment = environment()
    filters = {"number": value_text, "interval": interval_text, "unit": unit_of}
    pages_environment.filters |= filters
    dates = [result.created for result in results if result.created]
    newest = max(dates, default=None)
    shared = {"STANDINGS": STANDINGS, "date": newest, "version": __version__}
    return pages_environment.from_string(
        page, {**shared, **code(marks_style() + style, script)}
    )


def _tables(columns_by_task: Mapping[str, Columns]) -> Iterator[BenchmarkTable]:
    """Yield the tables of the benchmarks that have results."""
    for benchmark in benchmarks(with_sets=True):
        tasks = list[tuple[TaskDefinition, Columns]]()
        for task in benchmark.tasks:
            if task.name in columns_by_task:
                tasks.append((task, columns_by_task[task.name]))
        if tasks:
            every_column = [*chain.from_iterable(group for _, group in tasks)]
            yield BenchmarkTable(
                benchmark,
                tasks,
                every_column,
                _rows(every_column),
            )


def _rows(columns: Columns) -> dict[Standing, list[ModelRow]]:
    """Return the rows of a benchmark's table by standing, the best first.

    Models are ordered by the mean of their tiers as shares of each column's tiers. A column in
    which a model has no tier counts as the last tier.
    """
    rows: dict[tuple[Standing, str], ModelRow] = {}
    for column in columns:
        last_tier = max(column.tiers.values(), default=1)
        for result in column.results:
            key = result.standing, result.model
            row = rows.setdefault(key, ModelRow(*key, rank=len(columns)))
            row.results[column] = result
            row.rank -= 1 - column.tiers.get(result, last_tier) / last_tier
    by_standing: dict[Standing, list[ModelRow]] = {name: [] for name in STANDINGS}
    for row in sorted(rows.values(), key=attrgetter("rank", "standing", "model")):
        by_standing[row.standing].append(row)
    return by_standing
