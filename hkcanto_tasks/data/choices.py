"""Read the options of each row, and the options that its answer names.

The form of answers is decided once for a file, from all of its rows. From one row, an answer `2`
could be the third option, the second, or the option with the text `2`; a wrong guess would silently
give a wrong score.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from math import ceil

from ..catalogue import TaskDefinition
from ..errors import DataCorrupt
from .options import (
    OWN_LABEL,
    Options,
    decoded,
    marked,
    plain,
    plain_letter,
    read_options,
    shapes,
)
from .tables import Record, UnreadableRow, as_text

_NUMBERS = {("index",), ("number",)}
_BAD_SHARE = 0.01
_LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class Answered:
    """A row's options and its answers.

    Attributes:
        choices: The text of each letter's option; None for a letter without one.
        answers: The indices of the right options, in order.
    """

    choices: tuple[str | None, ...]
    answers: tuple[int, ...]


class UndecidedAnswers(DataCorrupt):
    """The answers of a file can be read in two ways that name different options."""


def read_choices(
    records: Sequence[Record],
    definition: TaskDefinition,
    answers: Sequence[str],
    release: Callable[[], Sequence[Record]] = tuple,
    *,
    several: bool = False,
) -> list[Answered | UnreadableRow]:
    """Read the options and answers of a file's rows.

    Args:
        records: The rows.
        definition: The task, which declares letters, columns and the form of answers.
        answers: The columns that may have the answer, in lower case.
        release: Returns all rows of the release, for use if these rows alone are ambiguous.
        several: Whether a row may have several right options.

    Raises:
        DataCorrupt: The option columns have a gap, or the answers are ambiguous.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_task
        >>> row = Record(1, "", {"optiona": "旺角", "optionb": "灣仔", "answer": "B"})
        >>> read_choices([row], find_task("hkmmlu").definition, ["answer"])
        [Answered(choices=('旺角', '灣仔', None, None), answers=(1,))]
    """
    letters, given = definition.letters, read_options(records, definition)
    column = _columns(records, answers)[0]
    parts = _parts(definition, several=several)
    if definition.answers:
        way: Way = ("mapped",)
    elif definition.answer:
        way = _DECLARED[definition.answer]
    else:
        column, way = _decided(records, given, definition, answers, release, parts)
    found: list[Answered | UnreadableRow] = []
    wrong: list[UnreadableRow] = []
    for record, options in zip(records, given, strict=True):
        if isinstance(options, UnreadableRow):
            found.append(options)
            continue
        try:
            cells = parts(record, column, options)
        except UnreadableRow as error:
            found.append(error)
            wrong.append(error)
            continue
        places = {_place(way, cell, options, letters) for cell in cells}
        if places and None not in places and (several or len(places) == 1):
            right = sorted(place for place in places if place is not None)
            found.append(Answered(tuple(options[0]), tuple(right)))
            continue
        what = f"no answer in a column {' or '.join(answers)}; found {record.named()}"
        if not several and isinstance(decoded(record.cells.get(column)), list | Mapping):
            what = (
                f"a list in the column {column!r} of its answer. If it marks the options with 1 and"
                ' 0, declare answer = "one_hot"; if several are right, kind = "multi_answer"'
            )
        if cells:
            pairs = zip(letters, options[0], strict=True)
            there = ", ".join(letter for letter, text in pairs if text is not None)
            odd = [each for each in cells if _place(way, each, options, letters) is None]
            names = (definition.answer,) if definition.answer else way
            by = " or ".join(_MEANING.get(name, name) for name in names)
            what = (
                f"an answer that is none of its options {there}{_shown(odd)} (the column "
                f"{column!r} gives {by}; others can be declared: answer, answers)"
            )
            if not several and len({*cells[0]}) > 1 and {*cells[0].upper()} <= {*there}:
                places = {letters.find(each) for each in cells[0].upper()}
            if len(places) > 1 and None not in places:
                what = f'{len(places)} right options: declare kind = "multi_answer" for several'
            wrong.append(record.problem(what))
        found.append(record.problem(what))
    texts = (each[0] for each in given if not isinstance(each, UnreadableRow))
    used = (place for each in texts for place, text in enumerate(each) if text is not None)
    unused = letters[max(used, default=0) + 1 :] if wrong else ""
    for record in records if unused else ():
        letter = plain_letter(_answer(record, column))
        if letter and letter in unused:
            raise DataCorrupt(
                f"{record.where} has an answer {letter}, but no row of the file has such an option:"
                f" its column has another name or is missing; found {record.named()}."
            )
    if len(wrong) > max(1, len(records) // 20):  # too many for odd rows: the whole file is wrong
        raise DataCorrupt(
            f"{_file(records)}: {len(wrong)} of {len(records)} rows cannot be read. The first: "
            f"{wrong[0]}"
        )
    return found


def _shown(wrong: Sequence[str]) -> str:
    """Return wrong answers for a message, or nothing if one may be a text of the release."""
    short = all(re.fullmatch(r"[\d.-]{1,9}|[A-Za-z]", each) for each in wrong)
    return f": {', '.join(map(repr, dict.fromkeys(wrong)))}" if short and wrong else ""


Way = tuple[str, ...]
"""The ways to read which option an answer names; all ways that find an option must agree."""


Parts = Callable[[Record, str, Options], list[str]]
"""A function that divides the cell in a row's column into answers; a blank cell has none."""

