"""Published scores beside runs: ranks in the papers' tables, as ranges, and tasks as columns.

A run is ranked in a column only if it measures the same: the same task, script, shots, chain of
thought and prompt, decoded greedily or nearly so, with generated answers instead of log-likelihoods,
on real data.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

import numpy as np

from ...declarations import TaskVariant
from ...figures import Figure, Pair, corpus_value, language_of, weights
from ...kinds.base import unlike_paper
from ...messages import joined, say, sentences
from ...signatures import OUTSIDE_THE_PROTOCOL
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
from ..statistics.validity import unread_run
from .blocks import TableColumn, unit_of
from .presentation import condition_title, figure_title, short_title

# HKCanto-Eval's code samples at 0.1; the other papers do not say how they decode.
_HIGHEST_TEMPERATURE = 0.1


@dataclass(frozen=True, eq=False)
class Standing:
    """The figure of a run in a column of a published table.

    It has no ranks if the run was interrupted or lacks items, if figures differ from the harness's,
    or if the data is unknown. The figure's note then says why.

    Attributes:
        table: The table.
        column: The column.
        figure: The figure.
        runs: The runs that it is computed from.
        ranks: The best and the worst rank that its 95 % interval allows.
        total: The number of ranks: the paper's models and the run.
        other: The figure under another reading of the column's average, if the paper does not
            state it.
        remark: What to know of the figure, whether or not it is ranked.
        copy_rank: The rank of a copy of the source, if the column needs it.
    """

    table: PublishedTable
    column: PublishedColumn
    figure: Estimate
    runs: tuple[Run, ...]
    ranks: tuple[int, int] | None
    total: int
    other: Estimate | None = None
    remark: str = ""
    copy_rank: int | None = None

    def is_headline_of(self, run: Run) -> bool:
        """Whether its figure is a run's headline, on all items."""
        is_same = self.runs == (run,) and self.column.metric == run.headline.name
        return is_same and not self.column.part

    @property
    def protocol(self) -> str:
        """Which of the paper's two protocols the run follows; empty if the paper has only one."""
        if not self.table.two_protocols:
            return ""
        options = self.runs[0].options
        chosen = dict.fromkeys(
            options.get(name, "paper") for name in ("prompt", "examples")
        )
        chosen.pop("paper", None)
        return "+".join(chosen) or "appendices"

    @property
    def rank_text(self) -> str:
        """Its ranks among all: `2–4 of 24`; ‡ if the paper has two protocols; empty without ranks."""
        if self.ranks is None:
            return ""
        best, worst = self.ranks
        ranks = f"{best}" if best == worst else f"{best}–{worst}"
        places = {"ranks": ranks, "total": self.total, "copy": self.copy_rank}
        if self.copy_rank:
            return say("{ranks} of {total} (a copy: {copy})", **places)
        if self.protocol:
            return say("{ranks} of {total} ‡", **places)
        return say("{ranks} of {total}", **places)

    @property
    def shown(self) -> Estimate:
        """Its figure, with what to know of it."""
        notes = dict.fromkeys([self.figure.note, self.remark])
        return replace(self.figure, note=joined("; ", filter(None, notes)))


@dataclass(frozen=True, eq=False)
class TableWithRuns:
    """A published table with the runs in it: run → column → standing.

    A run is a model under one set of options.
    """

    table: PublishedTable
    runs: Mapping[str, Mapping[str, Standing]]

    @cached_property
    def standings(self) -> list[Standing]:
        """The runs' figures in its columns."""
        rows = (row.values() for row in self.runs.values())
        return [*chain.from_iterable(rows)]

    @cached_property
    def headline(self) -> PublishedColumn:
        """The column to sort by: one in which a run has a rank, or else a figure, if possible.

        Among equals it is the table's headline, or else the first.
        """
        shown = {standing.column.name for standing in self.standings}
        ranked = {standing.column.name for standing in self.standings if standing.ranks}
        columns = [*self.table.columns]
        if self.table.headline:
            columns.insert(0, self.table.column(self.table.headline))
        return max(
            columns, key=lambda column: (column.name in shown) + (column.name in ranked)
        )


