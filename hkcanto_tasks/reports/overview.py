"""The first and the last section of a report: results beside the papers', and how they were made.

The first section has a line for each run beside the paper's models; then come the papers' tables;
the last section says once how everything was made.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..published import PublishedColumn, RowKind
from ..results import Result
from ..runs import Run, SkippedLog
from .blocks import (
    ITEMS_NOTICE,
    Block,
    Column,
    Kind,
    Note,
    Row,
    Section,
    Table,
    Unit,
    Value,
    column_of,
    table,
)
from .estimates import Agreement, agreement, estimate, full_set
from .intervals import WIDE, Estimate
from .presentation import (
    MODEL,
    figure_title,
    headline,
    headline_title,
    side_by_side,
    task_title,
    usage_table,
)
from .standings import Beside, Standing, departures, rank_of, why_left_out

# The kinds' names for the share of responses that nothing could be read from.
_UNREAD = ("unparsed_rate", "invalid_rate", "empty")
_NAMED = 3  # figures that differ
_OF_RUN = (
    *("label", "model", "harness", "task"),
    *("condition", "created", "status", "notes", "headline"),
)
_KINDS: Mapping[RowKind, Kind] = {"model": "published", "human": "human", "random": "random"}


class Trust(NamedTuple):
    """What a run's figures can be relied on for."""

    figures: Agreement  # with those that the harness reports
    ending: str  # why it lacks items that it was asked for, such as `cancelled`
    items: int
    expected: int
    unread: Estimate | None  # the share of responses that no answer could be read from
    data: str
    data_known: bool
    prompt_known: bool
    rescored: str  # the version that read logged answers again; else empty
    decoding: str  # `greedy`, `temperature 0.7`, `decoding unknown`; empty for log-likelihoods

    @property
    def badges(self) -> str:
        """The same for people: parts with ✓ or ✗ in front."""
        equal, different = self.figures.equal, len(self.figures.different)
        whole = self.items == self.expected
        unread = self.unread.value if self.unread else None
        parts = [
            f"✗ {different} figures unlike the harness's" if different else "",
            f"✓ rescored by {self.rescored}" if self.rescored and not different else "",
            "" if self.prompt_known else "✗ prompt and decoding unknown",
            "✓ equal to the harness" if equal and not different and not self.rescored else "",
            "" if equal or different else "✗ not checked against the harness",
            f"✗ {self.ending}" if self.ending else "",
            "✓ all items" if whole else f"✗ {self.items:,} of {self.expected:,} items",
            "" if unread is None else f"{'✓' if unread <= 0.02 else '✗'} {unread:.1%} unread",
            f"✓ data {self.data}" if self.data_known else f"✗ data {self.data}",
            f"{'✓' if self.decoding == 'greedy' else '✗'} {self.decoding}" if self.decoding else "",
        ]
        return " · ".join(filter(None, parts))


def trust(run: Run) -> Trust:
    """Return what a run's figures can be relied on for."""
    name = next((name for name in _UNREAD if name in run.items.values), None)
    unread = estimate(run, name) if name else None
    items, data = len(set(run.items.ids)), (run.data, run.trusted_data)
    decoding = run.decoding if run.setup.is_generative else ""
    known, again = run.signature.prompt_known, run.options.get("rescored", "")
    whole = (agreement(run), run.unfinished, items, run.expected)
    return Trust(*whole, unread, *data, known, again, decoding)


def run_records(runs: Sequence[Run], beside: Sequence[Beside]) -> list[Mapping[str, Any]]:
    """Return the runs for programs: what was run, its headline, its places, whether to trust it."""
    return [
        {
            **{name: getattr(run, name) for name in _OF_RUN},
            "signature": run.signature.text,
            "figure": headline(run),
            "trust": trust(run),
            "usage": run.usage.known,
            "standings": [
                {
                    "table": each.table.name,
                    "source": each.table.source,
                    "column": each.column.name,
                    **{name: getattr(each, name) for name in ("figure", "ranks", "of")},
                }
                for each in _standings_of(run, beside)
            ],
        }
        for run in runs
    ]


def _standings_of(run: Run, beside: Sequence[Beside]) -> list[Standing]:
    """Return the places of a run, those of its headline first."""
    own = [columns for each in beside for columns in each.runs.values()]
    found = [each for columns in own for each in columns.values() if run in each.behind]
    return sorted(found, key=lambda standing: not standing.is_headline_of(run))


