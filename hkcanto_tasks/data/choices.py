"""The options and answers of a file of questions: where they are, and how an answer names one.

Both are decided once for a file, from all of its rows. One row cannot tell whether an answer `2` is
the third option, the second, or the option with the text `2`; a wrong guess is a score without a
warning.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Any

import msgspec

from ..catalogue import TaskDefinition
from ..errors import DataCorrupt
from .tables import Record, UnreadableRow, as_text

_LISTS = ("options", "choices", "選項", "选项", "choices.text", "options.text")
_WORDS = "option|choice|opt|op|answer|ans|candidate|alternative|選項|选项|選擇|选择|答案"
_MARKS = ("abcdefghij", "123456789", "0123456789", "甲乙丙丁戊己庚辛壬癸", "一二三四五六七八九十")
# `OptionA`, `option_1`, `選項甲`, `A.`, `(A)`; and `A_option`.
_COLUMN = re.compile(
    rf"(?P<word>(?:{_WORDS})s?)?[\W_]*(?P<mark>[a-j]|\d|[\u4e00-\u9fff])(?P<after>[\W_]*(?:{_WORDS})?)"
)
# `A. 旺角`, `(1) 旺角`; but not the numbers 1.5, 2.5.
_LABELLED = re.compile(r"\s*[(（]?([A-J](?=\D)|\d(?=.[^\d]))[.．、:：)）]\s*(.+)", re.DOTALL)
_LABEL_KEYS = ("label", "labels", "key", "letter", "id", "option")
_LABEL_COLUMNS = ("labels", "{}_labels", "{}_label", "{}.label", "letters", "option_labels")
_TEXT_KEYS = ("text", "texts", "content", "value", "answer", "option")
_BAD_SHARE = 0.01

Options = tuple[Sequence[str | None], Sequence[str], Sequence[int]]
"""A row's options in the order of the letters, the release's own label for each, and where in that
order the first, the second … of the release's list is; the last two are empty without labels."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A row's options and its answer.

    Attributes:
        choices: The text of each letter's option: None where there is none.
        answer: The place of the right one.
    """

    choices: tuple[str | None, ...]
    answer: int


class UndecidedAnswers(DataCorrupt):
    """The answers of a file can be read in two ways that give different options."""


def read_choices(
    records: Sequence[Record],
    definition: TaskDefinition,
    answers: Sequence[str],
    release: Callable[[], Sequence[Record]] = tuple,
) -> list[Answered | UnreadableRow]:
    """Read the options and answers of a file's rows.

    Args:
        records: The rows.
        definition: The task: its letters, and what it declares of columns and answers.
        answers: The columns that an answer may be in, in lower case.
        release: Returns all rows of the release, to decide what these rows leave open.

    Raises:
        DataCorrupt: The option columns have a gap, or the answers cannot be told.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_task
        >>> row = Record(1, "", {"optiona": "旺角", "optionb": "灣仔", "answer": "B"})
        >>> read_choices([row], find_task("hkmmlu").definition, ["answer"])
        [Answered(choices=('旺角', '灣仔', None, None), answer=1)]
    """
    given = _options(records, definition)
    reading = None
    found: list[Answered | UnreadableRow] = []
    wrong: list[UnreadableRow] = []
    rows = _Rows(records, given, answers, definition.letters)
    if not definition.answer:
        try:
            reading = rows.decide()
        except UndecidedAnswers:
            every = release()
            if len(every) <= len(records):
                raise
            try:
                given_all = _options(every, definition)
                reading = _Rows(every, given_all, answers, definition.letters).decide()
            except DataCorrupt:
                reading = None
            if reading is None or not rows.fit(reading):
                raise
    for record, options in zip(records, given, strict=True):
        if isinstance(options, UnreadableRow):
            found.append(options)
            continue
        cell = _answer(record, reading[0] if reading else rows.column)
        if not cell:
            what = f"no answer in a column {' or '.join(answers)}; found {record.named()}"
            found.append(record.problem(what))
            continue
        if reading:
            place = reading[1](cell, options, definition.letters)
        else:
            place = _declared(cell, options, definition)
        if place is None:
            there = zip(definition.letters, options[0], strict=True)
            letters = ", ".join(letter for letter, text in there if text is not None)
            way = definition.answer or (reading[2] if reading else "letter")
            wrong.append(
                record.problem(
                    f"an answer that is none of its options {letters} (answers are given by {way})"
                )
            )
            found.append(wrong[-1])
            continue
        found.append(Answered(tuple(options[0]), place))
    texts = (each[0] for each in given if not isinstance(each, UnreadableRow))
    used = (place for each in texts for place, text in enumerate(each) if text is not None)
    unused = [*definition.letters[max(used, default=0) + 1 :]] if wrong else []
    for record in records if unused else ():
        if (letter := _plain_letter(_answer(record, rows.column))) in unused:
            raise DataCorrupt(
                f"{record.where} has an answer {letter}, and no row of the file has such an option:"
                f" its column is called otherwise, or lacks; found {record.named()}."
            )
    if len(wrong) > max(1, len(records) // 20):  # of one file: there is something else wrong
        raise DataCorrupt(
            f"{_file(records)}: {len(wrong)} of {len(records)} rows cannot be read. The first: "
            f"{wrong[0]}"
        )
    return found


# ------------------------------------------------------------------------------- options


def option_columns(columns: Iterable[str]) -> set[str]:
    """Return the columns that may have options.

    Args:
        columns: The columns of a file, in lower case.

    Examples:
        >>> sorted(option_columns(["passage", "optiona", "optionb", "answer"]))
        ['optiona', 'optionb']
    """
    there = tuple(columns)
    alike = (name for family in _families(there) if len(family) > 1 for name in family)
    return {*_LISTS, *alike} & {*there}


def _options(
    records: Sequence[Record], definition: TaskDefinition
) -> list[Options | UnreadableRow]:
    read = _option_reader(records, definition)
    found: list[Options | UnreadableRow] = []
    count = len(definition.letters)
    for record in records:
        try:
            texts, labels, order = read(record)
            if len(texts) > count:
                raise record.problem(
                    f"{len(texts)} options, and the task has the letters {definition.letters} "
                    'alone: declare more of them, such as letters = "ABCDEFGHIJ"'
                )
        except UnreadableRow as error:
            found.append(error)
        else:
            short = count - len(texts)
            found.append(([*texts, *[None] * short] if short else texts, labels, order))
    return found


def _option_reader(
    records: Sequence[Record], definition: TaskDefinition
) -> Callable[[Record], Options]:
    """Decide which columns of a file have the options."""
    letters, may_lack = definition.letters, definition.blank_options == "absent"
    declared = definition.columns.get("options")
    if isinstance(declared, str):
        declared = (declared,)
    if declared and len(declared) == 1:
        return lambda record: _listed(record, declared[0].lower(), letters)
    shapes = [*_shapes(records)]
    there = dict.fromkeys(name for keys in shapes for name in keys)
    if declared:
        columns = [name.lower() for name in declared]
    else:
        columns = list(_family(records, there))
        # Shards may name their columns otherwise; a row may merely lack one.
        for shape in (each for each in shapes if not any({*each} < {*other} for other in shapes)):
            _family([each for each in records if tuple(each.cells) == shape], shape)
        listed = [name for name in _LISTS if name in there]
        if listed and (not columns or (columns[0] != "a" and len(columns) < 2)):
            return lambda record: _listed(record, listed[0], letters)
        if not columns:
            columns = [*letters.lower()]
        elif len(columns) < len(letters) and columns[0] == "a":
            columns += letters.lower()[len(columns) :]
    lacking = [name for name in columns[: len(letters)] if name not in there]
    few = max(len(columns), len(letters)) - len(lacking) < 2 or not may_lack
    short = len(columns) < len(letters) and not declared and not may_lack
    named = ", ".join(lacking) or f"of an option {letters[len(columns) :]}"
    refused = bool(short or (lacking and few))
    own, further = columns[: len(letters)], columns[len(letters) :]

    def read(record: Record) -> Options:
        if refused or len(own) < 2:
            raise record.problem(f"no column {named}; found {record.named()}")
        cells = record.cells
        absent = [name for name in own if name not in cells]
        merely = own[-len(absent) :] == absent or any({*cells} < {*other} for other in shapes)
        if absent and not (may_lack and merely):
            raise record.problem(f"no column {', '.join(absent)}; found {record.named()}")
        texts = [as_text(cells.get(name)) for name in own]
        if further:
            texts += [text for name in further if (text := as_text(cells.get(name)))]
        return texts, (), ()

    return read


def _shapes(records: Sequence[Record]) -> Iterable[tuple[str, ...]]:
    """Return the sets of columns that there are, in order."""
    return dict.fromkeys(tuple(record.cells) for record in records)


def _family(records: Sequence[Record], there: Iterable[str]) -> Sequence[str]:
    """Return the columns of the options in order, where each option has one; none without any.

    Raises:
        DataCorrupt: One of them lacks, or they can be told in two ways.
    """
    families = _families(tuple(there))
    if all(sum(map(bool, family)) < 2 for family in families):
        return ()
    longest = [each for each in families if len(each) == max(map(len, families))]
    fitting = [family for family in longest if all(family)]
    if len(fitting) == 1:
        return fitting[0]
    names = " / ".join(", ".join(filter(None, family)) for family in families)
    why = "is one too many" if fitting else "has no column for some option"
    raise DataCorrupt(
        f"{_file(records)}: which columns are the options cannot be told: {names} {why}; found "
        f"{records[0].named()}. Name them A, B, C … from the first one on, or declare columns = "
        '{ options = ["…", "…"] } in the benchmark\'s file.'
    )


@lru_cache(256)
def _families(names: tuple[str, ...]) -> list[list[str]]:
    """Group columns that are called alike but for a letter or number: "" where one lacks."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        match = _COLUMN.fullmatch(unicodedata.normalize("NFKC", name).lower())
        if match and any(match["mark"] in marks for marks in _MARKS):
            word = (match["word"] or "", re.sub(r"[\W_]+", "", match["after"]))
            sort = next(str(n) for n, marks in enumerate(_MARKS) if match["mark"] in marks)
            key = ("".join(word), "1" if sort == "2" else sort)
            if found.setdefault(key, {}).setdefault(match["mark"], name) != name:
                found[*key[:1], f"{key[1]} {name}"] = {match["mark"]: name}
    families = []
    for (_, sort), marked in found.items():
        marks = _MARKS[2 if "0" in marked else int(sort.split()[0])]
        last = max(map(marks.index, marked))
        families.append([marked.get(mark, "") for mark in marks[: last + 1]])
    bare_numbers = [each for each in families if not re.search(r"[^\W\d_]", "".join(each))]
    lettered = [each for each in families if each not in bare_numbers]
    if lettered:  # `5` after A, B, C, D is an option, and `0` a row's number
        longest = max(map(len, lettered))
        return lettered + [each for each in bare_numbers if len(each) > longest]
    return [each for each in bare_numbers if len(each) > 1 and all(each)]


