"""The report on runs: which model leads and how surely, one table, then the details in sections.

Two models are compared task by task. More are rows, sorted by their mean rank. A single model has a
row for each task, beside the best published score.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from operator import itemgetter
from statistics import fmean
from typing import Any

from ...errors import ComparisonError
from ..frames import checkpoint, figure_rows
from ..published import RowKind
from ..runs import Run, SkippedLog
from ..statistics.estimates import harness_agreement
from ..statistics.intervals import CONFIDENCE, WIDE, Estimate
from ..statistics.matching import points_of
from ..statistics.paired import compare
from ..statistics.selection import Selection, selection
from . import analyses
from .blocks import (
    Note,
    Report,
    Section,
    TableBlock,
    TableColumn,
    TableRow,
    TableRowKind,
    Value,
    report_of,
    table,
    unit_of,
)
from .pairs import NOTHING, RunPair, pair_of, pairs_blocks
from .presentation import (
    MANY_UNREAD,
    MODEL,
    TASK,
    doubts,
    footer_of,
    headline,
    measure_title,
    run_title,
    side_by_side,
    task_title,
    unread_of,
)
from .renderers.formatting import interval_text, listed, number, value_text
from .standings import (
    Beside,
    Standing,
    best_and_chance,
    headline_column,
    rank_of,
    standings,
    why_left_out,
)

_NAMED = 4  # figures that differ from the harness's
_OF_RUN = (
    "label",
    "model",
    "harness",
    "task",
    "condition",
    "created",
    "status",
    "notes",
)
_KINDS: Mapping[RowKind, TableRowKind] = {
    "model": "published",
    "human": "human",
    "random": "random",
}
_INTERVAL = f"With 95 % interval: {WIDE}."
_EXACT = "Published scores have the interval of a run on as many items."
_RANKS = (
    "Rank among the paper's models; for a run, the ranks that its 95 % interval allows, or why it "
    f"has none. {_EXACT}"
)
_DOUBTS = "Failed checks: figures like the harness's, all items, at most 2 % unread, greedy, known data."


@dataclass(frozen=True, eq=False)
class _Read:
    """The runs of a report, in the order of training, and what is known of them together."""

    runs: Sequence[Run]
    skipped: Sequence[SkippedLog]
    labels: Sequence[str]
    groups: Sequence[Sequence[Run]]  # runs that differ only in the model
    beside: Sequence[Beside]

    def standings(self, run: Run) -> list[Standing]:
        """Return the ranks of a run in the papers' tables, those of its headline first."""
        every = chain.from_iterable(beside.standings for beside in self.beside)
        behind = [standing for standing in every if run in standing.behind]
        return sorted(behind, key=lambda standing: not standing.is_headline_of(run))

    def place(self, run: Run) -> str | None:
        """Return the rank of a run's headline; None without one."""
        ranked = (standing for standing in self.standings(run) if standing.ranks)
        return next((of.place for of in ranked if of.is_headline_of(run)), None)


def build_report(
    runs: Sequence[Run], skipped: Sequence[SkippedLog] = (), title: str = ""
) -> Report:
    """Return the report of some runs; the default title names the models."""
    frame = partial(figure_rows, runs)
    # Runs that are not checkpoints, then each training run's checkpoints by step.
    steps = {run: checkpoint(run) or ("", 0) for run in runs}
    names = list(dict.fromkeys(["", *(name for name, _ in steps.values())]))
    runs = sorted(runs, key=lambda run: (names.index(steps[run][0]), steps[run][1]))
    labels = list(dict.fromkeys(run.label for run in runs))
    read = _Read(runs, skipped, labels, side_by_side(runs), standings(runs))
    papers = [*map(paper_table, read.beside)]
    sections = [
        _first_section(read),
        Section(
            "Published scores", papers, "published", is_summary=len(read.groups) == 1
        ),
        *analyses.sections(runs),
        _last_section(read),
    ]
    records = {"runs": [*map(partial(_record, read), runs)], "best": best_records(runs)}
    return report_of(
        sections, title or listed(labels, ", "), footer_of(runs), records, frame
    )


def best_records(runs: Sequence[Run]) -> Sequence[Mapping[str, Any]]:
    """Return the best run of each task under each condition, as records."""
    chosen = (selection(tuple(group)) for group in side_by_side(runs))
    return [
        {
            **{name: getattr(of.best, name) for name in ("task", "condition", "label")},
            "step": (checkpoint(of.best) or ("", None))[1],
            "figure": headline(of.best),
            "picked_from": of.picked_from,
            "overstated": of.overstated,
            "ties": [run.label for run in of.ties],
            "left_out": {run.label: why for run, why in of.left_out.items()},
        }
        for of in filter(None, chosen)
    ]