def standings(runs: Sequence[Run]) -> list[TableWithRuns]:
    """Return each published table of models in which a run has a standing."""
    by_name = defaultdict[str, list[Run]](list)
    for run in runs:
        if not why_incomparable(run):
            by_name[" ".join([run.label, *departures(run)])].append(run)
    tables = list[TableWithRuns]()
    for table in published_tables():
        if table.transposed:
            continue
        rows = {name: _row(table, group) for name, group in by_name.items()}
        with_runs = TableWithRuns(
            table, {name: row for name, row in rows.items() if row}
        )
        if not all(standing.column.repeats for standing in with_runs.standings):
            tables.append(with_runs)
    return tables


def _row(table: PublishedTable, runs: Sequence[Run]) -> dict[str, Standing]:
    """Return the standings of a model's runs by column."""
    row = dict[str, Standing]()
    for column in table.columns:
        standing = _standing(column, table, runs)
        if standing is not None:
            row[column.name] = standing
    return row


def rank_of(
    row: PublishedRow,
    table: PublishedTable,
    column: PublishedColumn,
) -> int | None:
    """Return a published model's rank among the others; equal scores share the better rank."""
    score = row.scores.get(column.name)
    if score is None:
        return None
    return _rank_range(
        Estimate(
            score,
            None,
            None,
            0,
        ),
        table,
        column,
    )[0]


def departures(run: Run) -> list[str]:
    """Return the options that differ from the paper's, except those that change the measure."""
    defaults = run.kind.Options()
    return [
        f"{name}:{value}"
        for name, value in run.options.items()
        if name not in ("cot", "script", *OUTSIDE_THE_PROTOCOL)
        and value != str(getattr(defaults, name, None))
    ]


def unlike_papers(run: Run) -> str:
    """Say how a run asks or decodes unlike the papers' models; empty if it does not."""
    if reason := unlike_paper(run.options):
        return reason
    sent = run.sent
    if (sent.temperature or 0) > _HIGHEST_TEMPERATURE:
        return say(
            "sampled at temperature {temperature:g}", temperature=sent.temperature
        )
    settings = dict(run.settings)
    samples = settings.get("do_sample") or settings.get("gen do_sample")
    if sent.temperature is None and str(samples).lower() == "true":
        return say("sampled")
    if sent.reducer not in ("", "mean"):
        return say(
            "the {reducer} of {number} responses",
            reducer=sent.reducer,
            number=sent.repeats,
        )
    return ""


def why_incomparable(run: Run) -> str:
    """Say why a run cannot be in any table; empty if it can."""
    if run.is_sample:
        return say("Results on the sample data cannot be compared with any others.")
    if not run.signature.prompt_known:
        return say(
            "The prompts were not logged: the answers are from another tool's file."
        )
    if run.departure:
        return say(
            "It is not the catalogue's task: {departure}.", departure=say(run.departure)
        )
    if run.outdated:
        return say(
            "It is not the catalogue's task: it {outdated}.", outdated=run.outdated
        )
    if run.kind.task.variant.scoring == "loglikelihood":
        return say(
            "The letters were scored by log-likelihood; the papers' models wrote their answers."
        )
    return ""


def why_left_out(run: Run) -> str:
    """Say why a run is in no table."""
    why = why_incomparable(run)
    if why:
        return why
    reasons = list[str]()
    for table in tables_of(run.task):
        for column in table.columns:
            if measures(run, column):
                reasons.append(
                    say(
                        "{source}, {column}: {reason}.",
                        source=table.source,
                        column=column.name,
                        reason=_why_empty(column),
                    )
                )
    if reasons:
        return sentences(*dict.fromkeys(reasons))
    return say(
        "No paper measured it under this condition ({condition}).",
        condition=run.condition,
    )