def _listed(record: Record, column: str, letters: str) -> Options:
    """Return the options that are in one column: a list or a mapping, also as JSON text."""
    cell: Any = record.find([column])
    if isinstance(cell, str):
        try:
            cell = msgspec.json.decode(cell)
        except msgspec.MsgspecError:
            cell = None
    labels: list[Any] | None = None
    texts: list[Any] | None = None
    if isinstance(cell, Mapping):
        texts, labels = (_first(cell, keys, list) for keys in (_TEXT_KEYS, _LABEL_KEYS))
        if not any(isinstance(each, list) for each in cell.values()):
            labels, texts = [*cell], [*cell.values()]
    elif isinstance(cell, list) and cell and all(isinstance(each, Mapping) for each in cell):
        if all(len(each) == 1 for each in cell):  # [{"A": …}, {"B": …}]
            labels, texts = ([part for each in cell for part in each.items()], [])
            labels, texts = [label for label, _ in labels], [text for _, text in labels]
        else:
            labels = [_first(each, _LABEL_KEYS) for each in cell]
            texts = [_first(each, _TEXT_KEYS) for each in cell]
            labels = None if all(label is None for label in labels) else labels
    elif isinstance(cell, list):
        texts = cell
        marked = [_LABELLED.fullmatch(as_text(each) or "") for each in cell]
        own = [match[1] for match in marked if match]
        orders = {tuple(marks[: len(own)]) for marks in ("ABCDEFGHIJ", "123456789", "0123456789")}
        if len(own) == len(texts) > 1 and tuple(sorted(own)) in orders:
            labels, texts = own, [match[2] for match in marked if match]
    if texts is None or any(isinstance(each, list | Mapping) for each in texts):
        raise record.problem(f"no list or mapping of options in the column {column!r}")
    if labels is None:
        of = column.removesuffix(".text")
        beside = (record.cells.get(name.format(of)) for name in _LABEL_COLUMNS)
        labels = next((each for each in beside if isinstance(each, list)), None)
    if labels is None:
        return [as_text(each) for each in texts], (), ()
    return _by_label(record, labels, texts, letters)