def first_section(runs: Sequence[Run], beside: Sequence[Beside]) -> Section:
    """Return what answers at first sight: a line for each run, beside the paper's models."""
    blocks: list[Block] = [_runs(runs, beside)]
    if (estimated := _full_sets(runs)).rows:
        blocks.append(estimated)
    if plotted := _plotted(beside):
        name = f"plot_{plotted.table.name}"
        blocks.append(_scores(plotted, [plotted.headline], name, drawn=True))
    if any(run.items.texts for run in runs):
        blocks.insert(0, Note(ITEMS_NOTICE, "warning"))
    if any(run.is_sample for run in runs):
        blocks.append(Note(_SAMPLE, "warning"))
    return Section("Results", blocks, name="results", is_summary=True)


_TRUST = (
    "Whether the figures equal the harness's, the run came to its end with all items, at most 2 % "
    "of the responses are unread, the data is a published revision, and decoding is greedy."
)
_INTERVAL = f"With 95 % interval: {WIDE}."
_EXACT = "Published scores are taken as exact."
_RANKS = f"Places in the paper's table that the interval allows. {_EXACT}"
_SAMPLE = (
    "The sample data is for trying things out: its figures are comparable with nothing, published "
    "results least of all."
)


def _runs(runs: Sequence[Run], beside: Sequence[Beside]) -> Table:
    groups = side_by_side(runs)
    runs = [run for group in groups for run in group.runs]
    alone = all(each.table.transposed for each in beside)

    def rank(run: Run) -> str | None:
        each = next((each for each in _standings_of(run, beside) if each.rank), None)
        where = "" if not each or each.is_headline_of(run) else f" ({each.column.name})"
        return f"{each.rank} of {each.of}{where}" if each else None

    def of(unit: Unit) -> Callable[[Run], Value]:
        return lambda run: headline(run) if column_of(run.headline).unit == unit else None

    return table(
        "runs",
        "Each run at a glance",
        runs,
        [
            MODEL,
            (Column("Result", "percent", _INTERVAL, drawn=alone), of("percent")),
            (Column("Score", "score", f"From 0 to 100. {_INTERVAL}"), of("score")),
            (
                Column("Rank", help=_RANKS),
                rank,
            ),
            (Column("Trust", "badges", _TRUST), lambda run: trust(run).badges),
            (Column("Task and condition", beneath=True), task_title),
            (Column("Measure", beneath=True), headline_title),
        ],
        "Only rows of one task under one condition are comparable." if len(groups) > 1 else "",
    )


def _full_sets(runs: Sequence[Run]) -> Table:
    known = [(run, each) for run in runs for each in run.figures.values() if not each.part]
    return table(
        "full_set",
        "What all items would give",
        [pair for pair in known if full_set(pair[0], pair[1].name)],
        [
            (Column("Model"), lambda row: row[0].label),
            (Column("Figure"), lambda row: figure_title(*row)),
            (Column("All items", "percent", drawn=True), lambda row: full_set(row[0], row[1].name)),
            (Column("From"), lambda row: f"{trust(row[0]).items:,} of {row[0].expected:,}"),
            (Column("Task and condition", beneath=True), lambda row: task_title(row[0])),
        ],
        "Estimated from a run with --limit, a sample stratified by subject (Cochran 1977, chapter "
        "5): subjects count as in the whole. Only the whole has a rank.",
    )


def _plotted(beside: Sequence[Beside]) -> Beside | None:
    """Return the table that stands beside the runs: of those with a headline, the first."""
    return next((each for each in beside if not each.table.transposed), None)


def published_sections(beside: Sequence[Beside]) -> list[Section]:
    """Return a section for each published table that a run stands in."""
    sections = []
    for each in beside:
        published, further = each.table, each is not _plotted(beside)
        if published.transposed:
            made = _by_subject(each)
        else:
            made = _scores(each, published.columns, f"published_{published.name}", drawn=further)
        title, name = f"{published.source}: {published.title}", made.name.replace("_", "-")
        sections.append(Section(title, [made], name, is_summary=further))
    return sections


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
        rank = (of.rank or of.figure.note or None) if of else None
        own = [_shown(standings.get(column.name), rank) for column in columns]
        rows.append((of.figure.value if of else None, Row([run, rank, *own], "run")))
    sign = 1 if key.lower_is_better else -1
    rows.sort(key=lambda pair: (pair[0] is None, sign * (pair[0] or 0)))
    return Table(
        name,
        f"{key.name}: {published.source}",
        [
            Column("Model"),
            Column("Rank", help="Place among the paper's models; of a run, those that its 95 % "
                   f"interval allows, or why it has none. {_EXACT}"),
            *(_column(each, drawn=drawn and each is key) for each in columns),
        ],
        [row for _, row in rows],
        f"The paper's models and the runs, by {key.name}, "
        f"{'lower' if key.lower_is_better else 'higher'} is better; intervals are of 95 %. "
        + _EXACT,
    )  # fmt: skip


