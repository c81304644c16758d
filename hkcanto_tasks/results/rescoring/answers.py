"""Answers in a file of another tool, one JSON object per line, and the items they belong to."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import accumulate
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import msgspec

from ...errors import LogError, OptionError, on_disk
from ...samples import Sample
from ..logs.items import UNREADABLE, decode, reason

COLUMNS = ("id", "question", "choices", "response", "reasoning")
"""The columns of a file. The file uses these names, or declares its own."""

_ROW = msgspec.json.Decoder(dict[str, Any])
_BAD_REQUEST = 400  # and above: HTTP statuses of failed requests
_BESIDE = ("error", "status", "status_code", "finish_reason")
_START = 8  # characters of a question that find it in a prompt


class Answer(msgspec.Struct, frozen=True):
    """One response in a file."""

    line: int  # from 1
    id: str = ""  # of the item, such as `hkmmlu/hk_law/3`
    question: str = ""  # with or without its options, or a prompt that contains it
    choices: Mapping[str, str] = {}  # the options by letter, if they are separate
    response: str = ""
    reasoning: str = ""  # if it is separate
    finish: str = ""  # why the response ended, such as `length`
    failure: str = ""  # why the request failed


def columns_of(text: str) -> dict[str, str]:
    """Parse the names of columns.

    Args:
        text: Such as `response=output,id=qid`; dots reach into a value: `response=body.text`.

    Raises:
        OptionError: The text has another form.

    Examples:
        >>> columns_of("response=output, id=qid")
        {'response': 'output', 'id': 'qid'}
    """
    columns = {}
    for part in filter(None, map(str.strip, text.split(","))):
        role, _, column = map(str.strip, part.partition("="))
        if role not in COLUMNS or not column:
            how = f"give WHAT=COLUMN, such as response=output; WHAT is one of {', '.join(COLUMNS)}"
            raise OptionError(f"--columns {part!r}: {how}.")
        columns[role] = column
    return columns


def read_answers(path: Path, declared: Mapping[str, str]) -> list[Answer]:
    """Read a file of answers with one JSON object per line.

    Args:
        path: The file.
        declared: The names of columns that are not those of `COLUMNS`.

    Raises:
        LogError: It has no answers, lacks the columns, or a line has another form.
        DataNotFound: It cannot be read.
    """
    with on_disk(path):
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    rows: dict[int, dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                rows[number] = decode(line, _ROW)
            except UNREADABLE as error:
                what = f"it is not JSONL, one JSON object per line ({reason(error)})"
                raise LogError(f"{path}, line {number}: {what}.") from error
    columns = {name: name for name in COLUMNS} | dict(declared)
    keys = [*dict.fromkeys(key for row in rows.values() for key in row)][:20]
    shown = f"its columns are {', '.join(keys) or 'none'}. Name the right one: --columns"
    for role in ("response", *declared):
        if all(_cell(row, columns[role]) is None for row in rows.values()):
            what = f"no {role} in a column {columns[role]!r}"
            raise LogError(f"{path} has {what}; {shown} {role}=NAME.")
    if not any(_cell(row, columns[role]) for row in rows.values() for role in ("id", "question")):
        what = "neither an id nor a question for its answers"
        raise LogError(f"{path} has {what}; {shown} question=NAME.")
    return [_answer(path, number, row, columns) for number, row in rows.items()]


def _answer(path: Path, line: int, row: Mapping[str, Any], columns: Mapping[str, str]) -> Answer:
    cells = {role: _cell(row, column) for role, column in columns.items()}
    # Batch APIs say how a request ended in the row, or in an object on the path to the response.
    ending: dict[str, Any] = {}
    for beside in accumulate(columns["response"].split(".")[:-1], _inner, initial=row):
        if isinstance(beside, dict):
            ending |= {key: beside[key] for key in _BESIDE if beside.get(key)}
    status = ending.get("status_code", ending.get("status"))
    if isinstance(status, int) and status >= _BAD_REQUEST:
        return Answer(line, failure=f"status {status}")
    if "error" in ending and not cells["response"]:
        return Answer(line, failure="error")
    choices = cells.pop("choices") or [row[key] for key in ascii_uppercase if key in row]
    if isinstance(choices, list):
        choices = dict(zip(ascii_uppercase, choices, strict=False))
    if isinstance(cells["question"], list):  # the messages of a chat
        messages = (message for message in cells["question"] if isinstance(message, dict))
        cells["question"] = "\n".join(str(message.get("content", "")) for message in messages)
    for role, cell in cells.items():
        if isinstance(cell, dict | list):
            raise LogError(f"{path}, line {line}: its {role} is a {type(cell).__name__}, no text.")
    if not isinstance(choices, dict):
        raise LogError(f"{path}, line {line}: its choices are neither a list nor an object.")
    texts = {role: str(cell) for role, cell in cells.items() if cell is not None}
    options = {str(letter): str(cell) for letter, cell in choices.items() if cell is not None}
    return Answer(line, choices=options, finish=str(ending.get("finish_reason", "")), **texts)


def _cell(row: Mapping[str, Any], column: str) -> Any:
    """Return the value in a column, or at a dotted path within it; None if there is none."""
    return row[column] if column in row else reduce(_inner, column.split("."), row)


def _inner(cell: Any, part: str) -> Any:
    if isinstance(cell, dict):
        return cell.get(part)
    if isinstance(cell, list) and part.isdecimal() and int(part) < len(cell):
        return cell[int(part)]
    return None


class Questions:
    """An index of a task's items, by id and by question.

    Args:
        samples: The items.
        letters: The letters of the items' options.

    Examples:
        >>> asked = Sample(id="law/1", question="邊個啱？", choices=("甲", "乙"))
        >>> questions = Questions([asked], "AB")
        >>> questions.find(Answer(1, question="請答：邊個啱?\\nA. 甲\\nB. 乙")) is asked
        True
        >>> questions.find(Answer(1, question="邊個啱?\\nA. 乙\\nB. 甲"))
        'its options are others, or in another order'
    """

    def __init__(self, samples: Sequence[Sample], letters: str) -> None:
        self._letters = letters
        self._by_id = {sample.id: sample for sample in samples}
        #: `hkmmlu/hk_law` → the highest number of its ids
        self.last: dict[str, int] = defaultdict(int)
        for task, _, number in (name.rpartition("/") for name in self._by_id):
            if number.isdecimal():
                self.last[task] = max(self.last[task], int(number))
        self._by_stem: dict[str, list[Sample]] = defaultdict(list)
        self._by_start: dict[str, dict[str, None]] = defaultdict(dict)
        for sample in samples:
            stem = _stem(sample)
            self._by_stem[stem].append(sample)
            self._by_start[stem[:_START]][stem] = None
        self._sizes = sorted({len(start) for start in self._by_start} - {0})

    def find(self, answer: Answer) -> Sample | str:
        """Return the item that an answer belongs to, or why there is none."""
        named = self._by_id.get(answer.id)
        if not answer.question:
            if named and answer.choices and not self._has(named, answer.choices, ""):
                return f"the options of {answer.id} are others, or in another order"
            return named or f"there is no item {answer.id!r}"
        prompt = _plain(answer.question)
        asked = self._by_stem.get(prompt) or self._contained(prompt)
        samples = [sample for sample in asked if self._has(sample, answer.choices, prompt)]
        if named:
            return named if named in samples else f"{answer.id} has another question"
        if len(samples) > 1:
            both = f"{samples[0].id} and {samples[1].id}"
            return f"{len(samples)} items have this question, such as {both}"
        unlike = "its options are others, or in another order" if asked else ""
        return samples[0] if samples else unlike or "no item has this question"

    def _contained(self, prompt: str) -> list[Sample]:
        """Return the items whose question a prompt contains, except those within another's."""
        stems = dict.fromkeys(
            stem
            for at in range(len(prompt))
            for size in self._sizes
            for stem in self._by_start.get(prompt[at : at + size], ())
            if prompt.startswith(stem, at)
        )
        longest = [one for one in stems if not any(one in other != one for other in stems)]
        return [sample for stem in longest for sample in self._by_stem[stem]]

    def _has(self, sample: Sample, choices: Mapping[str, str], prompt: str) -> bool:
        """Return whether an item has the options of an answer, or else those of its prompt."""
        lettered = zip(self._letters, sample.choices, strict=False)
        options = {letter: _plain(choice) for letter, choice in lettered if choice}
        if choices:
            return options == {letter: _plain(text) for letter, text in choices.items() if text}
        stem = _stem(sample)
        if prompt == stem:
            return True
        shown = (rf"{letter}\W{{0,2}}{re.escape(choice)}" for letter, choice in options.items())
        passages = map(_plain, sample.cells.values())
        after = prompt.rpartition(stem)[2]
        return all(map(prompt.__contains__, passages)) and bool(re.search(".*?".join(shown), after))


def _stem(sample: Sample) -> str:
    return _plain(sample.question or sample.source)


def _plain(text: str) -> str:
    """Return a text normalised so that differences in width and space disappear."""
    return "".join(unicodedata.normalize("NFKC", text).split())
