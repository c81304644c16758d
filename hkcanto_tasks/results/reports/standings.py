"""Published scores beside runs: ranks in the papers' tables, as ranges, and tasks as columns.

A run is ranked in a column only if it measures the same: the same task, script, shots and chain of
thought, with generated answers instead of log-likelihoods, on real data.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

import numpy as np

from ...declarations import TaskVariant
from ...figures import weights
from ..logs.items import CHANCE
from ..published import (
    PublishedColumn,
    PublishedRow,
    PublishedTable,
    published_tables,
    tables_of,
)
from ..runs import Items, Run
from ..statistics.estimates import harness_agreement, mean_estimate, value_of
from ..statistics.intervals import Estimate, is_above, published_estimate
from .blocks import TableColumn, unit_of
from .presentation import condition_title, figure_title


@dataclass(frozen=True, eq=False)
class Standing:
    """The figure of a run in a column of a published table, and the runs behind it.

    It has no ranks if the run was interrupted or lacks items, if figures differ from the harness's,
    or if the data is unknown. The figure's note then says why.
    """

    table: PublishedTable
    column: PublishedColumn
    figure: Estimate
    behind: tuple[Run, ...]
    ranks: (
        tuple[int, int] | None
    )  # the best and the worst rank that its 95 % interval allows
    of: int  # the paper's models and the run

    def is_headline_of(self, run: Run) -> bool:
        """Whether its figure is a run's headline, on all items."""
        same = (self.behind, self.column.metric) == ((run,), run.headline.name)
        return same and not self.column.part

    @property
    def followed(self) -> str:
        """Which of the paper's two protocols the run follows; empty if the paper has only one."""
        options = self.behind[0].options
        chosen = {options.get(name, "paper") for name in ("prompt", "examples")} - {
            "paper"
        }
        return ("+".join(chosen) or "appendices") if self.table.two_protocols else ""

    @property
    def place(self) -> str:
        """Its ranks among all, and its protocol: `2–4 of 24 (appendices†)`; empty without ranks."""
        if self.ranks is None:
            return ""
        best, worst = self.ranks
        rank = (
            f"{best} of {self.of}" if best == worst else f"{best}–{worst} of {self.of}"
        )
        return f"{rank} ({self.followed}†)" if self.followed else rank


@dataclass(frozen=True, eq=False)
class Beside:
    """A published table with the runs in it: run → column → standing.

    A run is a model under one set of options.
    """

    table: PublishedTable
    runs: Mapping[str, Mapping[str, Standing]]

    @cached_property
    def standings(self) -> list[Standing]:
        """The runs' figures in its columns."""
        return [
            standing for columns in self.runs.values() for standing in columns.values()
        ]

    @cached_property
    def headline(self) -> PublishedColumn:
        """The table's headline if a run has it, or else the first column with a run, if possible
        with a rank."""
        shown = {standing.column.name for standing in self.standings}
        ranked = {standing.column.name for standing in self.standings if standing.ranks}
        first = [self.table.column(self.table.headline)] if self.table.headline else []
        columns = [*first, *self.table.columns]
        return max(
            columns, key=lambda column: (column.name in shown) + (column.name in ranked)
        )


def standings(runs: Sequence[Run]) -> list[Beside]:
    """Return each published table of models in which a run has a place."""
    named: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if not why_incomparable(run):
            named[" ".join([run.label, *departures(run)])].append(run)
    tables = []
    for table in published_tables():
        of_runs = dict[str, Mapping[str, Standing]]()
        for name, group in named.items() if not table.transposed else ():
            places = (
                (column.name, _standing(column, table, group))
                for column in table.columns
            )
            if of_run := {column: place for column, place in places if place}:
                of_runs[name] = of_run
        beside = Beside(table, of_runs)
        if not all(standing.column.repeats for standing in beside.standings):
            tables.append(beside)
    return tables