def _shown(standing: Standing | None, said: str | None = None) -> Estimate | None:
    """Return a figure, without a note that the row's rank has already."""
    if standing and standing.figure.note == said:
        return replace(standing.figure, note="")
    return standing.figure if standing else None


def _column(column: PublishedColumn, *, drawn: bool) -> Column:
    unit: Unit = column_of(column.measure).unit if column.measure else column.unit
    of = column.mean_of or (*column.tasks, column.category or column.subject)
    about = f"{'Mean of' if column.mean_of else 'Of'} {', '.join(filter(None, of))}."
    if column.unmeasured:
        about = f"Not measured here: {column.unmeasured}."
    return Column(column.name, unit, about, column.lower_is_better, drawn)


def _by_subject(beside: Beside) -> Table:
    published = beside.table
    columns = [Column("Subject")]
    columns += [Column(run, "percent", drawn=True) for run in beside.runs]
    columns += [Column(row.model, "percent") for row in published.rows]
    rows = []
    for name in (column.name for column in published.columns):
        own = [_shown(standings.get(name)) for standings in beside.runs.values()]
        rows.append(Row([name, *own, *(row.values[name] for row in published.rows)]))
    caption = f"The runs of this report, and {published.source}. Intervals are of 95 %."
    return Table(f"published_{published.name}", published.title, columns, rows, caption)


def last_section(
    runs: Sequence[Run], beside: Sequence[Beside], skipped: Sequence[SkippedLog]
) -> Section:
    """Return how everything was made: signatures, checks, protocols, what is not compared."""
    blocks: list[Block] = [
        table(
            "signatures",
            "Signatures",
            runs,
            [
                MODEL,
                (Column("Called"), lambda run: run.model),
                (Column("Harness"), lambda run: run.harness),
                (Column("Signature"), lambda run: run.signature.text),
                (Column("Run on"), lambda run: f"{run.created:%Y-%m-%d %H:%M}"),
            ],
            "Only numbers with one signature are comparable, but for pkg.",
        ),
        *usage_table(runs),
        *map(Note, _checks(runs)),
        *map(Note, _protocols(beside)),
        *map(Note, _left_out(runs, beside)),
    ]
    if skipped:
        # A report is passed on, and need not show whole paths.
        rows = [Row(["/".join(log.path.parts[-2:]), log.reason]) for log in skipped]
        title = "Logs that were not read, or not whole"
        caption = "What could not be read is not in this report."
        blocks.append(Table("skipped", title, [Column("File"), Column("Reason")], rows, caption))
    return Section("How this was made", blocks, name="made", is_summary=bool(skipped))


def _checks(runs: Sequence[Run]) -> Iterator[str]:
    again = [run for run in runs if "rescored" in run.options]
    if harness := [run for run in runs if run not in again]:
        equal = sum(agreement(run).equal for run in harness)
        yield f"{equal:,} figures equal those of the harnesses."
    for run in again:
        yield f"{_name(run)} was scored again by hkcanto {run.options['rescored']}."
    for run in runs:
        for one in agreement(run).different[:_NAMED]:
            known = run.figures.get(one.name)
            title = figure_title(run, known) if known else one.name
            place = f" of {', '.join(one.subjects)}" if one.subjects else ""
            yield (
                f"{_name(run)}: {title}{place} is {one.ours:.6g} here, {one.reported:.6g} in "
                f"{run.harness}. Was the log edited, or made by another version of this package?"
            )
        missing = len(run.setup.task.subjects) - len(run.subjects)
        if missing and not run.is_sample:
            yield f"{_name(run)} lacks {missing} of the {len(run.setup.task.subjects)} subjects."
        yield from (f"{_name(run)}: {text}" for text in run.notes)


def _protocols(beside: Sequence[Beside]) -> Iterator[str]:
    """Say how the papers measured, and in what the runs differ."""
    for each in beside:
        if each.table.protocol:
            yield f"{each.table.source}: {each.table.protocol}"
    for run in dict.fromkeys(run for each in beside for run in each.behind):
        if other := ", ".join(f"{name}:{value}" for name, value in departures(run).items()):
            yield f"{_name(run)} was not run as in the paper, but with {other}."


def _left_out(runs: Sequence[Run], beside: Sequence[Beside]) -> Iterator[str]:
    """Say why runs are in no published table, a line for each reason."""
    used = {run for each in beside for run in each.behind}
    reasons: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        if run not in used:
            reasons[why_left_out(run)].append(f"{run.label} on {run.task}")
    for reason, names in reasons.items():
        yield f"Not beside published figures: {', '.join(names)}. {reason}"


def _name(run: Result) -> str:
    return f"{run.label} on {task_title(run)}"