_LETTERS = re.compile(
    r"[\W_]*[A-J](?:[\W_]*(?:and|及|和|與|与|同)?[\W_]*[A-J])*[\W_]*", re.IGNORECASE
)
_WHOLE_NUMBERS = re.compile(r"\d(?:[\W_]+\d)*[\W_]*")


def _parts(definition: TaskDefinition, *, several: bool) -> Parts:
    if definition.answers:
        return partial(_mapped, {plain(cell): own for cell, own in definition.answers.items()})
    if definition.answer == "one_hot":
        return _right_places
    return _divided if several else _whole


def _whole(record: Record, column: str, _: Options) -> list[str]:
    cell = _answer(record, column)
    return [cell] if cell else []


def _mapped(named: Mapping[str, str], record: Record, column: str, _: Options) -> list[str]:
    """Return the letters that the task declares for a cell's content."""
    cell, letters = decoded(record.cells.get(column)), ""
    for each in cell if isinstance(cell, list) else [cell]:
        said = str(each).lower() if isinstance(each, bool) else plain(as_text(each) or "")
        found = [named[form] for form in (said, _whole_number(said)) if form in named]
        if said and not found:
            raise record.problem(
                f"a cell in the column {column!r} that is not among `answers`: {', '.join(named)}"
            )
        letters += "".join(found[:1])
    return [*letters]


def _right_places(record: Record, column: str, options: Options) -> list[str]:
    """Return the indices of the options that a cell marks as right."""
    marks = marked(record, column)[1]
    there = [place for place, text in enumerate(options[0]) if text is not None]
    count = len(options[2]) or max(there, default=-1) + 1
    if len(marks) != count:
        raise record.problem(f"{len(marks)} marks in the column {column!r} for {count} options")
    if not any(marks):
        raise record.problem(f"no option that the column {column!r} marks right")
    return [str(place) for place, mark in enumerate(marks) if mark]


def _divided(record: Record, column: str, options: Options) -> list[str]:
    """Divide `ABD`, `A, B and D`, `1,2`, a list, or texts with semicolons between them."""
    cell = decoded(record.cells.get(column))
    if isinstance(cell, list):
        parts = [_of_part(record, plain(as_text(each) or ""), options) for each in cell]
        if not all(parts):
            raise record.problem(f"entries that are not texts in the list of the column {column!r}")
        return parts
    whole = _answer(record, column)
    if not whole or whole in [plain(text) for text in options[0] if text is not None]:
        return [whole] if whole else []
    if _LETTERS.fullmatch(whole):
        return re.findall("[A-J]", re.sub("and", "", whole, flags=re.IGNORECASE).upper())
    if _WHOLE_NUMBERS.fullmatch(whole):
        return re.findall(r"\d", whole)
    return [_of_part(record, each, options) for each in re.split(r"[;|\n]", whole) if each.strip()]


def _of_part(record: Record, part: str, options: Options) -> str:
    """Return the letter of `B. 長洲` if the text is the option's; else the part itself."""
    match = OWN_LABEL.fullmatch(part)
    place = "ABCDEFGHIJ".find(match[1].upper()) if match else -1
    if match is None or not match[2] or place < 0:
        return part.strip()
    if place >= len(options[0]) or plain(options[0][place] or "") != match[2].strip():
        raise record.problem("an answer whose letter is followed by a text other than the option's")
    return match[1]


def _by_own_label(cell: str, options: Options, _: str) -> int | None:
    labels = options[1]
    forms = (cell, _whole_number(cell), plain_letter(cell)) if labels else ()
    return next((_there(options, labels.index(each)) for each in forms if each in labels), None)


def _by_letter(cell: str, options: Options, letters: str) -> int | None:
    labels = options[1]
    if labels and labels[0] != letters[0]:
        return None  # the letters are ours, not the release's
    plain = cell if len(cell) == 1 and cell in letters else plain_letter(cell)
    return _there(options, letters.find(plain)) if len(plain) == 1 else None


