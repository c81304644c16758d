"""Read options: find the columns of a file's options, and remove or follow the options' own labels.

The columns are chosen once for a file, from all of its rows.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
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
OWN_LABEL = re.compile(
    r"\s*[(（\[【]?([A-Ja-jＡ-Ｊ甲乙丙丁戊己庚辛壬癸]|\d)[.．。、:：)）\]】](?!\d)\s*(.*)",
    re.DOTALL,
)
"""An option that begins with its own label, in any form: the label, and the text after it."""

_LABELS = ("ABCDEFGHIJ", *_MARKS[1:4])
_LABEL_KEYS = ("label", "labels", "key", "letter", "id", "option")
_LABEL_COLUMNS = ("labels", "{}_labels", "{}_label", "{}.label", "letters", "option_labels")
_TEXT_KEYS = ("text", "texts", "content", "value", "answer", "option")
_IN_FRONT = ("ABCDEFGHIJ", "123456789", "0123456789")

Options = tuple[Sequence[str | None], Sequence[str], Sequence[int]]
"""A row's options in the order of the letters; the release's own label for each; and for each entry
of the release's list its index in that order. The last two are empty without labels."""


def option_columns(columns: Iterable[str]) -> set[str]:
    """Return the columns that may contain options.

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
        definition: The task, which declares letters and columns.

    Returns:
        For each row, its options with their labels and order, or why it cannot be read.
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
    """Choose the columns of a file's options, and return a reader of them."""
    letters, may_lack = definition.letters, definition.blank_options == "absent"
    if definition.options:
        return lambda _: (definition.options, (), ())
    declared = _names(definition, "options")
    if len(declared) == 1:
        if definition.answer != "one_hot":
            return lambda record: _listed(record, declared[0], letters)
        marks = _names(definition, "answer")
        if marks == declared:
            return lambda record: (marked(record, declared[0])[0], (), ())
        return lambda record: _listed(record, declared[0], letters, besides=marks)
    by_file = groupby(records, attrgetter("file"))
    of_file = {file: [*shapes([*rows])] for file, rows in by_file}
    every = [*shapes(records)]
    whole = dict.fromkeys(
        shape
        for of_one in of_file.values()
        for shape in of_one
        if not any({*shape} < {*other} for other in of_one)
    )
    there = dict.fromkeys(name for keys in every for name in keys)
    if declared:
        columns = declared
    else:
        columns = list(_family(records, there))
        # Shards may have other column names; a single row may lack a column.
        for shape in whole if len(every) > 1 else ():
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
            {*cells} < {*other} for other in of_file[record.file]
        )
        if absent and not (may_lack and merely):
            raise record.problem(f"no column {', '.join(absent)}; found {record.named()}")
        texts = [as_text(cells.get(name)) for name in own]
        if further:
            texts += [text for name in further if (text := as_text(cells.get(name)))]
        return texts, (), ()

    return read


def _family(records: Sequence[Record], there: Iterable[str]) -> Sequence[str]:
    """Return the columns of the options in order; empty unless each option has a column.

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
        f"{records[0].file}: it is unclear which columns are the options: {names} {why}; found "
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
    found = [OWN_LABEL.fullmatch(text) if text and text.strip() else None for text in texts]
    given = [place for place, text in enumerate(texts) if text and text.strip()]
    labels = [plain(match[1]).upper() for match in found if match]
    if not labels:
        return texts
    if len(labels) < len(given):
        raise record.problem("options with a label of their own, and others without one")
    if not any([marks[place] for place in given] == labels for marks in _LABELS):
        raise record.problem(
            f"options that begin with {', '.join(labels)}, which do not fit their positions"
        )
    return [match[2] if match else text for match, text in zip(found, texts, strict=True)]


def marked(record: Record, column: str) -> tuple[Sequence[str | None], list[bool]]:
    """Return a cell's marks of right and wrong options, and its options if it has any.

    The cell is a list of marks; a list of marks beside a list of options; a mapping from options to
    marks; or a list of objects, each with an option and its mark.

    Raises:
        UnreadableRow: The cell does not have such marks.

    Examples:
        >>> marked(Record(1, "", {"targets": {"大澳": 1, "旺角": 0}}), "targets")
        (['大澳', '旺角'], [True, False])
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
    """Return the options in one column: a list or a mapping, also as JSON text.

    Args:
        record: The row.
        column: The column.
        letters: The task's letters.
        besides: Columns that never have labels, whatever their names.
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
    """Return the labels and the texts in a cell; None for those that it lacks."""
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
    own = [plain_letter(unicodedata.normalize("NFKC", as_text(each) or "")) for each in labels]
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


def shapes(records: Sequence[Record]) -> Iterable[tuple[str, ...]]:
    """Return the distinct sets of columns of some rows, in order.

    Examples:
        >>> [*shapes([Record(1, "", {"a": 1}), Record(2, "", {"a": 2})])]
        [('a',)]
    """
    return dict.fromkeys(tuple(record.cells) for record in records)


@lru_cache(4096)
def plain(text: str) -> str:
    """Return a text in its NFKC form, without white space around it.

    Examples:
        >>> plain(" Ｂ ")
        'B'
    """
    return unicodedata.normalize("NFKC", text).strip()


@lru_cache(4096)
def plain_letter(label: str) -> str:
    """Return a label without the noise in releases: Ď, spaces, marks, or the text after `A. `.

    Examples:
        >>> plain_letter("(d) 大澳"), plain_letter("Ď")
        ('D', 'D')
    """
    if option := re.match(r"[(（]?([A-Ja-j])[.．。、:：)）]", label):
        label = option[1]
    plain = unicodedata.normalize("NFKD", label).strip(" .．。、:：()（）\t\r\n\u00a0\u3000")
    return "".join(c for c in plain if not unicodedata.combining(c)).upper()
