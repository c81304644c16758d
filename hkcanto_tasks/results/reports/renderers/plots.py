"""Plots of a table's `drawn` columns on a page: dots with intervals over one axis.

All positions are percentages of the width or the height. The axis covers every dot and interval.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..blocks import Estimate, TableBlock, Value
from .formatting import number, value_text

_MARGIN = 6.0
_FEWEST_TICKS = 3
_STEPS = (5.0, 2.5, 2.0, 1.0, 0.5, 0.25, 0.2)

Place = float | None
"""None for a number that is missing or infinite."""


class Plot(NamedTuple):
    """The plot of a table: places of the drawn columns, the axis, the line of no difference if any;
    for each row the series, x, y, low and high of its dots; a row's height in pixels."""

    series: Sequence[int]
    ticks: Sequence[tuple[Place, str]]
    zero: Place
    rows: Sequence[Sequence[tuple[int, Place, float, Place, Place]]]
    height: int


def plot(table: TableBlock) -> Plot | None:
    """Return the plot of a table; None without numbers."""
    series = [place for place, column in enumerate(table.columns) if column.drawn]
    rows = [[_numbers(row.values[place]) for place in series] for row in table.rows]
    drawn = [
        value for row in rows for mark in row for value in mark if value is not None
    ]
    if not drawn:
        return None
    unit = table.columns[series[0]].unit
    is_difference = unit in ("points", "score_points")
    drawn += [0.0] if is_difference else []
    low, high = min(drawn), max(drawn)
    if low == high:
        low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2

    def x(value: float | None) -> Place:
        if value is None:
            return None
        return round(_MARGIN + (100 - 2 * _MARGIN) * (value - low) / (high - low), 2)

    ticks = [
        (x(tick), value_text(tick, unit).removesuffix(".0"))
        for tick in _ticks(low, high)
    ]
    lines = 1 + len(series)
    dots = [
        [
            (place, x(value), round(100 * (place + 1) / lines, 1), x(from_), x(to))
            for place, (value, from_, to) in enumerate(row)
            if value is not None
        ]
        for row in rows
    ]
    return Plot(
        series, ticks, x(0) if is_difference else None, dots, max(18, 9 * len(series))
    )


def _numbers(value: Value) -> list[float | None]:
    """Return a value and the ends of its interval; None for what is not finite."""
    ends = (value.low, value.high) if isinstance(value, Estimate) else (None, None)
    numbers = map(number, (value, *ends))
    return [n if n is not None and math.isfinite(n) else None for n in numbers]


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