def _why_empty(column: PublishedColumn) -> str:
    """Say why a run that measures a column is not in it."""
    if column.unmeasured:
        return say(column.unmeasured)
    if len(column.tasks) > 1:
        return say("it pools several tasks")
    return say("another run of this model is shown")


def _standing(
    column: PublishedColumn,
    table: PublishedTable,
    runs: Sequence[Run],
) -> Standing | None:
    """Return the standing of a model in a column; None if its runs do not measure it."""
    if column.unmeasured:
        return None
    parts = list[Standing]()
    figure: Estimate | None
    if column.mean_of:
        for name in column.mean_of:
            part = _standing(table.column(name), table, runs)
            if part is None:
                return None
            parts.append(part)
        figure, measuring = _mean([part.figure for part in parts], parts)
        other = _other_mean(parts)
    else:
        figure, measuring = _measured(column, runs)
        other = _other_reading(column, measuring)
    if figure is None:
        return None
    rivals = len(_scores(table, column))
    standing = Standing(
        table,
        column,
        figure,
        measuring,
        ranks=_rank_range(figure, table, column),
        total=rivals + 1,
        other=other,
        remark=_remark(column, parts, other),
        copy_rank=_copy_rank(table, column, measuring),
    )
    if reason := _why_no_rank(standing):
        figure = replace(figure, note=reason)
        standing = replace(standing, figure=figure, ranks=None)
    return standing


def _remark(
    column: PublishedColumn,
    parts: Sequence[Standing],
    other: Estimate | None,
) -> str:
    """Return what to know of a figure in a column: remarks, and another reading of its average."""
    columns = [column, *(part.column for part in parts)]
    remarks = [say(averaged.remark) for averaged in columns]
    for averaged in columns:
        if other and averaged.other:
            remark = say(
                "our reading; as {reading}: {score}",
                reading=say(averaged.other.title),
                score=f"{100 * other.value:.1f}",
            )
            remarks.append(remark)
    return joined("; ", dict.fromkeys(filter(None, remarks)))


def _why_no_rank(standing: Standing) -> str:
    """Say why a figure lacks a rank; empty if it has one."""
    column = standing.column
    if standing.figure.note:
        return standing.figure.note
    if column.unranked:
        return say(column.unranked)
    if standing.total == 1:
        return say("its table has no models")
    if column.shows_copy and standing.copy_rank is None:
        return say("its log lacks the sources, so a copy cannot be ranked beside it")
    other = standing.other
    if other and standing.ranks != _rank_range(other, standing.table, column):
        return say("the rank depends on how the paper averages, which is not stated")
    return ""


def _copy_rank(
    table: PublishedTable,
    column: PublishedColumn,
    runs: Sequence[Run],
) -> int | None:
    """Return the rank of a copy of the source on the items of a run; None if not needed."""
    if not column.shows_copy:
        return None
    (run,) = runs
    pairs = [Pair(pair.source, pair.reference, pair.source) for pair in run.items.pairs]
    if not all(pair.source for pair in pairs):
        return None
    copied = corpus_value(run.figures[column.metric], pairs, language_of(run.kind.task))
    better = [score for score in _scores(table, column) if score > copied]
    return 1 + len(better)


def _other_reading(column: PublishedColumn, runs: Sequence[Run]) -> Estimate | None:
    """Return a column's figure under its other reading; None if it has one reading."""
    if not (column.other and runs):
        return None
    if column.other.metric:
        return value_of(runs[0], column.other.metric, column.part)
    figures = [value_of(run, column.metric, column.part) for run in runs]
    known = [figure for figure in figures if figure]
    if len(known) < len(runs):
        return None
    half = _half_width(known, [*map(str, range(len(known)))])
    return _with_half_width(known, half)


def _other_mean(parts: Sequence[Standing]) -> Estimate | None:
    """Return a mean of columns under the other reading of some of them."""
    if not any(part.other for part in parts):
        return None
    figure, _ = _mean([part.other or part.figure for part in parts], parts)
    return figure


