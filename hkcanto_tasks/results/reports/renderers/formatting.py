"""Formatting of values and tables as text, the same in every output format."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from ....messages import joined, say, spoken
from ....printable import one_line
from ...statistics.intervals import UNSEEN
from ..blocks import (
    DisplayUnit,
    Estimate,
    TableBlock,
    TableColumn,
    TableRow,
    Value,
)

MISSING = "–"
BEST = "*"
"""Follows the best value of a row on a terminal."""
TIED = "≈"
"""Begins the note of a value that does not differ significantly from the best."""
_MOST_NAMES = 5  # with more, the last place is for their number

_HEADINGS: dict[DisplayUnit, str] = {
    "percent": "{name} %",
    "points": "{name} pts",
    "score_points": "{name} pts",
}
_MODELS = ("run", "published")
_DAGGER = f"† The interval {UNSEEN}."
_FIRST_JOINT = re.compile("^(; |；)")
_LAST_JOINT = re.compile("(; |；)$")


def listed(names: Iterable[str], joint: str = "; ") -> str:
    """Join the distinct names; of more than five, four are named and the rest counted."""
    distinct = [*dict.fromkeys(names)]
    if len(distinct) > _MOST_NAMES:
        shown_names = distinct[: _MOST_NAMES - 1]
        more = say("{number} more", number=len(distinct) - len(shown_names))
        distinct = [*shown_names, more]
    return joined(joint, distinct)


def is_chinese(text: str) -> bool:
    """Return whether a text has Chinese characters."""
    return bool(
        re.search(
            "[\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]", text
        )
    )


def number(value: Value) -> float | None:
    """Return the number in a value; None for a text, None or NaN."""
    if isinstance(value, Estimate):
        value = value.value
    if value is None or isinstance(value, str) or math.isnan(value):
        return None
    return float(value)


def value_text(
    value: Value,
    unit: DisplayUnit,
    digits: int = 1,
) -> str:
    """Return a value as text; `digits` are the decimal places of percentages, scores and points.

    Examples:
        >>> value_text(0.523, "percent"), value_text(0.00002, "p"), value_text(-0.021, "points")
        ('52.3', '< 0.001', '−2.1')
        >>> value_text(None, "count"), value_text("7B", "text")
        ('–', '7B')
    """
    amount = number(value)
    if amount is None:
        text = one_line(value) if isinstance(value, str) else ""
        return text or MISSING
    if math.isinf(amount):
        return "∞" if amount > 0 else "−∞"
    text = _number_text(amount, unit, digits)
    return text.replace("-", "−") if text.startswith("-") else text


def _number_text(
    amount: float,
    unit: DisplayUnit,
    digits: int,
) -> str:
    match unit:
        case "percent":
            return f"{100 * amount:z.{digits}f}"
        case "score":
            return f"{amount:z.{digits}f}"
        case "points":
            return _points_text(100 * amount, digits)
        case "score_points":
            return _points_text(amount, digits)
        case "count":
            return f"{amount:,.0f}"
        case "hundredths":
            return "< 0.01" if 0 < amount < 0.01 else f"{amount:,.2f}"
        case "p":
            return "< 0.001" if amount < 0.001 else f"{amount:.2g}"
    # Four significant digits, but at least those of the integer part.
    if abs(amount) >= 1000 or amount == 0:
        return f"{amount:,.0f}"
    return f"{amount:#.4g}".removesuffix(".")


def _points_text(points: float, digits: int) -> str:
    text = f"{points:+z.{digits}f}"
    if float(text):
        return text
    # A small difference is not shown as 0.
    return f"{points:+.1g}" if abs(points) > 0.0005 else text.removeprefix("+")


def interval_text(value: Value, unit: DisplayUnit) -> str:
    """Return the interval of a value as text, with enough digits that its ends differ; else empty.

    Examples:
        >>> interval_text(Estimate(0.523, 0.4911, 0.5539, 9), "percent")
        '[49.1, 55.4]'
        >>> interval_text(Estimate(0.0, -0.0001, 0.0001, 9), "points")
        '[−0.01, +0.01]'
    """
    if not isinstance(value, Estimate):
        return ""
    if number(value.low) is None or number(value.high) is None:
        return ""
    for digits in range(1, 5):
        low = value_text(value.low, unit, digits)
        high = value_text(value.high, unit, digits)
        if low != high or value.low == value.high:
            break
    return f"[{low}, {high}]"


def caption(table: TableBlock) -> str:
    """Return the caption of a table, with the meaning of the mark † beside an interval."""
    values = chain.from_iterable(row.values for row in table.rows)
    notes = (value.note for value in values if isinstance(value, Estimate))
    if not any(UNSEEN in note for note in notes):
        return table.caption
    return f"{table.caption} {spoken(_DAGGER)}".strip()


def heading(column: TableColumn) -> str:
    """Return the heading of a column, with its unit.

    Examples:
        >>> heading(TableColumn("Accuracy", "percent")), heading(TableColumn("Items", "count"))
        ('Accuracy %', 'Items')
    """
    name = one_line(column.title)
    template = _HEADINGS.get(column.unit)
    if template is None or template.split()[-1] in name.split():
        return name
    return spoken(say(template, name=name))


class ShownCell(NamedTuple):
    """A value as text: the value, its interval in brackets, its note, and whether it is the best of
    its column."""

    text: str
    interval: str = ""
    note: str = ""
    best: bool = False


class ShownRow(NamedTuple):
    """A row as text: its cells, and its kind if the table has several kinds of rows."""

    cells: Sequence[ShownCell]
    kind: str


def shown(table: TableBlock) -> list[ShownRow]:
    """Return the rows of a table as text: values formatted, the best marked.

    The best of a column is chosen among models: the user's runs and published rows, or only the
    runs if the table has a row for the best published score. If a name occurs twice, no cell is
    marked. Beside published rows, the user's runs say so after their names.

    Examples:
        >>> from hkcanto_tasks.results.reports.blocks import TableRow
        >>> columns = [TableColumn("Model"), TableColumn("acc", "percent", "", False)]
        >>> rows = [TableRow(["ours", 0.5], "run"), TableRow(["GPT", 0.4], "published")]
        >>> table = TableBlock("t", "T", columns, rows)
        >>> [(row.cells[0].text, row.cells[1].text, row.cells[1].best) for row in shown(table)]
        [('ours (this run)', '50.0', True), ('GPT', '40.0', False)]
    """
    best = [best_of(table, n) for n in range(len(table.columns))]
    kinds = {row.kind for row in table.rows}
    rows = list[ShownRow]()
    for row in table.rows:
        is_model = row.kind in _MODELS
        cells = list[ShownCell]()
        for column, value, top in zip(
            table.columns,
            row.values,
            best,
            strict=True,
        ):
            is_best = is_model and top is not None and number(value) == top
            cells.append(_shown_cell(value, column.unit, is_best))
        if row.kind == "run" and "published" in kinds:
            name = spoken(say("{model} (this run)", model=cells[0].text))
            cells[0] = cells[0]._replace(text=name)
        rows.append(ShownRow(cells, row.kind if len(kinds) > 1 else "other"))
    return rows


def _shown_cell(
    value: Value,
    unit: DisplayUnit,
    is_best: bool,
) -> ShownCell:
    interval = interval_text(value, unit)
    note = one_line(value.note) if isinstance(value, Estimate) else ""
    if UNSEEN in note:
        # The caption explains the mark.
        interval = f"{interval} †".strip()
        note = _without_unseen(note)
    return ShownCell(
        value_text(value, unit),
        interval,
        note,
        is_best,
    )


def _without_unseen(note: str) -> str:
    return _LAST_JOINT.sub("", note.replace(UNSEEN, ""))


def doubt(note: str) -> str:
    """Return the doubts in a note about a value, without its mark of a tie.

    Examples:
        >>> doubt("≈; 6 % unread"), doubt("≈")
        ('6 % unread', '')
    """
    return _FIRST_JOINT.sub("", _without_unseen(note).removeprefix(TIED))


def best_of(table: TableBlock, position: int) -> float | None:
    """Return the best number of a column; None if there is no choice."""
    is_lower_better = table.columns[position].lower_is_better
    rivals = _rivals(table)
    names = {row.values[0] for row in rivals}
    numbers = set[float]()
    for row in rivals:
        value = number(row.values[position])
        if value is not None:
            numbers.add(value)
    if is_lower_better is None or len(numbers) < 2 or len(names) < len(rivals):
        return None
    return min(numbers) if is_lower_better else max(numbers)


def _rivals(table: TableBlock) -> list[TableRow]:
    """Return the rows of models; only the runs if the best published score has a row."""
    has_best_row = any(row.kind == "best" for row in table.rows)
    kinds = ("run",) if has_best_row else _MODELS
    return [row for row in table.rows if row.kind in kinds]


def turned(table: TableBlock) -> tuple[Sequence[TableColumn], Sequence[ShownRow]]:
    """Return a table of models as one of tasks: columns and rows.

    Examples:
        >>> from hkcanto_tasks.results.reports.blocks import TableRow
        >>> tasks = [TableColumn("Law", "percent", under="↑"), TableColumn("BLEU", "score", under="↑")]
        >>> made = TableBlock("t", "T", [TableColumn("Model"), *tasks], [TableRow(["a", 0.5, 9], "run")])
        >>> [[cell.text for cell in row.cells] for row in turned(made)[1]]
        [['Law %', '↑', '50.0'], ['BLEU', '↑', '9.0']]
    """
    models = shown(table)
    rows = list[ShownRow]()
    for position, column in enumerate(table.columns[1:], 1):
        cells = [ShownCell(heading(column)), ShownCell(column.under)]
        for model in models:
            cell = model.cells[position]
            # The line of warnings has the doubts about a figure; here only ties are marked.
            note = TIED if TIED in cell.note else ""
            cells.append(ShownCell(cell.text, note=note, best=cell.best))
        rows.append(ShownRow(cells, "task"))
    names = [TableColumn(model.cells[0].text, "number") for model in models]
    task = TableColumn(spoken("Task"))
    measure = TableColumn(spoken("Measure"), beneath=True)
    return [task, measure, *names], rows
