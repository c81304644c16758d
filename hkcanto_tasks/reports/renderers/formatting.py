"""How a value becomes text: the same in every form of output."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..blocks import Column, Figure, Row, Table, Unit, Value

MISSING = "–"

ITEMS_NOTICE = (
    "Do not publish this report: it contains benchmark items and gold answers. On the web they end "
    "up in training data, and the benchmark measures nothing any more."
)

_SIGNS: dict[Unit, str] = {"percent": "%", "points": "pts", "score_points": "pts"}
_MARKS = {"run": "this run", "human": "human", "random": "random"}

# Controls would act on a terminal or be refused by a parser; bidirectional embeddings, overrides
# and isolates would turn round the text after them; surrogates cannot be encoded.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff"
    "\ud800-\udfff]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_CHINESE = re.compile("[\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_NEWLINES = re.compile(r"\r\n?")


def printable(text: str) -> str:
    r"""Return a text in which everything that acts instead of showing is made visible.

    Control characters become their pictures, and marks that change the direction of writing, lone
    surrogates and the like become U+FFFD. Line feeds and tabs stay.

    Example:
        >>> printable("a\x00b\x1b[31m\r\n\u202ec")
        'a␀b␛[31m\n�c'
    """
    return _UNPRINTABLE.sub(_picture, _NEWLINES.sub("\n", text))


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\ufffd"


def one_line(text: str) -> str:
    r"""Return a printable text on one line.

    Example:
        >>> one_line("two\n\tlines ")
        'two lines'
    """
    return " ".join(printable(text).split())


def encodable(text: str) -> str:
    r"""Return a text that UTF-8 can encode, otherwise as it is: lone surrogates become U+FFFD.

    Example:
        >>> encodable("\ud800 \x00")
        '� \x00'
    """
    return _SURROGATES.sub("\ufffd", text)


def shorten(text: str, limit: int) -> str:
    """Return the beginning of a text, saying how much is left out.

    Example:
        >>> shorten("x" * 1_200, 3)
        'xxx… (1,197 more characters)'
    """
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def is_chinese(text: str) -> bool:
    """Return whether a text has Chinese characters.

    Example:
        >>> is_chinese("粵語 and English"), is_chinese("English")
        (True, False)
    """
    return bool(_CHINESE.search(text))


def number(value: Value) -> float | None:
    """Return the number of a value; None for a text, for nothing, and for NaN.

    Example:
        >>> number(0.5), number("7B"), number(Figure(0.25, 0.2, 0.3, 9))
        (0.5, None, 0.25)
    """
    if isinstance(value, Figure):
        value = value.value
    if value is None or isinstance(value, str) or math.isnan(value):
        return None
    return float(value)


def value_text(value: Value, unit: Unit) -> str:
    """Return a value as text.

    Example:
        >>> value_text(0.523, "percent"), value_text(0.00002, "p"), value_text(-0.021, "points")
        ('52.3', '< 0.001', '−2.1')
        >>> value_text(None, "count"), value_text("7B", "text")
        ('–', '7B')
    """
    found = number(value)
    if found is not None:
        return _number_text(found, unit)
    return one_line(value) or MISSING if isinstance(value, str) else MISSING


def interval_text(value: Value, unit: Unit) -> str:
    """Return the interval of a value as text; empty if it has none.

    Example:
        >>> interval_text(Figure(0.523, 0.4911, 0.5539, 9), "percent")
        '[49.1, 55.4]'
    """
    if not isinstance(value, Figure) or value.low is None or value.high is None:
        return ""
    if math.isnan(value.low) or math.isnan(value.high):
        return ""
    return f"[{_number_text(value.low, unit)}, {_number_text(value.high, unit)}]"


def _number_text(value: float, unit: Unit) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    match unit:
        case "percent":
            text = f"{100 * value:z.1f}"
        case "score":
            text = f"{value:z.1f}"
        case "points" | "score_points":
            text = f"{value * (100 if unit == 'points' else 1):+z.1f}"
            text = "0.0" if text == "+0.0" else text
        case "count":
            text = f"{value:,.0f}"
        case "p":
            text = "< 0.001" if value < 0.001 else f"{value:.2g}"
        case _:
            # Four significant digits, but never fewer than the whole part has.
            text = f"{value:,.0f}" if abs(value) >= 1000 or value == 0 else f"{value:#.4g}"
            text = text.removesuffix(".")
    return text.replace("-", "−") if text.startswith("-") else text


def heading(column: Column) -> str:
    """Return the heading of a column, with its unit.

    Example:
        >>> heading(Column("Accuracy", "percent")), heading(Column("Items", "count"))
        ('Accuracy %', 'Items')
    """
    sign, name = _SIGNS.get(column.unit, ""), one_line(column.title)
    return name if sign in name.split() else f"{name} {sign}".strip()


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A value as text: itself, its interval in brackets, its note, whether it is its column's best;
    and its number and the interval's ends, to sort and to draw by."""

    text: str
    interval: str
    note: str
    best: bool
    number: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row as text: its cells, whose it is, and that in words where its name does not say it."""

    cells: Sequence[ShownCell]
    kind: str
    mark: str


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table as text: its headings, which columns hold numbers, its rows, and (heading, text) of
    the columns that explain themselves."""

    headings: Sequence[str]
    numeric: Sequence[bool]
    rows: Sequence[ShownRow]
    meanings: Sequence[tuple[str, str]]


def shown(table: Table) -> ShownTable:
    """Return a table as text: values formatted, the best marked.

    The best of a column is looked for among models, that is the user's runs and published rows;
    where a name occurs twice the rows are no rivals.

    Example:
        >>> table = Table("t", "T", [Column("Model"), Column("acc", "percent", "", False)], [
        ...     Row(["ours", 0.5], "run"), Row(["GPT", 0.4], "published")])
        >>> [(row.mark, row.cells[1].text, row.cells[1].best) for row in shown(table).rows]
        [('this run', '50.0', True), ('', '40.0', False)]
    """
    best = [_best(table, place) for place in range(len(table.columns))]
    several_kinds = len({row.kind for row in table.rows}) > 1

    def cell(value: Value, place: int, row: Row) -> ShownCell:
        unit, found = table.columns[place].unit, number(value)
        low, high, note = None, None, ""
        if isinstance(value, Figure):
            low, high, note = value.low, value.high, value.note
        is_best = found is not None and found == best[place] and row.kind in ("run", "published")
        text, interval = value_text(value, unit), interval_text(value, unit)
        return ShownCell(text, interval, one_line(note), is_best, found, low, high)

    rows = []
    for row in table.rows:
        cells = [cell(value, place, row) for place, value in enumerate(row.values)]
        mark = _MARKS.get(row.kind, "") if several_kinds else ""
        named = bool(cells) and mark.casefold() in cells[0].text.casefold()
        rows.append(ShownRow(cells, row.kind if several_kinds else "other", "" if named else mark))
    return ShownTable(
        headings=[heading(column) for column in table.columns],
        numeric=[column.unit not in ("text", "badges") for column in table.columns],
        rows=rows,
        meanings=[(one_line(c.title), one_line(c.help)) for c in table.columns if c.help],
    )


def _best(table: Table, place: int) -> float | None:
    """Return the best number of a column; None if there is nothing to choose between."""
    lower = table.columns[place].lower_is_better
    models = [row for row in table.rows if row.kind in ("run", "published")]
    names = {row.values[0] for row in models}
    numbers = {found for row in models if (found := number(row.values[place])) is not None}
    if lower is None or len(numbers) < 2 or len(names) < len(models):
        return None
    return (min if lower else max)(numbers)