def _first(cell: Mapping[str, Any], keys: Iterable[str], sort: type = object) -> Any:
    return next(
        (cell[key] for key in keys if isinstance(cell.get(key), sort) and key in cell), None
    )


def _by_label(
    record: Record, labels: Sequence[object], texts: Sequence[object], letters: str
) -> Options:
    """Put options in the order of their labels: letters, or numbers from 0 or 1."""
    own = [_plain_letter(unicodedata.normalize("NFKC", as_text(each) or "")) for each in labels]
    if len(texts) != len(own) or len({*own}) != len(own):
        raise record.problem(
            f"{len(own)} labels for {len(texts)} options, or a label twice: {', '.join(own)}"
        )
    for marks in (letters, *_MARKS[1:]):
        if {*own} <= {*marks} and ("0" in own) == (marks[0] == "0"):
            break
    else:
        raise record.problem(
            f"options {', '.join(sorted(own))}, and the task has the letters {letters} alone"
        )
    order = [*map(marks.index, own)]
    by_place = dict(zip(order, map(as_text, texts), strict=True))
    places = range(max(order, default=-1) + 1)
    return [by_place.get(place) for place in places], [marks[place] for place in places], order


# ------------------------------------------------------------------------------- answers

_Reading = Callable[[str, Options, str], int | None]


