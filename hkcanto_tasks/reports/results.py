"""What a report says first, and last: how good each run is, next to whom, whether to trust it.

The first section has a line for each run beside the paper's models; then come the papers' tables;
the last section says once how everything was made.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .blocks import Block, Column, Kind, Note, Row, Section, Table, Unit, Value, column_of, table
from .evaluations import Evaluation, SkippedLog
from .figures import Agreement, Figure, agreement, figure
from .presentation import MODEL, figure_title, headline, headline_title, side_by_side, task_title
from .published import PublishedColumn, PublishedRow, RowKind
from .standings import Beside, Standing, departures, rank_of, why_left_out

# The kinds' names for the share of responses that nothing could be read from.
_UNREAD = ("unparsed_rate", "invalid_rate", "empty")
_NAMED = 3  # examples that a remark gives
_KINDS: Mapping[RowKind, Kind] = {"model": "published", "human": "human", "random": "random"}
_DEPARTURES = {
    "prompt": "its prompt is {value} instead of the paper's",
    "shuffle_choices": "its options are shuffled (seed {value})",
    "reasoning": "it had room for a reasoning block",
    "examples": "its worked examples are those of the {value}",
}


@dataclass(frozen=True, slots=True)
class Trust:
    """What a run's figures can be relied on for.

    Attributes:
        figures: Whether they are those that the harness reports.
        items: How many questions were answered.
        expected: How many the task has.
        unread: Share of responses that no answer could be read from; None where nothing is read.
        data: Which version of the data.
        data_known: Whether that is a published revision.
    """

    figures: Agreement
    items: int
    expected: int
    unread: Figure | None
    data: str
    data_known: bool

    @property
    def badges(self) -> str:
        """The same for people: parts with ✓ or ✗ in front."""
        equal, different = self.figures.equal, len(self.figures.different)
        whole = self.items == self.expected
        unread = self.unread.value if self.unread else None
        parts = [
            f"✗ {different} figures unlike the harness's" if different else "",
            "✓ equal to the harness" if equal and not different else "",
            "" if equal or different else "✗ not checked against the harness",
            "✓ all items" if whole else f"✗ {self.items:,} of {self.expected:,} items",
            "" if unread is None else f"{'✓' if unread <= 0.02 else '✗'} {unread:.1%} unread",
            f"✓ data {self.data}" if self.data_known else f"✗ data {self.data}",
        ]
        return " · ".join(filter(None, parts))


def trust(evaluation: Evaluation) -> Trust:
    """Return what an evaluation's figures can be relied on for."""
    unread = next((name for name in _UNREAD if name in evaluation.items.values), None)
    return Trust(
        agreement(evaluation),
        len(set(evaluation.items.ids)),
        evaluation.expected,
        figure(evaluation, unread) if unread else None,
        evaluation.data,
        evaluation.trusted_data,
    )


def run_records(
    evaluations: Sequence[Evaluation], beside: Sequence[Beside]
) -> list[Mapping[str, Any]]:
    """Return the runs for programs: what was run, its headline, its places, whether to trust it."""
    return [
        {
            **{name: getattr(run, name) for name in ("label", "model", "harness", "task")},
            **{name: getattr(run, name) for name in ("condition", "signature", "created", "notes")},
            "headline": run.headline,
            "figure": headline(run),
            "trust": trust(run),
            "standings": [
                {
                    "table": each.table.name,
                    "source": each.table.source,
                    "column": each.column.name,
                    "figure": each.figure,
                    "ranks": each.ranks,
                    "of": each.of,
                }
                for each in _standings_of(run, beside)
            ],
        }
        for run in evaluations
    ]


def _standings_of(run: Evaluation, beside: Sequence[Beside]) -> list[Standing]:
    """Return the places of a run, those of its headline first."""
    found = [
        standing
        for each in beside
        for columns in each.runs.values()
        for standing in columns.values()
        if run in standing.evaluations
    ]
    return sorted(found, key=lambda standing: not standing.is_headline_of(run))


def first_section(evaluations: Sequence[Evaluation], beside: Sequence[Beside]) -> Section:
    """Return what answers at first sight: a line for each run, beside the paper's models."""
    blocks: list[Block] = [_runs(evaluations, beside)]
    if plotted := _plotted(beside):
        name = f"plot_{plotted.table.name}"
        blocks.append(_scores(plotted, [plotted.headline], name, drawn=True))
    if any(run.items.texts for run in evaluations):
        blocks.insert(0, Note(_ITEMS, "warning"))
    if any(run.is_sample for run in evaluations):
        blocks.append(
            Note("The sample data is for trying things out: its figures are comparable with "
                 "nothing, published results least of all.", "warning")
        )  # fmt: skip
    return Section("Results", blocks, name="results", is_summary=True)