def _measured(
    column: PublishedColumn, runs: Sequence[Run]
) -> tuple[Estimate | None, tuple[Run, ...]]:
    """Return the estimate for a column, why it lacks a rank, and its runs.

    Each of the column's tasks has to be run. Among several runs, a complete one goes before the
    latest.
    """
    chosen = list[Run]()
    for task in column.named:
        alike = [run for run in runs if measures(run, column, task)]
        if not alike:
            return None, ()
        chosen.append(
            max(alike, key=lambda run: (run.is_complete(column.part), run.created))
        )
    figure = _pooled(chosen, column)
    reason = _why_unranked(chosen, column)
    return figure and replace(figure, note=reason), tuple(chosen)


def _scores(table: PublishedTable, column: PublishedColumn) -> list[float]:
    """Return the scores of the paper's models in a column."""
    return [row.scores[column.name] for row in table.rows if column.name in row.scores]


def _why_unranked(runs: Sequence[Run], column: PublishedColumn) -> str:
    """Say why runs that measure a column lack a rank in it; empty if they have one."""
    for run in runs:
        if reason := say(run.unfinished) or unlike_papers(run):
            return reason
        if unread_run(run):
            return say("answers unread")
    if not all(run.is_complete(column.part) for run in runs):
        return say("not all items")
    if not all(run.trusted_data for run in runs):
        return say("unknown data")
    if any(run.options.get("rationale") == "paper" for run in runs):
        return say("one example for all subjects")
    if any(harness_agreement(run).different for run in runs):
        return say("unlike the harness's figure")
    return ""


def _rank_range(
    figure: Estimate,
    table: PublishedTable,
    column: PublishedColumn,
) -> tuple[int, int]:
    """Return the best and the worst rank that a run may have among the paper's models.

    A model is surely better, or surely worse, if the interval of the difference excludes 0.
    """
    sign = -1 if column.lower_is_better else 1
    oriented = figure.times(sign)
    measure = column.measure
    rivals = [
        _rival(score, figure, measure).times(sign) for score in _scores(table, column)
    ]
    better = sum(is_above(rival, oriented) for rival in rivals)
    worse = sum(is_above(oriented, rival) for rival in rivals)
    return 1 + better, 1 + len(rivals) - worse


def _rival(
    score: float,
    figure: Estimate,
    measure: Figure | None,
) -> Estimate:
    """Return a published score with the interval of as many items as a run's figure.

    A score that is not a share has an interval as wide as the run's.
    """
    rival = Estimate(
        score,
        None,
        None,
        0,
    )
    if measure is not None:
        rival = published_estimate(score, figure.items, measure)
    if rival.low is not None or figure.low is None or figure.high is None:
        return rival
    low = score - (figure.value - figure.low)
    high = score + (figure.high - figure.value)
    return Estimate(
        score,
        low,
        high,
        figure.items,
    )


def measures(
    run: Run,
    column: PublishedColumn,
    *tasks: TaskVariant,
) -> bool:
    """Return whether a run measures the same as a column on one of its tasks, by default any.

    Task, shots, chain of thought and script are the same.
    """
    options = run.options
    task = run.kind.task
    cot = task.variant.cot or options.get("cot", "").lower() in ("yes", "true")
    script = task.variant.script
    if options.get("script", "").startswith("sc"):
        script = "sc"
    condition = task.definition.name, run.shots, cot, script
    for other in tasks or column.named:
        variant = other.variant
        shots = column.shots_of(other)
        if condition == (other.definition.name, shots, variant.cot, variant.script):
            return True
    return False


def _pooled(runs: Sequence[Run], column: PublishedColumn) -> Estimate | None:
    """Return the figure of a run, or the accuracy over the items of several tasks."""
    if len(runs) == 1:
        return value_of(runs[0], column.metric, column.part)
    if not all("acc" in run.items.values for run in runs):
        return None
    items = Items.joined([run.items for run in runs])
    known = ~np.isnan(items.values["acc"])
    return mean_estimate(items.values["acc"][known], items.clusters[known])


