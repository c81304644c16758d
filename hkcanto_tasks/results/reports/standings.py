"""Published scores beside runs: ranks in the papers' tables, as ranges, and tasks as columns.

A run is ranked in a column only if it measures the same: with the same task, script, shots and
chain of thought, generated answers (not log-likelihoods), and not on the sample data.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from ...declarations import TaskVariant
from ...figures import weights
from ..logs.items import CHANCE
from ..published import PublishedColumn, PublishedRow, PublishedTable, published_tables, tables_of
from ..runs import Items, Run
from ..statistics.estimates import is_of_harness, mean_estimate, value_of
from ..statistics.intervals import Estimate, is_above, of_items
from .blocks import Column, column_of
from .presentation import condition_title, figure_title, side_by_side


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
    ranks: tuple[int, int] | None  # the best and the worst rank that its 95 % interval allows
    of: int  # the paper's models and the run

    def is_headline_of(self, run: Run) -> bool:
        """Whether its figure is a run's headline, on all items."""
        column = self.column
        is_part = column.category or column.subject
        same = (self.behind, column.metric) == ((run,), run.headline.name)
        return same and not is_part

    @property
    def rank(self) -> str:
        """The ranks as text: `2–4`; empty without ranks."""
        best, worst = self.ranks or ("", "")
        return str(best) if best == worst else f"{best}–{worst}"

    @property
    def followed(self) -> str:
        """Which of the paper's two protocols the run follows; empty if the paper has only one."""
        options = self.behind[0].options
        chosen = {options.get(name, "paper") for name in ("prompt", "examples")} - {"paper"}
        return ("+".join(chosen) or "appendices") if self.table.two_protocols else ""

    @property
    def mark(self) -> str:
        """The protocol as text after a rank: ` (appendices†)`."""
        return f" ({self.followed}†)" if self.followed else ""

    @property
    def place(self) -> str:
        """Its ranks among all: `2–4 of 24 (appendices†)`."""
        return f"{self.rank} of {self.of}{self.mark}"


@dataclass(frozen=True, eq=False)
class Beside:
    """A published table with the runs in it: run → column → standing. A run is a model under one
    set of options. The headline is the table's own, or else the first column with a run.
    """

    table: PublishedTable
    headline: PublishedColumn
    runs: Mapping[str, Mapping[str, Standing]]

    @property
    def behind(self) -> list[Run]:
        """The distinct results behind the runs' figures."""
        found = [each for own in self.runs.values() for each in own.values()]
        return list(dict.fromkeys(one for each in found for one in each.behind))


def standings(runs: Sequence[Run]) -> list[Beside]:
    """Return each published table of models in which a run has a place."""
    named: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if not why_incomparable(run):
            options = [f"{name}:{value}" for name, value in departures(run).items()]
            named[" ".join([run.label, *options])].append(run)
    found = []
    for table in (each for each in published_tables() if not each.transposed):
        own = {
            name: {each.name: of for each in table.columns if (of := _standing(each, table, group))}
            for name, group in named.items()
        }
        own = {name: columns for name, columns in own.items() if columns}
        every = [each for columns in own.values() for each in columns.values()]
        if not all(each.column.repeats for each in every):
            # The headline if a run has it, or else the first column with a run, ranked if possible.
            known = Counter({each.column.name for each in every})
            known.update({each.column.name for each in every if each.ranks})
            first = [table.column(table.headline)] if table.headline else []
            headline = max([*first, *table.columns], key=lambda column: known[column.name])
            found.append(Beside(table, headline, own))
    return found


def rank_of(row: PublishedRow, table: PublishedTable, column: PublishedColumn) -> int | None:
    """Return a published model's rank among the others; equal scores share the better rank."""
    score = row.scores.get(column.name)
    if score is None:
        return None
    return _places(Estimate(score, None, None, 0), table, column)[0]


def departures(run: Run) -> Mapping[str, str]:
    """Return the options that differ from the paper's, except those that change the measure."""
    defaults = run.setup.Options()
    return {
        name: value
        for name, value in run.options.items()
        if name not in ("cot", "script", "rescored") and value != str(getattr(defaults, name, None))
    }


def why_incomparable(run: Run) -> str:
    """Say why a run cannot be in any table; empty if it can."""
    if run.is_sample:
        return "Results on the sample data cannot be compared with any others."
    if not run.signature.prompt_known:
        return "The prompts were not logged: the answers are from another tool's file."
    if run.departure:
        return f"It is not the catalogue's task: {run.departure}."
    if run.setup.task.variant.scoring == "loglikelihood":
        return "The letters were scored by log-likelihood; the papers' models wrote their answers."
    return ""


def why_left_out(run: Run) -> str:
    """Say why a run is in no table."""
    where = []
    for table in tables_of(run.task):
        for column in table.columns:
            if any(measures(run, task, column.shots_of(task)) for task in column.named):
                pooled = "it pools several tasks" if len(column.tasks) > 1 else ""
                why = column.unmeasured or pooled or "another run of this model is shown"
                where.append(f"{table.source}, {column.name}: {why}.")
    no_figure = f"The papers have no figure for it under this condition ({run.condition})."
    return why_incomparable(run) or " ".join(dict.fromkeys(where)) or no_figure