_TRUST = (
    "Whether the figures equal the harness's, all items were run, at most 2 % of the responses are "
    "unread, and the data is a published revision."
)
_ITEMS = (
    "This report shows questions and gold answers of benchmarks. Do not publish it: what is "
    "published ends up in training data, and the data may not be passed on."
)


def _runs(evaluations: Sequence[Evaluation], beside: Sequence[Beside]) -> Table:
    groups = side_by_side(evaluations)
    runs = [run for group in groups for run in group.evaluations]
    alone = all(each.table.transposed for each in beside)

    def rank(run: Evaluation) -> str | None:
        for each in _standings_of(run, beside):
            if each.rank:
                where = "" if each.is_headline_of(run) else f" ({each.column.name})"
                return f"{each.rank} of {each.of}{where}"
        return None

    def of(unit: Unit) -> Callable[[Evaluation], Value]:
        return lambda run: headline(run) if column_of(run.headline).unit == unit else None

    return table(
        "runs",
        "Each run at a glance",
        runs,
        [
            MODEL,
            (Column("Result", "percent", "With 95 % interval.", drawn=alone), of("percent")),
            (Column("Score", "score", "From 0 to 100, with 95 % interval."), of("score")),
            (Column("Rank", help="Places in the paper's table that the interval allows."), rank),
            (Column("Trust", "badges", _TRUST), lambda run: trust(run).badges),
            (Column("Task and condition", beneath=True), task_title),
            (Column("Measure", beneath=True), headline_title),
        ],
        "Only rows of one task under one condition are comparable." if len(groups) > 1 else "",
    )


def _plotted(beside: Sequence[Beside]) -> Beside | None:
    """Return the table that stands beside the runs: of those with a headline, the first."""
    return next((each for each in beside if not each.table.transposed), None)


def published_sections(beside: Sequence[Beside]) -> list[Section]:
    """Return a section for each published table that a run stands in."""
    plotted = _plotted(beside)
    return [
        Section(
            f"{each.table.source}: {each.table.title}",
            [_by_subject(each) if each.table.transposed else _whole(each, plotted)],
            name=f"published-{each.table.name}".replace("_", "-"),
            is_summary=each is not plotted,
        )
        for each in beside
    ]


def _whole(beside: Beside, plotted: Beside | None) -> Table:
    name = f"published_{beside.table.name}"
    return _scores(beside, beside.table.columns, name, drawn=beside is not plotted)


def _scores(beside: Beside, columns: Sequence[PublishedColumn], name: str, *, drawn: bool) -> Table:
    published, key = beside.table, beside.headline
    rows: list[tuple[float | None, Row]] = []
    for row in published.rows:
        place = rank_of(row, published, key)
        values = [row.values[column.name] for column in columns]
        shown: list[Value] = [row.model, str(place) if place else None, *values]
        rows.append((row.values[key.name], Row(shown, _KINDS.get(row.kind, "other"))))
    for run, standings in beside.runs.items():
        of = standings.get(key.name)
        own = [standings[c.name].figure if c.name in standings else None for c in columns]
        rank = of.rank or None if of else None
        rows.append((of.figure.value if of else None, Row([run, rank, *own], "run")))
    sign = 1 if key.lower_is_better else -1
    rows.sort(key=lambda pair: (pair[0] is None, sign * (pair[0] or 0)))
    return Table(
        name,
        f"{key.name}: {published.source}",
        [
            Column("Model"),
            Column("Rank", help="Place among the paper's models; of a run, those that its 95 % "
                   "interval allows."),
            *(_column(each, drawn=drawn and each is key) for each in columns),
        ],
        [row for _, row in rows],
        f"The paper's models and the runs, by {key.name}, "
        f"{'lower' if key.lower_is_better else 'higher'} is better; intervals are of 95 %.",
    )  # fmt: skip


def _column(column: PublishedColumn, *, drawn: bool) -> Column:
    unit: Unit = column_of(column.measure).unit if column.measure else column.unit
    return Column(column.name, unit, _help(column), column.lower_is_better, drawn)


def _help(column: PublishedColumn) -> str:
    if column.unmeasured:
        return f"Not measured here: {column.unmeasured}."
    if column.mean_of:
        return f"Mean of {', '.join(column.mean_of)}."
    shots = column.shots_of(column.named[0])
    within = column.category or column.subject
    where = f", {within}" if within else ""
    return f"{' + '.join(column.tasks)}, {shots}-shot{where}."


