"""Read options and answers: find the columns of options, and how an answer names its option.

Both are decided once for a file, from all of its rows. One row does not say whether an answer `2`
is the third option, the second, or the option with the text `2`; a wrong guess would silently give
a wrong score.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from itertools import groupby
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
# All forms of labels, for tasks that declare that options begin with one.
_OWN_LABEL = re.compile(
    r"\s*[(（\[【]?([A-Ja-jＡ-Ｊ甲乙丙丁戊己庚辛壬癸]|\d)[.．。、:：)）\]】](?!\d)\s*(.*)",
    re.DOTALL,
)
_LABELS = ("ABCDEFGHIJ", *_MARKS[1:4])
_LABEL_KEYS = ("label", "labels", "key", "letter", "id", "option")
_LABEL_COLUMNS = ("labels", "{}_labels", "{}_label", "{}.label", "letters", "option_labels")
_TEXT_KEYS = ("text", "texts", "content", "value", "answer", "option")
_IN_FRONT = ("ABCDEFGHIJ", "123456789", "0123456789")
_NUMBERS = {("index",), ("number",)}
_BAD_SHARE = 0.01
_LONGEST_NUMBER = 9

Options = tuple[Sequence[str | None], Sequence[str], Sequence[int]]
"""A row's options in the order of the letters, the release's own label for each, and the index in
that order of each entry of the release's list; the last two are empty without labels."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A row's options and its answers.

    Attributes:
        choices: The text of each letter's option; None where there is none.
        answers: The indices of the right options, in order.
    """

    choices: tuple[str | None, ...]
    answers: tuple[int, ...]


class UndecidedAnswers(DataCorrupt):
    """The answers of a file can be read in two ways, which name different options."""


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
        answers: The columns that an answer may be in, in lower case.
        release: Returns all rows of the release, to decide what these rows leave open.
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
        letter = _plain_letter(_answer(record, column))
        if letter and letter in unused:
            raise DataCorrupt(
                f"{record.where} has an answer {letter}, but no row of the file has such an option:"
                f" its column has another name or is missing; found {record.named()}."
            )
    if len(wrong) > max(1, len(records) // 20):  # more than odd rows: the whole file is wrong
        raise DataCorrupt(
            f"{_file(records)}: {len(wrong)} of {len(records)} rows cannot be read. The first: "
            f"{wrong[0]}"
        )
    return found


def _shown(wrong: Sequence[str]) -> str:
    """Return wrong answers to be named, unless one is a text of the release."""
    short = all(re.fullmatch(r"[\d.-]{1,9}|[A-Za-z]", each) for each in wrong)
    return f": {', '.join(map(repr, dict.fromkeys(wrong)))}" if short and wrong else ""


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


def read_options(
    records: Sequence[Record], definition: TaskDefinition
) -> list[Options | UnreadableRow]:
    """Read the options of a file's rows, as `read_choices` does.

    Args:
        records: The rows.
        definition: What is declared of the options.

    Returns:
        Of each row its options, their labels and their order; or why it cannot be read.
    """
    read = _option_reader(records, definition)
    found: list[Options | UnreadableRow] = []
    count = len(definition.letters)
    for record in records:
        try:
            texts, labels, order = read(record)
            if definition.option_labels == "remove":
                texts = _without_labels(record, texts)
            if len(texts) > count:
                raise record.problem(
                    f"{len(texts)} options, but the task has only the letters {definition.letters}"
                    ': declare more of them, such as letters = "ABCDEFGHIJ"'
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
    if definition.options:
        return lambda _: (definition.options, (), ())
    declared = _names(definition, "options")
    if len(declared) == 1:
        if definition.answer != "one_hot":
            return lambda record: _listed(record, declared[0], letters)
        marks = _names(definition, "answer")
        if marks == declared:
            return lambda record: (_marked(record, declared[0])[0], (), ())
        return lambda record: _listed(record, declared[0], letters, besides=marks)
    by_file = groupby(records, lambda each: _file([each]))
    of_file = {file: [*_shapes([*rows])] for file, rows in by_file}
    shapes = [*_shapes(records)]
    whole = dict.fromkeys(
        shape
        for of_one in of_file.values()
        for shape in of_one
        if not any({*shape} < {*other} for other in of_one)
    )
    there = dict.fromkeys(name for keys in shapes for name in keys)
    if declared:
        columns = declared
    else:
        columns = list(_family(records, there))
        # Shards may have other column names; a single row may lack a column.
        for shape in whole if len(shapes) > 1 else ():
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
            raise record.problem(
                f"no column {named}; found {record.named()} (declare columns = {{ options = … }} "
                f'for others, letters = "{letters[: max(2, len(columns) - len(lacking))]}" for '
                "fewer, or options = […] for the same options in every row)"
            )
        cells = record.cells
        absent = [name for name in own if name not in cells]
        merely = own[-len(absent) :] == absent or any(
            {*cells} < {*other} for other in of_file[_file([record])]
        )
        if absent and not (may_lack and merely):
            raise record.problem(f"no column {', '.join(absent)}; found {record.named()}")
        texts = [as_text(cells.get(name)) for name in own]
        if further:
            texts += [text for name in further if (text := as_text(cells.get(name)))]
        return texts, (), ()

    return read


def _shapes(records: Sequence[Record]) -> Iterable[tuple[str, ...]]:
    """Return the distinct sets of columns, in order."""
    return dict.fromkeys(tuple(record.cells) for record in records)


def _family(records: Sequence[Record], there: Iterable[str]) -> Sequence[str]:
    """Return the columns of the options in order, if each option has a column; else none.

    Raises:
        DataCorrupt: A column is missing, or two sets of columns could be the options.
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
        f"{_file(records)}: it is unclear which columns are the options: {names} {why}; found "
        f"{records[0].named()}. Name them A, B, C … from the first one on, or declare columns = "
        '{ options = ["…", "…"] } in the benchmark\'s file.'
    )