def _record(read: _Read, run: Run) -> Mapping[str, Any]:
    """Return a run as a record, with its setup, headline, ranks and checks."""
    return {
        **{name: getattr(run, name) for name in _OF_RUN},
        "headline": run.headline,
        "signature": run.signature.text,
        "figure": headline(run),
        "doubts": doubts(run),
        "unread": unread_of(run),
        "usage": run.usage.known,
        "standings": [
            {
                "table": standing.table.name,
                "source": standing.table.source,
                "column": standing.column.name,
                **{
                    n: getattr(standing, n)
                    for n in ("figure", "ranks", "of", "followed")
                },
            }
            for standing in read.standings(run)
        ],
    }


# ---------------------------------------------------------------------- the first section


def _first_section(read: _Read) -> Section:
    """Return the section to read first: a sentence, a line of warnings, and one table."""
    of_models = (_one, _one, _two, _many)  # none, one, two, more
    said, made, left_out = of_models[min(len(read.labels), 3)](read)
    warnings = [Note(text, "warning") for text in _warnings(read, left_out)]
    return Section("Results", [said, *warnings, made], "results", is_summary=True)


def _warnings(read: _Read, left_out: Sequence[Run]) -> list[str]:
    """Return one line of warnings, or none."""
    many, every = (
        f"over {MANY_UNREAD:.0%} unread",
        chain.from_iterable(map(doubts, read.runs)),
    )
    doubted = Counter(many if doubt.endswith(" unread") else doubt for doubt in every)
    parts = [
        f"{text}: {count} of {len(read.runs)} runs" for text, count in doubted.items()
    ]
    if read.skipped:
        parts.append(
            f"logs not read, or not in full: {len(read.skipped)} (“How this was made”)"
        )
    if left_out:
        parts.append(
            f"runs not compared, as unfinished or on other items: {len(left_out)}"
        )
    return [" · ".join(parts)] if parts else []


def _one(read: _Read) -> tuple[Note, TableBlock, list[Run]]:
    """Return a single model's tasks with the best published scores, drawn on one axis."""
    texts, rows = list[str](), list[tuple[Value, ...]]()
    for run in chain.from_iterable(read.groups):
        title, score, place = task_title(run), _in_points(run), read.place(run)
        shown = f"{value_text(score, 'score')} {interval_text(score, 'score')}".strip()
        measure, rank = (
            measure_title(run, run.headline),
            f"rank {place}" if place else "no rank",
        )
        texts.append(f"{title} {shown} ({measure}), {rank}")
        note = "; ".join(doubts(run)) if len(read.runs) > 1 else ""
        noted = score and replace(score, note=note)
        rows.append((title, noted, place, _best_in_points(run), measure))
    columns = (
        TableColumn("Task"),
        TableColumn("Score", "score", f"From 0 to 100. {_INTERVAL}", drawn=True),
        TableColumn("Rank", help=_RANKS),
        TableColumn("Best published", "score", drawn=True),
        TableColumn("Figure", beneath=True),
    )
    getters = [(column, itemgetter(at)) for at, column in enumerate(columns)]
    said = (
        f"{read.labels[0]}: {listed(texts)}."
        if texts
        else "There is no run to report on."
    )
    return (
        Note(said, "verdict"),
        table("tasks", "Task by task", rows, getters, kind="other"),
        [],
    )


def _two(read: _Read) -> tuple[Note, TableBlock, list[Run]]:
    """Return each task's pair of runs, compared as in `hkcanto compare`, and runs left out."""
    pairs, left_out = list[RunPair](), list[Run]()
    for group in read.groups:
        some, best = group[0], _best_in_points(group[0])
        by_label = {run.label: run for run in reversed(group)}
        first, second = sides = [by_label.get(label) for label in read.labels]
        scores = [
            score.value if run and (score := _in_points(run)) else None for run in sides
        ]
        measure = measure_title(some, some.headline)
        pair = RunPair(task_title(some), some.headline, None, measure, scores, best)
        if first and second:
            try:
                pair = pair_of(compare(first, second, parts=False), best)
            except ComparisonError:
                left_out += [first, second]
        pairs.append(pair)
    return *pairs_blocks(pairs, read.labels), left_out


def _in_points(run: Run) -> Estimate | None:
    """Return the value of a run's headline, from 0 to 100."""
    value = headline(run)
    return value and value.times(points_of(run.headline))


def _best_in_points(run: Run) -> float | None:
    """Return the best published score of a run's headline, from 0 to 100."""
    best, _ = best_and_chance(run)
    return best and best * points_of(run.headline)


