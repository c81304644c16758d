"""Answers in the files of other tools (a JSONL, a batch API, twinkle-eval), and their items."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import msgspec

from ...errors import LogError, OptionError, on_disk
from ...samples import Sample
from ..logs.items import UNREADABLE, decode, reason

COLUMNS: Mapping[str, Sequence[str]] = {
    "id": ("id",),
    "question": ("question",),
    "choices": ("choices",),
    "response": ("response", "llm_output"),
    "reasoning": ("reasoning", "llm_reasoning_output"),
    "task": ("task",),
    "model": ("model",),
}
"""Role of a column → the names by which it is found; the second ones are twinkle-eval's."""

_ROW = msgspec.json.Decoder(dict[str, Any])
_BAD_REQUEST = 400  # and above: HTTP statuses of failed requests
_START = 8  # characters of a question that find it in a prompt


@dataclass(frozen=True, slots=True)
class Answer:
    """One response in a file.

    Attributes:
        line: Its line in the file, from 1.
        id: The item's id, such as `hkmmlu/hk_law/3`; empty if the file has none.
        question: The question's text, with or without its options, or a prompt that contains it;
            empty if the file has none.
        choices: The texts of the options by letter, if they are separate.
        response: The model's response; empty if it wrote nothing.
        reasoning: The reasoning, if it is separate.
        task: The task's name, if the file has it.
        model: The model's name, if the file has it.
        finish: Why the response ended, such as `length`; empty if the file has no `finish_reason`.
        failure: Why the request failed; empty if it did not.
        problem: Why the line cannot be used; empty if it can.
    """

    line: int
    id: str = ""
    question: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    response: str = ""
    reasoning: str = ""
    task: str = ""
    model: str = ""
    finish: str = ""
    failure: str = ""
    problem: str = ""


def columns_of(text: str) -> dict[str, str]:
    """Parse the roles of columns.

    Args:
        text: Such as `response=output,id=qid`; dots reach into a value: `response=body.text`.

    Raises:
        OptionError: The text has another form, or an unknown role.

    Examples:
        >>> columns_of("response=output, id=qid")
        {'response': 'output', 'id': 'qid'}
    """
    columns = {}
    for part in filter(None, map(str.strip, text.split(","))):
        role, _, column = map(str.strip, part.partition("="))
        if role not in COLUMNS or not column:
            raise OptionError(
                f"--columns {part!r}: give WHAT=COLUMN, such as response=output; WHAT is one of "
                f"{', '.join(COLUMNS)}."
            )
        columns[role] = column
    return columns


def read_answers(path: Path, declared: Mapping[str, str]) -> list[Answer]:
    """Read a file of answers with one JSON object per line.

    Args:
        path: The file.
        declared: Role of a column → its name, if it is not one of `COLUMNS`.

    Raises:
        LogError: It has no answers, or lacks the columns.
        DataNotFound: It cannot be read.
    """
    with on_disk(path):
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    rows = [(number, _row(line)) for number, line in enumerate(lines, 1) if line.strip()]
    known = [row for _, row in rows if isinstance(row, dict)]
    if not known:
        raise LogError(f"{path} has no answers: it is not JSONL, one JSON object per line.")
    keys = dict.fromkeys(key for row in known for key in row)
    there = ", ".join([*keys][:20])
    columns = {
        role: next((name for name in names if name in keys), names[0])
        for role, names in COLUMNS.items()
    } | dict(declared)
    for role in ("response", *declared):
        if all(_cell(row, columns[role]) is None for row in known):
            raise LogError(
                f"{path} has no {role} in a column {columns[role]!r}; its columns are {there}. "
                f"Name the right one: --columns {role}=NAME."
            )
    if not any(_cell(row, columns[role]) for row in known for role in ("id", "question")):
        raise LogError(
            f"{path} does not say which question each answer is to: it has neither an id nor a "
            f"question. Its columns are {there}. Name the right one: --columns question=NAME."
        )
    return [_answer(number, row, columns) for number, row in rows]


def _row(line: bytes) -> dict[str, Any] | str:
    """Return the object of a line, or why it cannot be read."""
    try:
        return decode(line, _ROW)
    except UNREADABLE as error:
        return reason(error)


def _answer(line: int, row: Mapping[str, Any] | str, columns: Mapping[str, str]) -> Answer:
    if isinstance(row, str):
        return Answer(line, problem=row)
    cells = {role: _cell(row, column) for role, column in columns.items()}
    choices = cells.pop("choices") or [row[key] for key in ascii_uppercase if key in row]
    if isinstance(choices, list):
        choices = dict(zip(ascii_uppercase, choices, strict=False))
    if _is_chat(cells["question"]):
        cells["question"] = "\n".join(str(each["content"]) for each in cells["question"])
    failure, finish = _ending(row, columns["response"])
    if failure and isinstance(cells["response"], dict | list):
        cells["response"] = None
    wrong = [role for role, cell in cells.items() if isinstance(cell, dict | list)]
    if wrong or not isinstance(choices, dict):
        role = (wrong or ["choices"])[0]
        return Answer(line, problem=f"its {role} is a {type(cells.get(role, choices)).__name__}")
    texts = {role: "" if cell is None else str(cell) for role, cell in cells.items()}
    shown = {str(key): str(cell) for key, cell in choices.items() if cell is not None}
    return Answer(line, choices=shown, finish=finish, failure=failure, **texts)