@lru_cache(256)
def _families(names: tuple[str, ...]) -> list[list[str]]:
    """Group columns whose names differ only in a letter or number; "" for a missing one."""
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


def _names(definition: TaskDefinition, role: str) -> list[str]:
    """Return the columns that a task declares for a role, in lower case."""
    declared = definition.columns.get(role, ())
    return [each.lower() for each in ((declared,) if isinstance(declared, str) else declared)]


def decoded(cell: object) -> Any:
    """Return the list or mapping in a cell, decoding JSON text; any other cell unchanged.

    Examples:
        >>> decoded('["大澳"]'), decoded("12")
        (['大澳'], '12')
    """
    found = cell
    if isinstance(cell, str) and cell.lstrip()[:1] in ("[", "{"):
        with suppress(msgspec.MsgspecError, RecursionError):
            found = msgspec.json.decode(cell)
    return found


def _without_labels(record: Record, texts: Sequence[str | None]) -> Sequence[str | None]:
    """Remove the label at the start of each option, which must fit the option's position."""
    found = [_OWN_LABEL.fullmatch(text) if text and text.strip() else None for text in texts]
    given = [place for place, text in enumerate(texts) if text and text.strip()]
    labels = [_plain(match[1]).upper() for match in found if match]
    if not labels:
        return texts
    if len(labels) < len(given):
        raise record.problem("options with a label of their own, and others without one")
    if not any([marks[place] for place in given] == labels for marks in _LABELS):
        raise record.problem(
            f"options that begin with {', '.join(labels)}, which do not fit their positions"
        )
    return [match[2] if match else text for match, text in zip(found, texts, strict=True)]


def _marked(record: Record, column: str) -> tuple[Sequence[str | None], list[bool]]:
    """Return the marks in a cell that marks options right or wrong, and its options if it has any.

    The cell is a list of marks; a list of marks beside a list of options; a mapping from options to
    marks; or a list of objects with an option and its mark each.
    """
    cell, texts, marks = decoded(record.cells.get(column)), list[object](), list[object]()
    if isinstance(cell, list) and cell and all(isinstance(each, Mapping) for each in cell):
        own = [[*filter(_is_mark, each.values())] for each in cell]
        named = [_first(each, _TEXT_KEYS, str) for each in cell]
        if all(len(each) == 1 for each in own) and all(named):
            marks, texts = [mark for (mark,) in own], named
    elif isinstance(cell, Mapping):
        lists = [each for each in cell.values() if isinstance(each, list)]
        of_marks = [each for each in lists if each and all(map(_is_mark, each))]
        if len(lists) == 2 and len(of_marks) == 1:
            marks, (texts,) = of_marks[0], [each for each in lists if each is not of_marks[0]]
        elif not lists and all(map(_is_mark, cell.values())):
            marks, texts = [*cell.values()], [*cell]
    elif isinstance(cell, list) and all(map(_is_mark, cell)):
        marks = cell
    if not marks or (texts and len(texts) != len(marks)):
        raise record.problem(
            f"no list in the column {column!r} with 1 for a right option and 0 for another"
        )
    return [as_text(each) for each in texts], [each == 1 for each in marks]


def _is_mark(cell: object) -> bool:
    return isinstance(cell, int | float) and cell in (0, 1)


