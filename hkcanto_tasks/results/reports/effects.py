"""The table of differences between two runs, with intervals and tests."""

from collections.abc import Callable, Sequence
from operator import itemgetter

from ...figures import Figure
from ..statistics.intervals import WIDE
from ..statistics.paired import Effect
from .blocks import Column, Table, Unit, Value, table

Row = tuple[str, Effect]
"""The name of a part, and the effect on it."""


def effects_table(
    figure: Figure, name: str, title: str, rows: Sequence[Row], sides: Sequence[str]
) -> Table:
    """Return a table of effects, with differences first since a terminal may cut the last columns.

    Args:
        figure: The compared figure.
        name: The table's name.
        title: The table's title.
        rows: The effects, with the names of their parts.
        sides: The names of the first and the second run.
    """
    is_score = figure.unit == "score"
    change: Unit = "score_points" if is_score else "points"
    unit: Unit = "score" if is_score else "percent"
    about = f"The second minus the first, with 95 % interval: {WIDE}."
    difference = Column("Difference", change, about, drawn=len(rows) > 1)
    wins = Column("W/L/T", "text", "Items that the second wins, loses and ties.")
    columns: list[tuple[Column, Callable[[Row], Value]]] = [
        (Column("Part"), itemgetter(0)),
        (difference, lambda row: row[1].difference),
        (wins, lambda row: "{0.wins:,}/{0.losses:,}/{0.ties:,}".format(row[1])),
        (Column("p", "p", "Two-sided, unadjusted."), lambda row: row[1].p_value),
        (Column("p by Holm", "p", "Adjusted for several tests."), lambda row: row[1].p_by_holm),
        (Column(sides[0], unit), lambda row: row[1].a),
        (Column(sides[1], unit), lambda row: row[1].b),
        (Column("Test"), lambda row: row[1].test),
    ]
    way = "Higher" if figure.higher_is_better else "Lower"
    return table(name, title, rows, columns, f"{way} is better.")


def by_size(figure: Figure, rows: Sequence[Row]) -> list[Row]:
    """Return effects in order, from the second run's largest gain to its largest loss."""
    sign = 1 if figure.higher_is_better is False else -1
    return sorted(rows, key=lambda row: sign * row[1].difference.value)
