"""The first and the last section of a report, and the papers' tables between them.

The first section sums up the runs in a sentence and a table. The papers' tables with the runs
follow. The last section documents how everything was made.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from ..published import PublishedColumn, RowKind
from ..results import Result
from ..runs import Run, SkippedLog
from ..statistics.estimates import agreement, estimate, full_set
from ..statistics.intervals import WIDE, Estimate
from .answer import answer
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
    section,
    table,
)
from .matrix import contests, matrix
from .presentation import (
    MODEL,
    FigureColumn,
    figure_title,
    headline,
    headline_title,
    published_unit,
    side_by_side,
    task_title,
    usage_table,
)
from .renderers.formatting import value_text
from .standings import Beside, Standing, departures, rank_of, why_left_out
from .trust import doubts, trust

_NAMED = 3  # figures that differ
_FEW_RUNS = 8  # up to this many runs are listed in the summary
_DRAWN = 2  # up to this many runs in a table of subjects are drawn; more are coloured
_EXTREMES = 5  # subjects with the lowest figure, and with the highest
_OF_RUN = (
    *("label", "model", "harness", "task"),
    *("condition", "created", "status", "notes", "headline"),
)
_KINDS: Mapping[RowKind, Kind] = {"model": "published", "human": "human", "random": "random"}


def run_records(runs: Sequence[Run], beside: Sequence[Beside]) -> list[Mapping[str, Any]]:
    """Return the runs as records, with their setup, headline, ranks and checks."""
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
    """Return the ranks of a run in the papers' tables, those of its headline first."""
    own = [columns for each in beside for columns in each.runs.values()]
    found = [each for columns in own for each in columns.values() if run in each.behind]
    return sorted(found, key=lambda standing: not standing.is_headline_of(run))


def first_sections(
    runs: Sequence[Run],
    kept: Sequence[Run],
    beside: Sequence[Beside],
    skipped: Sequence[SkippedLog] = (),
) -> list[Section]:
    """Return the sections to read first: the answer, and a line for each run.

    With several tasks, the first section has the matrix and the second the runs. With one task,
    both are in the first, beside the paper's models or, for a single run, its parts.

    Args:
        runs: All runs, which the answer is about.
        kept: Runs that have a row; of a training run, the best and the last checkpoint.
        beside: Ranks of the kept runs in the papers' tables.
        skipped: Logs that were not read.
    """
    said, found = list[Block](answer(runs, beside, skipped)), contests(kept)
    if any(run.items.texts for run in runs):
        said.insert(0, Note(ITEMS_NOTICE, "warning"))
    if len(found) > 1:
        shown = [matrix(kept, beside, figure=_with_doubts), *_places(kept, beside)]
        first = Section("Results", [*said, *shown], name="results", is_summary=True)
        own = [_runs(kept, beside), _full_sets(kept)]
        few = len(kept) <= _FEW_RUNS
        return [first, *section("Runs", own, "runs", is_summary=few)]
    plotted, alone = _plotted(beside), list(kept) if len(kept) == 1 else []
    blocks: list[Block] = [_runs(kept, beside), _full_sets(kept), *map(_parts, alone)]
    if plotted:
        name = f"plot_{plotted.table.name}"
        drawn = _scores(plotted, [plotted.headline], name, drawn=True)
        blocks.append(replace(drawn, aside=True))
    elif alone:
        blocks[-1] = replace(_parts(alone[0]), aside=True)
    blocks = [each for each in blocks if not (isinstance(each, Table) and not each.rows)]
    return [Section("Results", [*said, *blocks], name="results", is_summary=True)]


def _with_doubts(run: Result) -> Value:
    """Return the headline of a run, with a short note if there are doubts about it."""
    found, why = headline(run), doubts(run) if isinstance(run, Run) else ()
    return replace(found, note="; ".join(why)) if found and why else found


def _places(runs: Sequence[Run], beside: Sequence[Beside]) -> list[Table]:
    """Return the ranks of a single model's figures in the papers' tables; none for several."""
    found = [(table.table.source, each) for table in beside for own in table.runs.values()
             for each in own.values() if each.rank]  # fmt: skip
    if len({run.label for run in runs}) > 1 or not found:
        return []
    made = table(
        "places",
        "Among the papers' models",
        [pair for pair in found if not (pair[1].column.category or pair[1].column.subject)],
        [
            (Column("Figure"), lambda pair: pair[1].column.name),
            (
                Column("Result"),
                lambda pair: value_text(pair[1].figure, published_unit(pair[1].column)),
            ),
            (Column("Place", help=_RANKS), lambda pair: f"{pair[1].rank} of {pair[1].of}"),
            (Column("Table", beneath=True), lambda pair: pair[0]),
        ],
        _RANKS,
    )
    return [replace(made, aside=True)] if made.rows else []