def _is_chat(cell: object) -> bool:
    return isinstance(cell, list) and all(
        isinstance(each, dict) and isinstance(each.get("content"), str) for each in cell
    )


def _ending(row: Mapping[str, Any], column: str) -> tuple[str, str]:
    """Return why a request failed and why its response ended, from the keys beside the response.

    These are `error`, `status` or `status_code`, and `finish_reason`, in the row or in an object on
    the dotted path to the response, as batch APIs write them.
    """
    failure, finish, path = "", "", column.split(".")
    for depth in range(len(path)):
        beside = row if not depth else _cell(row, ".".join(path[:depth]))
        if isinstance(beside, dict):
            status = next((beside[key] for key in ("status_code", "status") if key in beside), 0)
            finish = str(beside.get("finish_reason") or finish)
            if isinstance(status, int) and status >= _BAD_REQUEST:
                failure = failure or f"status {status}"
            elif beside.get("error") and not _cell(row, column):
                failure = failure or "error"
    return failure, finish


def _cell(row: Mapping[str, Any], column: str) -> Any:
    """Return the value in a column, or at a dotted path within it; None if there is none."""
    if column in row:
        return row[column]
    cell: Any = row
    for part in column.split("."):
        if isinstance(cell, dict):
            cell = cell.get(part)
        elif isinstance(cell, list) and part.isdecimal() and int(part) < len(cell):
            cell = cell[int(part)]
        else:
            return None
    return cell


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
        self._by_text: dict[str, list[Sample]] = defaultdict(list)
        self._by_start: dict[str, set[str]] = defaultdict(set)
        for sample in samples:
            stem = _stem(sample)
            for text in dict.fromkeys([stem, _plain(sample.text)]):
                self._by_text[text].append(sample)
            self._by_start[stem[:_START]].add(stem)
        self._sizes = sorted({len(start) for start in self._by_start} - {0})

    def find(self, answer: Answer) -> Sample | str:
        """Return the item that an answer belongs to, or why there is none."""
        if answer.problem:
            return answer.problem
        named = self._by_id.get(answer.id)
        if not answer.question:
            if named and answer.choices and not self._has(named, answer.choices, ""):
                return f"the options of {answer.id} are others, or in another order"
            return named or f"there is no item {answer.id!r}"
        prompt = _plain(answer.question)
        asked = self._by_text.get(prompt) or self._contained(prompt)
        samples = [each for each in asked if self._has(each, answer.choices, prompt)]
        if named:
            same = any(each is named for each in samples)
            return named if same else f"{answer.id} has another question"
        if len(samples) > 1:
            both = f"{samples[0].id} and {samples[1].id}"
            return f"{len(samples)} items have this question, such as {both}"
        if samples:
            return samples[0]
        if asked:
            return "its options are others, or in another order"
        return "no item has this question"

    def counted_from_0(self, id_: str) -> bool:
        """Return whether an id of no item would be one if ids counted from 0 instead of 1."""
        task, _, number = id_.rpartition("/")
        return number == "0" and id_ not in self._by_id and f"{task}/1" in self._by_id

    def _contained(self, prompt: str) -> list[Sample]:
        """Return the items whose question a prompt contains, except those within another's."""
        stems = {
            stem
            for at in range(len(prompt))
            for size in self._sizes
            for stem in self._by_start.get(prompt[at : at + size], ())
            if prompt.startswith(stem, at)
        }
        longest = [one for one in stems if not any(one in other != one for other in stems)]
        return [each for stem in longest for each in self._by_text[stem]]

    def _has(self, sample: Sample, choices: Mapping[str, str], prompt: str) -> bool:
        """Return whether an item has the options of an answer, or else those of its prompt."""
        options = {
            letter: _plain(choice)
            for letter, choice in zip(self._letters, sample.choices, strict=False)
            if choice
        }
        if choices:
            return options == {key: _plain(text) for key, text in choices.items() if text}
        if prompt in (_stem(sample), _plain(sample.text)):
            return True
        shown = (rf"{letter}\W{{0,2}}{re.escape(choice)}" for letter, choice in options.items())
        stem = prompt.rpartition(_stem(sample))[2]
        return all(map(prompt.__contains__, map(_plain, sample.cells.values()))) and bool(
            re.search(".*?".join(shown), stem)
        )


def _stem(sample: Sample) -> str:
    return _plain(sample.question or sample.source)


def _plain(text: str) -> str:
    """Return a text normalised so that differences in width and space disappear."""
    return "".join(unicodedata.normalize("NFKC", text).split())
