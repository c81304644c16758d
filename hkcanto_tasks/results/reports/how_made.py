"""The last section: how everything was made, from signatures and checks to what was left out."""

from collections import defaultdict
from collections.abc import (
    Callable,
    Iterator,
    Sequence,
)
from itertools import chain
from operator import attrgetter

from ...messages import joined, say, sentences
from ..runs import Run, SkippedLog
from ..statistics.estimates import harness_agreement
from .blocks import (
    Block,
    Note,
    Section,
    TableBlock,
    TableColumn,
    TableRow,
    Value,
    table,
)
from .overview import RANKS, SCORE, Results, in_points
from .presentation import (
    MODEL,
    TASK,
    doubts,
    run_title,
)
from .standings import (
    why_left_out,
)

_MOST_DISAGREEMENTS = 4
_DOUBTS = "Failed checks: figures like the harness's, all items, at most 2 % unread, greedy, known data."


def last_section(results: Results) -> Section:
    """Return the section on how everything was made: signatures, checks, protocols, omissions."""
    score = TableColumn("Score", "score", SCORE)
    columns: list[tuple[TableColumn, Callable[[Run], Value]]] = [
        MODEL,
        TASK,
        (score, in_points),
        (TableColumn("Rank", help=RANKS), results.rank),
        (
            TableColumn("Doubts", help=_DOUBTS),
            lambda run: joined("; ", doubts(run)) or None,
        ),
        (TableColumn("Called"), attrgetter("model")),
        (TableColumn("Harness"), attrgetter("harness")),
        (TableColumn("Run on"), lambda run: f"{run.created:%Y-%m-%d %H:%M}"),
        (TableColumn("Signature"), attrgetter("signature.text")),
    ]
    about = "Compare numbers only if their signatures match (ignoring pkg)."
    runs = table(
        "runs",
        "Runs",
        results.runs,
        columns,
        about,
    )
    notes = map(Note, chain(_checks(results.runs), _protocols(results)))
    blocks: list[Block] = [runs, *notes, _skipped(results.skipped)]
    return Section(
        "How this was made",
        blocks,
        "made",
        bool(results.skipped),
    )


def _skipped(logs: Sequence[SkippedLog]) -> TableBlock:
    """Return the logs that were left out or read in part, and why."""
    # Reports are passed on, and need not show whole paths.
    rows = [TableRow(["/".join(log.path.parts[-2:]), log.reason]) for log in logs]
    columns = [TableColumn("File"), TableColumn("Reason")]
    return TableBlock(
        "skipped",
        "Logs left out or read in part",
        columns,
        rows,
    )


def _checks(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the number of figures that equal the harness's, and the remarks on each run."""
    scored = [run for run in runs if "rescored" not in run.options]
    equal = sum(harness_agreement(run).equal for run in scored)
    yield say("{number:,} figures equal those of the harnesses.", number=equal)
    for run in runs:
        yield from _checks_of_run(run)


def _checks_of_run(run: Run) -> Iterator[str]:
    title = run_title(run)
    version = run.options.get("rescored")
    if version:
        yield say(
            "{run} was scored again by hkcanto {version}.", run=title, version=version
        )
    for figure in harness_agreement(run).different[:_MOST_DISAGREEMENTS]:
        name = figure.name
        if figure.subjects:
            subjects = joined(", ", figure.subjects)
            name = say("{figure} of {subjects}", figure=name, subjects=subjects)
        yield say(
            "{run}: {figure} is {ours:.6g} here, {reported:.6g} in {harness}. Was the log edited, or "
            "made by another version of this package?",
            run=title,
            figure=name,
            ours=figure.ours,
            reported=figure.reported,
            harness=run.harness,
        )
    count = len(run.kind.task.subjects)
    lacking = count - len(run.subjects)
    if lacking > 0 and not run.is_sample:
        yield say(
            "{run} lacks {lacking} of the {count} subjects.",
            run=title,
            lacking=lacking,
            count=count,
        )
    for note in (*run.contradictions, *run.notes):
        yield say("{run}: {note}", run=title, note=note)


def _protocols(results: Results) -> Iterator[str]:
    """Say how the papers measured, and why runs are not beside their figures."""
    shown = set[Run]()
    for paper in results.papers:
        source = paper.table.source
        if paper.table.protocol:
            yield say(
                "{source}: {title}", source=source, title=say(paper.table.protocol)
            )
        if paper.table.two_protocols:
            yield say(
                "‡ The rows of {source} may follow its appendices or its release.",
                source=source,
            )
        for standing in paper.standings:
            shown.update(standing.runs)
    names = defaultdict[str, list[str]](list)
    for run in results.runs:
        if run not in shown:
            run_name = say("{model} on {task}", model=run.label, task=run.task)
            names[why_left_out(run)].append(run_name)
    for reason, left_out in names.items():
        runs = say("Not beside published figures: {runs}.", runs=joined(", ", left_out))
        yield sentences(runs, reason)
