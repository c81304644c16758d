"""Plots of a table's `drawn` columns on a page: dots with intervals over one axis.

All positions are percentages of the width or the height. The axis covers every dot and interval.
"""

import math
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from ..blocks import Estimate, TableBlock, Value
from .formatting import number, value_text

_MARGIN = 6.0
_FEWEST_TICKS = 3
_STEPS = (5.0, 2.5, 2.0, 1.0, 0.5, 0.25, 0.2)

# In percent; None for a number that is missing or infinite.
Position = float | None


class Dot(NamedTuple):
    """A dot of a row's plot, with the ends of its interval."""

    series: int
    x: Position
    y: float
    low: Position
    high: Position


class Plot(NamedTuple):
    """The plot of a table.

    Attributes:
        series: The positions of the drawn columns.
        ticks: The position and label of each tick of the axis.
        zero: The line of no difference, if the columns are differences.
        rows: For each row the dots.
        height: A row's height in pixels.
    """

    series: Sequence[int]
    ticks: Sequence[tuple[Position, str]]
    zero: Position
    rows: Sequence[Sequence[Dot]]
    height: int


class _Axis(NamedTuple):
    """The lowest and the highest number of a plot."""

    low: float
    high: float

    def position(self, number: float | None) -> Position:
        """Return the position of a number."""
        if number is None:
            return None
        share = (100 - 2 * _MARGIN) * (number - self.low) / (self.high - self.low)
        return round(_MARGIN + share, 2)


def plot(table: TableBlock) -> Plot | None:
    """Return the plot of a table; None without numbers."""
    series = [n for n, column in enumerate(table.columns) if column.drawn]
    rows = [[_numbers(row.values[n]) for n in series] for row in table.rows]
    drawn = [number for number in chain(*chain(*rows)) if number is not None]
    if not drawn:
        return None
    unit = table.columns[series[0]].unit
    is_difference = unit in ("points", "score_points")
    axis = _axis([*drawn, 0.0] if is_difference else drawn)
    ticks = list[tuple[Position, str]]()
    for tick in _ticks(axis.low, axis.high):
        label = value_text(tick, unit).removesuffix(".0")
        ticks.append((axis.position(tick), label))
    return Plot(
        series,
        ticks,
        zero=axis.position(0) if is_difference else None,
        rows=[_dots(row, axis) for row in rows],
        height=max(18, 9 * len(series)),
    )


def _axis(numbers: Sequence[float]) -> _Axis:
    """Return an axis of some numbers; equal numbers are in its middle."""
    low = min(numbers)
    high = max(numbers)
    if low < high:
        return _Axis(low, high)
    reach = (abs(low) or 1) / 2
    return _Axis(low - reach, low + reach)


def _dots(row: Sequence[Sequence[float | None]], axis: _Axis) -> list[Dot]:
    """Return the dots of a row, one below the other."""
    dots = list[Dot]()
    for n, (value, low, high) in enumerate(row):
        if value is not None:
            x, start, end = map(axis.position, (value, low, high))
            y = round(100 * (n + 1) / (1 + len(row)), 1)
            dots.append(
                Dot(
                    n,
                    x,
                    y,
                    start,
                    end,
                )
            )
    return dots


def _numbers(value: Value) -> list[float | None]:
    """Return a value and the ends of its interval; None for what is not finite."""
    numbers = [number(value), None, None]
    if isinstance(value, Estimate):
        numbers = [number(value), number(value.low), number(value.high)]
    return [n if n is not None and math.isfinite(n) else None for n in numbers]


def _ticks(low: float, high: float) -> list[float]:
    """Return at least three round numbers between the lowest and the highest.

    Examples:
        >>> _ticks(-47, 55)
        [-25.0, 0.0, 25.0, 50.0]
    """
    unit = 10.0 ** math.floor(math.log10(high - low))
    for step in (unit * factor for factor in _STEPS):
        first = math.ceil(low / step - 1e-9)
        last = math.floor(high / step + 1e-9)
        if last - first + 1 >= _FEWEST_TICKS:
            break
    return [multiple * step for multiple in range(first, last + 1)]
