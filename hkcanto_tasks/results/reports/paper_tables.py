"""The papers' tables of scores, with the runs in them."""

from collections.abc import (
    Mapping,
)
from dataclasses import replace

from ...messages import joined, say, verbatim
from ..published import (
    PublishedColumn,
    PublishedRow,
    PublishedTable,
    RowKind,
)
from ..statistics.intervals import Estimate
from .blocks import (
    TableBlock,
    TableColumn,
    TableRow,
    TableRowKind,
    Value,
    unit_of,
)
from .overview import RANKS
from .renderers.formatting import (
    number,
)
from .standings import (
    Standing,
    TableWithRuns,
    rank_of,
)

_KINDS: Mapping[RowKind, TableRowKind] = {
    "model": "published",
    "human": "human",
    "random": "random",
}
_HIGHER = (
    "The paper's models and the runs, by {column}; higher is better. Published scores have the "
    "interval of a run on as many items."
)
_LOWER = (
    "The paper's models and the runs, by {column}; lower is better. Published scores have the "
    "interval of a run on as many items."
)


def paper_table(paper: TableWithRuns) -> TableBlock:
    """Return a published table with the runs in it, sorted and drawn by its headline."""
    published = paper.table
    key = paper.headline
    rows = [_published_row(row, published, key) for row in published.rows]
    for name, standings_of_run in paper.runs.items():
        rows.append(
            _run_row(
                name,
                standings_of_run,
                published,
                key,
            )
        )
    position = 2 + published.columns.index(key)
    sign = 1 if key.lower_is_better else -1

    def order(row: TableRow) -> tuple[bool, float]:
        score = number(row.values[position])
        return score is None, sign * (score or 0)

    about = say(_HIGHER, column=key.name)
    if key.lower_is_better:
        about = say(_LOWER, column=key.name)
    return TableBlock(
        f"published_{published.name}",
        say("{source}: {title}", source=published.source, title=say(published.title)),
        columns=[
            TableColumn("Model"),
            TableColumn("Rank", help=RANKS, under=say("by {column}", column=key.name)),
            *(_paper_column(column, key) for column in published.columns),
        ],
        rows=sorted(rows, key=order),
        caption=about,
    )


def _published_row(
    row: PublishedRow,
    published: PublishedTable,
    key: PublishedColumn,
) -> TableRow:
    rank = rank_of(row, published, key)
    name = row.model if row.kind == "model" else say(row.model)
    values: list[Value] = [name, str(rank) if rank else None]
    for column, score in row.values.items():
        if score is not None and column in row.notes:
            values.append(
                Estimate(
                    score,
                    None,
                    None,
                    0,
                    say(row.notes[column]),
                )
            )
        else:
            values.append(score)
    return TableRow(values, _KINDS.get(row.kind, "other"))


def _run_row(
    name: str,
    by_column: Mapping[str, Standing],
    published: PublishedTable,
    key: PublishedColumn,
) -> TableRow:
    """Return the row of a run; its rank says why it has none."""
    headline_standing = by_column.get(key.name)
    rank = None
    if headline_standing:
        rank = headline_standing.rank_text or headline_standing.figure.note
    values: list[Value] = [name, rank]
    for column in published.columns:
        standing = by_column.get(column.name)
        figure = standing.shown if standing else None
        # A figure is shown without its note if the row's rank has the same text.
        if figure and figure.note == rank:
            figure = replace(figure, note="")
        values.append(figure)
    return TableRow(values, "run")


def _paper_column(column: PublishedColumn, key: PublishedColumn) -> TableColumn:
    about = say("Not measured here: {reason}.", reason=say(column.unmeasured))
    if not column.unmeasured:
        names = filter(None, (*column.mean_of, *column.tasks, column.part))
        about = say("Of {names}.", names=joined(", ", names))
    measure = column.measure
    return TableColumn(
        verbatim(column.name),
        unit_of(measure) if measure else column.unit,
        about,
        column.lower_is_better,
        drawn=column is key,
    )
