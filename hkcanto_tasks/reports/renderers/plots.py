"""What a page draws of a table's `drawn` columns: dots with their intervals over one axis, or lines
with bands. All places are percentages of the width or the height."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..blocks import Column, Table, Unit
from .formatting import ShownCell, ShownRow, value_text

_MARGIN = 6.0
_TICKS = 4
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

Place = float | None
"""None for a number that is missing or infinite."""
Ticks = Sequence[tuple[Place, str]]
Line = tuple[str, str, Sequence[tuple[Place, Place, ShownCell, str]]]
"""Its points and its band for SVG, and x, y, cell and step of each dot."""


class Plot(NamedTuple):
    """The plot of a table: places of the drawn columns, the axis, where the line of no difference
    is, if any; of each row the series, x, y, low and high of its dots; a row's height in pixels."""

    series: Sequence[int]
    ticks: Ticks
    zero: Place
    rows: Sequence[Sequence[tuple[int, Place, float, Place, Place]]]
    height: int


def plot(table: Table, rows: Sequence[ShownRow]) -> Plot | None:
    """Return the plot of a table, whose rows are also given as text; None without any number."""
    series = [place for place, column in enumerate(table.columns) if column.drawn]
    cells = [[row.cells[place] for place in series] for row in rows]
    ends = [end for row in cells for cell in row for end in (cell.number, cell.low, cell.high)]
    if not any(end is not None and math.isfinite(end) for end in ends):
        return None
    unit = table.columns[series[0]].unit
    is_difference = unit in ("points", "score_points")
    x, ticks = _axis(ends + [0.0] * is_difference, unit, margin=_MARGIN)
    heights = [round(100 * (place + 1) / (len(series) + 1), 1) for place in range(len(series))]
    dots = [
        [
            (place, x(cell.number), heights[place], x(cell.low), x(cell.high))
            for place, cell in enumerate(row)
            if x(cell.number) is not None
        ]
        for row in cells
    ]
    return Plot(series, ticks, x(0) if is_difference else None, dots, max(18, 9 * len(series)))


def curve(table: Table, rows: Sequence[ShownRow]) -> tuple[Ticks, Ticks, Mapping[Column, Line]]:
    """Return the ticks of both axes of a curve, and its lines by their columns.

    Its rows, each with a number first, are also given as text.
    """
    known = {
        column: [(row.cells[0], cell) for row in rows if (cell := row.cells[at]).number is not None]
        for at, column in enumerate(table.columns)
        if column.drawn
    }
    cells = [cell for own in known.values() for _, cell in own]
    x, x_ticks = _axis([step.number for own in known.values() for step, _ in own], "count")
    ends = [end for cell in cells for end in (cell.number, cell.low, cell.high)]
    y, y_ticks = _axis(ends, next(iter(known)).unit, turned=True)
    lines = {}
    for column, own in known.items():
        dots = [(x(step.number), y(cell.number), cell, step.text) for step, cell in own]
        sure = [dot for dot in dots if dot[2].low is not None]
        edges = [(dot[0], y(dot[2].high)) for dot in sure]
        edges += [(dot[0], y(dot[2].low)) for dot in reversed(sure)]
        band, points = (" ".join(f"{x},{y}" for x, y, *_ in each) for each in (edges, dots))
        lines[column] = points, band, dots
    return x_ticks, y_ticks, lines


def _axis(
    values: Sequence[float | None], unit: Unit, *, margin: float = 0.0, turned: bool = False
) -> tuple[Callable[[float | None], Place], Ticks]:
    """Return where on an axis, perhaps turned round, a number is, and its ticks."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    ticks = _ticks(min(known), max(known))
    low, high = min(ticks[0], *known), max(ticks[-1], *known)

    def place(value: float | None) -> Place:
        if value is None or not math.isfinite(value):
            return None
        share = (high - value if turned else value - low) / (high - low)
        return round(margin + (100 - 2 * margin) * share, 2)

    return place, [(place(tick), value_text(tick, unit).removesuffix(".0")) for tick in ticks]


def _ticks(low: float, high: float) -> list[float]:
    """Return about four round numbers that reach from the lowest to the highest."""
    span = (high - low) or abs(high) or 1.0
    unit = 10.0 ** math.floor(math.log10(span / _TICKS))
    step = next(unit * each for each in _STEPS if unit * each >= span / _TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [place * step for place in range(first, max(last, first + 1) + 1)]
