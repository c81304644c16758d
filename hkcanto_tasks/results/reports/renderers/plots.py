"""Plots of a table's `drawn` columns on a page: dots with intervals over one axis.

All positions are percentages of the width or the height.

The axis covers every dot, and every interval except for ends that are far out in Tukey's sense:
more than three interquartile ranges from the quartiles of all lower, or upper, ends (Tukey 1977,
"Exploratory Data Analysis"). Otherwise the interval of a subject with three items would squeeze all
others. Such an interval is drawn to the edge of the plot, at 0 or 100, with an arrow; no dot or
complete interval reaches the edge.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import quantiles
from typing import NamedTuple

from ..blocks import Table
from .formatting import ShownRow, value_text

_MARGIN = 6.0
_FEWEST_TICKS = 3
_STEPS = (5.0, 2.5, 2.0, 1.0, 0.5, 0.25, 0.2)
_FAR_OUT = 3  # interquartile ranges

Place = float | None
"""None for a number that is missing or infinite."""
Ticks = Sequence[tuple[Place, str]]


class Plot(NamedTuple):
    """The plot of a table: places of the drawn columns, the axis, the line of no difference if any;
    for each row the series, x, y, low and high of its dots; a row's height in pixels. A low of 0 or
    a high of 100 marks an interval that extends beyond the axis."""

    series: Sequence[int]
    ticks: Ticks
    zero: Place
    rows: Sequence[Sequence[tuple[int, Place, float, Place, Place]]]
    height: int


def plot(table: Table, rows: Sequence[ShownRow]) -> Plot | None:
    """Return the plot of a table, given also its rows as text; None without numbers."""
    series = [place for place, column in enumerate(table.columns) if column.drawn]
    cells = [[row.cells[place] for place in series] for row in rows]
    drawn = [cell for row in cells for cell in row]
    numbers = _finite(cell.number for cell in drawn)
    lows, highs = _finite(cell.low for cell in drawn), _finite(cell.high for cell in drawn)
    if not (numbers or lows or highs):
        return None
    unit = table.columns[series[0]].unit
    is_difference = unit in ("points", "score_points")
    kept = [*_not_far_below(lows), *(-end for end in _not_far_below([-end for end in highs]))]
    within = [*numbers, *kept, 0.0] if is_difference else [*numbers, *kept]
    low, high = min(within), max(within)
    if low == high:
        low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2

    def x(value: float | None) -> Place:
        if value is None or not math.isfinite(value):
            return None
        share = (value - low) / (high - low)
        if not 0 <= share <= 1:
            return 0.0 if share < 0 else 100.0
        return round(_MARGIN + (100 - 2 * _MARGIN) * share, 2)

    ticks = [(x(tick), value_text(tick, unit).removesuffix(".0")) for tick in _ticks(low, high)]
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


def _finite(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


def _not_far_below(ends: Sequence[float]) -> list[float]:
    """Return the ends that are not far out on the lower side.

    Examples:
        >>> _not_far_below([3, 5, 8, 10, -100])
        [3, 5, 8, 10]
    """
    if len(ends) < 2:
        return [*ends]
    lower, _, upper = quantiles(ends, n=4, method="inclusive")
    least = lower - _FAR_OUT * (upper - lower)
    return [end for end in ends if end >= least or lower == upper]


def _ticks(low: float, high: float) -> list[float]:
    """Return at least three round numbers between the lowest and the highest.

    Examples:
        >>> _ticks(-47, 55)
        [-25.0, 0.0, 25.0, 50.0]
    """
    unit = 10.0 ** math.floor(math.log10(high - low))
    for step in (unit * each for each in _STEPS):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 >= _FEWEST_TICKS:
            break
    return [place * step for place in range(first, last + 1)]
