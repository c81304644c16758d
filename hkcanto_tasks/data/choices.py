"""Read the choices of a row, and the ones that its answer names, as the task declares them."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
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


class ChoiceReader:
    """Reads the choices of a task's rows, and the letters that their answers name.

    Args:
        definition: The task.
        columns: The columns of the choices, as `choice_columns` returns them.
        answer: The columns that may have the answer, in lower case.
        several: Whether several choices may be right.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_task
        >>> reader = ChoiceReader(find_task("hkmmlu").definition, ["a", "b", "c", "d"])
        >>> row = Row(1, {"a": "旺角", "b": "灣仔", "c": "", "d": "", "answer": "b"})
        >>> reader.choices(row)
        ('旺角', '灣仔', None, None)
        >>> reader.right_letters(row, reader.choices(row))
        'B'
    """

    def __init__(
        self,
        definition: ChoiceDefinition,
        columns: Sequence[str],
        answer: Sequence[str] = ("answer",),
        *,
        several: bool = False,
    ) -> None:
        self._definition = definition
        self._columns = columns
        self._answer = answer
        self._several = several
        # Nearly all rows have a text for each letter, and a letter as the answer.
        letters = definition.letters
        is_shown = definition.option_labels == "shown"
        self._has_all_columns = is_shown and len(columns) == len(letters)
        self._cells = itemgetter(*columns)
        self._positions: dict[str, int] = {}
        if definition.answer == "letter":
            self._positions = {letter: place for place, letter in enumerate(letters)}
            for answer_text in definition.answers:
                self._positions.pop(answer_text, None)

    def choices(self, row: Row) -> tuple[Text, ...]:
        """Read a row's choices.

        Returns:
            The text of each letter's choice; None for a letter without one.

        Raises:
            UnreadableRow: The row lacks a column, or has other choices than the letters allow.
        """
        if self._has_all_columns:
            try:
                cells: tuple[str, ...] = self._cells(row.cells)
                if all(map(str.strip, cells)):
                    return cells
            # The row lacks a column, or a cell is not a text.
            except (KeyError, TypeError):
                pass
        return self._checked_choices(row)

    def _checked_choices(self, row: Row) -> tuple[Text, ...]:
        letters = self._definition.letters
        cells = [row.find((name,)) for name in self._columns]
        if len(cells) == 1:
            cells = self._listed_cells(row, cells[0])
        texts = [
            self._choice(row, cell, number)
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
        self,
        row: Row,
        cell: Any,
    ) -> list[Any]:
        """Return the choices in a cell: a list, or a mapping from letter or label to text."""
        letters = self._definition.letters
        form = self._definition.answer
        column = self._columns[0]
        if isinstance(cell, Mapping) and form == "label":
            cell = [*cell.values()]
        elif isinstance(cell, Mapping) and {*map(str.upper, cell)} <= {*letters}:
            lettered = {letter.upper(): text for letter, text in cell.items()}
            last = max(map(letters.index, lettered), default=-1)
            cell = [lettered.get(letter) for letter in letters[: last + 1]]
        is_list = isinstance(cell, list)
        if not is_list or any(isinstance(choice, list | Mapping) for choice in cell):
            raise row.problem(
                "neither a list of options nor a mapping from letters in the column "
                f"{column!r}; found {row.named()} (a path leads to the texts of records: "
                'options = "choices.text"; answer = "label" reads other mappings)'
            )
        if form not in ("label", "flags"):
            _refuse_other_order(row, column, letters[: len(cell)])
        return [*cell]

    def _choice(
        self,
        row: Row,
        cell: Any,
        number: int,
    ) -> Text:
        """Return the text of one choice; None for an absent one, if the task allows it."""
        may_lack = self._definition.blank_options == "absent"
        is_absent = cell is None or cell != cell  # Parquet has NaN for it
        text = as_text(cell)
        if text is None and not (may_lack and is_absent):
            raise row.problem(
                f"no text for its option {number} in {', '.join(self._columns)}; "
                f"found {row.named()} (declare columns = {{ options = […] }}, letters, or "
                'blank_options = "absent")'
            )
        if text and text.strip() and self._definition.option_labels == "remove":
            text = _without_label(text, number, row)
        is_blank = not text or not text.strip()
        return None if is_blank and may_lack else text

    def right_letters(
        self,
        row: Row,
        choices: Sequence[Text],
    ) -> str:
        """Return the letters of the choices that a row's answer names.

        Args:
            row: The row.
            choices: Its choices.

        Raises:
            UnreadableRow: The answer is missing or names no choice, or several where one is right.
        """
        cell = row.find(self._answer)
        if (
            isinstance(cell, str)
            and cell in self._positions
            and choices[self._positions[cell]] is not None
        ):
            return cell
        definition = self._definition
        names = self._names(row, choices)
        if definition.answer == "flags":
            answers = _flagged(
                row,
                cell,
                len(names),
                definition.letters,
            )
        else:
            answers = self._answers(row, cell)
        letters: set[str] = set()
        for answer in filter(None, answers):
            letters.update(self._letters(row, answer, names))
        if not letters:
            raise row.lacks("answer", "answer", self._answer)
        if len(letters) > 1 and not self._several:
            raise row.problem('several right options: declare kind = "multi_answer"')
        return "".join(sorted(letters))

    def _names(
        self,
        row: Row,
        choices: Sequence[Text],
    ) -> dict[str, str]:
        """Return letter → what may name its choice in an answer: its text, or the release's label."""
        letters = self._definition.letters
        pairs = zip(letters, choices, strict=False)
        texts = {letter: text for letter, text in pairs if text is not None}
        if self._definition.answer != "label":
            return texts
        labels = dict(zip(letters, self._labels(row, len(texts)), strict=False))
        return {letter: labels[letter] for letter in texts}

    def _labels(
        self,
        row: Row,
        count: int,
    ) -> list[str]:
        """Return the labels of at least so many choices: a list, or the keys of a mapping."""
        columns = self._definition.columns.get("labels", self._columns)
        names = (columns,) if isinstance(columns, str) else columns
        cell = row.find([name.lower() for name in names])
        labels: list[str] = []
        if isinstance(cell, list | Mapping):
            labels = [_plain(as_text(label) or "") for label in cell]
        if not all(labels) or len({*labels}) < max(count, len(labels)):
            raise row.problem(
                "no label of its own for each option: declare the column or path that has them, "
                'columns = { labels = "choices.label" }'
            )
        return labels

    def _answers(
        self,
        row: Row,
        cell: object,
    ) -> list[str]:
        """Return the answers in a cell; each names a choice, or is declared in `answers`."""
        answer = _plain(as_text(cell) or "")
        if isinstance(cell, list | Mapping) and not self._several:
            raise row.nested("answer", self._answer)
        if not self._several or answer in self._definition.answers:
            return [answer]
        if not isinstance(cell, list):
            return _divided(answer, self._definition.answer)
        answers = [_plain(as_text(part) or "") for part in cell]
        if not all(answers):
            raise row.problem("entries that are not texts in the list of its answers")
        return answers

    def _letters(
        self,
        row: Row,
        answer: str,
        names: Mapping[str, str],
    ) -> str:
        """Return the letters of the choices that one answer names."""
        definition = self._definition
        letters = definition.answers.get(answer) or self._letter(answer, names)
        if letters and names.keys() >= set(letters):
            return letters
        # The text of a row is not quoted, only a letter or number.
        is_short = re.fullmatch(r"[\d.-]{1,9}|[A-Za-z]", answer)
        quoted = f" {answer!r}" if is_short else ""
        raise row.problem(
            f"an answer{quoted} that names none of {', '.join(names)} (answer = "
            f"{definition.answer!r} is declared; `answers` has other meanings)"
        )

    def _letter(
        self,
        answer: str,
        names: Mapping[str, str],
    ) -> str:
        """Return the letter that an answer names; empty if it names none, or more than one."""
        letters = self._definition.letters
        form = self._definition.answer
        if form in ("text", "label"):
            alike = [letter for letter, name in names.items() if _plain(name) == answer]
            return alike[0] if len(alike) == 1 else ""
        if form == "flags":
            return answer
        if "letter" in form and len(answer) == 1 and answer.upper() in letters:
            return answer.upper()
        if form == "letter":
            return ""
        return _numbered(answer, letters, 0 if form == "index" else 1)


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


def _numbered(
    answer: str,
    letters: str,
    first: int,
) -> str:
    """Return the letter of a number; empty if there is none. The first letter's is `first`."""
    if not re.fullmatch(r"\d{1,2}", answer):
        return ""
    position = int(answer) - first
    return letters[position] if 0 <= position < len(letters) else ""


def _divided(answer: str, form: str) -> list[str]:
    """Divide `ABD`, `A, B`, `1,2`, or texts with semicolons between them."""
    if form == "letter" and _SEVERAL_LETTERS.fullmatch(answer):
        return re.findall("[A-J]", answer.upper())
    separator = r"[;|\n]" if form in ("letter", "text") else r"[,;、|\s]+"
    return [part.strip() for part in re.split(separator, answer)]


@lru_cache(4096)
def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()
