"""The runs beside the papers' tables: on the same measure only, with rank and distances.

A run stands in a column if it measures the same: same task, script, shots, and whether a chain of
thought was asked for; answers generated, not ranked by likelihood; and not the sample data. What
else differs from the paper is said below the table.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from ...catalogue import NamedTask
from ..blocks import Block, Cell, Chart, Column, Note, Row, Section, Table
from ..evaluations import Evaluation
from ..figures import Figure, figure, mean_figure
from ..published import (
    PublishedColumn,
    PublishedRow,
    PublishedTable,
    RowKind,
    published_tables,
    tables_of,
)
from .presentation import chart

_SHOWN_KINDS: Mapping[RowKind, Any] = {"model": "published", "human": "human", "random": "random"}
_BLOCK_UNITS: Mapping[str, Any] = {"percent": "percent", "score": "number", "number": "number"}
_DEPARTURES = {
    "prompt": "its prompt is {value} instead of the paper's",
    "shuffle_choices": "its options are shuffled (seed {value})",
    "reasoning": "it had room for a reasoning block",
    "examples": "its worked examples are those of the {value}",
}
_INCOMPLETE = "not all items"
_ROW_HEIGHT = 16  # pixels


@dataclass(frozen=True, eq=False)
class _Run:
    """One row of the tables: a model under one set of options, with all tasks that it ran."""

    name: str
    evaluations: Sequence[Evaluation]


@dataclass(frozen=True, eq=False)
class _Result:
    """The figure of a run in a column, and what it comes from."""

    figure: Figure
    complete: bool
    evaluations: tuple[Evaluation, ...]


_Results = Mapping[str, _Result | None]


@dataclass(frozen=True, eq=False)
class _Beside:
    """A published table with the runs that have a figure in it."""

    table: PublishedTable
    results: Mapping[str, _Results]

    @property
    def evaluations(self) -> list[Evaluation]:
        """What the runs' figures come from."""
        return [one for results in self.results.values() for one in _behind(results)]


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section for each published table that a run can stand in, and what cannot."""
    runs = _runs(evaluations)
    tables = [beside for table in published_tables() if (beside := _beside(table, runs))]
    found = [_section(beside, runs) for beside in tables]
    used = {id(one) for beside in tables for one in beside.evaluations}
    left_out = [one for one in evaluations if id(one) not in used]
    if left_out:
        notes = list(_left_out(left_out))
        found.append(
            Section(
                "Not beside published figures",
                notes,
                name="published-not-compared",
                is_summary=True,
            )
        )
    return found


def _runs(evaluations: Sequence[Evaluation]) -> list[_Run]:
    rows: dict[str, list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        if not _why_incomparable(evaluation):
            departures = [f"{name}:{value}" for name, value in _departures(evaluation).items()]
            rows[" ".join([evaluation.label, *departures])].append(evaluation)
    return [_Run(name, found) for name, found in rows.items()]


def _beside(table: PublishedTable, runs: Sequence[_Run]) -> _Beside | None:
    of_its_own = [column for column in table.columns if not column.repeats]
    if not any(_result(column, table, run) for run in runs for column in of_its_own):
        return None
    results = {
        run.name: {column.name: _result(column, table, run) for column in table.columns}
        for run in runs
    }
    return _Beside(table, {name: row for name, row in results.items() if any(row.values())})


def _result(column: PublishedColumn, table: PublishedTable, run: _Run) -> _Result | None:
    if column.unmeasured:
        return None
    if column.mean_of:
        parts = [_result(table.column(name), table, run) for name in column.mean_of]
        return _mean([part for part in parts if part]) if all(parts) else None
    chosen = []
    for task in column.named:
        same = [one for one in run.evaluations if _measures(one, task, column.shots_of(task))]
        if not same:
            return None
        chosen.append(max(same, key=lambda one: (_is_complete(one, column), one.created)))
    found = _pooled(chosen) if len(chosen) > 1 else _figure(chosen[0], column)
    if found is None:
        return None
    return _Result(found, all(_is_complete(one, column) for one in chosen), tuple(chosen))


def _measures(evaluation: Evaluation, task: NamedTask, shots: int) -> bool:
    own, options = evaluation.named, evaluation.options
    return (own.entry.name, evaluation.shots) == (task.entry.name, shots) and (
        own.variant.cot or options.get("cot", "").lower() in ("yes", "true"),
        "sc" if options.get("script") == "sc" else own.variant.script,
    ) == (task.variant.cot, task.variant.script)


def _figure(evaluation: Evaluation, column: PublishedColumn) -> Figure | None:
    subjects = [subject.name for subject in column.subjects_of(evaluation.named)]
    where = evaluation.items.of_subjects(subjects) if _is_restricted(column) else None
    return figure(evaluation, column.metric, where)


def _is_complete(evaluation: Evaluation, column: PublishedColumn) -> bool:
    if evaluation.complete or not _is_restricted(column):
        return evaluation.complete
    subjects = column.subjects_of(evaluation.named)
    own = evaluation.items.of_subjects([subject.name for subject in subjects])
    ids = {name for name, counts in zip(evaluation.items.ids, own, strict=True) if counts}
    return len(ids) == sum(subject.rows for subject in subjects)


def _is_restricted(column: PublishedColumn) -> bool:
    return bool(column.category or column.subject)


def _pooled(evaluations: Sequence[Evaluation]) -> Figure | None:
    """Return the accuracy over the questions of several tasks."""
    values, clusters, first = [], [], 0
    for evaluation in evaluations:
        of_items = evaluation.items.values.get("acc")
        if of_items is None:
            return None
        there = ~np.isnan(of_items)
        values.append(of_items[there])
        clusters.append(evaluation.items.clusters[there] + first)
        first = int(clusters[-1].max(initial=first)) + 1
    return mean_figure(np.concatenate(values), np.concatenate(clusters))


def _mean(parts: Sequence[_Result]) -> _Result:
    """Return the mean of some columns.

    Columns on the same questions, such as cultural ones with and without examples, rise and fall
    together: their intervals add up; those on different questions do so in squares.
    """
    spans: dict[tuple[str, ...], float] = defaultdict(float)
    known = True
    for part in parts:
        tasks = tuple(one.named.entry.name for one in part.evaluations)
        low, high = part.figure.low, part.figure.high
        if low is None or high is None:
            known = False
        else:
            spans[tasks] += (high - low) / 2
    value = fmean(part.figure.value for part in parts)
    half = sum(span**2 for span in spans.values()) ** 0.5 / len(parts)
    low, high = (max(value - half, 0.0), min(value + half, 1.0)) if known else (None, None)
    evaluations = tuple(one for part in parts for one in part.evaluations)
    items = sum(part.figure.items for part in parts)
    whole = Figure(value, low, high, items)
    return _Result(whole, all(part.complete for part in parts), evaluations)


def _section(beside: _Beside, runs: Sequence[_Run]) -> Section:
    table = beside.table
    blocks: list[Block] = []
    if table.transposed:
        blocks.append(_by_subject(beside))
    else:
        column = _headline(beside)
        blocks += [_chart(beside, column), _scores(beside, column), _distances(beside, column)]
    blocks += [
        _protocol(run, beside.results[run.name]) for run in runs if run.name in beside.results
    ]
    if table.protocol:
        blocks.append(Note(f"{table.source}: {table.protocol}"))
    name = f"published-{table.name}".replace("_", "-")
    return Section(f"{table.source}: {table.title}", blocks, name, is_summary=True)


def _headline(beside: _Beside) -> PublishedColumn:
    """Return the column to sort by: the table's headline, or the first one that a run has."""
    table = beside.table
    columns = [table.column(table.headline), *table.columns]

    def best(column: PublishedColumn) -> int:
        found = [results[column.name] for results in beside.results.values()]
        return max(1 + one.complete if one else 0 for one in found)

    return max(columns, key=best)