def _standing(
    column: PublishedColumn, table: PublishedTable, run: Sequence[Run]
) -> Standing | None:
    if column.unmeasured:
        return None
    if column.mean_of:
        parts = [_standing(table.column(name), table, run) for name in column.mean_of]
        known = [part for part in parts if part]
        if len(known) < len(parts):
            return None
        behind = [one for part in known for one in part.behind]
        value: Estimate | None = _mean(known)
        reason = next((part.figure.note for part in known if part.figure.note), "")
    else:
        behind = []
        for task in column.named:
            same = [one for one in run if measures(one, task, column.shots_of(task))]
            if not same:
                return None
            behind.append(max(same, key=lambda one: (one.is_complete(_part(column)), one.created)))
        one, pooled = behind[0], len(behind) > 1
        value = _pooled(behind) if pooled else value_of(one, column.metric, _part(column))
        reason = _why_unranked(behind, column)
    if value is None:
        return None
    others = len(_scores(table, column))
    reason = reason or ("" if others else "its table has no models")
    ranks = None if reason else _places(value, table, column)
    return Standing(table, column, replace(value, note=reason), tuple(behind), ranks, others + 1)


def _scores(table: PublishedTable, column: PublishedColumn) -> list[float]:
    """Return the scores of the paper's models in a column."""
    return [row.scores[column.name] for row in table.rows if column.name in row.scores]


def _why_unranked(runs: Sequence[Run], column: PublishedColumn) -> str:
    reasons = {
        next((one.unfinished for one in runs if one.unfinished), ""): True,
        "not all items": not all(one.is_complete(_part(column)) for one in runs),
        "unknown data": not all(one.trusted_data for one in runs),
        "one example for all subjects": any(
            one.options.get("rationale") == "paper" for one in runs
        ),
        "unlike the harness's figure": not all(is_of_harness(one) for one in runs),
    }
    return next((reason for reason, holds in reasons.items() if reason and holds), "")


def _places(value: Estimate, table: PublishedTable, column: PublishedColumn) -> tuple[int, int]:
    """Return the best and the worst rank that a run may have among the paper's models.

    A model is surely better, or surely worse, if the interval of the difference excludes 0. Its
    share has the interval of as many items; another score has one as wide as the run's.
    """
    sign, figure, spans = -1 if column.lower_is_better else 1, column.measure, list[Estimate]()
    for score in _scores(table, column):
        other = of_items(score, value.items, figure) if figure else Estimate(score, None, None, 0)
        if other.low is None and value.low is not None and value.high is not None:
            ends = score - (value.value - value.low), score + (value.high - value.value)
            other = Estimate(score, *ends, value.items)
        spans.append(other.times(sign))
    own = value.times(sign)
    better = sum(is_above(other, own) for other in spans)
    worse = sum(is_above(own, other) for other in spans)
    return 1 + better, 1 + len(spans) - worse


def measures(run: Run, task: TaskVariant, shots: int) -> bool:
    """Return whether a result measures the same as a column: task, shots, CoT and script."""
    own, options = run.setup.task, run.options
    return (own.definition.name, run.shots) == (task.definition.name, shots) and (
        own.variant.cot or options.get("cot", "").lower() in ("yes", "true"),
        "sc" if options.get("script", "").startswith("sc") else own.variant.script,
    ) == (task.variant.cot, task.variant.script)


def _part(column: PublishedColumn) -> str:
    """Return the part of its tasks that a column covers; empty for all of them."""
    return column.category or column.subject


def _pooled(runs: Sequence[Run]) -> Estimate | None:
    """Return the accuracy over the items of several tasks."""
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
        tasks = tuple(one.definition.name for one in part.behind)
        low, high = part.figure.low, part.figure.high
        spans[tasks] += np.nan if low is None or high is None else (high - low) / 2
    value = fmean(part.figure.value for part in parts)
    half = sum(span**2 for span in spans.values()) ** 0.5 / len(parts)
    items = sum(part.figure.items for part in parts)
    if np.isnan(half):
        return Estimate(value, None, None, items)
    return Estimate(value, max(value - half, 0.0), min(value + half, 1.0), items)


@dataclass(frozen=True, eq=False)
class Contest:
    """A task under one condition: each model's run, and scores to compare them with."""

    runs: Mapping[str, Run]
    best: float | None  # the best published score
    chance: float | None  # the score of random answers

    @property
    def some(self) -> Run:
        """One of the runs: all have its task, figure and condition."""
        return next(iter(self.runs.values()))

    @property
    def column(self) -> Column:
        """The column of the headline."""
        some, figure = self.some, self.some.headline
        arrow = "↑" if figure.higher_is_better else "↓"
        under = [f"{figure_title(some, figure)} {arrow}", condition_title(some)]
        under += ["sample data"] if some.is_sample else []
        column = column_of(figure, some.definition.title)
        return replace(column, under=", ".join(under), brief=True)


def contests(runs: Iterable[Run]) -> list[Contest]:
    """Return the tasks of some runs, one for each task, condition and data."""
    found = []
    for group in side_by_side(runs):
        some = group.runs[0]
        columns = columns_of(some)
        rows = [(row, column.name) for table, column in columns for row in table.rows]
        scores = [row.scores[name] for row, name in rows if name in row.scores]
        chance = next((row.values[name] for row, name in rows if row.kind == "random"), None)
        chances = some.items.values.get(CHANCE)
        if chance is None and some.definition.kind == "multiple_choice" and chances is not None:
            # As the headline weighs the items, of which each may have another number of options.
            shares = weights(some.headline.over, some.items.subjects, some.setup.categories)
            chance = float(np.dot(shares, chances))
        best = (max if some.headline.higher_is_better else min)(scores, default=None)
        found.append(Contest({run.label: run for run in group.runs}, best, chance))
    return found


def columns_of(some: Run) -> list[tuple[PublishedTable, PublishedColumn]]:
    """Return the papers' columns with the headline of a result under its condition."""
    if why_incomparable(some):
        return []
    return [
        (table, column)
        for table in tables_of(some.task)
        for column in table.columns
        if len(column.tasks) == 1 and not (column.category or column.subject or column.mean_of)
        if not column.unmeasured and column.metric == some.headline.name
        if any(measures(some, task, column.shots_of(task)) for task in column.named)
    ]
