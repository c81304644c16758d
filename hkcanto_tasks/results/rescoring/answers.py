"""Answers in a file of another tool, one JSON object per line, and the items they belong to."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import msgspec

from ...errors import LogError, OptionError, on_disk
from ...samples import Sample
from ...tasks import LoadedTask
from ..logs.items import UNREADABLE, decode, reason

COLUMNS = ("id", "question", "choices", "response", "reasoning")
"""The columns of a file. The file uses these names, or declares its own."""

_ROW = msgspec.json.Decoder(dict[str, Any])
_BAD_REQUEST = 400  # and above: HTTP statuses of failed requests
_BESIDE = ("error", "status", "status_code", "finish_reason")
_AFTER_LETTERS = (
    ".",
    ":",
    ")",
    "、",
    "",
)  # between a letter and its option, after a question
_NAMED = 3  # examples in a message


class Answer(msgspec.Struct, frozen=True):
    """One response in a file."""

    line: int  # from 1
    id: str = ""  # of the item, such as `hkmmlu/hk_law/3`
    question: str = ""  # the item's, alone or followed by its options
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
    for role in ("response", *declared):
        if all(_path(row, columns[role])[-1] is None for row in rows.values()):
            keys = [*dict.fromkeys(key for row in rows.values() for key in row)][:20]
            what = f"no {role} in a column {columns[role]!r}"
            has = f"its columns are {', '.join(keys) or 'none'}"
            raise LogError(
                f"{path} has {what}; {has}. Name the right one: --columns {role}=NAME."
            )
    return [_answer(path, number, row, columns) for number, row in rows.items()]


def _answer(
    path: Path, line: int, row: Mapping[str, Any], columns: Mapping[str, str]
) -> Answer:
    cells = {role: _path(row, column)[-1] for role, column in columns.items()}
    # Batch APIs say how a request ended in the row, or in an object on the path to the response.
    ending: dict[str, Any] = {}
    for beside in _path(row, columns["response"])[:-1]:
        if isinstance(beside, dict):
            ending |= {key: beside[key] for key in _BESIDE if beside.get(key)}
    status = ending.get("status_code", ending.get("status"))
    if isinstance(status, int) and status >= _BAD_REQUEST:
        return Answer(line, failure=f"status {status}")
    if "error" in ending and not cells["response"]:
        return Answer(line, failure="error")
    choices = cells.pop("choices") or [
        row[key] for key in ascii_uppercase if key in row
    ]
    if isinstance(choices, list):
        choices = dict(zip(ascii_uppercase, choices, strict=False))
    for role, cell in cells.items():
        if isinstance(cell, dict | list):
            raise LogError(
                f"{path}, line {line}: its {role} is a {type(cell).__name__}, no text."
            )
    if not isinstance(choices, dict):
        raise LogError(
            f"{path}, line {line}: its choices are neither a list nor an object."
        )
    texts = {role: str(cell) for role, cell in cells.items() if cell is not None}
    options = {
        str(letter): str(cell) for letter, cell in choices.items() if cell is not None
    }
    return Answer(
        line, choices=options, finish=str(ending.get("finish_reason", "")), **texts
    )


def _path(row: Mapping[str, Any], column: str) -> list[Any]:
    """Return the row, the values on the dotted path of a column, and last its cell or None."""
    values: list[Any] = [row]
    for part in [column] if column in row else column.split("."):
        inner = values[-1]
        if isinstance(inner, list):
            inner = {str(place): value for place, value in enumerate(inner)}
        values.append(inner.get(part) if isinstance(inner, dict) else None)
    return values


def with_items(
    path: Path, answers: Sequence[Answer], loaded: LoadedTask
) -> list[tuple[Answer, Sample]]:
    """Return the answers of a file with their items.

    Raises:
        LogError: An answer matches no item or several, its options are not the item's, or an item
            has several answers.
    """
    by_id = {sample.id: sample for sample in loaded.samples}
    by_text: dict[str, list[Sample]] = defaultdict(list)
    for sample in loaded.samples:
        options = [*zip(loaded.task.definition.letters, sample.choices, strict=False)]
        texts = {
            _text(sample.question or sample.source, options, mark)
            for mark in _AFTER_LETTERS
        }
        for text in {_text(sample.question or sample.source), *texts}:
            by_text[text].append(sample)
    matched: dict[str, tuple[Answer, Sample]] = {}
    unmatched = list[str]()
    for answer in answers:
        named = by_id.get(answer.id)
        asked = answer.question or (named.question or named.source if named else "")
        samples = by_text.get(_text(asked, answer.choices.items()), [])
        samples = [sample for sample in samples if not named or sample is named]
        if len(samples) == 1:
            first, _ = matched.setdefault(samples[0].id, (answer, samples[0]))
            if first is not answer:
                lines = (
                    f"lines {first.line} and {answer.line} both answer {samples[0].id}"
                )
                raise LogError(
                    f"{path}: {lines}. Put further answers into a file of their own."
                )
            continue
        key = f"id {answer.id!r}, question {answer.question[:30]!r} and options"
        unmatched.append(
            f"line {answer.line}: {len(samples) or 'no'} items have its {key}"
        )
    if unmatched:
        item = f"item of {loaded.task.name} (data {loaded.revision})"
        raise LogError(
            f"{path}: {len(unmatched):,} of {len(answers):,} answers match no {item}: "
            f"{'; '.join(unmatched[:_NAMED])}. Correct or remove these lines. They may be for "
            "another task (--task NAME), script or release."
        )
    return [*matched.values()]


def _text(
    question: str, options: Iterable[tuple[str, str | None]] = (), mark: str = ""
) -> str:
    """Return a question with its options, without differences in width and space."""
    listed = (f"{letter}{mark}{option}" for letter, option in options if option)
    return "".join(unicodedata.normalize("NFKC", "".join([question, *listed])).split())