def rank_of(
    row: PublishedRow, table: PublishedTable, column: PublishedColumn
) -> int | None:
    """Return a published model's rank among the others; equal scores share the better rank."""
    score = row.scores.get(column.name)
    if score is None:
        return None
    return _places(Estimate(score, None, None, 0), table, column)[0]


def departures(run: Run) -> list[str]:
    """Return the options that differ from the paper's, except those that change the measure."""
    defaults = run.kind.Options()
    return [
        f"{name}:{value}"
        for name, value in run.options.items()
        if name not in ("cot", "script", "rescored")
        and value != str(getattr(defaults, name, None))
    ]


def why_incomparable(run: Run) -> str:
    """Say why a run cannot be in any table; empty if it can."""
    if run.is_sample:
        return "Results on the sample data cannot be compared with any others."
    if not run.signature.prompt_known:
        return "The prompts were not logged: the answers are from another tool's file."
    if run.departure or run.outdated:
        return (
            f"It is not the catalogue's task: {run.departure or f'it {run.outdated}'}."
        )
    if run.kind.task.variant.scoring == "loglikelihood":
        return "The letters were scored by log-likelihood; the papers' models wrote their answers."
    return ""


def why_left_out(run: Run) -> str:
    """Say why a run is in no table."""
    where = []
    for table in tables_of(run.task):
        for column in (column for column in table.columns if measures(run, column)):
            other = "another run of this model is shown"
            why = "it pools several tasks" if len(column.tasks) > 1 else other
            where.append(f"{table.source}, {column.name}: {column.unmeasured or why}.")
    no_figure = (
        f"The papers have no figure for it under this condition ({run.condition})."
    )
    return why_incomparable(run) or " ".join(dict.fromkeys(where)) or no_figure


def _standing(
    column: PublishedColumn, table: PublishedTable, runs: Sequence[Run]
) -> Standing | None:
    if column.unmeasured:
        return None
    if column.mean_of:
        parts = [_standing(table.column(name), table, runs) for name in column.mean_of]
        known = [part for part in parts if part]
        if len(known) < len(parts):
            return None
        behind = [run for part in known for run in part.behind]
        value: Estimate | None = _mean(known)
        reason = next((part.figure.note for part in known if part.figure.note), "")
    else:
        alike = [
            [run for run in runs if measures(run, column, task)]
            for task in column.named
        ]
        if not all(alike):
            return None
        behind = [
            max(of, key=lambda r: (r.is_complete(column.part), r.created))
            for of in alike
        ]
        value, reason = _pooled(behind, column), _why_unranked(behind, column)
    if value is None:
        return None
    others = len(_scores(table, column))
    reason = reason or ("" if others else "its table has no models")
    ranks = None if reason else _places(value, table, column)
    return Standing(
        table, column, replace(value, note=reason), tuple(behind), ranks, others + 1
    )


def _scores(table: PublishedTable, column: PublishedColumn) -> list[float]:
    """Return the scores of the paper's models in a column."""
    return [row.scores[column.name] for row in table.rows if column.name in row.scores]


def _why_unranked(runs: Sequence[Run], column: PublishedColumn) -> str:
    reasons = {
        next((run.unfinished for run in runs if run.unfinished), ""): True,
        "not all items": not all(run.is_complete(column.part) for run in runs),
        "unknown data": not all(run.trusted_data for run in runs),
        "one example for all subjects": "paper"
        in [run.options.get("rationale") for run in runs],
        "unlike the harness's figure": any(
            harness_agreement(run).different for run in runs
        ),
    }
    return next((reason for reason, holds in reasons.items() if reason and holds), "")


def _places(
    value: Estimate, table: PublishedTable, column: PublishedColumn
) -> tuple[int, int]:
    """Return the best and the worst rank that a run may have among the paper's models.

    A model is surely better, or surely worse, if the interval of the difference excludes 0. Its
    share has the interval of as many items; another score has one as wide as the run's.
    """
    sign, figure = -1 if column.lower_is_better else 1, column.measure
    own, spans = value.times(sign), list[Estimate]()
    for score in _scores(table, column):
        other = (
            published_estimate(score, value.items, figure)
            if figure
            else Estimate(score, None, None, 0)
        )
        if other.low is None and value.low is not None and value.high is not None:
            ends = score - (value.value - value.low), score + (value.high - value.value)
            other = Estimate(score, *ends, value.items)
        spans.append(other.times(sign))
    better = sum(is_above(other, own) for other in spans)
    worse = sum(is_above(own, other) for other in spans)
    return 1 + better, 1 + len(spans) - worse