def _listed(record: Record, column: str, letters: str, besides: Sequence[str] = ()) -> Options:
    """Return the options that are in one column: a list or a mapping, also as JSON text.

    Args:
        record: The row.
        column: The column.
        letters: The task's letters.
        besides: Columns that hold no labels, whatever their names are.
    """
    cell = decoded(record.find([column]))
    labels, texts = _labelled(cell)
    if texts is None or any(isinstance(each, list | Mapping) for each in texts):
        raise record.problem(f"no list or mapping of options in the column {column!r}")
    if labels is None:
        of = column.removesuffix(".text")
        names = (name.format(of) for name in _LABEL_COLUMNS)
        beside = (record.cells.get(name) for name in names if name not in besides)
        labels = next((each for each in beside if isinstance(each, list)), None)
    if labels is None:
        return [as_text(each) for each in texts], (), ()
    read, marks, order = _by_label(record, labels, texts, letters)
    if isinstance(cell, Mapping) and labels == [*cell] and [*order] != sorted(order):
        order = [-1] * len(order)  # the entries of an object have no index
    return read, marks, order


def _labelled(cell: Any) -> tuple[Sequence[object] | None, Sequence[object] | None]:
    """Return the labels in a cell, and the texts; None where it has none."""
    if isinstance(cell, Mapping):
        if any(isinstance(each, list) for each in cell.values()):
            return _first(cell, _LABEL_KEYS, list), _first(cell, _TEXT_KEYS, list)
        return [*cell], [*cell.values()]
    if not isinstance(cell, list):
        return None, None
    if cell and all(isinstance(each, Mapping) for each in cell):
        # [{"A": …}, {"B": …}], which Parquet completes to [{"A": …, "B": null}, …]
        filled = [[*({k: v for k, v in each.items() if v is not None} or each)] for each in cell]
        if all(len(keys) == 1 for keys in filled):
            return [key for (key,) in filled], [
                each[key] for each, (key,) in zip(cell, filled, strict=True)
            ]
        labels = [_first(each, _LABEL_KEYS) for each in cell]
        texts = [_first(each, _TEXT_KEYS) for each in cell]
        return (labels if any(each is not None for each in labels) else None), texts
    marked = [match for each in cell if (match := _LABELLED.fullmatch(as_text(each) or ""))]
    own = "".join(sorted(match[1] for match in marked))
    if len(own) == len(cell) > 1 and any(marks.startswith(own) for marks in _IN_FRONT):
        return [match[1] for match in marked], [match[2] for match in marked]
    return None, cell


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
            f"options {', '.join(sorted(own))}, but the task has only the letters {letters}"
        )
    order = [*map(marks.index, own)]
    by_place = dict(zip(order, map(as_text, texts), strict=True))
    places = range(max(order, default=-1) + 1)
    return [by_place.get(place) for place in places], [marks[place] for place in places], order


# ------------------------------------------------------------------------------- answers

Way = tuple[str, ...]
"""The ways in which an answer may name its option; all that find an option must agree."""


Parts = Callable[[Record, str, Options], list[str]]
"""A function that divides the cell of a row's column into answers; none for a blank cell."""

_LETTERS = re.compile(
    r"[\W_]*[A-J](?:[\W_]*(?:and|及|和|與|与|同)?[\W_]*[A-J])*[\W_]*", re.IGNORECASE
)
_WHOLE_NUMBERS = re.compile(r"\d(?:[\W_]+\d)*[\W_]*")


def _parts(definition: TaskDefinition, *, several: bool) -> Parts:
    if definition.answers:
        return partial(_mapped, {_plain(cell): own for cell, own in definition.answers.items()})
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
        said = str(each).lower() if isinstance(each, bool) else _plain(as_text(each) or "")
        found = [named[form] for form in (said, _whole_number(said)) if form in named]
        if said and not found:
            raise record.problem(
                f"a cell in the column {column!r} that is not among `answers`: {', '.join(named)}"
            )
        letters += "".join(found[:1])
    return [*letters]


def _right_places(record: Record, column: str, options: Options) -> list[str]:
    """Return the indices of the options that a cell marks right."""
    marks = _marked(record, column)[1]
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
        parts = [_of_part(record, _plain(as_text(each) or ""), options) for each in cell]
        if not all(parts):
            raise record.problem(f"entries that are not texts in the list of the column {column!r}")
        return parts
    whole = _answer(record, column)
    if not whole or whole in [_plain(text) for text in options[0] if text is not None]:
        return [whole] if whole else []
    if _LETTERS.fullmatch(whole):
        return re.findall("[A-J]", re.sub("and", "", whole, flags=re.IGNORECASE).upper())
    if _WHOLE_NUMBERS.fullmatch(whole):
        return re.findall(r"\d", whole)
    return [_of_part(record, each, options) for each in re.split(r"[;|\n]", whole) if each.strip()]