def _ranked(beside: _Beside, column: PublishedColumn) -> list[float]:
    """Return the scores that have a rank: those of the models, and of runs with all items."""
    results = [row[column.name] for row in beside.results.values()]
    return [
        *(score for row, score in _scored(beside.table, column) if row.kind == "model"),
        *(result.figure.value for result in results if result and result.complete),
    ]


def _rank(score: float | None, ranked: Sequence[float], column: PublishedColumn) -> Cell:
    """Return a score's place; equal scores share the better one."""
    if score is None:
        return Cell(None)
    sign = -1 if column.lower_is_better else 1
    return Cell(1 + sum(sign * other > sign * score for other in ranked))


def _run_rank(result: _Result | None, ranked: Sequence[float], column: PublishedColumn) -> Cell:
    if result and not result.complete:
        return Cell(None, note=_INCOMPLETE)
    return _rank(result.figure.value if result else None, ranked, column)


def _scores(beside: _Beside, headline: PublishedColumn) -> Table:
    table = beside.table
    ranked = _ranked(beside, headline)
    rows: list[tuple[float | None, Row]] = []
    for row in table.rows:
        score = row.values[headline.name]
        rank = _rank(score, ranked, headline) if row.kind == "model" else Cell(None)
        cells = [Cell(row.values[column.name]) for column in table.columns]
        kind = _SHOWN_KINDS.get(row.kind, "other")
        rows.append((score, Row([Cell(row.model), rank, *cells], kind)))
    for name, results in beside.results.items():
        score, _, _ = _ends(results[headline.name])
        rank = _run_rank(results[headline.name], ranked, headline)
        cells = [_cell(results[column.name]) for column in table.columns]
        rows.append((score, Row([Cell(name), rank, *cells], "run")))
    sign = 1 if headline.lower_is_better else -1
    rows.sort(key=lambda pair: (pair[0] is None, sign * (pair[0] or 0)))
    return Table(
        table.title,
        [
            Column("Model"),
            Column("Rank", "rank", "Place among the models, of the paper and of this report."),
            *(
                Column(
                    column.name,
                    _BLOCK_UNITS[column.unit],
                    help=_help(column),
                    lower_is_better=column.lower_is_better,
                )
                for column in table.columns
            ),
        ],
        [row for _, row in rows],
        caption=f"{table.source}, and the runs of this report, by {headline.name}. "
        "Intervals are of 95 %; the papers give none. What is not of all items has no rank.",
        name=f"published_{table.name}",
    )