def _parts(run: Run) -> Table:
    """Return the other figures of a run in the unit of its headline, and its subjects.

    If there are many subjects, only the lowest and the highest are shown.
    """
    unit, name = column_of(run.headline).unit, run.headline.averages
    up = run.headline.higher_is_better
    figures = [each for each in run.figures.values() if each.higher_is_better == up]
    found = [
        (each.title, own)
        for each in figures
        if column_of(each).unit == unit and each != run.headline
        if each.form != "corpus" and (own := estimate(run, each.name))
    ]
    of = ((each, run.items.of_subjects([each.name])) for each in run.subjects)
    subjects = [(each.title, own) for each, mask in of if (own := estimate(run, name, mask))]
    subjects = sorted(subjects, key=lambda pair: pair[1].value) if len(subjects) > 1 else []
    titles = {title for title, _ in found}
    subjects = [pair for pair in subjects if pair[0] not in titles]
    left_out = len(subjects) - 2 * _EXTREMES
    if left_out > 1:
        subjects = [*subjects[:_EXTREMES], *subjects[-_EXTREMES:]]
    return table(
        "parts",
        "Other figures and subjects",
        [*found, *subjects],
        [
            (Column("Part"), lambda pair: pair[0]),
            (Column("Items", "count"), lambda pair: pair[1].items),
            (Column(run.label, unit, drawn=True), lambda pair: pair[1]),
        ],
        f"Subjects with the lowest and the highest figures; {left_out} between these are left out."
        if left_out > 1
        else "",
        kind=lambda _: "other",
    )


_TRUST = (
    "Checks that the figures equal the harness's, the run finished with all items, at most 2 % "
    "of the responses are unread, the data is a published revision, and decoding is greedy."
)
_INTERVAL = f"With 95 % interval: {WIDE}."
_EXACT = "Published scores are taken as exact."
_RANKS = f"Ranks in the paper's table that the interval allows. {_EXACT}"


def _runs(runs: Sequence[Run], beside: Sequence[Beside]) -> Table:
    groups = side_by_side(runs)
    runs = [run for group in groups for run in group.runs]
    one, few = len(groups) == 1, len(runs) <= _FEW_RUNS
    alone = one and not _plotted(beside)
    if one and not few:  # one line per row: the condition that all share is in the caption
        sign = 1 if runs[0].headline.higher_is_better else -1
        value = {run: found.value for run in runs if (found := headline(run))}
        runs.sort(key=lambda run: sign * value[run] if run in value else -inf, reverse=True)
    caption = "" if one else "Only rows of one task under one condition are comparable."
    beneath: list[FigureColumn] = [
        (Column("Task and condition", beneath=True), task_title),
        (Column("Measure", beneath=True), headline_title),
    ]

    def rank(run: Run) -> str | None:
        own = (each for each in _standings_of(run, beside) if each.is_headline_of(run))
        each = next((each for each in own if each.rank), None)
        return f"{each.rank} of {each.of}" if each else None

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
            (Column("Rank", help=_RANKS), rank),
            (
                Column("Trust", "badges", _TRUST),
                lambda run: trust(run).badges if few else trust(run).faults,
            ),
            *(beneath if few or not one else ()),
        ],
        caption if few or not one else f"{task_title(runs[0])}: {headline_title(runs[0])}.",
    )


def _full_sets(runs: Sequence[Run]) -> Table:
    known = [(run, each) for run in runs for each in run.figures.values() if not each.part]
    return table(
        "full_set",
        "Estimates for all items",
        [pair for pair in known if full_set(pair[0], pair[1].name)],
        [
            (Column("Model"), lambda row: row[0].label),
            (Column("Figure"), lambda row: figure_title(*row)),
            (Column("All items", "percent", drawn=True), lambda row: full_set(row[0], row[1].name)),
            (Column("From"), lambda row: f"{trust(row[0]).items:,} of {row[0].expected:,}"),
            (Column("Task and condition", beneath=True), lambda row: task_title(row[0])),
        ],
        "Estimated from a run with --limit, as a sample stratified by subject (Cochran 1977, "
        "chapter 5): subjects are weighted as in the whole task. Only whole runs are ranked.",
    )