def _by_number(cell: str, options: Options, _: str, first: int = 1) -> int | None:
    number, order = _whole_number(cell), options[2] or range(len(options[0]))
    at = int(number) - first if number.isdecimal() and len(number) < _LONGEST_NUMBER else -1
    return _there(options, order[at]) if 0 <= at < len(order) else None


def _by_text(cell: str, options: Options, _: str) -> int | None:
    texts = ["" if text is None else plain(text) for text in options[0]]
    alike = [place for place, text in enumerate(texts) if text == cell]
    if not alike and (number := _number(cell)) is not None:  # `3`, and the option is `3.0`
        alike = [place for place, text in enumerate(texts) if _number(text) == number]
    return alike[0] if len(alike) == 1 else None


def _there(options: Options, place: int) -> int | None:
    return place if 0 <= place < len(options[0]) and options[0][place] is not None else None


_READINGS: dict[str, Callable[[str, Options, str], int | None]] = {
    "label": _by_own_label,
    "letter": _by_letter,
    "index": partial(_by_number, first=0),
    "number": _by_number,
    "text": _by_text,
}
_MEANING = {
    "label": "the option's own label",
    "letter": "the option's letter",
    "index": "its index from 0",
    "number": "its number from 1",
    "text": "its text",
    "one_hot": "marks, 1 for a right option",
    "letter_or_number": "its letter, or its number from 1",
    "mapped": "what `answers` declares",
}
# A task's `answer` → the ways to read it; the option's own label usually counts as well.
_DECLARED: dict[str, Way] = {
    **{name: (name, "label") for name in ("letter", "index", "number", "text")},
    "letter_or_number": ("letter", "number", "label"),
    "one_hot": ("index",),
}


def _place(way: Way, cell: str, options: Options, letters: str) -> int | None:
    if way == ("mapped",):
        return _there(options, letters.find(cell))
    found = {_READINGS[name](cell, options, letters) for name in way} - {None}
    return found.pop() if len(found) == 1 else None


class _Answers:
    """The answers in a column, each with the options of its row."""

    def __init__(
        self,
        column: str,
        records: Sequence[Record],
        given: Sequence[Options | UnreadableRow],
        letters: str,
        parts: Parts,
    ) -> None:
        self.column, self._letters = column, letters
        self.rows: list[tuple[str, Options]] = []
        for record, options in zip(records, given, strict=True):
            with suppress(UnreadableRow):
                if not isinstance(options, UnreadableRow):
                    self.rows += [(cell, options) for cell in parts(record, column, options)]
        self._read: dict[Way, list[int | None]] = {}

    def places(self, *way: str) -> list[int | None]:
        """Return the index of the option that each answer names, when read in one way."""
        if way not in self._read:
            self._read[way] = [_place(way, *row, self._letters) for row in self.rows]
        return self._read[way]

    def whole(self) -> list[str]:
        """Return the ways of reading that find an option in every row."""
        found: list[str] = []
        for name in _READINGS if self.rows else ():
            if (found != ["label"] or name == "text") and None not in self.places(name):
                found.append(name)
        return found

    def differ(self, names: Iterable[str]) -> bool:
        """Return whether two of these ways name different options in a row that both fit."""
        by_row = zip(*map(self.places, names), strict=True)
        return any(len({*row} - {None}) > 1 for row in by_row)


def _columns(records: Sequence[Record], answers: Sequence[str]) -> list[str]:
    """Return the answer columns that exist; the first if none does."""
    there = {name for shape in shapes(records) for name in shape}
    return [name for name in answers if name in there] or [*answers[:1]]


def _decided(
    records: Sequence[Record],
    given: Sequence[Options | UnreadableRow],
    definition: TaskDefinition,
    answers: Sequence[str],
    release: Callable[[], Sequence[Record]],
    parts: Parts,
) -> tuple[str, Way]:
    """Decide from the rows of a file or, if they are ambiguous, from those of the release."""
    letters = definition.letters
    if definition.options:
        first = _Answers(_columns(records, answers)[0], records, given, letters, parts)
        return _of_shared(_file(records), first)
    try:
        return _decide(records, given, answers, letters, parts)
    except UndecidedAnswers:
        every, sorts = release(), {*map(_sort, given)}  # files with other labels do not count
        options = read_options(every, definition) if len(every) > len(records) else []
        at = [place for place, each in enumerate(options) if _sort(each) in sorts]
        alike, their = [every[place] for place in at], [options[place] for place in at]
        with suppress(DataCorrupt):
            if len(alike) > len(records):
                column, way = _decide(alike, their, answers, letters, parts)
                if None not in _Answers(column, records, given, letters, parts).places(*way):
                    return column, way
        raise