def _mean(
    figures: Sequence[Estimate], parts: Sequence[Standing]
) -> tuple[Estimate, tuple[Run, ...]]:
    """Return the mean of the figures of some columns, and the columns' runs.

    Columns on the same items, such as cultural ones with and without examples, are correlated: the
    widths of their intervals add up. For different items, the squares of the widths add up.
    """
    runs = tuple(chain.from_iterable(part.runs for part in parts))
    tasks = [" ".join(run.definition.name for run in part.runs) for part in parts]
    return _with_half_width(figures, _half_width(figures, tasks)), runs


def _with_half_width(figures: Sequence[Estimate], half: float | None) -> Estimate:
    """Return the mean of figures with an interval of this half width, if it is known."""
    value = fmean(figure.value for figure in figures)
    mean = Estimate(
        value,
        None,
        None,
        sum(figure.items for figure in figures),
        next((figure.note for figure in figures if figure.note), ""),
    )
    if half is None:
        return mean
    return replace(mean, low=max(value - half, 0.0), high=min(value + half, 1.0))


def _half_width(figures: Sequence[Estimate], items: Sequence[str]) -> float | None:
    """Return half the width of a mean's interval; None if a figure has no interval.

    Args:
        figures: The figures.
        items: The items of each figure, by a name.
    """
    widths = defaultdict[str, float](float)
    for figure, name in zip(figures, items, strict=True):
        if figure.low is None or figure.high is None:
            return None
        widths[name] += (figure.high - figure.low) / 2
    total = sum(width**2 for width in widths.values())
    return float(total**0.5 / len(figures))


def headline_column(run: Run) -> TableColumn:
    """Return the column of a run's headline in a table of models and tasks."""
    figure = run.headline
    higher = figure.higher_is_better
    arrow = "↑" if higher else "↓"
    places = {
        "figure": figure_title(run, figure),
        "arrow": arrow,
        "condition": condition_title(run),
        "number": len(set(run.items.ids)),
    }
    under = say("{figure} {arrow}, {condition}, {number:,} items", **places)
    if run.is_sample:
        under = say(
            "{figure} {arrow}, {condition}, sample data, {number:,} items", **places
        )
    return TableColumn(
        short_title(run.definition),
        unit_of(figure),
        figure.help,
        lower_is_better=None if higher is None else not higher,
        under=under,
        strip=True,
    )


class PublishedBest(NamedTuple):
    """The best published score of a figure, and the model that has it."""

    score: float
    model: str


def best_published(run: Run) -> PublishedBest | None:
    """Return the best published score of a run's headline under its condition."""
    scores = [
        PublishedBest(row.scores[column.name], row.model)
        for row, column in _headline_cells(run)
        if column.name in row.scores
    ]
    best = max if run.headline.higher_is_better else min
    return best(scores, default=None, key=attrgetter("score"))


def chance(run: Run) -> float | None:
    """Return the score of random answers: the papers', or else that of the items' options."""
    for row, column in _headline_cells(run):
        published = row.values[column.name]
        if row.kind == "random" and published is not None:
            return published
    chances = run.items.values.get(CHANCE)
    if chances is None or run.definition.kind != "multiple_choice":
        return None
    # As the headline weighs the items, which may differ in their number of options.
    shares = weights(run.headline.over, run.items.subjects, run.kind.categories)
    return float(np.dot(shares, chances))


def _headline_cells(run: Run) -> Iterator[tuple[PublishedRow, PublishedColumn]]:
    """Yield the rows of the papers with a run's headline under its condition, and the columns."""
    if why_incomparable(run):
        return
    for table in tables_of(run.task):
        for column in table.columns:
            if _is_of_headline(column, run) and measures(run, column):
                for row in table.rows:
                    yield row, column


def _is_of_headline(column: PublishedColumn, run: Run) -> bool:
    """Whether a column has a run's headline on a whole task, and nothing else."""
    is_plain = not (column.part or column.mean_of or column.unmeasured)
    return is_plain and column.metric == run.headline.name and len(column.tasks) == 1