def _by_subject(beside: Beside) -> Table:
    published = beside.table

    def of_run(run: str) -> Callable[[PublishedColumn], Value]:
        own = beside.runs[run]
        return lambda column: own[column.name].figure if column.name in own else None

    def of_row(row: PublishedRow) -> Callable[[PublishedColumn], Value]:
        return lambda column: row.values[column.name]

    return table(
        f"published_{published.name}",
        published.title,
        published.columns,
        [
            (Column("Subject"), lambda column: column.name),
            *((Column(run, "percent", drawn=True), of_run(run)) for run in beside.runs),
            *((Column(row.model, "percent"), of_row(row)) for row in published.rows),
        ],
        f"The runs of this report, and {published.source}. Intervals are of 95 %.",
        kind=lambda _: "other",
    )


def last_section(
    evaluations: Sequence[Evaluation], beside: Sequence[Beside], skipped: Sequence[SkippedLog]
) -> Section:
    """Return how everything was made: signatures, checks, protocols, what is not compared."""
    blocks: list[Block] = [
        table(
            "signatures",
            "Signatures",
            evaluations,
            [
                MODEL,
                (Column("Called"), lambda run: run.model),
                (Column("Harness"), lambda run: run.harness),
                (Column("Signature"), lambda run: run.signature),
                (Column("Run on"), lambda run: f"{run.created:%Y-%m-%d %H:%M}"),
            ],
            "Only numbers with one signature are comparable, but for pkg.",
        ),
        *map(Note, _checks(evaluations)),
        *map(Note, _protocols(beside)),
        *map(Note, _left_out(evaluations, beside)),
    ]
    if skipped:
        blocks.append(
            table(
                "skipped",
                "Logs that were not read, or not whole",
                skipped,
                [
                    # A report is passed on, and need not show whole paths.
                    (Column("File"), lambda log: "/".join(log.path.parts[-2:])),
                    (Column("Reason"), lambda log: log.reason),
                ],
                "What could not be read is not in this report.",
                kind=lambda _: "other",
            )
        )
    return Section("How this was made", blocks, name="made", is_summary=bool(skipped))


def _checks(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    found = {run: agreement(run) for run in evaluations}
    yield f"{sum(each.equal for each in found.values()):,} figures equal those of the harnesses."
    for run, each in found.items():
        for one in each.different[:_NAMED]:
            known = run.figures.get(one.name)
            title = figure_title(run, known) if known else one.name
            place = f" of {', '.join(one.subjects)}" if one.subjects else ""
            yield (
                f"{_name(run)}: {title}{place} is {one.ours:.6g} here, {one.reported:.6g} in "
                f"{run.harness}. Was the log edited, or made by another version of this package?"
            )
        if len(each.different) > _NAMED:
            yield f"{_name(run)}: {len(each.different) - _NAMED} more figures differ."
    for run in evaluations:
        if not run.complete and not run.is_sample:
            missing = len(run.named.subjects) - len(run.subjects)
            lacking = f" ({missing} subjects are missing)" if missing else ""
            items = len(set(run.items.ids))
            yield f"{_name(run)} has {items:,} of {run.expected:,} items{lacking}."
        yield from (f"{_name(run)}: {text}" for text in run.notes)


def _protocols(beside: Sequence[Beside]) -> Iterator[str]:
    """Say how the papers measured, and in what the runs differ."""
    for each in beside:
        if each.table.protocol:
            yield f"{each.table.source}: {each.table.protocol}"
    said = {
        f"{run.label} on {run.task}: "
        + _DEPARTURES.get(name, "it was run with {name}:{value}").format(name=name, value=value)
        for each in beside
        for run in each.evaluations
        for name, value in departures(run).items()
    }
    if said:
        yield f"Different from the paper: {'; '.join(sorted(said))}."


def _left_out(evaluations: Sequence[Evaluation], beside: Sequence[Beside]) -> Iterator[str]:
    """Say why evaluations are in no published table, a line for each reason."""
    used = {id(run) for each in beside for run in each.evaluations}
    reasons: dict[str, list[str]] = defaultdict(list)
    for run in evaluations:
        if id(run) not in used:
            reasons[why_left_out(run)].append(f"{run.label} on {run.task}")
    for reason, names in reasons.items():
        yield f"Not beside published figures: {', '.join(names)}. {reason}"


def _name(run: Evaluation) -> str:
    return f"{run.label} on {task_title(run)}"
