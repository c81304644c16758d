"""Dots with their intervals over one axis: what a page draws of a table's `drawn` columns."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..blocks import Table
from .formatting import ShownRow, value_text

_MARGIN = 6.0
_TICKS = 4
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Mark(NamedTuple):
    """A dot in a row: places from 0 to 100 (percent of the width), and the number of its series."""

    x: float | None
    low: float | None
    high: float | None
    series: int
    y: float


class Plot(NamedTuple):
    """The plot of a table: places of the drawn columns, (place, label) of the axis, where the line
    of no difference is, if any, the marks of each row, and a row's height in pixels."""

    series: Sequence[int]
    ticks: Sequence[tuple[float | None, str]]
    zero: float | None
    rows: Sequence[Sequence[Mark]]
    height: int


def plot(table: Table, rows: Sequence[ShownRow]) -> Plot | None:
    """Return the plot of a table, whose rows are also given as text; None without any number."""
    series = [place for place, column in enumerate(table.columns) if column.drawn]
    cells = [[row.cells[place] for place in series] for row in rows]
    ends = [end for row in cells for cell in row for end in (cell.number, cell.low, cell.high)]
    numbers = [end for end in ends if end is not None and math.isfinite(end)]
    if not numbers:
        return None
    unit = table.columns[series[0]].unit
    is_difference = unit in ("points", "score_points")
    zeros = [0.0] if is_difference else []
    ticks = _ticks(min(numbers + zeros), max(numbers + zeros))
    low, high = min(ticks[0], *numbers), max(ticks[-1], *numbers)

    def x(value: float | None) -> float | None:
        if value is None or not math.isfinite(value):
            return None
        return round(_MARGIN + (100 - 2 * _MARGIN) * (value - low) / (high - low), 2)

    heights = [round(100 * (place + 1) / (len(series) + 1), 1) for place in range(len(series))]
    marks = [
        [
            Mark(x(cell.number), x(cell.low), x(cell.high), place, heights[place])
            for place, cell in enumerate(row)
            if x(cell.number) is not None
        ]
        for row in cells
    ]
    labels = [(x(tick), value_text(tick, unit).removesuffix(".0")) for tick in ticks]
    return Plot(series, labels, x(0) if is_difference else None, marks, max(18, 9 * len(series)))


def _ticks(low: float, high: float) -> list[float]:
    """Return about four round numbers that reach from the lowest to the highest."""
    span = (high - low) or abs(high) or 1.0
    unit = 10.0 ** math.floor(math.log10(span / _TICKS))
    step = next(unit * each for each in _STEPS if unit * each >= span / _TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [place * step for place in range(first, max(last, first + 1) + 1)]