def _by_own_label(cell: str, options: Options, letters: str) -> int | None:
    del letters
    for name in (cell, _whole_number(cell), _plain_letter(cell)) if options[1] else ():
        if name in options[1]:
            return _there(options, options[1].index(name))
    return None


def _by_letter(cell: str, options: Options, letters: str) -> int | None:
    labels = options[1]
    if labels and labels[0] != letters[0]:
        return None  # the letters are ours, and not the release's
    plain = cell if len(cell) == 1 and cell in letters else _plain_letter(cell)
    return _there(options, letters.find(plain)) if len(plain) == 1 else None


def _by_index(cell: str, options: Options, letters: str) -> int | None:
    del letters
    number = _whole_number(cell)
    return _listed_at(options, int(number)) if number.isdecimal() else None


def _by_number(cell: str, options: Options, letters: str) -> int | None:
    del letters
    number = _whole_number(cell)
    return _listed_at(options, int(number) - 1) if number.isdecimal() else None


def _listed_at(options: Options, number: int) -> int | None:
    order = options[2] or range(len(options[0]))
    return _there(options, order[number]) if 0 <= number < len(order) else None


def _there(options: Options, place: int) -> int | None:
    return place if 0 <= place < len(options[0]) and options[0][place] is not None else None


def _by_text(cell: str, options: Options, letters: str) -> int | None:
    del letters
    alike = [
        place
        for place, text in enumerate(options[0])
        if text is not None and unicodedata.normalize("NFKC", text).strip() == cell
    ]
    return alike[0] if len(alike) == 1 else None


