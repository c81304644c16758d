"""Formatting of values and tables as text, the same in every output format."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ....printable import one_line
from ...statistics.intervals import UNSEEN
from ..blocks import DisplayUnit, Estimate, TableBlock, TableColumn, Value

MISSING = "–"
_NAMED = 4

_SIGNS: dict[DisplayUnit, str] = {
    "percent": "%",
    "points": "pts",
    "score_points": "pts",
}
_MODELS = ("run", "published")


def listed(names: Iterable[str], joint: str = "; ") -> str:
    """Join the distinct names; of more than five, four are named and the rest counted."""
    distinct = [*dict.fromkeys(names)]
    if len(distinct) > _NAMED + 1:
        distinct[_NAMED:] = [f"{len(distinct) - _NAMED} more"]
    return joint.join(distinct)


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
    return (
        None
        if value is None or isinstance(value, str) or math.isnan(value)
        else float(value)
    )


def value_text(value: Value, unit: DisplayUnit, digits: int = 1) -> str:
    """Return a value as text; `digits` are the decimal places of percentages, scores and points.

    Examples:
        >>> value_text(0.523, "percent"), value_text(0.00002, "p"), value_text(-0.021, "points")
        ('52.3', '< 0.001', '−2.1')
        >>> value_text(None, "count"), value_text("7B", "text")
        ('–', '7B')
    """
    found = number(value)
    if found is None:
        return (one_line(value) if isinstance(value, str) else "") or MISSING
    if math.isinf(found):
        return "∞" if found > 0 else "−∞"
    if unit in ("percent", "points"):
        found *= 100
    match unit:
        case "percent" | "score":
            text = f"{found:z.{digits}f}"
        case "points" | "score_points":
            text = f"{found:+z.{digits}f}"
            if not float(text):  # a small difference does not read as none
                text = (
                    f"{found:+.1g}" if abs(found) > 0.0005 else text.removeprefix("+")
                )
        case "count":
            text = f"{found:,.0f}"
        case "p":
            text = "< 0.001" if found < 0.001 else f"{found:.2g}"
        case _:
            # Four significant digits, but at least those of the integer part.
            text = (
                f"{found:,.0f}" if abs(found) >= 1000 or found == 0 else f"{found:#.4g}"
            )
            text = text.removesuffix(".")
    return text.replace("-", "−") if text.startswith("-") else text


def interval_text(value: Value, unit: DisplayUnit) -> str:
    """Return the interval of a value as text, with enough digits that its ends differ; else empty.

    Examples:
        >>> interval_text(Estimate(0.523, 0.4911, 0.5539, 9), "percent")
        '[49.1, 55.4]'
        >>> interval_text(Estimate(0.0, -0.0001, 0.0001, 9), "points")
        '[−0.01, +0.01]'
    """
    if not isinstance(value, Estimate) or None in (
        number(value.low),
        number(value.high),
    ):
        return ""
    for digits in range(1, 5):
        ends = [value_text(end, unit, digits) for end in (value.low, value.high)]
        if ends[0] != ends[1] or value.low == value.high:
            break
    return f"[{', '.join(ends)}]"


def caption(table: TableBlock) -> str:
    """Return the caption of a table, with the meaning of the mark † beside an interval."""
    values = (value for row in table.rows for value in row.values)
    marked = any(
        isinstance(value, Estimate) and UNSEEN in value.note for value in values
    )
    return (
        f"{table.caption} † The interval {UNSEEN}.".strip() if marked else table.caption
    )


def heading(column: TableColumn) -> str:
    """Return the heading of a column, with its unit.

    Examples:
        >>> heading(TableColumn("Accuracy", "percent")), heading(TableColumn("Items", "count"))
        ('Accuracy %', 'Items')
    """
    sign, name = _SIGNS.get(column.unit, ""), one_line(column.title)
    return name if sign in name.split() else f"{name} {sign}".strip()


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
    best = [best_of(table, place) for place in range(len(table.columns))]
    kinds = {row.kind for row in table.rows}
    rows = []
    for row in table.rows:
        cells = []
        for column, value, top in zip(table.columns, row.values, best, strict=True):
            text, interval = (
                value_text(value, column.unit),
                interval_text(value, column.unit),
            )
            note = one_line(value.note) if isinstance(value, Estimate) else ""
            if UNSEEN in note:
                interval, note = (
                    f"{interval} †",
                    note.replace(UNSEEN, "").removesuffix("; "),
                )
            is_best = row.kind in _MODELS and top is not None and number(value) == top
            cells.append(ShownCell(text, interval.strip(), note, is_best))
        if row.kind == "run" and "published" in kinds:
            cells[0] = cells[0]._replace(text=f"{cells[0].text} (this run)")
        rows.append(ShownRow(cells, row.kind if len(kinds) > 1 else "other"))
    return rows


def best_of(table: TableBlock, place: int) -> float | None:
    """Return the best number of a column; None if there is no choice."""
    lower = table.columns[place].lower_is_better
    rivals = ("run",) if any(row.kind == "best" for row in table.rows) else _MODELS
    models = [row for row in table.rows if row.kind in rivals]
    names = {row.values[0] for row in models}
    numbers = {
        found for row in models if (found := number(row.values[place])) is not None
    }
    if lower is None or len(numbers) < 2 or len(names) < len(models):
        return None
    return (min if lower else max)(numbers)


def turned(table: TableBlock) -> tuple[Sequence[TableColumn], Sequence[ShownRow]]:
    """Return a table of models as one of tasks: columns and rows.

    Examples:
        >>> from hkcanto_tasks.results.reports.blocks import TableRow
        >>> tasks = [TableColumn("Law", "percent", under="↑"), TableColumn("BLEU", "score", under="↑")]
        >>> made = TableBlock("t", "T", [TableColumn("Model"), *tasks], [TableRow(["a", 0.5, 9], "run")])
        >>> [[cell.text for cell in row.cells] for row in turned(made)[1]]
        [['Law %', '↑', '50.0'], ['BLEU', '↑', '9.0']]
    """
    models, rows = shown(table), []
    for place, column in enumerate(table.columns[1:], 1):
        task = ShownCell(heading(column)), ShownCell(column.under)
        # The line of warnings has the doubts about a figure; here only ties are marked.
        cells = (row.cells[place] for row in models)
        values = (
            ShownCell(f"{c.text} ≈" if "≈" in c.note else c.text, best=c.best)
            for c in cells
        )
        rows.append(ShownRow([*task, *values], "task"))
    names = [TableColumn(row.cells[0].text, "number") for row in models]
    return [TableColumn("Task"), TableColumn("Measure", beneath=True), *names], rows