def _of_shared(file: str, answers: _Answers) -> tuple[str, Way]:
    """Decide for rows with the same options: letters or texts, since numbers are ambiguous."""
    names, allowed = ("text", "letter"), ceil(_BAD_SHARE * len(answers.rows))
    best = min(names, key=lambda name: answers.places(name).count(None))
    if answers.differ(names) or answers.places(best).count(None) > allowed:
        raise DataCorrupt(
            f"{file}: the column {answers.column} names the options neither by their letters nor "
            "all by their texts. All rows have the same options, so none shows what is meant: "
            'declare answer = "index" (0 is the first one), answer = "number" (1 is the first '
            'one), or answers = { cell = "A", … }.'
        )
    return answers.column, (best,)


def _sort(options: Options | UnreadableRow) -> str:
    """Return the first of the labels that options may have; empty without labels."""
    return "" if isinstance(options, UnreadableRow) else "".join(options[1][:1])


def _decide(
    records: Sequence[Record],
    given: Sequence[Options | UnreadableRow],
    answers: Sequence[str],
    letters: str,
    parts: Parts,
) -> tuple[str, Way]:
    """Return the column of the answers, and the way to read them.

    Raises:
        UndecidedAnswers: Two ways fit, and give different answers.
    """
    columns, file = _columns(records, answers), _file(records)
    first = _Answers(columns[0], records, given, letters, parts)
    whole = first.whole()
    if first.differ(whole) and re.search("idx|index", first.column):
        whole = [name for name in whole if name != "number"] or whole
    for column in columns[1:]:  # MedQA has the text as `answer` and the letter as `answer_idx`
        other = _Answers(column, records, given, letters, parts)
        if not column.startswith(("answer", "correct")) and "letter" not in other.whole():
            continue  # a label may describe something other than the answer
        named = [other.places(name) for name in other.whole()]
        if len(other.rows) == len(first.rows) and named:
            agreeing = [name for name in whole if first.places(name) in named]
            if whole and not agreeing:
                raise UndecidedAnswers(
                    f"{file}: the columns {first.column} and {column} name different options. "
                    "Remove the one that is not the answer, or declare columns = "
                    f'{{ answer = "{first.column}" }}.'
                )
            whole = agreeing or whole
    if first.differ(whole):
        raise _undecided(file, first.column, whole)
    return first.column, (whole[0],) if whole else _nearly(file, first)


def _nearly(file: str, answers: _Answers) -> Way:
    """Choose a way if a few rows are wrong, or if letters and texts are mixed."""
    ways: list[Way] = [*((name,) for name in _READINGS), ("letter", "text")]
    total = len(answers.rows)
    count = {way: total - answers.places(*way).count(None) for way in ways}
    most, enough = max(count.values()), total - ceil(_BAD_SHARE * total)
    best = next(way for way in ways if count[way] == most) if most else ("letter",)
    close = [name for name in _READINGS if most >= enough and count[name,] >= enough]
    if 0 < most < enough and {way for way in ways if count[way] == most} <= _NUMBERS:
        close = ["index", "number"]
    for name in close if len(best) == 1 else ():
        if answers.differ((*best, name)):
            raise _undecided(file, answers.column, (*best, name))
    for name in _READINGS:
        both = zip(answers.places(*best), answers.places(name), strict=True)
        mixed = sum(a is None and b is not None for a, b in both)
        if mixed > total // 100:
            raise DataCorrupt(
                f"{file}: the column {answers.column} is mixed: most answers are the "
                f"{', or '.join(best)} of an option, but {mixed} of {total} can only be its "
                f"{name}. Write letters into it, or declare in the task's entry how to read it, "
                'such as answer = "letter_or_number".'
            )
    return best


def _undecided(file: str, column: str, names: Sequence[str]) -> UndecidedAnswers:
    ways = " or ".join(f"as {_MEANING[name]}" for name in names)
    declared = " or ".join(f'answer = "{name}"' for name in names if name != "label")
    return UndecidedAnswers(
        f"{file}: the column {column} can be read in {len(names)} ways that give different answers:"
        f" {ways}. Write letters into it, or declare in the entry which it is: {declared}."
    )


def _answer(record: Record, column: str) -> str:
    """Return an answer cell in plain characters; an empty text if it is blank or missing."""
    text = as_text(record.cells.get(column))
    if text is None:
        return ""
    return text if len(text) == 1 and text.isalpha() and text.isascii() else plain(text)


@lru_cache(4096)
def _number(text: str) -> Decimal | None:
    return Decimal(text) if re.fullmatch(r"[-+]?\d+(\.\d+)?", text) else None


def _whole_number(cell: str) -> str:
    """Return `2` for `2.0`: a column of numbers with a blank cell may have become floats."""
    return re.sub(r"\.0+$", "", cell) if "." in cell else cell


def _file(records: Sequence[Record]) -> str:
    """Name the file of some rows."""
    return records[0].file if records else "a file"