def _by_letter_or_text(cell: str, options: Options, letters: str) -> int | None:
    lettered, texts = _by_letter(cell, options, letters), _by_text(cell, options, letters)
    if lettered is None or texts is None or lettered == texts:
        return texts if lettered is None else lettered
    return None


_READINGS: dict[str, _Reading] = {
    "label": _by_own_label,
    "letter": _by_letter,
    "index": _by_index,
    "number": _by_number,
    "text": _by_text,
}
_MEANING = {
    "label": "the option's own label",
    "letter": "the option's letter",
    "index": "its index from 0",
    "number": "its number from 1",
    "text": "its text",
}


class _Rows:
    """The answers of a file with the options that they name one of."""

    def __init__(
        self,
        records: Sequence[Record],
        given: Sequence[Options | UnreadableRow],
        answers: Sequence[str],
        letters: str,
    ) -> None:
        self._letters, self._records, self._given = letters, records, given
        there = {name for shape in _shapes(records) for name in shape}
        self._columns = [name for name in answers if name in there] or [*answers[:1]]
        self.column = self._columns[0]

    def _of(self, column: str) -> list[tuple[str, Options]]:
        return [
            (cell, options)
            for record, options in zip(self._records, self._given, strict=True)
            if not isinstance(options, UnreadableRow) and (cell := _answer(record, column))
        ]

    def fit(self, reading: tuple[str, _Reading, str]) -> bool:
        """Whether a reading finds an option in each row."""
        rows = self._of(reading[0])
        return all(reading[1](*row, self._letters) is not None for row in rows)

    def decide(self) -> tuple[str, _Reading, str]:
        """Return the column of the answers, what reads them, and what that is called.

        Raises:
            UndecidedAnswers: Two readings fit, and give different answers.
        """
        column = self.column
        rows = self._of(column)
        whole = self._whole(rows)
        others = [each for each in self._columns[1:] if each.startswith(("answer", "correct"))]
        if len(whole) > 1 and self._differ(rows, whole) and re.search("idx|index", column):
            whole = [name for name in whole if name != "number"] or whole
        for other in others:  # MedQA has the text as `answer` and the letter as `answer_idx`
            more = self._of(other)
            named = self._whole(more)
            if len(more) == len(rows) and named:
                agreeing = [
                    name
                    for name in whole
                    if any(self._places(rows, name) == self._places(more, each) for each in named)
                ]
                if whole and not agreeing:
                    raise UndecidedAnswers(
                        f"{_file(self._records)}: the columns {column} and {other} name different "
                        "options. Remove the one that is not the answer, or declare columns = "
                        f'{{ answer = "{column}" }}.'
                    )
                whole = agreeing or whole
        if self._differ(rows, whole):
            raise self._undecided(column, whole)
        if whole:
            return column, _READINGS[whole[0]], whole[0]
        return column, *self._nearly(column, rows)

    def _whole(self, rows: Sequence[tuple[str, Options]]) -> list[str]:
        """Name the readings that find an option in every row."""
        found: list[str] = []
        for name, read in _READINGS.items() if rows else ():
            if found == ["label"] and name != "text":
                continue
            if all(read(cell, options, self._letters) is not None for cell, options in rows):
                found.append(name)
        return found

    def _nearly(self, column: str, rows: Sequence[tuple[str, Options]]) -> tuple[_Reading, str]:
        """Choose a reading where a few rows are wrong, or letters and texts stand side by side."""
        ways = {**_READINGS, "letter, or text": _by_letter_or_text}
        count = {name: sum(p is not None for p in self._read(rows, ways[name])) for name in ways}
        most = max(count.values(), default=0)
        enough = len(rows) - ceil(_BAD_SHARE * len(rows))
        named = [name for name in ways if count[name] == most]
        if "letter" in named:  # then the mixed reading is the same
            named = [name for name in named if name != "letter, or text"]
        close = [name for name in _READINGS if count[name] >= enough] if most >= enough else []
        if most < enough and {*named} <= {"index", "number"} and most:
            close = ["index", "number"]
        best = named[0] if most else "letter"
        for name in close:
            if name != best and best in _READINGS:
                pairs = zip(self._read(rows, ways[best]), self._read(rows, ways[name]), strict=True)
                if any(a != b for a, b in pairs if a is not None and b is not None):
                    raise self._undecided(column, (best, name))
        unread = [
            row
            for row, place in zip(rows, self._read(rows, ways[best]), strict=True)
            if place is None
        ]
        for name in _READINGS:
            mixed = sum(each is not None for each in self._places(unread, name))
            if mixed > len(rows) // 100:
                raise DataCorrupt(
                    f"{_file(self._records)}: the column {column} is of two sorts: most answers "
                    f"are the {best} of an option, but {mixed} of {len(rows)} can only be its "
                    f"{name}. Write letters into it, or declare in the task's entry how it is to "
                    'be read, such as answer = "letter_or_number".'
                )
        return ways[best], best

    def _read(self, rows: Sequence[tuple[str, Options]], read: _Reading) -> list[int | None]:
        return [read(cell, options, self._letters) for cell, options in rows]

    def _places(self, rows: Sequence[tuple[str, Options]], name: str) -> list[int | None]:
        return self._read(rows, _READINGS[name])

    def _differ(self, rows: Sequence[tuple[str, Options]], names: Sequence[str]) -> bool:
        """Whether some of these readings give different options."""
        first, *others = [self._places(rows, name) for name in names] or [[]]
        return any(each != first for each in others)

    def _undecided(self, column: str, names: Sequence[str]) -> UndecidedAnswers:
        ways = " or ".join(f"as {_MEANING[name]}" for name in names)
        declared = " or ".join(f'answer = "{name}"' for name in names if name != "label")
        return UndecidedAnswers(
            f"{_file(self._records)}: the column {column} can be read in {len(names)} ways that "
            f"give different answers: {ways}. Write letters into it, or declare in the entry "
            f"which it is: {declared}."
        )