def _many(read: _Read) -> tuple[Note, TableBlock, list[Run]]:
    """Return which model has the best mean rank, and where the best is ahead of all others.

    The differences hold for all tasks at once. Runs that are not comparable are left out.
    """
    groups = [group for group in read.groups if len(group) > 1]
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(groups))
    races = [
        chosen for group in groups if (chosen := selection(tuple(group), confidence))
    ]
    left_out = [run for chosen in races for run in chosen.left_out]
    races = [chosen for chosen in races if chosen.differences]
    made = _matrix(read, races, left_out)
    if not races:
        return Note(NOTHING.format(len(read.labels)), "verdict"), made, left_out
    said, rank = "No task was run in full by all models", made.rows[0].values[1]
    if rank is not None:
        leaders = [str(row.values[0]) for row in made.rows if row.values[1] == rank]
        said = f"The best mean rank is {value_text(rank, 'score')}: {listed(leaders)}"
    ahead = [
        f"{run_title(of.best)} ({value_text(_in_points(of.best), 'score')}; of "
        f"{len(of.differences) - len(of.ties)} of {len(of.differences)} others)"
        for of in races
        if not of.ties or (len(races) == 1 and len(of.ties) < len(of.differences))
    ]
    said += (
        f". Significantly ahead (all tasks together, 95 %): {listed(ahead) or 'none'}."
    )
    return Note(said, "verdict"), made, left_out


def _matrix(
    read: _Read, races: Sequence[Selection], left_out: Sequence[Run]
) -> TableBlock:
    """Return the table of models × tasks, sorted by the mean rank over the tasks that all have.

    A note of a headline says whether it ties with the best, and the doubts about it. Below the
    models are the best published scores, and chance.
    """
    shared = set.intersection(*({*doubts(run)} for run in read.runs))
    ties = {run for chosen in races for run in chosen.ties}

    def cell(run: Run | None) -> Value:
        found = headline(run) if run else None
        if run is None or found is None:
            return None
        notes = [doubt for doubt in doubts(run) if doubt not in shared]
        return replace(found, note="; ".join([*(["≈"] if run in ties else []), *notes]))

    by_label = [{run.label: run for run in reversed(group)} for group in read.groups]
    ranks = _mean_ranks(read, {run.label for run in left_out})
    ordered = sorted(ranks, key=lambda label: (ranks[label] is None, ranks[label] or 0))
    rows = [
        TableRow(
            [label, ranks[label], *(cell(of.get(label)) for of in by_label)], "run"
        )
        for label in ordered
    ]
    best, chance = zip(*(best_and_chance(of[0]) for of in read.groups), strict=True)
    rows += [
        TableRow(["Best published", None, *best], "best"),
        TableRow(["Chance", None, *chance], "random"),
    ]
    columns = [
        TableColumn("Model"),
        TableColumn(
            "Mean rank", "score", "Over the tasks that all models have in full.", True
        ),
        *(headline_column(of[0]) for of in read.groups),
    ]
    caption = (
        "Each task's headline, on all of its items unless a note says otherwise. “≈” marks models "
        "that do not differ significantly from the best."
    )
    rows = [row for row in rows if any(value is not None for value in row.values[1:])]
    return TableBlock(
        "matrix", "Models and tasks", columns, rows, caption, turnable=True
    )


def _mean_ranks(read: _Read, left_out: set[str]) -> dict[str, float | None]:
    """Return each model's mean rank over the tasks that all have.

    It is None without such a task, or if a run of the model is left out of the comparison.
    """
    ranked = {*read.labels} - left_out
    ranks: dict[str, list[int]] = {label: [] for label in read.labels}
    for group in read.groups:
        sign = 1 if group[0].headline.higher_is_better else -1
        found = ((run.label, headline(run)) for run in group if run.label in ranked)
        values = {label: sign * value.value for label, value in found if value}
        for label, value in values.items() if len(values) == len(ranked) else ():
            ranks[label].append(1 + sum(other > value for other in values.values()))
    return {label: fmean(of) if of else None for label, of in ranks.items()}


