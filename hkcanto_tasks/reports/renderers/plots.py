"""What a page draws of a table's `drawn` columns: dots with their intervals over one axis, or lines
with bands."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..blocks import Column, Table, Unit
from .formatting import ShownCell, ShownRow, value_text

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


class Line(NamedTuple):
    """A line: its points and its band for SVG, and (x, y, cell, step) of each dot, in percent."""

    points: str
    band: str
    dots: Sequence[tuple[float, float, ShownCell, str]]


class Curve(NamedTuple):
    """The plot of a curve: (place, label) of both axes, and column → its line."""

    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    lines: Mapping[Column, Line]


def curve(table: Table, rows: Sequence[ShownRow]) -> Curve:
    """Return the plot of a curve, whose rows, each with a number first, are also given as text."""
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
        lines[column] = Line(points, band, dots)
    return Curve(x_ticks, y_ticks, lines)


def _axis(
    values: Sequence[float | None], unit: Unit, *, turned: bool = False
) -> tuple[Callable[[float | None], float], Sequence[tuple[float, str]]]:
    """Return where on an axis a number is, from 0 to 100 or turned round, and its ticks."""
    known = [value for value in values if value is not None]
    ticks = _ticks(min(known), max(known))

    def place(value: float | None) -> float:
        share = ((value or 0) - ticks[0]) / (ticks[-1] - ticks[0])
        return round(100 * (1 - share if turned else share), 2)

    return place, [(place(tick), value_text(tick, unit).removesuffix(".0")) for tick in ticks]


def _ticks(low: float, high: float) -> list[float]:
    """Return about four round numbers that reach from the lowest to the highest."""
    span = (high - low) or abs(high) or 1.0
    unit = 10.0 ** math.floor(math.log10(span / _TICKS))
    step = next(unit * each for each in _STEPS if unit * each >= span / _TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [place * step for place in range(first, max(last, first + 1) + 1)]