def _by_subject(beside: _Beside) -> Table:
    table = beside.table
    rows = [
        Row(
            [
                Cell(column.name),
                *(_cell(results[column.name]) for results in beside.results.values()),
                *(Cell(row.values[column.name]) for row in table.rows),
            ]
        )
        for column in table.columns
    ]
    names = [*beside.results, *(row.model for row in table.rows)]
    return Table(
        table.title,
        [Column("Subject"), *(Column(name, "percent") for name in names)],
        rows,
        caption=f"The runs of this report, and {table.source}. Intervals are of 95 %.",
        name=f"published_{table.name}",
    )


def _distances(beside: _Beside, column: PublishedColumn) -> Table:
    references = [*_best(beside.table, column), *_others(beside.table, column)]
    ranked = _ranked(beside, column)
    scale = 100 if column.unit == "score" else 1
    rows = []
    for name, results in beside.results.items():
        result = results[column.name]
        if result is None:
            continue
        cells = [Cell(name), _cell(result), _run_rank(result, ranked, column)]
        for _, score in references:
            value, low, high = (
                None if end is None else (end - score) / scale for end in _ends(result)
            )
            cells.append(Cell(value, low, high))
        rows.append(Row(cells, "run"))
    better = "less" if column.lower_is_better else "more"
    explained = f"The run's {column.name} minus theirs: {better} is better."
    return Table(
        f"Distances in {column.name}",
        [
            Column("Run"),
            Column(column.name, _BLOCK_UNITS[column.unit], _help(column), column.lower_is_better),
            Column("Rank", "rank", f"Place among {len(ranked)} models."),
            *(Column(f"To {name}", "points", explained) for name, _ in references),
        ],
        rows,
        caption=f"In points: {explained[0].lower()}{explained[1:]} The intervals are the runs'.",
        name=f"published_{beside.table.name}_distances",
    )


