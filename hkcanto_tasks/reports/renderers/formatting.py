"""How a value becomes text: the same in every format."""

import math
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..blocks import Cell, Column, Row, Table

MISSING = "–"

ITEMS_NOTICE = (
    "Do not publish this report: it contains benchmark items and gold answers. On the web they end "
    "up in training data, and the benchmark measures nothing any more."
)

_SIGNS = {"percent": "%", "points": "pts"}
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

    Args:
        text: Any text.
        limit: Characters to keep.

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


def number(cell: Cell, column: Column) -> float | None:
    """Return the number in a cell; None for a text, for nothing, and for NaN.

    Example:
        >>> number(Cell(0.5), Column("acc", "percent")), number(Cell("7B"), Column("size"))
        (0.5, None)
    """
    value = cell.value
    if column.unit == "text" or value is None or isinstance(value, str) or math.isnan(value):
        return None
    return float(value)


def value_text(cell: Cell, column: Column) -> str:
    """Return the value of a cell as text.

    Example:
        >>> value_text(Cell(0.523), Column("acc", "percent"))
        '52.3'
        >>> value_text(Cell(0.00002), Column("p", "p")), value_text(Cell(0.0832), Column("p", "p"))
        ('< 0.001', '0.083')
        >>> value_text(Cell(-0.021), Column("loss", "points")), value_text(Cell(None), Column("n"))
        ('−2.1', '–')
    """
    value = number(cell, column)
    if value is not None:
        return _number_text(value, column)
    if cell.value is None or (isinstance(cell.value, float) and math.isnan(cell.value)):
        return MISSING
    return one_line(str(cell.value)) or MISSING


def interval_text(cell: Cell, column: Column) -> str:
    """Return the interval of a cell as text; empty if it has none.

    Example:
        >>> interval_text(Cell(0.523, 0.4911, 0.5539), Column("acc", "percent"))
        '[49.1, 55.4]'
    """
    if cell.low is None or cell.high is None or math.isnan(cell.low) or math.isnan(cell.high):
        return ""
    return f"[{_number_text(cell.low, column)}, {_number_text(cell.high, column)}]"


def _number_text(value: float, column: Column) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    match column.unit:
        case "percent":
            text = f"{100 * value:z.1f}"
        case "points":
            text = f"{100 * value:z.1f}"
            text = text if text.startswith("-") or text == "0.0" else f"+{text}"
        case "count" | "rank":
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
    sign = _SIGNS.get(column.unit, "")
    name = one_line(column.name)
    return f"{name} {sign}".strip() if sign not in name.split() else name


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as text.

    Attributes:
        text: Its value.
        interval: Its interval in brackets; empty without one.
        marker: The letter of its note below the table; empty without one.
        note: That note.
        best: Whether it is the best of its column.
        number: Its number, to sort by; None for a text or nothing.
    """

    text: str
    interval: str
    marker: str
    note: str
    best: bool
    number: float | None


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row as text.

    Attributes:
        cells: Its cells.
        kind: Whose it is, as in `blocks.Row`, if the table has rows of several kinds; else `other`.
        mark: The same in words, where the name of the row does not say it.
    """

    cells: Sequence[ShownCell]
    kind: str
    mark: str


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table as text.

    Attributes:
        headings: The headings of its columns.
        numeric: Which columns hold numbers.
        intervals: Which columns hold a value with an interval.
        rows: Its rows.
        notes: (Letter, text) of the notes on its values.
        meanings: (Heading, text) of the columns that explain themselves.
    """

    headings: Sequence[str]
    numeric: Sequence[bool]
    intervals: Sequence[bool]
    rows: Sequence[ShownRow]
    notes: Sequence[tuple[str, str]]
    meanings: Sequence[tuple[str, str]]


def shown(table: Table) -> ShownTable:
    """Return a table as text: values formatted, the best marked, notes lettered.

    The best of a column is looked for among models, that is the user's runs and published rows,
    and only among percentages and numbers; where a name occurs twice the rows are no rivals.

    Example:
        >>> table = Table("T", [Column("Model"), Column("acc", "percent")], [
        ...     Row([Cell("ours"), Cell(0.5)], "run"), Row([Cell("GPT"), Cell(0.4)], "published")])
        >>> [(row.mark, row.cells[1].text, row.cells[1].best) for row in shown(table).rows]
        [('this run', '50.0', True), ('', '40.0', False)]
    """
    best = [_best(table, place) for place in range(len(table.columns))]
    letters: dict[str, str] = {}
    names = _letters()
    several_kinds = len({row.kind for row in table.rows}) > 1

    def shown_cell(cell: Cell, place: int, row: Row) -> ShownCell:
        column = table.columns[place]
        note = one_line(cell.note)
        if note and note not in letters:
            letters[note] = next(names)
        value = number(cell, column)
        return ShownCell(
            text=value_text(cell, column),
            interval=interval_text(cell, column),
            marker=letters.get(note, ""),
            note=note,
            best=_is_model(row) and value is not None and value == best[place],
            number=value,
        )

    rows = []
    for row in table.rows:
        cells = [shown_cell(cell, place, row) for place, cell in enumerate(row.cells)]
        mark = _MARKS.get(row.kind, "") if several_kinds else ""
        named = cells and mark.casefold() in cells[0].text.casefold()
        rows.append(ShownRow(cells, row.kind if several_kinds else "other", "" if named else mark))
    return ShownTable(
        headings=[heading(column) for column in table.columns],
        numeric=[column.unit != "text" for column in table.columns],
        intervals=[
            any(row.cells[place].interval for row in rows) for place in range(len(table.columns))
        ],
        rows=rows,
        notes=[(letter, note) for note, letter in letters.items()],
        meanings=[
            (one_line(column.name), one_line(column.help))
            for column in table.columns
            if column.help
        ],
    )


def _is_model(row: Row) -> bool:
    return row.kind in ("run", "published")


def _best(table: Table, place: int) -> float | None:
    """Return the best number of a column; None if there is nothing to choose between."""
    column = table.columns[place]
    if column.unit not in ("percent", "number") or column.lower_is_better is None:
        return None
    models = [row for row in table.rows if _is_model(row)]
    names = {row.cells[0].value for row in models}
    numbers = {number(row.cells[place], column) for row in models} - {None}
    if len(numbers) < 2 or len(names) < len(models):
        return None
    return (min if column.lower_is_better else max)(value for value in numbers if value is not None)


def _letters() -> Iterator[str]:
    """Yield a, b, …, z, aa, ab, …"""
    yield from string.ascii_lowercase
    for first in _letters():
        yield from (first + second for second in string.ascii_lowercase)
