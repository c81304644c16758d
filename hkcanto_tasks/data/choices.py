"""Read the choices of a row, and the ones that its answer names, as the task declares them."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..declarations import TaskDefinition
from .tables import Row, as_text

# Small letters only apart from each other: "bad" is a word. A dash may be a range: "A-D".
_SEVERAL_LETTERS = re.compile(
    r"{0}*(?:[A-J](?:{0}*[A-J])*|[A-Ja-j](?:{0}+[A-Ja-j])*){0}*".replace(
        "{0}", r"(?:[^\w~–-]|_)"
    )
)
_LABEL = re.compile(r"\s*[(（]?([A-Ja-j]|\d{1,2})[.．。、:：)）]\s*(.+)", re.DOTALL)
Text = str | None


def choice_columns(
    definition: TaskDefinition, default: Sequence[str] = ()
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
    row: Row, definition: TaskDefinition, columns: Sequence[str]
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
    letters, may_lack = definition.letters, definition.blank_options == "absent"
    cells: Any = [*map(row.cells.get, columns)]
    if len(columns) == 1:  # a list, or a mapping from letter to text
        cells = cells[0]
        if isinstance(cells, Mapping) and {*cells} <= {*letters}:
            last = max(map(letters.index, cells), default=-1)
            cells = [cells.get(letter) for letter in letters[: last + 1]]
        if not isinstance(cells, list) or any(
            isinstance(cell, list | Mapping) for cell in cells
        ):
            what = f"no list of options, and no mapping from letters, in the column {columns[0]!r}"
            raise row.problem(f"{what}; found {row.named()}")
    removes = definition.option_labels == "remove"
    try:  # by far the most frequent form
        if len(cells) == len(letters) and all(map(str.strip, cells)) and not removes:
            return tuple(cells)
    except TypeError:
        pass
    texts: list[Text] = []
    for place, cell in enumerate(cells, start=1):
        text = as_text(cell)
        if text is None and not (
            may_lack and (cell is None or cell != cell)
        ):  # NaN of Parquet
            what = f"no text for its option {place} in {', '.join(columns)}; found {row.named()}"
            others = 'columns = { options = […] }, letters, or blank_options = "absent"'
            raise row.problem(f"{what} (declare {others})")
        if removes and text and text.strip():
            label = _LABEL.fullmatch(text)
            if not label or label[1].upper() not in (chr(64 + place), str(place)):
                what = f"an option without the label {chr(64 + place)} or {place}"
                raise row.problem(
                    f'{what}, though option_labels = "remove" is declared'
                )
            text = label[2]
        texts.append(text if (text and text.strip()) or not may_lack else None)
    if len(texts) > len(letters):
        why = f"{len(texts)} options, but the task has only the letters {letters}"
        raise row.problem(
            f'{why}: declare more of them, such as letters = "ABCDEFGHIJ"'
        )
    if len(texts) - texts.count(None) < 2:
        raise row.problem("fewer than two options")
    return tuple(texts + [None] * (len(letters) - len(texts)))


def right_letters(
    row: Row,
    choices: Sequence[Text],
    definition: TaskDefinition,
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
    letters, answers, cell = definition.letters, definition.answers, row.find(columns)
    if definition.answer == "letter" and isinstance(cell, str) and len(cell) == 1:
        place = -1 if cell in answers else letters.find(cell)
        if place >= 0 and choices[place] is not None:  # by far the most frequent form
            return cell
    pairs = zip(letters, choices, strict=False)
    there = {letter: text for letter, text in pairs if text is not None}
    parts = [_plain(as_text(cell) or "")]
    if several and parts[0] not in answers:
        parts = _parts(row, cell, definition.answer)
    named = set()
    for part in filter(None, parts):
        meant = {*(answers.get(part) or _letter(part, there, definition))}
        if not meant or not meant <= {*there}:
            shown = f" {part!r}" if re.fullmatch(r"[\d.-]{1,9}|[A-Za-z]", part) else ""
            declared = f"answer = {definition.answer!r} is declared; `answers` has other meanings"
            raise row.problem(
                f"an answer{shown} that names none of {', '.join(there)} ({declared})"
            )
        named |= meant
    if not named:
        raise row.lacks("answer", "answer", columns)
    if len(named) > 1 and not several:
        raise row.problem('several right options: declare kind = "multi_answer"')
    return "".join(sorted(named))


def _letter(cell: str, there: Mapping[str, str], definition: TaskDefinition) -> str:
    """Return the letter that one answer names; empty if it names none, or more than one."""
    letters, answer = definition.letters, definition.answer
    if "letter" in answer and len(cell) == 1 and cell.upper() in letters:
        return cell.upper()
    if answer == "text":
        alike = [letter for letter, text in there.items() if _plain(text) == cell]
        return alike[0] if len(alike) == 1 else ""
    if answer == "letter" or not re.fullmatch(r"\d{1,2}", cell):
        return ""
    place = int(cell) - (answer != "index")
    return letters[place] if 0 <= place < len(letters) else ""


def _parts(row: Row, cell: object, answer: str) -> list[str]:
    """Divide `ABD`, `A, B`, `1,2`, a list, or texts with semicolons between them."""
    if isinstance(cell, list):
        texts = [_plain(as_text(part) or "") for part in cell]
        if not all(texts):
            raise row.problem("entries that are not texts in the list of its answers")
        return texts
    whole = _plain(as_text(cell) or "")
    if answer == "letter" and _SEVERAL_LETTERS.fullmatch(whole):
        return re.findall("[A-J]", whole.upper())
    between = r"[;|\n]" if answer in ("letter", "text") else r"[,;、|\s]+"
    return [part.strip() for part in re.split(between, whole)]


@lru_cache(4096)
def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()