def _best(table: PublishedTable, column: PublishedColumn) -> Iterator[tuple[str, float]]:
    """Yield the best model of the paper, if there is any, and its score."""
    models = [(row, score) for row, score in _scored(table, column) if row.kind == "model"]
    if models:
        choose = min if column.lower_is_better else max
        row, score = choose(models, key=lambda pair: pair[1])
        yield f"the best model, {row.model}", score


def _others(table: PublishedTable, column: PublishedColumn) -> Iterator[tuple[str, float]]:
    """Yield what is no model: people, random answers, programs, the average of the models."""
    for row, score in _scored(table, column):
        if row.kind != "model":
            yield "the average of the models" if row.kind == "average" else row.model, score


def _scored(table: PublishedTable, column: PublishedColumn) -> list[tuple[PublishedRow, float]]:
    scores = ((row, row.values[column.name]) for row in table.rows)
    return [(row, score) for row, score in scores if score is not None]


def _chart(beside: _Beside, column: PublishedColumn) -> Chart:
    import altair as alt

    table = beside.table
    whose = ["this report", "the paper"]
    dots: list[dict[str, Any]] = [
        {"name": row.model, "value": score, "whose": whose[1]}
        for row, score in _scored(table, column)
        if row.kind == "model"
    ]
    for name, results in beside.results.items():
        value, low, high = _ends(results[column.name])
        if value is not None:
            datum = {"name": name, "value": value, "low": low, "high": high, "whose": whose[0]}
            dots.append({key: end for key, end in datum.items() if end is not None})
    dots.sort(key=lambda dot: dot["value"], reverse=not column.lower_is_better)
    names = list(dict.fromkeys(dot["name"] for dot in dots))
    others = dict(_others(table, column))
    rules = [{"name": name, "value": score} for name, score in others.items()]
    shown = ".1%" if column.unit == "percent" else ".3~g"
    axis = alt.Axis(format="~%" if column.unit == "percent" else "~g")
    base = alt.Chart(alt.InlineData(values=dots)).encode(
        y=alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=190)),
        tooltip=[
            alt.Tooltip("name:N", title="Model"),
            alt.Tooltip("value:Q", title=column.name, format=shown),
            alt.Tooltip("low:Q", title="95 % from", format=shown),
            alt.Tooltip("high:Q", title="to", format=shown),
        ],
    )
    below = alt.Legend(orient="bottom", columns=2, labelLimit=240)
    layers = [
        base.mark_point(filled=True, opacity=1, size=70).encode(
            x=alt.X("value:Q", title=column.name, axis=axis),
            color=alt.Color("whose:N", sort=whose, title=None, legend=below),
            shape=alt.Shape("whose:N", sort=whose, legend=None),
        ),
        base.transform_filter("isValid(datum.low)")
        .mark_rule()
        .encode(x="low:Q", x2="high:Q", color=alt.Color("whose:N", sort=whose, title=None)),
    ]
    if rules:
        layers.insert(
            0,
            alt.Chart(alt.InlineData(values=rules))
            .mark_rule(color="gray", strokeWidth=2)
            .encode(
                x="value:Q",
                strokeDash=alt.StrokeDash("name:N", title=None, legend=below),
                tooltip=[
                    alt.Tooltip("name:N", title=" "),
                    alt.Tooltip("value:Q", title=column.name, format=shown),
                ],
            ),
        )
    lines = f" Lines mark {', '.join(others)}." if others else ""
    return Chart(
        f"{column.name}: {table.source}",
        chart(alt.layer(*layers), height=alt.Step(_ROW_HEIGHT)),
        f"A dot for each model's {column.name}, best on top, with those of this report among those "
        f"of the paper.{lines}",
    )


