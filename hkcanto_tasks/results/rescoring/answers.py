"""Reading answers from other tools' files: a user's JSONL, a batch API's, twinkle-eval's."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import msgspec

from ...errors import LogError, OptionError, on_disk
from ..logs.decoding import UNREADABLE, decode, reason

COLUMNS = ("id", "question", "choices", "response", "reasoning", "task", "model")
"""The roles of columns, and their default names."""

_TWINKLE = {"response": "llm_output", "reasoning": "llm_reasoning_output"}
_ROW = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Answer:
    """One response in a file.

    Attributes:
        line: Its line in the file, from 1.
        id: The item's id, such as `hkmmlu/hk_law/3`; empty if the file has none.
        question: The question's text, with or without its options; empty if the file has none.
        choices: The texts of the options by letter, if they are separate.
        response: The model's response; empty if it wrote nothing.
        reasoning: The reasoning, if it is separate.
        task: The task's name, if the file has it.
        model: The model's name, if the file has it.
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
    found = {}
    for part in filter(None, map(str.strip, text.split(","))):
        what, _, column = map(str.strip, part.partition("="))
        if what not in COLUMNS or not column:
            raise OptionError(
                f"--columns {part!r}: give WHAT=COLUMN, such as response=output; WHAT is one of "
                f"{', '.join(COLUMNS)}."
            )
        found[what] = column
    return found


def read_answers(path: Path, declared: Mapping[str, str]) -> list[Answer]:
    """Read a file of answers with one JSON object per line.

    Args:
        path: The file. Files of twinkle-eval are recognised by their columns.
        declared: Role of a column → its name, if it is not the default.

    Raises:
        LogError: It has no answers, or lacks the columns.
        DataNotFound: It cannot be read.
    """
    with on_disk(path):
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    rows = [*_rows(lines)]
    known = [row for _, row in rows if isinstance(row, dict)]
    if not known:
        raise LogError(f"{path} has no answers: it is not JSONL, one JSON object per line.")
    is_twinkle = all("llm_output" in row and "question" in row for row in known)
    own = _TWINKLE if is_twinkle else {}
    columns = {**{what: what for what in COLUMNS}, **own, **declared}
    needed = {"response": columns["response"], **declared}
    there = list(dict.fromkeys(key for row in known for key in row))
    for what, column in needed.items():
        if all(_cell(row, column) is None for row in known):
            raise LogError(
                f"{path} has no {what} in a column {column!r}; its columns are "
                f"{', '.join(there[:20])}. Name the right one: --columns {what}=NAME."
            )
    if not any(_cell(row, columns[name]) for row in known for name in ("id", "question")):
        raise LogError(
            f"{path} does not say which question each answer is to: it has neither an id nor a "
            f"question. Its columns are {', '.join(there[:20])}. Name the right one: --columns "
            "question=NAME."
        )
    model = _twinkle_model(path) if is_twinkle else ""
    return [_answer(number, row, columns, model) for number, row in rows]


def _rows(lines: Sequence[bytes]) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield each line's number with its object, or why it cannot be read."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = decode(line, _ROW)
        except UNREADABLE as error:
            yield number, reason(error)
            continue
        # twinkle-eval 1 wrote one line for a whole file of questions.
        inner = row["details"] if isinstance(row.get("details"), list) and "file" in row else [row]
        for each in inner:
            yield number, each if isinstance(each, dict) else "it is not a JSON object"


def _answer(
    line: int, row: Mapping[str, Any] | str, columns: Mapping[str, str], model: str
) -> Answer:
    if isinstance(row, str):
        return Answer(line, problem=row)
    found = {what: _cell(row, column) for what, column in columns.items()}
    given = found.pop("choices") or [row[key] for key in ascii_uppercase if key in row]
    if isinstance(given, list):
        given = dict(zip(ascii_uppercase, given, strict=False))
    wrong = [what for what, each in found.items() if isinstance(each, dict | list)]
    if wrong or not isinstance(given, dict):
        what = (wrong or ["choices"])[0]
        return Answer(line, problem=f"its {what} is a {type(found.get(what, given)).__name__}")
    texts = {what: "" if each is None else str(each) for what, each in found.items()}
    choices = {str(key): str(each) for key, each in given.items() if each is not None}
    return Answer(line, choices=choices, **{**texts, "model": texts["model"] or model})


def _cell(row: Mapping[str, Any], column: str) -> Any:
    """Return the value in a column, or at a dotted path within it; None if there is none."""
    if column in row:
        return row[column]
    found: Any = row
    for part in column.split("."):
        if isinstance(found, dict):
            found = found.get(part)
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            return None
    return found


def _twinkle_model(path: Path) -> str:
    """Return the model of twinkle-eval's `results_….json` beside a file; empty if there is none."""
    stamp = re.sub(r"_(run|node)\d+.*", "", path.stem.removeprefix("eval_results_"))
    for folder in (path.parent, path.parent.parent):
        with suppress(OSError, ValueError, LookupError, TypeError):
            summary = json.loads((folder / f"results_{stamp}.json").read_text("utf-8"))
            return str(summary["config"]["model"]["name"])
    return ""


def is_summary(path: Path) -> bool:
    """Whether a file is twinkle-eval's `results_….json`, which has no answers."""
    with suppress(OSError), path.open("rb") as file:
        return path.name.startswith("results_") and b'"dataset_results"' in file.read()
    return False