def paper_table(beside: Beside) -> TableBlock:
    """Return a published table with the runs in it, sorted and drawn by its headline."""
    paper, key = beside.table, beside.headline
    rows = list[TableRow]()
    for row in paper.rows:
        place = rank_of(row, paper, key)
        values: list[Value] = [row.model, str(place) if place else None]
        for name, score in row.values.items():
            noted = name in row.notes and score is not None
            values.append(
                Estimate(score or 0, None, None, 0, row.notes[name]) if noted else score
            )
        rows.append(TableRow(values, _KINDS.get(row.kind, "other")))
    for run, of_run in beside.runs.items():
        of = of_run.get(key.name)
        rank = of.place or of.figure.note if of else None
        values = [run, rank]
        for column in paper.columns:
            figure = of_run[column.name].figure if column.name in of_run else None
            # A figure is shown without its note if the row's rank has the same text.
            values.append(
                replace(figure, note="") if figure and figure.note == rank else figure
            )
        rows.append(TableRow(values, "run"))
    sign, at = 1 if key.lower_is_better else -1, 2 + paper.columns.index(key)
    rows.sort(key=lambda row: sign * (number(row.values[at]) or 0))
    rows.sort(key=lambda row: number(row.values[at]) is None)
    columns = [
        TableColumn("Model"),
        TableColumn("Rank", help=_RANKS, under=f"by {key.name}"),
    ]
    for column in paper.columns:
        about = ", ".join(filter(None, (*column.mean_of, *column.tasks, column.part)))
        about = (
            f"Not measured here: {column.unmeasured}."
            if column.unmeasured
            else f"Of {about}."
        )
        unit = unit_of(measure) if (measure := column.measure) else column.unit
        columns.append(
            TableColumn(column.name, unit, about, column.lower_is_better, column is key)
        )
    better = "lower" if key.lower_is_better else "higher"
    caption = (
        f"The paper's models and the runs, by {key.name}; {better} is better. {_EXACT}"
    )
    title = f"{paper.source}: {paper.title}"
    return TableBlock(f"published_{paper.name}", title, columns, rows, caption)


# ---------------------------------------------------------------------- the last section


def _last_section(read: _Read) -> Section:
    """Return the section on how everything was made: signatures, checks, protocols, omissions."""
    columns: list[tuple[TableColumn, Callable[[Run], Value]]] = [
        MODEL,
        TASK,
        (TableColumn("Score", "score", f"From 0 to 100. {_INTERVAL}"), _in_points),
        (TableColumn("Rank", help=_RANKS), read.place),
        (
            TableColumn("Doubts", help=_DOUBTS),
            lambda run: "; ".join(doubts(run)) or None,
        ),
        (TableColumn("Called"), lambda run: run.model),
        (TableColumn("Harness"), lambda run: run.harness),
        (TableColumn("Run on"), lambda run: f"{run.created:%Y-%m-%d %H:%M}"),
        (TableColumn("Signature"), lambda run: run.signature.text),
    ]
    about = "Compare numbers only if their signatures match (ignoring pkg)."
    made = table("runs", "Runs", read.runs, columns, about)
    notes = map(Note, [*_checks(read.runs), *_protocols(read)])
    # Reports are passed on, and need not show whole paths.
    rows = [
        TableRow(["/".join(log.path.parts[-2:]), log.reason]) for log in read.skipped
    ]
    columns_of_logs = [TableColumn("File"), TableColumn("Reason")]
    skipped = TableBlock(
        "skipped", "Logs not read, or not in full", columns_of_logs, rows
    )
    return Section(
        "How this was made", [made, *notes, skipped], "made", bool(read.skipped)
    )


def _checks(runs: Sequence[Run]) -> Iterator[str]:
    equal = sum(
        harness_agreement(run).equal for run in runs if "rescored" not in run.options
    )
    yield f"{equal:,} figures equal those of the harnesses."
    for run in runs:
        if again := run.options.get("rescored"):
            yield f"{run_title(run)} was scored again by hkcanto {again}."
        for one in harness_agreement(run).different[:_NAMED]:
            place = f" of {', '.join(one.subjects)}" if one.subjects else ""
            yield (
                f"{run_title(run)}: {one.name}{place} is {one.ours:.6g} here, {one.reported:.6g} "
                f"in {run.harness}. Was the log edited, or made by another version of this package?"
            )
        if (
            len(run.subjects) < (count := len(run.kind.task.subjects))
            and not run.is_sample
        ):
            yield f"{run_title(run)} lacks {count - len(run.subjects)} of the {count} subjects."
        yield from (f"{run_title(run)}: {text}" for text in run.notes)


def _protocols(read: _Read) -> Iterator[str]:
    """Say how the papers measured, and why runs are not beside their figures."""
    for paper in (beside.table for beside in read.beside):
        if paper.protocol:
            yield f"{paper.source}: {paper.protocol}"
        if paper.two_protocols:
            yield f"† The rows of {paper.source} may follow its appendices or its release."
    used = {
        run for beside in read.beside for one in beside.standings for run in one.behind
    }
    reasons = defaultdict[str, list[str]](list)
    for run in read.runs:
        if run not in used:
            reasons[why_left_out(run)].append(f"{run.label} on {run.task}")
    for reason, names in reasons.items():
        yield f"Not beside published figures: {', '.join(names)}. {reason}"