def measures(run: Run, column: PublishedColumn, *tasks: TaskVariant) -> bool:
    """Return whether a run measures the same as a column on one of its tasks, by default any.

    Task, shots, chain of thought and script are the same.
    """
    options, task = run.options, run.kind.task
    cot = task.variant.cot or options.get("cot", "").lower() in ("yes", "true")
    script = "sc" if options.get("script", "").startswith("sc") else task.variant.script
    setup = task.definition.name, run.shots, cot, script
    return any(
        setup
        == (of.definition.name, column.shots_of(of), of.variant.cot, of.variant.script)
        for of in tasks or column.named
    )


def _pooled(runs: Sequence[Run], column: PublishedColumn) -> Estimate | None:
    """Return the figure of a run, or the accuracy over the items of several tasks."""
    if len(runs) == 1:
        return value_of(runs[0], column.metric, column.part)
    if not all("acc" in run.items.values for run in runs):
        return None
    items = Items.joined([run.items for run in runs])
    known = ~np.isnan(items.values["acc"])
    return mean_estimate(items.values["acc"][known], items.clusters[known])


def _mean(parts: Sequence[Standing]) -> Estimate:
    """Return the mean of some columns.

    Columns on the same items, such as cultural ones with and without examples, are correlated: the
    widths of their intervals add up. For different items, the squares of the widths add up.
    """
    spans: dict[tuple[str, ...], float] = defaultdict(float)
    for part in parts:
        tasks = tuple(run.definition.name for run in part.behind)
        low, high = part.figure.low, part.figure.high
        spans[tasks] += np.nan if low is None or high is None else (high - low) / 2
    value = fmean(part.figure.value for part in parts)
    half = sum(span**2 for span in spans.values()) ** 0.5 / len(parts)
    items = sum(part.figure.items for part in parts)
    if np.isnan(half):
        return Estimate(value, None, None, items)
    return Estimate(value, max(value - half, 0.0), min(value + half, 1.0), items)


def headline_column(run: Run) -> TableColumn:
    """Return the column of a run's headline in a table of models and tasks."""
    figure, up, title = (
        run.headline,
        run.headline.higher_is_better,
        run.definition.title,
    )
    under = f"{figure_title(run, figure)} {'↑' if up else '↓'}, {condition_title(run)}"
    under += ", sample data" if run.is_sample else ""
    lower = None if up is None else not up
    return TableColumn(
        title, unit_of(figure), figure.help, lower, under=under, brief=True
    )


def best_and_chance(run: Run) -> tuple[float | None, float | None]:
    """Return the best published score of a run's headline under its condition, and that of random
    answers."""
    rows = [
        (row, column.name)
        for table in (tables_of(run.task) if not why_incomparable(run) else ())
        for column in table.columns
        if len(column.tasks) == 1
        and not (column.part or column.mean_of or column.unmeasured)
        if column.metric == run.headline.name and measures(run, column)
        for row in table.rows
    ]
    scores = [row.scores[name] for row, name in rows if name in row.scores]
    chance = next(
        (row.values[name] for row, name in rows if row.kind == "random"), None
    )
    chances = run.items.values.get(CHANCE)
    if (
        chance is None
        and run.definition.kind == "multiple_choice"
        and chances is not None
    ):
        # As the headline weighs the items, of which each may have another number of options.
        shares = weights(run.headline.over, run.items.subjects, run.kind.categories)
        chance = float(np.dot(shares, chances))
    return (max if run.headline.higher_is_better else min)(scores, default=None), chance
