"""Dots with their intervals over one axis: what a page draws of a table's `drawn` columns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..blocks import Table, Unit
from .formatting import ShownTable, value_text

_MARGIN = 6.0
_TICKS = 4
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Mark:
    """A dot in a row: places from 0 to 100 (percent of the width), and the number of its series."""

    x: float
    low: float | None
    high: float | None
    series: int
    y: float


@dataclass(frozen=True, slots=True)
class Plot:
    """The plot of a table.

    Attributes:
        series: Places of the drawn columns.
        ticks: (Place, label) of the axis.
        zero: Place of the line of no difference; None without.
        rows: The marks of each row.
        height: Of a row, in pixels.
    """

    series: Sequence[int]
    ticks: Sequence[tuple[float, str]]
    zero: float | None
    rows: Sequence[Sequence[Mark]]
    height: int


def plot(table: Table, view: ShownTable) -> Plot | None:
    """Return the plot of a table; None if it has nothing to draw.

    Args:
        table: The table.
        view: The same as text, which has its numbers.
    """
    series = [place for place, column in enumerate(table.columns) if column.drawn]
    cells = [[row.cells[place] for place in series] for row in view.rows]
    numbers = [
        end
        for row in cells
        for cell in row
        for end in (cell.number, cell.low, cell.high)
        if end is not None and math.isfinite(end)
    ]
    if not numbers:
        return None
    unit = table.columns[series[0]].unit
    is_difference = unit in ("points", "score_points")
    ticks = _ticks(min(numbers + [0.0] * is_difference), max(numbers + [0.0] * is_difference))
    low, high = min(ticks[0], *numbers), max(ticks[-1], *numbers)

    def x(value: float) -> float:
        return round(_MARGIN + (100 - 2 * _MARGIN) * (value - low) / (high - low), 2)

    def end(value: float | None) -> float | None:
        return None if value is None or not math.isfinite(value) else x(value)

    rows = [
        [
            Mark(x(cell.number), end(cell.low), end(cell.high), place, _height(place, len(row)))
            for place, cell in enumerate(row)
            if cell.number is not None and math.isfinite(cell.number)
        ]
        for row in cells
    ]
    labels = [(x(tick), _label(tick, unit)) for tick in ticks]
    return Plot(series, labels, x(0) if is_difference else None, rows, max(18, 9 * len(series)))


def _height(place: int, count: int) -> float:
    return round(100 * (place + 1) / (count + 1), 1)


def _ticks(low: float, high: float) -> list[float]:
    """Return about four round numbers that reach from the lowest to the highest."""
    span = (high - low) or abs(high) or 1.0
    unit = 10.0 ** math.floor(math.log10(span / _TICKS))
    step = next(unit * each for each in _STEPS if unit * each >= span / _TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [place * step for place in range(first, max(last, first + 1) + 1)]


def _label(tick: float, unit: Unit) -> str:
    text = value_text(tick, unit)
    return text.removesuffix(".0") if "." in text else text