def _declared(cell: str, options: Options, definition: TaskDefinition) -> int | None:
    """Read an answer in the way that a task declares."""
    way, letters = definition.answer, definition.letters
    named: list[int | None] = []
    if way in ("letter", "letter_or_number"):
        named = [_by_letter(cell, options, letters)]
        if options[1] and (place := _by_own_label(cell, options, letters)) is not None:
            return place
    if way == "text":
        named = [_by_text(cell, options, letters)]
    if way == "index":
        named = [_by_index(cell, options, letters)]
    if way in ("number", "letter_or_number"):
        named.append(_by_number(cell, options, letters))
    if way != "letter" and options[1]:  # numbers may be the options' own
        named.append(_by_own_label(cell, options, letters))
    found = {place for place in named if place is not None}
    return found.pop() if len(found) == 1 else None


def _answer(record: Record, column: str) -> str:
    """Return the cell of an answer, in plain characters; empty if it is blank or not there."""
    text = as_text(record.cells.get(column))
    if text is None:
        return ""
    return text if len(text) == 1 and text.isalpha() and text.isascii() else _plain(text)


@lru_cache(4096)
def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _whole_number(cell: str) -> str:
    """Return `2` for `2.0`: what a column of numbers with a blank in it becomes."""
    return re.sub(r"\.0+$", "", cell) if "." in cell else cell


@lru_cache(4096)
def _plain_letter(label: str) -> str:
    """Return a label without what the releases got on it: Ď, blanks, marks, `A. ` and the text."""
    if option := re.match(r"[(（]?([A-Ja-j])[.．。、:：)）]", label):
        label = option[1]
    plain = unicodedata.normalize("NFKD", label).strip(" .．。、:：()（）\t\r\n\u00a0\u3000")
    return "".join(c for c in plain if not unicodedata.combining(c)).upper()


def _file(records: Sequence[Record]) -> str:
    """Name the file of some rows."""
    return records[0].where.rpartition(", row ")[0] if records else "a file"
