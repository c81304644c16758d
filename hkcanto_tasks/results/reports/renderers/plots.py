"""Plots of a table on a page: dots with their intervals.

The `drawn` columns of a table share one plot with a row for each row of the table. A `strip` column
has a small plot in each cell, on one axis for the column, on which the better is further right.
All positions are percentages of the width or the height.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from ..blocks import (
    DisplayUnit,
    Estimate,
    TableBlock,
    TableRow,
    Value,
)
from .formatting import doubt, number, value_text

_MARGIN = 6.0
_FEWEST_TICKS = 3
_STEPS = (5.0, 2.5, 2.0, 1.0, 0.5, 0.25, 0.2)
_MIDDLE = 50.0
_DIFFERENCES: Sequence[DisplayUnit] = ("points", "score_points")

# In percent; None for a number that is missing or infinite.
Position = float | None


class Mark(NamedTuple):
    """A value in a row's plot.

    Attributes:
        series: The position of its column among those of the plot; None for a line across the row.
        x: Its position.
        y: Its height in the row.
        low: The lower end of its interval.
        high: The upper end.
        pale: Whether it is doubtful, or a difference that may be chance.
    """

    series: int | None
    x: Position
    y: float = _MIDDLE
    low: Position = None
    high: Position = None
    pale: bool = False


class Plot(NamedTuple):
    """A plot of rows of a table.

    Attributes:
        series: The positions of the columns that are drawn.
        ticks: The position and label of each tick of the axis.
        zero: The line of no difference, if the columns are differences.
        rows: For each row its marks.
        lines: The positions of the columns that are lines.
    """

    series: Sequence[int]
    ticks: Sequence[tuple[Position, str]]
    zero: Position
    rows: Sequence[Sequence[Mark]]
    lines: Sequence[int] = ()

    @property
    def marks(self) -> list[Mark]:
        """The marks of all rows."""
        return [*chain.from_iterable(self.rows)]


class _Axis(NamedTuple):
    """The numbers at the left and the right end of a plot."""

    left: float
    right: float

    def position(self, number: float | None) -> Position:
        """Return the position of a number."""
        if number is None:
            return None
        share = (number - self.left) / (self.right - self.left)
        return round(_MARGIN + (100 - 2 * _MARGIN) * share, 2)

    def mark(
        self,
        value: Value,
        series: int,
        y: float,
        is_difference: bool,
    ) -> Mark | None:
        """Return the dot of a value; None without a number."""
        middle, low, high = _numbers(value)
        if middle is None:
            return None
        pale = isinstance(value, Estimate) and bool(doubt(value.note))
        if is_difference and low is not None and high is not None:
            pale = pale or low <= 0 <= high
        return Mark(
            series,
            self.position(middle),
            y,
            self.position(low),
            self.position(high),
            pale,
        )

    def dots(
        self,
        values: Sequence[Value],
        is_difference: bool,
    ) -> Iterator[Mark]:
        """Yield the dots of a row's values, one below the other."""
        for index, value in enumerate(values):
            height = round(100 * (index + 1) / (1 + len(values)), 1)
            mark = self.mark(
                value,
                index,
                height,
                is_difference,
            )
            if mark:
                yield mark

    def lines(self, values: Sequence[Value]) -> Iterator[Mark]:
        """Yield the lines of a row's values."""
        for value in values:
            position = self.position(_numbers(value)[0])
            if position is not None:
                yield Mark(None, position)

    def ticks(self, unit: DisplayUnit) -> list[tuple[Position, str]]:
        """Return the labelled positions of an axis."""
        labelled = list[tuple[Position, str]]()
        for tick in _ticks(*self):
            label = value_text(tick, unit).removesuffix(".0")
            labelled.append((self.position(tick), label))
        return labelled


def plot(table: TableBlock) -> Plot | None:
    """Return the plot of a table's drawn columns; None without numbers.

    Plain numbers beside estimates are references: they are lines, not dots.
    """
    drawn = [n for n, column in enumerate(table.columns) if column.drawn]
    numbers = _numbers_of(table, drawn)
    if not numbers:
        return None
    unit = table.columns[drawn[0]].unit
    is_difference = unit in _DIFFERENCES
    if is_difference:
        numbers.append(0.0)
    axis = _axis(numbers)
    series, lines = _series_and_lines(table, drawn)
    rows = list[list[Mark]]()
    for row in table.rows:
        references = axis.lines(_values(row, lines))
        dots = axis.dots(_values(row, series), is_difference)
        rows.append([*references, *dots])
    zero = axis.position(0) if is_difference else None
    return Plot(
        series,
        axis.ticks(unit),
        zero,
        rows,
        lines,
    )


def _values(row: TableRow, positions: Sequence[int]) -> list[Value]:
    return [row.values[position] for position in positions]


def _numbers_of(table: TableBlock, positions: Sequence[int]) -> list[float]:
    """Return all numbers in some columns, with the ends of their intervals."""
    values = chain.from_iterable(_values(row, positions) for row in table.rows)
    return [*_finite(values)]


def _series_and_lines(
    table: TableBlock, drawn: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the columns that are dots, and those of plain numbers beside them, which are lines."""
    estimated = [n for n in drawn if _has_estimate(table, n)]
    if not estimated:
        return [*drawn], []
    return estimated, [n for n in drawn if n not in estimated]


def strips(table: TableBlock) -> dict[int, Plot]:
    """Return the plots of a table's strip columns that have numbers: position → plot.

    Only runs are dots. The best published score is a line through all rows.
    """
    plots = dict[int, Plot]()
    for position, column in enumerate(table.columns):
        if not column.strip:
            continue
        runs = [_value(row, position, "run") for row in table.rows]
        best = [_value(row, position, "best") for row in table.rows]
        rows = strip(runs, column.lower_is_better, _finite(best))
        if rows:
            plots[position] = Plot(
                [position],
                (),
                None,
                rows,
            )
    return plots


def strip(
    values: Sequence[Value],
    lower_is_better: bool | None,
    lines: Sequence[float] = (),
) -> list[list[Mark]]:
    """Return the marks of each value on one axis, with lines through all; empty without numbers."""
    numbers = [*_finite(values), *lines]
    if not numbers:
        return []
    axis = _axis(numbers)
    if lower_is_better:
        axis = _Axis(axis.right, axis.left)
    shared = [Mark(None, axis.position(line)) for line in lines]
    rows = list[list[Mark]]()
    for value in values:
        mark = axis.mark(
            value,
            0,
            _MIDDLE,
            is_difference=False,
        )
        rows.append([*shared, mark] if mark else [])
    return rows


def _value(
    row: TableRow,
    position: int,
    kind: str,
) -> Value:
    """Return the value of a row of some kind; None if the row is of another kind."""
    return row.values[position] if row.kind == kind else None


def _has_estimate(table: TableBlock, position: int) -> bool:
    return any(isinstance(row.values[position], Estimate) for row in table.rows)


def _axis(numbers: Sequence[float]) -> _Axis:
    """Return an axis of some numbers; equal numbers are in its middle."""
    low = min(numbers)
    high = max(numbers)
    if low < high:
        return _Axis(low, high)
    reach = (abs(low) or 1) / 2
    return _Axis(low - reach, low + reach)


def _finite(values: Iterable[Value]) -> list[float]:
    """Return the values and the ends of their intervals, as far as they are finite."""
    numbers = chain.from_iterable(map(_numbers, values))
    return [number for number in numbers if number is not None]


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