def _plotted(beside: Sequence[Beside]) -> Beside | None:
    """Return the table to show beside a task's runs: the first with their headline, or a mean."""
    for each in beside:
        own = [columns.get(each.headline.name) for columns in each.runs.values()]
        is_whole = any(one and one.is_headline_of(run) for one in own for run in each.behind)
        if not each.table.transposed and (each.headline.mean_of or is_whole):
            return each
    return None


def published_sections(beside: Sequence[Beside], tasks: int) -> list[Section]:
    """Return a section for each published table with a run in it. It is folded if the first section
    already has this table, or the matrix of several tasks."""
    sections = []
    plotted = _plotted(beside) if tasks < 2 else None
    for each in beside:
        published, further = each.table, each is not plotted
        if published.transposed:
            made = _by_subject(each)
        else:
            made = _scores(each, published.columns, f"published_{published.name}", drawn=further)
        title, name = f"{published.source}: {published.title}", made.name.replace("_", "-")
        sections.append(Section(title, [made], name, is_summary=further and tasks < 2))
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
            Column("Rank", help="Rank among the paper's models; for a run, the ranks that its 95 % "
                   f"interval allows, or why it has none. {_EXACT}", under=f"by {key.name}"),
            *(_column(each, drawn=drawn and each is key) for each in columns),
        ],
        [row for _, row in rows],
        f"The paper's models and the runs, by {key.name}; "
        f"{'lower' if key.lower_is_better else 'higher'} is better. Intervals are at 95 %. "
        + _EXACT,
    )  # fmt: skip


def _shown(standing: Standing | None, said: str | None = None) -> Estimate | None:
    """Return a figure, without its note if the row's rank has the same text."""
    if standing and standing.figure.note == said:
        return replace(standing.figure, note="")
    return standing.figure if standing else None


def _column(column: PublishedColumn, *, drawn: bool) -> Column:
    of = column.mean_of or (*column.tasks, column.category or column.subject)
    about = f"{'Mean of' if column.mean_of else 'Of'} {', '.join(filter(None, of))}."
    if column.unmeasured:
        about = f"Not measured here: {column.unmeasured}."
    return Column(column.name, published_unit(column), about, column.lower_is_better, drawn)


def _by_subject(beside: Beside) -> Table:
    published = beside.table
    columns = [Column("Subject")]
    letters = published.columns[0].named[0].definition.letters
    few = len(beside.runs) <= _DRAWN
    columns += [
        Column(run, "percent", drawn=True)
        if few
        else Column(run, "percent", scale=(1 / len(letters), 1.0))
        for run in beside.runs
    ]
    columns += [Column(row.model, "percent") for row in published.rows]
    rows = []
    for name in (column.name for column in published.columns):
        own = [_shown(standings.get(name)) for standings in beside.runs.values()]
        rows.append(Row([name, *own, *(row.values[name] for row in published.rows)]))
    caption = f"The runs of this report, and {published.source}. Intervals are at 95 %."
    return Table(f"published_{published.name}", published.title, columns, rows, caption)


def last_section(
    runs: Sequence[Run], beside: Sequence[Beside], skipped: Sequence[SkippedLog]
) -> Section:
    """Return the section on how everything was made: signatures, checks, protocols, omissions."""
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
            "Compare numbers only if their signatures match (ignoring pkg).",
        ),
        *usage_table(runs),
        *map(Note, _checks(runs)),
        *map(Note, _protocols(beside)),
        *map(Note, _left_out(runs, beside)),
    ]
    if skipped:
        # Reports are passed on, and need not show whole paths.
        rows = [Row(["/".join(log.path.parts[-2:]), log.reason]) for log in skipped]
        title = "Logs not read, or not in full"
        caption = "The parts that could not be read are not in this report."
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
    """Say how the papers measured, and how the runs differ from that."""
    for each in beside:
        if each.table.protocol:
            yield f"{each.table.source}: {each.table.protocol}"
    for run in dict.fromkeys(run for each in beside for run in each.behind):
        if other := ", ".join(f"{name}:{value}" for name, value in departures(run).items()):
            yield f"{_name(run)} was run with other options than in the paper: {other}."


def _left_out(runs: Sequence[Run], beside: Sequence[Beside]) -> Iterator[str]:
    """Say why runs are in no published table: one line for each reason."""
    used = {run for each in beside for run in each.behind}
    reasons: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        if run not in used:
            reasons[why_left_out(run)].append(f"{run.label} on {run.task}")
    for reason, names in reasons.items():
        yield f"Not beside published figures: {', '.join(names)}. {reason}"


def _name(run: Result) -> str:
    return f"{run.label} on {task_title(run)}"