def _of_part(record: Record, part: str, options: Options) -> str:
    """Return the letter of `B. 長洲`, if the text is that of the option; else the part itself."""
    match = _OWN_LABEL.fullmatch(part)
    place = _LABELS[0].find(match[1].upper()) if match else -1
    if match is None or not match[2] or place < 0:
        return part.strip()
    if place >= len(options[0]) or _plain(options[0][place] or "") != match[2].strip():
        raise record.problem("an answer whose letter is followed by a text other than the option's")
    return match[1]


def _by_own_label(cell: str, options: Options, _: str) -> int | None:
    labels = options[1]
    forms = (cell, _whole_number(cell), _plain_letter(cell)) if labels else ()
    return next((_there(options, labels.index(each)) for each in forms if each in labels), None)


def _by_letter(cell: str, options: Options, letters: str) -> int | None:
    labels = options[1]
    if labels and labels[0] != letters[0]:
        return None  # the letters are ours, not the release's
    plain = cell if len(cell) == 1 and cell in letters else _plain_letter(cell)
    return _there(options, letters.find(plain)) if len(plain) == 1 else None


def _by_number(cell: str, options: Options, _: str, first: int = 1) -> int | None:
    number, order = _whole_number(cell), options[2] or range(len(options[0]))
    at = int(number) - first if number.isdecimal() and len(number) < _LONGEST_NUMBER else -1
    return _there(options, order[at]) if 0 <= at < len(order) else None


def _by_text(cell: str, options: Options, _: str) -> int | None:
    texts = ["" if text is None else _plain(text) for text in options[0]]
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
# A task's `answer` → the ways to read it; an option's own label is always one of them.
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
        """Return whether two of these ways name different options in a row that both can read."""
        by_row = zip(*map(self.places, names), strict=True)
        return any(len({*row} - {None}) > 1 for row in by_row)


def _columns(records: Sequence[Record], answers: Sequence[str]) -> list[str]:
    """Return the answer columns that exist; the first if none does."""
    there = {name for shape in _shapes(records) for name in shape}
    return [name for name in answers if name in there] or [*answers[:1]]


def _decided(
    records: Sequence[Record],
    given: Sequence[Options | UnreadableRow],
    definition: TaskDefinition,
    answers: Sequence[str],
    release: Callable[[], Sequence[Record]],
    parts: Parts,
) -> tuple[str, Way]:
    """Decide by the rows of a file; if they are ambiguous, by those of the whole release."""
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
    """Decide for rows with the same options: only letters or texts, as numbers are ambiguous."""
    names, allowed = ("text", "letter"), ceil(_BAD_SHARE * len(answers.rows))
    best = min(names, key=lambda name: answers.places(name).count(None))
    if answers.differ(names) or answers.places(best).count(None) > allowed:
        raise DataCorrupt(
            f"{file}: the column {answers.column} names the options neither by their letters nor "
            "all by their texts. As all rows have the same options, no row shows what is meant: "
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
            continue  # a label may belong to something else
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
    """Return an answer cell in plain characters; empty if it is blank or missing."""
    text = as_text(record.cells.get(column))
    if text is None:
        return ""
    return text if len(text) == 1 and text.isalpha() and text.isascii() else _plain(text)


@lru_cache(4096)
def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


@lru_cache(4096)
def _number(text: str) -> Decimal | None:
    return Decimal(text) if re.fullmatch(r"[-+]?\d+(\.\d+)?", text) else None


def _whole_number(cell: str) -> str:
    """Return `2` for `2.0`, as a column of numbers with a blank cell may have become floats."""
    return re.sub(r"\.0+$", "", cell) if "." in cell else cell


@lru_cache(4096)
def _plain_letter(label: str) -> str:
    """Return a label without the noise in releases: Ď, spaces, marks, `A. ` with the text."""
    if option := re.match(r"[(（]?([A-Ja-j])[.．。、:：)）]", label):
        label = option[1]
    plain = unicodedata.normalize("NFKD", label).strip(" .．。、:：()（）\t\r\n\u00a0\u3000")
    return "".join(c for c in plain if not unicodedata.combining(c)).upper()


def _file(records: Sequence[Record]) -> str:
    """Name the file of some rows."""
    return records[0].where.rpartition(", row ")[0] if records else "a file"
