"""Read the choices of a row, and the ones that its answer names, as the task declares them."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..declarations import ChoiceDefinition
from .tables import Row, as_text

# Small letters only apart from each other: "bad" is a word. A dash may be a range: "A-D".
_SEVERAL_LETTERS = re.compile(
    r"{0}*(?:[A-J](?:{0}*[A-J])*|[A-Ja-j](?:{0}+[A-Ja-j])*){0}*".replace(
        "{0}", r"(?:[^\w~–-]|_)"
    )
)
_LABELLED = re.compile(r"\s*[(（]?([A-Ja-j]|\d{1,2})[.．。、:：)）]\s*(.+)", re.DOTALL)
Text = str | None


def choice_columns(
    definition: ChoiceDefinition, default: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the columns of the choices, in lower case: one a letter, or a single one for all.

    Args:
        definition: The task.
        default: The columns if the task declares none; by default the letters.
    """
    declared = definition.columns.get("options") or default or tuple(definition.letters)
    names = (declared,) if isinstance(declared, str) else declared
    return tuple(name.lower() for name in names)


def read_choices(
    row: Row,
    definition: ChoiceDefinition,
    columns: Sequence[str],
) -> tuple[Text, ...]:
    """Read a row's choices.

    Args:
        row: The row.
        definition: The task.
        columns: The columns of the choices, as `choice_columns` returns them.

    Returns:
        The text of each letter's choice; None for a letter without one.

    Raises:
        UnreadableRow: The row lacks a column, or has other choices than the letters allow.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_task
        >>> hkmmlu = find_task("hkmmlu").definition
        >>> row = Row(1, {"a": "旺角", "b": "灣仔", "c": "", "d": ""})
        >>> read_choices(row, hkmmlu, ["a", "b", "c", "d"])
        ('旺角', '灣仔', None, None)
    """
    letters = definition.letters
    cells: list[Any] = [row.find((name,)) for name in columns]
    if len(columns) == 1:
        cells = _listed_cells(cells[0], row, columns, definition)
    may_be_ready = definition.option_labels == "shown" and len(cells) == len(letters)
    try:
        if may_be_ready and all(map(str.strip, cells)):
            return tuple(cells)  # nearly all rows
    except TypeError:  # a cell that is not a text
        pass
    texts = [
        _choice(cell, number, row, definition, columns)
        for number, cell in enumerate(cells, start=1)
    ]
    lacking = len(letters) - len(texts)
    if lacking < 0:
        raise row.problem(
            f"{len(texts)} options, but the task has only the letters {letters}: "
            'declare more of them, such as letters = "ABCDEFGHIJ"'
        )
    if len(texts) - texts.count(None) < 2:
        raise row.problem("fewer than two options")
    return (*texts, *[None] * lacking)


def _listed_cells(
    cell: Any,
    row: Row,
    columns: Sequence[str],
    definition: ChoiceDefinition,
) -> list[Any]:
    """Return the choices in a cell that is a list, or a mapping from letter or label to text."""
    letters = definition.letters
    if isinstance(cell, Mapping) and definition.answer == "label":
        cell = [*cell.values()]
    elif isinstance(cell, Mapping) and {*map(str.upper, cell)} <= {*letters}:
        lettered = {letter.upper(): text for letter, text in cell.items()}
        last = max(map(letters.index, lettered), default=-1)
        cell = [lettered.get(letter) for letter in letters[: last + 1]]
    is_list = isinstance(cell, list)
    if not is_list or any(isinstance(choice, list | Mapping) for choice in cell):
        raise row.problem(
            "neither a list of options nor a mapping from letters in the column "
            f"{columns[0]!r}; found {row.named()} (a path leads to the texts of records: "
            'options = "choices.text"; answer = "label" reads other mappings)'
        )
    if definition.answer not in ("label", "flags"):
        _refuse_other_order(row, columns[0], letters[: len(cell)])
    return [*cell]


def _refuse_other_order(
    row: Row,
    column: str,
    letters: str,
) -> None:
    """Refuse options that lie beside letters in another order, as `{"text": …, "label": …}`."""
    parent, _, _ = column.rpartition(".")
    record = row.find((parent,))
    if isinstance(record, list):
        record = record[0]
    for name in record if isinstance(record, Mapping) else ():
        labels = row.find((f"{parent}.{name.lower()}",))
        if not isinstance(labels, list) or not all(map(as_text, labels)):
            continue
        named = [as_text(label) for label in labels]
        if named != [*letters] and sorted(named, key=str) == [*letters]:
            raise row.problem(
                f"options whose letters in {parent}.{name} are in another order: declare "
                f'columns = {{ labels = "{parent}.{name}" }} and answer = "label"'
            )


def _choice(
    cell: Any,
    number: int,
    row: Row,
    definition: ChoiceDefinition,
    columns: Sequence[str],
) -> Text:
    """Return the text of one choice; None for an absent one, if the task allows it."""
    may_lack = definition.blank_options == "absent"
    is_absent = cell is None or cell != cell  # Parquet has NaN for it
    text = as_text(cell)
    if text is None and not (may_lack and is_absent):
        raise row.problem(
            f"no text for its option {number} in {', '.join(columns)}; found {row.named()} "
            "(declare columns = { options = […] }, letters, or "
            'blank_options = "absent")'
        )
    if text and text.strip() and definition.option_labels == "remove":
        text = _without_label(text, number, row)
    is_blank = not text or not text.strip()
    return None if is_blank and may_lack else text