def _protocol(run: _Run, results: _Results) -> Note:
    """Say how a run was made, and in what that differs from the paper."""
    behind = _behind(results)
    differences = [
        _DEPARTURES.get(name, "it was run with {name}:{value}").format(name=name, value=value)
        for name, value in _departures(behind[0]).items()
    ]
    for one in behind:
        if not one.complete:
            rows = sum(subject.rows for subject in one.named.subjects)
            count = len(set(one.items.ids))
            differences.append(f"{one.task} has {count:,} of {rows:,} items")
        if "local-" in one.data:
            differences.append(f"the data of {one.task} is no known release ({one.data})")
        differences += one.notes
    signatures = f"Signature: {' '.join(one.signature for one in behind)}"
    if not differences:
        return Note(f"{run.name}: the paper's options, on all of its items. {signatures}")
    said = "; ".join(dict.fromkeys(differences))
    return Note(f"{run.name} differs from the paper: {said}. {signatures}", "warning")


def _left_out(evaluations: Sequence[Evaluation]) -> Iterator[Note]:
    """Say why evaluations are in no table, a note for each reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for evaluation in evaluations:
        reason = _why_incomparable(evaluation) or _why_unmatched(evaluation)
        reasons[reason].append(f"{evaluation.label} on {evaluation.task}")
    for reason, names in reasons.items():
        yield Note(f"Not beside published figures: {', '.join(names)}. {reason}")


def _why_incomparable(evaluation: Evaluation) -> str:
    if evaluation.is_sample:
        return "Results on the sample data are comparable with nothing."
    if evaluation.named.variant.scoring == "loglikelihood":
        return "The answers were ranked by log-likelihood; the papers' models wrote theirs."
    return ""


def _why_unmatched(evaluation: Evaluation) -> str:
    columns = [
        (table, column)
        for table in tables_of(evaluation.task)
        for column in table.columns
        if any(_measures(evaluation, task, column.shots_of(task)) for task in column.named)
    ]
    reasons = {
        f"{table.source}, {column.name}: {column.unmeasured}."
        for table, column in columns
        if column.unmeasured
    }
    reasons |= {
        f"{table.source}, {column.name}, pools it with "
        f"{' and '.join(name for name in column.tasks if name != evaluation.task)}."
        for table, column in columns
        if len(column.tasks) > 1 and not column.unmeasured
    }
    if reasons:
        return " ".join(sorted(reasons))
    if columns:
        return "Another run of this model under the same condition is there in its place."
    return f"The papers have no figure of it under this condition ({evaluation.condition})."


def _departures(evaluation: Evaluation) -> Mapping[str, str]:
    """Return the options that are not the paper's, but for those that make it another measure."""
    defaults = evaluation.how.kind.Options()
    return {
        name: value
        for name, value in evaluation.options.items()
        if name not in ("cot", "script") and value != str(getattr(defaults, name, None))
    }


def _behind(results: _Results) -> list[Evaluation]:
    """Return the evaluations that some results come from, each once."""
    found = [one for result in results.values() if result for one in result.evaluations]
    return list({id(one): one for one in found}.values())


def _cell(result: _Result | None) -> Cell:
    return Cell(*_ends(result), note="" if result is None or result.complete else _INCOMPLETE)


def _ends(result: _Result | None) -> tuple[float | None, float | None, float | None]:
    if result is None:
        return None, None, None
    return result.figure.value, result.figure.low, result.figure.high


def _help(column: PublishedColumn) -> str:
    if column.unmeasured:
        return f"Not measured here: {column.unmeasured}."
    if column.mean_of:
        return f"Mean of {', '.join(column.mean_of)}."
    shots = sorted({column.shots_of(task) for task in column.named})
    within = f", {column.category or column.subject}" if _is_restricted(column) else ""
    return f"{' + '.join(column.tasks)}, {shots[0]}-shot: {column.metric}{within}."