def _without_label(
    text: str,
    number: int,
    row: Row,
) -> str:
    """Return a choice without the label before it, which must be its letter or number."""
    letter = chr(64 + number)
    labelled = _LABELLED.fullmatch(text)
    if not labelled or labelled[1].upper() not in (letter, str(number)):
        raise row.problem(
            f"an option without the label {letter} or {number}, though "
            'option_labels = "remove" is declared'
        )
    return labelled[2]


def right_letters(
    row: Row,
    choices: Sequence[Text],
    definition: ChoiceDefinition,
    columns: Sequence[str],
    *,
    several: bool = False,
) -> str:
    """Return the letters of the choices that a row's answer names.

    Args:
        row: The row.
        choices: Its choices.
        definition: The task, which declares how an answer names a choice.
        columns: The columns that may have the answer, in lower case.
        several: Whether several choices may be right.

    Raises:
        UnreadableRow: The answer is missing or names no choice, or several where one is right.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_task
        >>> row = Row(1, {"answer": "b"})
        >>> right_letters(row, ["旺角", "灣仔"], find_task("hkmmlu").definition, ["answer"])
        'B'
    """
    cell = row.find(columns)
    pairs = zip(definition.letters, choices, strict=False)
    texts = {letter: text for letter, text in pairs if text is not None}
    letter = cell if isinstance(cell, str) else ""
    if definition.answer == "letter" and letter in texts.keys() - definition.answers:
        return letter  # nearly all rows
    if definition.answer == "label":
        texts = _labels(row, definition, texts)
    elif definition.answer == "flags":
        cell = _flagged(row, cell, len(texts), definition.letters)
    parts = filter(None, _parts(row, cell, definition, several))
    named = {*"".join(_letters(part, row, texts, definition) for part in parts)}
    if not named:
        raise row.lacks("answer", "answer", columns)
    if len(named) > 1 and not several:
        raise row.problem('several right options: declare kind = "multi_answer"')
    return "".join(sorted(named))


def _labels(
    row: Row,
    definition: ChoiceDefinition,
    texts: Mapping[str, str],
) -> dict[str, str]:
    """Return letter → the release's label of the choice: from their column, or a mapping's keys."""
    columns = definition.columns.get("labels", ())
    names = (columns,) if isinstance(columns, str) else columns
    cell = row.find([name.lower() for name in names])
    if not columns:
        cell = row.find(choice_columns(definition))
    listed = [*cell] if isinstance(cell, list | Mapping) else []
    labels = [_plain(as_text(label) or "") for label in listed]
    if not all(labels) or len({*labels}) < max(len(texts), len(labels)):
        raise row.problem(
            "no label of its own for each option: declare the column or path that has them, "
            'columns = { labels = "choices.label" }'
        )
    labelled = dict(zip(definition.letters, labels, strict=False))
    return {letter: labelled[letter] for letter in texts}


def _flagged(
    row: Row,
    cell: object,
    count: int,
    letters: str,
) -> list[str]:
    """Return the letters of the choices whose flag is 1 or true."""
    flags = cell if isinstance(cell, list) else []
    if len(flags) < count or not {*flags} <= {0, 1}:
        raise row.problem("no list of a 0 or 1 for each option as its answer")
    return [letter for letter, flag in zip(letters, flags, strict=False) if flag]


def _letters(
    answer: str,
    row: Row,
    texts: Mapping[str, str],
    definition: ChoiceDefinition,
) -> str:
    """Return the letters of the choices that one answer names."""
    letters = definition.answers.get(answer) or _letter(answer, texts, definition)
    if letters and texts.keys() >= set(letters):
        return letters
    # The text of a row is not quoted, only a letter or number.
    is_short = re.fullmatch(r"[\d.-]{1,9}|[A-Za-z]", answer)
    quoted = f" {answer!r}" if is_short else ""
    raise row.problem(
        f"an answer{quoted} that names none of {', '.join(texts)} (answer = "
        f"{definition.answer!r} is declared; `answers` has other meanings)"
    )


def _letter(
    answer: str,
    texts: Mapping[str, str],
    definition: ChoiceDefinition,
) -> str:
    """Return the letter that an answer names; empty if it names none, or more than one."""
    letters = definition.letters
    form = definition.answer
    if form in ("text", "label"):
        alike = [letter for letter, text in texts.items() if _plain(text) == answer]
        return alike[0] if len(alike) == 1 else ""
    if form == "flags":
        return answer
    if "letter" in form and len(answer) == 1 and answer.upper() in letters:
        return answer.upper()
    if form == "letter" or not re.fullmatch(r"\d{1,2}", answer):
        return ""
    position = int(answer) if form == "index" else int(answer) - 1
    return letters[position] if 0 <= position < len(letters) else ""


def _parts(
    row: Row,
    cell: object,
    definition: ChoiceDefinition,
    several: bool,
) -> list[str]:
    """Divide `ABD`, `A, B`, `1,2`, a list, or texts with semicolons between them."""
    form = definition.answer
    answer = _plain(as_text(cell) or "")
    if form != "flags" and (not several or answer in definition.answers):
        return [answer]
    if isinstance(cell, list):
        texts = [_plain(as_text(part) or "") for part in cell]
        if not all(texts):
            raise row.problem("entries that are not texts in the list of its answers")
        return texts
    if form == "letter" and _SEVERAL_LETTERS.fullmatch(answer):
        return re.findall("[A-J]", answer.upper())
    separator = r"[;|\n]" if form in ("letter", "text") else r"[,;、|\s]+"
    return [part.strip() for part in re.split(separator, answer)]


@lru_cache(4096)
def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()
